//! A place in a text, for parsers written by hand. It only ever moves forward and always stands at
//! the beginning of a character.

use super::FormatError;

/// A text and how much of it has been read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Cursor<'t> {
    /// Before the first character of `text`.
    #[must_use]
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, at: 0 }
    }

    /// What has not been read.
    #[must_use]
    pub(super) fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// The next byte.
    #[must_use]
    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Reads `literal` if it comes next.
    pub(crate) fn eat(&mut self, literal: &str) -> bool {
        let next = self.rest().starts_with(literal);
        if next {
            self.at += literal.len();
        }
        next
    }

    /// Reads the next `bytes` bytes.
    ///
    /// # Panics
    /// When that is past the end or inside of a character.
    pub(super) fn take(&mut self, bytes: usize) -> &'t str {
        let taken = &self.rest()[..bytes];
        self.at += bytes;
        taken
    }

    /// Reads as long as `wanted` holds.
    pub(super) fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let end = rest.find(|character| !wanted(character)).unwrap_or(rest.len());
        self.take(end)
    }

    /// As [`Cursor::take_while`], byte by byte: `wanted` must hold for all bytes beyond ASCII or for
    /// none of them.
    pub(crate) fn take_bytes(&mut self, wanted: impl Fn(u8) -> bool) -> &'t str {
        let rest = self.rest();
        let end = rest.bytes().position(|byte| !wanted(byte)).unwrap_or(rest.len());
        self.take(end)
    }

    /// Reads up to `end` and past it; `None` (and nothing read) when it does not come.
    pub(crate) fn take_until(&mut self, end: u8) -> Option<&'t str> {
        let found = memchr::memchr(end, self.rest().as_bytes())?;
        let taken = self.take(found);
        self.at += 1;
        Some(taken)
    }

    /// Reads blanks and tabs; whether there were any.
    pub(super) fn blanks(&mut self) -> bool {
        !self.take_bytes(|byte| byte == b' ' || byte == b'\t').is_empty()
    }

    /// Reads a decimal number without a sign.
    ///
    /// # Errors
    /// When there is no digit or the number is too large.
    pub(super) fn number<T: std::str::FromStr>(
        &mut self,
        expected: &'static str,
    ) -> Result<T, FormatError> {
        let start = *self;
        let digits = self.take_bytes(|byte| byte.is_ascii_digit());
        digits.parse().map_err(|_| start.expected(expected))
    }

    /// Reads `literal`.
    ///
    /// # Errors
    /// When something else comes next.
    pub(super) fn expect(&mut self, literal: &'static str) -> Result<(), FormatError> {
        if self.eat(literal) { Ok(()) } else { Err(self.expected("the text").wanting(literal)) }
    }

    /// An error at this place.
    #[cold]
    #[must_use]
    pub(super) fn expected(&self, what: &'static str) -> FormatError {
        FormatError::new(self.text, self.at, what)
    }
}
