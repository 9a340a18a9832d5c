//! `environment`: puts variables of the environment into fields. They are read when the configuration is.

use super::{Declaration, Filter, Outcome, Turn};
use crate::options::{Arguments, Takes, option};
use temblor_logstash_event::datum::Datum;
use temblor_logstash_event::event::LogEvent;
use temblor_logstash_event::reference::FieldRef;

/// `environment`
pub(crate) static DECLARATION: Declaration = Declaration {
    name: "environment",
    doc: "Puts variables of the environment into fields.",
    options: &[
        option("add_field_from_env", Takes::Hash, "Variables by field."),
        option("add_metadata_from_env", Takes::Hash, "Variables by field of `@metadata`."),
    ],
    make,
};

#[derive(Debug)]
struct Environment {
    /// A variable that is not set has no text.
    fields: Vec<(FieldRef, Option<String>)>,
}

fn make(arguments: &mut Arguments<'_>) -> Option<Box<dyn Filter>> {
    let mut fields = Vec::new();
    for (option, place) in [("add_field_from_env", None), ("add_metadata_from_env", Some(()))] {
        for (key, value) in arguments.pairs(option) {
            let name = if place.is_some() { format!("[@metadata][{key}]") } else { key };
            let text = value.text().and_then(|name| arguments.settings.variables.get(name));
            let text = text.cloned();
            if let Some(field) = arguments.reference(&name, value.span) {
                fields.push((field, text));
            }
        }
    }
    Some(Box::new(Environment { fields }))
}

impl Filter for Environment {
    fn filter<'a>(&'a self, event: &mut LogEvent<'a>, turn: &mut Turn<'a, '_>) -> Outcome {
        for (field, text) in &self.fields {
            let value = text.as_deref().map_or(Datum::Null, Datum::Str);
            if event.set(field, value, turn.arena).is_err() {
                return Outcome::Unmatched;
            }
        }
        Outcome::Matched
    }
}
