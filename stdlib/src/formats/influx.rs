//! InfluxDB line protocol: `measurement,tag=value field=1i,other="text" timestamp`. A line without a
//! timestamp has the event's time of arrival; an empty line or a comment is no point.

use super::{EncodeError, FormatError};
use std::borrow::Cow;
use temblor_lang::value::{Arena, Record, RecordBuilder, Value, push_text};

/// The point on a line as `{"measurement", "tags", "fields", "timestamp"}`; `None` when the line is
/// empty or a comment.
///
/// # Errors
/// Where the line stops being line protocol.
pub fn parse<'a>(
    text: &'a str,
    ingest_ns: u64,
    arena: &'a Arena,
) -> Result<Option<Value<'a>>, FormatError> {
    let line = text.trim_end();
    let at = line.len() - line.trim_start().len();
    let mut reader = Reader { line, at, arena };
    if reader.rest().is_empty() || reader.rest().starts_with('#') {
        return Ok(None);
    }
    let measurement = reader.name(b", ", "',' or a blank after the measurement")?;
    let tags = reader.tags()?;
    reader.skip(b' ');
    let fields = reader.fields()?;
    let timestamp = reader.timestamp(ingest_ns)?;
    let mut record = arena.record_builder(4);
    record.append("measurement", Value::Str(measurement));
    record.append("tags", tags);
    record.append("fields", fields);
    record.append("timestamp", Value::UInt(timestamp));
    Ok(Some(record.finish()))
}

struct Reader<'a> {
    line: &'a str,
    at: usize,
    arena: &'a Arena,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.line[self.at..]
    }

    fn expected(&self, what: &'static str) -> FormatError {
        FormatError::new(self.line, self.at, what)
    }

    /// Goes past `byte` if it comes next.
    fn skip(&mut self, byte: u8) -> bool {
        let next = self.rest().as_bytes().first() == Some(&byte);
        self.at += usize::from(next);
        next
    }

    /// Text up to the first of `ends` that has no backslash before it. A backslash only escapes
    /// itself and the `ends`; before anything else it stands for itself.
    fn name(&mut self, ends: &[u8], expected: &'static str) -> Result<&'a str, FormatError> {
        let rest = self.rest();
        let bytes = rest.as_bytes();
        let mut plain = Cow::Borrowed("");
        let mut start = 0;
        let mut at = 0;
        loop {
            match bytes.get(at) {
                None => return Err(self.expected(expected)),
                Some(b'\\') => {
                    let escapes =
                        bytes.get(at + 1).is_some_and(|next| *next == b'\\' || ends.contains(next));
                    // What is not escaped keeps its backslash.
                    plain.to_mut().push_str(&rest[start..at + usize::from(!escapes)]);
                    start = at + 1;
                    at += 2;
                }
                Some(byte) if ends.contains(byte) => break,
                Some(_) => at += 1,
            }
        }
        self.at += at;
        Ok(match plain {
            Cow::Borrowed(_) => &rest[..at],
            Cow::Owned(plain) => self.arena.format(format_args!("{plain}{}", &rest[start..at])),
        })
    }

    /// `,key=value,…` up to the blank before the fields.
    fn tags(&mut self) -> Result<Value<'a>, FormatError> {
        const AFTER_VALUE: &str = "',' or a blank after the tag";
        let mut tags = self.arena.record_builder(0);
        while self.skip(b',') {
            let key = self.name(b"= ,", "'=' after the tag's name")?;
            if !self.skip(b'=') {
                return Err(self.expected("'=' after the tag's name"));
            }
            let value = self.name(b" ,", AFTER_VALUE)?;
            tags.insert(key, Value::Str(value));
        }
        Ok(tags.finish())
    }

    /// `key=value,…` up to the blank before the timestamp, which it consumes, or to the end.
    fn fields(&mut self) -> Result<Value<'a>, FormatError> {
        let mut fields = self.arena.record_builder(0);
        loop {
            self.field(&mut fields)?;
            if !self.skip(b',') {
                break;
            }
        }
        if !self.skip(b' ') && !self.rest().is_empty() {
            return Err(self.expected("',' or a blank after the field"));
        }
        Ok(fields.finish())
    }

    fn field(&mut self, fields: &mut RecordBuilder<'a>) -> Result<(), FormatError> {
        let key = self.name(b"=", "'=' after the field's name")?;
        self.at += 1;
        let value = if self.skip(b'"') {
            let text = self.name(b"\"", "the closing quote")?;
            self.at += 1;
            Value::Str(text)
        } else {
            let rest = self.rest();
            let end = rest.find([',', ' ']).unwrap_or(rest.len());
            let value = scalar(&rest[..end])
                .ok_or_else(|| self.expected("a number, a boolean or a quoted text"))?;
            self.at += end;
            value
        };
        fields.insert(key, value);
        Ok(())
    }

    fn timestamp(&self, ingest_ns: u64) -> Result<u64, FormatError> {
        if self.rest().is_empty() {
            return Ok(ingest_ns);
        }
        self.rest().parse().map_err(|_| self.expected("a timestamp in nanoseconds"))
    }
}

/// `t`, `82`, `2.5`, `3i`
fn scalar(text: &str) -> Option<Value<'static>> {
    match text {
        "t" | "T" | "true" | "True" | "TRUE" => Some(Value::Bool(true)),
        "f" | "F" | "false" | "False" | "FALSE" => Some(Value::Bool(false)),
        _ => match text.strip_suffix('i') {
            Some(integer) if integer.starts_with('-') => integer.parse().ok().map(Value::Int),
            Some(integer) => integer.parse().ok().map(Value::UInt),
            None => text.parse().ok().map(Value::Float),
        },
    }
}

/// Appends the line that `value` describes, tags and fields sorted by name. Tags that are not text
/// are left out.
///
/// # Errors
/// When `measurement`, `tags`, `fields` or `timestamp` is missing or of a wrong kind.
pub fn encode<'a>(
    value: Value<'a>,
    arena: &'a Arena,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let record =
        value.as_record(arena).ok_or_else(|| EncodeError::new("event", "a record", Some(value)))?;
    let wrong = |field, expected| EncodeError::new(field, expected, record.get(field));
    let part = |field| record.get(field).and_then(|part| part.as_record(arena));
    let measurement = record
        .get("measurement")
        .and_then(Value::as_str)
        .ok_or_else(|| wrong("measurement", "a text"))?;
    let tags = part("tags").ok_or_else(|| wrong("tags", "a record"))?;
    let fields = part("fields").ok_or_else(|| wrong("fields", "a record"))?;
    let timestamp = record
        .get("timestamp")
        .and_then(Value::as_u64)
        .ok_or_else(|| wrong("timestamp", "a time in nanoseconds"))?;
    push_escaped(measurement, b"\"\\, =", out);
    for (key, value) in sorted(tags) {
        if let Some(text) = value.as_str() {
            out.push(b',');
            push_escaped(key, b"\"\\, =", out);
            out.push(b'=');
            push_escaped(text, b"\"\\, =", out);
        }
    }
    for (number, (key, value)) in sorted(fields).into_iter().enumerate() {
        out.push(if number == 0 { b' ' } else { b',' });
        push_escaped(key, b"\"\\, =", out);
        out.push(b'=');
        push_field(value, out)?;
    }
    out.push(b' ');
    push_text(out, Value::UInt(timestamp));
    Ok(())
}

fn sorted<'a>(record: &Record<'a>) -> Vec<(&'a str, Value<'a>)> {
    let mut entries: Vec<_> = record.iter().collect();
    entries.sort_unstable_by_key(|(key, _)| *key);
    entries
}

fn push_field(value: Value<'_>, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    match value {
        Value::Str(text) => {
            out.push(b'"');
            push_escaped(text, b"\"\\", out);
            out.push(b'"');
        }
        Value::Float(_) | Value::Bool(_) => push_text(out, value),
        Value::Int(_) | Value::UInt(_) => {
            push_text(out, value);
            out.push(b'i');
        }
        _ => {
            return Err(EncodeError::new("fields", "texts, numbers and booleans", Some(value)));
        }
    }
    Ok(())
}

fn push_escaped(text: &str, special: &[u8], out: &mut Vec<u8>) {
    for byte in text.bytes() {
        if special.contains(&byte) {
            out.push(b'\\');
        }
        out.push(byte);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use temblor_lang::value::to_json;

    fn run(text: &str) -> Result<String, String> {
        let arena = Arena::new();
        match parse(text, 7, &arena) {
            Ok(value) => Ok(value.map_or("nothing".into(), to_json)),
            Err(error) => Err(error.to_string()),
        }
    }

    fn point(measurement: &str, tags: &str, fields: &str, timestamp: u64) -> String {
        format!(
            r#"{{"measurement":"{measurement}","tags":{{{tags}}},"fields":{{{fields}}},"timestamp":{timestamp}}}"#
        )
    }

    #[test]
    fn reads_points() {
        for (line, expected) in [
            ("m,h=a,r=b x=1i,y=2.5 12", point("m", r#""h":"a","r":"b""#, r#""x":1,"y":2.5"#, 12)),
            (" m x=82\n", point("m", "", r#""x":82.0"#, 7)),
            ("m a=t,b=FALSE,c=-3i", point("m", "", r#""a":true,"b":false,"c":-3"#, 7)),
            (r#"m s="a, b=\"c\" \\ \d" 1"#, point("m", "", r#""s":"a, b=\"c\" \\ \\d""#, 1)),
            (r"m\,\ \x,a\=b=c\,d e\=f=1", point(r"m, \\x", r#""a=b":"c,d""#, r#""e=f":1.0"#, 7)),
            ("m  x=1", point("m", "", r#"" x":1.0"#, 7)),
            ("m x=1,x=2", point("m", "", r#""x":2.0"#, 7)),
            ("", "nothing".into()),
            ("  # m x=1", "nothing".into()),
        ] {
            assert_eq!(run(line), Ok(expected), "{line}");
        }
    }

    #[test]
    fn tells_where_a_line_breaks() {
        for (line, expected) in [
            ("m", "expected ',' or a blank after the measurement at byte 0, found \"m\""),
            ("m,h x=1", "expected '=' after the tag's name at byte 3, found \" x=1\""),
            ("m,h=a", "expected ',' or a blank after the tag at byte 4, found \"a\""),
            ("m x", "expected '=' after the field's name at byte 2, found \"x\""),
            ("m x=a", "expected a number, a boolean or a quoted text at byte 4, found \"a\""),
            ("m x=", "expected a number, a boolean or a quoted text at byte 4, found the end"),
            ("m x=1 y", "expected a timestamp in nanoseconds at byte 6, found \"y\""),
            ("m x=\"a", "expected the closing quote at byte 5, found \"a\""),
            ("m x=\"a\"b", "expected ',' or a blank after the field at byte 7, found \"b\""),
            ("m x=18446744073709551616i", "expected a number"),
        ] {
            let error = run(line).expect_err(line);
            assert!(error.starts_with(expected), "{line}: {error}");
        }
    }

    #[test]
    fn writes_what_it_reads() {
        let arena = Arena::new();
        for line in [
            "m,h=a,r=b x=1i,y=2.5 12",
            r#"m\,\ x,a\=b=c\,d e\=f=t 1"#,
            r#"m a=-3i,s="x \"y\" \\" 7"#,
        ] {
            let value = parse(line, 0, &arena).expect(line).expect("a point");
            let mut out = Vec::new();
            encode(value, &arena, &mut out).expect(line);
            let line = line.replace("f=t", "f=true");
            assert_eq!(String::from_utf8_lossy(&out), line);
        }
        for json in ["1", "{}", r#"{"measurement":"m","tags":{},"fields":{"a":[]},"timestamp":1}"#]
        {
            let value = crate::formats::json::parse(json, &arena).expect(json);
            assert!(encode(value, &arena, &mut Vec::new()).is_err(), "{json}");
        }
    }
}
