//! `suppress`: lets the first few events of each key through in every period. The next one that
//! passes says how many were held back before it.

use super::key::Group;
use super::place::Place;
use super::{MAX_KEYS, OperatorKind, Supplies};
use crate::event::Event;
use crate::operator::{AnyOperator, ELSE, Emitter, OUT, Operator, Surroundings, Usage};
use crate::row::{self, Row};
use crate::store::{Reader, Recency, Writer};
use temblor_declare::{InChain, Setting, Settings, Takes};
use temblor_lang::builtin::CallError;
use temblor_lang::diagnostic::Diagnostic;
use temblor_lang::error::EvalError;
use temblor_lang::value::{Arena, Key as Field, Value};
use temblor_runtime::memory;

/// The declaration.
pub static KINDS: &[OperatorKind] = &[OperatorKind {
    path: "stream::suppress",
    word: Some("suppress"),
    doc: "Lets the first events of each key (`by`) through in every period (`per`), as many as the \
          number says, and sends the others to `else`. A period begins with the first event of a \
          key. The first event of a later period carries the number of events held back since, in \
          `$suppressed` or where `as` says.",
    examples: &["in |> suppress 3 per 1min by event.message else noise |> out"],
    settings: &[
        Setting::new(
            "allow",
            Takes::Whole { least: 0, most: u64::MAX },
            "How many events pass in a period.",
        )
        .in_chain(InChain::Positional)
        .required(),
        Setting::new("per", Takes::Duration, "The period.")
            .in_chain(InChain::Clause("per"))
            .required(),
        Setting::new("by", Takes::Formula, "The key; without one, all events are alike.")
            .in_chain(InChain::Clause("by")),
        Setting::new(
            "as",
            Takes::Place,
            "Where the number of events held back is put (`$suppressed`).",
        )
        .in_chain(InChain::Clause("as")),
        MAX_KEYS,
    ],
    ports: &[ELSE],
    fallbacks: &[],
    build,
}];

#[derive(Debug)]
struct Suppress {
    key: Group,
    allow: u64,
    per_ns: u64,
    count_to: Place,
    keys_max: usize,
}

#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    since_ns: u64,
    passed: u64,
    suppressed: u64,
}

#[derive(Debug, Default)]
struct State {
    tallies: Recency<Tally>,
    evicted: u64,
}

fn build(settings: &Settings, _: &Supplies) -> Result<Box<dyn AnyOperator>, Diagnostic> {
    let suppressed = || Place::parse("$suppressed").expect("a good place");
    if settings.nanoseconds("per") == 0 {
        return Err(settings.error("per", "`per` must be longer than 0: `per 1s`"));
    }
    Ok(Box::new(Suppress {
        key: Group(settings.formula("by")),
        allow: settings.whole("allow"),
        per_ns: settings.nanoseconds("per"),
        count_to: Place::of(settings, "as")?.unwrap_or_else(suppressed),
        keys_max: settings.size("max_keys"),
    }))
}

impl Suppress {
    fn tally<'s>(&self, state: &'s mut State, hash: u128, now_ns: u64) -> Option<&'s mut Tally> {
        if state.tallies.touch(hash, now_ns).is_none() {
            if memory::is_full(state.tallies.len(), self.keys_max) {
                let oldest = state.tallies.pop_oldest();
                // A key whose period is over and that held nothing back is as good as new.
                let is_new = oldest.is_none_or(|oldest| {
                    let age_ns = now_ns.saturating_sub(oldest.value.since_ns);
                    age_ns >= self.per_ns && oldest.value.suppressed == 0
                });
                state.evicted += u64::from(!is_new);
            }
            let tally = Tally { since_ns: now_ns, ..Tally::default() };
            state.tallies.insert(hash, now_ns, tally);
        }
        state.tallies.get_mut(hash)
    }

    /// Whether an event passes, and with how many that were held back before.
    fn decide(&self, tally: &mut Tally, now_ns: u64) -> Option<u64> {
        if now_ns.saturating_sub(tally.since_ns) >= self.per_ns {
            tally.since_ns = now_ns;
            tally.passed = 0;
        }
        if tally.passed >= self.allow {
            tally.suppressed += 1;
            return None;
        }
        tally.passed += 1;
        Some(std::mem::take(&mut tally.suppressed))
    }
}

impl Operator for Suppress {
    type State = State;

    fn start(&self) -> State {
        State::default()
    }

    fn process<'a>(
        &'a self,
        state: &mut State,
        _: &str,
        event: Event<'a>,
        around: &Surroundings<'a>,
        out: &mut Emitter<'a>,
    ) -> Result<(), EvalError> {
        let hash = self.key.hash(&event, around)?;
        let Some(tally) = self.tally(state, hash, around.now_ns) else { return Ok(()) };
        match self.decide(tally, around.now_ns) {
            None => out.emit(ELSE, event),
            Some(0) => out.emit(OUT, event),
            Some(count) => {
                let event = self.count_to.put(around.arena(), event, Value::UInt(count))?;
                out.emit(OUT, event);
            }
        }
        Ok(())
    }

    fn save<'a>(&self, state: &State, arena: &'a Arena) -> Value<'a> {
        let mut writer = Writer::default();
        writer.number(state.evicted);
        state.tallies.iter().for_each(|(hash, at_ns, tally)| {
            writer.hash(hash).number(at_ns).number(tally.since_ns);
            writer.number(tally.passed).number(tally.suppressed);
        });
        let mut saved = arena.record_builder(1);
        saved.append("keys", writer.finish(arena));
        saved.finish()
    }

    fn restore(&self, saved: Value<'_>) -> Result<State, CallError> {
        let mut reader = Reader::new(saved.get(&Field::new("keys")))?;
        let mut state = State { evicted: reader.number()?, ..State::default() };
        while !reader.is_at_end() {
            let (hash, at_ns, since_ns) = (reader.hash()?, reader.number()?, reader.number()?);
            let (passed, suppressed) = (reader.number()?, reader.number()?);
            state.tallies.insert(hash, at_ns, Tally { since_ns, passed, suppressed });
        }
        Ok(state)
    }

    fn rows<'a>(&self, state: &State, arena: &'a Arena) -> Option<Vec<Row<'a>>> {
        let row = |(hash, at_ns, tally): (u128, u64, &Tally)| {
            let columns = [
                ("at_ns", Value::UInt(at_ns)),
                ("since_ns", Value::UInt(tally.since_ns)),
                ("passed", Value::UInt(tally.passed)),
                ("suppressed", Value::UInt(tally.suppressed)),
            ];
            Row::new(hash, &columns, arena)
        };
        Some(state.tallies.iter().map(row).collect())
    }

    fn amend(&self, state: &mut State, hash: u128, columns: Value<'_>) -> Result<(), CallError> {
        let number = |name| row::whole(columns, name);
        let tally = Tally {
            since_ns: number("since_ns")?,
            passed: number("passed")?,
            suppressed: number("suppressed")?,
        };
        state.tallies.place(hash, number("at_ns")?, tally);
        Ok(())
    }

    fn forget(&self, state: &mut State, hash: u128) -> bool {
        state.tallies.remove(hash).is_some()
    }

    fn usage(&self, state: &State) -> Option<Usage> {
        let (entries, bytes) = (state.tallies.len() as u64, state.tallies.bytes() as u64);
        Some(Usage { entries, bytes, evicted: state.evicted })
    }
}

#[cfg(test)]
mod tests {
    use crate::operators::harness::{Harness, SECOND, refusal};

    #[test]
    fn passes_a_few_and_then_says_how_many_it_held_back() {
        let settings = [("allow", "2"), ("per", "10s"), ("by", "event.k")];
        let mut suppress = Harness::new("suppress", &settings);
        let event = r#"{"k":1}"#;
        let ports: String =
            (0..6).map(|t| suppress.send(t * SECOND, event)[0][..1].to_string()).collect();
        assert_eq!(ports, "ooeeee");
        assert_eq!(suppress.send(6 * SECOND, r#"{"k":2}"#), [r#"out {"k":2}"#]);
        suppress.restart();
        let said = r#"out {"k":1} $ {"suppressed":4}"#;
        assert_eq!(suppress.send(10 * SECOND, event), [said]);
        assert_eq!(suppress.send(11 * SECOND, event), [r#"out {"k":1}"#]);
        assert_eq!(suppress.send(12 * SECOND, event), [r#"else {"k":1}"#]);
        assert!(suppress.send(0, "{}")[0].starts_with("err "));
    }

    #[test]
    fn edges() {
        let mut none = Harness::new("suppress", &[("allow", "0"), ("per", "1s")]);
        assert_eq!(none.send(u64::MAX, "1"), ["else 1"]);
        assert!(refusal("suppress", &[("allow", "1"), ("per", "0")]).contains("longer than 0"));
        let settings = [("allow", "1"), ("per", "1s"), ("by", "event"), ("max_keys", "2")];
        let mut few = Harness::new("suppress", &settings);
        (0..5).for_each(|key| drop(few.send(0, &key.to_string())));
        assert_eq!((few.usage().entries, few.usage().evicted), (2, 3));
        assert!(refusal("suppress", &[("allow", "-1"), ("per", "1s")]).contains("whole number"));
        let place = [("allow", "1"), ("per", "1s"), ("as", "[")];
        assert!(refusal("suppress", &place).contains("not a place"));
    }
}
