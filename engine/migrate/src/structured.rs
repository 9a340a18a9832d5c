//! Structured data (RFC 5424, section 6.3) as a record of records: `[id key="value"]` is `{"id": {"key": "value"}}`.

use temblor_lang::value::{Arena, Value};

/// How many bytes of the text are structured data; `None` where it is not well-formed.
pub(crate) fn length(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while bytes.get(at) == Some(&b'[') {
        let mut is_quoted = false;
        at += 1;
        loop {
            match (*bytes.get(at)?, is_quoted) {
                (b'\\', true) => at += 1,
                (b'"', _) => is_quoted = !is_quoted,
                (b']', false) => break,
                _ => {}
            }
            at += 1;
        }
        at += 1;
    }
    (at > 0 && text.is_char_boundary(at)).then_some(at)
}

/// The elements as a record.
pub(crate) fn value<'a>(text: &'a str, arena: &'a Arena) -> Value<'a> {
    let mut elements = arena.record_builder(0);
    let mut rest = text;
    while let Some(inside) = rest.strip_prefix('[') {
        let Some(end) = length(rest) else { break };
        // The first of several: it ends where the next begins, or with all.
        let end = one(rest).unwrap_or(end);
        let (id, mut pairs) = inside[..end - 2].split_once(' ').unwrap_or((&inside[..end - 2], ""));
        let mut element = arena.record_builder(0);
        while let Some((name, behind)) = pairs.split_once("=\"") {
            let Some(close) = closing(behind) else { break };
            element.insert(name.trim(), Value::Str(unescaped(&behind[..close], arena)));
            pairs = behind[close + 1..].trim_start();
        }
        elements.insert(id, element.finish());
        rest = &rest[end..];
    }
    elements.finish()
}

/// How long the first element is.
fn one(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut at, mut is_quoted) = (1, false);
    loop {
        match (*bytes.get(at)?, is_quoted) {
            (b'\\', true) => at += 1,
            (b'"', _) => is_quoted = !is_quoted,
            (b']', false) => return Some(at + 1),
            _ => {}
        }
        at += 1;
    }
}

/// Where the quote stands that closes a value.
fn closing(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return Some(at),
            _ => at += 1,
        }
    }
    None
}

fn unescaped<'a>(text: &'a str, arena: &'a Arena) -> &'a str {
    if !text.contains('\\') {
        return text;
    }
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match (character, characters.peek()) {
            ('\\', Some(next @ ('"' | '\\' | ']'))) => {
                plain.push(*next);
                characters.next();
            }
            _ => plain.push(character),
        }
    }
    arena.str(&plain)
}

#[cfg(test)]
mod tests {
    use super::{length, value};
    use temblor_lang::value::{Arena, to_json};

    #[test]
    fn elements_become_records() {
        let arena = Arena::new();
        let text = r#"[a@1 k="v\"]" l="é"][b]"#;
        assert_eq!(length(&format!("{text} rest")), Some(text.len()));
        assert_eq!(to_json(value(text, &arena)), r#"{"a@1":{"k":"v\"]","l":"é"},"b":{}}"#);
        assert_eq!(length("[a k=\"v"), None);
        assert_eq!(length("text"), None);
        assert_eq!(to_json(value("[a k=\"", &arena)), "{}");
    }
}
