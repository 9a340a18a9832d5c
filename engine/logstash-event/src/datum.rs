//! The values of an event while filters work on it. They are like the values of the language, but maps and lists
//! change in place, and a time is a kind of its own.
//!
//! Invariant: strings live in the event's arena or in the configuration; no value owns text.

pub use crate::map::Map;

use chrono::{DateTime, Utc};
use temblor_lang::value::{Arena, Entry, Value, push_json_string};

use crate::timestamp::Written;
pub use crate::timestamp::iso8601;

/// Lists and maps nest no deeper in an event that filters have changed: whatever walks them needs stack for
/// each level. What comes in nests 1,024 deep at the most.
pub const DEPTH_MAX: usize = 2_048;

/// A value that filters can change in place.
#[derive(Clone, Debug, PartialEq, Default)]
pub enum Datum<'a> {
    /// `null`
    #[default]
    Null,
    /// `true`, `false`
    Bool(bool),
    /// An integer.
    Int(i64),
    /// An integer above `i64::MAX`.
    UInt(u64),
    /// A floating-point number.
    Float(f64),
    /// A string.
    Str(&'a str),
    /// A point in time.
    Time(DateTime<Utc>),
    /// A list.
    List(Vec<Datum<'a>>),
    /// A map.
    Map(Map<'a>),
}

impl<'a> Datum<'a> {
    /// Converts a value of the language; strings are shared, not copied.
    #[must_use]
    pub fn from_value(value: Value<'a>, arena: &'a Arena) -> Self {
        match value {
            Value::Null => Datum::Null,
            Value::Bool(value) => Datum::Bool(value),
            Value::Int(value) => Datum::Int(value),
            Value::UInt(value) => Self::whole(value),
            Value::Float(value) => Datum::Float(value),
            Value::Str(text) => Datum::Str(text),
            Value::Bytes(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => Datum::Str(text),
                Err(_) => Datum::Str(arena.str(&String::from_utf8_lossy(bytes))),
            },
            Value::Array(items) => {
                Datum::List(items.iter().map(|item| Self::from_value(*item, arena)).collect())
            }
            Value::Record(record) => {
                let field = |one: &Entry<'a>| (one.name(), Self::from_value(one.value, arena));
                Datum::Map(record.entries().iter().map(field).collect())
            }
            Value::Lazy(lazy) if lazy.is_record() => Datum::Map(
                lazy.fields().map(|(key, value)| (key, Self::from_value(value, arena))).collect(),
            ),
            Value::Edited(edited) => Datum::Map(
                edited.fields().map(|(key, value)| (key, Self::from_value(value, arena))).collect(),
            ),
            Value::Lazy(lazy) => {
                Datum::List(lazy.elements().map(|item| Self::from_value(item, arena)).collect())
            }
        }
    }

    /// A non-negative integer: `Int` where it fits, else `UInt`.
    #[must_use]
    #[inline]
    pub fn whole(number: u64) -> Self {
        i64::try_from(number).map_or(Datum::UInt(number), Datum::Int)
    }

    /// Converts to a value of the language; a time becomes a string.
    #[must_use]
    pub fn to_value(&self, arena: &'a Arena) -> Value<'a> {
        match self {
            Datum::Null => Value::Null,
            Datum::Bool(value) => Value::Bool(*value),
            Datum::Int(value) => Value::Int(*value),
            Datum::UInt(value) => Value::UInt(*value),
            Datum::Float(value) => Value::Float(*value),
            Datum::Str(text) => Value::Str(text),
            Datum::Time(time) => Value::Str(arena.str(Written::of(*time).as_str())),
            Datum::List(items) => arena.array(items.iter().map(|item| item.to_value(arena))),
            Datum::Map(map) => map.to_value(arena),
        }
    }

    /// A deep copy whose strings live in `arena`.
    #[must_use]
    pub fn copy_into<'b>(&self, arena: &'b Arena) -> Datum<'b> {
        match self {
            Datum::Null => Datum::Null,
            Datum::Bool(value) => Datum::Bool(*value),
            Datum::Int(value) => Datum::Int(*value),
            Datum::UInt(value) => Datum::UInt(*value),
            Datum::Float(value) => Datum::Float(*value),
            Datum::Str(text) => Datum::Str(arena.str(text)),
            Datum::Time(time) => Datum::Time(*time),
            Datum::List(items) => {
                Datum::List(items.iter().map(|item| item.copy_into(arena)).collect())
            }
            Datum::Map(map) => Datum::Map(
                map.iter().map(|(key, value)| (arena.str(key), value.copy_into(arena))).collect(),
            ),
        }
    }

    /// Whether it may stand `steps` deep in an event.
    #[must_use]
    pub fn fits(&self, steps: usize) -> bool {
        let inside = |item: &Self| item.fits(steps + 1);
        match self {
            _ if steps > DEPTH_MAX => false,
            Datum::List(items) => items.iter().all(inside),
            Datum::Map(map) => map.iter().all(|(_, value)| inside(value)),
            _ => true,
        }
    }

    /// Bytes that a copy of its lists and maps takes; texts are shared.
    #[must_use]
    pub fn weight(&self) -> usize {
        match self {
            Datum::List(items) => {
                size_of_val(items.as_slice()) + items.iter().map(Self::weight).sum::<usize>()
            }
            Datum::Map(map) => map.weight(),
            _ => 0,
        }
    }

    /// Asks for the memory of so many copies; false when an event must not have that much.
    #[must_use]
    pub fn admits_copies(&self, copies: usize, arena: &Arena) -> bool {
        match self {
            Datum::List(_) | Datum::Map(_) => arena.charge(self.weight().saturating_mul(copies)),
            _ => true,
        }
    }

    /// The string, if this is one.
    #[must_use]
    #[inline]
    pub fn as_str(&self) -> Option<&'a str> {
        if let Datum::Str(text) = self { Some(text) } else { None }
    }

    /// Appends what `%{field}` is replaced with; returns false, and appends nothing, for `null`.
    #[must_use]
    pub fn push_text(&self, out: &mut String) -> bool {
        match self {
            Datum::Null => return false,
            Datum::Str(text) => out.push_str(text),
            Datum::List(items) => {
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    let _ = item.push_text(out);
                }
            }
            Datum::Map(_) => self.push_json(out),
            scalar => scalar.push_scalar(out),
        }
        true
    }

    /// Like [`Datum::push_text`], but in Java's notation, which Logstash uses in `%{…}` texts: it differs for floats
    /// and for maps inside lists.
    #[must_use]
    pub(crate) fn push_completed(&self, out: &mut String) -> bool {
        match self {
            Datum::Float(number) => out.push_str(&java_float_text(*number)),
            Datum::Map(_) => self.push_java_json(out),
            Datum::List(items) => {
                for (at, item) in items.iter().enumerate() {
                    out.push_str(if at > 0 { "," } else { "" });
                    match item {
                        Datum::Map(_) => item.push_java(out),
                        item => {
                            let _ = item.push_completed(out);
                        }
                    }
                }
            }
            other => return other.push_text(out),
        }
        true
    }

    /// Appends the value as `toString` of Java's collections writes it: `{a=1, b=[2, 3]}`.
    fn push_java(&self, out: &mut String) {
        match self {
            Datum::Null => out.push_str("null"),
            Datum::List(items) => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    out.push_str(if at > 0 { ", " } else { "" });
                    item.push_java(out);
                }
                out.push(']');
            }
            Datum::Map(map) => {
                out.push('{');
                for (at, (key, value)) in map.iter().enumerate() {
                    out.push_str(if at > 0 { ", " } else { "" });
                    out.push_str(key);
                    out.push('=');
                    value.push_java(out);
                }
                out.push('}');
            }
            scalar => {
                let _ = scalar.push_completed(out);
            }
        }
    }

    /// The value as a string: a list is joined with commas, a map is JSON, `null` is empty.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        let _ = self.push_text(&mut text);
        text
    }

    /// Like [`Datum::text`], in the arena; a string is not copied.
    #[must_use]
    #[inline]
    pub fn text_in(&self, arena: &'a Arena) -> &'a str {
        match self {
            Datum::Str(text) => text,
            other => arena.str(&other.text()),
        }
    }

    fn push_scalar(&self, out: &mut String) {
        use std::fmt::Write;
        // Writing into a String does not fail.
        let _ = match self {
            Datum::Bool(value) => write!(out, "{value}"),
            Datum::Int(value) => write!(out, "{value}"),
            Datum::UInt(value) => write!(out, "{value}"),
            Datum::Float(value) => write!(out, "{}", float_text(*value)),
            Datum::Time(time) => out.write_str(Written::of(*time).as_str()),
            _ => Ok(()),
        };
    }

    /// Appends the value as JSON.
    pub fn push_json(&self, out: &mut String) {
        self.push_json_with(out, float_text);
    }

    /// Appends the value as JSON with floats in Java's notation.
    pub fn push_java_json(&self, out: &mut String) {
        self.push_json_with(out, java_float_text);
    }

    fn push_json_with(&self, out: &mut String, float: fn(f64) -> String) {
        match self {
            Datum::Float(number) => out.push_str(&float(*number)),
            Datum::Null => out.push_str("null"),
            Datum::Str(text) => push_quoted(out, text),
            Datum::Time(time) => push_quoted(out, Written::of(*time).as_str()),
            Datum::List(items) => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    out.push_str(if at > 0 { "," } else { "" });
                    item.push_json_with(out, float);
                }
                out.push(']');
            }
            Datum::Map(map) => {
                out.push('{');
                for (at, (key, value)) in map.iter().enumerate() {
                    out.push_str(if at > 0 { "," } else { "" });
                    push_quoted(out, key);
                    out.push(':');
                    value.push_json_with(out, float);
                }
                out.push('}');
            }
            scalar => scalar.push_scalar(out),
        }
    }
}

fn push_quoted(out: &mut String, text: &str) {
    let mut bytes = Vec::with_capacity(text.len() + 2);
    push_json_string(&mut bytes, text);
    out.push_str(&String::from_utf8_lossy(&bytes));
}

/// A float as Ruby prints it.
#[must_use]
pub fn float_text(number: f64) -> String {
    /// JRuby writes an exponent from this size on.
    const EXPONENT_FROM: f64 = 1e19;
    /// And below this size.
    const EXPONENT_BELOW: f64 = 1e-4;
    decimal(number, EXPONENT_BELOW, EXPONENT_FROM).unwrap_or_else(|| {
        let (digits, exponent) = scientific(number);
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{digits}e{sign}{:02}", exponent.unsigned_abs())
    })
}

/// A float as Java prints it.
#[must_use]
pub(crate) fn java_float_text(number: f64) -> String {
    /// Java writes an exponent from this size on.
    const EXPONENT_FROM: f64 = 1e7;
    /// And below this size.
    const EXPONENT_BELOW: f64 = 1e-3;
    decimal(number, EXPONENT_BELOW, EXPONENT_FROM).unwrap_or_else(|| {
        let (digits, exponent) = scientific(number);
        format!("{digits}E{exponent}")
    })
}

/// The number without an exponent; `None` where its size is outside `below..from`.
fn decimal(number: f64, below: f64, from: f64) -> Option<String> {
    if number.is_nan() {
        return Some("NaN".to_string());
    }
    if number.is_infinite() {
        return Some(if number > 0.0 { "Infinity" } else { "-Infinity" }.to_string());
    }
    let size = number.abs();
    if size != 0.0 && !(below..from).contains(&size) {
        return None;
    }
    let text = format!("{number}");
    Some(if text.contains('.') { text } else { format!("{text}.0") })
}

/// Mantissa with a decimal point, and the exponent to base ten.
fn scientific(number: f64) -> (String, i32) {
    let text = format!("{number:e}");
    let (digits, exponent) = text.split_once('e').expect("this format has an exponent");
    let digits = if digits.contains('.') { digits.to_string() } else { format!("{digits}.0") };
    (digits, exponent.parse().expect("the exponent of this format is a number"))
}

#[cfg(test)]
mod tests {
    use super::{float_text, java_float_text};

    #[test]
    fn numbers_are_written_in_two_ways() {
        for (number, ruby, java) in [
            (1.0, "1.0", "1.0"),
            (12_345_678.5, "12345678.5", "1.23456785E7"),
            (1e7, "10000000.0", "1.0E7"),
            (9_999_999.0, "9999999.0", "9999999.0"),
            (0.001, "0.001", "0.001"),
            (-0.000_25, "-0.00025", "-2.5E-4"),
            (1e20, "1.0e+20", "1.0E20"),
            (1.5e-7, "1.5e-07", "1.5E-7"),
            (0.0, "0.0", "0.0"),
        ] {
            assert_eq!((&*float_text(number), &*java_float_text(number)), (ruby, java));
        }
    }
}
