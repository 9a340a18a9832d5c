//! Logfmt: `level=info msg="two words" ok`. A word without `=` is `true`; a line must have at least
//! one pair.

use super::FormatError;
use super::cursor::Cursor;
use temblor_lang::value::{Arena, Value};

/// The pairs of one line as a record; of a repeated key the last.
///
/// # Errors
/// When a quote is not closed, a key is missing, or there is no pair at all.
pub fn parse<'a>(text: &'a str, arena: &'a Arena) -> Result<Value<'a>, FormatError> {
    let mut cursor = Cursor::new(text);
    let mut record = arena.record_builder(0);
    let mut any_pair = false;
    loop {
        cursor.take_bytes(|byte| byte <= b' ');
        if cursor.rest().is_empty() {
            break;
        }
        let key = cursor.take_bytes(|byte| byte > b' ' && byte != b'=' && byte != b'"');
        if key.is_empty() {
            return Err(cursor.expected("a key"));
        }
        let value = if cursor.eat("=") {
            any_pair = true;
            Value::Str(value(&mut cursor, arena)?)
        } else if cursor.peek() == Some(b'"') {
            return Err(cursor.expected("'=' or a blank after the key"));
        } else {
            Value::Bool(true)
        };
        record.insert(key, value);
    }
    if any_pair { Ok(record.finish()) } else { Err(FormatError::new(text, 0, "a pair key=value")) }
}

fn value<'a>(cursor: &mut Cursor<'a>, arena: &'a Arena) -> Result<&'a str, FormatError> {
    let start = *cursor;
    if !cursor.eat("\"") {
        return Ok(cursor.take_bytes(|byte| byte > b' '));
    }
    let bytes = cursor.rest().as_bytes();
    let (mut end, mut escaped) = (0, false);
    loop {
        let found = memchr::memchr2(b'"', b'\\', &bytes[end..])
            .ok_or_else(|| start.expected("a closing quote for the value"))?;
        end += found;
        if bytes[end] == b'"' {
            break;
        }
        escaped = true;
        end = (end + 2).min(bytes.len());
    }
    let raw = cursor.take(end);
    cursor.eat("\"");
    Ok(if escaped { unescape(raw, arena) } else { raw })
}

/// Without the backslashes of `\"`, `\\`, `\n`, `\r` and `\t`.
fn unescape<'a>(text: &'a str, arena: &'a Arena) -> &'a str {
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match (character, if character == '\\' { characters.next() } else { None }) {
            ('\\', Some('n')) => plain.push('\n'),
            ('\\', Some('r')) => plain.push('\r'),
            ('\\', Some('t')) => plain.push('\t'),
            ('\\', Some(next @ ('"' | '\\'))) => plain.push(next),
            ('\\', Some(next)) => plain.extend(['\\', next]),
            (character, _) => plain.push(character),
        }
    }
    arena.str(&plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use temblor_lang::value::to_json;

    #[test]
    fn reads_lines() {
        let arena = Arena::new();
        for (text, expected) in [
            (r#"level=info msg="two words" ok"#, r#"{"level":"info","msg":"two words","ok":true}"#),
            (r#"a= b="" c=1=2"#, r#"{"a":"","b":"","c":"1=2"}"#),
            (r#"a="x\"y\\\n\d" é=ü"#, r#"{"a":"x\"y\\\n\\d","é":"ü"}"#),
            ("  a=1\ta=2 \n", r#"{"a":"2"}"#),
        ] {
            assert_eq!(parse(text, &arena).map(to_json).as_deref(), Ok(expected), "{text}");
        }
        for (text, expected) in [
            ("plain words", "expected a pair key=value at byte 0"),
            ("", "expected a pair"),
            ("=1", "expected a key at byte 0"),
            (r#"a="x"#, "expected a closing quote for the value at byte 2"),
            (r#"a="x\"#, "expected a closing quote"),
            (r#"a"b"=1"#, "expected '=' or a blank after the key at byte 1"),
        ] {
            let error = parse(text, &arena).expect_err(text).to_string();
            assert!(error.starts_with(expected), "{text}: {error}");
        }
    }
}
