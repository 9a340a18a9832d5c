//! Preprocessors: from the chunks that a source reads to messages. A chain is fed in the order of
//! the input and gives the same messages however the chunks fall, unless it has no splitter.

use super::gelf::GelfChunks;
use super::packing::Packing;
use super::{LENGTH_BYTES, MESSAGE_BYTES_MAX, TIME_BYTES};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use memchr::memchr;

/// Digits, and blanks, of a length that stands in front of a message as text.
const LENGTH_DIGITS_MAX: usize = 32;

/// A preprocessor as configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Preprocessor {
    /// `separate`
    Separate {
        /// Ends each message.
        separator: u8,
        /// Longer messages are left out.
        length_max: usize,
        /// Whether a message may go on in the next chunk.
        buffered: bool,
    },
    /// `remove-empty`
    RemoveEmpty,
    /// `base64`
    Base64,
    /// `decompress`: the named compression, or what the first bytes say.
    Decompress(Option<Packing>),
    /// `length-prefixed`: a big-endian 64-bit length in front.
    LengthPrefixed,
    /// `textual-length-prefixed`: `5 hello`
    TextualLengthPrefixed,
    /// `gelf-chunking`
    GelfChunking,
    /// `ingest-ns`: the time of ingest in front, big-endian.
    IngestNs,
}

/// A message on its way through the chain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// When it was taken in, when `ingest-ns` has read that, in nanoseconds since 1970-01-01 UTC.
    pub ingest_ns: Option<u64>,
}

/// Messages, or what is wrong with one.
type Messages = Vec<Result<Message, String>>;
/// What a stage makes of a message.
type Parts = Vec<Result<Vec<u8>, String>>;

/// Preprocessors one behind the other, with what they remember.
#[derive(Debug)]
pub struct Chain(Vec<Stage>);

#[derive(Debug)]
struct Stage {
    kind: Preprocessor,
    /// The beginning of a message that is not complete.
    rest: Vec<u8>,
    /// The message that `rest` belongs to is too long: what is left of it is skipped.
    skipping: bool,
    chunks: GelfChunks,
    /// The time of the last message that came.
    time: Option<u64>,
}

impl Chain {
    /// A chain that has seen nothing yet.
    #[must_use]
    pub fn new(kinds: &[Preprocessor]) -> Self {
        let stage = |kind: &Preprocessor| Stage {
            kind: kind.clone(),
            rest: Vec::new(),
            skipping: false,
            chunks: GelfChunks::default(),
            time: None,
        };
        Self(kinds.iter().map(stage).collect())
    }

    /// The messages that are complete with this chunk.
    pub fn feed(&mut self, chunk: &[u8]) -> Messages {
        let chunk = Message { bytes: chunk.to_vec(), ingest_ns: None };
        Self::run(&mut self.0, vec![Ok(chunk)])
    }

    /// The input has ended: what is left.
    pub fn finish(&mut self) -> Messages {
        let mut all = Vec::new();
        for at in 0..self.0.len() {
            let mut left = Vec::new();
            self.0[at].finish(&mut left);
            all.extend(Self::run(&mut self.0[at + 1..], left));
        }
        all
    }

    fn run(stages: &mut [Stage], messages: Messages) -> Messages {
        stages.iter_mut().fold(messages, |messages, stage| {
            let mut next = Vec::new();
            for message in messages {
                match message {
                    Ok(message) => stage.feed(message, &mut next),
                    Err(reason) => next.push(Err(reason)),
                }
            }
            next
        })
    }
}

impl Stage {
    fn feed(&mut self, message: Message, out: &mut Messages) {
        if self.kind == Preprocessor::IngestNs {
            return out.push(timed(&message.bytes));
        }
        self.time = message.ingest_ns;
        let mut parts = Vec::new();
        self.split(message.bytes, &mut parts);
        self.give(parts, out);
    }

    /// Parts of a message have its time.
    fn give(&self, parts: Parts, out: &mut Messages) {
        let ingest_ns = self.time;
        let timed = |part: Result<Vec<u8>, String>| part.map(|bytes| Message { bytes, ingest_ns });
        out.extend(parts.into_iter().map(timed));
    }

    fn split(&mut self, message: Vec<u8>, out: &mut Parts) {
        match self.kind {
            Preprocessor::Separate { separator, length_max, buffered } => {
                self.separate(&message, separator, length_max, out);
                if !buffered {
                    self.rest(out);
                }
            }
            Preprocessor::RemoveEmpty if message.is_empty() => {}
            Preprocessor::RemoveEmpty => out.push(Ok(message)),
            Preprocessor::Base64 => {
                let decoded = STANDARD.decode(message.trim_ascii());
                out.push(decoded.map_err(|error| format!("not base64: {error}")));
            }
            Preprocessor::Decompress(packing) => {
                // What the first bytes do not tell stays as it is.
                out.push(match packing.or_else(|| Packing::of(&message)) {
                    Some(packing) => packing.unpack(&message),
                    None => Ok(message),
                });
            }
            Preprocessor::LengthPrefixed => {
                self.rest.extend_from_slice(&message);
                self.prefixed(out);
            }
            Preprocessor::TextualLengthPrefixed => {
                self.rest.extend_from_slice(&message);
                self.textual(out);
            }
            Preprocessor::GelfChunking => {
                if let Some(whole) = self.chunks.feed(message).transpose() {
                    out.push(whole);
                }
            }
            Preprocessor::IngestNs => out.push(Ok(message)),
        }
    }

    fn separate(&mut self, mut chunk: &[u8], separator: u8, longest: usize, out: &mut Parts) {
        while let Some(end) = memchr(separator, chunk) {
            self.keep(&chunk[..end], longest, out);
            chunk = &chunk[end + 1..];
            let message = std::mem::take(&mut self.rest);
            if !std::mem::replace(&mut self.skipping, false) {
                out.push(Ok(message));
            }
        }
        self.keep(chunk, longest, out);
    }

    fn keep(&mut self, part: &[u8], longest: usize, out: &mut Parts) {
        if self.skipping {
            return;
        }
        if self.rest.len() + part.len() > longest {
            out.push(Err(format!("a message is longer than {longest} bytes; skipped")));
            self.rest.clear();
            self.skipping = true;
            return;
        }
        self.rest.extend_from_slice(part);
    }

    fn prefixed(&mut self, out: &mut Parts) {
        let mut at = 0;
        while let Some((head, body)) = self.rest[at..].split_first_chunk::<LENGTH_BYTES>() {
            let length = usize::try_from(u64::from_be_bytes(*head)).unwrap_or(usize::MAX);
            if length > MESSAGE_BYTES_MAX {
                out.push(Err(format!("a length of {length} bytes is too long; input skipped")));
                at = self.rest.len();
                break;
            }
            let Some(message) = body.get(..length) else { break };
            out.push(Ok(message.to_vec()));
            at += LENGTH_BYTES + length;
        }
        self.rest.drain(..at);
    }

    fn textual(&mut self, out: &mut Parts) {
        let mut at = 0;
        while let Some(blank) = memchr(b' ', &self.rest[at..]) {
            let digits = std::str::from_utf8(&self.rest[at..at + blank]).unwrap_or_default();
            let length = digits.trim().parse::<usize>().ok();
            let Some(length) = length.filter(|length| *length <= MESSAGE_BYTES_MAX) else {
                out.push(Err(format!("`{digits}` is no length of a message; input skipped")));
                at = self.rest.len();
                break;
            };
            let start = at + blank + 1;
            let Some(message) = self.rest.get(start..start + length) else { break };
            out.push(Ok(message.to_vec()));
            at = start + length;
        }
        if self.rest.len() - at > LENGTH_DIGITS_MAX && memchr(b' ', &self.rest[at..]).is_none() {
            out.push(Err("there is no length in front of a message; input skipped".to_string()));
            at = self.rest.len();
        }
        self.rest.drain(..at);
    }

    fn finish(&mut self, out: &mut Messages) {
        let mut parts = Vec::new();
        self.rest(&mut parts);
        self.give(parts, out);
    }

    fn rest(&mut self, out: &mut Parts) {
        let rest = std::mem::take(&mut self.rest);
        let skipping = std::mem::replace(&mut self.skipping, false);
        match self.kind {
            Preprocessor::Separate { .. } if !rest.is_empty() && !skipping => out.push(Ok(rest)),
            Preprocessor::LengthPrefixed | Preprocessor::TextualLengthPrefixed
                if !rest.trim_ascii().is_empty() =>
            {
                out.push(Err(format!("the input ends within a message ({} bytes)", rest.len())));
            }
            _ => {}
        }
    }
}

/// Takes the time off the front of a message.
fn timed(message: &[u8]) -> Result<Message, String> {
    match message.split_first_chunk::<TIME_BYTES>() {
        Some((head, rest)) => {
            Ok(Message { bytes: rest.to_vec(), ingest_ns: Some(u64::from_be_bytes(*head)) })
        }
        None => Err(format!("{} bytes are too few for a time of ingest", message.len())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(kinds: &[Preprocessor], chunks: &[&[u8]]) -> Vec<String> {
        let mut chain = Chain::new(kinds);
        let mut all: Messages = chunks.iter().flat_map(|chunk| chain.feed(chunk)).collect();
        all.extend(chain.finish());
        let text = |one: Result<Message, String>| match one {
            Ok(message) => String::from_utf8_lossy(&message.bytes).into_owned(),
            Err(reason) => format!("! {reason}"),
        };
        all.into_iter().map(text).collect()
    }

    fn lines(length_max: usize, buffered: bool) -> Preprocessor {
        Preprocessor::Separate { separator: b'\n', length_max, buffered }
    }

    #[test]
    fn separate_keeps_messages_across_chunks_and_gives_the_last() {
        let found = messages(&[lines(99, true)], &[b"a\nb", b"c\n\nd"]);
        assert_eq!(found, ["a", "bc", "", "d"]);
        let found = messages(&[lines(99, false)], &[b"a\nb", b"c\n"]);
        assert_eq!(found, ["a", "b", "c"]);
        let found = messages(&[lines(2, true), Preprocessor::RemoveEmpty], &[b"abc", b"d\n\nxy\n"]);
        assert_eq!(found, ["! a message is longer than 2 bytes; skipped", "xy"]);
    }

    #[test]
    fn prefixed_messages_are_found_however_the_chunks_fall() {
        let mut text = 2u64.to_be_bytes().to_vec();
        text.extend_from_slice(b"hi");
        text.extend_from_slice(&0u64.to_be_bytes());
        for cut in 0..text.len() {
            let (left, right) = text.split_at(cut);
            assert_eq!(messages(&[Preprocessor::LengthPrefixed], &[left, right]), ["hi", ""]);
        }
        let found = messages(&[Preprocessor::TextualLengthPrefixed], &[b"5 hel", b"lo2 ab3 a"]);
        assert_eq!(found, ["hello", "ab", "! the input ends within a message (3 bytes)"]);
        let found = messages(&[Preprocessor::LengthPrefixed], &[&[0xff; 9]]);
        assert!(found[0].starts_with("! a length of"), "{found:?}");
    }

    #[test]
    fn packed_messages_are_unpacked_and_plain_ones_stay() {
        let chain = [lines(99, true), Preprocessor::Base64, Preprocessor::Decompress(None)];
        // "hi" as zlib, then plain.
        assert_eq!(messages(&chain, &[b"eJzLyAQAATsA0g==\naGk=\n!!\n"])[..2], ["hi", "hi"]);
    }

    #[test]
    fn times_in_front_belong_to_what_follows_them() {
        let mut chain = Chain::new(&[Preprocessor::IngestNs, lines(99, true)]);
        let found = chain.feed(b"\0\0\0\0\0\0\0\x07a\nb\nc");
        let times: Vec<_> = found.iter().flatten().map(|one| one.ingest_ns).collect();
        assert_eq!(times, [Some(7), Some(7)]);
        assert_eq!(
            messages(&[Preprocessor::IngestNs], &[b"x"]),
            ["! 1 bytes are too few for a time of ingest"]
        );
    }

    #[test]
    fn a_length_that_never_ends_is_not_waited_for() {
        let found = messages(&[Preprocessor::TextualLengthPrefixed], &[&[b'1'; 99]]);
        assert_eq!(found, ["! there is no length in front of a message; input skipped"]);
    }
}
