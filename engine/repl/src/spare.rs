//! What a session can begin anew from: all that was entered and loaded, but not what steps remember.

use super::pipeline::Pipeline;
use super::program::Program;
use super::samples::{Samples, Seed};
use super::setup::Setup;
use super::steps::Steps;
use super::view::Mode;
use super::{Kept, Session, commands::Watched};
use std::sync::Arc;
use temblor_lang::budget::Budget;
use temblor_logstash::configuration::Wishes;

/// All that a session knows, to be kept elsewhere.
#[derive(Clone, Debug)]
pub(crate) struct Spare {
    samples: Seed,
    kept: Vec<Kept>,
    pipeline: Option<(Program, Steps)>,
    before: Option<Program>,
    last: Option<String>,
    mode: Mode,
    log: Vec<String>,
    watched: Option<Watched>,
    setup: Setup,
    now_ns: u64,
    wishes: Wishes,
}

impl Session {
    pub(super) fn spare(&self) -> Spare {
        let program = |pipeline: &Pipeline| (pipeline.program.clone(), pipeline.steps.clone());
        Spare {
            samples: self.samples.seed(),
            kept: self.kept.clone(),
            pipeline: self.pipeline.as_ref().map(program),
            before: self.before.clone(),
            last: self.last.clone(),
            mode: self.mode,
            log: self.log.clone(),
            watched: self.watched.clone(),
            setup: self.setup.clone(),
            now_ns: self.now_ns,
            wishes: self.wishes.clone(),
        }
    }

    /// A session that knows what another knew, with a budget of its own.
    pub(super) fn revived(spare: Spare, budget: Arc<Budget>) -> Self {
        let setup = Setup { budget, ..spare.setup };
        setup.refill();
        let pipeline = spare.pipeline.and_then(|(program, steps)| {
            let mut pipeline = Pipeline::compile(program, &setup).ok()?;
            pipeline.steps = steps;
            pipeline.fresh().ok()
        });
        Self {
            samples: Samples::of_seed(spare.samples, setup.budget.clone()),
            kept: spare.kept,
            pipeline,
            before: spare.before,
            last: spare.last,
            mode: spare.mode,
            log: spare.log,
            pasted: None,
            watched: spare.watched,
            setup,
            now_ns: spare.now_ns,
            wishes: spare.wishes,
        }
    }
}
