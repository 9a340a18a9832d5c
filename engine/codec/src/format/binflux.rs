//! `binflux`: points of InfluxDB as bytes, numbers in network order. Zero as a `u16`, the measurement,
//! the timestamp as a `u64`, a `u16` count of tags (key, text), a `u16` count of fields (key, kind,
//! value). A text is its length as a `u16` and its bytes.

use super::Bytes;
use temblor_lang::value::{Arena, Record, Value};

const INTEGER: u8 = 0;
const FLOAT: u8 = 1;
const TEXT: u8 = 2;
const TRUE: u8 = 3;
const FALSE: u8 = 4;

pub(super) fn decode<'a>(message: &'a [u8], arena: &'a Arena) -> Result<Value<'a>, String> {
    let mut bytes = Bytes { rest: message };
    let version = u16::from_be_bytes(bytes.array()?);
    if version != 0 {
        return Err(format!("a point begins with 0 as a 16-bit number, not with {version}"));
    }
    let mut record = arena.record_builder(4);
    record.append("measurement", Value::Str(text(&mut bytes)?));
    let timestamp = u64::from_be_bytes(bytes.array()?);
    let mut tags = arena.record_builder(0);
    for _ in 0..u16::from_be_bytes(bytes.array()?) {
        let key = text(&mut bytes)?;
        tags.insert(key, Value::Str(text(&mut bytes)?));
    }
    record.append("tags", tags.finish());
    let mut fields = arena.record_builder(0);
    for _ in 0..u16::from_be_bytes(bytes.array()?) {
        let key = text(&mut bytes)?;
        fields.insert(key, field(&mut bytes)?);
    }
    record.append("fields", fields.finish());
    record.append("timestamp", Value::UInt(timestamp));
    bytes.end()?;
    Ok(record.finish())
}

fn text<'a>(bytes: &mut Bytes<'a>) -> Result<&'a str, String> {
    let length = u16::from_be_bytes(bytes.array()?);
    bytes.text(usize::from(length))
}

fn field<'a>(bytes: &mut Bytes<'a>) -> Result<Value<'a>, String> {
    let [kind] = bytes.array()?;
    Ok(match kind {
        INTEGER => Value::Int(i64::from_be_bytes(bytes.array()?)),
        FLOAT => Value::Float(f64::from_be_bytes(bytes.array()?)),
        TEXT => Value::Str(text(bytes)?),
        TRUE => Value::Bool(true),
        FALSE => Value::Bool(false),
        other => return Err(format!("{other} is no kind of field: those are 0 to 4")),
    })
}

pub(super) fn encode<'a>(
    value: Value<'a>,
    arena: &'a Arena,
    out: &mut Vec<u8>,
) -> Result<(), String> {
    let point = value.as_record(arena).ok_or("a point is a record")?;
    let inner = |field: &str| {
        let found = point.get(field).and_then(|value| value.as_record(arena));
        found.ok_or_else(|| format!("the field `{field}` of a point is a record"))
    };
    let measurement = point.get("measurement").and_then(Value::as_str);
    let timestamp = point.get("timestamp").and_then(Value::as_u64);
    out.extend_from_slice(&0_u16.to_be_bytes());
    push(out, measurement.ok_or("the field `measurement` of a point is text")?)?;
    let timestamp =
        timestamp.ok_or("the field `timestamp` of a point is nanoseconds since 1970")?;
    out.extend_from_slice(&timestamp.to_be_bytes());
    push_tags(out, inner("tags")?)?;
    push_fields(out, inner("fields")?)
}

/// Tags that are not text are left out, and do not count.
fn push_tags(out: &mut Vec<u8>, tags: &Record<'_>) -> Result<(), String> {
    let texts: Vec<_> =
        tags.iter().filter_map(|(key, value)| Some((key, value.as_str()?))).collect();
    push_count(out, texts.len(), "tags")?;
    for (key, tag) in texts {
        push(out, key)?;
        push(out, tag)?;
    }
    Ok(())
}

fn push_fields(out: &mut Vec<u8>, fields: &Record<'_>) -> Result<(), String> {
    push_count(out, fields.len(), "fields")?;
    for (key, value) in fields.iter() {
        push(out, key)?;
        match value {
            Value::Int(_) | Value::UInt(_) => {
                let number = value.as_i64();
                let number =
                    number.ok_or_else(|| format!("the field `{key}` is larger than 2^63 - 1"))?;
                out.push(INTEGER);
                out.extend_from_slice(&number.to_be_bytes());
            }
            Value::Float(number) => {
                out.push(FLOAT);
                out.extend_from_slice(&number.to_be_bytes());
            }
            Value::Str(text) => {
                out.push(TEXT);
                push(out, text)?;
            }
            Value::Bool(true) => out.push(TRUE),
            Value::Bool(false) => out.push(FALSE),
            other => {
                let kind = other.kind().name();
                return Err(format!("the field `{key}` of kind {kind} cannot be part of a point"));
            }
        }
    }
    Ok(())
}

fn push_count(out: &mut Vec<u8>, count: usize, what: &str) -> Result<(), String> {
    let count = u16::try_from(count)
        .map_err(|_| format!("{count} {what} are more than the 65535 that a point can hold"))?;
    out.extend_from_slice(&count.to_be_bytes());
    Ok(())
}

fn push(out: &mut Vec<u8>, text: &str) -> Result<(), String> {
    push_count(out, text.len(), "bytes of text")?;
    out.extend_from_slice(text.as_bytes());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use temblor_lang::value::to_json;
    use temblor_stdlib::formats::json;

    const POINT: &str = r#"{"measurement":"m","tags":{"t":"é"},"fields":{"i":-5,"f":1.5,"s":"x","y":true,"n":false},"timestamp":7}"#;

    #[test]
    fn points_survive() {
        let arena = Arena::new();
        let value = json::parse(POINT, &arena).expect("JSON");
        let mut message = Vec::new();
        encode(value, &arena, &mut message).expect("a point");
        assert_eq!(to_json(decode(&message, &arena).expect("a point")), POINT);
        for cut in 0..message.len() {
            assert!(decode(&message[..cut], &arena).is_err(), "{cut}");
        }
        message.push(0);
        assert!(decode(&message, &arena).is_err());
    }

    #[test]
    fn the_bytes_are_those_of_the_format() {
        let arena = Arena::new();
        let text = r#"{"measurement":"m","tags":{"a":1,"t":"v"},"fields":{"i":1},"timestamp":2}"#;
        let value = json::parse(text, &arena).expect("JSON");
        let mut message = Vec::new();
        encode(value, &arena, &mut message).expect("a point");
        let expected =
            b"\0\0\0\x01m\0\0\0\0\0\0\0\x02\0\x01\0\x01t\0\x01v\0\x01\0\x01i\0\0\0\0\0\0\0\0\x01";
        assert_eq!(message, expected);
    }

    #[test]
    fn other_values_are_errors() {
        let arena = Arena::new();
        for (text, expected) in [
            ("1", "a point is a record"),
            (r#"{"tags":{},"fields":{},"timestamp":1}"#, "`measurement`"),
            (r#"{"measurement":"m","tags":{},"fields":{},"timestamp":"x"}"#, "`timestamp`"),
            (r#"{"measurement":"m","fields":{},"timestamp":1}"#, "`tags`"),
            (r#"{"measurement":"m","tags":{},"fields":{"a":[]},"timestamp":1}"#, "kind array"),
            (
                r#"{"measurement":"m","tags":{},"fields":{"a":18446744073709551615},"timestamp":1}"#,
                "2^63",
            ),
        ] {
            let value = json::parse(text, &arena).expect(text);
            let error = encode(value, &arena, &mut Vec::new()).expect_err(text);
            assert!(error.contains(expected), "{error}");
        }
        assert!(decode(&[0, 1, 0, 0], &arena).is_err());
    }
}
