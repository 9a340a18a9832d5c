//! DogStatsD (<https://docs.datadoghq.com/developers/dogstatsd/datagram_shell/>): metrics, events and
//! service checks, each in a record of one field that tells which it is. Sections that are not known
//! are left out.

use super::cursor::Cursor;
use super::{EncodeError, FormatError};
use temblor_lang::value::{Arena, Record, RecordBuilder, Value, push_text};

const TYPES: [&str; 6] = ["c", "d", "g", "h", "ms", "s"];

/// Marks of the sections behind a metric, an event and a service check, with their fields.
const METRIC_SECTIONS: &[(&str, &str)] =
    &[("@", "sample_rate"), ("#", "tags"), ("c:", "container_id")];
const EVENT_SECTIONS: &[(&str, &str)] = &[
    ("d:", "timestamp"),
    ("h:", "hostname"),
    ("k:", "aggregation_key"),
    ("p:", "priority"),
    ("s:", "source"),
    ("t:", "type"),
    ("#", "tags"),
    ("c:", "container_id"),
];
const CHECK_SECTIONS: &[(&str, &str)] = &[
    ("d:", "timestamp"),
    ("h:", "hostname"),
    ("#", "tags"),
    ("m:", "message"),
    ("c:", "container_id"),
];

/// Reads one datagram line.
///
/// # Errors
/// Where the line stops being DogStatsD.
pub fn parse<'a>(text: &'a str, arena: &'a Arena) -> Result<Value<'a>, FormatError> {
    let mut cursor = Cursor::new(text);
    let (name, body) = if cursor.eat("_e{") {
        ("event", event(&mut cursor, arena)?)
    } else if cursor.eat("_sc|") {
        ("service_check", service_check(&mut cursor, arena)?)
    } else {
        ("metric", metric(&mut cursor, arena)?)
    };
    let mut record = arena.record_builder(1);
    record.append(name, body);
    Ok(record.finish())
}

/// Up to the next `|`, which stays, or the end.
fn part<'a>(cursor: &mut Cursor<'a>) -> &'a str {
    cursor.take_bytes(|byte| byte != b'|')
}

/// `name:1.5:2|c|@0.5|#a:b,c`
fn metric<'a>(cursor: &mut Cursor<'a>, arena: &'a Arena) -> Result<Value<'a>, FormatError> {
    let start = *cursor;
    let name = cursor.take_until(b':').ok_or_else(|| start.expected("a name and ':'"))?;
    let mut values = arena.array_builder(1);
    loop {
        let start = *cursor;
        let digits = cursor.take_bytes(|byte| byte != b':' && byte != b'|');
        let number = digits.parse().ok().filter(|number: &f64| number.is_finite());
        values.push(Value::Float(number.ok_or_else(|| start.expected("a number"))?));
        if !cursor.eat(":") {
            break;
        }
    }
    cursor.expect("|")?;
    let start = *cursor;
    let kind = part(cursor);
    if !TYPES.contains(&kind) {
        return Err(start.expected("one of the types c, d, g, h, ms and s"));
    }
    let mut record = arena.record_builder(6);
    record.append("type", Value::Str(kind));
    record.append("metric", Value::Str(name));
    record.append("values", values.finish());
    sections(cursor, METRIC_SECTIONS, arena, &mut record)?;
    Ok(record.finish())
}

/// `5,4}:title|text|d:1600000000|p:low`, with the lengths in bytes.
fn event<'a>(cursor: &mut Cursor<'a>, arena: &'a Arena) -> Result<Value<'a>, FormatError> {
    let title: usize = cursor.number("the length of the title")?;
    cursor.expect(",")?;
    let text: usize = cursor.number("the length of the text")?;
    cursor.expect("}:")?;
    let mut record = arena.record_builder(8);
    record.append("title", Value::Str(counted(cursor, title, "a title of that length")?));
    cursor.expect("|")?;
    record.append("text", Value::Str(counted(cursor, text, "a text of that length")?));
    sections(cursor, EVENT_SECTIONS, arena, &mut record)?;
    Ok(record.finish())
}

fn counted<'a>(
    cursor: &mut Cursor<'a>,
    bytes: usize,
    expected: &'static str,
) -> Result<&'a str, FormatError> {
    if !cursor.rest().is_char_boundary(bytes) {
        return Err(cursor.expected(expected));
    }
    Ok(cursor.take(bytes))
}

/// `name|0|d:1600000000|m:why`
fn service_check<'a>(cursor: &mut Cursor<'a>, arena: &'a Arena) -> Result<Value<'a>, FormatError> {
    let name = part(cursor);
    cursor.expect("|")?;
    let status: u64 = cursor.number("a status of 0 to 3")?;
    if status > 3 {
        return Err(cursor.expected("a status of 0 to 3 before this"));
    }
    let mut record = arena.record_builder(7);
    record.append("name", Value::Str(name));
    record.append("status", Value::UInt(status));
    sections(cursor, CHECK_SECTIONS, arena, &mut record)?;
    Ok(record.finish())
}

/// `|@0.5|#a:b,c|d:1`: those that are in `known`.
fn sections<'a>(
    cursor: &mut Cursor<'a>,
    known: &[(&str, &'static str)],
    arena: &'a Arena,
    record: &mut RecordBuilder<'a>,
) -> Result<(), FormatError> {
    while !cursor.rest().is_empty() {
        cursor.expect("|")?;
        let start = *cursor;
        let Some((_, field)) = known.iter().find(|(mark, _)| cursor.eat(mark)) else {
            part(cursor);
            continue;
        };
        let text = part(cursor);
        let value = match *field {
            "sample_rate" => {
                Value::Float(text.parse().map_err(|_| start.expected("a sample rate"))?)
            }
            "timestamp" => Value::UInt(text.parse().map_err(|_| start.expected("seconds"))?),
            "tags" => arena.array(text.split(',').map(Value::Str)),
            _ => Value::Str(text),
        };
        record.insert(field, value);
    }
    Ok(())
}

/// Appends the line that `value` describes.
///
/// # Errors
/// When a field that the form needs is missing or of a wrong kind.
pub fn encode<'a>(
    value: Value<'a>,
    arena: &'a Arena,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let outer = record_of("event", Some(value), arena)?;
    if let Some(metric) = outer.get("metric") {
        return encode_metric(record_of("metric", Some(metric), arena)?, arena, out);
    }
    if let Some(event) = outer.get("event") {
        return encode_event(record_of("event", Some(event), arena)?, arena, out);
    }
    let check = record_of("metric, event or service_check", outer.get("service_check"), arena)?;
    encode_check(check, arena, out)
}

fn record_of<'a>(
    field: &'static str,
    value: Option<Value<'a>>,
    arena: &'a Arena,
) -> Result<&'a Record<'a>, EncodeError> {
    let record = value.and_then(|value| value.as_record(arena));
    record.ok_or_else(|| EncodeError::new(field, "a record", value))
}

fn text_of<'a>(record: &Record<'a>, field: &'static str) -> Result<&'a str, EncodeError> {
    let found = record.get(field);
    found.and_then(Value::as_str).ok_or_else(|| EncodeError::new(field, "a text", found))
}

fn encode_metric<'a>(
    record: &Record<'a>,
    arena: &'a Arena,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let (name, kind) = (text_of(record, "metric")?, text_of(record, "type")?);
    let found = record.get("values");
    let values = found.and_then(|value| value.as_array(arena)).filter(|values| !values.is_empty());
    let values = values.ok_or_else(|| EncodeError::new("values", "an array of numbers", found))?;
    out.extend_from_slice(name.as_bytes());
    for value in values {
        let number = value
            .as_f64()
            .ok_or_else(|| EncodeError::new("values", "numbers only", Some(*value)))?;
        out.push(b':');
        push_number(*value, number, out);
    }
    out.push(b'|');
    out.extend_from_slice(kind.as_bytes());
    encode_sections(record, METRIC_SECTIONS, arena, out)
}

fn encode_event<'a>(
    record: &Record<'a>,
    arena: &'a Arena,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let (title, text) = (text_of(record, "title")?, text_of(record, "text")?);
    out.extend_from_slice(
        format!("_e{{{},{}}}:{title}|{text}", title.len(), text.len()).as_bytes(),
    );
    encode_sections(record, EVENT_SECTIONS, arena, out)
}

fn encode_check<'a>(
    record: &Record<'a>,
    arena: &'a Arena,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let found = record.get("status");
    let status = found
        .and_then(Value::as_u64)
        .ok_or_else(|| EncodeError::new("status", "a number from 0 to 3", found))?;
    out.extend_from_slice(format!("_sc|{}|{status}", text_of(record, "name")?).as_bytes());
    encode_sections(record, CHECK_SECTIONS, arena, out)
}

/// A float without a fraction has no point.
fn push_number(value: Value<'_>, number: f64, out: &mut Vec<u8>) {
    match value {
        Value::Float(_) => out.extend_from_slice(format!("{number}").as_bytes()),
        _ => push_text(out, value),
    }
}

fn encode_sections<'a>(
    record: &Record<'a>,
    known: &[(&str, &'static str)],
    arena: &'a Arena,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    for (mark, field) in known {
        let Some(value) = record.get(field) else { continue };
        out.push(b'|');
        out.extend_from_slice(mark.as_bytes());
        match *field {
            "sample_rate" | "timestamp" => {
                let number = value
                    .as_f64()
                    .ok_or_else(|| EncodeError::new(field, "a number", Some(value)))?;
                push_number(value, number, out);
            }
            "tags" => {
                let tags = value.as_array(arena);
                let tags =
                    tags.ok_or_else(|| EncodeError::new("tags", "an array of texts", Some(value)))?;
                for (at, tag) in tags.iter().enumerate() {
                    if at > 0 {
                        out.push(b',');
                    }
                    push_text(out, *tag);
                }
            }
            _ => out.extend_from_slice(text_of(record, field)?.as_bytes()),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::json;
    use temblor_lang::value::to_json;

    #[test]
    fn reads_and_writes_each_form() {
        let arena = Arena::new();
        for (line, expected) in [
            (
                "x:1:2|c|@0.5|#a:b,c",
                r#"{"metric":{"type":"c","metric":"x","values":[1.0,2.0],"sample_rate":0.5,"tags":["a:b","c"]}}"#,
            ),
            (
                "fuel:0.5|g|c:abc",
                r#"{"metric":{"type":"g","metric":"fuel","values":[0.5],"container_id":"abc"}}"#,
            ),
            (
                "_e{5,7}:title|some |t|d:1600000000|p:low|t:warning|#x",
                r#"{"event":{"title":"title","text":"some |t","timestamp":1600000000,"priority":"low","type":"warning","tags":["x"]}}"#,
            ),
            (
                "_sc|db.up|2|h:web1|#a|m:gone",
                r#"{"service_check":{"name":"db.up","status":2,"hostname":"web1","tags":["a"],"message":"gone"}}"#,
            ),
        ] {
            let value = parse(line, &arena).expect(line);
            assert_eq!(to_json(value), expected, "{line}");
            let mut out = Vec::new();
            encode(value, &arena, &mut out).expect(line);
            assert_eq!(String::from_utf8_lossy(&out), line);
        }
    }

    #[test]
    fn sections_that_are_not_known_are_left_out() {
        let arena = Arena::new();
        let value = parse("x:1|c|#a|T1656581409", &arena).expect("a metric");
        assert_eq!(
            to_json(value),
            r#"{"metric":{"type":"c","metric":"x","values":[1.0],"tags":["a"]}}"#
        );
    }

    #[test]
    fn integers_are_written_as_values() {
        let arena = Arena::new();
        let text = r#"{"metric":{"type":"c","metric":"x","values":[1,2.0,-3]}}"#;
        let value = json::parse(text, &arena).expect("JSON");
        let mut out = Vec::new();
        encode(value, &arena, &mut out).expect("a metric");
        assert_eq!(String::from_utf8_lossy(&out), "x:1:2:-3|c");
    }

    #[test]
    fn refuses_other_lines_and_values() {
        let arena = Arena::new();
        for line in [
            "",
            "x",
            "x:",
            "x:1",
            "x:a|c",
            "x:1|q",
            "x:1:|c",
            "x:1|c|@z",
            "x:inf|c",
            "_e{1}:a|b",
            "_e{9,9}:a|b",
            "_e{1,1}:é|b",
            "_e{1,1}:a,b",
            "_sc|a",
            "_sc|a|7",
            "_sc|a|x",
            "_sc|a|1|d:x",
        ] {
            assert!(parse(line, &arena).is_err(), "{line}");
        }
        for text in [
            "1",
            "{}",
            r#"{"metric":1}"#,
            r#"{"metric":{"type":"c","metric":"x","values":[]}}"#,
            r#"{"metric":{"type":"c","metric":"x","values":["1"]}}"#,
            r#"{"event":{"title":"x"}}"#,
            r#"{"service_check":{"name":"x"}}"#,
            r#"{"service_check":{"name":"x","status":1,"tags":"a"}}"#,
        ] {
            let value = json::parse(text, &arena).expect(text);
            assert!(encode(value, &arena, &mut Vec::new()).is_err(), "{text}");
        }
    }
}
