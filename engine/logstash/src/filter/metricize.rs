//! `metricize`: sends one event for each of several fields, with its name and its value. The common options
//! are those of the new events.

use super::{Declaration, Filter, Outcome, Turn};
use crate::options::{Arguments, Takes, option, required};
use temblor_logstash_event::datum::Datum;
use temblor_logstash_event::event::LogEvent;
use temblor_logstash_event::reference::FieldRef;

/// `metricize`
pub(crate) static DECLARATION: Declaration = Declaration {
    name: "metricize",
    doc: "Sends one event for each metric of an event.",
    options: &[
        required("metrics", Takes::List, "The fields that are metrics."),
        option("metric_field_name", Takes::Text, "Where the name of a metric goes (`metric`)."),
        option("value_field_name", Takes::Text, "Where its value goes (`value`)."),
        option("drop_original_event", Takes::Flag, "Whether the event itself ends."),
    ],
    make,
};

#[derive(Debug)]
struct Metricize {
    /// Names as written and where they stand.
    metrics: Vec<(String, FieldRef)>,
    name: FieldRef,
    value: FieldRef,
    drops: bool,
}

fn make(arguments: &mut Arguments<'_>) -> Option<Box<dyn Filter>> {
    let mut metrics = Vec::new();
    for (text, span) in arguments.texts("metrics")? {
        let field = arguments.reference(&text, span)?;
        metrics.push((text, field));
    }
    Some(Box::new(Metricize {
        metrics,
        name: arguments.field("metric_field_name", "metric")?,
        value: arguments.field("value_field_name", "value")?,
        drops: arguments.flag("drop_original_event", false),
    }))
}

impl Filter for Metricize {
    fn filter<'a>(&'a self, event: &mut LogEvent<'a>, turn: &mut Turn<'a, '_>) -> Outcome {
        let mut bare = event.clone();
        for (_, field) in &self.metrics {
            bare.remove(field);
        }
        for (name, field) in &self.metrics {
            let Some(value) = event.value_of(field) else { continue };
            let mut made = bare.clone();
            let named = made.set(&self.name, Datum::Str(name), turn.arena);
            if named.is_ok() && made.set(&self.value, value, turn.arena).is_ok() {
                turn.emit(made);
            }
        }
        event.cancelled = self.drops;
        Outcome::Unmatched
    }
}
