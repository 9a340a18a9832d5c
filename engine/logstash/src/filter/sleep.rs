//! `sleep`: lets time pass behind events, or as much as passed between them when they are replayed.

use super::{Declaration, Filter, Outcome, Turn};
use crate::options::{Arguments, Takes, option};
use chrono::{DateTime, Utc};
use std::any::Any;
use temblor_logstash_event::event::LogEvent;
use temblor_logstash_event::template::Template;
use temblor_ruby::plain;

/// `sleep`
pub(crate) static DECLARATION: Declaration = Declaration {
    name: "sleep",
    doc: "Lets time pass behind events.",
    options: &[
        option("time", Takes::Text, "Seconds; for a replay, how much faster it goes."),
        option("every", Takes::Text, "Only behind every so many events."),
        option("replay", Takes::Flag, "Whether the times of the events count."),
    ],
    make,
};

/// The longest time that passes behind one event, in seconds.
const SLEEP_SECONDS_MAX: f64 = 3600.0;

#[derive(Debug)]
struct Sleep {
    time: Option<Template>,
    every: Template,
    replay: bool,
}

#[derive(Default)]
struct Past {
    count: u64,
    last: Option<DateTime<Utc>>,
}

fn make(arguments: &mut Arguments<'_>) -> Option<Box<dyn Filter>> {
    let time = arguments.text("time");
    let every = arguments.text("every").unwrap_or_else(|| "1".to_string());
    Some(Box::new(Sleep {
        time: time.as_deref().map(Template::parse),
        every: Template::parse(&every),
        replay: arguments.flag("replay", false),
    }))
}

impl Filter for Sleep {
    fn memory(&self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new(Past::default()))
    }

    fn filter<'a>(&'a self, event: &mut LogEvent<'a>, turn: &mut Turn<'a, '_>) -> Outcome {
        let number = |template: &Template| {
            plain::leading_float(template.render(event, turn.arena, turn.now))
        };
        let every = plain::leading_integer(self.every.render(event, turn.arena, turn.now)).max(1);
        let time = self.time.as_ref().map_or(1.0, number);
        let past = turn.memory.downcast_mut::<Past>().expect("the memory of this filter");
        past.count += 1;
        if past.count.is_multiple_of(every.unsigned_abs()) {
            let seconds = if self.replay {
                let clock = event.timestamp().unwrap_or(turn.now);
                let since = past.last.map(|last| (clock - last).num_milliseconds() as f64 / 1e3);
                past.last = Some(clock);
                if time > 0.0 { since.unwrap_or(0.0) / time } else { 0.0 }
            } else {
                time
            };
            if seconds > 0.0 {
                *turn.delay_ns += (seconds.min(SLEEP_SECONDS_MAX) * 1e9) as u64;
            }
        }
        Outcome::Matched
    }
}
