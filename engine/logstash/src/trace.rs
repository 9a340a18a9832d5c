//! The way of one event through the filters of a configuration, step by step, for people who try one
//! out. Nothing is written down unless someone asked for it.

use super::condition::Test;
use temblor_lang::span::Span;
use temblor_lang::value::{Arena, Owned, RecordBuilder};
use temblor_logstash_event::event::LogEvent;

/// Where `@metadata` is shown: outputs do not see it, people who look do.
const METADATA: &str = "@metadata";

/// What a step made of an event.
#[derive(Clone, Debug)]
pub enum Passage {
    /// `mutate { … }`
    Filter {
        /// From its name to its closing brace.
        span: Span,
        /// The event when it came.
        before: Owned,
        /// What went on: the event unless it was cancelled, and those that the filter made.
        after: Vec<Owned>,
    },
    /// `[status] >= 400`
    Condition {
        /// The condition.
        span: Span,
        /// Its fields as written, and what they are in the event; `None` for what is missing.
        fields: Vec<(String, Option<Owned>)>,
        /// Whether it held, or why that cannot be said.
        holds: Result<bool, String>,
    },
}

/// Writes passages down.
#[derive(Debug, Default)]
pub(crate) struct Notebook(Vec<Passage>);

impl Notebook {
    /// A filter has been passed.
    pub(crate) fn filter<'e, 'a: 'e>(
        &mut self,
        span: Span,
        before: Owned,
        after: impl Iterator<Item = &'e LogEvent<'a>>,
        arena: &'a Arena,
    ) {
        let after = after.filter(|event| !event.cancelled).map(|event| shown(event, arena));
        self.0.push(Passage::Filter { span, before, after: after.collect() });
    }

    /// A condition has been tested.
    pub(crate) fn condition<'a>(
        &mut self,
        span: Span,
        test: &Test,
        event: &LogEvent<'a>,
        holds: Result<bool, String>,
        arena: &'a Arena,
    ) {
        let mut fields: Vec<(String, Option<Owned>)> = Vec::new();
        test.each_field(&mut |field| {
            let text = field.text();
            if !fields.iter().any(|(known, _)| *known == text) {
                let value = event.get(field).cloned();
                fields.push((text, value.map(|datum| Owned::from(datum.to_value(arena)))));
            }
        });
        self.0.push(Passage::Condition { span, fields, holds });
    }

    /// All that was written down.
    #[must_use]
    pub(crate) fn passages(self) -> Vec<Passage> {
        self.0
    }
}

/// An event as people see it, `@metadata` included.
pub fn shown<'a>(event: &LogEvent<'a>, arena: &'a Arena) -> Owned {
    let data = event.data.to_value(arena);
    let (Some(record), false) = (data.as_record(arena), event.metadata.is_empty()) else {
        return Owned::from(data);
    };
    let mut with = RecordBuilder::from_record(arena, record, 1);
    with.insert(METADATA, event.metadata.to_value(arena));
    Owned::from(with.finish())
}
