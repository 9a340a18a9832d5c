//! Values as JSON text (RFC 8259). Output is always valid JSON: bytes become a base64 string
//! (RFC 4648) and numbers that JSON cannot hold become `null`.

use super::json_block::{FIELDS_MIN, push_by_blocks, push_named, push_parts};
use super::json_string::push_json_string;
use super::record::Entry;
use super::{Lazy, Record, Value, deeper};
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

pub(super) fn push_compact(out: &mut Vec<u8>, value: Value<'_>) {
    match value {
        Value::Array(items) => deeper(|| push_items(out, items.iter().copied(), push_compact)),
        Value::Record(record) => deeper(|| push_record(out, record)),
        Value::Lazy(lazy) => deeper(|| push_lazy(out, lazy)),
        Value::Edited(edited) => deeper(|| push_fields(out, edited.fields(), push_compact)),
        scalar => push_scalar(out, scalar),
    }
}

fn push_lazy(out: &mut Vec<u8>, lazy: Lazy<'_>) {
    if lazy.is_record() {
        push_fields(out, lazy.fields(), push_compact);
    } else {
        push_items(out, lazy.elements(), push_compact);
    }
}

fn push_as_read(out: &mut Vec<u8>, value: Value<'_>) {
    match value {
        Value::Record(record) if record.has_text() => return push_parts(out, record.parts()),
        Value::Edited(edited) => {
            if let Some(parts) = edited.parts() {
                return push_parts(out, parts);
            }
        }
        _ => {}
    }
    push_compact(out, value);
}

/// The fields of a record without blanks.
fn push_record(out: &mut Vec<u8>, record: &Record<'_>) {
    match record.named {
        Some(named) if !record.is_empty() => push_named(out, record.entries(), named),
        _ => push_entries(out, record.entries()),
    }
}

fn push_entries(out: &mut Vec<u8>, entries: &[Entry<'_>]) {
    if entries.len() >= FIELDS_MIN {
        return push_by_blocks(out, entries);
    }
    out.push(b'{');
    for (at, entry) in entries.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        push_json_string(out, entry.key);
        out.push(b':');
        push_compact(out, entry.value);
    }
    out.push(b'}');
}

fn push_sorted(out: &mut Vec<u8>, value: Value<'_>) {
    match value {
        Value::Array(items) => deeper(|| push_items(out, items.iter().copied(), push_sorted)),
        Value::Record(record) => deeper(|| push_fields(out, sorted(record.iter()), push_sorted)),
        Value::Lazy(lazy) if lazy.is_record() => {
            deeper(|| push_fields(out, sorted(lazy.fields()), push_sorted));
        }
        Value::Lazy(lazy) => deeper(|| push_items(out, lazy.elements(), push_sorted)),
        Value::Edited(edited) => {
            deeper(|| push_fields(out, sorted(edited.fields()), push_sorted));
        }
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
    push: impl Fn(&mut Vec<u8>, Value<'_>),
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
    push: impl Fn(&mut Vec<u8>, Value<'_>),
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
        Value::Lazy(lazy) if lazy.is_record() => {
            deeper(|| pretty_fields(out, lazy.fields(), depth));
        }
        Value::Lazy(lazy) => deeper(|| pretty_items(out, lazy.elements(), depth)),
        Value::Edited(edited) => deeper(|| pretty_fields(out, edited.fields(), depth)),
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
    /// Levels below this one stand as far in as it: blanks must not outgrow what they lay out.
    const INDENTED_LEVELS_MAX: usize = 256;
    out.push(b'\n');
    out.extend(std::iter::repeat_n(b' ', depth.min(INDENTED_LEVELS_MAX) * 2));
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
