//! `debug::history`: leaves a mark in the metadata of each event that passes, so that an event tells
//! which way it took.

use super::{OperatorKind, Supplies};
use crate::event::Event;
use crate::operator::{AnyOperator, Emitter, OUT, Operator, Surroundings};
use temblor_declare::{InChain, Setting, Settings, Takes};
use temblor_lang::builtin::CallError;
use temblor_lang::diagnostic::Diagnostic;
use temblor_lang::error::EvalError;
use temblor_lang::value::{Arena, RecordBuilder, Value};

/// The declaration.
pub static KINDS: &[OperatorKind] = &[OperatorKind {
    path: "debug::history",
    word: Some("history"),
    doc: "Appends the text `evt: <op>(<number>)` to the array in the metadata field that `name` \
          says, which is made if need be. The number counts the events that passed here, from 0.",
    examples: &["in |> history \"before\" \"ways\" |> out"],
    settings: &[
        Setting::new("op", Takes::Text, "What stands in the mark.")
            .in_chain(InChain::Positional)
            .required(),
        Setting::new("name", Takes::Text, "The metadata field.")
            .in_chain(InChain::Positional)
            .required(),
    ],
    ports: &[],
    fallbacks: &[],
    build,
}];

#[derive(Debug)]
struct History {
    op: String,
    name: String,
}

fn build(settings: &Settings, _: &Supplies) -> Result<Box<dyn AnyOperator>, Diagnostic> {
    let text = |name: &str| settings.text(name).to_string();
    Ok(Box::new(History { op: text("op"), name: text("name") }))
}

impl Operator for History {
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
        let arena = around.arena();
        let mark = arena.format(format_args!("evt: {}({count})", self.op));
        *count = count.wrapping_add(1);
        let mut meta = match event.meta.as_record(arena) {
            Some(record) => RecordBuilder::from_record(arena, record, 1),
            None => RecordBuilder::with_capacity(arena, 1),
        };
        let before = meta.get(&self.name).and_then(|marks| marks.as_array(arena)).unwrap_or(&[]);
        let marks = before.iter().copied().chain([Value::Str(mark)]);
        meta.insert(&self.name, arena.array(marks));
        out.emit(OUT, event.with_meta(meta.finish()));
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
    use crate::operators::harness::{Harness, refusal};

    #[test]
    fn leaves_a_mark() {
        let mut history = Harness::new("debug::history", &[("op", "\"a\""), ("name", "\"h\"")]);
        assert_eq!(history.send(0, "1"), [r#"out 1 $ {"h":["evt: a(0)"]}"#]);
        let more = history.send_with(0, "1", r#"{"h":["x"],"m":2}"#);
        assert_eq!(more, [r#"out 1 $ {"h":["x","evt: a(1)"],"m":2}"#]);
        let other = history.send_with(0, "1", r#"{"h":7}"#);
        assert_eq!(other, [r#"out 1 $ {"h":["evt: a(2)"]}"#]);
    }

    #[test]
    fn both_settings_are_needed() {
        assert!(refusal("debug::history", &[("op", "\"a\"")]).contains("`name` is missing"));
        assert!(refusal("debug::history", &[("name", "\"a\"")]).contains("`op` is missing"));
    }
}
