//! JSON text that is put together from parts (RFC 8259).

/// Appends a text as a JSON string.
pub(crate) fn push_text(text: &str, out: &mut String) {
    out.push('"');
    let mut start = 0;
    for (at, byte) in text.bytes().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.push_str(&text[start..at]);
        start = at + 1;
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            _ => out.push_str(&format!("\\u{byte:04x}")),
        }
    }
    out.push_str(&text[start..]);
    out.push('"');
}

/// A text as a JSON string.
#[must_use]
pub(crate) fn text(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    push_text(text, &mut out);
    out
}

/// Appends `"name":` to a record, with a comma where one is needed.
pub(crate) fn push_key(name: &str, out: &mut String) {
    if !out.ends_with('{') {
        out.push(',');
    }
    push_text(name, out);
    out.push(':');
}

/// Appends `"name":"value"` to a record.
pub(crate) fn push_entry(name: &str, value: &str, out: &mut String) {
    push_key(name, out);
    push_text(value, out);
}

/// A text without the mark of UTF-8 (U+FEFF) in front, which some clients write (RFC 8259, section 8.1).
#[must_use]
pub(crate) fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_escaped_as_json_wants_it() {
        let hard = "a\"b\\c\n\r\t\u{1}ä€\u{1f600}";
        let read: String = serde_json::from_str(&text(hard)).unwrap();
        assert_eq!(read, hard);
        let mut record = "{".to_string();
        push_entry("a", "1", &mut record);
        push_entry("b", "2", &mut record);
        assert_eq!(record, r#"{"a":"1","b":"2""#);
    }
}
