//! `format`: values written by flags, width and precision, as in C.

use super::super::{Stop, limited};
use super::set::pad;
use crate::logstash::datum::float_text;
use crate::logstash::ruby::value::Value;

/// Ruby's `format`.
pub(in super::super) fn format(pattern: &str, values: &[Value]) -> Result<String, Stop> {
    let mut out = String::new();
    let mut values_left = values.iter();
    let mut rest = pattern;
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('%') {
            out.push('%');
            rest = after;
            continue;
        }
        let mut named = None;
        if let Some(inside) = rest.strip_prefix(['<', '{'])
            && let Some((name, after)) = inside.split_once(['>', '}'])
        {
            named = match values {
                [Value::Hash(hash)] => hash.lock().get(&Value::Symbol(name.into())),
                _ => None,
            };
            if rest.starts_with('{') {
                out.push_str(&named.unwrap_or_default().print());
                rest = after;
                continue;
            }
            rest = after;
        }
        let end = rest.find(|c: char| c.is_ascii_alphabetic());
        let Some(end) = end else { return Err(Stop::raise("ArgumentError", "incomplete format")) };
        let value = match named {
            Some(value) => value,
            None => values_left
                .next()
                .cloned()
                .ok_or_else(|| Stop::raise("ArgumentError", "too few arguments"))?,
        };
        let kind = rest[end..].chars().next().unwrap_or('s');
        out.push_str(&formatted(&rest[..end], kind, &value)?);
        limited(out.len())?;
        rest = &rest[end + 1..];
    }
    out.push_str(rest);
    Ok(out)
}

/// One value of `format`: flags, width and precision stand in `options`.
fn formatted(options: &str, kind: char, value: &Value) -> Result<String, Stop> {
    let flags_end = options.find(|c: char| !"-+ 0#".contains(c)).unwrap_or(options.len());
    let (flags, size) = options.split_at(flags_end);
    let (width, precision) = match size.split_once('.') {
        Some((width, precision)) => (width, Some(precision.parse::<usize>().unwrap_or(0))),
        None => (size, None),
    };
    let width: usize = width.parse().unwrap_or(0);
    limited(width.saturating_add(precision.unwrap_or(0)))?;
    let wrong =
        || Stop::raise("ArgumentError", format!("invalid value for {kind}: {}", value.inspect()));
    let float = || match value {
        Value::Int(number) => Ok(*number as f64),
        Value::Float(number) => Ok(*number),
        Value::Text(text) => text.trim().parse().map_err(|_| wrong()),
        _ => Err(wrong()),
    };
    let int = || match value {
        Value::Int(number) => Ok(*number),
        Value::Float(number) => Ok(number.floor() as i64),
        Value::Text(text) => text.trim().parse().map_err(|_| wrong()),
        _ => Err(wrong()),
    };
    let mut text = match kind {
        'd' | 'i' | 'u' => int()?.to_string(),
        'f' => format!("{:.*}", precision.unwrap_or(6), float()?),
        'e' => exponent(float()?, precision.unwrap_or(6)),
        'g' => float_text(float()?).trim_end_matches(".0").to_string(),
        'x' => based(int()?, 16),
        'X' => based(int()?, 16).to_uppercase(),
        'o' => based(int()?, 8),
        'b' => based(int()?, 2),
        'c' => match value {
            Value::Int(code) => {
                u32::try_from(*code).ok().and_then(char::from_u32).into_iter().collect()
            }
            other => other.print().chars().take(1).collect(),
        },
        'p' => value.inspect(),
        's' => {
            let text = value.print();
            precision.map_or(text.clone(), |most| text.chars().take(most).collect())
        }
        _ => return Err(wrong()),
    };
    if flags.contains('+') && "diufegxob".contains(kind) && !text.starts_with('-') {
        text.insert(0, '+');
    }
    if flags.contains(' ') && "diufeg".contains(kind) && !text.starts_with(['-', '+']) {
        text.insert(0, ' ');
    }
    if text.chars().count() < width {
        text = match (flags.contains('-'), flags.contains('0') && kind != 's') {
            (true, _) => pad(&text, width, " ", "ljust"),
            (false, true) => {
                let (sign, digits) = match text.strip_prefix(['-', '+']) {
                    Some(digits) => (&text[..1], digits),
                    None => ("", text.as_str()),
                };
                format!("{sign}{}", pad(digits, width - sign.len(), "0", "rjust"))
            }
            (false, false) => pad(&text, width, " ", "rjust"),
        };
    }
    Ok(text)
}

fn exponent(number: f64, precision: usize) -> String {
    let text = format!("{number:.precision$e}");
    let Some((digits, power)) = text.split_once('e') else { return text };
    let (sign, power) = match power.strip_prefix('-') {
        Some(power) => ('-', power),
        None => ('+', power),
    };
    format!("{digits}e{sign}{power:0>2}")
}

/// Digits of a number in a base; a negative one has a minus sign.
fn based(number: i64, base: u32) -> String {
    let mut digits = Vec::new();
    let mut rest = number.unsigned_abs();
    loop {
        let digit = u32::try_from(rest % u64::from(base)).unwrap_or(0);
        digits.push(char::from_digit(digit, base).unwrap_or('0'));
        rest /= u64::from(base);
        if rest == 0 {
            break;
        }
    }
    if number < 0 {
        digits.push('-');
    }
    digits.iter().rev().collect()
}
