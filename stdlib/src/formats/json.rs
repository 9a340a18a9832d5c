//! JSON text (RFC 8259) as a value. Containers stay on the parser's tape until they are asked for.

use super::FormatError;
use temblor_lang::tape::{check_numbers, is_too_large, mistake_at};
use temblor_lang::value::{Arena, Value};

/// Containers nested deeper than this are refused, so that no walk over a value can run out of
/// stack.
pub(crate) const JSON_DEPTH_MAX: usize = 1024;

/// The value that `text` stands for; a scalar is fine.
///
/// # Errors
/// When the text is not JSON or is nested too deeply.
pub fn parse<'a>(text: &str, arena: &'a Arena) -> Result<Value<'a>, FormatError> {
    if is_deep(text.as_bytes()) {
        return Err(FormatError::new(text, 0, "JSON that is nested less deeply"));
    }
    let bytes = arena.bytes_mut(text.as_bytes());
    let parsed = simd_json::to_tape(bytes);
    let tape = parsed.and_then(|tape| check_numbers(&tape.0).map(|()| tape));
    let tape = tape.map_err(|error| {
        let at = mistake_at(&error, text.as_bytes());
        let is_too_large = text.as_bytes().get(at..).is_some_and(is_too_large);
        FormatError::new(text, at, if is_too_large { "a number that fits 64 bits" } else { "JSON" })
    })?;
    let nodes = arena.nodes(&tape.0);
    Ok(Value::from(nodes))
}

/// Whether brackets are open deeper than [`JSON_DEPTH_MAX`]. Brackets in strings may count too
/// high, so the exact count is made only for texts with very many of them.
fn is_deep(text: &[u8]) -> bool {
    if text.len() <= JSON_DEPTH_MAX {
        return false;
    }
    let openers = memchr::memchr2_iter(b'[', b'{', text).take(JSON_DEPTH_MAX + 1).count();
    openers > JSON_DEPTH_MAX && depth(text) > JSON_DEPTH_MAX
}

fn depth(text: &[u8]) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0_usize);
    let (mut in_string, mut escaped) = (false, false);
    for byte in text {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;
    use temblor_lang::value::to_json;

    #[test]
    fn reads_values() {
        let arena = Arena::new();
        for (text, expected) in [
            (r#"{"a":[1,2.5,-3,null,true],"b":{"c":"ä\n"}}"#, None),
            ("1", None),
            (r#""x""#, None),
            (" [ ] ", Some("[]")),
            (r#"{"a":1,"a":2}"#, Some(r#"{"a":2}"#)),
        ] {
            let value = parse(text, &arena).expect(text);
            assert_eq!(to_json(value), expected.unwrap_or(text));
        }
        for text in ["", "{", "[1,]", "nul", "{'a':1}", "[1] 2"] {
            assert!(parse(text, &arena).is_err(), "{text}");
        }
    }

    #[test]
    fn depth_has_a_limit() {
        let arena = Arena::new();
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(parse(&nested(JSON_DEPTH_MAX), &arena).is_ok());
        assert!(parse(&nested(JSON_DEPTH_MAX + 1), &arena).is_err());
        assert!(parse(&"[".repeat(1_000_000), &arena).is_err());
        let flat = format!("[{}1]", "\"[\\\"[\",[],".repeat(2000));
        assert!(parse(&flat, &arena).is_ok(), "flat text with many brackets is fine");
    }
}
