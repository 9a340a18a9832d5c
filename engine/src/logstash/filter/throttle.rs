//! `throttle`: succeeds for events that come too seldom or too often in a window of the event's own
//! time. It ends no event itself.

use super::{Declaration, Filter, Outcome, Turn};
use crate::logstash::event::LogEvent;
use crate::logstash::options::{Arguments, Takes, option, required};
use crate::logstash::template::Template;
use std::any::Any;
use std::collections::HashMap;

/// `throttle`
pub static DECLARATION: Declaration = Declaration {
    name: "throttle",
    doc: "Succeeds for events that come too seldom or too often.",
    options: &[
        required("key", Takes::Text, "What events are counted by."),
        option("before_count", Takes::Number, "Events before this number succeed."),
        option("after_count", Takes::Number, "Events after this number succeed."),
        option("period", Takes::Text, "The length of a window, in seconds."),
        option("max_age", Takes::Number, "How long windows are kept, in seconds."),
        option("max_counters", Takes::Number, "Keys that are kept, at the most."),
    ],
    make,
};

#[derive(Debug)]
struct Throttle {
    key: Template,
    before: i64,
    after: i64,
    period: Template,
    max_age: i64,
    max_counters: usize,
}

fn make(arguments: &mut Arguments<'_>) -> Option<Box<dyn Filter>> {
    let whole = |name, default| arguments.number(name).map_or(default, |number| number as i64);
    Some(Box::new(Throttle {
        before: whole("before_count", -1),
        after: whole("after_count", -1),
        max_age: whole("max_age", 3600),
        max_counters: usize::try_from(whole("max_counters", 100_000)).unwrap_or(1).max(1),
        period: Template::parse(&arguments.text("period").unwrap_or_else(|| "60".to_string())),
        key: Template::parse(&arguments.text("key")?),
    }))
}

/// The windows of one key.
#[derive(Debug)]
struct Windows {
    /// The time of the first event, in seconds.
    origin: i64,
    /// Counts by the window's number.
    counts: HashMap<i64, i64>,
    /// The latest time, in seconds.
    latest: i64,
}

type Memory = HashMap<String, Windows>;

impl Filter for Throttle {
    fn memory(&self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new(Memory::new()))
    }

    fn filter<'a>(&'a self, event: &mut LogEvent<'a>, turn: &mut Turn<'a, '_>) -> Outcome {
        let key = self.key.render(event, turn.arena, turn.now);
        let period: i64 =
            self.period.render(event, turn.arena, turn.now).trim().parse().unwrap_or(0);
        let period = if period > 0 { period } else { 60 };
        let time = event.timestamp().unwrap_or(turn.now).timestamp();
        let memory: &mut Memory = turn.memory.downcast_mut().expect("the memory of this filter");
        if !memory.contains_key(key) {
            self.make_room(memory);
            let windows = Windows { origin: time, counts: HashMap::new(), latest: time };
            memory.insert(key.to_string(), windows);
        }
        let windows = memory.get_mut(key).expect("it was put there just now");
        windows.latest = windows.latest.max(time);
        let slot = (time - windows.origin).div_euclid(period);
        let oldest = (windows.latest - self.max_age - windows.origin).div_euclid(period);
        windows.counts.retain(|slot, _| *slot >= oldest);
        let count = windows.counts.entry(slot).or_default();
        *count += 1;
        let throttled =
            (self.before >= 0 && *count < self.before) || (self.after >= 0 && *count > self.after);
        if throttled { Outcome::Matched } else { Outcome::Unmatched }
    }
}

impl Throttle {
    /// When there are too many keys, the half that was not seen for longest goes.
    fn make_room(&self, memory: &mut Memory) {
        if memory.len() < self.max_counters {
            return;
        }
        let mut times: Vec<i64> = memory.values().map(|windows| windows.latest).collect();
        times.sort_unstable();
        let limit = times[times.len() / 2];
        memory.retain(|_, windows| windows.latest > limit);
    }
}
