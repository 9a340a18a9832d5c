//! How a stream of bytes is cut into frames: what a source needs to cut a block after its last whole
//! frame, and what a worker needs to walk the frames of a block.
//!
//! Invariant: source and worker see the same frames, wherever the borders of the blocks fall.

use std::ops::Range;

use memchr::{memchr, memchr_iter, memrchr};

use crate::limits::{LINE_BYTES_MAX, WHOLE_BYTES_MAX};

/// The way frames are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Framing {
    /// Frames end with `\n`; a `\r` before it is not part of the frame.
    #[default]
    Lines,
    /// Frames end with the given byte.
    Separated(u8),
    /// All of one input (one file, all of standard input) is one frame.
    Whole,
    /// Each frame has its length in front, as digits and a blank (RFC 6587, section 3.4.1): `5 hello`. Line
    /// ends between frames belong to none. No assembler sees such frames.
    Counted,
    /// Each frame has its length in front, in 4 bytes, little-endian: what a source has packed after
    /// preprocessing. No assembler sees such frames.
    Prefixed,
    /// Each frame has the length of its metadata and its own length in front, in 4 bytes each,
    /// little-endian, then the metadata (the text of a JSON record, or nothing), then itself. No assembler
    /// sees such frames.
    Annotated,
}

/// Length of the head of a [`Framing::Prefixed`] frame, in bytes.
pub const PREFIX_BYTES: usize = 4;

impl Framing {
    /// The longest frame.
    pub fn frame_bytes_max(self) -> usize {
        match self {
            Framing::Lines | Framing::Separated(_) => LINE_BYTES_MAX,
            Framing::Whole | Framing::Counted | Framing::Prefixed | Framing::Annotated => {
                WHOLE_BYTES_MAX
            }
        }
    }

    /// Where the last whole frame of `bytes` ends, if there is one.
    pub fn cut(self, bytes: &[u8]) -> Option<usize> {
        memrchr(self.separator()?, bytes).map(|last| last + 1)
    }

    /// Where the first frame of `bytes` ends, its separator included.
    pub fn end_of_first(self, bytes: &[u8]) -> Option<usize> {
        memchr(self.separator()?, bytes).map(|first| first + 1)
    }

    /// How many frames `bytes` holds, which end with a whole frame.
    pub fn count(self, bytes: &[u8]) -> u64 {
        match self.separator() {
            Some(separator) => memchr_iter(separator, bytes).count() as u64,
            None => u64::from(!bytes.is_empty()),
        }
    }

    /// The byte that ends a frame, if it is one byte.
    #[must_use]
    pub fn separator(self) -> Option<u8> {
        match self {
            Framing::Lines => Some(b'\n'),
            Framing::Separated(byte) => Some(byte),
            Framing::Whole | Framing::Counted | Framing::Prefixed | Framing::Annotated => None,
        }
    }
}

/// What stands at the beginning of octet-counted bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountedHead {
    /// Too little to tell.
    Partial,
    /// No length.
    Broken,
    /// A length: the frame begins at `start`, and is so long. Its bytes need not be there yet.
    Frame {
        /// Where the frame begins, in bytes from the first one looked at.
        start: usize,
        /// Length of the frame in bytes.
        length: usize,
    },
}

/// Digits that the length of an octet-counted frame has at the most.
pub const COUNT_DIGITS_MAX: usize = 9;

/// Reads the length in front of an octet-counted frame, past line ends before it.
#[must_use]
pub fn counted_head(bytes: &[u8]) -> CountedHead {
    let is_gap = |byte: &&u8| matches!(byte, b'\n' | b'\r' | b' ' | 0);
    let gap = bytes.iter().take_while(is_gap).count();
    let mut length = 0_usize;
    for (index, byte) in bytes[gap..].iter().enumerate() {
        match byte {
            b'0'..=b'9' if index < COUNT_DIGITS_MAX => {
                length = length * 10 + usize::from(byte - b'0');
            }
            b' ' if index > 0 => return CountedHead::Frame { start: gap + index + 1, length },
            _ => return CountedHead::Broken,
        }
    }
    CountedHead::Partial
}

/// Walks the frames of a block without borrowing it, so that a frame's bytes may be changed (the JSON
/// parser unescapes in place) while the walk goes on.
#[derive(Clone, Debug)]
pub struct FrameCursor {
    framing: Framing,
    at: usize,
    end: usize,
    meta: Range<usize>,
}

impl FrameCursor {
    /// A walk over `range` of a block.
    pub fn new(framing: Framing, range: Range<usize>) -> Self {
        FrameCursor { framing, at: range.start, end: range.end, meta: 0..0 }
    }

    /// The range of the next frame in `block`, without its separator.
    #[inline]
    pub fn next(&mut self, block: &[u8]) -> Option<Range<usize>> {
        let start = self.at;
        if start >= self.end {
            return None;
        }
        match self.framing {
            Framing::Counted => return self.next_counted(block),
            Framing::Prefixed => return self.next_prefixed(block),
            Framing::Annotated => return self.next_annotated(block),
            Framing::Lines | Framing::Separated(_) | Framing::Whole => {}
        }
        let rest = &block[start..self.end];
        let separator = self.framing.separator();
        let found = separator.and_then(|byte| memchr(byte, rest));
        let length = found.unwrap_or(rest.len());
        self.at = start + length + usize::from(found.is_some());
        let carriage_return =
            self.framing == Framing::Lines && rest[..length].last() == Some(&b'\r');
        Some(start..start + length - usize::from(carriage_return))
    }

    fn next_counted(&mut self, block: &[u8]) -> Option<Range<usize>> {
        let rest = &block[self.at..self.end];
        let CountedHead::Frame { start, length } = counted_head(rest) else {
            // Sources hand over whole frames; what is left are line ends.
            self.at = self.end;
            return None;
        };
        let start = self.at + start;
        self.at = self.end.min(start + length);
        Some(start..self.at)
    }

    fn next_prefixed(&mut self, block: &[u8]) -> Option<Range<usize>> {
        let (head, rest) = block[self.at..self.end].split_first_chunk::<PREFIX_BYTES>()?;
        let length = (u32::from_le_bytes(*head) as usize).min(rest.len());
        let start = self.at + PREFIX_BYTES;
        self.at = start + length;
        Some(start..self.at)
    }

    #[cold]
    fn next_annotated(&mut self, block: &[u8]) -> Option<Range<usize>> {
        let rest = &block[self.at..self.end];
        let (meta, rest) = rest.split_first_chunk::<PREFIX_BYTES>()?;
        let (length, rest) = rest.split_first_chunk::<PREFIX_BYTES>()?;
        let meta = (u32::from_le_bytes(*meta) as usize).min(rest.len());
        let length = (u32::from_le_bytes(*length) as usize).min(rest.len() - meta);
        self.meta = self.at + 2 * PREFIX_BYTES..self.at + 2 * PREFIX_BYTES + meta;
        self.at = self.meta.end + length;
        Some(self.meta.end..self.at)
    }

    /// The range of the metadata of the frame returned last; empty when it has none.
    #[must_use]
    pub fn meta(&self) -> Range<usize> {
        self.meta.clone()
    }

    /// Where the walk stands: behind the separator of the frame returned last.
    pub fn position(&self) -> usize {
        self.at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(framing: Framing, block: &[u8]) -> Vec<&[u8]> {
        let mut cursor = FrameCursor::new(framing, 0..block.len());
        std::iter::from_fn(|| cursor.next(block).map(|range| &block[range])).collect()
    }

    #[test]
    fn lines_lose_their_ends_and_the_last_needs_none() {
        assert_eq!(frames(Framing::Lines, b"a\r\n\nbc\r\nd"), [&b"a"[..], b"", b"bc", b"d"]);
        assert_eq!(frames(Framing::Lines, b"a\rb\n\r\n"), [&b"a\rb"[..], b""]);
        assert!(frames(Framing::Lines, b"").is_empty());
    }

    #[test]
    fn other_framings_keep_carriage_returns() {
        assert_eq!(frames(Framing::Separated(0), b"a\r\0b\n\0"), [&b"a\r"[..], b"b\n"]);
        assert_eq!(frames(Framing::Whole, b"a\nb\n"), [&b"a\nb\n"[..]]);
        let noted = b"\x02\0\0\0\x01\0\0\0{}a\0\0\0\0\x01\0\0\0b";
        assert_eq!(frames(Framing::Annotated, noted), [&b"a"[..], b"b"]);
        let counted = b"2 a\n\n0 1 b\n";
        assert_eq!(frames(Framing::Counted, counted), [&b"a\n"[..], b"", b"b"]);
        let packed = b"\x02\0\0\0a\n\0\0\0\0\x01\0\0\0b";
        assert_eq!(frames(Framing::Prefixed, packed), [&b"a\n"[..], b"", b"b"]);
    }

    #[test]
    fn a_count_is_whole_partial_or_broken() {
        assert_eq!(counted_head(b"\n12 x"), CountedHead::Frame { start: 4, length: 12 });
        for text in [&b""[..], b"\n", b"12", b"123456789"] {
            assert_eq!(counted_head(text), CountedHead::Partial, "{text:?}");
        }
        for text in [&b"<1"[..], b"1x", b"1234567890 "] {
            assert_eq!(counted_head(text), CountedHead::Broken, "{text:?}");
        }
    }

    #[test]
    fn a_block_is_cut_after_its_last_whole_frame() {
        assert_eq!(Framing::Lines.cut(b"ab\ncd\nef"), Some(6));
        assert_eq!(Framing::Lines.cut(b"abc"), None);
        assert_eq!(Framing::Whole.cut(b"a\n"), None);
        assert_eq!(Framing::Lines.count(b"ab\ncd\n"), 2);
    }
}
