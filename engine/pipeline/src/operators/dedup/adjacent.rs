//! Mode `adjacent`: removes events that follow an event with the same key. It remembers one hash.

use super::{Key, Memory, Seed};
use crate::event::Event;
use crate::operator::{ELSE, Emitter, OUT, Operator, Surroundings, Usage};
use crate::row::{self, Row};
use crate::store::{Reader, Writer};
use temblor_lang::builtin::CallError;
use temblor_lang::error::EvalError;
use temblor_lang::value::{Arena, Key as Field, Value};

/// Where a saved memory has the event before.
const BEFORE: &str = "before";

#[derive(Debug)]
pub(super) struct Adjacent {
    pub key: Key,
    pub memory: Memory,
}

/// Hash and time of the event before, and the key of the hash.
#[derive(Debug, Default)]
pub(super) struct State {
    seed: Seed,
    before: Option<(u128, u64)>,
}

impl Operator for Adjacent {
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
        let horizon = self.memory.horizon(around.now_ns);
        let before = state.before.filter(|(other, at_ns)| {
            *other == hash && horizon.is_none_or(|horizon| *at_ns > horizon)
        });
        match before {
            Some((_, at_ns)) => {
                let at_ns = if self.memory.refresh { around.now_ns.max(at_ns) } else { at_ns };
                state.before = Some((hash, at_ns));
                out.emit(ELSE, event);
            }
            None => {
                state.before = Some((hash, around.now_ns));
                out.emit(OUT, event);
            }
        }
        Ok(())
    }

    fn save<'a>(&self, state: &State, arena: &'a Arena) -> Value<'a> {
        let Some((hash, at_ns)) = state.before else { return Value::Null };
        let mut before = Writer::default();
        before.hash(hash).number(at_ns);
        let mut saved = arena.record_builder(2);
        saved.append(Seed::FIELD, state.seed.value());
        saved.append(BEFORE, before.finish(arena));
        saved.finish()
    }

    fn restore(&self, saved: Value<'_>) -> Result<State, CallError> {
        if let Value::Null = saved {
            return Ok(State::default());
        }
        let mut reader = Reader::new(saved.get(&Field::new(BEFORE)))?;
        let before = Some((reader.hash()?, reader.number()?));
        Ok(State { seed: Seed::restore(saved), before })
    }

    fn rows<'a>(&self, state: &State, arena: &'a Arena) -> Option<Vec<Row<'a>>> {
        let row = |(hash, at_ns)| Row::new(hash, &[("at_ns", Value::UInt(at_ns))], arena);
        Some(state.before.map(row).into_iter().collect())
    }

    fn amend(&self, state: &mut State, hash: u128, columns: Value<'_>) -> Result<(), CallError> {
        state.before = Some((hash, row::whole(columns, "at_ns")?));
        Ok(())
    }

    fn forget(&self, state: &mut State, hash: u128) -> bool {
        state.before.take_if(|(known, _)| *known == hash).is_some()
    }

    fn usage(&self, state: &State) -> Option<Usage> {
        let entries = u64::from(state.before.is_some());
        Some(Usage { entries, bytes: size_of::<State>() as u64, evicted: 0 })
    }
}

#[cfg(test)]
mod tests {
    use crate::operators::harness::{Harness, SECOND};

    #[test]
    fn removes_only_what_follows_its_like() {
        let mut dedup = Harness::new("dedup", &[("mode", "adjacent"), ("by", "event % 10")]);
        let ports = [("1", "out"), ("11", "else"), ("2", "out"), ("1", "out"), ("21", "else")];
        for (event, port) in ports {
            assert_eq!(dedup.send(0, event), [format!("{port} {event}")]);
        }
    }

    #[test]
    fn a_run_is_broken_after_a_while() {
        let mut dedup = Harness::new("dedup", &[("mode", "adjacent"), ("within", "3s")]);
        let ports = |dedup: &mut Harness, start: u64| -> String {
            (start..start + 7)
                .map(|t| if dedup.send(t * SECOND, "1")[0] == "out 1" { 'o' } else { '-' })
                .collect()
        };
        assert_eq!(ports(&mut dedup, 0), "o--o--o");
        let mut renewed =
            Harness::new("dedup", &[("mode", "adjacent"), ("within", "3s"), ("refresh", "true")]);
        assert_eq!(ports(&mut renewed, 0), "o------");
        renewed.restart();
        assert_eq!(renewed.send(8 * SECOND, "1"), ["else 1"]);
        assert_eq!(renewed.send(11 * SECOND, "1"), ["out 1"]);
    }

    #[test]
    fn restarts_empty() {
        let mut dedup = Harness::new("dedup", &[("mode", "adjacent")]);
        dedup.restart();
        assert_eq!(dedup.usage().entries, 0);
        assert_eq!(dedup.send(0, "1"), ["out 1"]);
    }
}
