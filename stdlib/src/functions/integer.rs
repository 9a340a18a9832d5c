//! `std::integer`: text to whole numbers and back. A number that does not fit is an error, never
//! cut off.

use crate::declare::{Outcome, pure, signed, text, unsigned, value};
use temblor_lang::builtin::{Call, CallError, Function};
use temblor_lang::value::Kind::{Any, Integer, String};
use temblor_lang::value::Value;

/// The smallest and the largest base of positional notation with digits and letters.
const BASES: std::ops::RangeInclusive<u64> = 2..=36;

/// The functions of this module.
pub(super) static FUNCTIONS: &[Function] = &[
    pure(
        "std::integer::parse",
        &[("text", String)],
        Integer,
        "The whole number that the text is: decimal digits with an optional sign, within 64 \
         bits signed.",
        &[r#"integer::parse("-42") == -42"#, r#"integer::parse("+7") == 7"#],
        |_, arguments| {
            let text = text(arguments, 0)?;
            text.parse().map(Value::Int).map_err(|why| bad_number(text, &why.to_string()))
        },
    ),
    pure(
        "std::integer::parse_base",
        &[("text", String), ("base", Integer)],
        Integer,
        "The whole number that the text is in the given base (2 to 36), letters in any case, with \
         an optional sign. Prefixes such as `0x` are not part of a number.",
        &[r#"integer::parse_base("ff", 16) == 255"#, r#"integer::parse_base("-101", 2) == -5"#],
        |_, arguments| {
            let (text, base) = (text(arguments, 0)?, base(arguments)?);
            i64::from_str_radix(text, base)
                .map(Value::Int)
                .or_else(|why| u64::from_str_radix(text, base).map(Value::UInt).map_err(|_| why))
                .map_err(|why| bad_number(text, &why.to_string()))
        },
    ),
    pure(
        "std::integer::parse_or",
        &[("text", Any), ("otherwise", Any)],
        Any,
        "As `integer::parse`, but `otherwise` when the argument is no text or no whole number; \
         an integer is taken as it is.",
        &[
            r#"integer::parse_or("12", 0) == 12"#,
            r#"integer::parse_or("12b", 0) == 0"#,
            "integer::parse_or(null, -1) == -1",
        ],
        |_, arguments| {
            Ok(match value(arguments, 0) {
                Value::Str(text) => text.trim().parse().map_or(value(arguments, 1), Value::Int),
                whole @ (Value::Int(_) | Value::UInt(_)) => whole,
                _ => value(arguments, 1),
            })
        },
    ),
    pure(
        "std::integer::format_base",
        &[("number", Integer), ("base", Integer)],
        String,
        "The number in the given base (2 to 36), in lower case and without a prefix.",
        &[r#"integer::format_base(255, 16) == "ff""#, r#"integer::format_base(-5, 2) == "-101""#],
        format_base,
    ),
];

#[cold]
fn bad_number(text: &str, why: &str) -> CallError {
    CallError::failed(format!("`{text}` is no integer: {why}"))
}

fn base(arguments: &[Value<'_>]) -> Result<u32, CallError> {
    let base = unsigned(arguments, 1)?;
    if !BASES.contains(&base) {
        return Err(CallError::failed("the base of a number is between 2 and 36"));
    }
    Ok(base as u32)
}

fn format_base<'a>(call: &Call<'a>, arguments: &[Value<'a>]) -> Outcome<'a> {
    /// Binary digits of the largest magnitude, and a sign.
    const LENGTH_MAX: usize = 65;
    let base = u64::from(base(arguments)?);
    let (negative, mut rest) = match value(arguments, 0) {
        Value::UInt(number) => (false, number),
        _ => {
            let number = signed(arguments, 0)?;
            (number < 0, number.unsigned_abs())
        }
    };
    let mut digits = [0; LENGTH_MAX];
    let mut start = LENGTH_MAX;
    loop {
        start -= 1;
        digits[start] = b"0123456789abcdefghijklmnopqrstuvwxyz"[(rest % base) as usize];
        rest /= base;
        if rest == 0 {
            break;
        }
    }
    if negative {
        start -= 1;
        digits[start] = b'-';
    }
    let text = std::str::from_utf8(&digits[start..]).expect("digits are ASCII");
    Ok(Value::Str(call.arena.str(text)))
}
