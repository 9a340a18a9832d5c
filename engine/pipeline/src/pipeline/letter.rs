//! The dead letter: an event that nobody could use, with all that is needed to try it again.
//!
//! Invariant: a letter is one line of JSON (RFC 8259); the original bytes are in it to the byte.

use super::Pipeline;
use super::encode::Frame;
use crate::event::Event;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use temblor_lang::span::SourceId;
use temblor_lang::value::{Arena, JsonStyle, Key, Value, push_json, push_json_string};
use temblor_runtime::batch::Batch;

/// What a letter says of the program.
#[derive(Clone, Copy, Debug)]
pub(super) struct Program<'p> {
    /// The file of the program.
    pub name: &'p str,
    /// The input port that the event came by, if one did.
    pub input: Option<&'p str>,
}

impl<'p> Program<'p> {
    /// The program, and the input that a frame came by.
    pub(super) fn of(pipeline: &'p Pipeline, frame: Option<(&Batch, Frame<'_>)>) -> Self {
        let input = frame.and_then(|(batch, _)| {
            let input = pipeline.inputs.get(batch.source)?;
            pipeline.graph.input_name(input.node)
        });
        // The program itself is the first of its texts.
        let text = pipeline.sources.get(SourceId(0));
        Self { name: text.map_or("", |source| source.name.as_str()), input }
    }
}

/// Appends the letter about an event, which is the record of a failure (`{"error", "event"}`) or what the program
/// itself sent here.
pub(super) fn write(
    out: &mut Vec<u8>,
    event: Event<'_>,
    frame: Option<(&Batch, Frame<'_>)>,
    program: Program<'_>,
    arena: &Arena,
) {
    let part = |name: &str| event.value.get(&Key::new(name));
    let reason = part("error").and_then(Value::as_str);
    let about = event.meta.get(&Key::new("error"));
    let told =
        |name: &str| about.and_then(|about| about.get(&Key::new(name))).and_then(Value::as_str);
    let mut line = Line { out, is_first: true };
    line.out.push(b'{');
    line.number("time_ns", event.ingest_ns);
    line.text("reason", Some(reason.unwrap_or("the program sent it here")));
    line.text("code", told("code"));
    line.text("step", told("step").or(part("sink").and_then(Value::as_str)));
    line.text("place", reason.and_then(place_of));
    line.text("program", Some(program.name));
    line.text("input", program.input);
    if let Some((batch, frame)) = frame {
        line.text("source", Some(&batch.origin.name));
        line.number("line", frame.line);
        if frame.bad.is_some() {
            line.key("truncated");
            line.out.extend_from_slice(b"true");
        }
        match std::str::from_utf8(frame.bytes) {
            Ok(text) => line.text("original", Some(text)),
            Err(_) => line.text("original_base64", Some(&STANDARD.encode(frame.bytes))),
        }
    }
    line.key("meta");
    push_json(line.out, without_error(event.meta, arena), JsonStyle::Compact);
    line.key("event");
    let original = match reason {
        Some(_) => part("event").unwrap_or(Value::Null),
        None => event.value,
    };
    push_json(line.out, original, JsonStyle::Compact);
    line.out.extend_from_slice(b"}\n");
}

/// The place in a program that a reason ends with: `… at FILE:LINE:COLUMN`.
fn place_of(reason: &str) -> Option<&str> {
    let reason = reason.split(" (").next().unwrap_or(reason);
    let (_, place) = reason.rsplit_once(" at ")?;
    let mut parts = place.rsplitn(3, ':');
    let numbers = [parts.next()?, parts.next()?];
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (numbers.iter().all(|text| is_number(text)) && parts.next().is_some()).then_some(place)
}

/// The metadata as the event came with it.
fn without_error<'a>(meta: Value<'a>, arena: &'a Arena) -> Value<'a> {
    let Some(record) = meta.as_record(arena) else { return meta };
    let mut kept = arena.record_builder(record.len());
    for (key, value) in record.iter().filter(|(key, _)| *key != "error") {
        kept.insert(key, value);
    }
    kept.finish()
}

struct Line<'o> {
    out: &'o mut Vec<u8>,
    is_first: bool,
}

impl Line<'_> {
    fn key(&mut self, key: &str) {
        if !std::mem::take(&mut self.is_first) {
            self.out.push(b',');
        }
        push_json_string(self.out, key);
        self.out.push(b':');
    }

    fn text(&mut self, key: &str, text: Option<&str>) {
        if let Some(text) = text {
            self.key(key);
            push_json_string(self.out, text);
        }
    }

    fn number(&mut self, key: &str, number: u64) {
        self.key(key);
        self.out.extend_from_slice(number.to_string().as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_told_from_other_ends() {
        let of = |reason| place_of(reason);
        assert_eq!(of("no key `a` at e.tmb:4:27"), Some("e.tmb:4:27"));
        assert_eq!(of("no key `a` at C:/e.tmb:4:27 (did you mean `b`?)"), Some("C:/e.tmb:4:27"));
        assert_eq!(of("not JSON: expected null at byte 0"), None);
        assert_eq!(of("it failed"), None);
    }
}
