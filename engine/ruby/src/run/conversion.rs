//! Strict conversions such as `Integer("1")`, which raise where `to_i` would guess.

use super::{Answer, Found1, Stop};
use crate::heap::Heap;
use crate::numeric::{self, Decimal};
use crate::value::{Range, Value};
use num_bigint::BigInt;
use std::sync::Arc;

/// `Integer("1")`, `Float("1.5")`, `String(1)`, `Array(nil)`; with `exception: false` what fails is `nil`.
pub(super) fn convert(heap: &Heap, name: &str, arguments: &[Value]) -> Found1 {
    if let [values @ .., options @ Value::Hash(_)] = arguments
        && let Some(flag) = options.entry(heap, "exception")
    {
        return match converted(heap, name, values) {
            Err(Stop::Raised(_)) if !flag.is_true() => Ok(Some(Value::Nil)),
            other => other,
        };
    }
    converted(heap, name, arguments)
}

fn converted(heap: &Heap, name: &str, arguments: &[Value]) -> Found1 {
    let invalid = |value: &Value| {
        let message = format!("invalid value for {name}(): {}", value.inspect(heap));
        Stop::raise("ArgumentError", message)
    };
    Ok(Some(match (name, arguments) {
        ("Integer", [Value::Text(text), rest @ ..]) => {
            let radix = match rest {
                [Value::Int(radix), ..] => u32::try_from(*radix).ok(),
                _ => None,
            };
            let number = large_integer(&text.str(heap), radix);
            numeric::whole(number.ok_or_else(|| invalid(&arguments[0]))?)
        }
        ("Integer", [Value::Float(number), ..]) if !number.is_finite() => {
            return Err(Stop::raise("FloatDomainError", arguments[0].print(heap)));
        }
        ("Integer", [number, ..]) if number.is_number() => match numeric::ratio(number) {
            Some((numerator, denominator)) => numeric::whole(numerator / denominator),
            None => return Ok(None),
        },
        ("BigDecimal", [Value::Nil, ..]) => {
            return Err(Stop::raise("TypeError", "can't convert nil into BigDecimal"));
        }
        ("BigDecimal", [value, ..]) => decimal(heap, value)?,
        ("Rational", [value]) => rational(heap, value)?,
        ("Rational", [numerator, denominator]) => {
            let (numerator, denominator) =
                (rational(heap, numerator)?, rational(heap, denominator)?);
            super::number::exact(heap, &numerator, "/", &denominator)?.unwrap_or_default()
        }
        ("URI", [Value::Text(text)]) => super::locator::parse(heap, &text.str(heap))?,
        ("Integer" | "Float", [other @ (Value::List(_) | Value::Hash(_) | Value::Bool(_)), ..]) => {
            let what = super::object::word_of(other);
            let message = match name {
                "Integer" => format!("no implicit conversion of {what} into Integer"),
                _ => format!("can't convert {what} into Float"),
            };
            return Err(Stop::raise("TypeError", message));
        }
        ("Integer" | "Float", [Value::Nil, ..]) => {
            let message = format!("can't convert nil into {name}");
            return Err(Stop::raise("TypeError", message));
        }
        ("Float", [Value::Text(text), ..]) => {
            Value::Float(read_float(&text.str(heap)).ok_or_else(|| invalid(&arguments[0]))?)
        }
        ("Float", [number, ..]) if number.is_number() => {
            Value::Float(numeric::float(number).unwrap_or(f64::NAN))
        }
        ("String", [value]) => heap.text(&value.print(heap)),
        ("Array", [Value::Nil]) => heap.list(Vec::new()),
        ("Array", [list @ Value::List(_)]) => list.clone(),
        ("Array", [Value::Hash(hash)]) => {
            let pairs = hash.pairs(heap);
            heap.list(pairs.into_iter().map(|(key, value)| heap.list(vec![key, value])).collect())
        }
        ("Array", [Value::Range(range)]) => match range.get(heap) {
            Range { from: Value::Int(from), to: Value::Int(to), exclusive } => {
                let to = to.saturating_sub(i64::from(exclusive));
                super::limited(usize::try_from(to.saturating_sub(from)).unwrap_or(0))?;
                heap.list((from..=to).map(Value::Int).collect())
            }
            _ => return Ok(None),
        },
        ("Array", [one]) => heap.list(vec![one.clone()]),
        _ => return Ok(None),
    }))
}

/// `1r`, `12345678901234567890`
pub(super) fn number(heap: &Heap, text: &str) -> Value {
    match text.strip_suffix('r') {
        Some(digits) => rational(heap, &heap.text(digits)).unwrap_or_default(),
        None => large_integer(text, None).map_or(Value::Nil, numeric::whole),
    }
}

/// `BigDecimal("1.5")`
pub(super) fn decimal(heap: &Heap, value: &Value) -> Answer {
    let found = match value {
        Value::Rational(_) => None,
        Value::Decimal(_) => return Ok(value.clone()),
        value => Decimal::read(&value.print(heap)),
    };
    match found {
        Some(number) => Ok(Value::Decimal(Arc::new(number))),
        None => {
            let message = format!("invalid value for BigDecimal(): {}", value.inspect(heap));
            Err(Stop::raise("ArgumentError", message))
        }
    }
}

/// `Rational("1/3")`, `Rational(0.5)`
fn rational(heap: &Heap, value: &Value) -> Answer {
    let parts = match value {
        Value::Text(text) => {
            let text = text.str(heap);
            let (above, below) = text.split_once('/').unwrap_or((&*text, "1"));
            let read =
                |text: &str| Decimal::read(text).map(|number| Value::Decimal(Arc::new(number)));
            match (read(above), read(below)) {
                (Some(above), Some(below)) => {
                    let above = rational(heap, &above)?;
                    return Ok(super::number::exact(heap, &above, "/", &rational(heap, &below)?)?
                        .unwrap_or_default());
                }
                _ => None,
            }
        }
        value => numeric::ratio(value),
    };
    match parts {
        Some((numerator, denominator)) => Ok(numeric::fraction(numerator, denominator)),
        None => {
            let what = super::object::word_of(value);
            Err(Stop::raise("TypeError", format!("can't convert {what} into Rational")))
        }
    }
}

/// As [`read_integer`], of any size.
fn large_integer(text: &str, radix: Option<u32>) -> Option<BigInt> {
    match read_integer(text, radix) {
        Some(number) => Some(number.into()),
        None => {
            let text = without_underscores(text.trim())?.to_lowercase();
            let digits = text.trim_start_matches(['+', '-']);
            let hex = digits.strip_prefix("0x");
            let is_octal = digits.len() > 1 && digits.starts_with('0') && radix.is_none();
            let (digits, radix) = match hex {
                Some(digits) => (digits, 16),
                None if is_octal => (&digits[1..], 8),
                None => (digits, radix.filter(|radix| (2..=36).contains(radix)).unwrap_or(10)),
            };
            if digits.len() as u64 > numeric::BITS_MAX / 4 || text.len() - digits.len() > 3 {
                return None;
            }
            let number = BigInt::parse_bytes(digits.as_bytes(), radix)?;
            Some(if text.starts_with('-') { -number } else { number })
        }
    }
}

/// A whole number as Ruby's source may write it: `12`, `0x1f`, `0b1`, `017`, `1_000`, with blanks
/// around it. The radix is for texts without a prefix.
pub fn read_integer(text: &str, radix: Option<u32>) -> Option<i64> {
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
pub fn read_float(text: &str) -> Option<f64> {
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
