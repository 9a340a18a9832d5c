//! Scalars of YAML's core schema. Only plain scalars are ever anything but text, unless a tag says so.

use saphyr_parser::ScalarStyle;
use temblor_lang::value::Value;

/// The value of a scalar with the word of its tag; `None` when the tag says what it is not.
pub(super) fn value<'a>(text: &'a str, style: ScalarStyle, tag: Option<&str>) -> Option<Value<'a>> {
    match tag {
        None if style == ScalarStyle::Plain => Some(plain(text)),
        None | Some("str") => Some(Value::Str(text)),
        Some("null") => matches!(plain(text), Value::Null).then_some(Value::Null),
        Some("bool") => Some(plain(text)).filter(|value| matches!(value, Value::Bool(_))),
        Some("int") => {
            Some(plain(text)).filter(|value| matches!(value, Value::UInt(_) | Value::Int(_)))
        }
        Some("float") => plain(text).as_f64().map(Value::Float),
        Some(_) => None,
    }
}

/// What a scalar without quotes stands for.
pub(super) fn plain(text: &str) -> Value<'_> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ => number(text).unwrap_or(Value::Str(text)),
    }
}

fn number(text: &str) -> Option<Value<'static>> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    match unsigned {
        ".inf" | ".Inf" | ".INF" if text.starts_with('-') => {
            return Some(Value::Float(f64::NEG_INFINITY));
        }
        ".inf" | ".Inf" | ".INF" => return Some(Value::Float(f64::INFINITY)),
        ".nan" | ".NaN" | ".NAN" if unsigned == text => return Some(Value::Float(f64::NAN)),
        _ => {}
    }
    let first = unsigned.strip_prefix('.').unwrap_or(unsigned);
    if !first.starts_with(|first: char| first.is_ascii_digit()) {
        return None;
    }
    integer(text, unsigned).or_else(|| float(text, unsigned))
}

fn integer(text: &str, unsigned: &str) -> Option<Value<'static>> {
    let (digits, radix) = match unsigned.get(..2) {
        Some("0x") => (&unsigned[2..], 16),
        Some("0o") => (&unsigned[2..], 8),
        Some("0b") => (&unsigned[2..], 2),
        _ if has_leading_zero(unsigned) => return None,
        _ => (unsigned, 10),
    };
    if !digits.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    let amount = u64::from_str_radix(digits, radix).ok()?;
    if text.starts_with('-') {
        return 0_i64.checked_sub_unsigned(amount).map(Value::Int);
    }
    Some(Value::UInt(amount))
}

/// `007` is text: readers do not agree on what it stands for.
fn has_leading_zero(unsigned: &str) -> bool {
    unsigned.len() > 1
        && unsigned.starts_with('0')
        && unsigned.bytes().all(|byte| byte.is_ascii_digit())
}

fn float(text: &str, unsigned: &str) -> Option<Value<'static>> {
    if has_leading_zero(unsigned) {
        return None;
    }
    let number =
        |byte: u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-');
    if !unsigned.bytes().all(number) {
        return None;
    }
    text.parse().ok().filter(|float: &f64| float.is_finite()).map(Value::Float)
}
