//! `Integer("1")` and its like: conversions that fail where `to_i` would guess.

use super::{Found1, Stop};
use crate::logstash::ruby::value::Value;

/// `Integer("1")`, `Float("1.5")`, `String(1)`, `Array(nil)`
pub(super) fn convert(name: &str, arguments: &[Value]) -> Found1 {
    let invalid = |value: &Value| {
        let message = format!("invalid value for {name}(): {}", value.inspect());
        Stop::raise("ArgumentError", message)
    };
    Ok(Some(match (name, arguments) {
        ("Integer", [Value::Text(text), rest @ ..]) => {
            let radix = match rest {
                [Value::Int(radix), ..] => u32::try_from(*radix).ok(),
                _ => None,
            };
            Value::Int(read_integer(text, radix).ok_or_else(|| invalid(&arguments[0]))?)
        }
        ("Integer", [Value::Float(number), ..]) if number.is_finite() => Value::Int(*number as i64),
        ("Integer", [number @ Value::Int(_), ..]) => number.clone(),
        ("Integer" | "Float", [Value::Nil, ..]) => {
            let message = format!("can't convert nil into {name}");
            return Err(Stop::raise("TypeError", message));
        }
        ("Float", [Value::Text(text), ..]) => {
            Value::Float(read_float(text).ok_or_else(|| invalid(&arguments[0]))?)
        }
        ("Float", [Value::Int(number), ..]) => Value::Float(*number as f64),
        ("Float", [number @ Value::Float(_), ..]) => number.clone(),
        ("String", [value]) => Value::text(&value.print()),
        ("Array", [Value::Nil]) => Value::list(Vec::new()),
        ("Array", [list @ Value::List(_)]) => list.clone(),
        ("Array", [Value::Hash(hash)]) => {
            let pairs = hash.lock().pairs();
            Value::list(
                pairs.into_iter().map(|(key, value)| Value::list(vec![key, value])).collect(),
            )
        }
        ("Array", [Value::Range(range)]) => match (&range.0, &range.1) {
            (Value::Int(from), Value::Int(to)) => {
                let to = to - i64::from(range.2);
                super::limited(usize::try_from(to.saturating_sub(*from)).unwrap_or(0))?;
                Value::list((*from..=to).map(Value::Int).collect())
            }
            _ => return Ok(None),
        },
        ("Array", [one]) => Value::list(vec![one.clone()]),
        _ => return Ok(None),
    }))
}

/// A whole number as Ruby's source may write it: `12`, `0x1f`, `0b1`, `017`, `1_000`, with blanks
/// around it. The radix is for texts without a prefix.
pub(in crate::logstash) fn read_integer(text: &str, radix: Option<u32>) -> Option<i64> {
    let text = without_underscores(text.trim())?.to_lowercase();
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(&text)),
    };
    let (digits, found) = match digits.get(..2) {
        Some("0x") => (&digits[2..], 16),
        Some("0b") => (&digits[2..], 2),
        Some("0o") => (&digits[2..], 8),
        _ if digits.len() > 1 && digits.starts_with('0') && radix.is_none() => (&digits[1..], 8),
        _ => (digits, 10),
    };
    if !digits.starts_with(|first: char| first.is_ascii_alphanumeric()) {
        return None;
    }
    let radix = radix.filter(|radix| (2..=36).contains(radix)).unwrap_or(found);
    let number = i64::from_str_radix(digits, radix).ok()?;
    Some(if negative { -number } else { number })
}

/// A number as Ruby's source may write it: `1.5`, `.5`, `1e3`, `1_000.0`, `0x1f`.
pub(in crate::logstash) fn read_float(text: &str) -> Option<f64> {
    let text = without_underscores(text.trim())?;
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(&text);
    if unsigned.starts_with("0x") {
        return read_integer(&text, None).map(|number| number as f64);
    }
    let plain = unsigned.starts_with(|first: char| first.is_ascii_digit() || first == '.')
        && !unsigned.ends_with('.')
        && !unsigned.contains(".e");
    if plain { text.parse().ok() } else { None }
}

/// The text without the underscores between its digits; nothing when one stands elsewhere.
fn without_underscores(text: &str) -> Option<String> {
    let wrong = text.starts_with('_') || text.ends_with('_') || text.contains("__");
    (!wrong).then(|| text.replace('_', ""))
}
