//! Graphite's plain text, `path value seconds`, as `{"metric", "value", "timestamp"}` with the timestamp
//! in nanoseconds. A timestamp of -1 is the event's time of arrival.

use super::statsd::number_of;
use super::{EncodeError, FormatError};
use temblor_lang::value::{Arena, Value, push_text};

const NANOSECONDS_PER_SECOND: u64 = 1_000_000_000;

/// Reads one line.
///
/// # Errors
/// When the line is not three parts separated by blanks, or a number is wrong.
pub fn parse<'a>(
    text: &'a str,
    ingest_ns: u64,
    arena: &'a Arena,
) -> Result<Value<'a>, FormatError> {
    let mut parts = text.split(' ');
    let (Some(metric), Some(value), Some(seconds), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err(FormatError::new(text, 0, "a path, a value and a timestamp between blanks"));
    };
    let value_at = metric.len() + 1;
    let unsigned = value.trim_start_matches('+');
    let number = match unsigned.strip_prefix('-') {
        Some(digits) => number_of(digits, true),
        None => number_of(unsigned, false),
    };
    let number = number.ok_or_else(|| FormatError::new(text, value_at, "a number"))?;
    let timestamp = match seconds {
        "-1" => Some(ingest_ns),
        _ => seconds.parse::<u64>().ok().and_then(|s| s.checked_mul(NANOSECONDS_PER_SECOND)),
    };
    let timestamp = timestamp.ok_or_else(|| {
        FormatError::new(text, value_at + value.len() + 1, "a timestamp in seconds")
    })?;
    let mut record = arena.record_builder(3);
    record.append("metric", Value::Str(metric));
    record.append("value", number);
    record.append("timestamp", Value::UInt(timestamp));
    Ok(record.finish())
}

/// Appends the line that `value` describes; parts of a second are cut off.
///
/// # Errors
/// When a field is missing or of a wrong kind.
pub fn encode<'a>(
    value: Value<'a>,
    arena: &'a Arena,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let record =
        value.as_record(arena).ok_or_else(|| EncodeError::new("event", "a record", Some(value)))?;
    let wrong = |field, expected| EncodeError::new(field, expected, record.get(field));
    let metric =
        record.get("metric").and_then(Value::as_str).ok_or_else(|| wrong("metric", "a text"))?;
    let number = record
        .get("value")
        .filter(|value| value.as_f64().is_some())
        .ok_or_else(|| wrong("value", "a number"))?;
    let timestamp = record
        .get("timestamp")
        .and_then(Value::as_u64)
        .ok_or_else(|| wrong("timestamp", "a time in nanoseconds"))?;
    out.extend_from_slice(metric.as_bytes());
    out.push(b' ');
    push_text(out, number);
    out.push(b' ');
    push_text(out, Value::UInt(timestamp / NANOSECONDS_PER_SECOND));
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
            ("a.b 1 12", r#"{"metric":"a.b","value":1,"timestamp":12000000000}"#),
            ("a.b -2.5 12", r#"{"metric":"a.b","value":-2.5,"timestamp":12000000000}"#),
        ] {
            let value = parse(line, 7, &arena).expect(line);
            assert_eq!(to_json(value), expected, "{line}");
            let mut out = Vec::new();
            encode(value, &arena, &mut out).expect(line);
            assert_eq!(String::from_utf8_lossy(&out), line);
        }
        let now = parse("a 1 -1", 7, &arena).map(to_json);
        assert_eq!(now.as_deref(), Ok(r#"{"metric":"a","value":1,"timestamp":7}"#));
    }

    #[test]
    fn refuses_other_lines() {
        let arena = Arena::new();
        for (line, expected) in [
            ("a 1", "expected a path, a value and a timestamp between blanks at byte 0"),
            ("a x 1", "expected a number at byte 2"),
            ("a 1 -2", "expected a timestamp in seconds at byte 4"),
            ("a 1 18446744073709551615", "expected a timestamp in seconds at byte 4"),
            ("a 1 2 3", "expected a path"),
        ] {
            let error = parse(line, 0, &arena).expect_err(line).to_string();
            assert!(error.starts_with(expected), "{line}: {error}");
        }
    }
}
