//! `age`: how long ago the event happened, in seconds, usually for a condition that drops what is old.

use super::{Declaration, Filter, Outcome, Turn};
use crate::options::{Arguments, Takes, option};
use temblor_logstash_event::datum::Datum;
use temblor_logstash_event::event::LogEvent;
use temblor_logstash_event::reference::FieldRef;

/// `age`
pub(crate) static DECLARATION: Declaration = Declaration {
    name: "age",
    doc: "Tells how old an event is.",
    options: &[option(
        "target",
        Takes::Text,
        "Where the seconds since `@timestamp` go (`[@metadata][age]`).",
    )],
    make,
};

#[derive(Debug)]
struct Age {
    target: FieldRef,
}

fn make(arguments: &mut Arguments<'_>) -> Option<Box<dyn Filter>> {
    Some(Box::new(Age { target: arguments.field("target", "[@metadata][age]")? }))
}

impl Filter for Age {
    fn filter<'a>(&'a self, event: &mut LogEvent<'a>, turn: &mut Turn<'a, '_>) -> Outcome {
        // An event without its time has no age.
        let Some(time) = event.timestamp() else { return Outcome::Unmatched };
        let age = turn.now - time;
        let seconds = age.num_seconds() as f64 + f64::from(age.subsec_nanos()) / 1e9;
        match event.set(&self.target, Datum::Float(seconds), turn.arena) {
            Ok(()) => Outcome::Matched,
            Err(_) => Outcome::Unmatched,
        }
    }
}
