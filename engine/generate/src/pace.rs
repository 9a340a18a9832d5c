//! The time of each event on the generator's own line of time.
//!
//! Invariant: times never go back, and depend on rate, tables, seed and the lengths of events alone.

use super::Random;
use super::rate::{Rate, Tables};
use temblor_runtime::clock::Timestamp;

const MINUTE_NS: u64 = 60_000_000_000;

/// Between events without a rate.
const STEP_NS: f64 = 1_000_000.0;

/// Minutes without any event after which the generator ends: a table of zeros would never end.
const SILENT_MINUTES_MAX: u32 = 60 * 24 * 366;

/// Gives times.
#[derive(Clone, Debug)]
pub(crate) struct Pace {
    start: Timestamp,
    rate: Rate,
    tables: Tables,
    /// Part by which each minute's volume may differ.
    jitter: f64,
    random: Random,
    /// After the start, in nanoseconds.
    elapsed: f64,
    /// Which minute `factor` is for.
    minute: u64,
    factor: f64,
}

impl Pace {
    /// A pace that begins at a time. With `jitter` 0.2 each minute has a fifth more or less at most.
    pub(crate) fn new(
        start: Timestamp,
        rate: Rate,
        tables: Tables,
        jitter: f64,
        seed: u64,
    ) -> Self {
        let random = Random::seeded(seed ^ 0x9ace);
        let mut pace =
            Pace { start, rate, tables, jitter, random, elapsed: 0.0, minute: 0, factor: 1.0 };
        pace.enter(start / MINUTE_NS);
        pace
    }

    /// The time of the next event, unless there never will be one.
    #[inline]
    pub(crate) fn time(&mut self) -> Option<Timestamp> {
        let mut time = self.start + self.elapsed as u64;
        let mut silent = 0;
        while time / MINUTE_NS != self.minute || self.factor <= 0.0 {
            if time / MINUTE_NS == self.minute {
                time = (self.minute + 1) * MINUTE_NS;
                self.elapsed = (time - self.start) as f64;
                silent += 1;
                if silent > SILENT_MINUTES_MAX {
                    return None;
                }
            }
            self.enter(time / MINUTE_NS);
        }
        Some(time)
    }

    /// Goes on by an event of the given length, or by the gap that it brings itself.
    #[inline]
    pub(crate) fn advance(&mut self, bytes: usize, gap: Option<u64>) {
        self.elapsed += match (gap, self.rate) {
            (Some(gap), _) => gap as f64,
            (None, Rate::Unlimited) => STEP_NS,
            (None, Rate::Events(rate)) => 1e9 / (rate * self.factor),
            (None, Rate::Bytes(rate)) => bytes as f64 * 1e9 / (rate * self.factor),
        };
    }

    fn enter(&mut self, minute: u64) {
        self.minute = minute;
        if self.tables.is_empty() && self.jitter == 0.0 {
            return;
        }
        let unit = self.random.unit() * 2.0 - 1.0;
        self.factor = self.tables.factor(minute * MINUTE_NS) * (1.0 + unit * self.jitter);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: u64 = 3_600_000_000_000;

    fn count(pace: &mut Pace, until: Timestamp, bytes: usize) -> u64 {
        let mut events = 0;
        while pace.time().is_some_and(|time| time < until) {
            pace.advance(bytes, None);
            events += 1;
        }
        events
    }

    #[test]
    fn volumes_are_those_asked_for() {
        let mut pace = Pace::new(0, Rate::Events(3.0), Tables::default(), 0.0, 1);
        assert_eq!(count(&mut pace, HOUR, 1), 10_800);
        let bytes = Rate::parse("2.4MB/day").unwrap();
        let mut pace = Pace::new(0, bytes, Tables::default(), 0.0, 1);
        assert_eq!(count(&mut pace, HOUR, 100), 1_000, "real lengths count");
    }

    #[test]
    fn tables_shape_the_day_and_silent_hours_are_skipped() {
        let tables = Tables { hours: vec![(0, 0.0), (2, 2.0)], ..Tables::default() };
        let mut pace = Pace::new(0, Rate::Events(1.0), tables, 0.0, 1);
        assert_eq!(pace.time(), Some(HOUR));
        assert_eq!([count(&mut pace, 2 * HOUR, 1), count(&mut pace, 3 * HOUR, 1)], [3600, 7200]);
        let none =
            Tables { months: (1..=12).map(|month| (month, 0.0)).collect(), ..Tables::default() };
        assert_eq!(Pace::new(0, Rate::Events(1.0), none, 0.0, 1).time(), None);
    }

    #[test]
    fn jitter_is_bounded_and_repeatable() {
        let volume = |seed| {
            let mut pace = Pace::new(0, Rate::Events(100.0), Tables::default(), 0.2, seed);
            count(&mut pace, MINUTE_NS, 1)
        };
        assert_eq!(volume(7), volume(7));
        assert!((1..20).all(|seed| (4_790..=7_210).contains(&volume(seed))));
        assert!((1..20).any(|seed| volume(seed) != 6_000));
    }
}
