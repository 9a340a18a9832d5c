//! Postprocessors: what is done to the bytes of an encoded event before a sink gets them. Each event
//! is dealt with alone, in the worker.

use super::LENGTH_BYTES;
use super::gelf;
use super::packing::Packing;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use xxhash_rust::xxh3::xxh3_64;

/// A postprocessor as configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Postprocessor {
    /// `separate`: this byte behind each message.
    Separate(u8),
    /// `base64`
    Base64,
    /// `length-prefixed`
    LengthPrefixed,
    /// `textual-length-prefixed`
    TextualLengthPrefixed,
    /// `ingest-ns`: the time of ingest in front, big-endian.
    IngestNs,
    /// `compress`: each message by itself, with this level.
    Compress(Packing, Option<i64>),
    /// `gelf-chunking`
    GelfChunking,
    /// `chunk` and `collect` at the end of a chain: the sink joins messages anyway; one that is
    /// longer than this is left out.
    Join {
        /// Longest message; 0 means any.
        bytes_max: usize,
    },
}

/// Runs the chain over the bytes from `start` to the end of `bytes`: one encoded event.
///
/// # Errors
/// A sentence, when the event cannot be written. `bytes` then ends at `start`.
pub(crate) fn finish_event(
    chain: &[Postprocessor],
    ingest_ns: u64,
    bytes: &mut Vec<u8>,
    start: usize,
) -> Result<(), String> {
    if let [Postprocessor::Separate(separator)] = chain {
        bytes.push(*separator);
        return Ok(());
    }
    if chain.is_empty() {
        return Ok(());
    }
    let mut messages = vec![bytes.split_off(start)];
    for one in chain {
        let mut next = Vec::with_capacity(messages.len());
        for message in messages {
            one.process(message, ingest_ns, &mut next)?;
        }
        messages = next;
    }
    messages.iter().for_each(|message| bytes.extend_from_slice(message));
    Ok(())
}

impl Postprocessor {
    fn process(
        &self,
        mut message: Vec<u8>,
        ingest_ns: u64,
        out: &mut Vec<Vec<u8>>,
    ) -> Result<(), String> {
        match self {
            Postprocessor::Separate(separator) => message.push(*separator),
            Postprocessor::Base64 => message = STANDARD.encode(&message).into_bytes(),
            Postprocessor::LengthPrefixed => {
                let length: [u8; LENGTH_BYTES] = (message.len() as u64).to_be_bytes();
                message.splice(..0, length);
            }
            Postprocessor::TextualLengthPrefixed => {
                let length = format!("{} ", message.len()).into_bytes();
                message.splice(..0, length);
            }
            Postprocessor::IngestNs => {
                message.splice(..0, ingest_ns.to_be_bytes());
            }
            Postprocessor::Compress(packing, level) => message = packing.pack(*level, &message)?,
            Postprocessor::GelfChunking => {
                let chunks = gelf::split(xxh3_64(&message) ^ ingest_ns, &message);
                out.extend(chunks.ok_or("too long for the chunks of GELF")?);
                return Ok(());
            }
            Postprocessor::Join { bytes_max } => {
                if *bytes_max > 0 && message.len() > *bytes_max {
                    let length = message.len();
                    return Err(format!("{length} bytes are more than a chunk of {bytes_max}"));
                }
            }
        }
        out.push(message);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::before::{Chain, Message, Preprocessor};
    use super::super::packing::PACKINGS;
    use super::*;

    fn done(chain: &[Postprocessor], message: &[u8]) -> Vec<u8> {
        let mut bytes = b"before ".to_vec();
        bytes.extend_from_slice(message);
        finish_event(chain, 1, &mut bytes, 7).unwrap();
        assert!(bytes.starts_with(b"before "));
        bytes.split_off(7)
    }

    #[test]
    fn each_chain_does_what_it_says() {
        assert_eq!(done(&[], b"hi"), b"hi");
        assert_eq!(done(&[Postprocessor::Separate(b';')], b"hi"), b"hi;");
        let chain = [Postprocessor::Base64, Postprocessor::TextualLengthPrefixed];
        assert_eq!(done(&chain, b"hi"), b"4 aGk=");
        assert_eq!(done(&[Postprocessor::IngestNs], b"x"), b"\0\0\0\0\0\0\0\x01x");
        let mut bytes = b"long".to_vec();
        let error = finish_event(&[Postprocessor::Join { bytes_max: 3 }], 0, &mut bytes, 0);
        assert_eq!((error.is_err(), bytes), (true, Vec::new()));
    }

    #[test]
    fn what_is_written_can_be_read() {
        for (name, packing) in PACKINGS.iter().filter(|(_, one)| *one != Packing::Brotli) {
            let packed = Postprocessor::Compress(*packing, None);
            let written = done(&[packed, Postprocessor::LengthPrefixed], b"hello");
            let kinds = [Preprocessor::LengthPrefixed, Preprocessor::Decompress(None)];
            let read = Chain::new(&kinds).feed(&written);
            let message = Message { bytes: b"hello".to_vec(), ingest_ns: None };
            assert_eq!(read, [Ok(message)], "{name}");
        }
    }
}
