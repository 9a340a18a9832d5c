//! How long something took, many times over: counts by duration, and their sum.
//!
//! Invariant: the bounds of the counts never change, so that counts of different moments can be compared.

use std::time::Duration;

use crate::limits::LATENCY_BOUNDS_NS;

/// Durations that were recorded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Latency {
    /// How many lay within each bound and above the one before; the last of them above all bounds.
    counts: [u64; LATENCY_BOUNDS_NS.len() + 1],
    sum_ns: u64,
}

impl Latency {
    /// Adds a duration in nanoseconds.
    pub fn record(&mut self, took_ns: u64) {
        let at = LATENCY_BOUNDS_NS.partition_point(|bound| *bound < took_ns);
        self.counts[at] += 1;
        self.sum_ns = self.sum_ns.saturating_add(took_ns);
    }

    /// How many durations were recorded.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// All durations together.
    #[must_use]
    pub fn sum(&self) -> Duration {
        Duration::from_nanos(self.sum_ns)
    }

    /// Each bound in nanoseconds with the number of durations above the bound before and not above this one;
    /// the last bound is `u64::MAX`.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> {
        let bounds = LATENCY_BOUNDS_NS.iter().copied().chain([u64::MAX]);
        bounds.zip(self.counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_counted_at_the_first_bound_that_is_not_below_it() {
        let mut latency = Latency::default();
        let (first, last) = (LATENCY_BOUNDS_NS[0], LATENCY_BOUNDS_NS[LATENCY_BOUNDS_NS.len() - 1]);
        for took_ns in [0, first, first + 1, last, last + 1, u64::MAX] {
            latency.record(took_ns);
        }
        let counts: Vec<u64> = latency.buckets().map(|(_, count)| count).collect();
        assert_eq!(counts[..2], [2, 1]);
        assert_eq!(counts[counts.len() - 2..], [1, 2]);
        assert_eq!(latency.count(), 6);
        assert_eq!(latency.sum(), Duration::from_nanos(u64::MAX), "the sum stays at its bound");
        assert!(LATENCY_BOUNDS_NS.is_sorted());
    }
}
