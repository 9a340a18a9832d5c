//! `std::base64`, `std::hex` and `std::binary`: bytes and their spellings as text.

use crate::declare::{Outcome, bytes, finish, integer, items, octets, pure, text, text_in, value};
use base64::Engine;
use base64::alphabet::STANDARD as ALPHABET;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use temblor_lang::builtin::{Call, CallError, Function};
use temblor_lang::value::Kind::{Any, Array, Bytes, Integer, String};
use temblor_lang::value::Value;

/// The standard alphabet (RFC 4648), padded when written, with or without padding when read.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &ALPHABET,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The functions of these modules.
pub(super) static FUNCTIONS: &[Function] = &[
    pure(
        "std::base64::encode",
        &[("bytes", Bytes)],
        String,
        "The bytes in base64, with padding. For text, say \
         `base64::encode(string::into_binary(text))`.",
        &[r#"base64::encode(string::into_binary("snot")) == "c25vdA==""#],
        |call, arguments| {
            let encoded = BASE64.encode(bytes(arguments, 0)?);
            Ok(Value::Str(call.arena.str(&encoded)))
        },
    ),
    pure(
        "std::base64::decode",
        &[("text", String)],
        Bytes,
        "The bytes that the base64 text stands for; padding may be missing.",
        &[r#"string::from_utf8_lossy(base64::decode("c25vdA")) == "snot""#],
        |call, arguments| {
            let decoded = BASE64
                .decode(text(arguments, 0)?)
                .map_err(|why| CallError::failed(format!("the text is no base64: {why}")))?;
            Ok(Value::Bytes(call.arena.bytes(&decoded)))
        },
    ),
    pure(
        "std::hex::encode",
        &[("bytes", Any)],
        String,
        "Two lower-case hexadecimal digits for each byte, or for each byte of a text in UTF-8.",
        &[r#"hex::encode(<< 10, 255 >>) == "0aff""#, r#"hex::encode("a") == "61""#],
        |call, arguments| Ok(hexadecimal(call, octets(arguments, 0)?)),
    ),
    pure(
        "std::hex::decode",
        &[("text", String)],
        Bytes,
        "The bytes that pairs of hexadecimal digits, in any case, stand for.",
        &[r#"hex::decode("0aFF") == << 10, 255 >>"#],
        decode_hex,
    ),
    pure(
        "std::binary::len",
        &[("bytes", Bytes)],
        Integer,
        "The number of bytes.",
        &["binary::len(<< 1, 2, 3 >>) == 3"],
        |_, arguments| Ok(integer(bytes(arguments, 0)?.len())),
    ),
    pure(
        "std::binary::from_bytes",
        &[("array", Array)],
        Bytes,
        "Bytes of an array of integers from 0 to 255.",
        &["binary::from_bytes([1, 2]) == << 1, 2 >>"],
        |call, arguments| {
            let numbers = items(call, arguments, 0)?;
            let mut result = Vec::with_capacity(numbers.len());
            for number in numbers {
                let byte = number.as_u64().and_then(|number| u8::try_from(number).ok());
                result.push(byte.ok_or_else(|| {
                    CallError::failed("the array holds something else than integers from 0 to 255")
                })?);
            }
            Ok(Value::Bytes(call.arena.bytes(&result)))
        },
    ),
    pure(
        "std::binary::into_bytes",
        &[("bytes", Any)],
        Array,
        "The bytes as an array of integers.",
        &["binary::into_bytes(<< 1, 2 >>) == [1, 2]"],
        |call, arguments| match value(arguments, 0) {
            Value::Bytes(bytes) => {
                Ok(call.arena.array(bytes.iter().map(|byte| Value::UInt(u64::from(*byte)))))
            }
            other => Err(CallError::failed(format!(
                "only bytes can become an array of bytes, not {}",
                other.kind().name()
            ))),
        },
    ),
];

/// Two lower-case digits for each byte.
pub(super) fn hexadecimal<'a>(call: &Call<'a>, bytes: &[u8]) -> Value<'a> {
    let mut result = text_in(call.arena, bytes.len() * 2);
    for byte in bytes {
        for digit in [byte >> 4, byte & 15] {
            result.push(char::from(b"0123456789abcdef"[usize::from(digit)]));
        }
    }
    finish(result)
}

fn decode_hex<'a>(call: &Call<'a>, arguments: &[Value<'a>]) -> Outcome<'a> {
    let digits = text(arguments, 0)?.as_bytes();
    let bad = || CallError::failed("the text is not made of pairs of hexadecimal digits");
    if !digits.len().is_multiple_of(2) {
        return Err(bad());
    }
    let mut result = Vec::with_capacity(digits.len() / 2);
    for pair in digits.chunks_exact(2) {
        let digit = |byte: u8| char::from(byte).to_digit(16).ok_or_else(bad);
        result.push((digit(pair[0])? << 4 | digit(pair[1])?) as u8);
    }
    Ok(Value::Bytes(call.arena.bytes(&result)))
}
