//! The text that the fields of an event's record were read from. A field that nobody has touched
//! is written as it came in; its text is trusted only where it is certain which part it is.

use super::{Entry, Lazy};

/// The JSON text of a whole record, and where a copy of it stood that the record's keys point into.
#[derive(Clone, Copy, Debug)]
pub(super) struct Verbatim<'a> {
    text: &'a [u8],
    /// Address of the copy's first byte.
    copy: usize,
}

impl<'a> Verbatim<'a> {
    /// The text of `record`, if it is certain that `text` is what it was parsed from: `text` must
    /// begin with the record's first key. simd-json leaves each key at the place in its input
    /// where it was read, so that the address of a key tells its place in the text.
    pub(super) fn of(record: Lazy<'a>, text: &'a [u8]) -> Option<Self> {
        let has_fields = record.is_record() && record.raw_len() > 0;
        let (key, _) = record.name_at(1).filter(|_| has_fields)?;
        let quote = if text.starts_with(b"{\"") { 1 } else { first_quote(text)? };
        // A key with escapes is shorter on the tape than in the text.
        let written = text.get(quote + 1..quote + 1 + key.len())?;
        if text.get(quote) != Some(&b'"') || written != key.as_bytes() {
            return None;
        }
        let copy = (key.as_ptr() as usize).checked_sub(quote + 1)?;
        (u32::try_from(text.len()).is_ok()).then_some(Self { text, copy })
    }

    /// Where the field with this very `key` starts: at its quote.
    pub(super) fn start(self, key: &str) -> usize {
        (key.as_ptr() as usize).wrapping_sub(self.copy).wrapping_sub(1)
    }

    /// Notes where each of `entries` ends, which follow each other in the text; after them comes
    /// the field with the key `next`, or nothing.
    pub(super) fn mark<'k>(self, entries: &mut [Entry<'k>], mut next: Option<&'k str>) {
        for entry in entries.iter_mut().rev() {
            entry.end = self.end(next);
            next = Some(entry.key);
        }
    }

    /// Where the field ends whose successor has the key `next`; `None` stands for the last one.
    /// Zero when that cannot be said.
    #[inline]
    pub(super) fn end(self, next: Option<&str>) -> u32 {
        let (end, separator) = match next {
            Some(next) => (self.start(next), b','),
            None => (self.text.len(), b'}'),
        };
        if let Some([.., last, b',', b'"']) = self.text.get(..=end)
            && !last.is_ascii_whitespace()
        {
            return u32::try_from(end - 1).unwrap_or(0);
        }
        self.text.get(..end).map_or(0, |before| end_among_blanks(before, separator))
    }

    /// The part of the text from `start` to `end`.
    pub(super) fn part(self, start: usize, end: usize) -> &'a [u8] {
        self.text.get(start..end).unwrap_or_default()
    }
}

/// As [`Verbatim::end`], where blanks may stand around the separator.
fn end_among_blanks(before: &[u8], separator: u8) -> u32 {
    match before.trim_ascii_end().strip_suffix(&[separator]) {
        // Checked in `of`: the text is shorter than 4 GiB.
        Some(field) => u32::try_from(field.trim_ascii_end().len()).unwrap_or(0),
        None => 0,
    }
}

/// Where the first key of a record starts, which blanks may stand around.
fn first_quote(text: &[u8]) -> Option<usize> {
    let brace = skip_blanks(text, 0);
    (text.get(brace) == Some(&b'{')).then(|| skip_blanks(text, brace + 1))
}

fn skip_blanks(text: &[u8], from: usize) -> usize {
    text.get(from..).map_or(from, |rest| text.len() - rest.trim_ascii_start().len())
}
