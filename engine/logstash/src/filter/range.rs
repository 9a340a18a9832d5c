//! `range`: tests whether numbers, or the lengths of texts, lie in ranges, and acts on it.

use super::{Declaration, Filter, Outcome, Turn};
use crate::complain;
use crate::options::{Arguments, Takes, option};
use temblor_logstash_event::datum::Datum;
use temblor_logstash_event::event::LogEvent;
use temblor_logstash_event::reference::FieldRef;
use temblor_logstash_event::template::Template;

/// `range`
pub(crate) static DECLARATION: Declaration = Declaration {
    name: "range",
    doc: "Acts on numbers that lie in a range.",
    options: &[
        option("ranges", Takes::List, "Fours of field, lowest, highest and action."),
        option("negate", Takes::Flag, "Whether to act on what lies outside."),
    ],
    make,
};

#[derive(Debug)]
enum Action {
    /// `drop`
    Drop,
    /// `tag:x`
    Tag(Template),
    /// `field:name:value`
    Field(FieldRef, Template),
}

#[derive(Debug)]
struct Range {
    ranges: Vec<(FieldRef, f64, f64, Action)>,
    negate: bool,
}

fn make(arguments: &mut Arguments<'_>) -> Option<Box<dyn Filter>> {
    let texts = arguments.texts("ranges").unwrap_or_default();
    let span = arguments.place("ranges");
    let mut ranges = Vec::new();
    for part in texts.chunks(4) {
        let read = match part {
            [(field, _), (low, _), (high, _), (action, _)] => read(field, low, high, action),
            _ => None,
        };
        match read {
            Some(range) => ranges.push(range),
            None => {
                let wanted = "fours of field, lowest, highest and `drop`, `tag:…` or `field:…:…`";
                arguments.complain(complain::bad_value("ranges", span, wanted));
            }
        }
    }
    Some(Box::new(Range { ranges, negate: arguments.flag("negate", false) }))
}

fn read(field: &str, low: &str, high: &str, action: &str) -> Option<(FieldRef, f64, f64, Action)> {
    let action = match action.split_once(':') {
        None if action.eq_ignore_ascii_case("drop") => Action::Drop,
        Some(("tag", tag)) => Action::Tag(Template::parse(tag)),
        Some(("field", rest)) => {
            let (name, value) = rest.split_once(':')?;
            Action::Field(FieldRef::parse(name).ok()?, Template::parse(value))
        }
        _ => return None,
    };
    Some((FieldRef::parse(field).ok()?, low.parse().ok()?, high.parse().ok()?, action))
}

impl Filter for Range {
    fn filter<'a>(&'a self, event: &mut LogEvent<'a>, turn: &mut Turn<'a, '_>) -> Outcome {
        let (arena, now) = (turn.arena, turn.now);
        for (field, low, high, action) in &self.ranges {
            let number = match event.get(field) {
                Some(Datum::Int(number)) => *number as f64,
                Some(Datum::UInt(number)) => *number as f64,
                Some(Datum::Float(number)) => *number,
                Some(Datum::Str(text)) => text.chars().count() as f64,
                _ => continue,
            };
            if (*low <= number && number <= *high) == self.negate {
                continue;
            }
            match action {
                Action::Drop => {
                    event.cancelled = true;
                    return Outcome::Unmatched;
                }
                Action::Tag(tag) => {
                    let tag = tag.render(event, arena, now);
                    event.tag(tag);
                }
                Action::Field(target, value) => {
                    // Digits make a number.
                    let text = value.render(event, arena, now);
                    let value = text.parse().map_or(Datum::Str(text), Datum::Int);
                    let _ = event.set(target, value, arena);
                }
            }
        }
        Outcome::Matched
    }
}
