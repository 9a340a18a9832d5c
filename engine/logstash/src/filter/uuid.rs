//! `uuid`: puts a random UUID into a field.

use super::{Declaration, Filter, Outcome, Turn};
use crate::options::{Arguments, Takes, option, required};
use temblor_logstash_event::datum::Datum;
use temblor_logstash_event::event::LogEvent;
use temblor_logstash_event::reference::FieldRef;

/// `uuid`
pub(crate) static DECLARATION: Declaration = Declaration {
    name: "uuid",
    doc: "Puts a random UUID into a field.",
    options: &[
        required("target", Takes::Text, "The field."),
        option("overwrite", Takes::Flag, "Whether an existing value is replaced."),
    ],
    make,
};

/// `java_uuid`, the same in Logstash's other language.
pub(crate) static JAVA: Declaration =
    Declaration { name: "java_uuid", doc: DECLARATION.doc, options: DECLARATION.options, make };

#[derive(Debug)]
struct Uuid {
    target: FieldRef,
    overwrite: bool,
}

fn make(arguments: &mut Arguments<'_>) -> Option<Box<dyn Filter>> {
    let target = arguments.field_or_none("target")?;
    Some(Box::new(Uuid { target, overwrite: arguments.flag("overwrite", false) }))
}

impl Filter for Uuid {
    fn filter<'a>(&'a self, event: &mut LogEvent<'a>, turn: &mut Turn<'a, '_>) -> Outcome {
        if self.overwrite || !event.includes(&self.target) {
            let uuid = turn.arena.str(&turn.random.uuid());
            if event.set(&self.target, Datum::Str(uuid), turn.arena).is_err() {
                return Outcome::Unmatched;
            }
        }
        Outcome::Matched
    }
}
