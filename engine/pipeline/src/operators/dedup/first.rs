//! Mode `first`: the first event of a key goes through at once. The memory is one entry of a
//! recency map a key, so expiry and eviction take the oldest entry without a search.

use super::{Key, Memory, Seed};
use crate::event::Event;
use crate::operator::{ELSE, Emitter, OUT, Operator, Surroundings, Usage};
use crate::row::{self, Row};
use crate::store::{Reader, Recency, Writer};
use temblor_lang::builtin::CallError;
use temblor_lang::error::EvalError;
use temblor_lang::value::{Arena, Key as Field, Value};
use temblor_runtime::memory;

#[derive(Debug)]
pub(super) struct First {
    pub key: Key,
    pub memory: Memory,
}

#[derive(Debug, Default)]
pub(super) struct State {
    seed: Seed,
    seen: Recency<()>,
    /// The latest time of all; time never goes back.
    clock_ns: u64,
    evicted: u64,
}

impl First {
    fn advance(&self, state: &mut State, now_ns: u64) {
        state.clock_ns = state.clock_ns.max(now_ns);
        if let Some(horizon) = self.memory.horizon(state.clock_ns) {
            while state.seen.pop_until(horizon).is_some() {}
        }
    }

    fn remember(&self, state: &mut State, hash: u128, at_ns: u64) {
        if memory::is_full(state.seen.len(), self.memory.keys_max) {
            state.seen.pop_oldest();
            state.evicted += u64::from(self.memory.is_limit);
        }
        state.seen.insert(hash, at_ns, ());
    }
}

impl Operator for First {
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
        self.advance(state, around.now_ns);
        let now_ns = state.clock_ns;
        let is_repeat = match self.memory.refresh {
            true => state.seen.touch(hash, now_ns).is_some(),
            false => state.seen.get_mut(hash).is_some(),
        };
        if is_repeat {
            out.emit(ELSE, event);
        } else {
            self.remember(state, hash, now_ns);
            out.emit(OUT, event);
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
        _: &mut Emitter<'a>,
    ) -> Result<(), EvalError> {
        self.advance(state, around.now_ns);
        Ok(())
    }

    fn save<'a>(&self, state: &State, arena: &'a Arena) -> Value<'a> {
        let mut keys = Writer::default();
        state.seen.iter().for_each(|(hash, at_ns, ())| {
            keys.hash(hash).number(at_ns);
        });
        let mut saved = arena.record_builder(4);
        saved.append(Seed::FIELD, state.seed.value());
        saved.append("keys", keys.finish(arena));
        saved.append("clock_ns", Value::UInt(state.clock_ns));
        saved.append("evicted", Value::UInt(state.evicted));
        saved.finish()
    }

    fn restore(&self, saved: Value<'_>) -> Result<State, CallError> {
        let mut state = State { seed: Seed::restore(saved), ..State::default() };
        let mut keys = Reader::new(saved.get(&Field::new("keys")))?;
        while !keys.is_at_end() {
            let (hash, at_ns) = (keys.hash()?, keys.number()?);
            self.remember(&mut state, hash, at_ns);
        }
        let number = |name| saved.get(&Field::new(name)).and_then(Value::as_u64).unwrap_or(0);
        state.clock_ns = number("clock_ns");
        state.evicted = number("evicted");
        Ok(state)
    }

    fn rows<'a>(&self, state: &State, arena: &'a Arena) -> Option<Vec<Row<'a>>> {
        let row = |(hash, at_ns, _)| Row::new(hash, &[("seen_ns", Value::UInt(at_ns))], arena);
        Some(state.seen.iter().map(row).collect())
    }

    fn amend(&self, state: &mut State, hash: u128, columns: Value<'_>) -> Result<(), CallError> {
        state.seen.place(hash, row::whole(columns, "seen_ns")?, ());
        Ok(())
    }

    fn forget(&self, state: &mut State, hash: u128) -> bool {
        state.seen.remove(hash).is_some()
    }

    fn usage(&self, state: &State) -> Option<Usage> {
        let (entries, bytes) = (state.seen.len() as u64, state.seen.bytes() as u64);
        Some(Usage { entries, bytes, evicted: state.evicted })
    }
}

#[cfg(test)]
mod tests {
    use crate::operators::harness::{Harness, SECOND, refusal};

    #[test]
    fn removes_equal_events_whatever_the_order_of_fields() {
        let mut dedup = Harness::new("dedup", &[]);
        assert_eq!(dedup.send(0, r#"{"a":1,"b":2}"#), [r#"out {"a":1,"b":2}"#]);
        assert_eq!(dedup.send(1, r#"{"b":2,"a":1.0}"#), [r#"else {"b":2,"a":1.0}"#]);
        assert_eq!(dedup.send(2, r#"{"a":"1","b":2}"#), [r#"out {"a":"1","b":2}"#]);
        assert_eq!(dedup.send(3, "null"), ["out null"]);
        assert_eq!(dedup.send(u64::MAX, "null"), ["else null"]);
    }

    #[test]
    fn a_key_that_is_missing_fails_the_event_only() {
        let mut dedup = Harness::new("dedup", &[("by", "event.id")]);
        assert!(dedup.send(0, r#"{"no":1}"#)[0].starts_with("err "));
        assert!(dedup.send(0, "7")[0].starts_with("err "));
        assert_eq!(dedup.send(0, r#"{"id":1}"#), [r#"out {"id":1}"#]);
        assert_eq!(dedup.usage().entries, 1);
    }

    #[test]
    fn a_key_that_never_stops_still_comes_once_a_window() {
        let mut dedup = Harness::new("dedup", &[("within", "10s")]);
        let passed = (0..100).filter(|t| dedup.send(t * SECOND, "1")[0] == "out 1").count();
        assert_eq!(passed, 10);
    }

    #[test]
    fn refresh_renews_a_key() {
        let mut dedup = Harness::new("dedup", &[("within", "10s"), ("refresh", "true")]);
        let passed = (0..100).filter(|t| dedup.send(t * SECOND, "1")[0] == "out 1").count();
        assert_eq!(passed, 1);
        assert_eq!(dedup.send(108 * SECOND, "1"), ["else 1"]);
        assert_eq!(dedup.send(118 * SECOND, "1"), ["out 1"]);
    }

    #[test]
    fn the_window_ends_to_the_nanosecond() {
        let mut dedup = Harness::new("dedup", &[("within", "5")]);
        assert_eq!(dedup.send(0, "1"), ["out 1"]);
        assert_eq!(dedup.send(4, "1"), ["else 1"]);
        assert_eq!(dedup.send(5, "1"), ["out 1"]);
        let mut none = Harness::new("dedup", &[("within", "0")]);
        assert_eq!(
            (none.send(0, "1"), none.send(0, "1")),
            (vec!["out 1".into()], vec!["out 1".into()])
        );
    }

    #[test]
    fn ticks_forget_what_has_expired() {
        let mut dedup = Harness::new("dedup", &[("within", "5s")]);
        dedup.send(0, "1");
        dedup.send(2 * SECOND, "2");
        assert!(dedup.tick(5 * SECOND).is_empty());
        assert_eq!(dedup.usage().entries, 1);
        assert_eq!(dedup.usage().evicted, 0);
    }

    #[test]
    fn remembers_the_last_keys_only() {
        let mut dedup = Harness::new("dedup", &[("last", "2")]);
        for (event, port) in [("1", "out"), ("2", "out"), ("1", "else"), ("3", "out"), ("1", "out")]
        {
            assert_eq!(dedup.send(0, event), [format!("{port} {event}")]);
        }
        assert_eq!((dedup.usage().entries, dedup.usage().evicted), (2, 0));
        let mut recent = Harness::new("dedup", &[("last", "2"), ("refresh", "true")]);
        for (event, port) in
            [("1", "out"), ("2", "out"), ("1", "else"), ("3", "out"), ("1", "else")]
        {
            assert_eq!(recent.send(0, event), [format!("{port} {event}")]);
        }
    }

    #[test]
    fn lack_of_room_is_counted() {
        let mut dedup = Harness::new("dedup", &[("max_keys", "2"), ("last", "3")]);
        for event in ["1", "2", "3", "4"] {
            dedup.send(0, event);
        }
        assert_eq!((dedup.usage().entries, dedup.usage().evicted), (2, 2));
    }

    #[test]
    fn goes_on_after_a_restart() {
        let mut dedup = Harness::new("dedup", &[("within", "10s"), ("max_keys", "3")]);
        (0..5).for_each(|t| drop(dedup.send(t * SECOND, &t.to_string())));
        dedup.restart();
        assert_eq!((dedup.usage().entries, dedup.usage().evicted), (3, 2));
        assert_eq!(dedup.send(5 * SECOND, "4"), ["else 4"]);
        assert_eq!(dedup.send(14 * SECOND, "4"), ["out 4"]);
        assert!(dedup.refuses(r#"{"keys":"AAAA"}"#).contains("ends too early"));
        assert!(dedup.refuses(r#"{"keys":"!"}"#).contains("base64"));
        assert!(dedup.refuses("null").contains("missing"));
    }

    #[test]
    fn wrong_settings_are_refused() {
        assert!(refusal("dedup", &[("last", "0")]).contains("from 1 to"));
        assert!(refusal("dedup", &[("max_keys", "-1")]).contains("whole number"));
        let across = [("across", "event.s"), ("mode", "count")];
        assert!(refusal("dedup", &across).contains("not possible"));
    }

    #[test]
    fn time_that_goes_back_is_taken_as_standing_still() {
        let mut dedup = Harness::new("dedup", &[("within", "10s")]);
        assert_eq!(dedup.send(100 * SECOND, "1"), ["out 1"]);
        assert_eq!(dedup.send(0, "2"), ["out 2"]);
        assert_eq!(dedup.send(105 * SECOND, "2"), ["else 2"]);
    }
}
