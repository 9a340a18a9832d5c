//! The bell: whoever waits for one of several things to change waits for it.
//!
//! Invariant: who asks for the count of rings before looking, and waits with it after, misses none.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Counts rings.
#[derive(Debug, Default)]
pub struct Bell {
    rings: Mutex<u64>,
    rung: Condvar,
}

impl Bell {
    /// How often it was rung.
    #[must_use]
    pub fn rings(&self) -> u64 {
        *self.lock()
    }

    /// Something has changed.
    pub fn ring(&self) {
        *self.lock() += 1;
        self.rung.notify_all();
    }

    /// Waits until it has been rung more often than that, or for that long.
    pub fn wait(&self, rings: u64, patience: Duration) {
        let waited = self.rung.wait_timeout_while(self.lock(), patience, |now| *now == rings);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    fn lock(&self) -> MutexGuard<'_, u64> {
        self.rings.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
