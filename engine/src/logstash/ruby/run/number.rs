//! Arithmetic of all kinds of numbers. Small whole numbers are computed here, the others in `numeric`.

use super::{Answer, Found1, Given, Machine, Stop};
use crate::logstash::ruby::numeric::{self, Fault};
use crate::logstash::ruby::value::Value;
use num_bigint::BigInt;
use std::sync::Arc;

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
    "quo",
    "numerator",
    "denominator",
    "rationalize",
    "bit_length",
    "allbits?",
    "anybits?",
    "nobits?",
    "ceildiv",
    "pow",
    "real?",
    "integer?",
    "to_digits",
    "exponent",
    "sign",
];

fn zero() -> Stop {
    Stop::raise("ZeroDivisionError", "divided by 0")
}

fn float(value: &Value) -> Option<f64> {
    numeric::float(value)
}

/// Arithmetic of numbers of which one is beyond 63 bits, or exact with a fraction.
pub(super) fn exact(left: &Value, name: &str, right: &Value) -> Found1 {
    numeric::arithmetic(left, name, right).map_err(|fault| match fault {
        Fault::Zero => zero(),
        Fault::Size => Stop::raise("RangeError", "bignum too big to convert"),
    })
}

/// A number with a fraction as a whole one.
fn cut(number: f64) -> Answer {
    if !number.is_finite() {
        return Err(Stop::raise("FloatDomainError", crate::logstash::datum::float_text(number)));
    }
    let fits = (i64::MIN as f64..i64::MAX as f64).contains(&number);
    if fits {
        return Ok(Value::Int(number as i64));
    }
    let whole = numeric::ratio(&Value::Float(number)).map(|(numerator, _)| numerator);
    Ok(whole.map_or(Value::Nil, numeric::whole))
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
        if let Some(found) = self.float_steps(number, name, arguments, given)? {
            return Ok(Some(found));
        }
        let range = match (name, number, arguments) {
            ("times", Value::Int(count), []) => (0, *count - 1, 1),
            ("upto", Value::Int(from), [Value::Int(to)]) => (*from, *to, 1),
            ("downto", Value::Int(from), [Value::Int(to)]) => (*from, *to, -1),
            ("step", Value::Int(from), [Value::Int(to), Value::Int(step)]) if *step != 0 => {
                (*from, *to, *step)
            }
            ("step", Value::Int(from), [Value::Int(to)]) => (*from, *to, 1),
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

impl Machine<'_, '_> {
    /// `1.step(2.0, 0.5)`: the number of steps is computed first, so that errors do not add up.
    fn float_steps(
        &mut self,
        number: &Value,
        name: &str,
        arguments: &[Value],
        given: Option<&Given>,
    ) -> Found1 {
        let ("step", [to, rest @ ..]) = (name, arguments) else { return Ok(None) };
        let step = rest.first().cloned().unwrap_or(Value::Int(1));
        let all_whole = [number, to, &step].iter().all(|one| matches!(one, Value::Int(_)));
        let (Some(from), Some(to), Some(step)) = (float(number), float(to), float(&step)) else {
            return Ok(None);
        };
        if all_whole || step == 0.0 {
            return Ok(None);
        }
        let count = ((to - from) / step + f64::EPSILON).floor();
        super::limited(count.max(0.0) as usize)?;
        let mut items = Vec::new();
        for at in 0..=count as i64 {
            self.step()?;
            let value = Value::Float(from + at as f64 * step);
            match given {
                Some(given) if count >= 0.0 => drop(self.give_to(given, vec![value])?),
                None if count >= 0.0 => items.push(value),
                _ => {}
            }
        }
        Ok(Some(if given.is_some() { number.clone() } else { Value::list(items) }))
    }
}

/// Methods of two numbers.
fn binary(number: &Value, name: &str, other: &Value) -> Found1 {
    if let (Value::Int(left), Value::Int(right)) = (number, other) {
        return integers(*left, name, *right);
    }
    if number.is_number() && other.is_number() {
        let order = numeric::order(number, other);
        match name {
            "<" => return Ok(Some(Value::Bool(order.is_some_and(|order| order.is_lt())))),
            ">" => return Ok(Some(Value::Bool(order.is_some_and(|order| order.is_gt())))),
            "<=" => return Ok(Some(Value::Bool(order.is_some_and(|order| order.is_le())))),
            ">=" => return Ok(Some(Value::Bool(order.is_some_and(|order| order.is_ge())))),
            _ => {}
        }
    }
    if let Some(found) = exact(number, name, other)? {
        return Ok(Some(found));
    }
    let comparison = matches!(name, "<" | ">" | "<=" | ">=");
    let arithmetic = matches!(name, "+" | "-" | "*" | "/" | "%" | "**");
    let (Some(left), Some(right)) = (float(number), float(other)) else {
        if comparison {
            let message = format!(
                "comparison of {} with {} failed",
                number.class(),
                match other {
                    Value::Nil | Value::Bool(_) => other.inspect(),
                    other => other.class().to_string(),
                }
            );
            return Err(Stop::raise("ArgumentError", message));
        }
        if arithmetic {
            let what = super::object::word_of(other);
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
        _ => return Ok(None),
    }))
}

fn integers(left: i64, name: &str, right: i64) -> Found1 {
    let (wide_left, wide_right) = (left as f64, right as f64);
    let large = || exact(&Value::Int(left), name, &Value::Int(right));
    let divided = |left: i64, right: i64| -> Result<i64, Stop> {
        if right == 0 {
            return Err(zero());
        }
        let quotient = left.wrapping_div(right);
        let inexact = left.wrapping_rem(right) != 0;
        Ok(if inexact && (left < 0) != (right < 0) { quotient - 1 } else { quotient })
    };
    Ok(Some(match name {
        "+" => match left.checked_add(right) {
            Some(sum) => Value::Int(sum),
            None => return large(),
        },
        "-" => match left.checked_sub(right) {
            Some(difference) => Value::Int(difference),
            None => return large(),
        },
        "*" => match left.checked_mul(right) {
            Some(product) => Value::Int(product),
            None => return large(),
        },
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
        "**" | "pow" => match u32::try_from(right).ok().and_then(|power| left.checked_pow(power)) {
            Some(power) => Value::Int(power),
            None => return large(),
        },
        "<" => Value::Bool(left < right),
        ">" => Value::Bool(left > right),
        "<=" => Value::Bool(left <= right),
        ">=" => Value::Bool(left >= right),
        "&" => Value::Int(left & right),
        "|" => Value::Int(left | right),
        "^" => Value::Int(left ^ right),
        "<<" | ">>" | "quo" | "gcd" => return large(),
        "allbits?" => Value::Bool(left & right == right),
        "anybits?" => Value::Bool(left & right != 0),
        "nobits?" => Value::Bool(left & right == 0),
        "lcm" if left == 0 || right == 0 => Value::Int(0),
        "lcm" => {
            let divisor =
                exact(&Value::Int(left), "gcd", &Value::Int(right))?.unwrap_or(Value::Int(1));
            let part = exact(&Value::Int(left), "/", &divisor)?.unwrap_or(Value::Int(0));
            let product = exact(&part, "*", &Value::Int(right))?.unwrap_or(Value::Int(0));
            return unary(&product, "abs", &[]);
        }
        "[]" => Value::Int(left >> right.clamp(0, 63) & 1),
        _ => return Ok(None),
    }))
}

/// Methods of one number.
fn unary(number: &Value, name: &str, arguments: &[Value]) -> Found1 {
    if let Some(found) = large_unary(number, name, arguments)? {
        return Ok(Some(found));
    }
    Ok(Some(match (name, number, arguments) {
        ("-@", Value::Int(_), []) => exact(&Value::Int(0), "-", number)?.unwrap_or_default(),
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
        ("round", Value::Float(number), [options @ Value::Hash(_)]) => {
            match options.entry("half").map(|how| how.print()).as_deref() {
                Some("even") => cut(number.round_ties_even())?,
                Some("down") if (number.abs().fract() - 0.5).abs() == 0.0 => cut(number.trunc())?,
                _ => cut(number.round())?,
            }
        }
        ("round", number, [Value::Hash(_)]) => number.clone(),
        ("to_f", number, []) => Value::Float(float(number).unwrap_or(0.0)),
        ("to_d", number, _) => super::conversion::decimal(number)?,
        ("to_r" | "rationalize", number, []) => match numeric::ratio(number) {
            Some((numerator, denominator)) => numeric::fraction(numerator, denominator),
            None => return Err(Stop::raise("FloatDomainError", number.print())),
        },
        ("to_s" | "inspect", number, [Value::Int(radix)]) if numeric::big(number).is_some() => {
            let radix = u32::try_from(*radix).ok().filter(|radix| (2..=36).contains(radix));
            let radix = radix.ok_or_else(|| Stop::raise("ArgumentError", "invalid radix"))?;
            Value::text(&numeric::big(number).unwrap_or_default().to_str_radix(radix))
        }
        ("pow", number, [power, modulus]) => {
            let all = (numeric::big(number), numeric::big(power), numeric::big(modulus));
            let (Some(number), Some(power), Some(modulus)) = all else { return Ok(None) };
            if modulus == BigInt::from(0) {
                return Err(zero());
            }
            let rest = number.modpow(&numeric::abs(&power), &modulus);
            numeric::whole(numeric::floor_mod(&rest, &modulus))
        }
        ("numerator", number, []) | ("denominator", number, []) => match numeric::ratio(number) {
            Some(parts) => {
                let Value::Rational(parts) = numeric::fraction(parts.0, parts.1) else {
                    return Ok(None);
                };
                numeric::whole(if name == "numerator" { parts.0.clone() } else { parts.1.clone() })
            }
            None => return Ok(None),
        },
        ("abs" | "magnitude", Value::Int(whole), []) => match whole.checked_abs() {
            Some(size) => Value::Int(size),
            None => exact(&Value::Int(0), "-", number)?.unwrap_or_default(),
        },
        ("abs" | "magnitude", Value::Float(number), []) => Value::Float(number.abs()),
        _ => return facts(number, name, arguments),
    }))
}

/// Methods of one number that is large or exact.
fn large_unary(number: &Value, name: &str, arguments: &[Value]) -> Found1 {
    let minus = |number: &Value| exact(&Value::Int(0), "-", number);
    let below = || numeric::order(number, &Value::Int(0)).is_some_and(|order| order.is_lt());
    let places = match arguments {
        [] => 0,
        [Value::Int(places), ..] => *places,
        _ => return Ok(None),
    };
    Ok(Some(match (name, number) {
        (_, Value::Int(_) | Value::Float(_)) => return Ok(None),
        ("-@", number) => return minus(number),
        ("abs" | "magnitude", number) if below() => return minus(number),
        ("abs" | "magnitude" | "+@", number) => number.clone(),
        ("to_i" | "to_int" | "ord" | "round" | "floor" | "ceil" | "truncate", Value::Big(_))
            if places >= 0 =>
        {
            number.clone()
        }
        ("to_i" | "to_int", Value::Rational(parts)) => numeric::whole(&parts.0 / &parts.1),
        ("truncate" | "floor" | "ceil" | "round", Value::Rational(parts))
            if arguments.is_empty() =>
        {
            let twice = (&parts.0 * 2 + &parts.1, &parts.1 * 2);
            numeric::whole(match name {
                "truncate" => &parts.0 / &parts.1,
                "floor" => numeric::floor_div(&parts.0, &parts.1),
                "ceil" => -numeric::floor_div(&-&parts.0, &parts.1),
                _ if below() => -numeric::floor_div(&(&parts.0 * -2 + &parts.1), &twice.1),
                _ => numeric::floor_div(&twice.0, &twice.1),
            })
        }
        ("to_i" | "to_int", Value::Decimal(number)) => {
            let cut = number.rounded(0, "truncate");
            numeric::ratio(&Value::Decimal(Arc::new(cut)))
                .map_or(Value::Nil, |(whole, _)| numeric::whole(whole))
        }
        ("round" | "floor" | "ceil" | "truncate", Value::Decimal(number)) => {
            let rounded = Value::Decimal(Arc::new(number.rounded(places, name)));
            match arguments {
                [] => return large_unary(&rounded, "to_i", &[]),
                _ => rounded,
            }
        }
        ("to_s", Value::Decimal(number)) => match arguments.is_empty() {
            true => Value::text(&number.to_string()),
            false => return Ok(None),
        },
        ("to_digits", Value::Decimal(number)) => Value::text(&number.plain()),
        ("exponent", Value::Decimal(number)) => {
            let digits = number.digits.magnitude().to_string().len();
            Value::Int(digits as i64 - number.scale)
        }
        ("even?" | "odd?", Value::Big(whole)) => Value::Bool(whole.bit(0) == (name == "odd?")),
        ("~", Value::Big(whole)) => numeric::whole(-(&**whole) - 1),
        ("bit_length", Value::Big(whole)) => Value::Int(whole.bits() as i64),
        ("succ" | "next", Value::Big(_)) => return exact(number, "+", &Value::Int(1)),
        ("pred", Value::Big(_)) => return exact(number, "-", &Value::Int(1)),
        ("digits", Value::Big(whole)) => {
            let text = whole.magnitude().to_string();
            Value::list(text.bytes().rev().map(|b| Value::Int(i64::from(b - b'0'))).collect())
        }
        ("integer?", number) => Value::Bool(matches!(number, Value::Big(_))),
        ("nan?" | "infinite?", Value::Decimal(_)) => match name {
            "nan?" => Value::Bool(false),
            _ => Value::Nil,
        },
        _ => return Ok(None),
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
        ("succ" | "next", Value::Int(_), []) => {
            exact(number, "+", &Value::Int(1))?.unwrap_or_default()
        }
        ("pred", Value::Int(_), []) => exact(number, "-", &Value::Int(1))?.unwrap_or_default(),
        ("to_s", Value::Decimal(number), [Value::Text(_)]) => Value::text(&number.plain()),
        ("chr", Value::Int(number @ 128..=255), []) => Value::binary(&[*number as u8]),
        ("chr", Value::Int(number @ 256..), []) => {
            return Err(Stop::raise("RangeError", format!("{number} out of char range")));
        }
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
        Value::Float(float) if places > 0 => Ok(Value::Float(to_places(*float, name, places))),
        Value::Float(float) => {
            let scale = 10_f64.powi(-places);
            cut(apply(float / scale) * scale)
        }
        _ => Ok(Value::Nil),
    }
}

/// To so many places behind the point, as Ruby does: a step back where the scaling has crossed a border.
fn to_places(number: f64, name: &str, places: i32) -> f64 {
    /// Places that a number with a binary point can have.
    const PLACES_MAX: i32 = 15;
    let exponent = if number == 0.0 { 0 } else { number.abs().log10().floor() as i32 };
    if places + exponent >= PLACES_MAX || !number.is_finite() {
        return number;
    }
    let scale = 10_f64.powi(places);
    let scaled = number * scale;
    match name {
        "floor" => {
            let whole = scaled.floor();
            if (whole + 1.0) / scale > number { whole / scale } else { (whole + 1.0) / scale }
        }
        "ceil" => {
            let whole = scaled.ceil();
            if (whole - 1.0) / scale < number { whole / scale } else { (whole - 1.0) / scale }
        }
        "round" => {
            let whole = scaled.round();
            let further = whole + 0.5_f64.copysign(number);
            let crossed = match number > 0.0 {
                true => further / scale <= number,
                false => further / scale >= number,
            };
            let whole =
                if crossed && number != 0.0 { whole + 1_f64.copysign(number) } else { whole };
            whole / scale
        }
        _ => scaled.trunc() / scale,
    }
}
