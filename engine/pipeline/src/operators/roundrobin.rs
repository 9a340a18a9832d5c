//! `qos::roundrobin`: deals the events out to ports in turn.

use super::{ANY_PORT, OperatorKind, Supplies};
use crate::event::Event;
use crate::operator::{AnyOperator, Emitter, OUT, OVERFLOW, Operator, Surroundings};
use temblor_declare::{InChain, Setting, Settings, Takes};
use temblor_lang::builtin::CallError;
use temblor_lang::diagnostic::Diagnostic;
use temblor_lang::error::EvalError;
use temblor_lang::value::{Arena, Value};

/// The declaration.
pub static KINDS: &[OperatorKind] = &[OperatorKind {
    path: "qos::roundrobin",
    word: Some("roundrobin"),
    doc: "Sends each event to the next of the ports that `outputs` lists, in turn. No port ever \
          closes here, so nothing goes to `overflow`.",
    examples: &["in |> roundrobin [\"out\"] |> out"],
    settings: &[Setting::new("outputs", Takes::Texts, "Names of the ports (`[\"out\"]`).")
        .in_chain(InChain::Positional)],
    ports: &[OVERFLOW, ANY_PORT],
    fallbacks: &[],
    build,
}];

#[derive(Debug)]
struct RoundRobin {
    outputs: Vec<String>,
}

fn build(settings: &Settings, _: &Supplies) -> Result<Box<dyn AnyOperator>, Diagnostic> {
    let outputs = match settings.texts("outputs") {
        [] if settings.says("outputs") => {
            return Err(settings.error("outputs", "`outputs` must not be empty"));
        }
        [] => vec![OUT.to_string()],
        names => names.to_vec(),
    };
    Ok(Box::new(RoundRobin { outputs }))
}

impl Operator for RoundRobin {
    /// The number of the next port.
    type State = usize;

    fn start(&self) -> usize {
        0
    }

    fn process<'a>(
        &'a self,
        next: &mut usize,
        _: &str,
        event: Event<'a>,
        _: &Surroundings<'a>,
        out: &mut Emitter<'a>,
    ) -> Result<(), EvalError> {
        let at = *next % self.outputs.len();
        *next = at + 1;
        out.emit(&self.outputs[at], event);
        Ok(())
    }

    fn save<'a>(&self, next: &usize, _: &'a Arena) -> Value<'a> {
        Value::UInt(*next as u64)
    }

    fn restore(&self, saved: Value<'_>) -> Result<usize, CallError> {
        let wrong = || CallError::failed("the saved turn is not a whole number");
        saved.as_usize().ok_or_else(wrong)
    }
}

#[cfg(test)]
mod tests {
    use crate::operators::harness::{Harness, refusal};

    #[test]
    fn takes_turns() {
        let mut deal = Harness::new("qos::roundrobin", &[("outputs", r#"["a", "b", "c"]"#)]);
        assert_eq!(deal.send(0, "1"), ["a 1"]);
        assert_eq!(deal.send(0, "2"), ["b 2"]);
        deal.restart();
        assert_eq!(deal.send(0, "3"), ["c 3"]);
        assert_eq!(deal.send(0, "4"), ["a 4"]);
        let mut one = Harness::new("qos::roundrobin", &[]);
        assert_eq!(
            (one.send(0, "1"), one.send(0, "2")),
            (vec!["out 1".into()], vec!["out 2".into()])
        );
        assert!(one.refuses("-1").contains("whole number"));
    }

    #[test]
    fn wrong_settings_are_refused() {
        let refused = |outputs| refusal("qos::roundrobin", &[("outputs", outputs)]);
        assert_eq!(refused("[]"), "`outputs` must not be empty");
        assert_eq!(refused("[1]"), "`outputs` must be a text or an array of texts, got [1]");
    }
}
