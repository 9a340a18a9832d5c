//! `qos::backpressure` and `qos::percentile`: turn events away while what was let through is answered
//! late or badly. An answer is the time from the reading of a batch to the moment at which all that
//! stems from it has been written, or the failure of that.

use super::answers::Answers;
use super::{OperatorKind, Supplies};
use crate::event::Event;
use crate::operator::{AnyOperator, Emitter, OUT, OVERFLOW, Operator, Surroundings};
use temblor_declare::{InChain, Setting, Settings, Takes};
use temblor_lang::builtin::CallError;
use temblor_lang::diagnostic::Diagnostic;
use temblor_lang::error::EvalError;
use temblor_lang::value::{Arena, Key, Value};

/// How long to hold back after one bad answer, after two and so on, in milliseconds.
const STEPS_MS: [u64; 7] = [50, 100, 250, 500, 1000, 5000, 10_000];
const NANOSECONDS_PER_MILLISECOND: u64 = 1_000_000;
/// Events are spread over the parts by their times modulo this.
const SPREAD: u64 = 65_535;

const TIMEOUT: Setting =
    Setting::new("timeout", Takes::Duration, "Answers that take longer than this are bad.")
        .in_chain(InChain::Clause("timeout"))
        .required();

const BACKPRESSURE_DOC: &str = "Holds back while sinks answer late or badly. A bad answer makes it \
     let through one event per step of `steps` only, the rest goes to `overflow`; each further one \
     moves to the next step, a good one ends it. With the method `pause` all events pass, but wait \
     for their step, and the sources wait with them.";

const BACKPRESSURE: OperatorKind = OperatorKind {
    path: "qos::backpressure",
    word: None,
    doc: BACKPRESSURE_DOC,
    examples: &["in |> qos::backpressure with timeout = 10000000 end |> out"],
    settings: &[
        TIMEOUT,
        Setting::new(
            "steps",
            Takes::Any,
            "How long to hold back after bad answers, in milliseconds \
             (`[50, 100, 250, 500, 1000, 5000, 10000]`).",
        ),
        Setting::new(
            "method",
            Takes::Word(&["discard", "pause"]),
            "Whether events are turned away, or wait.",
        )
        .or("discard"),
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
        doc: "Lets a part of the events through, which every bad answer of a sink lowers and every \
              good one raises; the rest goes to `overflow`. Which events pass is told by their \
              times of arrival.",
        examples: &["in |> qos::percentile with timeout = 10000000 end |> out"],
        settings: &[
            TIMEOUT,
            Setting::new(
                "step_down",
                Takes::Between { least: 0.0, most: 1.0 },
                "By how much a bad answer lowers the part that passes.",
            )
            .or("0.05"),
            Setting::new(
                "step_up",
                Takes::Between { least: 0.0, most: 1.0 },
                "By how much a good answer raises the part that passes.",
            )
            .or("0.001"),
        ],
        ports: &[OVERFLOW],
        fallbacks: &[],
        build: percentile,
    },
];

fn backpressure(settings: &Settings, _: &Supplies) -> Result<Box<dyn AnyOperator>, Diagnostic> {
    let steps_ns = steps(settings)?;
    let method = match settings.text("method") {
        "pause" => Method::Pause,
        _ => Method::Discard,
    };
    let timeout_ns = settings.nanoseconds("timeout");
    Ok(Box::new(Backpressure { timeout_ns, steps_ns, method }))
}

/// The steps in nanoseconds.
fn steps(settings: &Settings) -> Result<Vec<u64>, Diagnostic> {
    let milliseconds = match settings.value("steps") {
        None => Some(STEPS_MS.to_vec()),
        Some(steps) => {
            let steps = steps.get();
            let step = |at| steps.at(at).and_then(Value::as_u64);
            (0..steps.size().unwrap_or(0)).map(step).collect()
        }
    };
    let wrong = || settings.error("steps", "`steps` must be an array of whole numbers, not empty");
    let milliseconds = milliseconds.filter(|steps| !steps.is_empty()).ok_or_else(wrong)?;
    let nanoseconds = |step: &u64| step.saturating_mul(NANOSECONDS_PER_MILLISECOND);
    Ok(milliseconds.iter().map(nanoseconds).collect())
}

fn percentile(settings: &Settings, _: &Supplies) -> Result<Box<dyn AnyOperator>, Diagnostic> {
    Ok(Box::new(Percentile {
        timeout_ns: settings.nanoseconds("timeout"),
        step_down: settings.number("step_down"),
        step_up: settings.number("step_up"),
    }))
}

#[derive(Debug)]
struct Backpressure {
    timeout_ns: u64,
    /// From the first bad answer on; not empty.
    steps_ns: Vec<u64>,
    method: Method,
}

/// What holding back means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Method {
    /// Events go to `overflow`.
    Discard,
    /// Events wait, and the sources with them.
    Pause,
}

/// How far it holds back.
#[derive(Debug)]
pub(super) struct Holding {
    answers: Answers,
    /// The step, while it holds back.
    step: Option<usize>,
    /// When the next event may pass, in nanoseconds since 1970-01-01 UTC.
    next_ns: u64,
}

impl Backpressure {
    fn look(&self, state: &mut Holding, now_ns: u64) {
        for is_good in state.answers.take() {
            if is_good {
                (state.step, state.next_ns) = (None, 0);
                continue;
            }
            let step = state.step.map_or(0, |step| (step + 1).min(self.steps_ns.len() - 1));
            state.step = Some(step);
            state.next_ns = now_ns.saturating_add(self.steps_ns[step]);
        }
    }

    fn passes(&self, state: &mut Holding, now_ns: u64) -> bool {
        let Some(step) = state.step else { return true };
        let is_due = now_ns >= state.next_ns;
        if is_due {
            state.next_ns = now_ns.saturating_add(self.steps_ns[step]);
        }
        is_due
    }
}

impl Operator for Backpressure {
    type State = Holding;

    fn start(&self) -> Holding {
        Holding { answers: Answers::within(self.timeout_ns), step: None, next_ns: 0 }
    }

    fn process<'a>(
        &'a self,
        state: &mut Holding,
        _: &str,
        event: Event<'a>,
        around: &Surroundings<'a>,
        out: &mut Emitter<'a>,
    ) -> Result<(), EvalError> {
        self.look(state, around.now_ns);
        let passes = self.passes(state, around.now_ns);
        if !passes && self.method == Method::Discard {
            out.emit(OVERFLOW, event);
            return Ok(());
        }
        if !passes {
            out.delay_until(state.next_ns);
        }
        state.answers.ask(around);
        out.emit(OUT, event);
        Ok(())
    }

    fn save<'a>(&self, state: &Holding, arena: &'a Arena) -> Value<'a> {
        let mut record = arena.record_builder(2);
        let step = state.step.map_or(Value::Null, |step| Value::UInt(step as u64));
        record.append("step", step);
        record.append("next_ns", Value::UInt(state.next_ns));
        record.finish()
    }

    fn restore(&self, saved: Value<'_>) -> Result<Holding, CallError> {
        let part = |name| saved.get(&Key::new(name)).unwrap_or(Value::Null);
        let wrong = || CallError::failed("the saved step of backpressure is not one");
        let step = match part("step") {
            Value::Null => None,
            step => {
                Some(step.as_usize().filter(|step| *step < self.steps_ns.len()).ok_or_else(wrong)?)
            }
        };
        let next_ns = part("next_ns").as_u64().ok_or_else(wrong)?;
        Ok(Holding { step, next_ns, ..Operator::start(self) })
    }

    fn wants_ticks(&self) -> bool {
        true
    }

    fn tick<'a>(
        &'a self,
        state: &mut Holding,
        around: &Surroundings<'a>,
        _: &mut Emitter<'a>,
    ) -> Result<(), EvalError> {
        self.look(state, around.now_ns);
        if around.now_ns >= state.next_ns {
            (state.step, state.next_ns) = (None, 0);
        }
        Ok(())
    }
}

#[derive(Debug)]
struct Percentile {
    timeout_ns: u64,
    step_down: f64,
    step_up: f64,
}

/// The part that passes, from 0 to 1.
#[derive(Debug)]
pub(super) struct Part {
    answers: Answers,
    passes: f64,
}

impl Operator for Percentile {
    type State = Part;

    fn start(&self) -> Part {
        Part { answers: Answers::within(self.timeout_ns), passes: 1.0 }
    }

    fn process<'a>(
        &'a self,
        state: &mut Part,
        _: &str,
        event: Event<'a>,
        around: &Surroundings<'a>,
        out: &mut Emitter<'a>,
    ) -> Result<(), EvalError> {
        for is_good in state.answers.take() {
            let step = if is_good { self.step_up } else { -self.step_down };
            state.passes = (state.passes + step).clamp(0.0, 1.0);
        }
        let place = (event.ingest_ns % SPREAD) as f64 / SPREAD as f64;
        if place <= state.passes {
            state.answers.ask(around);
            out.emit(OUT, event);
        } else {
            out.emit(OVERFLOW, event);
        }
        Ok(())
    }

    fn save<'a>(&self, state: &Part, _: &'a Arena) -> Value<'a> {
        Value::Float(state.passes)
    }

    fn restore(&self, saved: Value<'_>) -> Result<Part, CallError> {
        let passes = saved.as_f64().filter(|passes| (0.0..=1.0).contains(passes));
        let wrong = || CallError::failed("the saved part that passes is not between 0 and 1");
        Ok(Part { passes: passes.ok_or_else(wrong)?, ..Operator::start(self) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operators::harness::{Harness, refusal};

    const MS: u64 = NANOSECONDS_PER_MILLISECOND;

    #[test]
    fn all_events_pass_while_nothing_is_late() {
        for name in ["qos::backpressure", "generic::backpressure", "qos::percentile"] {
            let mut qos = Harness::new(name, &[("timeout", "1000")]);
            assert_eq!(qos.send(0, "1"), ["out 1"]);
            assert_eq!(qos.send(u64::MAX, "2"), ["out 2"]);
        }
    }

    #[test]
    fn bad_answers_hold_back_step_by_step() {
        let steps_ns = vec![MS, 5 * MS];
        let operator = Backpressure { timeout_ns: 10, steps_ns, method: Method::Discard };
        let mut state = Operator::start(&operator);
        state.answers.answer(11, true);
        operator.look(&mut state, 100);
        assert!(!operator.passes(&mut state, 100), "late");
        assert!(operator.passes(&mut state, 100 + MS), "one event a step");
        assert!(!operator.passes(&mut state, 101 + MS));
        for _ in 0..3 {
            state.answers.answer(1, false);
        }
        operator.look(&mut state, 2 * MS);
        assert!(!operator.passes(&mut state, 6 * MS), "failures: the last step");
        assert!(operator.passes(&mut state, 7 * MS));
        state.answers.answer(10, true);
        operator.look(&mut state, 7 * MS);
        assert!(operator.passes(&mut state, 7 * MS) && operator.passes(&mut state, 7 * MS));
    }

    #[test]
    fn what_is_held_back_is_saved() {
        let steps_ns = vec![MS, 5 * MS];
        let operator = Backpressure { timeout_ns: 10, steps_ns, method: Method::Pause };
        let mut state = Operator::start(&operator);
        state.answers.answer(11, true);
        operator.look(&mut state, 100);
        let arena = Arena::new();
        let saved = Operator::save(&operator, &state, &arena);
        let restored = Operator::restore(&operator, saved).expect("it was just saved");
        assert_eq!((restored.step, restored.next_ns), (Some(0), 100 + MS));
        let fewer = Backpressure { timeout_ns: 10, steps_ns: vec![], method: Method::Pause };
        assert!(Operator::restore(&fewer, saved).is_err());
        let part = Percentile { timeout_ns: 10, step_down: 0.5, step_up: 0.1 };
        let passing = Part { passes: 0.25, ..Operator::start(&part) };
        let saved = Operator::save(&part, &passing, &arena);
        assert_eq!(Operator::restore(&part, saved).map(|one| one.passes), Ok(0.25));
        assert!(Operator::restore(&part, Value::Float(2.0)).is_err());
    }

    #[test]
    fn wrong_settings_are_refused() {
        let settings = [("timeout", "1"), ("method", "wait")];
        let said = refusal("qos::backpressure", &settings);
        assert!(said.contains("one of discard, pause"), "{said}");
        for steps in ["[1, \"x\"]", "[]"] {
            let settings = [("timeout", "1"), ("steps", steps)];
            assert!(refusal("qos::backpressure", &settings).contains("whole numbers"));
        }
        let settings = [("timeout", "1"), ("step_up", "2")];
        assert!(refusal("qos::percentile", &settings).contains("from 0 to 1"));
    }
}
