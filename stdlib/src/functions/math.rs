//! `std::math`: rounding, extremes and elementary functions. Integers stay integers wherever the
//! result is one.

use crate::declare::{Outcome, Params, number, pure, value};
use temblor_lang::builtin::{CallError, Function};
use temblor_lang::value::Kind::{Float, Integer, Number};
use temblor_lang::value::{Kind, Value};

const NUMBER: Params = &[("number", Kind::Number)];
const TWO: Params = &[("left", Kind::Number), ("right", Kind::Number)];

/// The functions of this module.
pub(super) static FUNCTIONS: &[Function] = &[
    pure(
        "std::math::floor",
        NUMBER,
        Integer,
        "The largest integer that is not above the number.",
        &["math::floor(1.9) == 1", "math::floor(-1.1) == -2", "math::floor(3) == 3"],
        |_, arguments| rounded(arguments, f64::floor),
    ),
    pure(
        "std::math::ceil",
        NUMBER,
        Integer,
        "The smallest integer that is not below the number.",
        &["math::ceil(1.1) == 2", "math::ceil(-1.9) == -1"],
        |_, arguments| rounded(arguments, f64::ceil),
    ),
    pure(
        "std::math::round",
        NUMBER,
        Integer,
        "The nearest integer; halves go away from zero.",
        &["math::round(1.5) == 2", "math::round(-1.5) == -2", "math::round(1.4) == 1"],
        |_, arguments| rounded(arguments, f64::round),
    ),
    pure(
        "std::math::trunc",
        NUMBER,
        Integer,
        "The integer part of the number.",
        &["math::trunc(1.9) == 1", "math::trunc(-1.9) == -1"],
        |_, arguments| rounded(arguments, f64::trunc),
    ),
    pure(
        "std::math::max",
        TWO,
        Number,
        "The larger of two numbers. When one of them is a float, so is the result.",
        &["math::max(1, 2) == 2", "math::max(3, 2.0) == 3.0"],
        |_, arguments| extreme(arguments, true),
    ),
    pure(
        "std::math::min",
        TWO,
        Number,
        "The smaller of two numbers. When one of them is a float, so is the result.",
        &["math::min(1, 2) == 1", "math::min(3, 2.0) == 2.0"],
        |_, arguments| extreme(arguments, false),
    ),
    pure(
        "std::math::abs",
        NUMBER,
        Number,
        "The number without its sign.",
        &["math::abs(-2) == 2", "math::abs(-2.5) == 2.5"],
        |_, arguments| {
            Ok(match value(arguments, 0) {
                Value::Int(number) => Value::UInt(number.unsigned_abs()),
                Value::Float(number) => Value::Float(number.abs()),
                other => other,
            })
        },
    ),
    pure(
        "std::math::pow",
        &[("base", Number), ("exponent", Number)],
        Float,
        "`base` to the power of `exponent`.",
        &["math::pow(2, 10) == 1024.0"],
        |_, arguments| Ok(Value::Float(number(arguments, 0)?.powf(number(arguments, 1)?))),
    ),
    pure(
        "std::math::sqrt",
        NUMBER,
        Float,
        "The square root; an error for negative numbers.",
        &["math::sqrt(16) == 4.0"],
        |_, arguments| {
            let number = number(arguments, 0)?;
            if number < 0.0 {
                return Err(CallError::failed("negative numbers have no square root"));
            }
            Ok(Value::Float(number.sqrt()))
        },
    ),
    pure(
        "std::math::log",
        &[("number", Number), ("base", Number)],
        Float,
        "The logarithm of a positive number to the given base.",
        &["math::log(8, 2) == 3.0", "math::round(math::log(1000, 10)) == 3"],
        |_, arguments| {
            let (number, base) = (number(arguments, 0)?, number(arguments, 1)?);
            if number <= 0.0 || base <= 0.0 || base == 1.0 {
                return Err(CallError::failed("a logarithm needs positive numbers and a base"));
            }
            Ok(Value::Float(if base == 2.0 { number.log2() } else { number.log(base) }))
        },
    ),
    pure(
        "std::math::round_to",
        &[("number", Number), ("digits", Integer)],
        Number,
        "The number rounded to so many digits behind the point (0 to 15).",
        &["math::round_to(3.14159, 2) == 3.14", "math::round_to(5, 2) == 5"],
        round_to,
    ),
];

fn rounded<'a>(arguments: &[Value<'a>], round: fn(f64) -> f64) -> Outcome<'a> {
    match value(arguments, 0) {
        Value::Float(number) => {
            let whole = round(number);
            Ok(if whole < 0.0 { Value::Int(whole as i64) } else { Value::UInt(whole as u64) })
        }
        whole @ (Value::Int(_) | Value::UInt(_)) => Ok(whole),
        _ => Err(CallError::BadType),
    }
}

fn extreme<'a>(arguments: &[Value<'a>], larger: bool) -> Outcome<'a> {
    let (left, right) = (value(arguments, 0), value(arguments, 1));
    if let (Some(left), Some(right)) = (left.as_u64(), right.as_u64()) {
        return Ok(Value::UInt(if larger { left.max(right) } else { left.min(right) }));
    }
    if let (Some(left), Some(right)) = (left.as_i64(), right.as_i64()) {
        return Ok(Value::Int(if larger { left.max(right) } else { left.min(right) }));
    }
    let (left, right) = (number(arguments, 0)?, number(arguments, 1)?);
    let takes_left = if larger { left >= right } else { left <= right };
    Ok(Value::Float(if takes_left { left } else { right }))
}

fn round_to<'a>(_: &temblor_lang::builtin::Call<'a>, arguments: &[Value<'a>]) -> Outcome<'a> {
    /// A float holds no more decimal digits than these.
    const DIGITS_MAX: i64 = 15;
    let digits = value(arguments, 1).as_i64().filter(|digits| (0..=DIGITS_MAX).contains(digits));
    let Some(digits) = digits else {
        return Err(CallError::failed("the number of digits is between 0 and 15"));
    };
    Ok(match value(arguments, 0) {
        Value::Float(number) => {
            let scale = 10f64.powi(digits as i32);
            let scaled = (number * scale).round() / scale;
            Value::Float(if scaled.is_finite() { scaled } else { number })
        }
        whole => whole,
    })
}
