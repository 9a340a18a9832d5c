//! IBM's Log Event Extended Format: `LEEF:1.0|vendor|product|version|event|key=value…`, attributes
//! separated by tabs, or in version 2.0 by what a further header field says.

use super::FormatError;
use super::cursor::Cursor;
use memchr::memmem;
use temblor_lang::value::{Arena, Value};

const HEADER: [&str; 4] = ["device_vendor", "device_product", "device_version", "event_id"];

/// Reads one event to `{"leef_version", "device_vendor", …, "event_id", "attributes": {…}}`; what
/// stands before `LEEF:` becomes the field `syslog`.
///
/// # Errors
/// When there is no `LEEF:` or the header is incomplete.
pub fn parse<'a>(text: &'a str, arena: &'a Arena) -> Result<Value<'a>, FormatError> {
    const START: &str = "LEEF:";
    let start = memmem::find(text.as_bytes(), START.as_bytes())
        .ok_or_else(|| FormatError::new(text, 0, "an event that begins with").wanting(START))?;
    let mut cursor = Cursor::new(text);
    let before = cursor.take(start).trim_end();
    cursor.eat(START);
    let mut record = arena.record_builder(HEADER.len() + 3);
    let version = header_field(&mut cursor)?;
    record.append("leef_version", Value::Str(version));
    for key in HEADER {
        record.append(key, Value::Str(header_field(&mut cursor)?));
    }
    let separator = if version.starts_with('2') { separator(&mut cursor) } else { '\t' };
    let mut attributes = arena.record_builder(0);
    for pair in cursor.rest().split(separator) {
        if let Some((key, value)) = pair.split_once('=') {
            attributes.insert(key.trim(), Value::Str(value.trim_end_matches(['\r', '\n'])));
        }
    }
    record.append("attributes", attributes.finish());
    if !before.is_empty() {
        record.append("syslog", Value::Str(before));
    }
    Ok(record.finish())
}

fn header_field<'a>(cursor: &mut Cursor<'a>) -> Result<&'a str, FormatError> {
    let start = *cursor;
    cursor.take_until(b'|').ok_or_else(|| start.expected("a '|' after the field of the header"))
}

/// A character, or its code as `x7c` or `0x7c`; a tab when the field is absent or empty.
fn separator(cursor: &mut Cursor<'_>) -> char {
    let start = *cursor;
    let Some(field) = cursor.take_until(b'|').filter(|field| !field.contains('=')) else {
        *cursor = start;
        return '\t';
    };
    let digits = field.strip_prefix("0x").or_else(|| field.strip_prefix('x'));
    let code = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
    code.and_then(char::from_u32).or_else(|| field.chars().next()).unwrap_or('\t')
}

#[cfg(test)]
mod tests {
    use super::*;
    use temblor_lang::value::to_json;

    #[test]
    fn reads_events() {
        let head =
            r#""device_vendor":"v","device_product":"p","device_version":"1","event_id":"e""#;
        let arena = Arena::new();
        for (text, version, rest) in [
            ("LEEF:1.0|v|p|1|e|a=1\tb=x y\n", "1.0", r#""attributes":{"a":"1","b":"x y"}"#),
            ("LEEF:2.0|v|p|1|e|^|a=1^b=2", "2.0", r#""attributes":{"a":"1","b":"2"}"#),
            ("LEEF:2.0|v|p|1|e|x7c|a=1|b=2", "2.0", r#""attributes":{"a":"1","b":"2"}"#),
            ("LEEF:2.0|v|p|1|e|a=1\tb=2", "2.0", r#""attributes":{"a":"1","b":"2"}"#),
            ("h LEEF:1.0|v|p|1|e|", "1.0", r#""attributes":{},"syslog":"h""#),
        ] {
            let expected = format!(r#"{{"leef_version":"{version}",{head},{rest}}}"#);
            assert_eq!(parse(text, &arena).map(to_json), Ok(expected), "{text}");
        }
        for text in ["", "LEEF:1.0|v|p", "CEF:0|a|"] {
            assert!(parse(text, &arena).is_err(), "{text}");
        }
    }
}
