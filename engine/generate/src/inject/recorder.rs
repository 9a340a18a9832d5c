//! Records how long events took, and that every one of them came to an end.
//!
//! Invariant: what was sent is either under way or settled; a batch is settled once.

use super::machine::Usage;
use super::schedule::{Load, Schedule};
use super::ticker::{ClockError, Ticker};
use hdrhistogram::Histogram;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use temblor_runtime::ack::Witness;

/// Digits of a latency that the histogram keeps apart.
const SIGNIFICANT_DIGITS: u8 = 3;

/// The longest latency that is told apart, in nanoseconds: a quarter of an hour. Longer ones count as this.
pub(crate) const LATENCY_NS_MAX: u64 = 900_000_000_000;

/// What all injectors of a run record into.
pub struct Recorder {
    ticker: Arc<dyn Ticker>,
    state: Mutex<State>,
}

/// What has been recorded.
#[derive(Clone)]
pub struct State {
    /// Meant start to end, in nanoseconds, of the measured events.
    pub latency: Histogram<u64>,
    /// Meant start to sending, of the first event of each measured batch: the injector's own part.
    pub lateness: Histogram<u64>,
    /// Events that were sent.
    pub sent: u64,
    /// Events that have come to an end.
    pub settled: u64,
    /// Those of them that a sink refused.
    pub refused: u64,
    /// Events sent after the warm-up.
    pub measured: u64,
    /// Bytes of them.
    pub(crate) measured_bytes: u64,
    /// Batches sent after the warm-up.
    pub batches: u64,
    /// When the first measured batch was sent, and what the process had used by then.
    pub begin: Option<(u64, Usage)>,
    /// When the last measured event ended.
    pub end: u64,
}

impl Recorder {
    /// A recorder that reads the given clock.
    pub fn new(ticker: Arc<dyn Ticker>) -> Arc<Self> {
        let state = State {
            latency: histogram(),
            lateness: histogram(),
            sent: 0,
            settled: 0,
            refused: 0,
            measured: 0,
            measured_bytes: 0,
            batches: 0,
            begin: None,
            end: 0,
        };
        Arc::new(Recorder { ticker, state: Mutex::new(state) })
    }

    /// The clock.
    pub fn ticker(&self) -> &dyn Ticker {
        &*self.ticker
    }

    /// How far the clock can be trusted.
    pub(crate) fn clock_error(&self) -> ClockError {
        ClockError::of(&*self.ticker)
    }

    /// What has been recorded so far.
    pub fn state(&self) -> State {
        self.lock().clone()
    }

    /// States that a batch is sent now; gives what is told of its end.
    pub fn send(self: &Arc<Self>, sending: &Sending) -> Box<dyn Witness> {
        let is_measured = sending.schedule.is_measured(sending.meant(0) - sending.start);
        let mut state = self.lock();
        state.sent += sending.count;
        if is_measured {
            state.measured += sending.count;
            state.measured_bytes += sending.bytes;
            state.batches += 1;
            state.lateness.saturating_record(sending.now.saturating_sub(sending.meant(0)));
            state.begin.get_or_insert_with(|| (sending.now, Usage::now()));
        }
        drop(state);
        Box::new(Ticket { recorder: Arc::clone(self), sending: *sending, is_measured })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn histogram() -> Histogram<u64> {
    Histogram::new_with_max(LATENCY_NS_MAX, SIGNIFICANT_DIGITS)
        .expect("three digits and a maximum above two are what it takes")
}

/// A batch that is being sent.
#[derive(Clone, Copy, Debug)]
pub struct Sending {
    /// The plan of the injector.
    pub schedule: Schedule,
    /// When its first event was meant to start.
    pub start: u64,
    /// The number of the batch's first event.
    pub first: u64,
    /// How many events it holds.
    pub count: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The time now: the one reading of the clock for this batch.
    pub now: u64,
}

impl Sending {
    /// When one of the batch's events was meant to start; without a rate, now.
    fn meant(&self, index: u64) -> u64 {
        match self.schedule.load {
            Load::Open(_) => self.start + self.schedule.offset(self.first + index),
            Load::Closed => self.now,
        }
    }
}

/// Waits for the end of a batch.
struct Ticket {
    recorder: Arc<Recorder>,
    sending: Sending,
    is_measured: bool,
}

impl Witness for Ticket {
    fn settled(&self, acknowledged: bool) {
        let now = self.recorder.ticker.now();
        let count = self.sending.count;
        let mut state = self.recorder.lock();
        state.settled += count;
        state.refused += if acknowledged { 0 } else { count };
        if self.is_measured {
            record(&mut state.latency, &self.sending, now);
            state.end = state.end.max(now);
        }
    }
}

/// Records the latency of every event of a batch. Within a batch they fall evenly, so events that the
/// histogram could not tell apart are recorded together.
fn record(latency: &mut Histogram<u64>, sending: &Sending, now: u64) {
    let mut index = 0;
    while index < sending.count {
        let value = now.saturating_sub(sending.meant(index));
        let lowest = latency.lowest_equivalent(value.min(LATENCY_NS_MAX));
        let alike = match sending.schedule.load {
            Load::Open(rate) => ((value - lowest.min(value)) as f64 * rate / 1e9) as u64 + 1,
            Load::Closed => sending.count,
        };
        let alike = alike.min(sending.count - index);
        latency.saturating_record_n(value, alike);
        index += alike;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn recording_together_equals_recording_one_by_one() {
        let second = Duration::from_secs(1);
        for rate in [10.0, 1_000.0, 333_333.3, 2e7] {
            let load = Load::Open(rate);
            let schedule = Schedule { load, warmup: Duration::ZERO, measured: second };
            let (start, first, count) = (77, 5, 3_000);
            let sending = Sending { schedule, start, first, count, bytes: 0, now: 0 };
            let now = sending.meant(count) + 1_234_567;
            let (mut together, mut singly) = (histogram(), histogram());
            record(&mut together, &sending, now);
            (0..count).for_each(|index| singly.saturating_record(now - sending.meant(index)));
            assert_eq!(together.len(), count);
            for percentile in [0.0, 1.0, 50.0, 90.0, 99.0, 100.0] {
                let of = |histogram: &Histogram<u64>| histogram.value_at_percentile(percentile);
                let (left, right) = (of(&together) as f64, of(&singly) as f64);
                assert!((left - right).abs() <= right * 0.002, "{rate}: {left} {right}");
            }
        }
    }
}
