//! Between JSON and MessagePack.
//!
//! Invariant: what JSON can say goes there and back unchanged.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rmp::encode::{self, ValueWriteError};
use rmpv::ValueRef;
use serde_json::Value;

/// The type of the extension that holds a time: seconds and nanoseconds, 4 bytes each, big-endian.
pub(crate) const EVENT_TIME: i8 = 0;
const NANOSECONDS: u64 = 1_000_000_000;

/// Appends a value as JSON. Numbers that JSON has not become `null`, keys become texts.
pub(crate) fn push_json(value: &ValueRef<'_>, out: &mut Vec<u8>) {
    match value {
        ValueRef::Nil => out.extend_from_slice(b"null"),
        ValueRef::Boolean(flag) => out.extend_from_slice(if *flag { b"true" } else { b"false" }),
        ValueRef::Integer(number) => out.extend_from_slice(number.to_string().as_bytes()),
        ValueRef::F32(number) => push_text_of(f64::from(*number), out),
        ValueRef::F64(number) => push_text_of(*number, out),
        ValueRef::String(text) => push_bytes(text.as_bytes(), out),
        ValueRef::Binary(bytes) => push_bytes(bytes, out),
        ValueRef::Array(items) => {
            out.push(b'[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                push_json(item, out);
            }
            out.push(b']');
        }
        ValueRef::Map(entries) => push_record(entries, out),
        ValueRef::Ext(kind, data) => match nanoseconds(value) {
            Some(time) => out.extend_from_slice(time.to_string().as_bytes()),
            None => {
                out.extend_from_slice(format!("{{\"type\":{kind},\"data\":").as_bytes());
                push_string(&STANDARD.encode(data), out);
                out.push(b'}');
            }
        },
    }
}

fn push_record(entries: &[(ValueRef<'_>, ValueRef<'_>)], out: &mut Vec<u8>) {
    out.push(b'{');
    for (index, (key, value)) in entries.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        match key {
            ValueRef::String(_) | ValueRef::Binary(_) => push_json(key, out),
            _ => {
                let mut text = Vec::new();
                push_json(key, &mut text);
                push_bytes(&text, out);
            }
        }
        out.push(b':');
        push_json(value, out);
    }
    out.push(b'}');
}

fn push_text_of(number: f64, out: &mut Vec<u8>) {
    match serde_json::Number::from_f64(number) {
        Some(number) => out.extend_from_slice(number.to_string().as_bytes()),
        None => out.extend_from_slice(b"null"),
    }
}

fn push_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    match std::str::from_utf8(bytes) {
        Ok(text) => push_string(text, out),
        Err(_) => push_string(&STANDARD.encode(bytes), out),
    }
}

/// Appends a text as JSON.
pub(crate) fn push_string(text: &str, out: &mut Vec<u8>) {
    serde_json::to_writer(out, text).expect("a text can be written to memory");
}

/// A time in nanoseconds, from an extension, whole seconds, or seconds with a fraction.
pub(crate) fn nanoseconds(value: &ValueRef<'_>) -> Option<u64> {
    match value {
        ValueRef::Ext(EVENT_TIME, data) => {
            let (seconds, rest) = data.split_first_chunk::<4>()?;
            let fraction = u32::from_be_bytes(rest.try_into().ok()?);
            Some(u64::from(u32::from_be_bytes(*seconds)) * NANOSECONDS + u64::from(fraction))
        }
        ValueRef::Integer(seconds) => seconds.as_u64()?.checked_mul(NANOSECONDS),
        ValueRef::F64(seconds) if (0.0..1e10).contains(seconds) => {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "it is in range"
            )]
            let time = (seconds * 1e9) as u64;
            Some(time)
        }
        _ => None,
    }
}

/// Appends an entry, `[time, record]`. Times beyond the year 2106 are that.
pub(crate) fn push_entry(time_ns: u64, record: &Value, out: &mut Vec<u8>) {
    let written = (|| {
        encode::write_array_len(out, 2)?;
        encode::write_ext_meta(out, 8, EVENT_TIME)?;
        let seconds = u32::try_from(time_ns / NANOSECONDS).unwrap_or(u32::MAX);
        let fraction = u32::try_from(time_ns % NANOSECONDS).expect("it is below one second");
        out.extend_from_slice(&seconds.to_be_bytes());
        out.extend_from_slice(&fraction.to_be_bytes());
        push_value(record, out)
    })();
    written.expect("memory can be written");
}

fn push_value(value: &Value, out: &mut Vec<u8>) -> Result<(), ValueWriteError> {
    match value {
        Value::Null => encode::write_nil(out).map_err(ValueWriteError::InvalidMarkerWrite)?,
        Value::Bool(flag) => {
            encode::write_bool(out, *flag).map_err(ValueWriteError::InvalidMarkerWrite)?;
        }
        Value::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(number), _) => drop(encode::write_uint(out, number)?),
            (None, Some(number)) => drop(encode::write_sint(out, number)?),
            (None, None) => encode::write_f64(out, number.as_f64().unwrap_or(f64::NAN))?,
        },
        Value::String(text) => encode::write_str(out, text)?,
        Value::Array(items) => {
            encode::write_array_len(out, length(items.len()))?;
            items.iter().try_for_each(|item| push_value(item, out))?;
        }
        Value::Object(entries) => {
            encode::write_map_len(out, length(entries.len()))?;
            for (key, value) in entries {
                encode::write_str(out, key)?;
                push_value(value, out)?;
            }
        }
    }
    Ok(())
}

fn length(count: usize) -> u32 {
    u32::try_from(count).expect("events are bounded")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_goes_there_and_back() {
        let text = r#"{"a":[1,-2,18446744073709551615,1.5,true,false,null],"b":{"":"ä\n"},"c":{}}"#;
        let mut bytes = Vec::new();
        push_entry(1_700_000_000_000_000_001, &serde_json::from_str(text).unwrap(), &mut bytes);
        let entry = rmpv::decode::read_value_ref(&mut &bytes[..]).unwrap();
        let ValueRef::Array(parts) = entry else { panic!("an entry is an array") };
        assert_eq!(nanoseconds(&parts[0]), Some(1_700_000_000_000_000_001));
        let mut out = Vec::new();
        push_json(&parts[1], &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), text);
    }

    #[test]
    fn what_json_has_not_becomes_something_near() {
        let json = |value: ValueRef<'_>| {
            let mut out = Vec::new();
            push_json(&value, &mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(json(ValueRef::F64(f64::NAN)), "null");
        assert_eq!(json(ValueRef::Binary(b"text")), r#""text""#);
        assert_eq!(json(ValueRef::Binary(&[0xff, 0])), r#""/wA=""#);
        assert_eq!(json(ValueRef::Ext(7, &[1])), r#"{"type":7,"data":"AQ=="}"#);
        let odd = vec![(ValueRef::Integer(1.into()), ValueRef::Nil)];
        assert_eq!(json(ValueRef::Map(odd)), r#"{"1":null}"#);
    }

    #[test]
    fn times_have_three_forms() {
        assert_eq!(nanoseconds(&ValueRef::Integer(5.into())), Some(5_000_000_000));
        assert_eq!(nanoseconds(&ValueRef::F64(0.5)), Some(500_000_000));
        assert_eq!(nanoseconds(&ValueRef::Ext(0, &[0, 0, 0, 1, 0, 0, 0, 2])), Some(1_000_000_002));
        assert_eq!(nanoseconds(&ValueRef::Ext(0, &[0, 0, 0, 1])), None);
        assert_eq!(nanoseconds(&ValueRef::Integer((-1).into())), None);
    }
}
