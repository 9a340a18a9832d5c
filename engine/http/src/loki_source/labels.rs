//! Labels as Prometheus writes them: `{job="app", level="info"}`.
//!
//! Invariant: one pass over the text; a value has the escapes of Go's strings, or stands between backquotes.

use serde_json::{Map, Value};

/// The labels of a text, as a record.
///
/// # Errors
/// Where it is not what it should be.
pub(super) fn parse(text: &str) -> Result<Value, String> {
    let wrong = |rest: &str| {
        let at = text.len() - rest.len();
        format!("the labels `{text}` are wrong at byte {at}: expected {{name=\"value\", …}}")
    };
    let mut rest = text.trim();
    rest = rest.strip_prefix('{').ok_or_else(|| wrong(rest))?.trim_start();
    let mut labels = Map::new();
    loop {
        if let Some(end) = rest.strip_prefix('}') {
            return if end.is_empty() { Ok(Value::Object(labels)) } else { Err(wrong(end)) };
        }
        let (name, behind) = rest.split_once('=').ok_or_else(|| wrong(rest))?;
        let name = name.trim();
        let fits =
            |character: char| character.is_ascii_alphanumeric() || "_:.-".contains(character);
        if name.is_empty() || !name.chars().all(fits) {
            return Err(wrong(rest));
        }
        let behind = behind.trim_start();
        let (value, after) = quoted(behind).ok_or_else(|| wrong(behind))?;
        labels.insert(name.to_string(), value.into());
        let after = after.trim_start();
        rest = match after.strip_prefix(',') {
            Some(more) => more.trim_start(),
            None if after.starts_with('}') => after,
            None => return Err(wrong(after)),
        };
    }
}

/// The text of a quoted string, and what stands behind it.
fn quoted(text: &str) -> Option<(String, &str)> {
    if let Some(raw) = text.strip_prefix('`') {
        let (value, rest) = raw.split_once('`')?;
        return Some((value.to_string(), rest));
    }
    let mut value = Vec::new();
    let mut characters = text.strip_prefix('"')?.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => {
                let value = String::from_utf8_lossy(&value).into_owned();
                return Some((value, &text[1 + at + 1..]));
            }
            '\\' => escape(&mut characters, &mut value)?,
            other => value.extend_from_slice(other.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    None
}

/// What stands behind a backslash.
fn escape(characters: &mut std::str::CharIndices<'_>, value: &mut Vec<u8>) -> Option<()> {
    let (byte, digits) = match characters.next()?.1 {
        'a' => (7, 0),
        'b' => (8, 0),
        'f' => (12, 0),
        'n' => (b'\n', 0),
        'r' => (b'\r', 0),
        't' => (b'\t', 0),
        'v' => (11, 0),
        same @ ('\\' | '"' | '\'') => (same as u8, 0),
        'x' => (0, 2),
        'u' => (0, 4),
        'U' => (0, 8),
        _ => return None,
    };
    if digits == 0 {
        value.push(byte);
        return Some(());
    }
    let mut number = 0;
    for _ in 0..digits {
        number = number * 16 + characters.next()?.1.to_digit(16)?;
    }
    if digits == 2 {
        // A byte of UTF-8.
        value.push(u8::try_from(number).ok()?);
        return Some(());
    }
    let character = char::from_u32(number)?;
    value.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_names_and_quoted_values() {
        for (text, wanted) in [
            ("{}", "{}"),
            (" { } ", "{}"),
            (r#"{a="b"}"#, r#"{"a":"b"}"#),
            (r#"{ a = "b" , c="d=}," , }"#, r#"{"a":"b","c":"d=},"}"#),
            (r#"{a="\"\\\n\t\u00e4\xc3\xa4"}"#, r#"{"a":"\"\\\n\tää"}"#),
            ("{a=`b\\n\"`}", r#"{"a":"b\\n\""}"#),
            ("{service.name=\"x\"}", r#"{"service.name":"x"}"#),
        ] {
            assert_eq!(parse(text).map(|labels| labels.to_string()), Ok(wanted.into()), "{text}");
        }
    }

    #[test]
    fn what_are_no_labels_is_told_by_its_place() {
        for (text, at) in [
            ("", 0),
            ("a=\"b\"", 0),
            ("{a}", 1),
            ("{a=b}", 3),
            ("{a=\"b}", 3),
            ("{a=\"b\"", 6),
            ("{a=\"b\" c=\"d\"}", 7),
            ("{=\"b\"}", 1),
            ("{a b=\"c\"}", 1),
            ("{a=\"\\q\"}", 3),
            ("{a=\"b\"}x", 7),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(&format!("at byte {at}:")), "{text}: {error}");
        }
    }
}
