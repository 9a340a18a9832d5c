//! `format`: values written by flags, width and precision, as in C.

use super::super::conversion::convert;
use super::super::{Stop, limited};
use super::set::pad;
use crate::heap::Heap;
use crate::numeric;
use crate::value::Value;
use num_bigint::{BigInt, Sign};
use temblor_logstash_event::datum::float_text;

/// Places behind the point, or letters, that a precision may ask for.
const PRECISION_MAX: usize = 1 << 14;

/// Ruby's `format`.
pub(in super::super) fn format(
    heap: &Heap,
    pattern: &str,
    values: &[Value],
) -> Result<String, Stop> {
    let mut out = String::new();
    let mut values_left = values.iter();
    let mut rest = pattern;
    let mut numbered;
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('%') {
            out.push('%');
            rest = after;
            continue;
        }
        let mut named = None;
        numbered = false;
        // `%2$s` takes the second value.
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        if let Some(after) = rest[digits..].strip_prefix('$') {
            let at: usize = rest[..digits].parse().unwrap_or(0);
            named = at.checked_sub(1).and_then(|at| values.get(at)).cloned();
            (numbered, rest) = (true, after);
        }
        if let Some(inside) = rest.strip_prefix(['<', '{'])
            && let Some((name, after)) = inside.split_once(['>', '}'])
        {
            named = match values {
                [Value::Hash(hash)] => hash.get(heap, &Value::Symbol(name.into())),
                _ => None,
            };
            if rest.starts_with('{') {
                out.push_str(&named.unwrap_or_default().print(heap));
                rest = after;
                continue;
            }
            rest = after;
        }
        let end = rest.find(|c: char| !"0123456789-+ #.*".contains(c));
        let Some(end) = end else { return Err(Stop::raise("ArgumentError", "incomplete format")) };
        if let Some(wrong) = rest[end..].chars().next().filter(|c| !c.is_ascii_alphabetic()) {
            let message = format!("malformed format string - %{wrong}");
            return Err(Stop::raise("ArgumentError", message));
        }
        let mut options = rest[..end].to_string();
        while let Some(star) = options.find('*') {
            let width = values_left.next().map(|one| one.print(heap)).unwrap_or_default();
            options.replace_range(star..=star, &width);
        }
        let value = match named {
            Some(value) => value,
            None if numbered => return Err(Stop::raise("ArgumentError", "too few arguments")),
            None => values_left
                .next()
                .cloned()
                .ok_or_else(|| Stop::raise("ArgumentError", "too few arguments"))?,
        };
        let kind = rest[end..].chars().next().unwrap_or('s');
        out.push_str(&formatted(heap, &options, kind, &value)?);
        limited(out.len())?;
        rest = &rest[end + 1..];
    }
    out.push_str(rest);
    Ok(out)
}

/// One value of `format`: flags, width and precision stand in `options`.
fn formatted(heap: &Heap, options: &str, kind: char, value: &Value) -> Result<String, Stop> {
    let flags_end = options.find(|c: char| !"-+ 0#".contains(c)).unwrap_or(options.len());
    let (flags, size) = options.split_at(flags_end);
    let (width, precision) = match size.split_once('.') {
        Some((width, precision)) => (width, Some(precision.parse::<usize>().unwrap_or(0))),
        None => (size, None),
    };
    let width: usize = width.parse().unwrap_or(0);
    limited(width)?;
    if precision.is_some_and(|places| places > PRECISION_MAX) {
        let message = format!("precision above {PRECISION_MAX}");
        return Err(Stop::raise("ArgumentError", message));
    }
    let wrong = || {
        Stop::raise("ArgumentError", format!("invalid value for {kind}: {}", value.inspect(heap)))
    };
    let float = || match value {
        Value::Text(_) => match convert(heap, "Float", std::slice::from_ref(value))? {
            Some(Value::Float(number)) => Ok(number),
            _ => Err(wrong()),
        },
        Value::Nil => Err(Stop::raise("TypeError", "can't convert nil into Float")),
        number => numeric::float(number).ok_or_else(wrong),
    };
    let int = || -> Result<BigInt, Stop> {
        let value = match value {
            Value::Float(number) if number.is_finite() => &Value::Float(number.trunc()),
            value => value,
        };
        let whole = convert(heap, "Integer", std::slice::from_ref(value))?;
        whole.as_ref().and_then(numeric::big).ok_or_else(wrong)
    };
    let mut text = match kind {
        'd' | 'i' | 'u' => int()?.to_string(),
        'e' | 'E' | 'f' | 'g' | 'G' | 'a' if !float()?.is_finite() => {
            float_text(float()?)[..].replace("inity", "")
        }
        'f' => fixed(float()?, precision.unwrap_or(6)),
        'e' => exponent(float()?, precision.unwrap_or(6)),
        'E' => exponent(float()?, precision.unwrap_or(6)).to_uppercase(),
        'g' => general(float()?, precision.unwrap_or(6)),
        'G' => general(float()?, precision.unwrap_or(6)).to_uppercase(),
        'x' => prefixed(&int()?, 16, "0x", flags),
        'X' => prefixed(&int()?, 16, "0X", flags).to_uppercase(),
        'o' => prefixed(&int()?, 8, "0", flags),
        'b' | 'B' => prefixed(&int()?, 2, "0b", flags),
        'c' => match value {
            Value::Int(code) => {
                u32::try_from(*code).ok().and_then(char::from_u32).into_iter().collect()
            }
            other => other.print(heap).chars().take(1).collect(),
        },
        'p' => value.inspect(heap),
        's' => {
            let text = value.print(heap);
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
            (false, true) if text.starts_with("..") => {
                let digit = text[2..3].repeat(width - text.len());
                format!("..{digit}{}", &text[2..])
            }
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

/// With so many places behind the point. JRuby rounds the shortest decimal text of the number: halves to the even
/// digit, and up where no digit is left.
fn fixed(number: f64, places: usize) -> String {
    let shortest = format!("{}", number.abs());
    let (whole, fraction) = shortest.split_once('.').unwrap_or((&shortest, ""));
    let exact = format!("{number:.places$}");
    let Some(rest) = fraction.get(places..).filter(|rest| rest.starts_with('5')) else {
        return exact;
    };
    if rest.trim_end_matches('0') != "5" {
        return exact;
    }
    let kept = format!("{whole}{}", &fraction[..places]);
    let Ok(kept) = kept.parse::<u128>() else { return exact };
    let rounded = if kept == 0 || kept % 2 == 1 { kept + 1 } else { kept };
    let digits = format!("{rounded:0>width$}", width = places + 1);
    let (whole, fraction) = digits.split_at(digits.len() - places);
    let sign = if number < 0.0 { "-" } else { "" };
    let point = if places > 0 { "." } else { "" };
    format!("{sign}{whole}{point}{fraction}")
}

/// The shorter of both notations, without noughts at the end.
fn general(number: f64, precision: usize) -> String {
    let precision = precision.max(1);
    let written = exponent(number, precision - 1);
    let power: i64 = written.split_once('e').and_then(|(_, power)| power.parse().ok()).unwrap_or(0);
    let bare = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text.to_string(),
    };
    if power < -4 || power >= precision as i64 {
        let (digits, power) = written.split_once('e').unwrap_or((&written, "+00"));
        return format!("{}e{power}", bare(digits));
    }
    let places = usize::try_from(precision as i64 - 1 - power).unwrap_or(0);
    bare(&format!("{number:.places$}"))
}

/// Digits of a number in a base; a negative one has a minus sign, and `#` asks for the prefix.
fn prefixed(number: &BigInt, base: u32, prefix: &str, flags: &str) -> String {
    if number.sign() == Sign::Minus && !flags.contains(['+', ' ']) {
        return complement(number, base);
    }
    let digits = number.magnitude().to_str_radix(base);
    let sign = if number.sign() == Sign::Minus { "-" } else { "" };
    format!("{sign}{}{digits}", if flags.contains('#') { prefix } else { "" })
}

/// A negative number as Ruby shows it: endless digits of its complement, `..fe1`.
fn complement(number: &BigInt, base: u32) -> String {
    let width = number.magnitude().to_str_radix(base).len() as u32 + 1;
    let digits = (BigInt::from(base).pow(width) + number).to_str_radix(base);
    let last = char::from_digit(base - 1, base).unwrap_or('f');
    format!("..{last}{}", digits.trim_start_matches(last))
}
