//! When each event is meant to start.
//!
//! Invariant: with an open loop the meant start of an event depends on its number alone, never on
//! how earlier events fared.

use std::time::Duration;

/// How much is injected.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Load {
    /// Events a second, come what may.
    Open(f64),
    /// As much as is taken: the highest throughput. Latency runs from the sending of a batch.
    Closed,
}

/// The plan of one injector.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Schedule {
    /// How much.
    pub load: Load,
    /// The beginning that is not measured.
    pub warmup: Duration,
    /// How long is measured.
    pub measured: Duration,
}

const NS_PER_SECOND: f64 = 1e9;

impl Schedule {
    /// From the first to the last meant start.
    pub fn whole(&self) -> Duration {
        self.warmup + self.measured
    }

    /// The meant start of an event, in nanoseconds after that of the first.
    pub fn offset(&self, event: u64) -> u64 {
        match self.load {
            // 2^53 events keep their place exactly: three centuries at a million a second.
            Load::Open(rate) => (event as f64 * NS_PER_SECOND / rate) as u64,
            Load::Closed => 0,
        }
    }

    /// How many events are injected in all; none with a closed loop, which time ends.
    pub fn total(&self) -> Option<u64> {
        match self.load {
            Load::Open(rate) => Some((rate * self.whole().as_secs_f64()).round().max(1.0) as u64),
            Load::Closed => None,
        }
    }

    /// How many events should have started within the given time after the first, that included.
    pub fn due(&self, elapsed_ns: u64) -> u64 {
        match (self.load, self.total()) {
            (Load::Open(rate), Some(total)) => {
                let mut due = (elapsed_ns as f64 * rate / NS_PER_SECOND) as u64 + 1;
                // The product is rounded; the offset decides.
                while due > 1 && self.offset(due - 1) > elapsed_ns {
                    due -= 1;
                }
                while self.offset(due) <= elapsed_ns {
                    due += 1;
                }
                due.min(total)
            }
            _ => u64::MAX,
        }
    }

    /// How many events are meant to start during the warm-up.
    pub(crate) fn unmeasured(&self) -> u64 {
        match (self.load, temblor_runtime::clock::nanoseconds(self.warmup).checked_sub(1)) {
            (Load::Open(_), Some(last)) => self.due(last),
            _ => 0,
        }
    }

    /// Whether an event that is meant to start so long after the first is measured.
    pub(crate) fn is_measured(&self, offset_ns: u64) -> bool {
        u128::from(offset_ns) >= self.warmup.as_nanos()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_start_where_the_rate_says() {
        let (warmup, measured) = (Duration::from_secs(1), Duration::from_secs(2));
        let schedule = Schedule { load: Load::Open(1000.0), warmup, measured };
        assert_eq!(schedule.total(), Some(3000));
        assert_eq!([schedule.offset(0), schedule.offset(7)], [0, 7_000_000]);
        assert_eq!(schedule.due(0), 1);
        assert_eq!([schedule.due(6_999_999), schedule.due(7_000_000)], [7, 8]);
        assert_eq!(schedule.due(9_000_000_000), 3000);
        assert_eq!(schedule.unmeasured(), 1000);
        assert!(!schedule.is_measured(schedule.offset(999)));
        assert!(schedule.is_measured(schedule.offset(1000)));
        let odd = Schedule { load: Load::Open(3.7), ..schedule };
        for event in 0..odd.total().unwrap() {
            assert_eq!(odd.due(odd.offset(event)), event + 1, "due as soon as meant");
        }
    }
}
