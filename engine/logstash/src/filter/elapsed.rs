//! `elapsed`: the time between a tagged start and a tagged end with the same value in a field.

use super::{Declaration, Filter, Outcome, Shelf, Turn};
use crate::options::{Arguments, Takes, option, required};
use crate::saved;
use chrono::{DateTime, Utc};
use std::any::Any;
use std::collections::HashMap;
use temblor_lang::value::Arena;
use temblor_logstash_event::datum::{Datum, Map};
use temblor_logstash_event::event::LogEvent;
use temblor_logstash_event::reference::FieldRef;

/// `elapsed`
pub(crate) static DECLARATION: Declaration = Declaration {
    name: "elapsed",
    doc: "Tells the time between a start and its end.",
    options: &[
        required("start_tag", Takes::Text, "The tag of starts."),
        required("end_tag", Takes::Text, "The tag of ends."),
        required("unique_id_field", Takes::Text, "The field that starts and ends share."),
        option("timeout", Takes::Number, "Seconds after which a start has no end."),
        option("new_event_on_match", Takes::Flag, "Whether the time goes into a new event."),
        option(
            "keep_start_event",
            Takes::OneOf(&["first", "last"]),
            "Which of several starts counts.",
        ),
    ],
    make,
};

/// Starts that are kept; beyond them new ones are not.
const STARTS_MAX: usize = 1_000_000;

#[derive(Debug)]
struct Elapsed {
    start: String,
    end: String,
    id: FieldRef,
    timeout: f64,
    new_event: bool,
    keep_first: bool,
}

/// A start: its time, and when it was seen.
type Starts = HashMap<String, (DateTime<Utc>, DateTime<Utc>)>;

fn make(arguments: &mut Arguments<'_>) -> Option<Box<dyn Filter>> {
    Some(Box::new(Elapsed {
        start: arguments.text("start_tag")?,
        end: arguments.text("end_tag")?,
        id: arguments.field_or_none("unique_id_field")?,
        timeout: arguments.number("timeout").unwrap_or(1800.0),
        new_event: arguments.flag("new_event_on_match", false),
        keep_first: arguments.text("keep_start_event").is_none_or(|kept| kept == "first"),
    }))
}

fn has_tag(event: &LogEvent<'_>, tag: &str) -> bool {
    match event.data.get("tags") {
        Some(Datum::List(tags)) => tags.iter().any(|one| one.as_str() == Some(tag)),
        Some(Datum::Str(only)) => *only == tag,
        _ => false,
    }
}

/// What is saved of a start: when it was, and when it was seen.
static SHELVES: [Shelf; 1] =
    [Shelf { name: "", at: None, columns: &["start_ns", "seen_ns"], rest: None }];

impl Filter for Elapsed {
    fn memory(&self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new(Starts::new()))
    }

    fn shelves(&self) -> &'static [Shelf] {
        &SHELVES
    }

    fn save<'a>(&self, memory: &dyn Any, arena: &'a Arena) -> Datum<'a> {
        let Some(starts) = memory.downcast_ref::<Starts>() else { return Datum::Null };
        let entries = starts.iter().map(|(id, times)| (arena.str(id), times));
        saved::map(entries, arena, |(start, seen)| {
            Datum::List(vec![saved::of_time(*start), saved::of_time(*seen)])
        })
    }

    fn restore(&self, saved: &Datum<'_>) -> Option<Box<dyn Any + Send>> {
        let starts: Starts = saved::entries(Some(saved), |times| {
            let times = saved::list(Some(times))?;
            Some((saved::time(times.first())?, saved::time(times.get(1))?))
        })?;
        Some(Box::new(starts))
    }

    fn wants_ticks(&self) -> bool {
        true
    }

    fn filter<'a>(&'a self, event: &mut LogEvent<'a>, turn: &mut Turn<'a, '_>) -> Outcome {
        let id = match event.get(&self.id) {
            None | Some(Datum::Null) => return Outcome::Unmatched,
            Some(value) => value.text(),
        };
        let time = event.timestamp().unwrap_or(turn.now);
        let starts = turn.memory.downcast_mut::<Starts>().expect("the memory of this filter");
        if has_tag(event, &self.start) {
            let known = starts.contains_key(&id);
            if !(self.keep_first && known) && (known || starts.len() < STARTS_MAX) {
                starts.insert(id, (time, turn.now));
            }
            return Outcome::Matched;
        }
        if !has_tag(event, &self.end) {
            return Outcome::Unmatched;
        }
        let Some((start, _)) = starts.remove(&id) else {
            event.tag("elapsed_end_without_start");
            return Outcome::Matched;
        };
        let seconds = (time - start).num_microseconds().unwrap_or(0) as f64 / 1e6;
        if self.new_event {
            let mut made = self.event(&id, seconds, start, turn);
            made.tag("elapsed_match");
            turn.emit(made);
        } else {
            event.tag("elapsed");
            event.tag("elapsed_match");
            event.data.insert("elapsed_time", Datum::Float(seconds));
            event.data.insert("elapsed_timestamp_start", Datum::Time(start));
        }
        Outcome::Matched
    }

    fn tick<'a>(&'a self, turn: &mut Turn<'a, '_>, _last: bool) {
        let now = turn.now;
        let age = |seen: &DateTime<Utc>| (now - *seen).num_milliseconds() as f64 / 1e3;
        let starts = turn.memory.downcast_mut::<Starts>().expect("the memory of this filter");
        let mut over: Vec<(String, DateTime<Utc>, f64)> = starts
            .iter()
            .filter(|(_, (_, seen))| age(seen) >= self.timeout)
            .map(|(id, (start, seen))| (id.clone(), *start, age(seen)))
            .collect();
        over.sort_by(|left, right| (left.1, &left.0).cmp(&(right.1, &right.0)));
        for (id, _, _) in &over {
            starts.remove(id);
        }
        for (id, start, age) in over {
            let mut made = self.event(&id, age, start, turn);
            made.tag("elapsed_expired_error");
            turn.emit(made);
        }
    }
}

impl Elapsed {
    fn event<'a>(
        &'a self,
        id: &str,
        seconds: f64,
        start: DateTime<Utc>,
        turn: &Turn<'a, '_>,
    ) -> LogEvent<'a> {
        let mut event = LogEvent::new(Map::default(), turn.now);
        event.tag("elapsed");
        let _ = event.set(&self.id, Datum::Str(turn.arena.str(id)), turn.arena);
        event.data.insert("elapsed_time", Datum::Float(seconds));
        event.data.insert("elapsed_timestamp_start", Datum::Time(start));
        event
    }
}
