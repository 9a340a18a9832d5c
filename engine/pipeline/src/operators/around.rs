//! `around`: lets through what happens around something: some events before a trigger, the trigger,
//! and some after it. What waits before a trigger that never comes goes to `else`, in order.

use super::key::{Group, evaluate};
use super::saved_rows;
use super::{MAX_KEYS, OperatorKind, Supplies};
use crate::event::Event;
use crate::operator::{AnyOperator, ELSE, Emitter, OUT, Operator, Surroundings, Usage};
use crate::row::Row;
use crate::store::{Kept, KeptQueue, Recency};
use std::sync::Arc;
use temblor_declare::{InChain, Setting, Settings, Takes};
use temblor_lang::builtin::CallError;
use temblor_lang::diagnostic::Diagnostic;
use temblor_lang::error::EvalError;
use temblor_lang::program::Formula;
use temblor_lang::value::{Arena, Key as Field, Value};
use temblor_runtime::limits::{AROUND_BYTES_MAX, AROUND_EVENTS_MAX};
use temblor_runtime::memory;

/// The declaration.
pub static KINDS: &[OperatorKind] = &[OperatorKind {
    path: "stream::around",
    word: Some("around"),
    doc: "Lets events through that happen around a trigger, which is an event for which `when` is \
          true: up to `before` events in front of it, itself, and `after` events behind it; for each \
          key (`by`) by itself. Events that turn out not to be around anything go to `else`. \
          `within` limits how long an event waits for a trigger. A source does not count events that \
          wait as delivered.",
    examples: &[
        "in |> around when event.level == \"error\" before 10 after 5 |> out",
        "in |> around when event.status >= 500 before 20 by event.session within 1min |> out",
    ],
    settings: &[
        Setting::new("when", Takes::Formula, "True for the events that are triggers.")
            .in_chain(InChain::Clause("when"))
            .required(),
        Setting::new(
            "before",
            Takes::Whole { least: 0, most: AROUND_EVENTS_MAX as u64 },
            "How many events before a trigger.",
        )
        .or("0")
        .in_chain(InChain::Clause("before")),
        Setting::new(
            "after",
            Takes::Whole { least: 0, most: u64::MAX },
            "How many events after a trigger.",
        )
        .or("0")
        .in_chain(InChain::Clause("after")),
        Setting::new("by", Takes::Formula, "The key.").in_chain(InChain::Clause("by")),
        Setting::new(
            "within",
            Takes::Duration,
            "How long an event waits for a trigger; without it, until others push it out.",
        )
        .in_chain(InChain::Clause("within")),
        MAX_KEYS,
    ],
    ports: &[ELSE],
    fallbacks: &[],
    build,
}];

#[derive(Debug)]
struct Around {
    when: Arc<Formula>,
    key: Group,
    before: usize,
    after: u64,
    within_ns: Option<u64>,
    keys_max: usize,
}

/// What is known of a key.
#[derive(Debug, Default)]
struct Scene {
    waiting: KeptQueue,
    /// Events that still belong to the last trigger.
    left: u64,
}

#[derive(Debug, Default)]
struct State {
    scenes: Recency<Scene>,
    bytes: usize,
    evicted: u64,
}

fn build(settings: &Settings, _: &Supplies) -> Result<Box<dyn AnyOperator>, Diagnostic> {
    Ok(Box::new(Around {
        when: settings.formula("when").expect("the trigger is required"),
        key: Group(settings.formula("by")),
        before: settings.size("before"),
        after: settings.whole("after"),
        within_ns: settings.optional_nanoseconds("within"),
        keys_max: settings.size("max_keys"),
    }))
}

impl State {
    fn let_go<'a>(
        &mut self,
        queue: &mut KeptQueue,
        port: &'static str,
        around: &Surroundings<'a>,
        out: &mut Emitter<'a>,
    ) {
        self.bytes -= queue.bytes();
        queue.drain().for_each(|kept| kept.emit(port, around, out));
    }

    fn give_up<'a>(&mut self, scene: Scene, around: &Surroundings<'a>, out: &mut Emitter<'a>) {
        let mut waiting = scene.waiting;
        self.let_go(&mut waiting, ELSE, around, out);
    }
}

impl Around {
    /// The scene of a key, taken out of the state.
    fn scene<'a>(
        &self,
        state: &mut State,
        hash: u128,
        around: &Surroundings<'a>,
        out: &mut Emitter<'a>,
    ) -> Scene {
        if state.scenes.touch(hash, around.now_ns).is_none() {
            if memory::is_full(state.scenes.len(), self.keys_max)
                && let Some(oldest) = state.scenes.pop_oldest()
            {
                state.evicted += 1;
                state.give_up(oldest.value, around, out);
            }
            state.scenes.insert(hash, around.now_ns, Scene::default());
        }
        state.scenes.get_mut(hash).map(std::mem::take).unwrap_or_default()
    }

    /// An event that waits for a trigger. What there is no room for any more goes to `else`.
    fn wait<'a>(
        &self,
        state: &mut State,
        scene: &mut Scene,
        event: Event<'a>,
        around: &Surroundings<'a>,
        out: &mut Emitter<'a>,
    ) {
        if self.before == 0 {
            return out.emit(ELSE, event);
        }
        let kept = Kept::new(&event, around);
        state.bytes += kept.bytes();
        scene.waiting.push(kept);
        while scene.waiting.len() > self.before || state.bytes > AROUND_BYTES_MAX {
            let Some(kept) = scene.waiting.pop() else { break };
            state.bytes -= kept.bytes();
            kept.emit(ELSE, around, out);
        }
    }

    fn expire<'a>(
        &self,
        state: &mut State,
        scene: &mut Scene,
        around: &Surroundings<'a>,
        out: &mut Emitter<'a>,
    ) {
        let Some(horizon) = self.within_ns.and_then(|ns| around.now_ns.checked_sub(ns)) else {
            return;
        };
        while scene.waiting.first().is_some_and(|first| first.ingest_ns <= horizon) {
            let Some(kept) = scene.waiting.pop() else { break };
            state.bytes -= kept.bytes();
            kept.emit(ELSE, around, out);
        }
    }
}

impl Operator for Around {
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
        let value = evaluate(&self.when, &event, around)?;
        let Some(is_trigger) = value.as_bool() else {
            return Err(not_a_boolean(value));
        };
        let mut scene = self.scene(state, hash, around, out);
        self.expire(state, &mut scene, around, out);
        if is_trigger {
            state.let_go(&mut scene.waiting, OUT, around, out);
            scene.left = self.after;
            out.emit(OUT, event);
        } else if scene.left > 0 {
            scene.left -= 1;
            out.emit(OUT, event);
        } else {
            self.wait(state, &mut scene, event, around, out);
        }
        if let Some(place) = state.scenes.get_mut(hash) {
            *place = scene;
        }
        Ok(())
    }

    fn wants_ticks(&self) -> bool {
        self.within_ns.is_some()
    }

    /// Keys that were not seen for `within` have nothing left that could come before a trigger.
    fn tick<'a>(
        &'a self,
        state: &mut State,
        around: &Surroundings<'a>,
        out: &mut Emitter<'a>,
    ) -> Result<(), EvalError> {
        let horizon = self.within_ns.and_then(|ns| around.now_ns.checked_sub(ns));
        let Some(horizon) = horizon else { return Ok(()) };
        // A key that awaits events after a trigger stays, as the newest, and is not met again.
        for _ in 0..state.scenes.len() {
            let Some(mut seen) = state.scenes.pop_until(horizon) else { break };
            state.let_go(&mut seen.value.waiting, ELSE, around, out);
            if seen.value.left > 0 {
                state.scenes.insert(seen.hash, around.now_ns, seen.value);
            }
        }
        Ok(())
    }

    fn flush<'a>(
        &'a self,
        state: &mut State,
        around: &Surroundings<'a>,
        out: &mut Emitter<'a>,
    ) -> Result<(), EvalError> {
        while let Some(seen) = state.scenes.pop_oldest() {
            state.give_up(seen.value, around, out);
        }
        Ok(())
    }

    fn save<'a>(&self, state: &State, arena: &'a Arena) -> Value<'a> {
        let mut scenes = arena.array_builder(state.scenes.len());
        for (hash, at_ns, scene) in state.scenes.iter() {
            let mut saved = arena.record_builder(4);
            saved.append("key", Value::Str(arena.format(format_args!("{hash:032x}"))));
            saved.append("at_ns", Value::UInt(at_ns));
            saved.append("left", Value::UInt(scene.left));
            saved.append("waiting", scene.waiting.save(arena));
            scenes.push(saved.finish());
        }
        scenes.finish()
    }

    fn restore(&self, saved: Value<'_>) -> Result<State, CallError> {
        let arena = Arena::new();
        let saved = saved.copy_into(&arena);
        let damaged = || CallError::failed("the saved state of `around` is damaged");
        let mut state = State::default();
        for item in saved.as_array(&arena).ok_or_else(damaged)? {
            let part = |name| item.get(&Field::new(name)).unwrap_or(Value::Null);
            let hash = part("key").as_str().and_then(|key| u128::from_str_radix(key, 16).ok());
            let (left, at_ns) = (part("left").as_u64(), part("at_ns").as_u64());
            let (Some(hash), Some(left), Some(at_ns)) = (hash, left, at_ns) else {
                return Err(damaged());
            };
            let scene = Scene { waiting: KeptQueue::restore(part("waiting"))?, left };
            state.bytes += scene.waiting.bytes();
            state.scenes.insert(hash, at_ns, scene);
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
        let bytes = (state.scenes.bytes() + state.bytes) as u64;
        Some(Usage { entries: state.scenes.len() as u64, bytes, evicted: state.evicted })
    }
}

#[cold]
fn not_a_boolean(value: Value<'_>) -> EvalError {
    let kind = value.kind().name();
    EvalError::new("E0607", format!("`when` must be true or false, found {kind}"))
}

#[cfg(test)]
mod tests {
    use crate::operators::harness::{Harness, SECOND, refusal};

    const WHEN: (&str, &str) = ("when", "event > 99");

    fn sent(around: &mut Harness, events: &[u64]) -> String {
        let sent = events.iter().flat_map(|event| around.send(0, &event.to_string()));
        sent.collect::<Vec<_>>().join(",")
    }

    #[test]
    fn lets_through_what_is_around_a_trigger() {
        let mut around = Harness::new("around", &[WHEN, ("before", "2"), ("after", "1")]);
        assert_eq!(sent(&mut around, &[1, 2, 3]), "else 1");
        assert_eq!(sent(&mut around, &[100]), "out 2,out 3,out 100");
        assert_eq!(sent(&mut around, &[4, 5, 6, 7]), "out 4,else 5");
        around.restart();
        assert_eq!(sent(&mut around, &[101, 102, 8, 9]), "out 6,out 7,out 101,out 102,out 8");
        assert_eq!(around.flush(0), ["else 9"]);
        assert!(around.flush(0).is_empty());
    }

    #[test]
    fn keys_are_apart_and_few_are_kept() {
        let settings = [("when", "event.t"), ("by", "event.k"), ("before", "1"), ("max_keys", "2")];
        let mut around = Harness::new("around", &settings);
        assert!(around.send(0, r#"{"k":1,"t":false}"#).is_empty());
        assert_eq!(around.send(0, r#"{"k":2,"t":true}"#), [r#"out {"k":2,"t":true}"#]);
        assert_eq!(
            around.send(0, r#"{"k":3,"t":true}"#),
            [r#"else {"k":1,"t":false}"#, r#"out {"k":3,"t":true}"#]
        );
        assert_eq!((around.usage().entries, around.usage().evicted), (2, 1));
        assert!(around.send(0, r#"{"k":3,"t":7}"#)[0].contains("found integer"));
        assert!(around.send(0, "{}")[0].starts_with("err "));
    }

    #[test]
    fn nothing_waits_for_ever() {
        let mut around = Harness::new("around", &[WHEN, ("before", "5"), ("within", "10s")]);
        around.send(0, "1");
        around.send(9 * SECOND, "2");
        assert_eq!(around.send(10 * SECOND, "100"), ["else 1", "out 2", "out 100"]);
        around.send(11 * SECOND, "3");
        assert!(around.tick(20 * SECOND).is_empty());
        assert_eq!(around.tick(21 * SECOND), ["else 3"]);
        assert_eq!(around.usage().entries, 0);
    }

    #[test]
    fn without_numbers_only_triggers_pass() {
        let mut around = Harness::new("around", &[WHEN]);
        assert_eq!(sent(&mut around, &[1, 100, 2]), "else 1,out 100,else 2");
        assert!(refusal("around", &[]).contains("`when` is missing"));
        assert!(refusal("around", &[WHEN, ("before", "100000000")]).contains("from 0 to 1000000"));
    }
}
