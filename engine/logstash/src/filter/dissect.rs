//! `dissect`: takes fields out of text by what stands between them.

use super::{Declaration, Filter, Outcome, Turn};
use crate::complain;
use crate::options::{Arguments, Takes, option};
use temblor_lang::value::Value;
use temblor_logstash_event::datum::Datum;
use temblor_logstash_event::event::LogEvent;
use temblor_logstash_event::reference::FieldRef;
use temblor_stdlib::formats::dissect::LogstashDissect;

/// `dissect`
pub(crate) static DECLARATION: Declaration = Declaration {
    name: "dissect",
    doc: "Takes fields out of text by what stands between them.",
    options: &[
        option("mapping", Takes::Hash, "The mapping of each field."),
        option("convert_datatype", Takes::Hash, "Fields to become `int` or `float`."),
        option("tag_on_failure", Takes::List, "The tags of text that does not fit."),
    ],
    make,
};

#[derive(Debug)]
struct Dissect {
    mappings: Vec<Mapping>,
    conversions: Vec<Conversion>,
    tags: Vec<String>,
}

#[derive(Debug)]
struct Mapping {
    source: FieldRef,
    dissect: LogstashDissect,
    /// The names in the mapping: what they stand for now may count.
    names: Vec<(String, FieldRef)>,
}

#[derive(Debug)]
struct Conversion {
    field: FieldRef,
    is_float: bool,
    null_tag: String,
    bad_tag: String,
}

fn make(arguments: &mut Arguments<'_>) -> Option<Box<dyn Filter>> {
    let mut mappings = Vec::new();
    for (key, value) in arguments.pairs("mapping") {
        let Some(source) = arguments.reference(&key, value.span) else { continue };
        let text = value.text().unwrap_or_default();
        match LogstashDissect::compile(text) {
            Ok(dissect) => mappings.push(Mapping { source, dissect, names: names(text) }),
            Err(reason) => arguments.complain(complain::bad_pattern(text, value.span, &reason)),
        }
    }
    let mut conversions = Vec::new();
    for (key, value) in arguments.pairs("convert_datatype") {
        let kind = value.text().unwrap_or_default();
        let is_float = match kind {
            "int" => false,
            "float" => true,
            _ => {
                arguments.complain(complain::bad_value(
                    "convert_datatype",
                    value.span,
                    "int or float",
                ));
                continue;
            }
        };
        let Some(field) = arguments.reference(&key, value.span) else { continue };
        conversions.push(Conversion {
            field,
            is_float,
            null_tag: format!("_dataconversionnullvalue_{key}_{kind}"),
            bad_tag: format!("_dataconversionuncoercible_{key}_{kind}"),
        });
    }
    let tags = arguments.tags("tag_on_failure", "_dissectfailure");
    Some(Box::new(Dissect { mappings, conversions, tags }))
}

/// The names between `%{` and `}`, without prefix and suffix.
fn names(mapping: &str) -> Vec<(String, FieldRef)> {
    let parts = mapping.split("%{").skip(1).filter_map(|part| part.split_once('}'));
    let names = parts.filter_map(|(name, _)| {
        let name = name.strip_suffix("->").unwrap_or(name).trim_start_matches(['+', '&', '?']);
        let name = match name.rsplit_once('/') {
            Some((name, order)) if order.bytes().all(|byte| byte.is_ascii_digit()) => name,
            _ => name.split("->").next().unwrap_or(name),
        };
        Some((name.to_string(), FieldRef::parse(name).ok()?))
    });
    names.filter(|(name, _)| !name.is_empty()).collect()
}

impl Filter for Dissect {
    fn filter<'a>(&'a self, event: &mut LogEvent<'a>, turn: &mut Turn<'a, '_>) -> Outcome {
        let mut outcome = Outcome::Matched;
        for mapping in &self.mappings {
            let text = match event.get(&mapping.source) {
                None => {
                    outcome = Outcome::Unmatched;
                    continue;
                }
                Some(Datum::Null) => return turn.fail(event, &self.tags),
                Some(value) => value.text_in(turn.arena),
            };
            if text.is_empty() || mapping.run(text, event, turn).is_none() {
                return turn.fail(event, &self.tags);
            }
        }
        for conversion in &self.conversions {
            conversion.run(event, turn);
        }
        outcome
    }
}

impl Mapping {
    fn run<'a>(
        &'a self,
        text: &'a str,
        event: &mut LogEvent<'a>,
        turn: &Turn<'a, '_>,
    ) -> Option<()> {
        let arena = turn.arena;
        let mut known = arena.record_builder(self.names.len());
        for (name, field) in &self.names {
            match event.get(field) {
                None | Some(Datum::Null) => {}
                Some(value) => known.insert(name, Value::Str(value.text_in(arena))),
            }
        }
        let known = known.finish();
        let before = known.as_record(arena)?;
        let found = self.dissect.parse_over(text, Some(before), arena).ok()?;
        for (name, value) in found.as_record(arena)?.iter() {
            let Value::Str(value) = value else { continue };
            let unchanged =
                matches!(before.get(name), Some(Value::Str(old)) if std::ptr::eq(old, value));
            if !unchanged && let Ok(field) = FieldRef::parse(name) {
                event.set(&field, Datum::Str(value), arena).ok()?;
            }
        }
        Some(())
    }
}

impl Conversion {
    fn run<'a>(&'a self, event: &mut LogEvent<'a>, turn: &Turn<'a, '_>) {
        let converted = match event.get(&self.field) {
            None | Some(Datum::Null) => {
                event.tag(&self.null_tag);
                return;
            }
            Some(value) => self.convert(value),
        };
        match converted {
            Some(value) => {
                // It was there a moment ago.
                let _ = event.set(&self.field, value, turn.arena);
            }
            None => event.tag(&self.bad_tag),
        }
    }

    fn convert<'a>(&self, value: &Datum<'a>) -> Option<Datum<'a>> {
        let number = match value {
            Datum::Int(_) | Datum::UInt(_) if !self.is_float => return Some(value.clone()),
            Datum::Int(number) => *number as f64,
            Datum::UInt(number) => *number as f64,
            Datum::Float(number) => *number,
            Datum::Str(text) => {
                if let (false, Ok(number)) = (self.is_float, text.parse()) {
                    return Some(Datum::Int(number));
                }
                if let (false, Ok(number)) = (self.is_float, text.parse()) {
                    return Some(Datum::UInt(number));
                }
                text.parse::<f64>().ok().filter(|number| number.is_finite())?
            }
            _ => return None,
        };
        if self.is_float {
            return Some(Datum::Float(number));
        }
        let whole = number.trunc();
        let fits = whole >= i64::MIN as f64 && whole < i64::MAX as f64;
        Some(if fits { Datum::Int(whole as i64) } else { Datum::Float(whole) })
    }
}
