//! What every evaluation of a session shares: where modules are, colour, and the budget that stops
//! what does not end.

use std::cell::Cell;
use std::path::PathBuf;
use std::sync::Arc;
use temblor_lang::budget::Budget;
use temblor_lang::builtin::{Facts, Tables};
use temblor_lang::diagnostic::Colour;

/// Turns of loops and calls of functions that one evaluation may take in the REPL.
pub(crate) const STEPS_MAX: u64 = 5_000_000;

/// Columns where there is no terminal.
const WIDTH: usize = 80;

/// What every evaluation shares.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    /// Where modules are searched.
    pub path: Vec<PathBuf>,
    /// Whether answers are in colour.
    pub colour: Colour,
    /// Stops evaluations.
    pub budget: Arc<Budget>,
    /// Lookup tables, if there are any.
    pub tables: Option<Arc<dyn Tables>>,
    /// Columns of the terminal.
    pub width: Cell<usize>,
}

impl Setup {
    pub(crate) fn new(path: Vec<PathBuf>, colour: Colour) -> Self {
        let budget = Arc::new(Budget::default());
        budget.fill(STEPS_MAX);
        Self { path, colour, budget, tables: None, width: Cell::new(WIDTH) }
    }

    /// The facts of an event that arrives at `now_ns`; a new budget begins.
    pub(crate) fn facts(&self, now_ns: u64) -> Facts {
        self.refill();
        let budget = Some(self.budget.clone());
        let tables = self.tables.clone();
        Facts { ingest_ns: now_ns, now_ns, budget, tables, ..Facts::default() }
    }

    /// A new budget begins; a wish to stop stays.
    pub(crate) fn refill(&self) {
        self.budget.refill(STEPS_MAX);
    }

    /// An error when the person wants to stop.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.budget.is_interrupted() { Err("interrupted".to_string()) } else { Ok(()) }
    }
}
