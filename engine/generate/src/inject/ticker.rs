//! The monotonic clock of the injector, and its error.
//!
//! Invariant: time never goes back; it is read once per batch, never per event.

use std::time::{Duration, Instant};

/// A clock that never goes back, and a way to wait for it. Tests hand in one that they move themselves.
pub trait Ticker: Send + Sync {
    /// Nanoseconds since some fixed moment.
    fn now(&self) -> u64;
    /// Waits until about the given moment; may return early.
    fn wait_until(&self, moment: u64);
}

/// The monotonic clock of the system.
pub struct SystemTicker {
    start: Instant,
}

/// The longest single wait, so that a wish to stop is seen in time.
const WAIT_MAX: Duration = Duration::from_millis(50);

impl Default for SystemTicker {
    fn default() -> Self {
        SystemTicker { start: Instant::now() }
    }
}

impl Ticker for SystemTicker {
    fn now(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    fn wait_until(&self, moment: u64) {
        let wait = Duration::from_nanos(moment.saturating_sub(self.now()));
        std::thread::sleep(wait.min(WAIT_MAX));
    }
}

/// How far a clock can be trusted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClockError {
    /// The smallest step seen between two readings that differ, in nanoseconds.
    pub step_ns: u64,
    /// What one reading costs, in nanoseconds.
    pub(crate) read_ns: u64,
}

/// Readings that the error is estimated from.
const READINGS: u64 = 10_000;

impl ClockError {
    /// Measures the clock.
    pub(crate) fn of(ticker: &dyn Ticker) -> Self {
        let begin = ticker.now();
        let (mut last, mut step_ns) = (begin, u64::MAX);
        for _ in 0..READINGS {
            let now = ticker.now();
            if now > last {
                step_ns = step_ns.min(now - last);
            }
            last = now;
        }
        let read_ns = (last - begin) / READINGS;
        ClockError { step_ns: if step_ns == u64::MAX { 0 } else { step_ns }, read_ns }
    }
}
