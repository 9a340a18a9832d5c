//! The four modes of a message, and the acknowledgement that it asks for.

use rmp::encode;
use rmpv::ValueRef;
use temblor_runtime::intake::Messages;

use super::pack;
use super::scan::Scan;
use crate::unpack;

/// What a message brought.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    /// Its events.
    pub messages: Messages,
    /// The acknowledgement, if one is asked for.
    pub answer: Vec<u8>,
}

/// Takes a whole message: `[tag, time, record, option?]`, `[tag, entries, option?]`, or
/// `[tag, packed entries, option?]`. Anything but an array is a sign of life, and brings nothing.
///
/// # Errors
/// A sentence: this is no message.
pub(crate) fn take(bytes: &[u8], unpacked_bytes_max: usize) -> Result<Taken, String> {
    let message =
        rmpv::decode::read_value_ref(&mut &bytes[..]).map_err(|error| error.to_string())?;
    let ValueRef::Array(parts) = message else { return Ok(Taken::default()) };
    let tag = parts.first().and_then(text).ok_or("a message begins with its tag, a text")?;
    let mut taken = Taken::default();
    let option = match parts.get(1) {
        Some(ValueRef::Array(entries)) => {
            entries.iter().try_for_each(|entry| push_entry(&tag, entry, &mut taken.messages))?;
            parts.get(2)
        }
        Some(ValueRef::Binary(packed)) => {
            push_packed(&tag, packed, parts.get(2), unpacked_bytes_max, &mut taken.messages)?;
            parts.get(2)
        }
        Some(ValueRef::String(packed)) => {
            let option = parts.get(2);
            push_packed(&tag, packed.as_bytes(), option, unpacked_bytes_max, &mut taken.messages)?;
            option
        }
        Some(time) => {
            let record = parts.get(2).ok_or("a message has a record behind its time")?;
            push(&tag, time, record, &mut taken.messages)?;
            parts.get(3)
        }
        None => return Err("a message has more than a tag".to_string()),
    };
    if let Some(chunk) = option.and_then(|option| entry_of(option, "chunk")).and_then(text) {
        taken.answer = acknowledgement(&chunk);
    }
    Ok(taken)
}

/// `{"ack": chunk}`.
fn acknowledgement(chunk: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let written = encode::write_map_len(&mut out, 1)
        .and_then(|_| encode::write_str(&mut out, "ack"))
        .and_then(|()| encode::write_str(&mut out, chunk));
    written.expect("memory can be written");
    out
}

fn push_packed(
    tag: &str,
    packed: &[u8],
    option: Option<&ValueRef<'_>>,
    bytes_max: usize,
    messages: &mut Messages,
) -> Result<(), String> {
    let compression = option.and_then(|option| entry_of(option, "compressed")).and_then(text);
    let unpacked = match compression.as_deref() {
        None | Some("text" | "") => None,
        Some("gzip") => Some(unpack::gzip(packed, bytes_max)?),
        Some(other) => return Err(format!("chunks may be compressed by gzip, not by `{other}`")),
    };
    let mut rest = unpacked.as_deref().unwrap_or(packed);
    while !rest.is_empty() {
        let end = Scan::default().end(rest, usize::MAX)?;
        let end = end.ok_or("the packed entries end within an entry")?;
        let (mut entry, behind) = rest.split_at(end);
        let value = rmpv::decode::read_value_ref(&mut entry).map_err(|error| error.to_string())?;
        push_entry(tag, &value, messages)?;
        rest = behind;
    }
    Ok(())
}

/// `[time, record]`, or with metadata `[[time, metadata], record]`.
fn push_entry(tag: &str, entry: &ValueRef<'_>, messages: &mut Messages) -> Result<(), String> {
    match entry {
        ValueRef::Array(parts) => match &parts[..] {
            [time, record, ..] => push(tag, time, record, messages),
            _ => Err("an entry is an array of a time and a record".to_string()),
        },
        _ => Err("an entry is an array of a time and a record".to_string()),
    }
}

fn push(
    tag: &str,
    time: &ValueRef<'_>,
    record: &ValueRef<'_>,
    messages: &mut Messages,
) -> Result<(), String> {
    let (time, metadata) = match time {
        ValueRef::Array(parts) => (parts.first().unwrap_or(&ValueRef::Nil), parts.get(1)),
        _ => (time, None),
    };
    let time = pack::nanoseconds(time).ok_or("the time of an entry is a number or an EventTime")?;
    let mut meta = b"{\"fluent\":{\"tag\":".to_vec();
    pack::push_string(tag, &mut meta);
    meta.extend_from_slice(format!(",\"time\":{time}").as_bytes());
    if let Some(metadata @ ValueRef::Map(entries)) = metadata
        && !entries.is_empty()
    {
        meta.extend_from_slice(b",\"metadata\":");
        pack::push_json(metadata, &mut meta);
    }
    meta.extend_from_slice(b"}}");
    let mut event = Vec::new();
    pack::push_json(record, &mut event);
    messages.push(&String::from_utf8_lossy(&meta), &event);
    Ok(())
}

/// The value of a key of a map.
pub(crate) fn entry_of<'a, 'b>(map: &'b ValueRef<'a>, key: &str) -> Option<&'b ValueRef<'a>> {
    let ValueRef::Map(entries) = map else { return None };
    entries.iter().find(|(name, _)| text(name).as_deref() == Some(key)).map(|(_, value)| value)
}

/// A text, which some clients send as binary.
pub(crate) fn text(value: &ValueRef<'_>) -> Option<String> {
    match value {
        ValueRef::String(text) => text.as_str().map(str::to_string),
        ValueRef::Binary(bytes) => std::str::from_utf8(bytes).ok().map(str::to_string),
        _ => None,
    }
}

/// The bytes of a text or of binary.
pub(crate) fn bytes_of<'b>(value: &'b ValueRef<'_>) -> Option<&'b [u8]> {
    match value {
        ValueRef::String(text) => Some(text.as_bytes()),
        ValueRef::Binary(bytes) => Some(bytes),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rmpv::Value;

    fn bytes(value: &Value) -> Vec<u8> {
        let mut bytes = Vec::new();
        rmpv::encode::write_value(&mut bytes, value).unwrap();
        bytes
    }

    fn record(number: i64) -> Value {
        Value::Map(vec![(Value::from("n"), Value::from(number))])
    }

    fn entry(number: i64) -> Value {
        Value::Array(vec![Value::from(5), record(number)])
    }

    fn option(entries: &[(&str, &str)]) -> Value {
        let pair = |(key, value): &(&str, &str)| (Value::from(*key), Value::from(*value));
        Value::Map(entries.iter().map(pair).collect())
    }

    /// The events as texts, with their metadata.
    fn events(parts: Vec<Value>) -> (Vec<String>, Vec<u8>) {
        let mut taken = take(&bytes(&Value::Array(parts)), 1 << 20).unwrap();
        let arrival = taken.messages.take();
        let mut cursor =
            temblor_runtime::framing::FrameCursor::new(arrival.framing, arrival.range.clone());
        let mut found = Vec::new();
        while let Some(range) = cursor.next(&arrival.buffer) {
            let text = |range: std::ops::Range<usize>| {
                String::from_utf8(arrival.buffer[range].to_vec()).unwrap()
            };
            found.push(format!("{} {}", text(range), text(cursor.meta())));
        }
        (found, taken.answer)
    }

    #[test]
    fn all_modes_bring_the_same_events() {
        let wanted = |numbers: &[i64]| -> Vec<String> {
            let one = |n| format!(r#"{{"n":{n}}} {{"fluent":{{"tag":"t","time":5000000000}}}}"#);
            numbers.iter().map(one).collect()
        };
        let (tag, packed) = (Value::from("t"), [bytes(&entry(1)), bytes(&entry(2))].concat());
        let (found, answer) = events(vec![tag.clone(), Value::from(5), record(1)]);
        assert_eq!((found, answer), (wanted(&[1]), Vec::new()));
        let forward = Value::Array(vec![entry(1), entry(2)]);
        let (found, answer) = events(vec![tag.clone(), forward, option(&[("chunk", "c7")])]);
        assert_eq!((found, answer), (wanted(&[1, 2]), b"\x81\xa3ack\xa2c7".to_vec()));
        let (found, _) = events(vec![tag.clone(), Value::Binary(packed.clone())]);
        assert_eq!(found, wanted(&[1, 2]));
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut encoder, &packed).unwrap();
        let packed = Value::Binary(encoder.finish().unwrap());
        let (found, _) = events(vec![tag, packed, option(&[("compressed", "gzip")])]);
        assert_eq!(found, wanted(&[1, 2]));
    }

    #[test]
    fn entries_may_have_metadata() {
        let time = Value::Array(vec![Value::from(5), option(&[("k", "v")])]);
        let entries = Value::Array(vec![Value::Array(vec![time, record(1)])]);
        let (found, _) = events(vec![Value::from("t"), entries]);
        let meta = r#"{"fluent":{"tag":"t","time":5000000000,"metadata":{"k":"v"}}}"#;
        assert_eq!(found, [format!(r#"{{"n":1}} {meta}"#)]);
    }

    #[test]
    fn what_is_no_message_is_told() {
        let fault = |parts: Vec<Value>| take(&bytes(&Value::Array(parts)), 64).unwrap_err();
        let tag = || Value::from("t");
        assert_eq!(fault(vec![Value::from(1)]), "a message begins with its tag, a text");
        assert_eq!(fault(vec![tag()]), "a message has more than a tag");
        assert_eq!(fault(vec![tag(), Value::from(1)]), "a message has a record behind its time");
        let cut = Value::Binary(bytes(&entry(1))[..4].to_vec());
        assert_eq!(fault(vec![tag(), cut]), "the packed entries end within an entry");
        let odd = Value::Array(vec![Value::from(1)]);
        assert_eq!(fault(vec![tag(), odd]), "an entry is an array of a time and a record");
        let other = option(&[("compressed", "zstd")]);
        let packed = Value::Binary(Vec::new());
        assert!(fault(vec![tag(), packed, other]).contains("not by `zstd`"));
        assert!(take(&bytes(&Value::Nil), 64).unwrap().messages.is_empty());
    }
}
