//! JSON text as a tape: every value in order, each container with the number of nodes that it
//! spans. Texts that are plain JSON are read in two passes of our own, in place and straight into
//! the arena; whatever these are not certain of, mistakes above all, simd-json reads from the start.
//! What is read is the same, so that it decides what is JSON and how its mistakes are told.

mod escapes;
mod mistake;
mod number;
mod quotes;
mod walk;

pub use mistake::{check_numbers, explain, is_too_large, mistake_at};

use crate::value::{Arena, Value};
use quotes::Strings;
use simd_json::{Buffers, INPUT_PADDING, Node, Tape};

/// The text that `bytes` are, as [`std::str::from_utf8`] has it.
///
/// # Errors
/// When they are no UTF-8.
pub fn utf8(bytes: &[u8]) -> Result<&str, std::str::Utf8Error> {
    // The fast way does not say where the mistake is.
    simdutf8::basic::from_utf8(bytes).or_else(|_| std::str::from_utf8(bytes))
}

/// Reads JSON texts one after the other, with the same memory.
#[derive(Default)]
pub struct Reader {
    strings: Strings,
    buffers: Buffers,
    /// Empty between texts.
    tape: Vec<Node<'static>>,
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Reader").field("strings", &self.strings).finish_non_exhaustive()
    }
}

impl Reader {
    /// The value that `text` holds. Its containers stay on a tape in `arena`; its strings, and the
    /// names of all fields of which the text has no escapes, stand in `text`.
    ///
    /// # Errors
    /// When `text` is not one JSON value (RFC 8259), or has a number that no 64-bit float holds;
    /// [`mistake_at`] says where.
    pub fn read<'a>(
        &mut self,
        text: &'a [u8],
        arena: &'a Arena,
    ) -> Result<Value<'a>, simd_json::Error> {
        match self.plain(text, arena) {
            Some(nodes) => Ok(Value::from(nodes)),
            None => self.any(text, arena),
        }
    }

    /// The tape of a record or an array; `None` when anything about it is not certain.
    fn plain<'a>(&mut self, text: &'a [u8], arena: &'a Arena) -> Option<&'a [Node<'a>]> {
        let text = simdutf8::basic::from_utf8(text).ok()?;
        if self.strings.find(text.as_bytes()) {
            walk::document(text, &self.strings, arena)
        } else {
            None
        }
    }

    #[cold]
    fn any<'a>(&mut self, text: &[u8], arena: &'a Arena) -> Result<Value<'a>, simd_json::Error> {
        let copy = arena.padded(text, INPUT_PADDING);
        let mut tape = Tape(std::mem::take(&mut self.tape)).reset();
        let parsed = simd_json::fill_tape_padded(copy, text.len(), &mut self.buffers, &mut tape);
        let value = parsed
            .and_then(|()| check_numbers(&tape.0))
            .map(|()| Value::from(arena.nodes(&tape.0)));
        self.tape = tape.reset().0;
        value
    }
}

#[cfg(test)]
mod tests;
