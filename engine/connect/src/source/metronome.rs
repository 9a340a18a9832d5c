//! The `metronome` source: an event at each interval, until the run stops. With the virtual clock the
//! beats come one right after the other and put the clock forward.
//!
//! Invariant: a beat that comes late does not move the later ones.

use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::source::chained::block;
use temblor_runtime::batch::Origin;
use temblor_runtime::clock::{Clock, Timestamp, system_time};
use temblor_runtime::error::Error;
use temblor_runtime::framing::Framing;
use temblor_runtime::queue::Closed;
use temblor_runtime::source::Source;
use temblor_runtime::source::feed::{At, Feed};

/// Time between two looks at whether the run stops.
const PATIENCE: Duration = Duration::from_millis(20);
const NANOSECONDS_PER_SECOND: u64 = 1_000_000_000;

/// Gives `{"connector": "metronome", "ingest_ns": …, "id": …}`.
pub(crate) struct MetronomeSource {
    /// Nanoseconds, from 1.
    interval: u64,
    /// How many beats; nothing is for ever.
    count: Option<u64>,
}

impl MetronomeSource {
    /// A metronome that beats at the interval, in nanoseconds.
    pub(crate) fn new(interval: u64, count: Option<u64>) -> Self {
        Self { interval: interval.max(1), count }
    }
}

impl Source for MetronomeSource {
    fn name(&self) -> String {
        "metronome".to_string()
    }

    fn run(&mut self, feed: &Feed) -> Result<(), Error> {
        let mut beats = Beats::new(self.name(), feed);
        for id in 0..self.count.unwrap_or(u64::MAX) {
            let since = id.saturating_mul(self.interval);
            let Some(now) = beats.wait(beats.start.saturating_add(since))? else { break };
            let line = format!("{{\"connector\":\"metronome\",\"ingest_ns\":{now},\"id\":{id}}}\n");
            if beats.send(&line, now).is_err() {
                break;
            }
        }
        Ok(())
    }
}

/// Events that a source makes at times of its own.
pub(crate) struct Beats<'f> {
    feed: &'f Feed,
    at: At,
    /// The time of the first event, at the earliest: 0 with a virtual clock.
    pub start: Timestamp,
    /// Events and bytes so far.
    sent: u64,
    offset: u64,
}

impl<'f> Beats<'f> {
    /// Nothing sent yet.
    pub(crate) fn new(name: String, feed: &'f Feed) -> Self {
        let at = At { origin: Origin::named(name), file: 0, framing: Framing::Lines };
        feed.ledger.name_file(feed.source, 0, None);
        let start = if feed.clock == Clock::System { system_time() } else { 0 };
        Self { feed, at, start, sent: 0, offset: 0 }
    }

    /// Waits until an event is due and gives the time; `None` when the run stops first. A virtual
    /// clock is driven by the events and waits for nothing.
    pub(crate) fn wait(&self, due: Timestamp) -> Result<Option<Timestamp>, Error> {
        if self.feed.clock != Clock::System {
            return Ok(Some(due));
        }
        Ok(wait_until(due, self.feed)?.then(system_time))
    }

    /// Sends one line.
    pub(crate) fn send(&mut self, line: &str, now: Timestamp) -> Result<(), Closed> {
        let feed = self.feed;
        let block = block(feed, line.as_bytes(), 1, self.sent + 1, self.offset);
        let is_virtual = feed.clock != Clock::System;
        let due = if is_virtual { now } else { 0 };
        // Nothing runs ahead of a virtual clock: a beat may ask the run to stop.
        while is_virtual
            && !feed.stop.is_asked()
            && !feed.ledger.wait_written(feed.source, self.sent, PATIENCE)
        {}
        if feed.stop.is_asked() {
            return Err(Closed);
        }
        self.sent += 1;
        self.offset += line.len() as u64;
        feed.send_due(block, &self.at, due)
    }
}

/// False when the run stops first.
pub fn wait_until(due: u64, feed: &Feed) -> Result<bool, Error> {
    loop {
        if feed.stop.is_asked() {
            return Ok(false);
        }
        let left = due.saturating_sub(system_time());
        if left == 0 {
            return Ok(true);
        }
        let patience = Timespec {
            tv_sec: (left / NANOSECONDS_PER_SECOND) as i64,
            tv_nsec: (left % NANOSECONDS_PER_SECOND) as i64,
        };
        let stop = feed.stop.descriptor();
        match poll(&mut [PollFd::new(&stop, PollFlags::IN)], Some(&patience)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(Error::bug("metronome", error.to_string())),
        }
    }
}
