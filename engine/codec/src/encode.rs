//! From a value to the bytes of a message. An event that nobody changed leaves as the bytes that it came in as.

use crate::format::Format;
use crate::interceptor::{Postprocessor, finish_event};
use temblor_lang::value::{JsonStyle, Value, push_json, push_json_string, push_text};

/// How events are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum OutputCodec {
    /// Compact JSON, one event a line.
    #[default]
    Json,
    /// Compact JSON with sorted keys.
    SortedJson,
    /// JSON over several lines.
    PrettyJson,
    /// Strings as they are, anything else as JSON; one event a line.
    String,
    /// `{"port": …, "event": …}`, one a line.
    WithPort,
    /// Dead letters, which who sends them makes himself: here they are JSON.
    Letter,
    /// Messages of this format.
    Format(Format),
}

/// How an event becomes bytes.
#[derive(Clone, Debug, Default)]
pub struct Encoding {
    /// How it is written.
    pub codec: OutputCodec,
    /// What happens to the encoded event; nothing means that a newline ends it.
    pub post: Option<Box<[Postprocessor]>>,
}

impl Encoding {
    /// Appends an event; `raw` is the text that it came in as, if that may stand for it. After an error `bytes` may end in a part of it.
    pub fn encode(
        &self,
        bytes: &mut Vec<u8>,
        port: &str,
        value: Value<'_>,
        raw: Option<&[u8]>,
        ingest_ns: u64,
    ) -> Result<(), String> {
        let start = bytes.len();
        match (self.codec, raw) {
            (OutputCodec::Json | OutputCodec::Letter, Some(raw)) => bytes.extend_from_slice(raw),
            // As JSON a string has quotes, which are no part of it.
            (OutputCodec::String, Some(raw)) if value.as_str().is_none() => {
                bytes.extend_from_slice(raw);
            }
            (OutputCodec::Json | OutputCodec::Letter, None) => {
                push_json(bytes, value, JsonStyle::AsRead)
            }
            (OutputCodec::SortedJson, _) => push_json(bytes, value, JsonStyle::Sorted),
            (OutputCodec::PrettyJson, _) => push_json(bytes, value, JsonStyle::Pretty),
            (OutputCodec::String, _) => push_text(bytes, value),
            (OutputCodec::WithPort, _) => {
                bytes.extend_from_slice(b"{\"port\":");
                push_json_string(bytes, port);
                bytes.extend_from_slice(b",\"event\":");
                match raw {
                    Some(raw) => bytes.extend_from_slice(raw),
                    None => push_json(bytes, value, JsonStyle::AsRead),
                }
                bytes.push(b'}');
            }
            (OutputCodec::Format(format), _) => format.encode(value, ingest_ns, bytes)?,
        }
        match &self.post {
            None => {
                bytes.push(b'\n');
                Ok(())
            }
            Some(chain) => finish_event(chain, ingest_ns, bytes, start),
        }
    }
}
