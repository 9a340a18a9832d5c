//! The operator that runs the filters of a configuration. An event that fails a comparison goes to
//! `err` with the reason; nothing else of Logstash fails an event.

use super::datum::{Datum, Map};
use super::event::LogEvent;
use super::program::{Program, ProgramState};
use super::settings::Ecs;
use crate::event::Event;
use crate::operator::{Emitter, OUT, Operator, Surroundings};
use chrono::{DateTime, Utc};
use std::fmt;
use temblor_lang::error::EvalError;
use temblor_lang::value::{Arena, Value};

/// The filters of a configuration as one step of a graph.
#[derive(Debug)]
pub struct LogstashFilters {
    program: Program,
    /// Names of the fields that a line becomes.
    ecs: Ecs,
}

impl LogstashFilters {
    /// An operator for these filters.
    #[must_use]
    pub fn new(program: Program, ecs: Ecs) -> Self {
        Self { program, ecs }
    }

    /// The event of what a codec read. A line also keeps its text as `[event][original]`.
    fn receive<'a>(&self, value: Value<'a>, arena: &'a Arena, now: DateTime<Utc>) -> LogEvent<'a> {
        let mut event = LogEvent::from_value(value, arena, now);
        if let (Value::Str(text), true) = (value, self.ecs.is_on()) {
            let mut original = Map::default();
            original.append("original", Datum::Str(text));
            event.data.insert("event", Datum::Map(original));
        }
        event
    }
}

impl fmt::Debug for ProgramState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProgramState").finish_non_exhaustive()
    }
}

impl Operator for LogstashFilters {
    type State = ProgramState;

    fn start(&self) -> ProgramState {
        self.program.start()
    }

    fn is_stateful(&self) -> bool {
        self.program.is_stateful()
    }

    fn process<'a>(
        &'a self,
        state: &mut ProgramState,
        _port: &str,
        event: Event<'a>,
        around: &Surroundings<'a>,
        out: &mut Emitter<'a>,
    ) -> Result<(), EvalError> {
        let arena = around.arena();
        let now =
            DateTime::<Utc>::from_timestamp_nanos(i64::try_from(around.now_ns).unwrap_or(i64::MAX));
        let mut events = vec![self.receive(event.value, arena, now)];
        self.program.run(&mut events, state, arena, now);
        if events.is_empty() {
            out.count_drop();
        }
        for one in events {
            let meta =
                if one.metadata.is_empty() { event.meta } else { one.metadata.to_value(arena) };
            let event = Event::new(one.data.to_value(arena), meta, event.ingest_ns);
            out.emit(OUT, event);
        }
        Ok(())
    }
}
