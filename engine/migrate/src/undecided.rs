//! `migrate::undecided`: stands where a part of a configuration could not be converted. Every event that comes
//! there fails with the reason, so that nothing is done that nobody meant, and nothing is lost without a word.

use temblor_declare::{InChain, Setting, Settings, Takes};
use temblor_lang::diagnostic::Diagnostic;
use temblor_lang::error::EvalError;
use temblor_pipeline::event::Event;
use temblor_pipeline::operator::{AnyOperator, Emitter, Operator, Surroundings};
use temblor_pipeline::operators::{OperatorKind, Supplies};

/// The declaration.
pub(crate) static UNDECIDED: OperatorKind = OperatorKind {
    path: "migrate::undecided",
    word: None,
    doc: "Stands where `temblor convert syslog-ng` or `temblor convert rsyslog` could not convert a part of a \
          configuration. Every event that comes here goes to `err` with the reason: somebody has to write what \
          belongs here, or take the step out.",
    examples: &[
        r#"in |> migrate::undecided "destination sql()" with because = "there is no sink for SQL" end |> out"#,
    ],
    settings: &[
        Setting::new("part", Takes::Text, "The part, and where it stood.")
            .in_chain(InChain::Positional)
            .required(),
        Setting::new("because", Takes::Text, "Why it was not converted.").required(),
    ],
    ports: &[],
    fallbacks: &[],
    build,
};

#[derive(Debug)]
struct Undecided {
    reason: String,
}

fn build(settings: &Settings, _: &Supplies) -> Result<Box<dyn AnyOperator>, Diagnostic> {
    let reason =
        format!("{} was not converted: {}", settings.text("part"), settings.text("because"));
    Ok(Box::new(Undecided { reason }))
}

impl Operator for Undecided {
    type State = ();

    fn start(&self) {}

    fn process<'a>(
        &'a self,
        (): &mut (),
        _: &str,
        _: Event<'a>,
        _: &Surroundings<'a>,
        _: &mut Emitter<'a>,
    ) -> Result<(), EvalError> {
        let help = "write what belongs here, or take the step out if it is not needed";
        Err(EvalError::new("E0807", self.reason.clone()).with_help(help))
    }
}
