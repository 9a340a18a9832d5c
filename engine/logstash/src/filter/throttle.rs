//! `throttle`: succeeds for events that come too seldom or too often in a window of the event's own
//! time. It ends no event itself.

use super::{Declaration, Filter, Outcome, Shelf, Turn};
use crate::options::{Arguments, Takes, option, required};
use crate::saved;
use std::any::Any;
use std::collections::HashMap;
use temblor_lang::value::Arena;
use temblor_logstash_event::datum::Datum;
use temblor_logstash_event::event::LogEvent;
use temblor_logstash_event::template::Template;

/// `throttle`
pub(crate) static DECLARATION: Declaration = Declaration {
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

/// What the filter remembers.
#[derive(Debug)]
struct Memory {
    keys: HashMap<String, Windows>,
    /// How long windows are kept now, in seconds: less than was said while there are too many keys.
    max_age: i64,
}

/// By this part of what was said the age changes, and no less than it is left.
const AGE_STEPS: i64 = 20;
/// So many times the keys that were said may be there between two ticks.
const KEYS_OVER_MAX: usize = 2;

/// What is saved of a key: the windows as pairs of number and count.
static SHELVES: [Shelf; 1] =
    [Shelf { name: "", at: None, columns: &["origin", "latest"], rest: Some("counts") }];

impl Filter for Throttle {
    fn memory(&self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new(Memory { keys: HashMap::new(), max_age: self.max_age }))
    }

    fn wants_ticks(&self) -> bool {
        true
    }

    /// Drops windows that are too old and keys without windows. Too many keys make windows live
    /// shorter, by and by.
    fn tick<'a>(&'a self, turn: &mut Turn<'a, '_>, _last: bool) {
        let memory: &mut Memory = turn.memory.downcast_mut().expect("the memory of this filter");
        let latest = memory.keys.values().map(|windows| windows.latest).max().unwrap_or(0);
        let oldest = latest - memory.max_age;
        memory.keys.retain(|_, windows| windows.latest >= oldest);
        let step = (self.max_age / AGE_STEPS).max(1);
        memory.max_age = if memory.keys.len() > self.max_counters {
            (memory.max_age - step).max(step)
        } else {
            (memory.max_age + step).min(self.max_age)
        };
    }

    fn shelves(&self) -> &'static [Shelf] {
        &SHELVES
    }

    fn save<'a>(&self, memory: &dyn Any, arena: &'a Arena) -> Datum<'a> {
        let Some(memory) = memory.downcast_ref::<Memory>() else { return Datum::Null };
        let entries = memory.keys.iter().map(|(key, windows)| (arena.str(key), windows));
        saved::map(entries, arena, |windows| {
            let counts = windows.counts.iter();
            let counts = counts.flat_map(|(slot, count)| [Datum::Int(*slot), Datum::Int(*count)]);
            let times = [Datum::Int(windows.origin), Datum::Int(windows.latest)];
            Datum::List(times.into_iter().chain(counts).collect())
        })
    }

    fn restore(&self, saved: &Datum<'_>) -> Option<Box<dyn Any + Send>> {
        let keys = saved::entries(Some(saved), |windows| {
            let (times, counts) = saved::list(Some(windows))?.split_at_checked(2)?;
            let whole = |datum: &Datum<'_>| saved::whole(Some(datum));
            let pair = |pair: &[Datum<'_>]| Some((whole(&pair[0])?, whole(&pair[1])?));
            Some(Windows {
                origin: whole(&times[0])?,
                latest: whole(&times[1])?,
                counts: counts.chunks_exact(2).map(pair).collect::<Option<_>>()?,
            })
        })?;
        // How long windows are kept is found anew by the ticks that come.
        Some(Box::new(Memory { keys, max_age: self.max_age }))
    }

    fn filter<'a>(&'a self, event: &mut LogEvent<'a>, turn: &mut Turn<'a, '_>) -> Outcome {
        let key = self.key.render(event, turn.arena, turn.now);
        let period: i64 =
            self.period.render(event, turn.arena, turn.now).trim().parse().unwrap_or(0);
        let period = if period > 0 { period } else { 60 };
        let time = event.timestamp().unwrap_or(turn.now).timestamp();
        let memory: &mut Memory = turn.memory.downcast_mut().expect("the memory of this filter");
        let max_age = memory.max_age;
        if !memory.keys.contains_key(key) {
            self.make_room(&mut memory.keys);
            let windows = Windows { origin: time, counts: HashMap::new(), latest: time };
            memory.keys.insert(key.to_string(), windows);
        }
        let windows = memory.keys.get_mut(key).expect("it was put there just now");
        windows.latest = windows.latest.max(time);
        let slot = (time - windows.origin).div_euclid(period);
        let oldest = (windows.latest - max_age - windows.origin).div_euclid(period);
        windows.counts.retain(|slot, _| *slot >= oldest);
        let count = windows.counts.entry(slot).or_default();
        *count += 1;
        let throttled =
            (self.before >= 0 && *count < self.before) || (self.after >= 0 && *count > self.after);
        if throttled { Outcome::Matched } else { Outcome::Unmatched }
    }
}

impl Throttle {
    /// When there are far too many keys, the half that was not seen for longest goes at once.
    fn make_room(&self, keys: &mut HashMap<String, Windows>) {
        if keys.len() < self.max_counters.saturating_mul(KEYS_OVER_MAX) {
            return;
        }
        let mut times: Vec<i64> = keys.values().map(|windows| windows.latest).collect();
        times.sort_unstable();
        let limit = times[times.len() / 2];
        keys.retain(|_, windows| windows.latest > limit);
    }
}
