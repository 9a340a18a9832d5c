//! StatsD lines, `name:5|c|@0.1`, as `{"metric", "type", "value", "sample_rate"}`. A sign in front of a
//! gauge's value is an `action` (`add`, `sub`); in front of any other value it is the value's own.

use super::cursor::Cursor;
use super::{EncodeError, FormatError};
use temblor_lang::value::{Arena, Value, push_text};

/// The kinds of metrics: counter, histogram, set, gauge, timer.
const TYPES: [&str; 5] = ["c", "h", "s", "g", "ms"];

/// Reads one line.
///
/// # Errors
/// Where the line stops being StatsD.
pub fn parse<'a>(text: &'a str, arena: &'a Arena) -> Result<Value<'a>, FormatError> {
    let mut cursor = Cursor::new(text);
    let metric =
        cursor.take_until(b':').ok_or_else(|| FormatError::new(text, 0, "a name and ':'"))?;
    let sign = cursor.peek().filter(|byte| matches!(byte, b'+' | b'-'));
    if sign.is_some() {
        cursor.take(1);
    }
    let digits = cursor;
    let number = cursor.take_until(b'|').ok_or_else(|| digits.expected("a number and '|'"))?;
    let start = cursor;
    let kind = cursor.take_while(|character| character != '|');
    if !TYPES.contains(&kind) {
        return Err(start.expected("one of the types c, h, s, g and ms"));
    }
    let negative = sign == Some(b'-') && kind != "g";
    let value = number_of(number, negative).ok_or_else(|| digits.expected("a number"))?;
    let mut record = arena.record_builder(5);
    record.append("metric", Value::Str(metric));
    record.append("type", Value::Str(kind));
    if let (Some(sign), "g") = (sign, kind) {
        record.append("action", Value::Str(if sign == b'-' { "sub" } else { "add" }));
    }
    record.append("value", value);
    if !cursor.rest().is_empty() {
        cursor.expect("|@")?;
        let rate = cursor.rest().parse().map_err(|_| cursor.expected("a sample rate"))?;
        record.append("sample_rate", Value::Float(rate));
    }
    Ok(record.finish())
}

/// A number with a point is a float, another one an integer.
pub(super) fn number_of(text: &str, negative: bool) -> Option<Value<'static>> {
    if !text.starts_with(|first: char| first.is_ascii_digit() || first == '.') {
        return None;
    }
    if text.contains('.') {
        let number: f64 = text.parse().ok()?;
        return Some(Value::Float(if negative { -number } else { number }));
    }
    let number: u64 = text.parse().ok()?;
    if negative {
        0_i64.checked_sub_unsigned(number).map(Value::Int)
    } else {
        Some(Value::UInt(number))
    }
}

/// Appends the line that `value` describes.
///
/// # Errors
/// When `metric`, `type` or `value` is missing or of a wrong kind.
pub fn encode<'a>(
    value: Value<'a>,
    arena: &'a Arena,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let record =
        value.as_record(arena).ok_or_else(|| EncodeError::new("event", "a record", Some(value)))?;
    let text = |field: &'static str| {
        let found = record.get(field);
        found.and_then(Value::as_str).ok_or_else(|| EncodeError::new(field, "a text", found))
    };
    let number = |field: &'static str| {
        let found = record.get(field);
        found
            .filter(|value| value.as_f64().is_some())
            .ok_or_else(|| EncodeError::new(field, "a number", found))
    };
    let (metric, kind, amount) = (text("metric")?, text("type")?, number("value")?);
    out.extend_from_slice(metric.as_bytes());
    out.push(b':');
    match record.get("action").and_then(Value::as_str) {
        Some("add") if kind == "g" => out.push(b'+'),
        Some("sub") if kind == "g" => out.push(b'-'),
        _ => {}
    }
    push_text(out, amount);
    out.push(b'|');
    out.extend_from_slice(kind.as_bytes());
    if record.get("sample_rate").is_some() {
        out.extend_from_slice(b"|@");
        push_text(out, number("sample_rate")?);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use temblor_lang::value::to_json;

    #[test]
    fn reads_and_writes_lines() {
        let arena = Arena::new();
        for (line, expected) in [
            ("x:1|c|@0.1", r#"{"metric":"x","type":"c","value":1,"sample_rate":0.1}"#),
            ("x:-5|g", r#"{"metric":"x","type":"g","action":"sub","value":5}"#),
            ("x:+5.5|g", r#"{"metric":"x","type":"g","action":"add","value":5.5}"#),
            ("x:-5|c", r#"{"metric":"x","type":"c","value":-5}"#),
            ("x.y:320|ms", r#"{"metric":"x.y","type":"ms","value":320}"#),
            ("x:7|s", r#"{"metric":"x","type":"s","value":7}"#),
        ] {
            let value = parse(line, &arena).expect(line);
            assert_eq!(to_json(value), expected, "{line}");
            let mut out = Vec::new();
            encode(value, &arena, &mut out).expect(line);
            assert_eq!(String::from_utf8_lossy(&out), line);
        }
    }

    #[test]
    fn refuses_other_lines_and_values() {
        let arena = Arena::new();
        for line in
            ["", "x", "x:", "x:1", "x:a|c", "x:1|q", "x:1|c|0.1", "x:1|c|@", "x:--1|c", "x:é|c"]
        {
            assert!(parse(line, &arena).is_err(), "{line}");
        }
        for json in [r#"{"metric":"x","type":"c"}"#, r#"{"type":"c","value":1}"#, "1"] {
            let value = crate::formats::json::parse(json, &arena).expect(json);
            assert!(encode(value, &arena, &mut Vec::new()).is_err(), "{json}");
        }
    }
}
