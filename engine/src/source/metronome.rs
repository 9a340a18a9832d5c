//! The `metronome` source: an event at each interval, until the run stops.
//!
//! Invariant: a beat that comes late does not move the later ones.

use std::sync::Arc;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::batch::Origin;
use crate::clock::system_time;
use crate::error::Error;
use crate::framing::Framing;
use crate::source::Source;
use crate::source::chained::block;
use crate::source::feed::{At, Feed};

const NANOSECONDS_PER_SECOND: u64 = 1_000_000_000;

/// Gives `{"connector": "metronome", "ingest_ns": …, "id": …}`.
pub struct MetronomeSource {
    /// Nanoseconds, from 1.
    interval: u64,
    /// How many beats; nothing is for ever.
    count: Option<u64>,
}

impl MetronomeSource {
    /// A metronome that beats at the interval, in nanoseconds.
    pub fn new(interval: u64, count: Option<u64>) -> Self {
        Self { interval: interval.max(1), count }
    }
}

impl Source for MetronomeSource {
    fn name(&self) -> String {
        "metronome".to_string()
    }

    fn run(&mut self, feed: &Feed) -> Result<(), Error> {
        let origin = Arc::new(Origin { name: self.name() });
        let at = At { origin, file: 0, framing: Framing::Lines };
        feed.ledger.name_file(feed.source, 0, None);
        let start = system_time();
        let mut offset = 0;
        for id in 0..self.count.unwrap_or(u64::MAX) {
            let due = start.saturating_add(id.saturating_mul(self.interval));
            if !wait_until(due, feed)? {
                break;
            }
            let now = system_time();
            let line = format!("{{\"connector\":\"metronome\",\"ingest_ns\":{now},\"id\":{id}}}\n");
            let block = block(feed, line.as_bytes(), 1, id + 1, offset);
            offset += line.len() as u64;
            if feed.send(Some(block), &at).is_err() {
                break;
            }
        }
        Ok(())
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
