//! How long a run that stops may take to bring what it has read to its end.
//!
//! Invariant: when that time is over, no queue to a sink holds up the writer any more; what was in them stays
//! unacknowledged.

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use crate::outlet::Outlet;
use crate::stop::Stop;

/// The end of a run that stops.
pub struct Drain {
    /// How long it may take.
    pub limit: Duration,
    stop: Arc<Stop>,
    outlets: Mutex<Vec<Weak<Outlet>>>,
}

impl Drain {
    /// The drain of a run that nobody has stopped yet.
    #[must_use]
    pub fn new(limit: Duration, stop: Arc<Stop>) -> Arc<Self> {
        Arc::new(Self { limit, stop, outlets: Mutex::default() })
    }

    /// A queue to a sink, which is given up when the time is over.
    pub fn watch(&self, outlet: &Arc<Outlet>) {
        let mut outlets = self.outlets.lock().unwrap_or_else(PoisonError::into_inner);
        outlets.retain(|one| one.strong_count() > 0);
        outlets.push(Arc::downgrade(outlet));
    }

    /// How much of the time is left: all of it while nobody has asked for a stop.
    #[must_use]
    pub fn left(&self) -> Duration {
        let asked_at = self.stop.asked_at().unwrap_or_else(Instant::now);
        self.limit.saturating_sub(asked_at.elapsed())
    }

    /// The time is over.
    pub fn give_up(&self) {
        let outlets =
            std::mem::take(&mut *self.outlets.lock().unwrap_or_else(PoisonError::into_inner));
        outlets.iter().filter_map(Weak::upgrade).for_each(|outlet| outlet.abandon());
    }
}
