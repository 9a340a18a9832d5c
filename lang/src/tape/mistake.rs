//! Where a mistake in JSON text is. The parser's own place is that of the error, but for escapes, where
//! it counts from somewhere within the text, and for numbers that no 64-bit float holds, which it takes
//! for infinite ones when their exponents are very long.

use simd_json::{Error, ErrorType, Node, StaticNode};

/// The error for a number that no 64-bit float holds, if the tape has one.
///
/// # Errors
/// In that case; [`mistake_at`] says where.
pub fn check_numbers(nodes: &[Node<'_>]) -> Result<(), Error> {
    let is_infinite =
        |node: &Node<'_>| matches!(node, Node::Static(StaticNode::F64(n)) if n.is_infinite());
    if nodes.iter().any(is_infinite) {
        return Err(Error::generic(ErrorType::InvalidNumber));
    }
    Ok(())
}

/// The byte of `text` at which the mistake is that `error` tells of.
#[cold]
#[must_use]
pub fn mistake_at(error: &Error, text: &[u8]) -> usize {
    let found = match error.error() {
        ErrorType::InvalidUnicodeCodepoint
        | ErrorType::InvalidUnicodeEscape
        | ErrorType::InvalidEscape => first(text, |at| match text[at] {
            b'\\' if is_bad_escape(&text[at..]) => Some(at),
            _ => None,
        }),
        ErrorType::InvalidNumber if error.index() == 0 => first(text, |at| match text[at] {
            b'-' | b'0'..=b'9' => is_too_large(&text[at..]).then_some(at),
            _ => None,
        }),
        _ => None,
    };
    found.unwrap_or(error.index()).min(text.len())
}

/// What is wrong with a JSON text, in words, and at which byte.
#[cold]
#[must_use]
pub fn explain(error: &Error, text: &[u8]) -> (String, usize) {
    let at = mistake_at(error, text);
    let found = text.get(at).map(|byte| char::from(*byte)).filter(char::is_ascii_graphic);
    let what = match (error.error(), found) {
        // The parser says so of all that cannot stand where it is.
        (ErrorType::InternalError, Some(found)) => format!("unexpected `{found}`"),
        (ErrorType::InternalError, None) => "unexpected byte".to_string(),
        (ErrorType::Syntax, Some('"')) => "a text without its end".to_string(),
        (ErrorType::Syntax, _) => "it ends too early".to_string(),
        (ErrorType::InvalidNumber, _) if is_too_large(&text[at..]) => {
            "a number that is too large for 64 bits".to_string()
        }
        (ErrorType::InvalidUnicodeCodepoint | ErrorType::InvalidUnicodeEscape, Some('\\'))
            if is_half(&text[at..]) =>
        {
            "half of a surrogate pair".to_string()
        }
        (other, _) => words(other),
    };
    (what, at)
}

/// `ExpectedObjectColon` as words.
fn words(error: &ErrorType) -> String {
    format!("{error:?}").chars().fold(String::new(), |mut words, character| {
        if character.is_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.extend(character.to_lowercase());
        words
    })
}

/// Whether an escape stands for one half of a surrogate pair.
fn is_half(text: &[u8]) -> bool {
    text.get(2..6)
        .and_then(|digits| u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok())
        .is_some_and(|unit| matches!(unit, 0xd800..0xe000))
}

/// Goes through the text: escapes within strings, and the beginnings of numbers outside of them.
fn first(text: &[u8], mut found: impl FnMut(usize) -> Option<usize>) -> Option<usize> {
    let (mut at, mut in_string) = (0, false);
    while at < text.len() {
        let byte = text[at];
        let (looks, length) = match (in_string, byte) {
            (true, b'\\') => (true, escape_length(&text[at..])),
            (false, b'-' | b'0'..=b'9') => (true, number_length(&text[at..])),
            (_, b'"') => {
                in_string = !in_string;
                (false, 1)
            }
            _ => (false, 1),
        };
        if looks && let Some(found) = found(at) {
            return Some(found);
        }
        at += length;
    }
    None
}

/// The halves of a surrogate pair are one.
fn escape_length(text: &[u8]) -> usize {
    let is_half = text.get(1..4).is_some_and(|head| {
        head.eq_ignore_ascii_case(b"ud8")
            || head.eq_ignore_ascii_case(b"ud9")
            || head.eq_ignore_ascii_case(b"uda")
            || head.eq_ignore_ascii_case(b"udb")
    });
    if is_half { 12 } else { 2 }
}

fn number_length(text: &[u8]) -> usize {
    let is_part = |byte: &&u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
    text.iter().take_while(is_part).count()
}

/// Whether the text begins with a number that no 64-bit float holds.
#[must_use]
pub fn is_too_large(text: &[u8]) -> bool {
    let digits = std::str::from_utf8(&text[..number_length(text)]).unwrap_or_default();
    digits.parse().is_ok_and(f64::is_infinite)
}

fn is_bad_escape(text: &[u8]) -> bool {
    match text.get(1) {
        Some(b'u') => !is_code_point(text),
        Some(escape) => !b"\"\\/bfnrt".contains(escape),
        None => true,
    }
}

fn is_code_point(text: &[u8]) -> bool {
    let unit = |text: Option<&[u8]>| {
        let digits = std::str::from_utf8(text?.strip_prefix(b"\\u")?).ok()?;
        u32::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with('+'))
    };
    match unit(text.get(..6)) {
        Some(0xd800..0xdc00) => matches!(unit(text.get(6..12)), Some(0xdc00..0xe000)),
        Some(0xdc00..0xe000) | None => false,
        Some(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::super::Reader;
    use super::*;
    use crate::value::Arena;

    #[test]
    fn mistakes_are_found_where_they_are() {
        for (text, wanted) in [
            (r#"{"a":"\ud800"}"#, 6),
            (r#"{"a":"\n\udc00"}"#, 8),
            (r#"{"a":"\ud800\u0041","b":1}"#, 6),
            (r#"["\u0041\ud83d\ude00","\ud83d"]"#, 23),
            (r#"{"a":"x\q"}"#, 7),
            (r#"{"a":"x\u12g4"}"#, 7),
            (r#"{"a": 1.0e999999999}"#, 6),
            (r#"[1, 2.5e3, -1e400]"#, 11),
            ("[1e308, 1e309]", 8),
            ("[1e-999999999, 99999999999999999999e99999999999999999999]", 15),
            ("{\"a\" 1}", 5),
        ] {
            let arena = Arena::new();
            let error = Reader::default().read(text.as_bytes(), &arena).expect_err(text);
            assert_eq!(mistake_at(&error, text.as_bytes()), wanted, "{text}: {error:?}");
        }
        let arena = Arena::new();
        for text in ["[1e308]", "[1e-999999999]", r#"["1e999999999"]"#, r#"["\ud83d\ude00"]"#] {
            assert!(Reader::default().read(text.as_bytes(), &arena).is_ok(), "{text}");
        }
    }
}
