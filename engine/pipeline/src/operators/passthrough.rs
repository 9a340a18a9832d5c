//! `passthrough`: events leave as they came.

use super::OperatorKind;
use crate::event::Event;
use crate::operator::{Emitter, OUT, Operator, Surroundings};
use temblor_lang::error::EvalError;

/// The declaration.
pub static KINDS: &[OperatorKind] =
    &[PASSTHROUGH, OperatorKind { path: "passthrough::passthrough", ..PASSTHROUGH }];

const PASSTHROUGH: OperatorKind = OperatorKind {
    path: "passthrough",
    word: None,
    doc: "Lets every event through as it is.",
    examples: &["in |> passthrough |> out"],
    settings: &[],
    ports: &[],
    fallbacks: &[],
    build: |_, _| Ok(Box::new(Passthrough)),
};

/// Sends every event to `out`.
#[derive(Debug)]
pub(super) struct Passthrough;

impl Operator for Passthrough {
    type State = ();

    fn start(&self) {}

    fn process<'a>(
        &'a self,
        (): &mut (),
        _: &str,
        event: Event<'a>,
        _: &Surroundings<'a>,
        out: &mut Emitter<'a>,
    ) -> Result<(), EvalError> {
        out.emit(OUT, event);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::operators::harness::Harness;

    #[test]
    fn changes_nothing() {
        let mut pass = Harness::new("passthrough", &[]);
        assert_eq!(
            pass.send_with(0, r#"{"b":1,"a":2}"#, r#"{"m":[]}"#),
            [r#"out {"b":1,"a":2} $ {"m":[]}"#]
        );
    }
}
