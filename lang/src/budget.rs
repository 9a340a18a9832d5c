//! How much an evaluation may do before it is stopped: for places where people try programs out.
//! Production runs have none, and pay one look at an absent pointer for each turn of a loop.

use crate::error::EvalError;
use crate::span::Span;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Steps that may still be done, and the wish of a person to stop. Steps are turns of loops and
/// calls of functions of the user: all else ends by itself.
#[derive(Debug, Default)]
pub struct Budget {
    left: AtomicU64,
    interrupted: AtomicBool,
}

impl Budget {
    /// Room for this many steps from here on; an earlier wish to stop is forgotten.
    pub fn fill(&self, steps: u64) {
        self.left.store(steps, Ordering::Relaxed);
        self.interrupted.store(false, Ordering::Relaxed);
    }

    /// Room for this many steps from here on; a wish to stop stays.
    pub fn refill(&self, steps: u64) {
        self.left.store(steps, Ordering::Relaxed);
    }

    /// Asks the evaluation to end. May be called from any thread.
    pub fn interrupt(&self) {
        self.interrupted.store(true, Ordering::Relaxed);
    }

    /// Whether someone asked to stop since the last [`Budget::fill`].
    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// Takes a step.
    ///
    /// # Errors
    /// When none is left, or someone asked to stop.
    #[cold]
    pub fn spend(&self, span: Span) -> Result<(), EvalError> {
        if self.is_interrupted() {
            return Err(EvalError::new("E0441", "the evaluation was interrupted").at(span));
        }
        let left = self.left.load(Ordering::Relaxed);
        self.left.store(left.saturating_sub(1), Ordering::Relaxed);
        if left == 0 {
            return Err(EvalError::new(
                "E0440",
                "the step budget is used up: the loop does not end soon enough",
            )
            .at(span)
            .with_help("a run of the program has no such limit; try it on a smaller value"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_run_out_and_wishes_are_heard() {
        let budget = Budget::default();
        budget.fill(1);
        assert!(budget.spend(Span::default()).is_ok());
        assert_eq!(budget.spend(Span::default()).map_err(|e| e.code()), Err("E0440"));
        budget.fill(5);
        budget.interrupt();
        assert_eq!(budget.spend(Span::default()).map_err(|e| e.code()), Err("E0441"));
        budget.refill(5);
        assert!(budget.is_interrupted());
        budget.fill(5);
        assert!(!budget.is_interrupted());
    }
}
