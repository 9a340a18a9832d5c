//! ArcSight's Common Event Format: `CEF:0|vendor|product|version|class|name|severity|key=value …`,
//! with or without something (usually a syslog header) before it. Values may contain blanks.

use super::FormatError;
use super::cursor::Cursor;
use memchr::memmem;
use temblor_lang::value::{Arena, Value};

/// The fields of the header after the version, each of which ends in a bar.
const HEADER: [&str; 6] = [
    "device_vendor",
    "device_product",
    "device_version",
    "device_event_class_id",
    "name",
    "severity",
];

/// Reads one event to `{"cef_version", "device_vendor", …, "severity", "extension": {…}}`; what stands
/// before `CEF:` becomes the field `syslog`.
///
/// # Errors
/// When there is no `CEF:` or the header is incomplete.
pub fn parse<'a>(text: &'a str, arena: &'a Arena) -> Result<Value<'a>, FormatError> {
    const START: &str = "CEF:";
    let start = memmem::find(text.as_bytes(), START.as_bytes())
        .ok_or_else(|| FormatError::new(text, 0, "an event that begins with").wanting(START))?;
    let mut cursor = Cursor::new(text);
    let before = cursor.take(start).trim_end();
    cursor.eat(START);
    // Version, header, extension, and what came before.
    let mut record = arena.record_builder(HEADER.len() + 3);
    let version: u64 = cursor.number("the version of the format")?;
    record.append("cef_version", Value::UInt(version));
    let dot = cursor;
    if cursor.eat(".") && cursor.number::<u64>("").is_err() {
        cursor = dot;
    }
    cursor.expect("|")?;
    for key in HEADER {
        record.append(key, Value::Str(header_field(&mut cursor, key, arena)?));
    }
    record.append("extension", extension(cursor.rest(), arena));
    if !before.is_empty() {
        record.append("syslog", Value::Str(before));
    }
    Ok(record.finish())
}

/// Text up to the next bar without a backslash before it. The last one may end with the text.
fn header_field<'a>(
    cursor: &mut Cursor<'a>,
    key: &str,
    arena: &'a Arena,
) -> Result<&'a str, FormatError> {
    let rest = cursor.rest();
    let bytes = rest.as_bytes();
    let mut end = 0;
    loop {
        match memchr::memchr2(b'|', b'\\', &bytes[end..]) {
            Some(found) if bytes[end + found] == b'\\' => {
                end = (end + found + 2).min(bytes.len());
            }
            Some(found) => {
                end += found;
                break;
            }
            None if key == "severity" => {
                end = bytes.len();
                break;
            }
            None => return Err(cursor.expected("a '|' after the field of the header")),
        }
    }
    let field = cursor.take(end);
    cursor.eat("|");
    Ok(unescape(field.trim(), arena))
}

/// `key=value key=value`: a value ends before the last word in front of the next `=`.
fn extension<'a>(text: &'a str, arena: &'a Arena) -> Value<'a> {
    let mut record = arena.record_builder(0);
    let mut rest = text.trim();
    while let Some(equals) = find_equals(rest) {
        let key = rest[..equals].trim();
        let after = &rest[equals + 1..];
        let end = match find_equals(after) {
            None => after.len(),
            // The next key is the last word before its equals sign.
            Some(next) => after[..next].trim_end().rfind(' ').map_or(0, |blank| blank + 1),
        };
        record.insert(key, Value::Str(unescape(after[..end].trim_end(), arena)));
        rest = &after[end..];
    }
    record.finish()
}

/// The first `=` without a backslash before it.
fn find_equals(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        at += memchr::memchr2(b'=', b'\\', &bytes[at..])?;
        if bytes[at] == b'=' {
            return Some(at);
        }
        at += 2;
    }
    None
}

/// Without backslashes; `\n` and `\r` are line ends.
fn unescape<'a>(text: &'a str, arena: &'a Arena) -> &'a str {
    if memchr::memchr(b'\\', text.as_bytes()).is_none() {
        return text;
    }
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            plain.push(character);
            continue;
        }
        match characters.next() {
            Some('n') => plain.push('\n'),
            Some('r') => plain.push('\r'),
            Some(next @ ('\\' | '|' | '=')) => plain.push(next),
            Some(next) => plain.extend(['\\', next]),
            None => plain.push('\\'),
        }
    }
    arena.str(&plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use temblor_lang::value::to_json;

    fn run(text: &str) -> Result<String, String> {
        let arena = Arena::new();
        parse(text, &arena).map(to_json).map_err(|error| error.to_string())
    }

    fn event(name: &str, rest: &str) -> String {
        format!(
            r#"{{"cef_version":0,"device_vendor":"v","device_product":"p","device_version":"1","device_event_class_id":"100","name":"{name}","severity":"7",{rest}}}"#
        )
    }

    #[test]
    fn reads_events() {
        for (text, name, rest) in [
            ("CEF:0|v|p|1|100|n|7|", "n", r#""extension":{}"#),
            ("CEF:0|v|p|1|100|n|7", "n", r#""extension":{}"#),
            (
                "CEF:0|v|p|1|100|n|7|src=10.0.0.1 msg=two words  act=x",
                "n",
                r#""extension":{"src":"10.0.0.1","msg":"two words","act":"x"}"#,
            ),
            (
                r"CEF:0|v|p|1|100|a \| b \\|7|msg=a\=b\nc x=\\ y",
                r"a | b \\",
                r#""extension":{"msg":"a=b\nc","x":"\\ y"}"#,
            ),
            (
                "<13>Nov 5 10:11:12 host CEF:0|v|p|1|100|n|7|a= b=1",
                "n",
                r#""extension":{"a":"","b":"1"},"syslog":"<13>Nov 5 10:11:12 host""#,
            ),
            ("CEF:0.1|v|p|1|100|n|7|a|b=1|2", "n", r#""extension":{"a|b":"1|2"}"#),
        ] {
            assert_eq!(run(text), Ok(event(name, rest)), "{text}");
        }
    }

    #[test]
    fn tells_what_is_missing() {
        for (text, expected) in [
            ("", "expected an event that begins with \"CEF:\" at byte 0, found the end"),
            ("CEF:x|", "expected the version of the format at byte 4"),
            ("CEF:0 v", "expected the text \"|\" at byte 5"),
            ("CEF:0|v|p|1|100|n", "expected a '|' after the field of the header at byte 16"),
            (r"CEF:0|v\", "expected a '|'"),
        ] {
            let error = run(text).expect_err(text);
            assert!(error.starts_with(expected), "{text}: {error}");
        }
    }
}
