//! `json`: reads a field as JSON, into the event or below one field of it.

use super::{Declaration, Filter, Outcome, Turn};
use crate::options::{Arguments, Takes, option, required};
use temblor_lang::value::Arena;
use temblor_logstash_event::datum::{Datum, Map};
use temblor_logstash_event::event::LogEvent;
use temblor_logstash_event::reference::{FieldRef, Refused};
use temblor_logstash_event::timestamp::parse_iso8601;
use temblor_stdlib::formats::json;

/// `json`
pub(crate) static DECLARATION: Declaration = Declaration {
    name: "json",
    doc: "Reads a field as JSON.",
    options: &[
        required("source", Takes::Text, "The field."),
        option("target", Takes::Text, "Where the result goes; without it, into the event."),
        option("skip_on_invalid_json", Takes::Flag, "Whether bad JSON gets no tag."),
        option("tag_on_failure", Takes::List, "The tags of bad JSON."),
    ],
    make,
};

#[derive(Debug)]
struct Json {
    source: FieldRef,
    target: Option<FieldRef>,
    skip: bool,
    tags: Vec<String>,
}

fn make(arguments: &mut Arguments<'_>) -> Option<Box<dyn Filter>> {
    Some(Box::new(Json {
        source: arguments.field("source", "message")?,
        target: arguments.field_or_none("target"),
        skip: arguments.flag("skip_on_invalid_json", false),
        tags: arguments.tags("tag_on_failure", "_jsonparsefailure"),
    }))
}

/// A JSON text as a value.
pub(crate) fn read<'a>(text: &str, arena: &'a Arena) -> Option<Datum<'a>> {
    json::parse(text, arena).ok().map(|value| Datum::from_value(value, arena))
}

impl Filter for Json {
    fn filter<'a>(&'a self, event: &mut LogEvent<'a>, turn: &mut Turn<'a, '_>) -> Outcome {
        let arena = turn.arena;
        let text = match event.get(&self.source) {
            None | Some(Datum::Null) => return Outcome::Unmatched,
            Some(Datum::Bool(false)) => return Outcome::Unmatched,
            Some(Datum::Str(text)) => Some(*text),
            // What is no text cannot be read.
            Some(_) => None,
        };
        let parsed = text.and_then(|text| match text.trim_ascii() {
            // Blanks alone are no mistake, but nothing.
            "" => Some(Datum::Null),
            _ => read(text, arena),
        });
        let Some(parsed) = parsed else {
            return if self.skip { Outcome::Unmatched } else { turn.fail(event, &self.tags) };
        };
        match (&self.target, parsed) {
            (Some(target), parsed) => match event.set(target, parsed, arena) {
                Ok(()) => Outcome::Matched,
                Err(_) => turn.fail(event, &self.tags),
            },
            (None, Datum::Map(map)) => match merge(event, map, turn) {
                Ok(()) => Outcome::Matched,
                Err(_) => turn.fail(event, &self.tags),
            },
            (None, _) => turn.fail(event, &self.tags),
        }
    }
}

/// The fields of the text over those of the event. A key with brackets is a field reference.
fn merge<'a>(
    event: &mut LogEvent<'a>,
    mut map: Map<'a>,
    turn: &Turn<'a, '_>,
) -> Result<(), Refused> {
    let timestamp = map.remove("@timestamp");
    let metadata = map.remove("@metadata");
    if let Some(Datum::Map(metadata)) = metadata {
        metadata
            .into_entries()
            .into_iter()
            .for_each(|(key, value)| event.metadata.insert(key, value));
    }
    for (key, value) in map.into_entries() {
        if key.contains(['[', ']']) {
            event.set(&FieldRef::parse(key)?, value, turn.arena)?;
        } else {
            event.data.insert(key, value);
        }
    }
    event.check_tags();
    match timestamp {
        None | Some(Datum::Null | Datum::Bool(false)) => {}
        Some(Datum::Str(text)) if parse_iso8601(text).is_some() => {
            let time = parse_iso8601(text).expect("it was read a line ago");
            event.data.insert("@timestamp", Datum::Time(time));
        }
        Some(bad) => {
            event.data.insert("_@timestamp", Datum::Str(bad.text_in(turn.arena)));
            event.tag("_timestampparsefailure");
            event.data.insert("@timestamp", Datum::Time(turn.now));
        }
    }
    Ok(())
}
