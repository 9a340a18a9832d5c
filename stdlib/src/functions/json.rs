//! `std::json`: values to and from JSON text. Containers of decoded text stay on their tape until
//! something reads them.

use crate::declare::{Outcome, json_text, pure, text, value};
use temblor_lang::builtin::{Call, CallError, Function};
use temblor_lang::tape::{check_numbers, explain};
use temblor_lang::value::Kind::{Any, String};
use temblor_lang::value::{JsonStyle, Value, deeper};

/// Arrays and records nest no deeper than this in text that `json::decode` takes.
const DEPTH_MAX: usize = 512;

/// The functions of this module.
pub(super) static FUNCTIONS: &[Function] = &[
    pure(
        "std::json::decode",
        &[("text", String)],
        Any,
        "The value that the JSON text stands for. Containers nest at most 512 deep.",
        &[
            r#"json::decode("[1, 2.5, null]") == [1, 2.5, null]"#,
            r#"json::decode("{\"a\": true}") == {"a": true}"#,
        ],
        decode,
    ),
    pure(
        "std::json::encode",
        &[("value", Any)],
        String,
        "The value as JSON text without blanks. Bytes become arrays of integers.",
        &[r#"json::encode({"a": [1, null]}) == "{\"a\":[1,null]}""#],
        |call, arguments| {
            Ok(Value::Str(json_text(
                call.arena,
                bytes_as_arrays(call, value(arguments, 0)),
                JsonStyle::Compact,
            )))
        },
    ),
    pure(
        "std::json::encode_pretty",
        &[("value", Any)],
        String,
        "The value as JSON text, one line an element, indented by two blanks.",
        &[r#"json::encode_pretty([1]) == "[\n  1\n]""#],
        |call, arguments| {
            Ok(Value::Str(json_text(
                call.arena,
                bytes_as_arrays(call, value(arguments, 0)),
                JsonStyle::Pretty,
            )))
        },
    ),
];

fn decode<'a>(call: &Call<'a>, arguments: &[Value<'a>]) -> Outcome<'a> {
    let text = text(arguments, 0)?;
    if depth(text.as_bytes()) > DEPTH_MAX {
        return Err(CallError::failed(format!("the JSON text nests deeper than {DEPTH_MAX}")));
    }
    let bytes = call.arena.bytes_mut(text.as_bytes());
    if bytes.len() < text.len() {
        return Ok(Value::Null);
    }
    let parsed = simd_json::to_tape(bytes);
    let tape = parsed.and_then(|tape| check_numbers(&tape.0).map(|()| tape));
    let tape = tape.map_err(|error| {
        let (what, at) = explain(&error, text.as_bytes());
        CallError::failed(format!("the text is no JSON: {what} at byte {at}"))
    })?;
    Ok(Value::from(call.arena.nodes(&tape.0)))
}

/// The value with bytes as arrays of integers, which is how tremor encodes them here, and here
/// only. Nothing is copied where there are no bytes.
fn bytes_as_arrays<'a>(call: &Call<'a>, value: Value<'a>) -> Value<'a> {
    match value {
        Value::Bytes(bytes) => {
            call.arena.array(bytes.iter().map(|byte| Value::UInt(u64::from(*byte))))
        }
        _ if call.arena.is_spent() => Value::Null,
        Value::Array(items) if holds_bytes(value) => {
            deeper(|| call.arena.array(items.iter().map(|item| bytes_as_arrays(call, *item))))
        }
        Value::Edited(edited) if holds_bytes(value) => {
            bytes_as_arrays(call, edited.open(call.arena, 0).finish())
        }
        Value::Record(record) if holds_bytes(value) => {
            let mut result = call.arena.record_builder(record.len());
            deeper(|| {
                record
                    .iter()
                    .for_each(|(key, item)| result.append(key, bytes_as_arrays(call, item)));
            });
            result.finish()
        }
        other => other,
    }
}

fn holds_bytes(value: Value<'_>) -> bool {
    match value {
        Value::Bytes(_) => true,
        Value::Array(items) => deeper(|| items.iter().any(|item| holds_bytes(*item))),
        Value::Record(record) => deeper(|| record.iter().any(|(_, item)| holds_bytes(item))),
        Value::Edited(edited) => deeper(|| edited.fields().any(|(_, item)| holds_bytes(item))),
        _ => false,
    }
}

/// How deep the brackets outside of strings nest.
fn depth(text: &[u8]) -> usize {
    let (mut open, mut deepest) = (0usize, 0);
    let mut rest = text.iter();
    while let Some(byte) = rest.next() {
        match byte {
            b'[' | b'{' => {
                open += 1;
                deepest = deepest.max(open);
            }
            b']' | b'}' => open = open.saturating_sub(1),
            b'"' => skip_string(&mut rest),
            _ => {}
        }
    }
    deepest
}

/// Goes past the quote that ends the string.
fn skip_string(rest: &mut std::slice::Iter<'_, u8>) {
    while let Some(byte) = rest.next() {
        match byte {
            b'"' => return,
            b'\\' => drop(rest.next()),
            _ => {}
        }
    }
}
