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
    step_ns: u64,
}

impl EventTimes {
    /// Events that arrived together, a nanosecond apart so that each has a time of its own.
    pub fn together(time: Timestamp) -> Self {
        EventTimes { first: time, step_ns: 1 }
    }

    /// Time of the event with the given index in its batch, counted from 0.
    pub fn of(self, index: u64) -> Timestamp {
        self.first.saturating_add(self.step_ns.saturating_mul(index))
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

    /// The times of a batch whose first event is the run's `first_event`-th and whose bytes arrived
    /// at `arrival` by the system's clock.
    pub fn times(self, arrival: Timestamp, first_event: u64) -> EventTimes {
        match self {
            Clock::System => EventTimes::together(arrival),
            Clock::Virtual { step } => {
                EventTimes { first: self.now(first_event), step_ns: nanoseconds(step) }
            }
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
        let times = clock.times(99, 3);
        assert_eq!(times.of(0), 3_000_000_000);
        assert_eq!(times.of(2), 5_000_000_000);
        assert_eq!(Clock::System.times(99, 3).of(7), 106);
    }
}
