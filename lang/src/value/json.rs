//! Values as JSON text (RFC 8259). Output is always valid JSON: bytes become a base64 string
//! (RFC 4648) and numbers that JSON cannot hold become `null`.

use super::record::Part;
use super::{Value, deeper};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// How JSON is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonStyle {
    /// No blanks, fields in the order of the record.
    Compact,
    /// No blanks, fields sorted by key at every level.
    Sorted,
    /// Two blanks a level, fields in the order of the record.
    Pretty,
    /// As [`JsonStyle::Compact`], but the fields of an event that nobody has changed are written
    /// as they came in, with their blanks and spellings.
    AsRead,
}

/// The value as compact JSON.
#[must_use]
pub fn to_json(value: Value<'_>) -> String {
    let mut text = Vec::new();
    push_json(&mut text, value, JsonStyle::Compact);
    String::from_utf8(text).expect("JSON output is UTF-8")
}

/// Appends the value as JSON to `out`.
pub fn push_json(out: &mut Vec<u8>, value: Value<'_>, style: JsonStyle) {
    match style {
        JsonStyle::Compact => push_compact(out, value),
        JsonStyle::Sorted => push_sorted(out, value),
        JsonStyle::Pretty => push_pretty(out, value, 0),
        JsonStyle::AsRead => push_as_read(out, value),
    }
}

/// Appends the value as text: a string as it is, anything else as compact JSON.
pub fn push_text(out: &mut Vec<u8>, value: Value<'_>) {
    match value {
        Value::Str(text) => out.extend_from_slice(text.as_bytes()),
        _ => push_compact(out, value),
    }
}

fn push_compact(out: &mut Vec<u8>, value: Value<'_>) {
    match value {
        Value::Array(items) => deeper(|| push_items(out, items.iter().copied(), push_compact)),
        Value::Record(record) => deeper(|| push_fields(out, record.iter(), push_compact)),
        Value::Lazy(lazy) if lazy.is_record() => push_fields(out, lazy.fields(), push_compact),
        Value::Lazy(lazy) => push_items(out, lazy.elements(), push_compact),
        scalar => push_scalar(out, scalar),
    }
}

fn push_as_read(out: &mut Vec<u8>, value: Value<'_>) {
    let Value::Record(record) = value else { return push_compact(out, value) };
    out.push(b'{');
    for (at, part) in record.parts().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        match part {
            Part::Text(text) => out.extend_from_slice(text),
            Part::Field(key, value) => {
                push_json_string(out, key);
                out.push(b':');
                push_compact(out, value);
            }
        }
    }
    out.push(b'}');
}

fn push_sorted(out: &mut Vec<u8>, value: Value<'_>) {
    match value {
        Value::Array(items) => deeper(|| push_items(out, items.iter().copied(), push_sorted)),
        Value::Record(record) => deeper(|| push_fields(out, sorted(record.iter()), push_sorted)),
        Value::Lazy(lazy) if lazy.is_record() => {
            push_fields(out, sorted(lazy.fields()), push_sorted)
        }
        Value::Lazy(lazy) => push_items(out, lazy.elements(), push_sorted),
        scalar => push_scalar(out, scalar),
    }
}

fn sorted<'a>(
    fields: impl Iterator<Item = (&'a str, Value<'a>)>,
) -> impl Iterator<Item = (&'a str, Value<'a>)> {
    let mut fields: Vec<_> = fields.collect();
    fields.sort_unstable_by_key(|(key, _)| *key);
    fields.into_iter()
}

fn push_items<'a>(
    out: &mut Vec<u8>,
    items: impl Iterator<Item = Value<'a>>,
    push: fn(&mut Vec<u8>, Value<'_>),
) {
    out.push(b'[');
    for (at, item) in items.enumerate() {
        if at > 0 {
            out.push(b',');
        }
        push(out, item);
    }
    out.push(b']');
}

fn push_fields<'a>(
    out: &mut Vec<u8>,
    fields: impl Iterator<Item = (&'a str, Value<'a>)>,
    push: fn(&mut Vec<u8>, Value<'_>),
) {
    out.push(b'{');
    for (at, (key, value)) in fields.enumerate() {
        if at > 0 {
            out.push(b',');
        }
        push_json_string(out, key);
        out.push(b':');
        push(out, value);
    }
    out.push(b'}');
}

fn push_pretty(out: &mut Vec<u8>, value: Value<'_>, depth: usize) {
    match value.size() {
        None | Some(0) => return push_compact(out, value),
        Some(_) => {}
    }
    match value {
        Value::Array(items) => deeper(|| pretty_items(out, items.iter().copied(), depth)),
        Value::Record(record) => deeper(|| pretty_fields(out, record.iter(), depth)),
        Value::Lazy(lazy) if lazy.is_record() => pretty_fields(out, lazy.fields(), depth),
        Value::Lazy(lazy) => pretty_items(out, lazy.elements(), depth),
        scalar => push_scalar(out, scalar),
    }
}

fn pretty_items<'a>(out: &mut Vec<u8>, items: impl Iterator<Item = Value<'a>>, depth: usize) {
    out.push(b'[');
    for (at, item) in items.enumerate() {
        new_line(out, at > 0, depth + 1);
        push_pretty(out, item, depth + 1);
    }
    new_line(out, false, depth);
    out.push(b']');
}

fn pretty_fields<'a>(
    out: &mut Vec<u8>,
    fields: impl Iterator<Item = (&'a str, Value<'a>)>,
    depth: usize,
) {
    out.push(b'{');
    for (at, (key, value)) in fields.enumerate() {
        new_line(out, at > 0, depth + 1);
        push_json_string(out, key);
        out.extend_from_slice(b": ");
        push_pretty(out, value, depth + 1);
    }
    new_line(out, false, depth);
    out.push(b'}');
}

fn new_line(out: &mut Vec<u8>, after_comma: bool, depth: usize) {
    if after_comma {
        out.push(b',');
    }
    out.push(b'\n');
    out.extend(std::iter::repeat_n(b' ', depth * 2));
}

fn push_scalar(out: &mut Vec<u8>, value: Value<'_>) {
    match value {
        Value::Bool(true) => out.extend_from_slice(b"true"),
        Value::Bool(false) => out.extend_from_slice(b"false"),
        Value::Int(number) => out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes()),
        Value::UInt(number) => out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes()),
        Value::Float(number) if number.is_finite() => {
            out.extend_from_slice(ryu::Buffer::new().format_finite(number).as_bytes());
        }
        Value::Str(text) => push_json_string(out, text),
        Value::Bytes(bytes) => push_json_string(out, &STANDARD.encode(bytes)),
        _ => out.extend_from_slice(b"null"),
    }
}

/// Appends `text` as a JSON string with its quotes.
pub fn push_json_string(out: &mut Vec<u8>, text: &str) {
    out.reserve(text.len() + 2);
    out.push(b'"');
    if needs_escape(text.as_bytes()) {
        push_escaped(out, text.as_bytes());
    } else {
        out.extend_from_slice(text.as_bytes());
    }
    out.push(b'"');
}

/// Whether some byte must not stand in a JSON string as it is. Works on whole words, the last of
/// which may overlap the one before, so that there is no walk over a remainder.
#[inline]
fn needs_escape(bytes: &[u8]) -> bool {
    if let Some(last) = bytes.last_chunk::<16>() {
        let (blocks, _) = bytes.as_chunks::<16>();
        return blocks.iter().any(block_needs_escape) || block_needs_escape(last);
    }
    match (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        (Some(first), Some(last)) => {
            word_needs_escape(u64::from_le_bytes(*first))
                || word_needs_escape(u64::from_le_bytes(*last))
        }
        _ => bytes.iter().any(|byte| byte_needs_escape(*byte)),
    }
}

#[inline]
fn byte_needs_escape(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

/// Without a branch, so that the compiler makes vector instructions of it.
#[inline]
fn block_needs_escape(block: &[u8; 16]) -> bool {
    block.iter().fold(false, |any, byte| any | byte_needs_escape(*byte))
}

/// Eight bytes at once; see "Bit Twiddling Hacks" (S. E. Anderson), "Determine if a word has a
/// byte less than n". Bytes beyond ASCII are never escaped.
#[inline]
fn word_needs_escape(word: u64) -> bool {
    const ONES: u64 = u64::from_ne_bytes([0x01; 8]);
    const TOPS: u64 = u64::from_ne_bytes([0x80; 8]);
    let below = |word: u64, limit: u8| word.wrapping_sub(ONES * u64::from(limit)) & !word;
    let quote = word ^ (ONES * u64::from(b'"'));
    let backslash = word ^ (ONES * u64::from(b'\\'));
    (below(word, 0x20) | below(quote, 1) | below(backslash, 1)) & TOPS != 0
}

fn push_escaped(out: &mut Vec<u8>, text: &[u8]) {
    let mut rest = text;
    while let Some(at) = first_escape(rest) {
        out.extend_from_slice(&rest[..at]);
        push_escape(out, rest[at]);
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
}

fn push_escape(out: &mut Vec<u8>, byte: u8) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let short = match byte {
        b'"' => b'"',
        b'\\' => b'\\',
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        0x08 => b'b',
        0x0c => b'f',
        _ => {
            out.extend_from_slice(b"\\u00");
            out.push(HEX[usize::from(byte >> 4)]);
            out.push(HEX[usize::from(byte & 15)]);
            return;
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}

/// The place of the first byte that must be escaped.
fn first_escape(bytes: &[u8]) -> Option<usize> {
    let (blocks, _) = bytes.as_chunks::<16>();
    let clean = blocks.iter().take_while(|block| !block_needs_escape(block)).count() * 16;
    bytes[clean..].iter().position(|byte| byte_needs_escape(*byte)).map(|at| clean + at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_at_every_place_is_seen() {
        for length in 1..40 {
            for place in 0..length {
                for byte in 0..128_u8 {
                    let mut text = vec![b'x'; length];
                    text[place] = byte;
                    assert_eq!(
                        needs_escape(&text),
                        byte_needs_escape(byte),
                        "byte {byte} at {place} of {length}"
                    );
                }
            }
        }
        assert!(!needs_escape("äöü€ßäöü".as_bytes()));
    }
}
