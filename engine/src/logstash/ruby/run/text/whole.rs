//! Methods that look at the whole of a text.

use super::super::{Found1, Stop, limited};
use super::format::format;
use super::set::successor;
use super::{integer_in, whole};
use crate::logstash::filter::{capitalize, leading_float, leading_integer, strip};
use crate::logstash::ruby::value::Value;
use std::sync::Arc;

/// All of them.
pub(super) fn method(text: &Arc<str>, name: &str, arguments: &[Value]) -> Found1 {
    for family in [changed, measured, combined, replaced] {
        if let Some(found) = family(text, name, arguments)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Another text of the same letters.
fn changed(text: &Arc<str>, name: &str, arguments: &[Value]) -> Found1 {
    Ok(Some(match (name, arguments) {
        ("to_s" | "to_str" | "b", []) => Value::Text(text.clone()),
        ("force_encoding" | "encode" | "scrub", _) => Value::Text(text.clone()),
        ("upcase", _) => Value::text(&text.to_uppercase()),
        ("downcase", _) => Value::text(&text.to_lowercase()),
        ("capitalize", []) => Value::text(&capitalize(text)),
        ("swapcase", []) => {
            let swap = |c: char| match c.is_uppercase() {
                true => c.to_lowercase().collect::<String>(),
                false => c.to_uppercase().collect(),
            };
            Value::text(&text.chars().map(swap).collect::<String>())
        }
        ("dump", []) => Value::text(&Value::Text(text.clone()).inspect()),
        ("strip", []) => Value::text(strip(text)),
        ("lstrip", []) => Value::text(text.trim_start()),
        ("rstrip", []) => Value::text(text.trim_end()),
        ("squish", []) => Value::text(&text.split_whitespace().collect::<Vec<_>>().join(" ")),
        ("chomp", []) => Value::text(
            text.strip_suffix("\r\n").or_else(|| text.strip_suffix(['\n', '\r'])).unwrap_or(text),
        ),
        ("chomp" | "delete_suffix", [Value::Text(end)]) => {
            Value::text(text.strip_suffix(&**end).unwrap_or(text))
        }
        ("delete_prefix", [Value::Text(start)]) => {
            Value::text(text.strip_prefix(&**start).unwrap_or(text))
        }
        ("chop", []) => {
            let mut characters = text.chars();
            characters.next_back();
            Value::text(characters.as_str())
        }
        _ => return Ok(None),
    }))
}

/// Numbers and facts.
fn measured(text: &Arc<str>, name: &str, arguments: &[Value]) -> Found1 {
    Ok(Some(match (name, arguments) {
        ("length" | "size", []) => whole(text.chars().count()),
        ("bytesize", []) => whole(text.len()),
        ("reverse", []) => Value::text(&text.chars().rev().collect::<String>()),
        ("empty?", []) => Value::Bool(text.is_empty()),
        ("to_i", []) => whole_number(text),
        ("to_i", [Value::Int(radix)]) => Value::Int(integer_in(text, *radix)),
        ("hex", []) => Value::Int(integer_in(text, 16)),
        ("oct", []) => Value::Int(integer_in(text, 8)),
        ("to_f" | "to_d", []) => Value::Float(leading_float(text)),
        ("to_sym" | "intern", []) => Value::Symbol(text.clone()),
        ("ord", []) => Value::Int(text.chars().next().map_or(0, |first| first as i64)),
        ("chr", []) => Value::text(&text.chars().take(1).collect::<String>()),
        ("sum", []) => Value::Int(text.bytes().map(i64::from).sum::<i64>() % (1 << 16)),
        ("valid_encoding?", []) => Value::Bool(true),
        ("ascii_only?", []) => Value::Bool(text.is_ascii()),
        ("encoding", []) => Value::text("UTF-8"),
        _ => return Ok(None),
    }))
}

/// With other values, by operators.
fn combined(text: &Arc<str>, name: &str, arguments: &[Value]) -> Found1 {
    Ok(Some(match (name, arguments) {
        ("concat" | "<<", others) if others.iter().all(|one| matches!(one, Value::Text(_))) => {
            let mut all = text.to_string();
            others.iter().for_each(|other| all.push_str(&other.print()));
            limited(all.len())?;
            Value::text(&all)
        }
        ("+", [Value::Text(other)]) => {
            limited(text.len() + other.len())?;
            Value::text(&format!("{text}{other}"))
        }
        ("+", [other]) => {
            let message = format!("no implicit conversion of {} into String", other.class());
            return Err(Stop::raise("TypeError", message));
        }
        ("*", [Value::Int(count)]) => {
            let count = usize::try_from(*count)
                .map_err(|_| Stop::raise("ArgumentError", "argument must be non-negative"))?;
            limited(text.len().saturating_mul(count))?;
            Value::text(&text.repeat(count))
        }
        ("%", [Value::List(items)]) => Value::text(&format(text, &items.lock().clone())?),
        ("%", [value]) => Value::text(&format(text, std::slice::from_ref(value))?),
        ("<", [Value::Text(other)]) => Value::Bool(**text < **other),
        (">", [Value::Text(other)]) => Value::Bool(**text > **other),
        ("<=", [Value::Text(other)]) => Value::Bool(**text <= **other),
        (">=", [Value::Text(other)]) => Value::Bool(**text >= **other),
        ("between?", [Value::Text(low), Value::Text(high)]) => {
            Value::Bool(**low <= **text && **text <= **high)
        }
        ("casecmp?", [Value::Text(other)]) => {
            Value::Bool(text.to_lowercase() == other.to_lowercase())
        }
        ("casecmp", [Value::Text(other)]) => {
            let (left, right) = (text.to_ascii_lowercase(), other.to_ascii_lowercase());
            Value::Int(left.cmp(&right) as i64)
        }
        _ => return Ok(None),
    }))
}

/// With other text in it.
fn replaced(text: &Arc<str>, name: &str, arguments: &[Value]) -> Found1 {
    Ok(Some(match (name, arguments) {
        ("replace", [Value::Text(other)]) => Value::Text(other.clone()),
        ("prepend", [Value::Text(other)]) => Value::text(&format!("{other}{text}")),
        ("clear", []) => Value::text(""),
        ("insert", [Value::Int(at), Value::Text(other)]) => {
            let length = text.chars().count() as i64;
            let place = if *at < 0 { at + length + 1 } else { *at };
            if !(0..=length).contains(&place) {
                return Err(Stop::raise("IndexError", format!("index {at} out of string")));
            }
            let at = usize::try_from(place).unwrap_or(0);
            let head: String = text.chars().take(at).collect();
            let tail: String = text.chars().skip(at).collect();
            Value::text(&format!("{head}{other}{tail}"))
        }
        ("succ" | "next", []) => Value::text(&successor(text)),
        _ => return Ok(None),
    }))
}

/// Ruby's `to_i`. A number beyond 63 bits has a fraction here.
fn whole_number(text: &str) -> Value {
    let digits = text.trim_start().trim_start_matches(['+', '-']);
    let length = digits.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'_').count();
    if length < 19 || !digits.starts_with(|c: char| c.is_ascii_digit()) {
        return Value::Int(leading_integer(text));
    }
    match (leading_integer(text), digits[..length].replace('_', "").parse::<f64>()) {
        (0, Ok(size)) if size > 0.0 && text.trim_start().starts_with('-') => Value::Float(-size),
        (0, Ok(size)) if size > 0.0 => Value::Float(size),
        (number, _) => Value::Int(number),
    }
}
