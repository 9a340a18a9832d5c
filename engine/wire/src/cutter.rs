//! From the bytes of one connection to blocks of whole messages.
//!
//! Invariant: every byte is in exactly one message or bad frame, in order, however the reads fall; no more
//! than the longest message allowed, and what one read brings, is held.

mod skipping;
#[cfg(test)]
mod tests;

use temblor_codec::interceptor::{Chain, Message, Preprocessor};
use temblor_runtime::batch::BadFrame;
use temblor_runtime::buffer::Buffer;
use temblor_runtime::framing::{CountedHead, Framing, PREFIX_BYTES, counted_head};
use temblor_runtime::intake::Arrival;

pub use skipping::bad_frame;
use skipping::{Skipped, skipped};

/// How the stream of a connection is cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cut {
    /// By one of the runtime's framings: lines, another separator, counted, or the whole connection.
    Framed(Framing),
    /// Counted when the connection begins with a length and `<`, else lines: what syslog senders do.
    Detected,
    /// Preprocessors; each connection has a chain of its own.
    Chained(Vec<Preprocessor>),
}

/// How a connection came to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// The peer has sent all that it wanted to send: what is left is the last message.
    Closed,
    /// It broke off, or was given up, for this reason: what is left is no message.
    Broken(String),
}

/// What is made of the next bytes.
enum Mode {
    Framed(Framing),
    /// Too few bytes have come to tell.
    Detecting,
    Chained(Chain),
    /// Nothing can be made of what comes: all of it is passed over.
    Lost,
}

/// Cuts the stream of one connection.
pub struct Cutter {
    mode: Mode,
    /// Whether a stream that stops being counted goes on in lines.
    falls_back: bool,
    bytes: Vec<u8>,
    /// In the bytes before this no frame ends.
    searched: usize,
    skipped: Option<Skipped>,
    /// Bad frames that stand before the next block.
    bad: Vec<BadFrame>,
    /// Number of the next message, counted from 1.
    line: u64,
    message_bytes_max: usize,
}

impl Cutter {
    /// A cutter at the beginning of a connection.
    #[must_use]
    pub fn new(cut: &Cut, message_bytes_max: usize) -> Self {
        let mode = match cut {
            Cut::Framed(framing) => Mode::Framed(*framing),
            Cut::Detected => Mode::Detecting,
            Cut::Chained(chain) => Mode::Chained(Chain::new(chain)),
        };
        Self {
            mode,
            falls_back: *cut == Cut::Detected,
            bytes: Vec::new(),
            searched: 0,
            skipped: None,
            bad: Vec::new(),
            line: 1,
            message_bytes_max,
        }
    }

    /// What the next bytes are appended to; [`added`](Self::added) has to be called afterwards.
    pub fn bytes(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Bytes of the message that has not come whole.
    #[must_use]
    pub fn held_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Gives memory back that waits for bytes: a connection that says nothing costs none.
    pub fn release(&mut self) {
        self.bytes.shrink_to_fit();
    }

    /// Whether nothing can be made of the rest of the stream.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        matches!(self.mode, Mode::Lost)
    }

    /// Bytes have been appended: the blocks that are whole now.
    #[must_use]
    pub fn added(&mut self) -> Vec<Arrival> {
        let mut blocks = Vec::with_capacity(1);
        while self.step(&mut blocks) {}
        self.push_bad(&mut blocks);
        blocks
    }

    /// Does the next thing with the bytes; whether there is more to do.
    fn step(&mut self, blocks: &mut Vec<Arrival>) -> bool {
        if self.skipped.is_some() && !self.skip() {
            return false;
        }
        match &mut self.mode {
            Mode::Framed(Framing::Counted) => self.cut_counted(blocks),
            Mode::Framed(framing) => {
                let framing = *framing;
                self.cut_separated(framing, blocks)
            }
            Mode::Detecting => self.detect(),
            Mode::Chained(chain) => {
                let found = chain.feed(&self.bytes);
                self.bytes.clear();
                self.pack(found, blocks);
                false
            }
            Mode::Lost => {
                self.bytes.clear();
                false
            }
        }
    }

    /// The connection has ended: what is left becomes the last message, or a bad frame.
    #[must_use]
    pub fn finish(&mut self, end: &End) -> Vec<Arrival> {
        let mut blocks = Vec::new();
        if let Some(skipped) = self.skipped.take() {
            self.refuse_skipped(skipped);
        }
        if matches!(self.mode, Mode::Detecting) {
            self.mode = Mode::Framed(Framing::Lines);
        }
        match (&mut self.mode, end) {
            (Mode::Chained(chain), _) => {
                let found = chain.finish();
                self.pack(found, &mut blocks);
            }
            (_, End::Broken(reason)) => self.refuse_rest(reason),
            (Mode::Framed(Framing::Counted), End::Closed) => {
                if self.bytes.trim_ascii().is_empty() {
                    self.bytes.clear();
                }
                self.refuse_rest("the connection was closed within a message");
            }
            (Mode::Framed(framing), End::Closed) => {
                let framing = *framing;
                let rest = std::mem::take(&mut self.bytes);
                if !rest.is_empty() {
                    self.push(rest, framing, 1, &mut blocks);
                }
            }
            (Mode::Detecting | Mode::Lost, End::Closed) => {}
        }
        self.push_bad(&mut blocks);
        blocks
    }

    /// The message that has not come whole is given up for want of memory.
    pub fn give_up(&mut self, reason: &str) {
        let left = match self.mode {
            Mode::Framed(Framing::Counted) => match counted_head(&self.bytes) {
                CountedHead::Frame { start, length } => Some((start + length) - self.bytes.len()),
                _ => None,
            },
            Mode::Framed(_) => None,
            _ => return self.refuse_rest(reason),
        };
        let frame = self.bad_frame(0, self.bytes.len(), reason);
        (self.bytes, self.searched) = (Vec::new(), 0);
        self.skipped = Some(Skipped { frame, left });
    }

    fn cut_separated(&mut self, framing: Framing, blocks: &mut Vec<Arrival>) -> bool {
        if let Some(cut) = framing.cut(&self.bytes[self.searched..]) {
            let block = self.split(self.searched + cut);
            if block.len() > self.message_bytes_max {
                self.push_bounded(&block, framing, blocks);
            } else {
                let frames = framing.count(&block);
                self.push(block, framing, frames, blocks);
            }
        }
        self.searched = self.bytes.len();
        if self.bytes.len() > self.message_bytes_max {
            let frame = self.bad_frame(0, self.bytes.len(), &self.too_long());
            self.push_bad(blocks);
            (self.bytes, self.searched) = (Vec::new(), 0);
            self.skipped = Some(Skipped { frame, left: None });
        }
        false
    }

    /// A block that is longer than a message may be: those of its messages that are too long are left out.
    fn push_bounded(&mut self, block: &[u8], framing: Framing, blocks: &mut Vec<Arrival>) {
        let (mut start, mut at, mut frames) = (0, 0, 0);
        while let Some(length) = framing.end_of_first(&block[at..]) {
            // The separator is no part of the message.
            if length - 1 > self.message_bytes_max {
                self.push_some(&block[start..at], framing, frames, blocks);
                let head = &block[at..at + length - 1];
                let bad =
                    bad_frame(self.line, head, head.len(), &skipped(&self.too_long(), head.len()));
                self.bad.push(bad);
                self.line += 1;
                (start, frames) = (at + length, 0);
            } else {
                frames += 1;
            }
            at += length;
        }
        self.push_some(&block[start..at], framing, frames, blocks);
    }

    fn push_some(&mut self, block: &[u8], framing: Framing, frames: u64, to: &mut Vec<Arrival>) {
        if frames > 0 {
            self.push(block.to_vec(), framing, frames, to);
        }
    }

    fn cut_counted(&mut self, blocks: &mut Vec<Arrival>) -> bool {
        let (mut at, mut frames) = (0, 0);
        let head = loop {
            let head = counted_head(&self.bytes[at..]);
            match head {
                CountedHead::Frame { start, length }
                    if length <= self.message_bytes_max
                        && at + start + length <= self.bytes.len() =>
                {
                    at += start + length;
                    frames += 1;
                }
                _ => break head,
            }
        };
        if frames > 0 {
            let block = self.split(at);
            self.push(block, Framing::Counted, frames, blocks);
        }
        match head {
            CountedHead::Frame { start, length } if length > self.message_bytes_max => {
                self.skip_counted(start, length);
                true
            }
            CountedHead::Frame { .. } | CountedHead::Partial => false,
            CountedHead::Broken if self.falls_back => {
                self.mode = Mode::Framed(Framing::Lines);
                self.searched = 0;
                true
            }
            CountedHead::Broken => {
                self.refuse_rest("no length stands in front of the message; the rest is skipped");
                self.mode = Mode::Lost;
                false
            }
        }
    }

    /// What the first bytes tell about a syslog sender; whether they tell it.
    fn detect(&mut self) -> bool {
        let Some(first) = self.bytes.first() else { return false };
        let framing = match counted_head(&self.bytes) {
            _ if !first.is_ascii_digit() => Framing::Lines,
            CountedHead::Partial => return false,
            CountedHead::Broken => Framing::Lines,
            CountedHead::Frame { start, .. } => match self.bytes.get(start) {
                None => return false,
                Some(b'<') => Framing::Counted,
                Some(_) => Framing::Lines,
            },
        };
        self.mode = Mode::Framed(framing);
        true
    }

    /// Packs messages with their lengths in front.
    fn pack(&mut self, found: Vec<Result<Message, String>>, blocks: &mut Vec<Arrival>) {
        let (mut packed, mut count, mut ingest) = (Vec::new(), 0, None);
        for message in found {
            let message = match message {
                Ok(message) if message.bytes.len() <= self.message_bytes_max => message,
                Ok(Message { bytes, .. }) => {
                    let reason = skipped(&self.too_long(), bytes.len());
                    self.bad.push(bad_frame(self.line + count, &bytes, bytes.len(), &reason));
                    continue;
                }
                Err(reason) => {
                    self.bad.push(bad_frame(self.line + count, &[], 0, &reason));
                    continue;
                }
            };
            if message.ingest_ns != ingest && count > 0 {
                self.push_packed(&mut packed, &mut count, ingest, blocks);
            }
            ingest = message.ingest_ns;
            push_prefixed(&mut packed, &message.bytes);
            count += 1;
        }
        if count > 0 {
            self.push_packed(&mut packed, &mut count, ingest, blocks);
        }
    }

    fn push_packed(
        &mut self,
        packed: &mut Vec<u8>,
        count: &mut u64,
        ingest: Option<u64>,
        blocks: &mut Vec<Arrival>,
    ) {
        self.push(std::mem::take(packed), Framing::Prefixed, std::mem::take(count), blocks);
        if let Some(block) = blocks.last_mut() {
            block.ingest = ingest;
        }
    }

    /// The bytes before `whole`; those behind them stay.
    fn split(&mut self, whole: usize) -> Vec<u8> {
        let rest = self.bytes[whole..].to_vec();
        let mut block = std::mem::replace(&mut self.bytes, rest);
        block.truncate(whole);
        self.searched = 0;
        // What waits in queues takes no more than twice the memory of its bytes.
        if block.len() < block.capacity() / 2 {
            block.shrink_to_fit();
        }
        block
    }

    fn push(&mut self, block: Vec<u8>, framing: Framing, frames: u64, blocks: &mut Vec<Arrival>) {
        let bad = std::mem::take(&mut self.bad);
        blocks.push(Arrival {
            range: 0..block.len(),
            buffer: Buffer::of_bytes(block),
            framing,
            frames,
            first_line: self.line,
            bad,
            ingest: None,
        });
        self.line += frames;
    }

    fn push_bad(&mut self, blocks: &mut Vec<Arrival>) {
        if !self.bad.is_empty() {
            self.push(Vec::new(), Framing::Lines, 0, blocks);
        }
    }
}

/// Appends a message with its length in front ([`Framing::Prefixed`]).
pub fn push_prefixed(packed: &mut Vec<u8>, message: &[u8]) {
    let length = u32::try_from(message.len()).expect("messages are bounded far below 4 GiB");
    let head: [u8; PREFIX_BYTES] = length.to_le_bytes();
    packed.extend_from_slice(&head);
    packed.extend_from_slice(message);
}
