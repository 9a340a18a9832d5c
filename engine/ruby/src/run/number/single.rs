//! Methods of one number: sign, conversions and predicates.

use super::super::{Found1, Stop};
use super::round::{Half, cut, rounded};
use super::{exact, float, zero};
use crate::heap::Heap;
use crate::numeric;
use crate::value::Value;
use num_bigint::BigInt;
use std::sync::Arc;

/// Methods of one number.
pub(super) fn unary(heap: &Heap, number: &Value, name: &str, arguments: &[Value]) -> Found1 {
    if let Some(found) = large_unary(heap, number, name, arguments)? {
        return Ok(Some(found));
    }
    Ok(Some(match (name, number, arguments) {
        ("-@", Value::Int(_), []) => exact(heap, &Value::Int(0), "-", number)?.unwrap_or_default(),
        ("-@", Value::Float(number), []) => Value::Float(-number),
        ("+@", number, []) => number.clone(),
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
        ("round" | "floor" | "ceil" | "truncate", number, [Value::Int(places), options @ ..]) => {
            rounded(number, name, *places, Half::of(heap, options)?)?
        }
        ("round", number, options @ [Value::Hash(_)]) => {
            rounded(number, name, 0, Half::of(heap, options)?)?
        }
        ("to_f", number, []) => Value::Float(float(number).unwrap_or(0.0)),
        ("to_d", number, _) => super::super::conversion::decimal(heap, number)?,
        ("to_r" | "rationalize", number, []) => match numeric::ratio(number) {
            Some((numerator, denominator)) => numeric::fraction(numerator, denominator),
            None => return Err(Stop::raise("FloatDomainError", number.print(heap))),
        },
        ("to_s" | "inspect", number, [Value::Int(radix)]) if numeric::big(number).is_some() => {
            let radix = u32::try_from(*radix).ok().filter(|radix| (2..=36).contains(radix));
            let radix = radix.ok_or_else(|| {
                let message = format!("illegal radix {}", arguments[0].print(heap));
                Stop::raise("ArgumentError", message)
            })?;
            heap.text(&numeric::big(number).unwrap_or_default().to_str_radix(radix))
        }
        ("pow", number, [power, modulus]) => {
            let all = (numeric::big(number), numeric::big(power), numeric::big(modulus));
            let (Some(number), Some(power), Some(modulus)) = all else { return Ok(None) };
            if modulus == BigInt::from(0) {
                return Err(zero());
            }
            // Each bit of the power multiplies numbers as long as the modulus.
            let words = modulus.bits() / 64 + 1;
            let work = power.bits().saturating_mul(words * words) / 256;
            if !heap.budget().spend(usize::try_from(work).unwrap_or(usize::MAX)) {
                heap.check()?;
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
            None => exact(heap, &Value::Int(0), "-", number)?.unwrap_or_default(),
        },
        ("abs" | "magnitude", Value::Float(number), []) => Value::Float(number.abs()),
        _ => return facts(heap, number, name, arguments),
    }))
}

/// Methods of one number that is large or exact.
fn large_unary(heap: &Heap, number: &Value, name: &str, arguments: &[Value]) -> Found1 {
    let minus = |number: &Value| exact(heap, &Value::Int(0), "-", number);
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
                [] => return large_unary(heap, &rounded, "to_i", &[]),
                _ => rounded,
            }
        }
        ("to_s", Value::Decimal(number)) => match arguments.is_empty() {
            true => heap.text(&number.to_string()),
            false => return Ok(None),
        },
        ("to_digits", Value::Decimal(number)) => heap.text(&number.plain()),
        ("exponent", Value::Decimal(number)) => {
            let digits = number.digits.magnitude().to_string().len();
            Value::Int(digits as i64 - number.scale)
        }
        ("even?" | "odd?", Value::Big(whole)) => Value::Bool(whole.bit(0) == (name == "odd?")),
        ("~", Value::Big(whole)) => numeric::whole(-(&**whole) - 1),
        ("size", Value::Big(whole)) => Value::Int((whole.bits().div_ceil(64) * 8) as i64),
        ("chr", Value::Big(_)) => {
            return Err(Stop::raise("RangeError", "bignum out of char range"));
        }
        ("bit_length", Value::Big(whole)) => Value::Int(whole.bits() as i64),
        ("succ" | "next", Value::Big(_)) => return exact(heap, number, "+", &Value::Int(1)),
        ("pred", Value::Big(_)) => return exact(heap, number, "-", &Value::Int(1)),
        ("digits", Value::Big(whole)) if arguments.is_empty() => {
            let text = whole.magnitude().to_string();
            heap.list(text.bytes().rev().map(|b| Value::Int(i64::from(b - b'0'))).collect())
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
fn facts(heap: &Heap, number: &Value, name: &str, arguments: &[Value]) -> Found1 {
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
            exact(heap, number, "+", &Value::Int(1))?.unwrap_or_default()
        }
        ("pred", Value::Int(_), []) => {
            exact(heap, number, "-", &Value::Int(1))?.unwrap_or_default()
        }
        ("to_s", Value::Decimal(number), [Value::Text(_)]) => heap.text(&number.plain()),
        ("chr", Value::Int(number @ 128..=255), []) => heap.binary(&[*number as u8]),
        ("chr", Value::Int(number @ 256..), []) => {
            return Err(Stop::raise("RangeError", format!("{number} out of char range")));
        }
        ("chr", Value::Int(number), _) => {
            let character = u32::try_from(*number).ok().and_then(char::from_u32);
            let character = character
                .ok_or_else(|| Stop::raise("RangeError", format!("{number} out of char range")))?;
            heap.text(&character.to_string())
        }
        ("digits", Value::Int(number), []) if *number < 0 => {
            let message = "Numerical argument is out of domain - \"out of domain\"";
            return Err(Stop::raise("Math::DomainError", message));
        }
        ("digits", Value::Int(number), [Value::Int(base)]) => {
            if *base < 2 {
                return Err(Stop::raise("ArgumentError", format!("invalid radix {base}")));
            }
            let (mut rest, mut digits) = (*number, Vec::new());
            while rest > 0 || digits.is_empty() {
                digits.push(Value::Int(rest % base));
                rest /= base;
            }
            heap.list(digits)
        }
        ("frozen?", _, []) => Value::Bool(true),
        ("coerce", number, [other]) if other.is_number() => {
            if matches!((number, other), (Value::Int(_), Value::Int(_))) {
                return Ok(Some(heap.list(vec![other.clone(), number.clone()])));
            }
            let both = [other, number].map(|one| Value::Float(float(one).unwrap_or(f64::NAN)));
            heap.list(both.to_vec())
        }
        ("next_float", Value::Float(number), []) => Value::Float(number.next_up()),
        ("prev_float", Value::Float(number), []) => Value::Float(number.next_down()),
        ("digits", Value::Int(number), []) => {
            let text = number.unsigned_abs().to_string();
            heap.list(text.bytes().rev().map(|b| Value::Int(i64::from(b - b'0'))).collect())
        }
        ("bit_length", Value::Int(number), []) => Value::Int(i64::from(
            64 - (if *number < 0 { !number } else { *number }).leading_zeros(),
        )),
        ("size", Value::Int(_), []) => Value::Int(8),
        ("between?", number, [low, high]) => {
            Value::Bool(float(number) >= float(low) && float(number) <= float(high))
        }
        ("clamp", number, [Value::Range(range)]) => {
            let range = range.get(heap);
            let below = float(&range.from).is_some_and(|low| float(number) < Some(low));
            let above = float(&range.to).is_some_and(|high| float(number) > Some(high));
            match (below, above) {
                (true, _) => range.from,
                (_, true) => range.to,
                _ => number.clone(),
            }
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
