//! What a rate limit remembers: a hash and a time for each key, exact to far below a nanosecond. The time is when the allowance of the
//! key will be whole again; a key whose time has come is as good as one that was never seen.

use crate::store::Table;
use temblor_runtime::limits::{EVICTION_SAMPLE, EXPIRY_SAMPLE};
use temblor_runtime::memory;

/// A time or a duration in nanoseconds: 64 bits before and 64 behind the point. With fewer bits behind
/// it, `3 per 1s` would let through fewer than three or more: a third of a second has no end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Exact(u128);

/// Bits behind the point.
const FRACTION_BITS: u32 = 64;

impl Exact {
    /// Whole nanoseconds and the part behind the point.
    pub(super) fn new(ns: u64, fraction: u64) -> Self {
        Self(u128::from(ns) << FRACTION_BITS | u128::from(fraction))
    }

    /// Nanoseconds.
    pub(super) fn of_ns(ns: u64) -> Self {
        Self::new(ns, 0)
    }

    /// What `units` take when `rate` of them take `per_ns`; the longest there is when it has no room. The
    /// error is below 2^-64 ns, so that decisions are those of exact fractions for 2^64 / `rate` events in
    /// a row.
    pub(super) fn time_of(units: u64, per_ns: u64, rate: u64) -> Self {
        let (product, rate) = (u128::from(units) * u128::from(per_ns), u128::from(rate));
        let Ok(whole) = u64::try_from(product / rate) else { return Self(u128::MAX) };
        let fraction = ((product % rate) << FRACTION_BITS) / rate;
        Self(u128::from(whole) << FRACTION_BITS | fraction)
    }

    pub(super) fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    pub(super) fn minus(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// The whole nanoseconds and the part behind the point.
    pub(super) fn parts(self) -> (u64, u64) {
        ((self.0 >> FRACTION_BITS) as u64, self.0 as u64)
    }

    /// The first whole nanosecond that is not before it.
    pub(super) fn ceil_ns(self) -> u64 {
        let (ns, fraction) = self.parts();
        ns.saturating_add(u64::from(fraction > 0))
    }
}

/// For each key the theoretical arrival time: when its allowance will be whole again.
#[derive(Debug, Default)]
pub(super) struct State {
    pub arrivals: Table<Exact>,
    pub evicted: u64,
    /// Where the search for keys to forget goes on.
    hand: usize,
    /// For measuring events.
    pub text: Vec<u8>,
}

impl State {
    /// Forgets some keys whose allowance is whole: they are as good as new. If the table is full
    /// all the same, one of a few keys gives way, that which lacks least. The hand goes on from
    /// event to event, so it comes to every key.
    pub(super) fn make_room(&mut self, now_ns: u64, keys_max: usize) {
        for _ in 0..EXPIRY_SAMPLE {
            match self.next() {
                Some((hash, arrival)) if arrival <= Exact::of_ns(now_ns) => {
                    self.arrivals.remove(hash);
                }
                _ => self.hand += 1,
            }
        }
        let mut is_full = memory::is_full(self.arrivals.len(), keys_max);
        while is_full {
            self.evict(now_ns);
            is_full = self.arrivals.len() >= keys_max;
        }
    }

    fn evict(&mut self, now_ns: u64) {
        let mut fullest: Option<(u128, Exact)> = None;
        let mut looked = 0;
        while looked < EVICTION_SAMPLE {
            if let Some((hash, arrival)) = self.next() {
                looked += 1;
                if fullest.is_none_or(|(_, other)| arrival < other) {
                    fullest = Some((hash, arrival));
                }
            }
            self.hand += 1;
        }
        if let Some((hash, arrival)) = fullest {
            self.arrivals.remove(hash);
            self.evicted += u64::from(arrival > Exact::of_ns(now_ns));
        }
    }

    fn next(&mut self) -> Option<(u128, Exact)> {
        if self.hand >= self.arrivals.places() {
            self.hand = 0;
        }
        self.arrivals.at(self.hand)
    }
}
