//! Turns the bytes that a source reads into blocks of whole frames.
//!
//! Invariant: every byte read is in exactly one block or bad frame, in order, however the reads fall;
//! memory is bounded by the longest frame allowed.

use std::ops::Range;
use std::sync::Arc;

use crate::batch::BadFrame;
use crate::buffer::{Buffer, Pool};
use crate::framing::Framing;
use crate::limits::BAD_FRAME_BYTES_KEPT;

/// A block of whole frames, and the frames before them that could not be read.
pub struct Block {
    /// Holds the bytes.
    pub buffer: Buffer,
    /// Where the frames are in the buffer.
    pub range: Range<usize>,
    /// How many frames there are.
    pub frames: u64,
    /// Number of the first frame, counted from 1.
    pub first_line: u64,
    /// Offset of the first frame in the input.
    pub offset: u64,
    /// Frames that could not be read; they stand before the first frame of the block.
    pub bad: Vec<BadFrame>,
}

/// Collects bytes and cuts blocks.
pub struct Assembler {
    framing: Framing,
    pool: Arc<Pool>,
    buffer: Buffer,
    /// Where the bytes begin that belong to no block yet.
    start: usize,
    /// Where the last whole frame ends.
    whole: usize,
    /// Where the bytes end.
    filled: usize,
    /// Number of the frame at `start`.
    line: u64,
    /// Offset of `start` in the input.
    offset: u64,
    /// The frame that is too long and whose end has not been seen.
    skipped: Option<BadFrame>,
    bad: Vec<BadFrame>,
    /// The longest frame.
    frame_bytes_max: usize,
}

impl Assembler {
    /// An assembler for an input that is read from the given offset and line.
    pub fn new(framing: Framing, pool: &Arc<Pool>, offset: u64, line: u64) -> Self {
        Assembler {
            framing,
            pool: Arc::clone(pool),
            buffer: pool.take(),
            start: 0,
            whole: 0,
            filled: 0,
            line,
            offset,
            skipped: None,
            bad: Vec::new(),
            frame_bytes_max: framing.frame_bytes_max(),
        }
    }

    /// Room for the next bytes; never empty.
    pub fn space(&mut self) -> &mut [u8] {
        if self.filled == self.buffer.len() {
            self.make_space();
        }
        &mut self.buffer[self.filled..]
    }

    fn make_space(&mut self) {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.filled, 0);
            self.whole -= self.start;
            self.filled -= self.start;
            self.start = 0;
        } else {
            // One byte more than the longest frame: its separator.
            let longest = (self.frame_bytes_max + 1).max(self.filled + 1);
            self.buffer.grow((self.buffer.len() * 2).min(longest));
        }
    }

    /// The first `count` bytes of the [space](Self::space) have been filled.
    pub fn filled(&mut self, count: usize) {
        let new = self.filled;
        self.filled += count;
        if self.skipped.is_some() {
            self.skip();
        }
        let new = new.clamp(self.start, self.filled);
        if let Some(cut) = self.framing.cut(&self.buffer[new..self.filled]) {
            self.whole = new + cut;
        }
        if self.whole == self.start && self.filled - self.start > self.frame_bytes_max {
            self.begin_skipping();
        }
    }

    /// The bytes collected so far are all of one frame, which is too long.
    fn begin_skipping(&mut self) {
        let head = &self.buffer[self.start..self.filled];
        let unit = if self.framing == Framing::Whole { "input" } else { "line" };
        self.skipped = Some(BadFrame {
            line: self.line,
            length: head.len() as u64,
            reason: format!("{unit} is longer than {} bytes", self.frame_bytes_max),
            head: head[..head.len().min(BAD_FRAME_BYTES_KEPT)].to_vec(),
        });
        self.forget(self.filled);
    }

    /// Looks for the end of the frame that is too long.
    fn skip(&mut self) {
        let rest = &self.buffer[self.start..self.filled];
        let end = self.framing.end_of_first(rest);
        let length = end.map_or(rest.len(), |end| end - 1) as u64;
        if let Some(skipped) = &mut self.skipped {
            skipped.length += length;
        }
        match end {
            None => self.forget(self.filled),
            Some(end) => {
                self.forget(self.start + end);
                self.end_skipping();
            }
        }
    }

    fn end_skipping(&mut self) {
        if let Some(mut skipped) = self.skipped.take() {
            skipped.reason.push_str(&format!(" ({} bytes); skipped", skipped.length));
            self.bad.push(skipped);
            self.line += 1;
        }
    }

    /// The bytes before `end` belong to no block.
    fn forget(&mut self, end: usize) {
        self.offset += (end - self.start) as u64;
        (self.start, self.whole) = (end, end);
        if end == self.filled {
            (self.start, self.whole, self.filled) = (0, 0, 0);
        }
    }

    /// Whether there is something to [cut](Self::cut).
    pub fn has_block(&self) -> bool {
        self.whole > self.start || !self.bad.is_empty()
    }

    /// Whether the buffer is full, so that a block should be cut.
    pub fn is_full(&self) -> bool {
        self.filled == self.buffer.len()
    }

    /// Offset and line that follow what has been cut.
    pub fn position(&self) -> (u64, u64) {
        (self.offset, self.line)
    }

    /// Cuts off all whole frames.
    pub fn cut(&mut self) -> Option<Block> {
        if !self.has_block() {
            return None;
        }
        let frames = self.framing.count(&self.buffer[self.start..self.whole]);
        Some(self.take(frames))
    }

    /// The input has ended: what is left is the last frame.
    pub fn finish(&mut self) -> Option<Block> {
        self.end_skipping();
        let frames = self.framing.count(&self.buffer[self.start..self.whole]);
        let rest = self.filled > self.whole;
        self.whole = self.filled;
        self.has_block().then(|| self.take(frames + u64::from(rest)))
    }

    /// The input broke off: what is left of its last frame is bad.
    pub fn abandon(&mut self, reason: &str) -> Option<Block> {
        self.end_skipping();
        let block_before = self.cut();
        let rest = &self.buffer[self.start..self.filled];
        if rest.is_empty() {
            return block_before;
        }
        let bad = BadFrame {
            line: self.line,
            length: rest.len() as u64,
            reason: reason.to_string(),
            head: rest[..rest.len().min(BAD_FRAME_BYTES_KEPT)].to_vec(),
        };
        self.line += 1;
        self.forget(self.filled);
        match block_before {
            // Bad frames stand before a block's frames; this one's number tells its place.
            Some(mut block) => {
                block.bad.push(bad);
                Some(block)
            }
            None => {
                self.bad.push(bad);
                self.cut()
            }
        }
    }

    fn take(&mut self, frames: u64) -> Block {
        let mut fresh = self.pool.take();
        let rest = self.whole..self.filled;
        fresh.grow(rest.len());
        fresh[..rest.len()].copy_from_slice(&self.buffer[rest.clone()]);
        let block = Block {
            buffer: std::mem::replace(&mut self.buffer, fresh),
            range: self.start..self.whole,
            frames,
            first_line: self.line,
            offset: self.offset,
            bad: std::mem::take(&mut self.bad),
        };
        self.line += frames;
        self.offset += block.range.len() as u64;
        (self.start, self.whole, self.filled) = (0, 0, rest.len());
        block
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::framing::FrameCursor;

    /// Feeds `input` in reads of `read` bytes and returns the frames with their numbers and offsets.
    fn assemble(framing: Framing, max: usize, input: &[u8], read: usize) -> Seen {
        let mut assembler = Assembler::new(framing, &Pool::new(8), 100, 1);
        assembler.frame_bytes_max = max;
        let (mut seen, mut rest) = (Seen::default(), input);
        while !rest.is_empty() {
            let space = assembler.space();
            let count = read.min(space.len()).min(rest.len());
            space[..count].copy_from_slice(&rest[..count]);
            rest = &rest[count..];
            assembler.filled(count);
            if assembler.is_full() {
                seen.add(framing, assembler.cut());
            }
        }
        seen.add(framing, assembler.finish());
        seen.end = assembler.position();
        seen
    }

    #[derive(Default, Debug, PartialEq)]
    struct Seen {
        frames: Vec<(u64, String)>,
        bad: Vec<(u64, u64)>,
        next_offset: u64,
        end: (u64, u64),
    }

    impl Seen {
        fn add(&mut self, framing: Framing, block: Option<Block>) {
            let Some(block) = block else { return };
            self.bad.extend(block.bad.iter().map(|bad| (bad.line, bad.length)));
            let before = self.frames.len();
            let mut cursor = FrameCursor::new(framing, block.range.clone());
            let mut line = block.first_line;
            while let Some(range) = cursor.next(&block.buffer) {
                let text = String::from_utf8(block.buffer[range].to_vec()).unwrap();
                self.frames.push((line, text));
                line += 1;
            }
            assert_eq!((self.frames.len() - before) as u64, block.frames);
            assert!(block.offset >= self.next_offset);
            self.next_offset = block.offset + block.range.len() as u64;
        }
    }

    fn numbered(frames: &[(u64, &str)]) -> Vec<(u64, String)> {
        frames.iter().map(|(line, text)| (*line, text.to_string())).collect()
    }

    #[test]
    fn frames_are_the_same_however_the_reads_fall() {
        let input = b"one\ntwo\r\n\nlonger than a block of eight\nx\nlast";
        let lines = [
            (1, "one"),
            (2, "two"),
            (3, ""),
            (4, "longer than a block of eight"),
            (5, "x"),
            (6, "last"),
        ];
        for read in 1..=input.len() {
            let seen = assemble(Framing::Lines, 1000, input, read);
            assert_eq!(seen.frames, numbered(&lines), "reads of {read}");
            assert_eq!(seen.end, (100 + input.len() as u64, 7), "reads of {read}");
            assert!(seen.bad.is_empty());
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_one_bad_frame_and_the_rest_goes_on() {
        let input = format!("a\n{}\nb\n{}\n{}", "x".repeat(100), "y".repeat(10), "z".repeat(11));
        for read in 1..=input.len() {
            let seen = assemble(Framing::Lines, 10, input.as_bytes(), read);
            assert_eq!(seen.frames, numbered(&[(1, "a"), (3, "b"), (4, "yyyyyyyyyy")]), "{read}");
            assert_eq!(seen.bad, [(2, 100), (5, 11)], "reads of {read}");
            assert_eq!(seen.end, (100 + input.len() as u64, 6), "reads of {read}");
        }
    }

    #[test]
    fn whole_input_is_one_frame_and_an_empty_one_is_none() {
        let seen = assemble(Framing::Whole, 1000, b"a\nb\nand more than one block\n", 3);
        assert_eq!(seen.frames, numbered(&[(1, "a\nb\nand more than one block\n")]));
        assert!(assemble(Framing::Whole, 1000, b"", 3).frames.is_empty());
        assert_eq!(assemble(Framing::Whole, 4, b"abcdef", 3).bad, [(1, 6)]);
    }

    #[test]
    fn what_is_left_of_a_broken_input_is_bad() {
        let mut assembler = Assembler::new(Framing::Lines, &Pool::new(8), 0, 1);
        assembler.space()[..4].copy_from_slice(b"a\nbc");
        assembler.filled(4);
        let block = assembler.abandon("cut short").unwrap();
        assert_eq!((block.frames, block.bad.len()), (1, 1));
        assert_eq!((block.bad[0].line, block.bad[0].head.as_slice()), (2, &b"bc"[..]));
        assert_eq!(assembler.position(), (4, 3));
        assert!(assembler.finish().is_none());
    }
}
