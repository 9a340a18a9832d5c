//! From the body of a request to events: by what the program says, else by the type of the content.
//!
//! Invariant: whatever a body holds, all of its bytes go on their way, good ones as events and bad ones to
//! the port `err`.

use hyper::header::{CONTENT_TYPE, HeaderMap};
use serde_json::value::RawValue;
use temblor_codec::InputCodec;
use temblor_codec::interceptor::{Chain, Preprocessor};
use temblor_runtime::batch::BadFrame;
use temblor_runtime::buffer::Buffer;
use temblor_runtime::framing::Framing;
use temblor_runtime::intake::{Arrival, Messages};
use temblor_runtime::limits::BAD_FRAME_BYTES_KEPT;

use crate::json;

/// How bodies become events.
#[derive(Clone, Debug)]
pub(crate) struct Reading {
    /// How messages are read.
    pub codec: InputCodec,
    /// How a body is cut into messages.
    pub framing: Framing,
    /// Whether the program says so; else the type of the content does, where the codec is JSON.
    pub framing_is_chosen: bool,
    /// What is done to a body first.
    pub preprocessors: Vec<Preprocessor>,
    /// Whether each request is one event, also one without a body: what an answer needs.
    pub whole: bool,
}

/// What a body turned out to be.
pub(crate) struct Body {
    /// Its events; none for an empty body.
    pub arrival: Option<Arrival>,
    /// Why it is bad, if it is.
    pub wrong: Option<String>,
}

/// What the type of the content says of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// JSON values; the elements of an array are events.
    Json,
    /// A JSON value in each line.
    Lines,
    /// A text in each line.
    Text,
}

impl Reading {
    /// The events of a body.
    #[must_use]
    pub(crate) fn read(&self, headers: &HeaderMap, mut body: Vec<u8>) -> Body {
        if matches!(self.codec, InputCodec::Json | InputCodec::String)
            && self.preprocessors.is_empty()
        {
            let marked = body.len() - json::without_mark(&body).len();
            body.drain(..marked);
        }
        if self.whole && body.trim_ascii().is_empty() {
            return whole(if self.codec == InputCodec::Json { b"null".to_vec() } else { body });
        }
        if body.is_empty() {
            return Body { arrival: None, wrong: None };
        }
        if !self.preprocessors.is_empty() {
            return preprocessed(&self.preprocessors, &body);
        }
        match self.codec {
            InputCodec::Json if !self.framing_is_chosen => match kind(headers, &body) {
                Kind::Text if self.whole => quoted(std::iter::once(body.as_slice())),
                Kind::Text => quoted(lines(&body)),
                Kind::Lines if !self.whole => framed(body, Framing::Lines),
                _ => json_values(body, self.whole),
            },
            _ if self.whole => whole(body),
            _ => framed(body, self.framing),
        }
    }
}

fn kind(headers: &HeaderMap, body: &[u8]) -> Kind {
    let text = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match essence.as_str() {
        "application/x-ndjson"
        | "application/ndjson"
        | "application/jsonl"
        | "application/jsonlines"
        | "application/x-jsonlines"
        | "application/json-lines" => Kind::Lines,
        "text/json" | "application/json" => Kind::Json,
        other if other.ends_with("+json") => Kind::Json,
        "text/plain" => Kind::Text,
        // What many clients send unasked says nothing: the body itself does.
        _ => match body.trim_ascii_start().first() {
            Some(b'{' | b'[') => Kind::Json,
            _ => Kind::Text,
        },
    }
}

fn lines(body: &[u8]) -> impl Iterator<Item = &[u8]> {
    let body = body.strip_suffix(b"\n").unwrap_or(body);
    body.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line))
}

fn arrival(bytes: Vec<u8>, framing: Framing, frames: u64) -> Body {
    let (range, buffer) = (0..bytes.len(), Buffer::of_bytes(bytes));
    let bad = Vec::new();
    let arrival = Arrival { buffer, range, framing, frames, first_line: 0, bad, ingest: None };
    Body { arrival: Some(arrival), wrong: None }
}

fn whole(bytes: Vec<u8>) -> Body {
    arrival(bytes, Framing::Whole, 1)
}

fn framed(bytes: Vec<u8>, framing: Framing) -> Body {
    let ended = framing.cut(&bytes).unwrap_or(0);
    let frames = match framing {
        Framing::Whole => 1,
        _ => framing.count(&bytes[..ended]) + u64::from(ended < bytes.len()),
    };
    arrival(bytes, framing, frames)
}

/// Texts as JSON strings; what is not UTF-8 is bad.
fn quoted<'a>(texts: impl Iterator<Item = &'a [u8]>) -> Body {
    let (mut messages, mut bad) = (Messages::default(), Vec::new());
    for text in texts {
        match std::str::from_utf8(text) {
            Ok(text) => messages.push("", json::text(text).as_bytes()),
            Err(error) => {
                let at = error.valid_up_to();
                bad.push(bad_frame(text, format!("not UTF-8: byte {at} is invalid")));
            }
        }
    }
    with_bad(messages, bad)
}

fn bad_frame(bytes: &[u8], reason: String) -> BadFrame {
    let head = bytes[..bytes.len().min(BAD_FRAME_BYTES_KEPT)].to_vec();
    BadFrame { line: 0, length: bytes.len() as u64, reason, head }
}

fn with_bad(mut messages: Messages, bad: Vec<BadFrame>) -> Body {
    let wrong = bad.first().map(|first| first.reason.clone());
    let mut arrival = messages.take();
    arrival.bad = bad;
    Body { arrival: Some(arrival), wrong }
}

/// One JSON value, several behind each other, or an array of them. A body that is no JSON goes on as it
/// is, for the port `err`, and says why.
fn json_values(body: Vec<u8>, keep_whole: bool) -> Body {
    let is_array = body.trim_ascii_start().first() == Some(&b'[') && !keep_whole;
    let values: Result<Vec<&RawValue>, _> = if is_array {
        serde_json::from_slice(&body)
    } else {
        serde_json::Deserializer::from_slice(&body).into_iter().collect()
    };
    match values {
        Ok(values) if !is_array && values.len() == 1 => whole(body),
        Ok(values) if keep_whole => {
            let wrong = Some(format!("the body holds {} JSON values; one is wanted", values.len()));
            Body { wrong, ..whole(body) }
        }
        Ok(values) => {
            let mut messages = Messages::default();
            values.iter().for_each(|value| messages.push("", value.get().as_bytes()));
            with_bad(messages, Vec::new())
        }
        Err(error) => {
            let wrong = Some(format!("the body is not JSON: {error}"));
            Body { wrong, ..whole(body) }
        }
    }
}

fn preprocessed(kinds: &[Preprocessor], body: &[u8]) -> Body {
    let mut chain = Chain::new(kinds);
    let mut found = chain.feed(body);
    found.extend(chain.finish());
    let (mut messages, mut bad) = (Messages::default(), Vec::new());
    for message in found {
        match message {
            Ok(message) => messages.push("", &message.bytes),
            Err(reason) => bad.push(bad_frame(body, reason)),
        }
    }
    with_bad(messages, bad)
}

#[cfg(test)]
mod tests {
    use super::*;
    use temblor_runtime::framing::FrameCursor;

    fn read(
        reading: &Reading,
        kind: Option<&'static str>,
        body: &str,
    ) -> (Vec<String>, Option<String>) {
        let mut headers = HeaderMap::new();
        if let Some(kind) = kind {
            headers.insert(CONTENT_TYPE, hyper::header::HeaderValue::from_static(kind));
        }
        let Body { arrival, wrong } = reading.read(&headers, body.as_bytes().to_vec());
        let Some(arrival) = arrival else { return (Vec::new(), wrong) };
        let mut cursor = FrameCursor::new(arrival.framing, arrival.range.clone());
        let frames = std::iter::from_fn(|| {
            cursor.next(&arrival.buffer).map(|range| arrival.buffer[range].to_vec())
        });
        let frames: Vec<_> = frames.map(|frame| String::from_utf8(frame).unwrap()).collect();
        assert_eq!(frames.len() as u64, arrival.frames, "{body}");
        (frames, wrong)
    }

    fn reading(codec: InputCodec, whole: bool) -> Reading {
        let (framing, preprocessors) = (Framing::Lines, Vec::new());
        Reading { codec, framing, framing_is_chosen: false, preprocessors, whole }
    }

    #[test]
    fn the_type_of_the_content_says_how_a_body_is_read() {
        let auto = reading(InputCodec::Json, false);
        for (kind, body, wanted) in [
            (Some("application/json"), "{\"a\":\n1}", vec!["{\"a\":\n1}"]),
            (Some("application/json"), "[1, {\"a\":2}]", vec!["1", "{\"a\":2}"]),
            (Some("application/json"), "[]", vec![]),
            (Some("application/json; charset=utf-8"), "1\n2\n", vec!["1", "2"]),
            (Some("application/vnd.x+json"), "\"x\"", vec!["\"x\""]),
            (Some("application/x-ndjson"), "1\n2\nbad", vec!["1", "2", "bad"]),
            (Some("text/plain"), "a\r\nb \"c\"\n", vec!["\"a\"", "\"b \\\"c\\\"\""]),
            (Some("application/x-www-form-urlencoded"), "{\"a\":1}", vec!["{\"a\":1}"]),
            (None, " {\"a\":1}{\"a\":2}", vec!["{\"a\":1}", "{\"a\":2}"]),
            (None, "a=1", vec!["\"a=1\""]),
            (None, "", vec![]),
            (Some("application/json"), "\u{feff}[1, 2]", vec!["1", "2"]),
            (None, "\u{feff}{\"a\":1}", vec!["{\"a\":1}"]),
            (Some("text/plain"), "\u{feff}a\n\u{feff}b", vec!["\"a\"", "\"\u{feff}b\""]),
            (None, "\u{feff}", vec![]),
        ] {
            let (found, wrong) = read(&auto, kind, body);
            assert_eq!(
                (found, wrong),
                (wanted.into_iter().map(String::from).collect(), None),
                "{body}"
            );
        }
        let text = reading(InputCodec::String, false);
        assert_eq!(read(&text, Some("application/json"), "a\nb").0, ["a", "b"]);
    }

    #[test]
    fn a_bad_body_goes_on_as_it_is_and_says_why() {
        let auto = reading(InputCodec::Json, false);
        for body in ["{\"a\":", "[1, 2", "{} x"] {
            let (found, wrong) = read(&auto, Some("application/json"), body);
            assert_eq!(found, [body]);
            assert!(wrong.unwrap().starts_with("the body is not JSON: "), "{body}");
        }
        let deep = "[".repeat(100_000);
        assert!(read(&auto, Some("application/json"), &deep).1.is_some());
    }

    #[test]
    fn a_request_that_is_answered_is_one_event() {
        let whole = reading(InputCodec::Json, true);
        assert_eq!(read(&whole, None, "").0, ["null"]);
        assert_eq!(read(&whole, Some("application/json"), "[1, 2]").0, ["[1, 2]"]);
        assert_eq!(read(&whole, Some("text/plain"), "a\nb").0, ["\"a\\nb\""]);
    }
}
