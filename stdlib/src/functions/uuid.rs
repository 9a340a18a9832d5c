//! `std::uuid`: universally unique identifiers (RFC 9562). Random ones depend on the event and the
//! seed of the run, so a replay makes the same ones.

use super::random::identifier;
use crate::declare::{Outcome, Params, impure, pure, text};
use sha1::{Digest, Sha1};
use temblor_lang::builtin::{Call, CallError, Function};
use temblor_lang::value::Kind::{Any, Bool, String};
use temblor_lang::value::{Kind, Value};

const TEXT: Params = &[("text", Kind::String)];

/// The functions of this module.
pub(super) static FUNCTIONS: &[Function] = &[
    impure(
        "std::uuid::v4",
        &[],
        String,
        "A random identifier.",
        &["string::len(uuid::v4()) == 36", "uuid::version(uuid::v4()) == 4"],
        |call, _| Ok(shown(call, stamped(identifier::<16>(call), 4))),
    ),
    impure(
        "std::uuid::v7",
        &[],
        String,
        "An identifier that begins with the event's time of arrival and goes on at random, so \
         that identifiers sort by time.",
        &["uuid::version(uuid::v7()) == 7"],
        |call, _| {
            const NANOS_PER_MILLI: u64 = 1_000_000;
            let mut bytes = identifier::<16>(call);
            let millis = (call.facts.ingest_ns / NANOS_PER_MILLI).to_be_bytes();
            bytes[..6].copy_from_slice(&millis[2..]);
            Ok(shown(call, stamped(bytes, 7)))
        },
    ),
    pure(
        "std::uuid::v5",
        &[("namespace", String), ("name", String)],
        String,
        "The identifier of a name within a namespace, itself an identifier: the same name always \
         gives the same one. Good for making deliveries idempotent.",
        &[
            r#"uuid::v5("6ba7b810-9dad-11d1-80b4-00c04fd430c8", "www.example.com") == "2ed6657d-e927-568b-95e1-2665a8aea6a2""#,
        ],
        |call, arguments| {
            let mut digest = Sha1::new();
            digest.update(required(text(arguments, 0)?)?);
            digest.update(text(arguments, 1)?);
            let mut bytes = [0; 16];
            bytes.copy_from_slice(&digest.finalize()[..16]);
            Ok(shown(call, stamped(bytes, 5)))
        },
    ),
    pure(
        "std::uuid::is_valid",
        TEXT,
        Bool,
        "Whether the text is an identifier in its usual form, in any case.",
        &[
            r#"uuid::is_valid("2ED6657D-e927-568b-95e1-2665a8aea6a2")"#,
            r#"not uuid::is_valid("2ed6657de927568b95e12665a8aea6a2")"#,
        ],
        |_, arguments| Ok(Value::Bool(parsed(text(arguments, 0)?).is_some())),
    ),
    pure(
        "std::uuid::version",
        TEXT,
        Any,
        "The version of an identifier, such as 4; an error when the text is none.",
        &[r#"uuid::version("2ed6657d-e927-568b-95e1-2665a8aea6a2") == 5"#],
        version,
    ),
];

/// Sets the version and the variant.
fn stamped(mut bytes: [u8; 16], version: u8) -> [u8; 16] {
    bytes[6] = bytes[6] & 0x0f | version << 4;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    bytes
}

fn shown<'a>(call: &Call<'a>, bytes: [u8; 16]) -> Value<'a> {
    let number = u128::from_be_bytes(bytes);
    Value::Str(call.arena.format(format_args!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        number >> 96,
        number >> 80 & 0xffff,
        number >> 64 & 0xffff,
        number >> 48 & 0xffff,
        number & 0xffff_ffff_ffff,
    )))
}

fn parsed(text: &str) -> Option<[u8; 16]> {
    const HYPHENS: [usize; 4] = [8, 13, 18, 23];
    const LENGTH: usize = 36;
    if text.len() != LENGTH {
        return None;
    }
    let mut number: u128 = 0;
    for (at, byte) in text.bytes().enumerate() {
        if HYPHENS.contains(&at) {
            if byte != b'-' {
                return None;
            }
            continue;
        }
        number = number << 4 | u128::from(char::from(byte).to_digit(16)?);
    }
    Some(number.to_be_bytes())
}

fn required(text: &str) -> Result<[u8; 16], CallError> {
    parsed(text).ok_or_else(|| CallError::failed(format!("`{text}` is no UUID")))
}

fn version<'a>(_: &Call<'a>, arguments: &[Value<'a>]) -> Outcome<'a> {
    Ok(Value::UInt(u64::from(required(text(arguments, 0)?)?[6] >> 4)))
}
