//! A growing text in an arena. It stops growing when the arena has no memory left for it.

use super::{Arena, Value};
use bumpalo::collections::String;
use std::fmt;

/// A growing text in an arena.
#[derive(Debug)]
pub struct TextBuilder<'a> {
    arena: &'a Arena,
    text: String<'a>,
}

impl<'a> TextBuilder<'a> {
    #[inline]
    pub(super) fn with_capacity(arena: &'a Arena, capacity: usize) -> Self {
        let capacity = if arena.charge(capacity) { capacity } else { 0 };
        Self { arena, text: String::with_capacity_in(capacity, arena.bump()) }
    }

    /// Appends a piece.
    #[inline]
    pub fn push_str(&mut self, piece: &str) {
        if self.text.capacity() - self.text.len() >= piece.len() || self.grow(piece.len()) {
            self.text.push_str(piece);
        }
    }

    /// Appends a character.
    #[inline]
    pub fn push(&mut self, character: char) {
        let length = character.len_utf8();
        if self.text.capacity() - self.text.len() >= length || self.grow(length) {
            self.text.push(character);
        }
    }

    /// Makes room for `more` bytes and as many as there are; false when there is no memory.
    #[cold]
    fn grow(&mut self, more: usize) -> bool {
        const LEAST: usize = 16;
        let more = more.max(self.text.len()).max(LEAST);
        let granted = self.arena.charge(self.text.len() + more);
        if granted {
            self.text.reserve_exact(more);
        }
        granted
    }

    /// The text so far.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Bytes so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.text.len()
    }

    /// Whether there is nothing yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// The finished text.
    #[must_use]
    pub fn into_str(self) -> &'a str {
        self.text.into_bump_str()
    }

    /// The finished text as a value.
    #[must_use]
    pub fn finish(self) -> Value<'a> {
        Value::Str(self.into_str())
    }
}

impl fmt::Write for TextBuilder<'_> {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        self.push_str(piece);
        Ok(())
    }
}

impl Extend<char> for TextBuilder<'_> {
    fn extend<I: IntoIterator<Item = char>>(&mut self, characters: I) {
        characters.into_iter().for_each(|character| self.push(character));
    }
}
