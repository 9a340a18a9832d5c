//! String methods on the whole string.

use super::super::{Found1, Stop, limited};
use super::format::format;
use super::set::successor;
use super::{integer_in, whole};
use crate::heap::Heap;
use crate::numeric::{self, Decimal};
use crate::plain::{capitalize, leading_float, leading_integer, strip};
use crate::value::Value;
use std::sync::Arc;

/// All of them.
pub(super) fn method(heap: &Heap, text: &Arc<str>, name: &str, arguments: &[Value]) -> Found1 {
    for family in [changed, measured, combined, replaced] {
        if let Some(found) = family(heap, text, name, arguments)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Another text of the same letters.
fn changed(heap: &Heap, text: &Arc<str>, name: &str, arguments: &[Value]) -> Found1 {
    Ok(Some(match (name, arguments) {
        ("upcase", [] | [_]) => heap.text(&text.to_uppercase()),
        // Letter by letter: a sigma at the end of a word stays as Java has it.
        ("downcase", [] | [_]) => {
            heap.text(&text.chars().flat_map(char::to_lowercase).collect::<String>())
        }
        ("capitalize", []) => heap.text(&capitalize(text)),
        ("swapcase", []) => {
            let swap = |c: char| match c.is_uppercase() {
                true => c.to_lowercase().collect::<String>(),
                false => c.to_uppercase().collect(),
            };
            heap.text(&text.chars().map(swap).collect::<String>())
        }
        ("dump", []) => {
            let shown = heap.text(text).inspect(heap);
            let ascii = |one: char| match one {
                one if one.is_ascii() => one.to_string(),
                one if u32::from(one) > 0xFFFF => format!("\\u{{{:X}}}", u32::from(one)),
                one => format!("\\u{:04X}", u32::from(one)),
            };
            heap.text(&shown.chars().map(ascii).collect::<String>())
        }
        ("strip", []) => heap.text(strip(text)),
        ("lstrip", []) => heap.text(text.trim_start()),
        ("rstrip", []) => heap.text(text.trim_end()),
        ("squish", []) => heap.text(&text.split_whitespace().collect::<Vec<_>>().join(" ")),
        ("chomp", []) => heap.text(
            text.strip_suffix("\r\n").or_else(|| text.strip_suffix(['\n', '\r'])).unwrap_or(text),
        ),
        ("chomp", [Value::Text(end)]) if end.len(heap) == 0 => {
            let mut rest = &**text;
            while let Some(shorter) = rest.strip_suffix("\r\n").or(rest.strip_suffix('\n')) {
                rest = shorter;
            }
            heap.text(rest)
        }
        ("chomp" | "delete_suffix", [Value::Text(end)]) => {
            heap.text(text.strip_suffix(&*end.str(heap)).unwrap_or(text))
        }
        ("delete_prefix", [Value::Text(start)]) => {
            heap.text(text.strip_prefix(&*start.str(heap)).unwrap_or(text))
        }
        ("chop", []) => {
            let mut characters = text.strip_suffix("\r\n").unwrap_or(text).chars();
            if !text.ends_with("\r\n") {
                characters.next_back();
            }
            heap.text(characters.as_str())
        }
        _ => return Ok(None),
    }))
}

/// Numbers and facts.
fn measured(heap: &Heap, text: &Arc<str>, name: &str, arguments: &[Value]) -> Found1 {
    Ok(Some(match (name, arguments) {
        ("length" | "size", []) => whole(text.chars().count()),
        ("bytesize", []) => whole(text.len()),
        ("reverse", []) => heap.text(&text.chars().rev().collect::<String>()),
        ("empty?", []) => Value::Bool(text.is_empty()),
        ("to_i", []) => whole_number(text),
        ("to_i", [Value::Int(radix)]) if !(2..=36).contains(radix) => {
            return Err(Stop::raise("ArgumentError", format!("illegal radix {radix}")));
        }
        ("to_i", [Value::Int(radix)]) => integer_in(text, *radix),
        ("hex", []) => integer_in(text, 16),
        ("oct", []) => {
            let lower = text.trim_start().trim_start_matches(['+', '-']).to_lowercase();
            let prefixes = [("0x", 16), ("0b", 2), ("0d", 10)];
            let radix = prefixes.iter().find(|(prefix, _)| lower.starts_with(prefix));
            integer_in(text, radix.map_or(8, |(_, radix)| *radix))
        }
        ("to_f", []) => Value::Float(leading_float(text)),
        ("to_d", []) => leading_decimal(text),
        ("to_r", []) => leading_ratio(text),
        ("to_sym" | "intern", []) => Value::Symbol(text.clone()),
        ("ord", []) => match text.chars().next() {
            Some(first) => Value::Int(first as i64),
            None => return Err(Stop::raise("ArgumentError", "empty string")),
        },
        ("chr", []) => heap.text(&text.chars().take(1).collect::<String>()),
        ("sum", []) => Value::Int(text.bytes().map(i64::from).sum::<i64>() % (1 << 16)),
        ("valid_encoding?", []) => Value::Bool(true),
        ("ascii_only?", []) => Value::Bool(text.is_ascii()),
        _ => return Ok(None),
    }))
}

/// With other values, by operators.
fn combined(heap: &Heap, text: &Arc<str>, name: &str, arguments: &[Value]) -> Found1 {
    Ok(Some(match (name, arguments) {
        ("concat" | "<<", others) if others.iter().all(|one| matches!(one, Value::Text(_))) => {
            let mut all = text.to_string();
            others.iter().for_each(|other| all.push_str(&other.print(heap)));
            limited(all.len())?;
            heap.text(&all)
        }
        ("+", [Value::Text(other)]) => {
            let other = other.str(heap);
            limited(text.len() + other.len())?;
            heap.text(&format!("{text}{other}"))
        }
        ("+", [other]) => {
            return Err(super::bytes::no_text(other));
        }
        ("*", [Value::Int(count)]) => {
            let count = usize::try_from(*count)
                .map_err(|_| Stop::raise("ArgumentError", "negative argument"))?;
            limited(text.len().saturating_mul(count))?;
            heap.text(&text.repeat(count))
        }
        ("%", [Value::List(items)]) => heap.text(&format(heap, text, &items.items(heap))?),
        ("%", [value]) => heap.text(&format(heap, text, std::slice::from_ref(value))?),
        ("<", [Value::Text(other)]) => Value::Bool(**text < *other.str(heap)),
        (">", [Value::Text(other)]) => Value::Bool(**text > *other.str(heap)),
        ("<=", [Value::Text(other)]) => Value::Bool(**text <= *other.str(heap)),
        (">=", [Value::Text(other)]) => Value::Bool(**text >= *other.str(heap)),
        ("between?", [Value::Text(low), Value::Text(high)]) => {
            Value::Bool(*low.str(heap) <= **text && **text <= *high.str(heap))
        }
        ("casecmp?", [Value::Text(other)]) => {
            let folded = |text: &str| text.to_uppercase().to_lowercase();
            Value::Bool(folded(text) == folded(&other.str(heap)))
        }
        ("casecmp" | "casecmp?", [other]) if !matches!(other, Value::Text(_)) => Value::Nil,
        ("clamp", [low @ Value::Text(from), Value::Text(to)]) => match &**text {
            text if *text < *from.str(heap) => low.clone(),
            text if *text > *to.str(heap) => arguments[1].clone(),
            text => heap.text(text),
        },
        ("casecmp", [Value::Text(other)]) => {
            let (left, right) = (text.to_ascii_lowercase(), other.str(heap).to_ascii_lowercase());
            Value::Int(left.cmp(&right) as i64)
        }
        _ => return Ok(None),
    }))
}

/// With other text in it.
fn replaced(heap: &Heap, text: &Arc<str>, name: &str, arguments: &[Value]) -> Found1 {
    Ok(Some(match (name, arguments) {
        ("replace", [Value::Text(other)]) => heap.text(&other.str(heap)),
        ("prepend", others) if others.iter().all(|one| matches!(one, Value::Text(_))) => {
            let mut all: String = others.iter().map(|other| other.print(heap)).collect();
            all.push_str(text);
            limited(all.len())?;
            heap.text(&all)
        }
        ("clear", []) => heap.text(""),
        ("insert", [Value::Int(at), Value::Text(other)]) => {
            let length = text.chars().count() as i64;
            let place = if *at < 0 { at + length + 1 } else { *at };
            if !(0..=length).contains(&place) {
                return Err(Stop::raise("IndexError", format!("index {at} out of string")));
            }
            let at = usize::try_from(place).unwrap_or(0);
            let head: String = text.chars().take(at).collect();
            let tail: String = text.chars().skip(at).collect();
            heap.text(&format!("{head}{}{tail}", other.str(heap)))
        }
        ("succ" | "next", []) => heap.text(&successor(text)),
        _ => return Ok(None),
    }))
}

/// Ruby's `to_d`: what stands at the beginning, else 0.
fn leading_decimal(text: &str) -> Value {
    let text = text.trim_start();
    let digits = |from: usize| {
        let rest = text.as_bytes().get(from..).unwrap_or_default();
        rest.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'_').count()
    };
    let at = |place: usize| text.as_bytes().get(place).copied().unwrap_or_default();
    let mut end = usize::from(matches!(at(0), b'+' | b'-'));
    end += digits(end);
    if at(end) == b'.' && digits(end + 1) > 0 {
        end += 1 + digits(end + 1);
    }
    if matches!(at(end), b'e' | b'E') {
        let sign = usize::from(matches!(at(end + 1), b'+' | b'-'));
        match digits(end + 1 + sign) {
            0 => {}
            length => end += 1 + sign + length,
        }
    }
    let number = Decimal::read(&text[..end]).unwrap_or_else(|| Decimal::of(0.into(), 0));
    Value::Decimal(Arc::new(number))
}

/// Ruby's `to_r`: `1/3`, `0.5` at the beginning.
fn leading_ratio(text: &str) -> Value {
    let (above, below) = text.split_once('/').unwrap_or((text, "1"));
    let below = match leading_decimal(below) {
        below if below.equals_zero() => Value::Int(1),
        below => below,
    };
    match (numeric::ratio(&leading_decimal(above)), numeric::ratio(&below)) {
        (Some(above), Some(below)) => numeric::fraction(above.0 * below.1, above.1 * below.0),
        _ => Value::Nil,
    }
}

/// Ruby's `to_i`.
fn whole_number(text: &str) -> Value {
    let digits = text.trim_start().trim_start_matches(['+', '-']);
    let length = digits.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'_').count();
    match length < 19 && !digits[..length].contains("__") {
        true => Value::Int(leading_integer(text)),
        false => integer_in(text, 10),
    }
}
