//! `std::type`: what kind of value something is.

use crate::declare::{Params, pure, value};
use temblor_lang::builtin::Function;
use temblor_lang::value::Kind::{Bool, String};
use temblor_lang::value::{Kind, Value};

const VALUE: Params = &[("value", Kind::Any)];

/// The functions of this module.
pub(super) static FUNCTIONS: &[Function] = &[
    pure(
        "std::type::as_string",
        VALUE,
        String,
        "The name of the value's kind: `null`, `bool`, `integer`, `float`, `string`, `bytes`, \
         `array` or `record`.",
        &[r#"type::as_string(1.5) == "float""#, r#"type::as_string([]) == "array""#],
        |_, arguments| Ok(Value::Str(value(arguments, 0).kind().name())),
    ),
    pure(
        "std::type::is_null",
        VALUE,
        Bool,
        "Whether the value is `null`.",
        &["type::is_null(null)", "not type::is_null(0)"],
        |_, arguments| Ok(Value::Bool(value(arguments, 0).kind() == Kind::Null)),
    ),
    pure(
        "std::type::is_bool",
        VALUE,
        Bool,
        "Whether the value is a boolean.",
        &["type::is_bool(false)"],
        |_, arguments| Ok(Value::Bool(value(arguments, 0).kind() == Kind::Bool)),
    ),
    pure(
        "std::type::is_integer",
        VALUE,
        Bool,
        "Whether the value is an integer within 64 bits signed. (Larger ones are numbers, but \
         not integers in this sense.)",
        &["type::is_integer(1)", "not type::is_integer(1.0)"],
        |_, arguments| Ok(Value::Bool(value(arguments, 0).as_i64().is_some())),
    ),
    pure(
        "std::type::is_float",
        VALUE,
        Bool,
        "Whether the value is a float.",
        &["type::is_float(1.0)", "not type::is_float(1)"],
        |_, arguments| Ok(Value::Bool(value(arguments, 0).kind() == Kind::Float)),
    ),
    pure(
        "std::type::is_number",
        VALUE,
        Bool,
        "Whether the value is an integer of any size or a float.",
        &["type::is_number(1)", "type::is_number(1.0)", r#"not type::is_number("1")"#],
        |_, arguments| Ok(Value::Bool(value(arguments, 0).kind().fits(Kind::Number))),
    ),
    pure(
        "std::type::is_string",
        VALUE,
        Bool,
        "Whether the value is a string.",
        &[r#"type::is_string("")"#],
        |_, arguments| Ok(Value::Bool(value(arguments, 0).kind() == Kind::String)),
    ),
    pure(
        "std::type::is_array",
        VALUE,
        Bool,
        "Whether the value is an array.",
        &["type::is_array([])"],
        |_, arguments| Ok(Value::Bool(value(arguments, 0).kind() == Kind::Array)),
    ),
    pure(
        "std::type::is_record",
        VALUE,
        Bool,
        "Whether the value is a record.",
        &["type::is_record({})"],
        |_, arguments| Ok(Value::Bool(value(arguments, 0).kind() == Kind::Record)),
    ),
    pure(
        "std::type::is_binary",
        VALUE,
        Bool,
        "Whether the value is made of raw bytes.",
        &["type::is_binary(<< 1 >>)", r#"not type::is_binary("a")"#],
        |_, arguments| Ok(Value::Bool(value(arguments, 0).kind() == Kind::Bytes)),
    ),
];
