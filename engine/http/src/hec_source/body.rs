//! The bodies of Splunk's collector: records one after the other, or lines.
//!
//! Invariant: a body is taken as a whole or not at all; what is wrong names the event by its number.

use serde::Deserialize;
use serde_json::value::RawValue;
use temblor_runtime::intake::{Arrival, Messages};

use crate::json::{push_entry, push_key, text, without_mark};

/// What is wrong with a body, in Splunk's words and numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wrong {
    /// Splunk's number.
    pub(crate) code: u32,
    /// Splunk's words.
    pub(crate) text: &'static str,
    /// The event, counted from 0.
    pub(crate) event: Option<usize>,
}

const NO_DATA: Wrong = Wrong { code: 5, text: "No data", event: None };
/// Fields of the record around an event, besides the event.
const NAMES: [&str; 4] = ["host", "source", "sourcetype", "index"];

/// The record around an event.
#[derive(Deserialize)]
struct Envelope<'b> {
    #[serde(borrow)]
    event: Option<&'b RawValue>,
    #[serde(borrow)]
    time: Option<&'b RawValue>,
    host: Option<serde_json::Value>,
    source: Option<serde_json::Value>,
    sourcetype: Option<serde_json::Value>,
    index: Option<serde_json::Value>,
    #[serde(borrow)]
    fields: Option<&'b RawValue>,
}

/// The events of `{"event": …}{"event": …}`, or of an array of them; `common` is the
/// beginning of their metadata.
///
/// # Errors
/// The first event that is wrong.
pub(crate) fn events(body: &[u8], common: &str) -> Result<Arrival, Wrong> {
    let body = without_mark(body);
    let mut messages = Messages::default();
    if body.trim_ascii_start().first() == Some(&b'[') {
        let all: Vec<Envelope<'_>> = serde_json::from_slice(body).map_err(|_| invalid(0))?;
        for (number, envelope) in all.iter().enumerate() {
            push(envelope, (number, common), &mut messages)?;
        }
    } else {
        let stream = serde_json::Deserializer::from_slice(body).into_iter::<Envelope<'_>>();
        for (number, envelope) in stream.enumerate() {
            push(&envelope.map_err(|_| invalid(number))?, (number, common), &mut messages)?;
        }
    }
    if messages.is_empty() {
        return Err(NO_DATA);
    }
    Ok(messages.take())
}

fn invalid(event: usize) -> Wrong {
    Wrong { code: 6, text: "Invalid data format", event: Some(event) }
}

fn push(
    envelope: &Envelope<'_>,
    (number, common): (usize, &str),
    messages: &mut Messages,
) -> Result<(), Wrong> {
    let event = Some(number);
    let Some(value) = envelope.event else {
        return Err(Wrong { code: 12, text: "Event field is required", event });
    };
    if matches!(value.get(), "\"\"" | "null") {
        return Err(Wrong { code: 13, text: "Event field cannot be blank", event });
    }
    let mut meta = common.to_string();
    if let Some(time) = envelope.time {
        push_key("time", &mut meta);
        // Some senders write the number as a text.
        let plain = time.get().trim_matches('"');
        let is_number = plain.parse::<f64>().is_ok_and(f64::is_finite);
        meta.push_str(if is_number { plain } else { time.get() });
    }
    let values = [&envelope.host, &envelope.source, &envelope.sourcetype, &envelope.index];
    for (name, value) in NAMES.iter().zip(values) {
        match value {
            Some(serde_json::Value::String(text)) => push_entry(name, text, &mut meta),
            Some(serde_json::Value::Null) | None => {}
            Some(other) => push_entry(name, &other.to_string(), &mut meta),
        }
    }
    if let Some(fields) = envelope.fields {
        push_key("fields", &mut meta);
        meta.push_str(fields.get());
    }
    meta.push_str("}}");
    messages.push(&meta, value.get().as_bytes());
    Ok(())
}

/// The lines of a body, each a text; `shared` are parameters of the request.
///
/// # Errors
/// There are none, or they are no text.
pub(crate) fn raw(
    body: &[u8],
    common: &str,
    shared: impl Fn(&str) -> Option<String>,
) -> Result<Arrival, Wrong> {
    let mut meta = common.to_string();
    for name in NAMES {
        if let Some(value) = shared(name) {
            push_entry(name, &value, &mut meta);
        }
    }
    meta.push_str("}}");
    let mut messages = Messages::default();
    let lines =
        body.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    for (number, line) in lines.filter(|line| !line.is_empty()).enumerate() {
        let line = std::str::from_utf8(line).map_err(|_| invalid(number))?;
        messages.push(&meta, text(line).as_bytes());
    }
    if messages.is_empty() {
        return Err(NO_DATA);
    }
    Ok(messages.take())
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMON: &str = "{\"splunk_hec\":{\"tls\":false";

    fn wrong(body: &str) -> Option<(u32, Option<usize>)> {
        events(body.as_bytes(), COMMON).err().map(|wrong| (wrong.code, wrong.event))
    }

    #[test]
    fn records_stand_one_after_the_other() {
        let two = r#"{"event":{"a":1},"time":"1.5","host":"h","fields":{"f":1}} {"event":"text"}"#;
        assert_eq!(events(two.as_bytes(), COMMON).map(|arrival| arrival.frames).ok(), Some(2));
        assert_eq!(
            events(br#"[{"event":1},{"event":2}]"#, COMMON).map(|one| one.frames).ok(),
            Some(2)
        );
        assert_eq!(wrong(""), Some((5, None)));
        assert_eq!(wrong(r#"{"event":1}{"time":2}"#), Some((12, Some(1))));
        assert_eq!(wrong(r#"{"event":""}"#), Some((13, Some(0))));
        assert_eq!(wrong(r#"{"event":1}{"event""#), Some((6, Some(1))));
    }

    #[test]
    fn lines_are_texts() {
        let arrival = raw(b"one\r\n\ntwo", COMMON, |_| None);
        assert_eq!(arrival.map(|one| one.frames).ok(), Some(2));
        assert_eq!(raw(b"\n", COMMON, |_| None).err(), Some(NO_DATA));
        assert_eq!(raw(b"a\n\xff", COMMON, |_| None).err().map(|wrong| wrong.event), Some(Some(1)));
    }
}
