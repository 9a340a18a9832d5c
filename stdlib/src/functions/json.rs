//! `std::json`: values to and from JSON text. Containers of decoded text stay on their tape until
//! something reads them.

use crate::declare::{Outcome, json_text, pure, text, value};
use temblor_lang::builtin::{Call, CallError, Function};
use temblor_lang::value::Kind::{Any, String};
use temblor_lang::value::{JsonStyle, Value};

/// Arrays and records nest no deeper than this in text that `json::decode` takes.
const DEPTH_MAX: usize = 512;

/// The functions of this module.
pub static FUNCTIONS: &[Function] = &[
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
        "The value as JSON text without blanks.",
        &[r#"json::encode({"a": [1, null]}) == "{\"a\":[1,null]}""#],
        |call, arguments| {
            Ok(Value::Str(json_text(call.arena, value(arguments, 0), JsonStyle::Compact)))
        },
    ),
    pure(
        "std::json::encode_pretty",
        &[("value", Any)],
        String,
        "The value as JSON text, one line an element, indented by two blanks.",
        &[r#"json::encode_pretty([1]) == "[\n  1\n]""#],
        |call, arguments| {
            Ok(Value::Str(json_text(call.arena, value(arguments, 0), JsonStyle::Pretty)))
        },
    ),
];

fn decode<'a>(call: &Call<'a>, arguments: &[Value<'a>]) -> Outcome<'a> {
    let text = text(arguments, 0)?;
    if depth(text.as_bytes()) > DEPTH_MAX {
        return Err(CallError::failed(format!("the JSON text nests deeper than {DEPTH_MAX}")));
    }
    let bytes = call.arena.bytes_mut(text.as_bytes());
    let tape = simd_json::to_tape(bytes)
        .map_err(|why| CallError::failed(format!("the text is no JSON: {why}")))?;
    let nodes: &[simd_json::Node<'a>] = call.arena.bump().alloc_slice_copy(&tape.0);
    Ok(Value::from(nodes))
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
