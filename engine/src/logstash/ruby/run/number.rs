//! Arithmetic. Whole numbers that grow too large become numbers with a fraction.

use super::{Answer, Found1, Given, Machine, Stop};
use crate::logstash::ruby::value::Value;

/// The methods of numbers.
pub(super) const NAMES: &[&str] = &[
    "+",
    "-",
    "*",
    "/",
    "%",
    "**",
    "-@",
    "+@",
    "<",
    ">",
    "<=",
    ">=",
    "<=>",
    "&",
    "|",
    "^",
    "~",
    "<<",
    ">>",
    "to_i",
    "to_int",
    "to_f",
    "to_s",
    "to_r",
    "to_c",
    "round",
    "floor",
    "ceil",
    "truncate",
    "abs",
    "magnitude",
    "divmod",
    "modulo",
    "remainder",
    "div",
    "fdiv",
    "pow",
    "zero?",
    "positive?",
    "negative?",
    "even?",
    "odd?",
    "nan?",
    "infinite?",
    "finite?",
    "integer?",
    "succ",
    "next",
    "pred",
    "chr",
    "ord",
    "times",
    "upto",
    "downto",
    "step",
    "between?",
    "clamp",
    "digits",
    "coerce",
    "gcd",
    "lcm",
    "bit_length",
    "nonzero?",
    "size",
    "to_d",
    "inspect",
    "hex",
];

fn whole(number: Option<i64>, float: f64) -> Value {
    number.map_or(Value::Float(float), Value::Int)
}

fn zero() -> Stop {
    Stop::raise("ZeroDivisionError", "divided by 0")
}

fn float(value: &Value) -> Option<f64> {
    match value {
        Value::Int(number) => Some(*number as f64),
        Value::Float(number) => Some(*number),
        _ => None,
    }
}

/// A number with a fraction as a whole one.
fn cut(number: f64) -> Answer {
    if !number.is_finite() {
        return Err(Stop::raise("FloatDomainError", crate::logstash::datum::float_text(number)));
    }
    let fits = (i64::MIN as f64..i64::MAX as f64).contains(&number);
    Ok(if fits { Value::Int(number as i64) } else { Value::Float(number) })
}

impl Machine<'_, '_> {
    pub(super) fn number_method(
        &mut self,
        number: &Value,
        name: &str,
        arguments: &[Value],
        given: Option<&Given>,
    ) -> Found1 {
        if let [other] = arguments
            && let Some(found) = binary(number, name, other)?
        {
            return Ok(Some(found));
        }
        if let Some(found) = unary(number, name, arguments)? {
            return Ok(Some(found));
        }
        let range = match (name, number, arguments) {
            ("times", Value::Int(count), []) => (0, *count - 1, 1),
            ("upto", Value::Int(from), [Value::Int(to)]) => (*from, *to, 1),
            ("downto", Value::Int(from), [Value::Int(to)]) => (*from, *to, -1),
            ("step", Value::Int(from), [Value::Int(to), Value::Int(step)]) if *step != 0 => {
                (*from, *to, *step)
            }
            _ => return Ok(None),
        };
        let (mut at, to, step) = range;
        let mut items = Vec::new();
        while if step > 0 { at <= to } else { at >= to } {
            self.step()?;
            match given {
                Some(given) => drop(self.give_to(given, vec![Value::Int(at)])?),
                None => items.push(Value::Int(at)),
            }
            at = at.saturating_add(step);
        }
        Ok(Some(if given.is_some() { number.clone() } else { Value::list(items) }))
    }
}

/// Methods of two numbers.
fn binary(number: &Value, name: &str, other: &Value) -> Found1 {
    if let (Value::Int(left), Value::Int(right)) = (number, other) {
        return integers(*left, name, *right);
    }
    let comparison = matches!(name, "<" | ">" | "<=" | ">=");
    let arithmetic = matches!(name, "+" | "-" | "*" | "/" | "%" | "**");
    let (Some(left), Some(right)) = (float(number), float(other)) else {
        if comparison {
            let message = format!(
                "comparison of {} with {} failed",
                number.class(),
                match other {
                    Value::Text(_) => "String".to_string(),
                    other => other.inspect(),
                }
            );
            return Err(Stop::raise("ArgumentError", message));
        }
        if arithmetic {
            let what = match other {
                Value::Nil => "nil",
                other => other.class(),
            };
            let message = format!("{what} can't be coerced into {}", number.class());
            return Err(Stop::raise("TypeError", message));
        }
        return Ok(None);
    };
    Ok(Some(match name {
        "+" => Value::Float(left + right),
        "-" => Value::Float(left - right),
        "*" => Value::Float(left * right),
        "/" | "fdiv" | "quo" => Value::Float(left / right),
        "%" | "modulo" => Value::Float(left - right * (left / right).floor()),
        "**" | "pow" => Value::Float(left.powf(right)),
        "div" => return cut((left / right).floor()).map(Some),
        "divmod" => {
            let quotient = (left / right).floor();
            Value::list(vec![cut(quotient)?, Value::Float(left - right * quotient)])
        }
        "<" => Value::Bool(left < right),
        ">" => Value::Bool(left > right),
        "<=" => Value::Bool(left <= right),
        ">=" => Value::Bool(left >= right),
        _ => return Ok(None),
    }))
}

fn integers(left: i64, name: &str, right: i64) -> Found1 {
    let (wide_left, wide_right) = (left as f64, right as f64);
    let divided = |left: i64, right: i64| -> Result<i64, Stop> {
        if right == 0 {
            return Err(zero());
        }
        let quotient = left.wrapping_div(right);
        let inexact = left.wrapping_rem(right) != 0;
        Ok(if inexact && (left < 0) != (right < 0) { quotient - 1 } else { quotient })
    };
    Ok(Some(match name {
        "+" => whole(left.checked_add(right), wide_left + wide_right),
        "-" => whole(left.checked_sub(right), wide_left - wide_right),
        "*" => whole(left.checked_mul(right), wide_left * wide_right),
        "/" | "div" => Value::Int(divided(left, right)?),
        "%" | "modulo" => {
            let quotient = divided(left, right)?;
            Value::Int(left.wrapping_sub(quotient.wrapping_mul(right)))
        }
        "remainder" if right != 0 => Value::Int(left.wrapping_rem(right)),
        "divmod" => {
            let quotient = divided(left, right)?;
            let rest = left.wrapping_sub(quotient.wrapping_mul(right));
            Value::list(vec![Value::Int(quotient), Value::Int(rest)])
        }
        "fdiv" => Value::Float(wide_left / wide_right),
        "**" | "pow" => match u32::try_from(right) {
            Ok(power) => whole(left.checked_pow(power), wide_left.powf(wide_right)),
            Err(_) => Value::Float(wide_left.powf(wide_right)),
        },
        "<" => Value::Bool(left < right),
        ">" => Value::Bool(left > right),
        "<=" => Value::Bool(left <= right),
        ">=" => Value::Bool(left >= right),
        "&" => Value::Int(left & right),
        "|" => Value::Int(left | right),
        "^" => Value::Int(left ^ right),
        "<<" | ">>" => {
            let shift = if name == "<<" { right } else { right.saturating_neg() };
            match u32::try_from(shift.abs()) {
                Ok(by) if shift >= 0 && by < 63 => {
                    whole(left.checked_mul(1 << by), wide_left * 2_f64.powi(by as i32))
                }
                Ok(by) if shift < 0 => Value::Int(left >> by.min(63)),
                _ => Value::Float(wide_left * 2_f64.powf(shift as f64)),
            }
        }
        "gcd" => {
            let (mut one, mut two) = (left.unsigned_abs(), right.unsigned_abs());
            while two > 0 {
                (one, two) = (two, one % two);
            }
            Value::Int(one as i64)
        }
        "lcm" if left == 0 || right == 0 => Value::Int(0),
        "lcm" => {
            let divisor = match integers(left, "gcd", right)? {
                Some(Value::Int(divisor)) => divisor.max(1),
                _ => 1,
            };
            let size = (left / divisor).checked_mul(right).map(i64::saturating_abs);
            whole(size, (wide_left * wide_right / divisor as f64).abs())
        }
        "[]" => Value::Int(left >> right.clamp(0, 63) & 1),
        _ => return Ok(None),
    }))
}

/// Methods of one number.
fn unary(number: &Value, name: &str, arguments: &[Value]) -> Found1 {
    Ok(Some(match (name, number, arguments) {
        ("-@", Value::Int(number), []) => Value::Int(number.wrapping_neg()),
        ("-@", Value::Float(number), []) => Value::Float(-number),
        ("~", Value::Int(number), []) => Value::Int(!number),
        ("to_i" | "to_int" | "truncate", Value::Float(number), []) => cut(number.trunc())?,
        ("to_i" | "to_int" | "truncate" | "ord" | "round" | "floor" | "ceil", number, [])
            if matches!(number, Value::Int(_)) =>
        {
            number.clone()
        }
        ("round" | "floor" | "ceil", Value::Float(number), []) => match name {
            "round" => cut(number.round())?,
            "floor" => cut(number.floor())?,
            _ => cut(number.ceil())?,
        },
        ("round" | "floor" | "ceil" | "truncate", number, [Value::Int(places), ..]) => {
            rounded(number, name, *places)?
        }
        ("round", number, [Value::Hash(_)]) => return unary(number, name, &[]),
        ("to_f" | "to_d", number, []) => Value::Float(float(number).unwrap_or(0.0)),
        ("to_s", Value::Int(number), [Value::Int(radix)]) => {
            Value::text(&in_radix(*number, *radix))
        }
        ("abs" | "magnitude", Value::Int(number), []) => Value::Int(number.saturating_abs()),
        ("abs" | "magnitude", Value::Float(number), []) => Value::Float(number.abs()),
        _ => return facts(number, name, arguments),
    }))
}

/// What one number is, its neighbours and its digits.
fn facts(number: &Value, name: &str, arguments: &[Value]) -> Found1 {
    Ok(Some(match (name, number, arguments) {
        ("zero?", number, []) => Value::Bool(float(number) == Some(0.0)),
        ("nonzero?", number, []) if float(number) == Some(0.0) => Value::Nil,
        ("nonzero?", number, []) => number.clone(),
        ("positive?", number, []) => Value::Bool(float(number).is_some_and(|one| one > 0.0)),
        ("negative?", number, []) => Value::Bool(float(number).is_some_and(|one| one < 0.0)),
        ("even?", Value::Int(number), []) => Value::Bool(number % 2 == 0),
        ("odd?", Value::Int(number), []) => Value::Bool(number % 2 != 0),
        ("nan?", Value::Float(number), []) => Value::Bool(number.is_nan()),
        ("infinite?", Value::Float(number), []) if number.is_infinite() => {
            Value::Int(if *number > 0.0 { 1 } else { -1 })
        }
        ("infinite?", _, []) => Value::Nil,
        ("finite?", number, []) => Value::Bool(float(number).is_some_and(f64::is_finite)),
        ("integer?", number, []) => Value::Bool(matches!(number, Value::Int(_))),
        ("succ" | "next", Value::Int(number), []) => Value::Int(number.saturating_add(1)),
        ("pred", Value::Int(number), []) => Value::Int(number.saturating_sub(1)),
        ("chr", Value::Int(number), _) => {
            let character = u32::try_from(*number).ok().and_then(char::from_u32);
            let character = character
                .ok_or_else(|| Stop::raise("RangeError", format!("{number} out of char range")))?;
            Value::text(&character.to_string())
        }
        ("digits", Value::Int(number), []) if *number < 0 => {
            return Err(Stop::raise("Math::DomainError", "out of domain"));
        }
        ("digits", Value::Int(number), []) => {
            let text = number.unsigned_abs().to_string();
            Value::list(text.bytes().rev().map(|b| Value::Int(i64::from(b - b'0'))).collect())
        }
        ("bit_length", Value::Int(number), []) => Value::Int(i64::from(
            64 - (if *number < 0 { !number } else { *number }).leading_zeros(),
        )),
        ("size", Value::Int(_), []) => Value::Int(8),
        ("between?", number, [low, high]) => {
            Value::Bool(float(number) >= float(low) && float(number) <= float(high))
        }
        ("clamp", number, [low, high]) => {
            if float(number) < float(low) {
                low.clone()
            } else if float(number) > float(high) {
                high.clone()
            } else {
                number.clone()
            }
        }
        _ => return Ok(None),
    }))
}

/// To so many places behind the point, or before it.
fn rounded(number: &Value, name: &str, places: i64) -> Answer {
    let apply = |number: f64| match name {
        "round" => number.round(),
        "floor" => number.floor(),
        "ceil" => number.ceil(),
        _ => number.trunc(),
    };
    let places = i32::try_from(places).unwrap_or(0).clamp(-18, 18);
    match number {
        Value::Int(whole) if places >= 0 => Ok(Value::Int(*whole)),
        Value::Int(whole) => {
            let scale = 10_f64.powi(-places);
            cut(apply(*whole as f64 / scale) * scale)
        }
        Value::Float(float) if places > 0 => {
            if name == "round" {
                // The decimal text rounds as people do, the scaled number may not.
                let text = format!("{float:.*}", usize::try_from(places).unwrap_or(0));
                return Ok(Value::Float(text.parse().unwrap_or(*float)));
            }
            let scale = 10_f64.powi(places);
            Ok(Value::Float(apply(float * scale) / scale))
        }
        Value::Float(float) => {
            let scale = 10_f64.powi(-places);
            cut(apply(float / scale) * scale)
        }
        _ => Ok(Value::Nil),
    }
}

fn in_radix(number: i64, radix: i64) -> String {
    let radix = u64::try_from(radix).ok().filter(|radix| (2..=36).contains(radix)).unwrap_or(10);
    let mut digits = Vec::new();
    let mut rest = number.unsigned_abs();
    loop {
        let digit = u32::try_from(rest % radix).unwrap_or(0);
        digits.push(char::from_digit(digit, 36).unwrap_or('0'));
        rest /= radix;
        if rest == 0 {
            break;
        }
    }
    if number < 0 {
        digits.push('-');
    }
    digits.iter().rev().collect()
}
