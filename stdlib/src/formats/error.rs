//! Why a text is not of a format: where, what was expected, what was found. An error is plain
//! memory without allocation, since lines that do not parse are everyday input.

use std::fmt;
use temblor_lang::value::{Kind, Value};

/// How much of a text an error quotes, in bytes.
const QUOTE_BYTES: usize = 24;

/// The first bytes of a text, cut at a character.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Quote {
    bytes: [u8; QUOTE_BYTES],
    len: u8,
    /// Whether the text went on.
    cut: bool,
}

impl Quote {
    /// Quotes the beginning of `text`.
    #[must_use]
    pub(crate) fn new(text: &str) -> Self {
        let len = text.floor_char_boundary(QUOTE_BYTES);
        let mut bytes = [0; QUOTE_BYTES];
        bytes[..len].copy_from_slice(&text.as_bytes()[..len]);
        Self { bytes, len: len as u8, cut: len < text.len() }
    }

    /// What is quoted.
    #[must_use]
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.bytes[..usize::from(self.len)])
            .expect("a quote is cut at a character")
    }
}

impl fmt::Display for Quote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}{}", self.text(), if self.cut { "…" } else { "" })
    }
}

impl fmt::Debug for Quote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A text that is not of the wanted format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FormatError {
    /// Place in the text, in bytes.
    pub at: usize,
    /// What should stand there, in words: "a digit", "the delimiter".
    pub expected: &'static str,
    /// The very text that should stand there, if it is known.
    pub wanted: Option<Quote>,
    /// What stands there; `None` at the end of the text.
    pub found: Option<Quote>,
}

impl FormatError {
    /// `text[at..]` does not begin with what `expected` says.
    #[cold]
    #[must_use]
    pub fn new(text: &str, at: usize, expected: &'static str) -> Self {
        let at = text.floor_char_boundary(at);
        let rest = &text[at..];
        let found = (!rest.is_empty()).then(|| Quote::new(rest));
        Self { at, expected, wanted: None, found }
    }

    /// Adds the very text that should stand there.
    #[cold]
    #[must_use]
    pub(crate) fn wanting(mut self, wanted: &str) -> Self {
        self.wanted = Some(Quote::new(wanted));
        self
    }
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {}", self.expected)?;
        if let Some(wanted) = &self.wanted {
            write!(f, " {wanted}")?;
        }
        write!(f, " at byte {}, found ", self.at)?;
        match &self.found {
            Some(found) => write!(f, "{found}"),
            None => f.write_str("the end"),
        }
    }
}

impl std::error::Error for FormatError {}

/// A value that cannot be written in the wanted format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EncodeError {
    /// The field that is wrong or missing.
    pub field: &'static str,
    /// What it should be, in words.
    pub expected: &'static str,
    /// The kind of value that is there; `None` when the field is missing.
    pub found: Option<Kind>,
}

impl EncodeError {
    /// The field is missing, or is not what `expected` says.
    #[cold]
    #[must_use]
    pub(crate) fn new(
        field: &'static str,
        expected: &'static str,
        found: Option<Value<'_>>,
    ) -> Self {
        Self { field, expected, found: found.map(Value::kind) }
    }
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the field '{}' should be {}, but ", self.field, self.expected)?;
        match self.found {
            Some(kind) => write!(f, "this one of kind {} is not", kind.name()),
            None => f.write_str("it is missing"),
        }
    }
}

impl std::error::Error for EncodeError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_place_wish_and_find() {
        let error = FormatError::new("a,b", 1, "the delimiter").wanting(";");
        assert_eq!(error.to_string(), r#"expected the delimiter ";" at byte 1, found ",b""#);
        let error = FormatError::new("a", 1, "a digit");
        assert_eq!(error.to_string(), "expected a digit at byte 1, found the end");
    }

    #[test]
    fn quotes_end_at_a_character() {
        let long = "ä".repeat(40);
        let error = FormatError::new(&long, 1, "x");
        assert_eq!(error.at, 0);
        assert_eq!(error.found.map(|quote| quote.text().len()), Some(24));
        assert!(error.to_string().ends_with('…'));
    }
}
