//! Arithmetic beyond 63 bits: big `Integer`, `Rational` and `BigDecimal`.
//!
//! Invariant: a result has the smallest kind that can hold it, and no number grows beyond
//! [`BITS_MAX`].

pub(crate) use super::decimal::{BITS_MAX, Decimal, abs, floor_div, floor_mod};

use super::decimal::power_of_ten;
use super::heap::Heap;
use super::value::Value;
use num_bigint::{BigInt, Sign};
use std::cmp::Ordering;
use std::sync::Arc;

/// Digits that the quotient of two decimals has behind the point.
const QUOTIENT_DIGITS: i64 = 20;

impl Value {
    /// Whether it is the number 0.
    pub(crate) fn equals_zero(&self) -> bool {
        order(self, &Value::Int(0)) == Some(std::cmp::Ordering::Equal)
    }
}

/// A whole number as the smallest kind that holds it.
pub(crate) fn whole(number: BigInt) -> Value {
    match i64::try_from(&number) {
        Ok(number) => Value::Int(number),
        Err(_) => Value::Big(Arc::new(number)),
    }
}

/// A fraction without common divisors; the denominator is above 0.
pub(crate) fn fraction(numerator: BigInt, denominator: BigInt) -> Value {
    let divisor = match common_divisor(&numerator, &denominator) {
        zero if zero.sign() == Sign::NoSign => BigInt::from(1),
        divisor if denominator.sign() == Sign::Minus => -divisor,
        divisor => divisor,
    };
    Value::Rational(Arc::new((numerator / &divisor, denominator / &divisor)))
}

/// The greatest number that divides both; 0 when both are 0.
fn common_divisor(left: &BigInt, right: &BigInt) -> BigInt {
    let (mut one, mut two) = (abs(left), abs(right));
    while two.sign() != Sign::NoSign {
        (one, two) = (two.clone(), one % two);
    }
    one
}

/// A whole number of any size.
pub(crate) fn big(value: &Value) -> Option<BigInt> {
    match value {
        Value::Int(number) => Some(BigInt::from(*number)),
        Value::Big(number) => Some((**number).clone()),
        _ => None,
    }
}

/// Numerator and denominator.
pub(crate) fn ratio(value: &Value) -> Option<(BigInt, BigInt)> {
    Some(match value {
        Value::Rational(parts) => (**parts).clone(),
        Value::Decimal(number) if number.scale >= 0 => {
            (number.digits.clone(), power_of_ten(number.scale))
        }
        Value::Decimal(number) => (&number.digits * power_of_ten(-number.scale), BigInt::from(1)),
        Value::Float(number) => exact(*number)?,
        value => (big(value)?, BigInt::from(1)),
    })
}

/// The fraction that a number with a binary point is.
fn exact(number: f64) -> Option<(BigInt, BigInt)> {
    if !number.is_finite() {
        return None;
    }
    let bits = number.to_bits();
    let stored = (bits >> 52 & 0x7ff) as i64;
    let mantissa = (bits & ((1 << 52) - 1)) | if stored == 0 { 0 } else { 1 << 52 };
    let power = stored.max(1) - 1075;
    let sign = if number < 0.0 { -1 } else { 1 };
    let mantissa = BigInt::from(mantissa) * sign;
    let shift = BigInt::from(1) << power.unsigned_abs();
    Some(match power < 0 {
        true => (mantissa, shift),
        false => (mantissa * shift, BigInt::from(1)),
    })
}

fn decimal(value: &Value) -> Option<Decimal> {
    match value {
        Value::Decimal(number) => Some((**number).clone()),
        Value::Float(number) => Decimal::read(&number.to_string()),
        value => Some(Decimal::of(big(value)?, 0)),
    }
}

/// With a binary point.
pub(crate) fn float(value: &Value) -> Option<f64> {
    match value {
        Value::Int(number) => Some(*number as f64),
        Value::Float(number) => Some(*number),
        Value::Big(number) => number.to_string().parse().ok(),
        Value::Decimal(number) => format!("{}e{}", number.digits, -number.scale).parse().ok(),
        Value::Rational(parts) => Some(quotient(&parts.0, &parts.1)),
        _ => None,
    }
}

/// The nearest number with a binary point.
fn quotient(numerator: &BigInt, denominator: &BigInt) -> f64 {
    if denominator.sign() == Sign::NoSign {
        return match numerator.sign() {
            Sign::Minus => f64::NEG_INFINITY,
            Sign::NoSign => f64::NAN,
            Sign::Plus => f64::INFINITY,
        };
    }
    let small = |number: &BigInt| i64::try_from(number).ok().filter(|n| n.unsigned_abs() < 1 << 53);
    if let (Some(one), Some(two)) = (small(numerator), small(denominator)) {
        return one as f64 / two as f64;
    }
    /// More digits than any such number needs.
    const DIGITS: i64 = 40;
    let extra = DIGITS + denominator.to_string().len() as i64;
    let scaled = numerator * power_of_ten(extra) / denominator;
    format!("{scaled}e-{extra}").parse().unwrap_or(f64::NAN)
}

/// Which of two numbers is greater.
pub(crate) fn order(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::Int(left), Value::Int(right)) => Some(left.cmp(right)),
        (Value::Float(left), Value::Float(right)) => left.partial_cmp(right),
        (Value::Float(number), _) if !number.is_finite() => number.partial_cmp(&0.0),
        (_, Value::Float(number)) if !number.is_finite() => 0.0.partial_cmp(number),
        (left, right) => {
            let (one, two) = (ratio(left)?, ratio(right)?);
            Some((one.0 * two.1).cmp(&(two.0 * one.1)))
        }
    }
}

/// Why there is no result.
pub(crate) enum Fault {
    /// Division by 0.
    Zero,
    /// The number has more than [`BITS_MAX`] bits.
    Size,
}

type Outcome = Result<Option<Value>, Fault>;

/// Arithmetic of two numbers of which one is no small number; nothing for another operation.
pub(crate) fn arithmetic(heap: &Heap, left: &Value, operator: &str, right: &Value) -> Outcome {
    let kinds = (left, right);
    if matches!(kinds, (Value::Decimal(_), _) | (_, Value::Decimal(_)))
        && !matches!(kinds, (Value::Rational(_), _) | (_, Value::Rational(_)))
        && let (Some(one), Some(two)) = (decimal(left), decimal(right))
    {
        return decimals(&one, operator, &two);
    }
    if matches!(kinds, (Value::Float(_), _) | (_, Value::Float(_))) {
        return Ok(None);
    }
    if matches!(kinds, (Value::Rational(_), _) | (_, Value::Rational(_)))
        && let (Some(one), Some(two)) = (ratio(left), ratio(right))
    {
        return fractions(heap, &one, operator, &two);
    }
    match (big(left), big(right)) {
        (Some(one), Some(two)) => integers(heap, &one, operator, &two),
        _ => Ok(None),
    }
}

fn integers(heap: &Heap, left: &BigInt, operator: &str, right: &BigInt) -> Outcome {
    let nought = right.sign() == Sign::NoSign;
    if nought && matches!(operator, "/" | "div" | "%" | "modulo" | "divmod" | "remainder" | "quo") {
        return Err(Fault::Zero);
    }
    let number = match operator {
        "+" => left + right,
        "-" => left - right,
        "*" => {
            sized(left.bits() + right.bits())?;
            left * right
        }
        "/" | "div" => floor_div(left, right),
        "%" | "modulo" => floor_mod(left, right),
        "remainder" => left % right,
        "divmod" => {
            let parts = vec![whole(floor_div(left, right)), whole(floor_mod(left, right))];
            return Ok(Some(heap.list(parts)));
        }
        "**" | "pow" => return power(left, right).map(Some),
        "&" => left & right,
        "|" => left | right,
        "^" => left ^ right,
        "<<" | ">>" => {
            let by = i64::try_from(right).map_err(|_| Fault::Size)?;
            let by = if operator == "<<" { by } else { by.saturating_neg() };
            let amount = by.unsigned_abs();
            if by < 0 {
                left >> amount.min(BITS_MAX)
            } else {
                sized(left.bits() + amount)?;
                left << amount
            }
        }
        "[]" => (left >> u64::try_from(right).unwrap_or(0)) & BigInt::from(1),
        "gcd" => common_divisor(left, right),
        "lcm" => match common_divisor(left, right) {
            zero if zero.sign() == Sign::NoSign => zero,
            divisor => {
                sized(left.bits() + right.bits())?;
                abs(&(left / divisor * right))
            }
        },
        "fdiv" => return Ok(Some(Value::Float(quotient(left, right)))),
        "quo" => return Ok(Some(fraction(left.clone(), right.clone()))),
        _ => return Ok(None),
    };
    Ok(Some(whole(number)))
}

fn sized(bits: u64) -> Result<(), Fault> {
    if bits > BITS_MAX { Err(Fault::Size) } else { Ok(()) }
}

fn power(base: &BigInt, exponent: &BigInt) -> Result<Value, Fault> {
    let times = u32::try_from(abs(exponent)).map_err(|_| Fault::Size)?;
    sized(base.bits().saturating_mul(u64::from(times)))?;
    let raised = base.pow(times);
    match exponent.sign() {
        Sign::Minus if raised.sign() == Sign::NoSign => Err(Fault::Zero),
        Sign::Minus => Ok(fraction(BigInt::from(1), raised)),
        _ => Ok(whole(raised)),
    }
}

fn fractions(
    heap: &Heap,
    left: &(BigInt, BigInt),
    operator: &str,
    right: &(BigInt, BigInt),
) -> Outcome {
    let nought = right.0.sign() == Sign::NoSign;
    if nought && matches!(operator, "/" | "%" | "div" | "quo" | "divmod" | "modulo") {
        return Err(Fault::Zero);
    }
    sized(left.0.bits() + left.1.bits() + right.0.bits() + right.1.bits())?;
    let (one, two) = (&left.0 * &right.1, &right.0 * &left.1);
    let common = &left.1 * &right.1;
    Ok(Some(match operator {
        "+" => fraction(one + two, common),
        "-" => fraction(one - two, common),
        "*" => fraction(&left.0 * &right.0, common),
        "/" | "quo" => fraction(one, two),
        "div" => whole(floor_div(&one, &two)),
        "%" | "modulo" => fraction(floor_mod(&one, &two), common),
        "divmod" => {
            heap.list(vec![whole(floor_div(&one, &two)), fraction(floor_mod(&one, &two), common)])
        }
        "**" | "pow" if right.1 == BigInt::from(1) => {
            let times = u32::try_from(abs(&right.0)).map_err(|_| Fault::Size)?;
            sized((left.0.bits() + left.1.bits()).saturating_mul(u64::from(times)))?;
            let (one, two) = (left.0.pow(times), left.1.pow(times));
            match right.0.sign() {
                Sign::Minus if one.sign() == Sign::NoSign => return Err(Fault::Zero),
                Sign::Minus => fraction(two, one),
                _ => fraction(one, two),
            }
        }
        _ => return Ok(None),
    }))
}

fn decimals(left: &Decimal, operator: &str, right: &Decimal) -> Outcome {
    let nought = right.digits.sign() == Sign::NoSign;
    if nought && matches!(operator, "/" | "%" | "div" | "quo" | "divmod" | "modulo") {
        return Err(Fault::Zero);
    }
    let spread = (left.scale - right.scale).unsigned_abs();
    sized((left.digits.bits() + right.digits.bits()).saturating_add(spread.saturating_mul(4)))?;
    let (one, two, scale) = left.aligned(right);
    let value = |number: Decimal| Value::Decimal(Arc::new(number));
    Ok(Some(match operator {
        "+" => value(Decimal::of(one + two, scale)),
        "-" => value(Decimal::of(one - two, scale)),
        "*" => {
            let scale = left.scale.saturating_add(right.scale);
            sized(scale.unsigned_abs().saturating_mul(4))?;
            value(Decimal::of(&left.digits * &right.digits, scale))
        }
        "/" | "quo" => {
            let more = QUOTIENT_DIGITS + right.digits.magnitude().to_string().len() as i64;
            value(Decimal::of(one * power_of_ten(more) / two, more))
        }
        "div" => whole(floor_div(&one, &two)),
        "%" | "modulo" => value(Decimal::of(floor_mod(&one, &two), scale)),
        _ => return Ok(None),
    }))
}
