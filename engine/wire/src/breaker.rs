//! The circuit breaker of one peer: after some failures in a row nothing goes to it any more but one request at a
//! time, as a trial, until one of them goes well.
//!
//! Invariant: while the circuit is open at most one request is under way as a trial, and no two trials are further
//! apart than the longest wait of the settings. Time is an argument.

use std::time::{Duration, Instant};

use crate::retry::Retry;

/// Failures in a row that open the circuit.
pub const FAILURES_MAX: u32 = 5;

/// The breaker of a peer.
#[derive(Clone, Debug)]
pub struct Breaker {
    stage: Stage,
    /// The waits between trials.
    waits: Retry,
}

/// Where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Requests go.
    Closed {
        /// Failures since one went well.
        failures: u32,
    },
    /// None goes before this moment.
    Open {
        /// When the next trial may go.
        until: Instant,
    },
    /// One request is under way as a trial.
    HalfOpen,
}

/// Whether a request may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leave {
    /// It may.
    Go,
    /// It may, as a trial: others wait for how it ends.
    Try,
    /// Not before this moment.
    Wait(Instant),
    /// Not before the trial that is under way has ended.
    WaitForTrial,
}

/// What has changed for those who wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turned {
    /// Nothing.
    Same,
    /// The circuit has opened.
    Opened,
    /// It has closed.
    Closed,
}

impl Breaker {
    /// A closed one; `waits` says how long it stays open.
    #[must_use]
    pub fn new(waits: Retry) -> Self {
        Self { stage: Stage::Closed { failures: 0 }, waits: waits.without_end() }
    }

    /// Where it is.
    #[must_use]
    pub fn stage(&self) -> Stage {
        self.stage
    }

    /// Whether it is closed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        matches!(self.stage, Stage::Closed { .. })
    }

    /// Asks for a request to go.
    pub fn ask(&mut self, now: Instant) -> Leave {
        match self.stage {
            Stage::Closed { .. } => Leave::Go,
            Stage::Open { until } if until > now => Leave::Wait(until),
            Stage::Open { .. } => {
                self.stage = Stage::HalfOpen;
                Leave::Try
            }
            Stage::HalfOpen => Leave::WaitForTrial,
        }
    }

    /// The peer has answered, whatever it said of the request.
    pub fn succeed(&mut self) -> Turned {
        let was_closed = self.is_closed();
        self.stage = Stage::Closed { failures: 0 };
        self.waits.succeed();
        if was_closed { Turned::Same } else { Turned::Closed }
    }

    /// The peer has not answered, or cannot serve. What was sent before the circuit opened says nothing new.
    pub fn fail(&mut self, is_trial: bool, chance: f64, now: Instant) -> Turned {
        match self.stage {
            Stage::Closed { failures } if failures + 1 < FAILURES_MAX => {
                self.stage = Stage::Closed { failures: failures + 1 };
                Turned::Same
            }
            Stage::Closed { .. } => {
                self.open(chance, now);
                Turned::Opened
            }
            Stage::HalfOpen if is_trial => {
                self.open(chance, now);
                Turned::Same
            }
            Stage::HalfOpen | Stage::Open { .. } => Turned::Same,
        }
    }

    /// A trial was given up without an end: the next may go at once.
    pub fn forget_trial(&mut self, now: Instant) {
        if self.stage == Stage::HalfOpen {
            self.stage = Stage::Open { until: now };
        }
    }

    fn open(&mut self, chance: f64, now: Instant) {
        let wait = self.waits.fail(chance).unwrap_or(Duration::ZERO);
        self.stage = Stage::Open { until: now + wait };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_opens_after_failures_in_a_row_tries_one_at_a_time_and_closes_when_one_goes_well() {
        let (mut breaker, mut now) = (Breaker::new(Retry::default()), Instant::now());
        for _ in 1..FAILURES_MAX {
            assert_eq!(breaker.fail(false, 1.0, now), Turned::Same);
            assert_eq!(breaker.ask(now), Leave::Go);
        }
        assert_eq!(breaker.fail(false, 1.0, now), Turned::Opened);
        let mut waits = Vec::new();
        for _ in 0..12 {
            let Leave::Wait(until) = breaker.ask(now) else { panic!("it is open") };
            waits.push(until - now);
            now = until;
            assert_eq!(breaker.ask(now), Leave::Try);
            assert_eq!(breaker.ask(now), Leave::WaitForTrial, "one at a time");
            assert_eq!(breaker.fail(false, 1.0, now), Turned::Same, "an old request");
            assert_eq!(breaker.stage(), Stage::HalfOpen);
            assert_eq!(breaker.fail(true, 1.0, now), Turned::Same);
        }
        assert!(waits.is_sorted() && waits[0] == Duration::from_millis(200), "{waits:?}");
        assert!(*waits.last().unwrap() <= Duration::from_secs(4), "{waits:?}");
        now += Duration::from_secs(4);
        assert_eq!(breaker.ask(now), Leave::Try);
        assert_eq!(breaker.succeed(), Turned::Closed);
        assert_eq!(breaker.ask(now), Leave::Go);
        assert_eq!(breaker.stage(), Stage::Closed { failures: 0 });
    }

    #[test]
    fn failures_that_are_not_in_a_row_do_not_open_it() {
        let (mut breaker, now) = (Breaker::new(Retry::default()), Instant::now());
        for _ in 0..100 {
            for _ in 1..FAILURES_MAX {
                assert_eq!(breaker.fail(false, 0.5, now), Turned::Same);
            }
            assert_eq!(breaker.succeed(), Turned::Same);
        }
        assert!(breaker.is_closed());
    }

    #[test]
    fn a_trial_that_nobody_ends_is_made_anew() {
        let (mut breaker, now) = (Breaker::new(Retry::default()), Instant::now());
        (0..FAILURES_MAX).for_each(|_| {
            breaker.fail(false, 0.5, now);
        });
        let later = now + Duration::from_secs(1);
        assert_eq!(breaker.ask(later), Leave::Try);
        breaker.forget_trial(later);
        assert_eq!(breaker.ask(later), Leave::Try);
    }
}
