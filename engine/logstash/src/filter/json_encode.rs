//! `json_encode`: writes a field as JSON text.

use super::{Declaration, Filter, Outcome, Turn};
use crate::options::{Arguments, Takes, option, required};
use temblor_logstash_event::datum::Datum;
use temblor_logstash_event::event::LogEvent;
use temblor_logstash_event::reference::FieldRef;

/// `json_encode`
pub(crate) static DECLARATION: Declaration = Declaration {
    name: "json_encode",
    doc: "Writes a field as JSON text.",
    options: &[
        required("source", Takes::Text, "The field."),
        option("target", Takes::Text, "Where the text goes; without it, in place of the field."),
    ],
    make,
};

#[derive(Debug)]
struct JsonEncode {
    source: FieldRef,
    target: FieldRef,
}

fn make(arguments: &mut Arguments<'_>) -> Option<Box<dyn Filter>> {
    let source = arguments.field_or_none("source")?;
    let target = arguments.field_or_none("target").unwrap_or_else(|| source.clone());
    Some(Box::new(JsonEncode { source, target }))
}

impl Filter for JsonEncode {
    fn filter<'a>(&'a self, event: &mut LogEvent<'a>, turn: &mut Turn<'a, '_>) -> Outcome {
        let Some(value) = event.value_of(&self.source) else { return Outcome::Unmatched };
        let mut text = String::new();
        value.push_java_json(&mut text);
        let text = Datum::Str(turn.arena.str(&text));
        match event.set(&self.target, text, turn.arena) {
            Ok(()) => Outcome::Matched,
            Err(_) => turn.fail(event, &[]),
        }
    }
}
