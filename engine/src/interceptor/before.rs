//! Preprocessors: from the chunks that a source reads to messages. A chain is fed in the order of
//! the input and gives the same messages however the chunks fall, unless it has no splitter.

use super::gelf::GelfChunks;
use super::{LENGTH_BYTES, MESSAGE_BYTES_MAX};
use crate::source::compression::{self, Compression};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::ZlibDecoder;
use memchr::memchr;
use std::io::Read;

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
}

/// How one message is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// RFC 1952
    Gzip,
    /// RFC 1950
    Zlib,
    /// The .xz format
    Xz,
    /// RFC 8878
    Zstd,
}

/// Messages, or what is wrong with one.
type Messages = Vec<Result<Vec<u8>, String>>;

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
        };
        Self(kinds.iter().map(stage).collect())
    }

    /// The messages that are complete with this chunk.
    pub fn feed(&mut self, chunk: &[u8]) -> Messages {
        Self::run(&mut self.0, vec![Ok(chunk.to_vec())])
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
    fn feed(&mut self, message: Vec<u8>, out: &mut Messages) {
        match self.kind {
            Preprocessor::Separate { separator, length_max, buffered } => {
                self.separate(&message, separator, length_max, out);
                if !buffered {
                    self.finish(out);
                }
            }
            Preprocessor::RemoveEmpty if message.is_empty() => {}
            Preprocessor::RemoveEmpty => out.push(Ok(message)),
            Preprocessor::Base64 => {
                let decoded = STANDARD.decode(message.trim_ascii());
                out.push(decoded.map_err(|error| format!("not base64: {error}")));
            }
            Preprocessor::Decompress(packing) => out.push(decompress(packing, message)),
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
        }
    }

    fn separate(&mut self, mut chunk: &[u8], separator: u8, longest: usize, out: &mut Messages) {
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

    fn keep(&mut self, part: &[u8], longest: usize, out: &mut Messages) {
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

    fn prefixed(&mut self, out: &mut Messages) {
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

    fn textual(&mut self, out: &mut Messages) {
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
        self.rest.drain(..at);
    }

    fn finish(&mut self, out: &mut Messages) {
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

/// Unpacks one message. Without a name the first bytes tell; what they do not tell stays as it is.
fn decompress(packing: Option<Packing>, message: Vec<u8>) -> Result<Vec<u8>, String> {
    /// The first byte of nearly all zlib data (RFC 1950, a window of 32 KiB).
    const ZLIB_MAGIC: u8 = 0x78;
    let found = Compression::of(&message).map(|one| match one {
        Compression::Gzip => Packing::Gzip,
        Compression::Zstd => Packing::Zstd,
        Compression::Xz => Packing::Xz,
    });
    let is_zlib = message.first() == Some(&ZLIB_MAGIC)
        && message.get(1).is_some_and(|second| (0x7800 | u16::from(*second)) % 31 == 0);
    let packing = packing.or(found).or(is_zlib.then_some(Packing::Zlib));
    let Some(packing) = packing else { return Ok(message) };
    let mut unpacked = Vec::new();
    let reader = match packing {
        Packing::Zlib => Ok(Box::new(ZlibDecoder::new(&message[..])) as Box<dyn Read>),
        Packing::Gzip => compression::decoder(Compression::Gzip, Box::new(&message[..])),
        Packing::Zstd => compression::decoder(Compression::Zstd, Box::new(&message[..])),
        Packing::Xz => compression::decoder(Compression::Xz, Box::new(&message[..])),
    };
    let read = reader
        .and_then(|reader| reader.take(MESSAGE_BYTES_MAX as u64 + 1).read_to_end(&mut unpacked));
    match read {
        Ok(length) if length > MESSAGE_BYTES_MAX => {
            Err(format!("more than {MESSAGE_BYTES_MAX} bytes when decompressed"))
        }
        Ok(_) => Ok(unpacked),
        Err(error) => Err(format!("cannot be decompressed: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(kinds: &[Preprocessor], chunks: &[&[u8]]) -> Vec<String> {
        let mut chain = Chain::new(kinds);
        let mut all: Messages = chunks.iter().flat_map(|chunk| chain.feed(chunk)).collect();
        all.extend(chain.finish());
        let text = |one: Result<Vec<u8>, String>| match one {
            Ok(message) => String::from_utf8_lossy(&message).into_owned(),
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
}
