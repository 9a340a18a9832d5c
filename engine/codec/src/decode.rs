//! From the bytes of a frame to a value. JSON becomes a tape; nothing else is built until a program
//! asks for it.

use crate::format::Format;
use temblor_lang::tape::{Reader, explain, utf8};
use temblor_lang::value::{Arena, Value};

/// What some programs write in front of UTF-8 (U+FEFF); a reader of JSON may pass over it (RFC 8259, section 8.1).
const UTF8_MARK: &[u8] = b"\xef\xbb\xbf";

/// How frames are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum InputCodec {
    /// Each frame is a JSON value (RFC 8259).
    #[default]
    Json,
    /// Each frame is a string.
    String,
    /// Each frame is a message of this format.
    Format(Format),
}

/// Memory that decoding uses again and again.
#[derive(Default)]
pub struct Decoder {
    reader: Reader,
}

/// A value, and the text that it was read from when that text may stand for it. `None` when the
/// frame holds no event.
type Decoded<'a> = Result<Option<(Value<'a>, Option<&'a [u8]>)>, String>;

impl Decoder {
    /// Reads one frame, which arrived at `ingest_ns`, into `arena`.
    pub fn decode<'a>(
        &mut self,
        codec: InputCodec,
        frame: &'a [u8],
        ingest_ns: u64,
        arena: &'a Arena,
    ) -> Decoded<'a> {
        match codec {
            InputCodec::String => match utf8(frame) {
                Ok(text) => Ok(Some((Value::Str(text), None))),
                Err(error) => Err(format!("not UTF-8: byte {} is invalid", error.valid_up_to())),
            },
            InputCodec::Json => self.json(frame, arena),
            InputCodec::Format(format) => {
                Ok(format.decode(frame, ingest_ns, arena)?.map(|value| (value, None)))
            }
        }
    }

    fn json<'a>(&mut self, frame: &'a [u8], arena: &'a Arena) -> Decoded<'a> {
        match self.reader.read(frame, arena) {
            Ok(value) => Ok(Some((value, Some(frame)))),
            Err(error) => match frame.strip_prefix(UTF8_MARK) {
                Some(text) => match self.reader.read(text, arena) {
                    Ok(value) => Ok(Some((value, Some(text)))),
                    Err(error) => Err(explained(&error, text)),
                },
                None => Err(explained(&error, frame)),
            },
        }
    }
}

/// What is wrong with a JSON text, and where.
#[cold]
fn explained(error: &simd_json::Error, text: &[u8]) -> String {
    let (what, at) = explain(error, text);
    format!("not JSON: {what} at byte {at}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_of_utf_8_is_passed_over() {
        let arena = Arena::new();
        let decoded = Decoder::default().decode(InputCodec::Json, b"\xef\xbb\xbf7", 0, &arena);
        assert_eq!(decoded, Ok(Some((Value::UInt(7), Some(b"7".as_slice())))));
        let only = Decoder::default().decode(InputCodec::Json, UTF8_MARK, 0, &arena);
        assert!(only.is_err());
    }

    #[test]
    fn what_is_no_json_is_said_in_words() {
        for (text, wanted) in [
            ("bad", "unexpected `b` at byte 0"),
            ("{\"a\":1}}", "unexpected `}` at byte 6"),
            ("\u{1}", "unexpected byte at byte 0"),
            ("\"x", "a text without its end at byte 0"),
            ("[1,", "it ends too early at byte 2"),
            ("{\"a\" 1}", "expected object colon at byte 5"),
            ("[1, 1.0e999999999]", "a number that is too large for 64 bits at byte 4"),
            ("[[[[-1e400]]]]", "a number that is too large for 64 bits at byte 4"),
            ("{\"a\": 1e309}", "a number that is too large for 64 bits at byte 6"),
            ("[01]", "invalid number at byte 2"),
            ("[\"\\ud800\"]", "half of a surrogate pair at byte 2"),
        ] {
            let arena = Arena::new();
            let error = Decoder::default().decode(InputCodec::Json, text.as_bytes(), 0, &arena);
            assert_eq!(error.unwrap_err(), format!("not JSON: {wanted}"), "{text}");
        }
    }
}
