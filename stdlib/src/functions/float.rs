//! `std::float`: text to floats and what kind of number a float is.

use crate::declare::{Params, number, pure, text, value};
use temblor_lang::builtin::{CallError, Function};
use temblor_lang::value::Kind::{Any, Bool, Float, String};
use temblor_lang::value::{Kind, Value};

const NUMBER: Params = &[("number", Kind::Any)];

/// The functions of this module.
pub(super) static FUNCTIONS: &[Function] = &[
    pure(
        "std::float::parse",
        &[("text", String)],
        Float,
        "The float that the text is. An exponent may follow (`1e3`); `inf` and `nan` are numbers \
         too.",
        &[r#"float::parse("1e3") == 1000.0"#, r#"float::parse("-.5") == -0.5"#],
        |_, arguments| {
            let text = text(arguments, 0)?;
            let bad = |why| CallError::failed(format!("`{text}` is no float: {why}"));
            text.parse().map(Value::Float).map_err(|why: std::num::ParseFloatError| bad(why))
        },
    ),
    pure(
        "std::float::parse_or",
        &[("text", Any), ("otherwise", Any)],
        Any,
        "As `float::parse`, but `otherwise` when the argument is no text or no number; a number \
         is taken as a float.",
        &[r#"float::parse_or("1.5", 0.0) == 1.5"#, r#"float::parse_or("-", null) == null"#],
        |_, arguments| {
            let given = value(arguments, 0);
            let parsed = match given {
                Value::Str(text) => text.trim().parse().ok(),
                _ => given.as_f64(),
            };
            Ok(parsed.map_or(value(arguments, 1), Value::Float))
        },
    ),
    pure(
        "std::float::is_finite",
        NUMBER,
        Bool,
        "Whether the number is neither infinite nor NaN.",
        &["float::is_finite(1.5)", "float::is_finite(1)"],
        |_, arguments| Ok(Value::Bool(cast(arguments)?.is_finite())),
    ),
    pure(
        "std::float::is_nan",
        NUMBER,
        Bool,
        "Whether the number is NaN, the result of an undefined calculation.",
        &[r#"float::is_nan(float::parse("nan"))"#, "not float::is_nan(1.5)"],
        |_, arguments| Ok(Value::Bool(cast(arguments)?.is_nan())),
    ),
    pure(
        "std::float::is_infinite",
        NUMBER,
        Bool,
        "Whether the number is infinite.",
        &[r#"float::is_infinite(float::parse("-inf"))"#, "not float::is_infinite(1.5)"],
        |_, arguments| Ok(Value::Bool(cast(arguments)?.is_infinite())),
    ),
];

fn cast(arguments: &[Value<'_>]) -> Result<f64, CallError> {
    number(arguments, 0).map_err(|_| CallError::failed("expected a number"))
}
