//! How long a sink waits before it tries again: longer each time, never beyond a bound, and never at the same
//! moment as others.

use std::time::Duration;

use temblor_declare::{Setting, Settings, Takes};

/// The longest wait between two attempts where the program does not say: a peer that is back has its events within
/// five seconds, and one that is away is asked by one request at a time.
pub const LONGEST: Duration = Duration::from_secs(4);

/// Settings of every sink that tries again.
pub const RETRY: &[Setting] = &[
    Setting::new("first", Takes::Duration, "The wait before the second attempt.").or("200ms"),
    Setting::new("longest", Takes::Duration, "No wait is longer than this.").or("4s"),
    Setting::new("growth", Takes::Number, "By how much each wait is longer than the one before.")
        .or("2.0"),
    Setting::new(
        "attempts",
        Takes::Whole { least: 1, most: u64::MAX },
        "After so many attempts a message is given up. Without it nothing is given up.",
    ),
];

/// The waits between attempts: exponential back-off with full jitter.
#[derive(Clone, Debug)]
pub struct Retry {
    first: Duration,
    longest: Duration,
    growth: f64,
    attempts_max: Option<u64>,
    attempts: u64,
}

impl Default for Retry {
    fn default() -> Self {
        let (first, longest) = (Duration::from_millis(200), LONGEST);
        Self { first, longest, growth: 2.0, attempts_max: None, attempts: 0 }
    }
}

impl Retry {
    /// As the record `retry` says, if there is one.
    #[must_use]
    pub fn of_settings(settings: Option<&Settings>) -> Self {
        let Some(settings) = settings else { return Self::default() };
        Self {
            first: settings.duration("first"),
            longest: settings.duration("longest"),
            growth: settings.optional_number("growth").unwrap_or(2.0).max(1.0),
            attempts_max: settings.optional_whole("attempts"),
            attempts: 0,
        }
    }

    /// The same waits, with an end after so many attempts.
    #[must_use]
    pub fn at_most(self, attempts: u64) -> Self {
        Self { attempts_max: Some(attempts), ..self }
    }

    /// The same waits, without an end.
    #[must_use]
    pub fn without_end(self) -> Self {
        Self { attempts_max: None, ..self }
    }

    /// Whether nothing has failed since the last success.
    #[must_use]
    pub fn is_fresh(&self) -> bool {
        self.attempts == 0
    }

    /// An attempt went well: the next failure begins anew.
    pub fn succeed(&mut self) {
        self.attempts = 0;
    }

    /// An attempt failed: how long to wait before the next; `None` when there is to be none. `chance` is
    /// between 0 and 1: two peers that failed together do not come back together.
    pub fn fail(&mut self, chance: f64) -> Option<Duration> {
        self.attempts += 1;
        if self.attempts_max.is_some_and(|most| self.attempts >= most) {
            return None;
        }
        let exponent = i32::try_from(self.attempts - 1).unwrap_or(i32::MAX);
        let wanted = self.first.as_secs_f64() * self.growth.powi(exponent);
        let bounded = wanted.min(self.longest.as_secs_f64());
        Some(Duration::from_secs_f64(bounded * (0.5 + chance.clamp(0.0, 1.0) / 2.0)))
    }
}

/// A number between 0 and 1 that differs from process to process and from call to call.
#[must_use]
pub fn chance() -> f64 {
    use std::hash::{BuildHasher, Hasher};
    let bits = std::collections::hash_map::RandomState::new().build_hasher().finish();
    #[expect(clippy::cast_precision_loss, reason = "52 random bits are enough")]
    let part = (bits >> 12) as f64;
    part / (1_u64 << 52) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_to_a_bound_and_begin_anew_after_success() {
        let mut retry = Retry::default();
        let waits: Vec<_> = (0..12).filter_map(|_| retry.fail(1.0)).collect();
        assert_eq!(waits[0], Duration::from_millis(200));
        assert_eq!(waits[1], Duration::from_millis(400));
        assert_eq!(waits[11], LONGEST);
        retry.succeed();
        assert_eq!(retry.fail(0.0), Some(Duration::from_millis(100)));
    }

    #[test]
    fn attempts_have_an_end_where_it_is_wanted() {
        let mut retry = Retry { attempts_max: Some(2), ..Retry::default() };
        assert!(retry.fail(0.5).is_some());
        assert!(retry.fail(0.5).is_none());
        assert!((0.0..=1.0).contains(&chance()));
    }
}
