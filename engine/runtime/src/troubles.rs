//! Errors of I/O that end a part of the run (one file, one sink) while the rest goes on.
//!
//! Invariant: each is counted, the first ones are printed, and the first one gives the run's exit code.

use std::sync::{Mutex, PoisonError};

use crate::console::Console;
use crate::error::Error;
use crate::limits::ERRORS_PRINTED_MAX;

/// What went wrong so far.
#[derive(Default)]
pub struct Troubles {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    first: Option<Error>,
    count: u64,
}

impl Troubles {
    /// Prints the error, unless enough were printed, and keeps the first.
    pub fn report(&self, console: &Console, error: Error) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.count += 1;
        if state.count <= ERRORS_PRINTED_MAX {
            console.message(&format!("error: {error}"));
        }
        state.first.get_or_insert(error);
    }

    /// The first error.
    pub fn first(&self) -> Option<Error> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).first.clone()
    }
}
