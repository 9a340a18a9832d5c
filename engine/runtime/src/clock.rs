//! Time as the run sees it: the system's, or a virtual one that moves by a fixed step per event.
//!
//! Invariant: operators are handed times; nothing else in the engine asks the system for the time of
//! an event.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Nanoseconds since 1970-01-01T00:00:00Z.
pub type Timestamp = u64;

/// Where ingest times come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Clock {
    /// The clock of the system; a batch has the time at which its bytes arrived.
    #[default]
    System,
    /// Event `i`, counted from 0 over the run, has time `i × step`; needs one worker.
    Virtual {
        /// Time between two events.
        step: Duration,
    },
}

/// The ingest times of the events of one batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventTimes {
    first: Timestamp,
}

impl EventTimes {
    /// Events that arrived together, a nanosecond apart so that each has a time of its own.
    pub fn together(time: Timestamp) -> Self {
        EventTimes { first: time }
    }

    /// Time of the event with the given index in its batch, counted from 0.
    pub fn of(self, index: u64) -> Timestamp {
        self.first.saturating_add(index)
    }
}

impl Clock {
    /// The time now; `events` is the number of events that came before (for the virtual clock).
    pub fn now(self, events: u64) -> Timestamp {
        match self {
            Clock::System => system_time(),
            Clock::Virtual { step } => nanoseconds(step).saturating_mul(events),
        }
    }
}

/// The system's time.
pub fn system_time() -> Timestamp {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, nanoseconds)
}

/// A duration in nanoseconds; the largest value where it does not fit.
pub fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_virtual_clock_counts_events() {
        let clock = Clock::Virtual { step: Duration::from_secs(1) };
        assert_eq!(clock.now(3), 3_000_000_000);
        assert_eq!(EventTimes::together(99).of(7), 106);
    }
}
