//! `batch`: several events become one. Nothing that is collected gets lost at the end of the input,
//! and no source counts it as delivered before the batch has left.

use super::{OperatorKind, Supplies};
use crate::event::{Event, Members};
use crate::operator::{AnyOperator, Emitter, OUT, Operator, Surroundings, Usage};
use crate::store::{Kept, KeptQueue};
use temblor_declare::{InChain, Setting, Settings, Takes};
use temblor_lang::builtin::CallError;
use temblor_lang::diagnostic::Diagnostic;
use temblor_lang::error::EvalError;
use temblor_lang::value::{Arena, Value};
use temblor_runtime::limits::{BATCH_BYTES_MAX, BATCH_EVENTS_MAX};

/// The declaration.
pub static KINDS: &[OperatorKind] = &[OperatorKind {
    path: "generic::batch",
    word: Some("batch"),
    doc: "Collects `count` events into one, whose data is the array of their data and whose metadata \
          is empty; it has the time of its first event. A batch is also complete when an event or a \
          tick comes more than `timeout` after its first event, when it takes 256 MiB, and at the \
          end of the input.",
    examples: &["in |> batch 100 |> out", "in |> batch 1000 timeout 5s |> out"],
    settings: &[
        Setting::new(
            "count",
            Takes::Whole { least: 1, most: BATCH_EVENTS_MAX as u64 },
            "How many events make a batch.",
        )
        .in_chain(InChain::Positional)
        .required(),
        Setting::new(
            "timeout",
            Takes::Duration,
            "How long the first event waits at most; without it, for ever.",
        )
        .in_chain(InChain::Clause("timeout")),
    ],
    ports: &[],
    fallbacks: &[],
    build,
}];

#[derive(Debug)]
struct Batch {
    count: usize,
    timeout_ns: Option<u64>,
}

fn build(settings: &Settings, _: &Supplies) -> Result<Box<dyn AnyOperator>, Diagnostic> {
    let (count, timeout_ns) = (settings.size("count"), settings.optional_nanoseconds("timeout"));
    Ok(Box::new(Batch { count, timeout_ns }))
}

impl Batch {
    fn is_late(&self, state: &KeptQueue, now_ns: u64) -> bool {
        match (self.timeout_ns, state.first()) {
            (Some(timeout_ns), Some(first)) => now_ns.saturating_sub(first.ingest_ns) > timeout_ns,
            _ => false,
        }
    }
}

fn emit<'a>(state: &mut KeptQueue, around: &Surroundings<'a>, out: &mut Emitter<'a>) {
    let Some(ingest_ns) = state.first().map(|first| first.ingest_ns) else { return };
    let arena = around.arena();
    let mut events = bumpalo::collections::Vec::with_capacity_in(state.len(), arena.bump());
    for kept in state.drain() {
        events.push(kept.event(arena));
        kept.release(out);
    }
    let events = events.into_bump_slice();
    let value = arena.array(events.iter().map(|event| event.value));
    let meta = arena.record_builder(0).finish();
    let members = Some(arena.alloc(Members { events }));
    out.emit(OUT, Event { members, ..Event::new(value, meta, ingest_ns) });
}

impl Operator for Batch {
    type State = KeptQueue;

    fn start(&self) -> KeptQueue {
        KeptQueue::default()
    }

    fn process<'a>(
        &'a self,
        state: &mut KeptQueue,
        _: &str,
        event: Event<'a>,
        around: &Surroundings<'a>,
        out: &mut Emitter<'a>,
    ) -> Result<(), EvalError> {
        state.push(Kept::new(&event, around));
        let is_full = state.len() >= self.count || state.bytes() >= BATCH_BYTES_MAX;
        if is_full || self.is_late(state, around.now_ns) {
            emit(state, around, out);
        }
        Ok(())
    }

    fn wants_ticks(&self) -> bool {
        self.timeout_ns.is_some()
    }

    fn tick<'a>(
        &'a self,
        state: &mut KeptQueue,
        around: &Surroundings<'a>,
        out: &mut Emitter<'a>,
    ) -> Result<(), EvalError> {
        if self.is_late(state, around.now_ns) {
            emit(state, around, out);
        }
        Ok(())
    }

    fn flush<'a>(
        &'a self,
        state: &mut KeptQueue,
        around: &Surroundings<'a>,
        out: &mut Emitter<'a>,
    ) -> Result<(), EvalError> {
        emit(state, around, out);
        Ok(())
    }

    fn save<'a>(&self, state: &KeptQueue, arena: &'a Arena) -> Value<'a> {
        state.save(arena)
    }

    fn restore(&self, saved: Value<'_>) -> Result<KeptQueue, CallError> {
        KeptQueue::restore(saved)
    }

    fn usage(&self, state: &KeptQueue) -> Option<Usage> {
        let (entries, bytes) = (state.len() as u64, state.bytes() as u64);
        Some(Usage { entries, bytes, evicted: 0 })
    }
}

#[cfg(test)]
mod tests {
    use crate::operators::harness::{Harness, SECOND, refusal};

    #[test]
    fn collects_a_number_of_events() {
        let mut batch = Harness::new("batch", &[("count", "3")]);
        assert!(batch.send(0, "1").is_empty());
        assert!(batch.send_with(1, r#"{"a":[2]}"#, r#"{"m":1}"#).is_empty());
        assert_eq!(batch.usage().entries, 2);
        batch.restart();
        assert_eq!(batch.send(2, "3"), [r#"out [1,{"a":[2]},3]"#]);
        assert!(batch.flush(3).is_empty());
        assert!(batch.send(4, "4").is_empty());
        assert_eq!(batch.flush(5), ["out [4]"]);
        assert_eq!((batch.usage().entries, batch.usage().bytes), (0, 0));
    }

    #[test]
    fn does_not_wait_for_ever() {
        let mut batch = Harness::new("generic::batch", &[("count", "10"), ("timeout", "1s")]);
        batch.send(0, "1");
        assert!(batch.tick(SECOND).is_empty());
        assert_eq!(batch.tick(SECOND + 1), ["out [1]"]);
        batch.send(5 * SECOND, "2");
        assert_eq!(batch.send(7 * SECOND, "3"), ["out [2,3]"]);
        assert!(batch.tick(99 * SECOND).is_empty());
    }

    #[test]
    fn wrong_settings_are_refused() {
        assert!(refusal("batch", &[("count", "0")]).contains("from 1 to"));
        let mut each = Harness::new("batch", &[("count", "1")]);
        assert_eq!(each.send(0, "null"), ["out [null]"]);
    }
}
