//! Modes `last` and `count`: an event of each key is held until its key is forgotten. Nothing that
//! is held gets lost: eviction and the end of the input let it go early.

use super::{Key, Memory, Seed};
use crate::event::Event;
use crate::operator::{ELSE, Emitter, OUT, Operator, Surroundings, Usage};
use crate::operators::saved_rows;
use crate::row::Row;
use crate::store::{Kept, Recency};
use temblor_lang::builtin::CallError;
use temblor_lang::error::EvalError;
use temblor_lang::value::{Arena, Key as Field, Value};
use temblor_runtime::memory;

/// What is held of several equal events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keep {
    /// The newest event.
    Last,
    /// The first event, and how many there were.
    Count,
}

#[derive(Debug)]
pub(super) struct Held {
    pub key: Key,
    pub memory: Memory,
    pub keep: Keep,
}

#[derive(Debug)]
struct Run {
    event: Kept,
    count: u64,
    first_ns: u64,
    last_ns: u64,
}

/// Boxed, so that moving an entry of the map is cheap; `None` only in free entries.
type Entry = Option<Box<Run>>;

#[derive(Debug, Default)]
pub(super) struct State {
    seed: Seed,
    runs: Recency<Entry>,
    clock_ns: u64,
    event_bytes: usize,
    evicted: u64,
}

impl Held {
    fn advance<'a>(&self, state: &mut State, around: &Surroundings<'a>, out: &mut Emitter<'a>) {
        state.clock_ns = state.clock_ns.max(around.now_ns);
        let Some(horizon) = self.memory.horizon(state.clock_ns) else { return };
        while let Some(seen) = state.runs.pop_until(horizon) {
            self.let_go(state, seen.value, around, out);
        }
    }

    fn let_go<'a>(
        &self,
        state: &mut State,
        entry: Entry,
        around: &Surroundings<'a>,
        out: &mut Emitter<'a>,
    ) {
        let Some(run) = entry else { return };
        state.event_bytes -= run.event.bytes();
        match self.keep {
            Keep::Last => run.event.emit(OUT, around, out),
            Keep::Count => {
                let event = run.event.event(around.arena());
                let summary = summary(&run, event.value, around.arena());
                out.emit(OUT, Event::new(summary, event.meta, state.clock_ns));
                run.event.release(out);
            }
        }
    }

    fn begin<'a>(
        &self,
        state: &mut State,
        hash: u128,
        event: &Event<'a>,
        around: &Surroundings<'a>,
        out: &mut Emitter<'a>,
    ) {
        if memory::is_full(state.runs.len(), self.memory.keys_max)
            && let Some(oldest) = state.runs.pop_oldest()
        {
            state.evicted += u64::from(self.memory.is_limit);
            self.let_go(state, oldest.value, around, out);
        }
        let now_ns = state.clock_ns;
        let event = Kept::new(event, around);
        let run = Run { event, count: 1, first_ns: now_ns, last_ns: now_ns };
        insert(state, hash, now_ns, run);
    }
}

fn insert(state: &mut State, hash: u128, at_ns: u64, run: Run) {
    state.event_bytes += run.event.bytes();
    state.runs.insert(hash, at_ns, Some(Box::new(run)));
}

fn summary<'a>(run: &Run, event: Value<'a>, arena: &'a Arena) -> Value<'a> {
    let mut summary = arena.record_builder(4);
    summary.append("event", event);
    summary.append("count", Value::UInt(run.count));
    summary.append("first_seen", Value::UInt(run.first_ns));
    summary.append("last_seen", Value::UInt(run.last_ns));
    summary.finish()
}

impl Operator for Held {
    type State = State;

    fn start(&self) -> State {
        State::default()
    }

    fn rehearse(&self) -> State {
        State { seed: Seed::NONE, ..State::default() }
    }

    fn process<'a>(
        &'a self,
        state: &mut State,
        _: &str,
        event: Event<'a>,
        around: &Surroundings<'a>,
        out: &mut Emitter<'a>,
    ) -> Result<(), EvalError> {
        let hash = self.key.keyed_hash(&event, around, state.seed.0)?;
        self.advance(state, around, out);
        let now_ns = state.clock_ns;
        let found = match self.memory.refresh {
            true => state.runs.touch(hash, now_ns),
            false => state.runs.get_mut(hash),
        };
        let Some(run) = found.and_then(Option::as_mut) else {
            self.begin(state, hash, &event, around, out);
            return Ok(());
        };
        run.count += 1;
        run.last_ns = now_ns;
        match self.keep {
            Keep::Count => out.emit(ELSE, event),
            Keep::Last => {
                let older = std::mem::replace(&mut run.event, Kept::new(&event, around));
                state.event_bytes += run.event.bytes();
                state.event_bytes -= older.bytes();
                older.emit(ELSE, around, out);
            }
        }
        Ok(())
    }

    fn wants_ticks(&self) -> bool {
        self.memory.within_ns.is_some()
    }

    fn tick<'a>(
        &'a self,
        state: &mut State,
        around: &Surroundings<'a>,
        out: &mut Emitter<'a>,
    ) -> Result<(), EvalError> {
        self.advance(state, around, out);
        Ok(())
    }

    fn flush<'a>(
        &'a self,
        state: &mut State,
        around: &Surroundings<'a>,
        out: &mut Emitter<'a>,
    ) -> Result<(), EvalError> {
        self.advance(state, around, out);
        while let Some(seen) = state.runs.pop_oldest() {
            self.let_go(state, seen.value, around, out);
        }
        Ok(())
    }

    fn save<'a>(&self, state: &State, arena: &'a Arena) -> Value<'a> {
        // The first record is the key of the hashes; it has none of its own.
        let mut runs = arena.array_builder(state.runs.len() + 1);
        let mut first = arena.record_builder(1);
        first.append(Seed::FIELD, state.seed.value());
        runs.push(first.finish());
        for (hash, at_ns, entry) in state.runs.iter() {
            let Some(run) = entry else { continue };
            let mut saved = arena.record_builder(6);
            saved.append("key", Value::Str(arena.format(format_args!("{hash:032x}"))));
            saved.append("at_ns", Value::UInt(at_ns));
            saved.append("count", Value::UInt(run.count));
            saved.append("first_ns", Value::UInt(run.first_ns));
            saved.append("last_ns", Value::UInt(run.last_ns));
            saved.append("event", run.event.save(arena));
            runs.push(saved.finish());
        }
        runs.finish()
    }

    fn restore(&self, saved: Value<'_>) -> Result<State, CallError> {
        let arena = Arena::new();
        let items = saved.copy_into(&arena);
        let items = items.as_array(&arena).ok_or_else(|| damaged("an array of runs"))?;
        let (seed, items) = match items.split_first() {
            Some((first, rest)) if first.get(&Field::new(Seed::FIELD)).is_some() => {
                (Seed::restore(*first), rest)
            }
            _ => (Seed(0), items),
        };
        let mut state = State { seed, ..State::default() };
        for item in items {
            let number = |name| item.get(&Field::new(name)).and_then(Value::as_u64);
            let key = item.get(&Field::new("key")).and_then(Value::as_str);
            let hash = key.and_then(|key| u128::from_str_radix(key, 16).ok());
            let at_ns = number("at_ns").ok_or_else(|| damaged("the time of a run"))?;
            let run = Run {
                event: Kept::restore(item.get(&Field::new("event")).unwrap_or(Value::Null))?,
                count: number("count").unwrap_or(1),
                first_ns: number("first_ns").unwrap_or(at_ns),
                last_ns: number("last_ns").unwrap_or(at_ns),
            };
            state.clock_ns = state.clock_ns.max(run.last_ns);
            insert(&mut state, hash.ok_or_else(|| damaged("the key of a run"))?, at_ns, run);
        }
        Ok(state)
    }

    fn rows<'a>(&self, state: &State, arena: &'a Arena) -> Option<Vec<Row<'a>>> {
        Some(saved_rows::rows(self, state, arena))
    }

    fn amend(&self, state: &mut State, hash: u128, columns: Value<'_>) -> Result<(), CallError> {
        saved_rows::amend(self, state, hash, columns)
    }

    fn forget(&self, state: &mut State, hash: u128) -> bool {
        saved_rows::forget(self, state, hash)
    }

    fn usage(&self, state: &State) -> Option<Usage> {
        let bytes = state.runs.bytes() + state.event_bytes + state.runs.len() * size_of::<Run>();
        let (entries, evicted) = (state.runs.len() as u64, state.evicted);
        Some(Usage { entries, bytes: bytes as u64, evicted })
    }
}

fn damaged(wanted: &str) -> CallError {
    CallError::failed(format!("the saved state is damaged: expected {wanted}"))
}

#[cfg(test)]
mod tests {
    use crate::operators::harness::{Harness, SECOND};

    #[test]
    fn last_lets_the_newest_through_when_the_window_ends() {
        let settings = [("mode", "last"), ("by", "event.id"), ("within", "10s")];
        let mut dedup = Harness::new("dedup", &settings);
        assert!(dedup.send(0, r#"{"id":1,"n":1}"#).is_empty());
        assert!(dedup.send(SECOND, r#"{"id":2,"n":2}"#).is_empty());
        assert_eq!(dedup.send(9 * SECOND, r#"{"id":1,"n":3}"#), [r#"else {"id":1,"n":1}"#]);
        assert!(dedup.tick(10 * SECOND - 1).is_empty());
        assert_eq!(dedup.tick(10 * SECOND), [r#"out {"id":1,"n":3}"#]);
        assert_eq!(dedup.usage().entries, 1);
        assert_eq!(dedup.flush(10 * SECOND), [r#"out {"id":2,"n":2}"#]);
        assert!(dedup.flush(11 * SECOND).is_empty());
        assert_eq!(dedup.usage().entries, 0);
    }

    #[test]
    fn count_sums_up_when_the_window_ends() {
        let mut dedup = Harness::new("dedup", &[("mode", "count"), ("within", "10s")]);
        assert!(dedup.send_with(1, "7", r#"{"m":1}"#).is_empty());
        assert_eq!(dedup.send(5, "7"), ["else 7"]);
        assert_eq!(
            dedup.send(10 * SECOND + 1, "7"),
            [r#"out {"event":7,"count":2,"first_seen":1,"last_seen":5} $ {"m":1}"#]
        );
        assert_eq!(
            dedup.flush(10 * SECOND + 2),
            [r#"out {"event":7,"count":1,"first_seen":10000000001,"last_seen":10000000001}"#]
        );
    }

    #[test]
    fn eviction_lets_go_early_and_is_counted() {
        let mut dedup = Harness::new("dedup", &[("mode", "last"), ("max_keys", "1")]);
        assert!(dedup.send(0, "1").is_empty());
        assert_eq!(dedup.send(0, "2"), ["out 1"]);
        assert_eq!((dedup.usage().entries, dedup.usage().evicted), (1, 1));
    }

    #[test]
    fn refresh_makes_it_a_session() {
        let settings = [("mode", "count"), ("within", "10s"), ("refresh", "true")];
        let mut dedup = Harness::new("dedup", &settings);
        (0..5).for_each(|number| drop(dedup.send(number * 9 * SECOND, "1")));
        assert!(dedup.tick(45 * SECOND).is_empty());
        assert!(dedup.tick(46 * SECOND)[0].starts_with(r#"out {"event":1,"count":5,"#));
    }

    #[test]
    fn what_is_held_survives_a_restart() {
        let mut dedup = Harness::new("dedup", &[("mode", "count"), ("within", "10s")]);
        dedup.send_with(3, r#"{"a":[1,{"b":null}]}"#, r#"{"m":1}"#);
        dedup.send(4, r#"{"a":[1,{"b":null}]}"#);
        dedup.restart();
        assert_eq!(dedup.send(5, r#"{"a":[1,{"b":null}]}"#), [r#"else {"a":[1,{"b":null}]}"#]);
        let summary = r#"{"event":{"a":[1,{"b":null}]},"count":3,"first_seen":3,"last_seen":5}"#;
        assert_eq!(dedup.flush(6), [format!(r#"out {summary} $ {{"m":1}}"#)]);
        assert!(dedup.refuses("[{}]").contains("damaged"));
        assert!(dedup.refuses("1").contains("damaged"));
    }
}
