//! A value as a setting takes it. "A whole number", "a duration" and their like are read here and
//! nowhere else.

use std::sync::Arc;
use std::time::Duration;

use temblor_lang::diagnostic::Diagnostic;
use temblor_lang::program::{self, Formula};
use temblor_lang::span::Span;
use temblor_lang::units;
use temblor_lang::value::{Arena, Frozen, Value, push_text, to_json};

use super::complain;
use crate::secret::Secret;
use crate::setting::{Setting, Takes};
use crate::settings::{Given, Named, PerEvent, Template};

/// Reads a value; the error is a sentence as [`complain::sentence`] takes it. What is wrong inside of
/// records is reported to `diagnostics`.
pub(super) fn read<'a>(
    takes: Takes,
    value: Value<'a>,
    span: Span,
    arena: &'a Arena,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Given, String> {
    let text = || value.as_str().map(str::to_string);
    let given = match takes {
        Takes::Text | Takes::Place => text().map(Given::Text),
        Takes::Texts => texts(value, arena).map(Given::Texts),
        Takes::Scalar => scalar(value).map(Given::Text),
        Takes::Whole { least, most } => {
            value.as_u64().filter(|one| (least..=most).contains(one)).map(Given::Whole)
        }
        Takes::Signed { least, most } => {
            value.as_i64().filter(|one| (least..=most).contains(one)).map(Given::Signed)
        }
        Takes::Number => number(value).map(Given::Number),
        Takes::Between { least, most } => {
            number(value).filter(|one| (least..=most).contains(one)).map(Given::Number)
        }
        Takes::Flag => value.as_bool().map(Given::Flag),
        Takes::Duration => {
            nanoseconds(value).map(|time_ns| Given::Duration(Duration::from_nanos(time_ns)))
        }
        Takes::Offset => offset(value).map(Given::Signed),
        Takes::Bytes => match value.as_str() {
            Some(text) => units::parse_size(text),
            None => value.as_u64(),
        }
        .map(Given::Whole),
        Takes::Word(words) => text().filter(|text| words.contains(&text.as_str())).map(Given::Text),
        Takes::Secret => match value.as_str() {
            Some(text) => Some(Given::Secret(Secret::of_setting(text)?)),
            None => None,
        },
        Takes::Record(rows) => value
            .as_record(arena)
            .map(|_| Given::Record(super::entries(rows, value, span, arena, diagnostics))),
        Takes::Records(rows) => records(rows, value, span, arena, diagnostics),
        Takes::Map => map(value, arena).map(Given::Map),
        Takes::Any => Some(Given::of(value)),
        Takes::Named => Some(Given::Named(vec![named(value, arena)?])),
        Takes::NamedList => named_list(value, span, arena, diagnostics),
        Takes::Template | Takes::PathTemplate => {
            text().map(|text| Given::Template(Template::Constant(text)))
        }
        Takes::Formula => Some(Given::Formula(Arc::new(constant(value, span)))),
        Takes::PerEvent | Takes::PerEventJson | Takes::Hidden(_) => {
            let as_json = !matches!(takes, Takes::PerEvent);
            let formula = Arc::new(constant(value, span));
            Some(Given::PerEvent(PerEvent { formula, as_json }))
        }
    };
    given.ok_or_else(|| complain::mismatch(takes, value))
}

fn records<'a>(
    rows: &'static [Setting],
    value: Value<'a>,
    span: Span,
    arena: &'a Arena,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Given> {
    let items = value.as_array(arena)?;
    if items.iter().any(|item| item.as_record(arena).is_none()) {
        return None;
    }
    let one = |item: &Value<'a>| super::entries(rows, *item, span, arena, diagnostics);
    Some(Given::Records(items.iter().map(one).collect()))
}

fn number(value: Value<'_>) -> Option<f64> {
    match value {
        Value::Float(number) => Some(number),
        #[expect(clippy::cast_precision_loss, reason = "settings are small numbers")]
        _ => value.as_i64().map(|number| number as f64),
    }
}

fn scalar(value: Value<'_>) -> Option<String> {
    match value.as_str() {
        Some(text) => Some(text.to_string()),
        None => number(value).map(|_| to_json(value)),
    }
}

/// A duration as text, or nanoseconds.
fn nanoseconds(value: Value<'_>) -> Option<u64> {
    match value.as_str() {
        Some(text) => units::parse_duration(text),
        None => value.as_u64(),
    }
}

fn offset(value: Value<'_>) -> Option<i64> {
    let Some(text) = value.as_str() else { return value.as_i64() };
    let (sign, text) = match text.strip_prefix('-') {
        Some(text) => (-1, text),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    Some(sign * i64::try_from(units::parse_duration(text)?).ok()?)
}

fn texts<'a>(value: Value<'a>, arena: &'a Arena) -> Option<Vec<String>> {
    if let Some(text) = value.as_str() {
        return Some(vec![text.to_string()]);
    }
    let items = value.as_array(arena)?;
    items.iter().map(|item| item.as_str().map(str::to_string)).collect()
}

fn map<'a>(value: Value<'a>, arena: &'a Arena) -> Option<Vec<(String, String)>> {
    let record = value.as_record(arena)?;
    let entry = |(key, value): (&str, Value<'a>)| {
        let mut text = Vec::new();
        push_text(&mut text, value);
        Some((key.to_string(), String::from_utf8(text).ok()?))
    };
    record.iter().map(entry).collect()
}

/// `"json"`, or `{"name": "json", "config": {…}}`.
fn named<'a>(value: Value<'a>, arena: &'a Arena) -> Result<Named, String> {
    if let Some(name) = value.as_str() {
        return Ok(Named { name: name.to_string(), config: None });
    }
    let record = value.as_record(arena);
    let field = |name: &str| record.and_then(|record| record.get(name));
    let Some(name) = field("name").and_then(Value::as_str) else {
        return Err(complain::mismatch(Takes::Named, value));
    };
    let config = field("config").filter(|config| *config != Value::Null);
    if let Some(config) = config.filter(|config| config.as_record(arena).is_none()) {
        return Err(format!("the `config` of `{name}` must be a record, got {}", to_json(config)));
    }
    let config = config.map(|config| Arc::new(Frozen::new(config)));
    Ok(Named { name: name.to_string(), config })
}

/// Each name that is none is reported by itself.
fn named_list<'a>(
    value: Value<'a>,
    span: Span,
    arena: &'a Arena,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Given> {
    let mut all = Vec::new();
    for item in value.as_array(arena)? {
        match named(*item, arena) {
            Ok(one) => all.push(one),
            Err(reason) => {
                let reason = reason.replacen("must be", "expected", 1);
                diagnostics.push(Diagnostic::error("E0510", span, reason));
            }
        }
    }
    Some(Given::Named(all))
}

/// A formula whose value is always the same.
fn constant(value: Value<'_>, span: Span) -> Formula {
    let expr = program::Expr::Const(Arc::new(Frozen::new(value)));
    Formula { expr, slots: 0, aggregates: Vec::new(), span }
}
