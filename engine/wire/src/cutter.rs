//! From the bytes of one connection to blocks of whole messages.
//!
//! Invariant: every byte is in exactly one message or bad frame, in order, however the reads fall; no more
//! than the longest message allowed, and what one read brings, is held.

use temblor_codec::interceptor::{Chain, Message, Preprocessor};
use temblor_runtime::batch::BadFrame;
use temblor_runtime::buffer::Buffer;
use temblor_runtime::framing::{CountedHead, Framing, PREFIX_BYTES, counted_head};
use temblor_runtime::intake::Arrival;
use temblor_runtime::limits::BAD_FRAME_BYTES_KEPT;

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

/// A frame that is too long and whose end has not come.
struct Skipped {
    frame: BadFrame,
    /// Bytes that are still to come; nothing where a separator tells the end.
    left: Option<usize>,
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

    fn skip_counted(&mut self, start: usize, length: usize) {
        let here = self.bytes.len().min(start + length);
        let mut frame = self.bad_frame(start.min(here), here, &self.too_long());
        frame.length = length as u64;
        self.bytes.drain(..here);
        let left = Some(start + length - here);
        self.skipped = Some(Skipped { frame, left });
    }

    /// Passes over what belongs to a frame that is too long; whether its end has come.
    fn skip(&mut self) -> bool {
        let Some(mut skipped) = self.skipped.take() else { return true };
        let end = match (&mut skipped.left, &self.mode) {
            (Some(left), _) => {
                let here = self.bytes.len().min(*left);
                *left -= here;
                self.bytes.drain(..here);
                *left == 0
            }
            (None, Mode::Framed(framing)) => {
                let end = framing.end_of_first(&self.bytes);
                let length = end.map_or(self.bytes.len(), |end| end - 1);
                skipped.frame.length += length as u64;
                self.bytes.drain(..end.unwrap_or(length));
                end.is_some()
            }
            (None, _) => true,
        };
        self.searched = 0;
        match end {
            true => self.refuse_skipped(skipped),
            false => self.skipped = Some(skipped),
        }
        end
    }

    fn refuse_skipped(&mut self, mut skipped: Skipped) {
        let length = usize::try_from(skipped.frame.length).unwrap_or(usize::MAX);
        skipped.frame.reason = self::skipped(&skipped.frame.reason, length);
        self.bad.push(skipped.frame);
        self.line += 1;
    }

    fn refuse_rest(&mut self, reason: &str) {
        if !self.bytes.is_empty() {
            let frame = self.bad_frame(0, self.bytes.len(), reason);
            self.bad.push(frame);
            self.line += 1;
        }
        (self.bytes, self.searched) = (Vec::new(), 0);
    }

    fn bad_frame(&self, start: usize, end: usize, reason: &str) -> BadFrame {
        bad_frame(self.line, &self.bytes[start..end], end - start, reason)
    }

    fn too_long(&self) -> String {
        format!("the message is longer than {} bytes", self.message_bytes_max)
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

/// A bad frame that shows its first bytes.
#[must_use]
pub fn bad_frame(line: u64, bytes: &[u8], length: usize, reason: &str) -> BadFrame {
    let head = bytes[..bytes.len().min(BAD_FRAME_BYTES_KEPT)].to_vec();
    BadFrame { line, length: length as u64, reason: reason.to_string(), head }
}

fn skipped(reason: &str, length: usize) -> String {
    format!("{reason} ({length} bytes); skipped")
}

#[cfg(test)]
mod tests {
    use super::*;
    use temblor_runtime::framing::FrameCursor;

    /// Feeds `input` in reads of `read` bytes: the messages, and the bad frames as `! line length reason`.
    fn cut(how: &Cut, max: usize, input: &[u8], read: usize, end: &End) -> Vec<String> {
        let mut cutter = Cutter::new(how, max);
        let (mut found, mut line) = (Vec::new(), 1);
        let mut see = |blocks: Vec<Arrival>| {
            for block in blocks {
                for bad in &block.bad {
                    assert_eq!(bad.line, line, "{bad:?}");
                    line += 1;
                    found.push(format!("! {} {}", bad.length, bad.reason));
                }
                let mut cursor = FrameCursor::new(block.framing, block.range.clone());
                let mut frames = 0;
                while let Some(range) = cursor.next(&block.buffer) {
                    found.push(String::from_utf8_lossy(&block.buffer[range]).into_owned());
                    frames += 1;
                }
                assert_eq!(frames, block.frames, "{found:?}");
                if block.frames > 0 {
                    assert_eq!(block.first_line, line, "{found:?}");
                }
                line += frames;
            }
        };
        for part in input.chunks(read) {
            cutter.bytes().extend_from_slice(part);
            see(cutter.added());
        }
        see(cutter.finish(end));
        found
    }

    fn same_however_reads_fall(how: &Cut, max: usize, input: &[u8], wanted: &[&str]) {
        for read in 1..=input.len() {
            assert_eq!(cut(how, max, input, read, &End::Closed), wanted, "reads of {read}");
        }
    }

    #[test]
    fn lines_are_the_same_however_reads_fall() {
        let lines = Cut::Framed(Framing::Lines);
        same_however_reads_fall(&lines, 99, b"a\r\nbc\n\nlast", &["a", "bc", "", "last"]);
        let pipes = Cut::Framed(Framing::Separated(b'|'));
        same_however_reads_fall(&pipes, 99, b"a\n|b|", &["a\n", "b"]);
        same_however_reads_fall(&Cut::Framed(Framing::Whole), 99, b"a\nb\n", &["a\nb\n"]);
    }

    #[test]
    fn messages_at_the_limit_pass_and_longer_ones_are_skipped() {
        let wanted = ["12345", "! 6 the message is longer than 5 bytes (6 bytes); skipped", "ok"];
        let lines = Cut::Framed(Framing::Lines);
        same_however_reads_fall(&lines, 5, b"12345\n123456\nok\n", &wanted);
        let counted = Cut::Framed(Framing::Counted);
        same_however_reads_fall(&counted, 5, b"5 123456 123456\n2 ok", &wanted);
        same_however_reads_fall(&lines, 5, b"12345\n123456", &wanted[..2]);
        same_however_reads_fall(&Cut::Framed(Framing::Whole), 5, b"123456", &wanted[1..2]);
    }

    #[test]
    fn the_framing_of_syslog_is_seen_from_its_beginning() {
        let detected = Cut::Detected;
        same_however_reads_fall(&detected, 99, b"6 <1>a\nb5 <2>cd", &["<1>a\nb", "<2>cd"]);
        same_however_reads_fall(&detected, 99, b"<1>a\n<2>b\n", &["<1>a", "<2>b"]);
        let years = b"2003 Oct 11 x\n2003-10-11T1 y\n";
        same_however_reads_fall(&detected, 99, years, &["2003 Oct 11 x", "2003-10-11T1 y"]);
        same_however_reads_fall(&detected, 99, b"12", &["12"]);
        // A sender that counts only some of its messages.
        same_however_reads_fall(&detected, 99, b"4 <1>a<2>b\n<3>c\n", &["<1>a", "<2>b", "<3>c"]);
    }

    #[test]
    fn a_count_that_is_none_ends_the_stream() {
        let counted = Cut::Framed(Framing::Counted);
        let found = cut(&counted, 99, b"2 ok<1>no count\n2 ok", 99, &End::Closed);
        assert_eq!(found[0], "ok");
        assert!(found[1].starts_with("! 16 no length stands"), "{found:?}");
        assert_eq!(found.len(), 2);
        let found = cut(&counted, 99, b"2 ok5 abc", 2, &End::Closed);
        assert_eq!(found, ["ok", "! 5 the connection was closed within a message"]);
    }

    #[test]
    fn what_is_left_of_a_broken_connection_is_bad() {
        let broken = End::Broken("reset".to_string());
        let found = cut(&Cut::Framed(Framing::Lines), 99, b"a\nbc", 3, &broken);
        assert_eq!(found, ["a", "! 2 reset"]);
    }

    #[test]
    fn a_message_that_is_given_up_is_skipped_to_its_end() {
        for (how, input, more) in [
            (Cut::Framed(Framing::Lines), &b"ok\nabc"[..], &b"def\nok\n"[..]),
            (Cut::Framed(Framing::Counted), b"2 ok6 abc", b"def2 ok"),
        ] {
            let mut cutter = Cutter::new(&how, 99);
            cutter.bytes().extend_from_slice(input);
            assert_eq!(cutter.added().len(), 1);
            cutter.give_up("no memory");
            cutter.bytes().extend_from_slice(more);
            let blocks = cutter.added();
            assert_eq!((blocks.len(), blocks[0].bad.len(), blocks[0].frames), (1, 1, 1));
            assert!(blocks[0].bad[0].reason.starts_with("no memory"));
        }
    }

    #[test]
    fn chains_of_preprocessors_are_fed_across_reads() {
        let chain = Cut::Chained(vec![
            Preprocessor::LengthPrefixed,
            Preprocessor::Separate { separator: b'\n', length_max: 99, buffered: false },
        ]);
        let mut input = 3_u64.to_be_bytes().to_vec();
        input.extend_from_slice(b"a\nb");
        same_however_reads_fall(&chain, 99, &input, &["a", "b"]);
    }
}
