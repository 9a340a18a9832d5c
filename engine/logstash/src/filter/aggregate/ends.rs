//! The end of tasks: when it has come, and the event that the map of a task becomes then.

use super::super::{Turn, ruby::script};
use super::{Task, Tasks};
use crate::complain;
use crate::options::Arguments;
use chrono::{DateTime, Duration, Utc};
use temblor_logstash_event::datum::Datum;
use temblor_logstash_event::event::LogEvent;
use temblor_logstash_event::reference::FieldRef;
use temblor_logstash_event::template::Template;
use temblor_ruby::{Heap, Machine, Script, Value};

/// Seconds after which a task has ended when nobody says so.
const TIMEOUT_DEFAULT: f64 = 1800.0;

/// When and how tasks end.
#[derive(Debug)]
pub(super) struct Ends {
    /// Whether this filter says anything about it.
    pub said: bool,
    timeout: Duration,
    inactivity: Option<Duration>,
    code: Option<Script>,
    tags: Vec<Template>,
    id_field: Option<FieldRef>,
    pub time_field: Option<FieldRef>,
    pub(crate) push_on_timeout: bool,
    pub(crate) push_previous: bool,
}

impl Ends {
    /// What the options of a filter say.
    pub(super) fn of(arguments: &mut Arguments<'_>) -> Option<Self> {
        let seconds = |seconds: f64| Duration::milliseconds((seconds * 1e3) as i64);
        let timeout_code = match arguments.text("timeout_code") {
            Some(code) => Some(script(arguments, &code, "timeout_code", &[])?),
            None => None,
        };
        let tags = arguments.texts("timeout_tags").unwrap_or_default();
        let own = [
            "timeout",
            "inactivity_timeout",
            "timeout_code",
            "push_map_as_event_on_timeout",
            "push_previous_map_as_event",
            "timeout_timestamp_field",
        ];
        let ends = Ends {
            said: own.iter().any(|name| arguments.get(name).is_some()),
            timeout: seconds(arguments.number("timeout").unwrap_or(TIMEOUT_DEFAULT)),
            inactivity: arguments.number("inactivity_timeout").map(seconds),
            code: timeout_code,
            tags: tags.iter().map(|(text, _)| Template::parse(text)).collect(),
            id_field: arguments.field_or_none("timeout_task_id_field"),
            time_field: arguments.field_or_none("timeout_timestamp_field"),
            push_on_timeout: arguments.flag("push_map_as_event_on_timeout", false),
            push_previous: arguments.flag("push_previous_map_as_event", false),
        };
        if ends.inactivity.is_some_and(|inactivity| inactivity >= ends.timeout) {
            let span = arguments.place("inactivity_timeout");
            let wanted = "less than `timeout`";
            arguments.complain(complain::bad_value("inactivity_timeout", span, wanted));
        }
        Some(ends)
    }

    /// Whether a map becomes an event at the end.
    pub(crate) fn makes_event(&self) -> bool {
        self.push_on_timeout || self.push_previous || self.code.is_some()
    }

    /// Whether the task has ended by its age or by its silence.
    pub(super) fn is_over(&self, heap: &Heap, task: &Task, now: DateTime<Utc>) -> bool {
        let own = |name: &str| match task.meta.entry(heap, name) {
            Some(Value::Int(seconds)) => Duration::try_seconds(seconds),
            _ => None,
        };
        let timeout = own("timeout").unwrap_or(self.timeout);
        let inactivity = own("inactivity_timeout").or(self.inactivity);
        now - task.created >= timeout
            || inactivity.is_some_and(|inactivity| now - task.last >= inactivity)
    }

    /// The event that a map becomes.
    pub(super) fn event<'a>(
        &'a self,
        id: &str,
        task: &Task,
        turn: &mut Turn<'a, '_>,
    ) -> Option<LogEvent<'a>> {
        let (arena, now) = (turn.arena, turn.now);
        let tasks = turn.memory.downcast_mut::<Tasks>().expect("the memory of this filter");
        let data = match task.map.to_datum(tasks.memory.heap(), arena) {
            Some(Datum::Map(map)) => map,
            _ => temblor_logstash_event::datum::Map::default(),
        };
        let mut event = LogEvent::new(data, now);
        if let Some(field) = &self.id_field {
            let _ = event.set(field, Datum::Str(arena.str(id)), arena);
        }
        for tag in &self.tags {
            let tag = tag.render(&event, arena, now);
            event.tag(tag);
        }
        if let Some(code) = &self.code {
            let tasks = turn.memory.downcast_mut::<Tasks>().expect("the memory of this filter");
            let taken = std::mem::take(&mut event);
            let mut machine = Machine::new(taken, &mut tasks.memory, arena, now);
            machine.give("map", task.map.clone());
            let result = machine.run(code);
            event = std::mem::take(&mut machine.events[0]);
            if result.is_err() {
                event.tag("_aggregateexception");
            }
        }
        (!event.cancelled).then_some(event)
    }
}
