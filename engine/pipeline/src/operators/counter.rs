//! `generic::counter`: numbers the events, from 1.

use super::OperatorKind;
use crate::event::Event;
use crate::operator::{Emitter, OUT, Operator, Surroundings};
use temblor_lang::builtin::CallError;
use temblor_lang::error::EvalError;
use temblor_lang::value::{Arena, Value};

/// The declaration.
pub static KINDS: &[OperatorKind] = &[OperatorKind {
    path: "generic::counter",
    word: Some("counter"),
    doc: "Numbers the events: the data becomes `{\"count\": n, \"event\": data}`, with n from 1.",
    examples: &["in |> counter |> out"],
    settings: &[],
    ports: &[],
    fallbacks: &[],
    build: |_, _| Ok(Box::new(Counter)),
}];

#[derive(Debug)]
struct Counter;

impl Operator for Counter {
    /// The number of events so far.
    type State = u64;

    fn start(&self) -> u64 {
        0
    }

    fn process<'a>(
        &'a self,
        count: &mut u64,
        _: &str,
        event: Event<'a>,
        around: &Surroundings<'a>,
        out: &mut Emitter<'a>,
    ) -> Result<(), EvalError> {
        *count = count.saturating_add(1);
        let mut record = around.arena().record_builder(2);
        record.append("count", Value::UInt(*count));
        record.append("event", event.value);
        out.emit(OUT, event.with_value(record.finish()));
        Ok(())
    }

    fn save<'a>(&self, count: &u64, _: &'a Arena) -> Value<'a> {
        Value::UInt(*count)
    }

    fn restore(&self, saved: Value<'_>) -> Result<u64, CallError> {
        saved.as_u64().ok_or_else(|| CallError::failed("the saved count is not a whole number"))
    }
}

#[cfg(test)]
mod tests {
    use crate::operators::harness::Harness;

    #[test]
    fn counts_on_after_a_restart() {
        let mut counter = Harness::new("generic::counter", &[]);
        assert_eq!(counter.send(0, "\"a\""), [r#"out {"count":1,"event":"a"}"#]);
        counter.restart();
        assert_eq!(
            counter.send_with(0, "null", r#"{"m":1}"#),
            [r#"out {"count":2,"event":null} $ {"m":1}"#]
        );
        assert!(counter.refuses("{}").contains("whole number"));
    }
}
