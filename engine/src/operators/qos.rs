//! `qos::backpressure` and `qos::percentile`. In tremor they shed load when sinks answer late or
//! badly. Here the worker that runs a chain also waits for its sinks, so a slow sink slows its
//! sources and no answer reaches an operator: both accept tremor's settings and let all events
//! through, which is what they do in tremor as long as no sink answers late.

use super::passthrough::Passthrough;
use super::{InChain, OperatorKind, Setting, Settings, Takes};
use crate::operator::{AnyOperator, OVERFLOW};
use temblor_lang::diagnostic::Diagnostic;
use temblor_lang::value::Kind;

const BACKPRESSURE_DOC: &str = "Lets all events through: a slow sink slows its sources here, by \
     itself, and nothing has to be shed. The settings are those of tremor and are checked; nothing \
     goes to `overflow`.";

const BACKPRESSURE: OperatorKind = OperatorKind {
    path: "qos::backpressure",
    word: None,
    doc: BACKPRESSURE_DOC,
    examples: &["in |> qos::backpressure with timeout = 10000000 end |> out"],
    settings: &[
        Setting::new(
            "timeout",
            Takes::Duration,
            InChain::Clause("timeout"),
            "Answers that take longer than this are bad.",
        )
        .required(),
        Setting::new(
            "steps",
            Takes::Constant(Kind::Array),
            InChain::No,
            "How long to hold back after bad answers, in milliseconds.",
        ),
        Setting::new(
            "method",
            Takes::Constant(Kind::String),
            InChain::No,
            "`discard` (default) or `pause`.",
        ),
    ],
    ports: &[OVERFLOW],
    fallbacks: &[],
    build: backpressure,
};

/// The declarations.
pub static KINDS: &[OperatorKind] = &[
    BACKPRESSURE,
    OperatorKind { path: "generic::backpressure", ..BACKPRESSURE },
    OperatorKind {
        path: "qos::percentile",
        word: None,
        doc: "Lets all events through, as tremor's does while no sink answers late. The settings \
              are those of tremor and are checked; nothing goes to `overflow`.",
        examples: &["in |> qos::percentile with timeout = 10000000 end |> out"],
        settings: &[
            Setting::new(
                "timeout",
                Takes::Duration,
                InChain::Clause("timeout"),
                "Answers that take longer than this are bad.",
            )
            .required(),
            Setting::new(
                "step_down",
                Takes::Constant(Kind::Number),
                InChain::No,
                "By how much a bad answer lowers the part that passes (0.05).",
            ),
            Setting::new(
                "step_up",
                Takes::Constant(Kind::Number),
                InChain::No,
                "By how much a good answer raises the part that passes (0.001).",
            ),
        ],
        ports: &[OVERFLOW],
        fallbacks: &[],
        build: percentile,
    },
];

fn backpressure(settings: &Settings) -> Result<Box<dyn AnyOperator>, Diagnostic> {
    match settings.text("method").as_deref() {
        None | Some("discard" | "pause") => {}
        Some(other) => {
            let error = settings.error("method", format!("there is no method `{other}`"));
            return Err(error.with_help("use \"discard\" or \"pause\""));
        }
    }
    let steps = settings.constant("steps");
    let is_number = |steps: &temblor_lang::value::Frozen, at| {
        steps.get().at(at).is_some_and(|step| step.as_u64().is_some())
    };
    if let Some(steps) = steps
        && !(0..steps.get().size().unwrap_or(0)).all(|at| is_number(&steps, at))
    {
        return Err(settings.error("steps", "`steps` must be an array of whole numbers"));
    }
    Ok(Box::new(Passthrough))
}

fn percentile(settings: &Settings) -> Result<Box<dyn AnyOperator>, Diagnostic> {
    for name in ["step_down", "step_up"] {
        let step = settings.constant(name).and_then(|step| step.get().as_f64());
        if step.is_some_and(|step| !(0.0..=1.0).contains(&step)) {
            return Err(settings.error(name, format!("`{name}` must be from 0 to 1")));
        }
    }
    Ok(Box::new(Passthrough))
}

#[cfg(test)]
mod tests {
    use crate::operators::harness::{Harness, refusal};

    #[test]
    fn lets_all_events_through() {
        for name in ["qos::backpressure", "generic::backpressure", "qos::percentile"] {
            let mut qos = Harness::new(name, &[("timeout", "1000")]);
            assert_eq!(qos.send(0, "1"), ["out 1"]);
            assert_eq!(qos.send(u64::MAX, "2"), ["out 2"]);
        }
    }

    #[test]
    fn wrong_settings_are_refused() {
        let settings = [("timeout", "1"), ("method", "\"wait\"")];
        assert!(refusal("qos::backpressure", &settings).contains("no method `wait`"));
        let settings = [("timeout", "1"), ("steps", "[1, \"x\"]")];
        assert!(refusal("qos::backpressure", &settings).contains("whole numbers"));
        let settings = [("timeout", "1"), ("step_up", "2")];
        assert!(refusal("qos::percentile", &settings).contains("from 0 to 1"));
    }
}
