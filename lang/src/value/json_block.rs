//! Records as JSON by way of a small block of memory: what is written to a place that is known needs
//! neither a call nor a look at the output's length. Whatever a record holds, the output is that of
//! [`super::json`].

use super::Value;
use super::json::push_compact;
use super::json_string::{
    BLOCK_BYTES, ESCAPE_BYTES_MAX, block_needs_escape, escape, place_in_block, place_in_tail,
    push_json_string,
};
use super::names::{LABEL_BYTES, Named};
use super::record::{Entry, Part};

/// Records of fewer fields are written as fast without.
pub(super) const FIELDS_MIN: usize = 4;
/// Bytes of the block.
const BYTES: usize = 512;
/// What is free before anything is written: more than a key of [`BLOCK_BYTES`] with its quotes, a
/// number, or a piece of a string with what may stand around it.
const ROOM: usize = 64;
/// Longer strings go straight to the output.
const STRING_BYTES_MAX: usize = 256;

const _: () = assert!(2 * (BLOCK_BYTES + ESCAPE_BYTES_MAX + 4) < ROOM, "a piece has room");
/// Bytes of the longest number.
const NUMBER_BYTES: usize = 20;
const _: () = assert!(1 + LABEL_BYTES + NUMBER_BYTES < ROOM, "a label and a number have room");
const _: () = assert!(1 + LABEL_BYTES + BLOCK_BYTES + 2 < ROOM, "a label and a text have room");

/// Appends a record of the fields, without blanks.
pub(super) fn push_by_blocks(out: &mut Vec<u8>, entries: &[Entry<'_>]) {
    let mut block = [0; BYTES];
    let mut at = 0;
    let mut separator = b'{';
    for entry in entries {
        at = room(out, &block, at);
        at = put(&mut block, at, &[separator]);
        separator = b',';
        at = put_text(out, &mut block, at, entry.key);
        at = put(&mut block, at, b":");
        at = put_value(out, &mut block, at, entry.value);
    }
    at = room(out, &block, at);
    at = put(&mut block, at, b"}");
    out.extend_from_slice(&block[..at]);
}

/// As [`push_by_blocks`], for a record that has the names of a pattern, and at least one of them.
pub(super) fn push_named(out: &mut Vec<u8>, entries: &[Entry<'_>], named: Named<'_>) {
    let mut block = [0; BYTES];
    let mut at = 0;
    let mut separator = b'{';
    for (entry, label) in entries.iter().zip(named.labels()) {
        at = room(out, &block, at);
        put(&mut block, at, &label.bytes);
        block[at] = separator;
        separator = b',';
        at += label.length;
        at = match entry.value {
            Value::Str(text) => put_text_behind_quote(out, &mut block, at + 1, text),
            other => put_other(out, &mut block, at, other),
        };
    }
    at = room(out, &block, at);
    at = put(&mut block, at, b"}");
    out.extend_from_slice(&block[..at]);
}

/// Appends a record of the parts: fields as they came in, and those between them written anew.
pub(super) fn push_parts<'a>(out: &mut Vec<u8>, parts: impl Iterator<Item = Part<'a>>) {
    let mut block = [0; BYTES];
    let mut at = 0;
    let mut separator = b'{';
    for part in parts {
        at = room(out, &block, at);
        at = put(&mut block, at, &[separator]);
        match part {
            Part::Text(text) => {
                at = empty(out, &block, at);
                out.extend_from_slice(text);
            }
            Part::Field(key, value) => {
                at = put_text(out, &mut block, at, key);
                at = put(&mut block, at, b":");
                at = put_value(out, &mut block, at, value);
            }
        }
        separator = b',';
    }
    at = room(out, &block, at);
    if separator == b'{' {
        at = put(&mut block, at, b"{");
    }
    at = put(&mut block, at, b"}");
    out.extend_from_slice(&block[..at]);
}

/// Sees to it that [`ROOM`] bytes are free.
#[inline]
fn room(out: &mut Vec<u8>, block: &[u8; BYTES], at: usize) -> usize {
    if at + ROOM > BYTES { empty(out, block, at) } else { at }
}

fn empty(out: &mut Vec<u8>, block: &[u8; BYTES], at: usize) -> usize {
    out.extend_from_slice(&block[..at]);
    0
}

#[inline]
fn put<const N: usize>(block: &mut [u8; BYTES], at: usize, bytes: &[u8; N]) -> usize {
    block[at..at + N].copy_from_slice(bytes);
    at + N
}

/// Up to [`BLOCK_BYTES`] bytes; two copies of a fixed length, which may overlap, need no call.
#[inline(always)]
fn put_short(block: &mut [u8; BYTES], at: usize, bytes: &[u8]) -> usize {
    let end = at + bytes.len();
    if let (Some(first), Some(last)) = (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        put(block, at, first);
        put(block, end - 8, last);
    } else if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        put(block, at, first);
        put(block, end - 4, last);
    } else {
        bytes.iter().enumerate().for_each(|(number, byte)| block[at + number] = *byte);
    }
    end
}

#[inline(always)]
fn put_value(out: &mut Vec<u8>, block: &mut [u8; BYTES], at: usize, value: Value<'_>) -> usize {
    let at = room(out, block, at);
    match value {
        Value::Str(text) => put_text(out, block, at, text),
        other => put_other(out, block, at, other),
    }
}

/// What is no string, where a number has room. Not inlined: most values are strings.
#[inline(never)]
fn put_other(out: &mut Vec<u8>, block: &mut [u8; BYTES], at: usize, value: Value<'_>) -> usize {
    match value {
        Value::Int(number) => put_small(block, at, itoa::Buffer::new().format(number)),
        Value::UInt(number) => put_small(block, at, itoa::Buffer::new().format(number)),
        Value::Bool(true) => put(block, at, b"true"),
        Value::Bool(false) => put(block, at, b"false"),
        Value::Null => put(block, at, b"null"),
        other => {
            empty(out, block, at);
            push_compact(out, other);
            0
        }
    }
}

/// A text that certainly has room.
fn put_small(block: &mut [u8; BYTES], at: usize, text: &str) -> usize {
    block[at..at + text.len()].copy_from_slice(text.as_bytes());
    at + text.len()
}

/// A string where [`ROOM`] is nearly all free.
#[inline(always)]
fn put_text(out: &mut Vec<u8>, block: &mut [u8; BYTES], at: usize, text: &str) -> usize {
    let at = put(block, at, b"\"");
    put_text_behind_quote(out, block, at, text)
}

/// As [`put_text`], where its first quote stands already.
#[inline(always)]
fn put_text_behind_quote(
    out: &mut Vec<u8>,
    block: &mut [u8; BYTES],
    mut at: usize,
    text: &str,
) -> usize {
    let bytes = text.as_bytes();
    if bytes.len() >= BLOCK_BYTES || place_in_tail(bytes).is_some() {
        return put_string(out, block, at, text);
    }
    at = put_short(block, at, bytes);
    put(block, at, b"\"")
}

/// Not inlined: most strings are short and need none of it. The first quote stands already.
#[inline(never)]
fn put_string(out: &mut Vec<u8>, block: &mut [u8; BYTES], mut at: usize, text: &str) -> usize {
    let mut rest = text.as_bytes();
    if rest.len() > STRING_BYTES_MAX {
        empty(out, block, at - 1);
        push_json_string(out, text);
        return 0;
    }
    loop {
        // Whether the bytes before `rest` stand before `at` as they are.
        let mut is_behind = false;
        while let Some(piece) = rest.first_chunk::<BLOCK_BYTES>() {
            at = room(out, block, at);
            put(block, at, piece);
            is_behind = !block_needs_escape(piece);
            if is_behind {
                at += BLOCK_BYTES;
                rest = &rest[BLOCK_BYTES..];
            } else {
                let place = place_in_block(piece);
                at = put_escape(block, at + place, piece[place]);
                rest = &rest[place + 1..];
            }
        }
        at = room(out, block, at);
        // The last block of the text overlaps what has been written.
        if is_behind
            && at >= BLOCK_BYTES
            && let Some(last) = text.as_bytes().last_chunk::<BLOCK_BYTES>()
            && !block_needs_escape(last)
        {
            at += rest.len();
            put(block, at - BLOCK_BYTES, last);
            break;
        }
        let Some(place) = place_in_tail(rest) else {
            at = put_short(block, at, rest);
            break;
        };
        at = put_short(block, at, &rest[..place]);
        at = put_escape(block, at, rest[place]);
        rest = &rest[place + 1..];
    }
    put(block, at, b"\"")
}

#[inline]
fn put_escape(block: &mut [u8; BYTES], at: usize, byte: u8) -> usize {
    let (escape, length) = escape(byte);
    put(block, at, &escape);
    at + length
}

#[cfg(test)]
mod tests {
    use super::super::json_string::tests::{expected, texts};
    use super::super::{Arena, JsonStyle, OwnedKey, push_json};
    use super::*;

    /// The record of one text under each of the keys is written as it must be.
    fn check(keys: &[OwnedKey], text: &str) {
        let arena = Arena::new();
        let mut record = arena.record_builder(keys.len());
        for key in keys {
            record.append_key(&key.key(), Value::Str(text));
        }
        let mut out = Vec::new();
        push_json(&mut out, record.finish(), JsonStyle::Compact);
        let fields: Vec<String> = keys
            .iter()
            .map(|key| format!("{}:{}", expected(key.key().text()), expected(text)))
            .collect();
        let expected = format!("{{{}}}", fields.join(","));
        assert_eq!(String::from_utf8(out).expect("JSON is UTF-8"), expected);
    }

    #[test]
    fn strings_are_escaped_as_everywhere() {
        let keys = ["a", "a longer name of a field", "\"", "key\n"].map(OwnedKey::new);
        texts().for_each(|text| check(&keys, &text));
    }

    #[test]
    fn texts_of_every_length_pass_the_end_of_the_block() {
        let keys: Vec<OwnedKey> =
            (1..9).map(|length| OwnedKey::new(&"k".repeat(length * 3))).collect();
        for length in 0..600 {
            check(&keys, &"a".repeat(length));
            check(&keys, &"\u{1}".repeat(length));
            check(&keys, &("äöü€".repeat(length / 9) + "\\"));
        }
    }

    #[test]
    fn other_values_are_written_as_everywhere() {
        let arena = Arena::new();
        let values = [
            Value::Null,
            Value::Bool(true),
            Value::Int(i64::MIN),
            Value::UInt(u64::MAX),
            Value::Float(-1.5e300),
            Value::Float(f64::NAN),
            Value::Bytes(b"abc"),
            arena.array([Value::Int(1), Value::Str("\"")]),
        ];
        let mut record = arena.record_builder(8);
        for (name, value) in ["a", "b", "c", "d", "e", "f", "g", "h"].into_iter().zip(values) {
            record.append(name, value);
        }
        let mut out = Vec::new();
        push_json(&mut out, record.finish(), JsonStyle::Compact);
        let expected = r#"{"a":null,"b":true,"c":-9223372036854775808,"d":18446744073709551615,"e":-1.5e300,"f":null,"g":"YWJj","h":[1,"\""]}"#;
        assert_eq!(String::from_utf8(out).expect("JSON is UTF-8"), expected);
    }
}
