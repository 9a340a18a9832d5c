//! The end of a `wal` that events come out of.
//!
//! Invariant: a record comes again until all that stems from it is where it should be; the source ends when the
//! log is empty and nothing can come into it any more.

use std::sync::Arc;
use std::time::Duration;

use temblor_buffer::log::Log;
use temblor_buffer::reader::{Item, Loss, Reader, Record};
use temblor_runtime::ack::Witness;
use temblor_runtime::batch::Origin;
use temblor_runtime::checkpoint::FileMark;
use temblor_runtime::error::Error;
use temblor_runtime::source::feed::Feed;
use temblor_runtime::source::{OpenSource, Source};

use super::events;
use super::ring::Ring;

/// How long is waited at a time without looking whether the run ends.
const LOOK: Duration = Duration::from_millis(10);
/// Bytes that the program has and has not settled, at the most, but for a single larger record.
pub(crate) const UNDER_WAY_BYTES_MAX: u64 = 16 << 20;

/// Takes events out of a log.
#[derive(Debug)]
pub(super) struct Takes {
    pub ring: Arc<Ring>,
    pub name: Arc<str>,
}

impl OpenSource for Takes {
    fn open(&self, _: &[FileMark]) -> Result<Box<dyn Source>, Error> {
        let log = self.ring.log()?;
        let (ring, name) = (Arc::clone(&self.ring), Arc::clone(&self.name));
        Ok(Box::new(Taking { ring, log, name }))
    }
}

struct Taking {
    ring: Arc<Ring>,
    log: Arc<Log>,
    name: Arc<str>,
}

/// Learns what became of a record.
struct OfRecord {
    log: Arc<Log>,
    sequence: u64,
}

impl Witness for OfRecord {
    fn settled(&self, acknowledged: bool) {
        self.log.settle(self.sequence, acknowledged);
    }
}

impl Source for Taking {
    fn name(&self) -> String {
        self.ring.place()
    }

    fn follows(&self) -> bool {
        true
    }

    fn prepare(&mut self, feed: &Feed) {
        self.ring.be_read(&self.log, &feed.ledger);
    }

    fn run(&mut self, feed: &Feed) -> Result<(), Error> {
        let mut reader = Reader::new(Arc::clone(&self.log));
        let origin = Origin::named(&*self.name);
        while !self.is_over(feed) {
            if self.log.bytes_under_way() >= UNDER_WAY_BYTES_MAX {
                let rings = self.log.bell().rings();
                self.log.bell().wait(rings, LOOK);
                continue;
            }
            match reader.next(LOOK) {
                Item::Nothing => {}
                // Nothing more is put in; what is under way may still come again.
                Item::End => std::thread::sleep(LOOK),
                Item::Lost(loss) => self.tell_loss(feed, &loss),
                Item::Record(record) => self.give(feed, &record, &origin),
            }
        }
        self.ring.let_go();
        if feed.stop.is_closed() {
            feed.queue.unfollow();
        }
        Ok(())
    }
}

impl Taking {
    /// Whether the source ends. What is left then stays on disk for the next run.
    fn is_over(&self, feed: &Feed) -> bool {
        if feed.stop.is_asked() || feed.queue.is_aborted() {
            return true;
        }
        // In this order: what is put in later has been under way before.
        self.ring.is_empty(&self.log)
            && feed.queue.only_followers_are_left()
            && feed.ledger.is_quiet()
            && self.ring.is_empty(&self.log)
    }

    fn give(&self, feed: &Feed, record: &Record, origin: &Arc<Origin>) {
        let Some(mut messages) = events::read(&record.body) else {
            feed.stats.add_error("buffer");
            self.log.settle(record.sequence, true);
            return;
        };
        let witness = OfRecord { log: Arc::clone(&self.log), sequence: record.sequence };
        // It does not wait for room: the workers that would make it may wait for this log.
        let given = feed.give_back_to(messages.take(), origin, Box::new(witness));
        if given.is_err() {
            self.log.settle(record.sequence, false);
        }
    }

    fn tell_loss(&self, feed: &Feed, loss: &Loss) {
        let Loss { segment, offset, bytes, records, reason } = loss;
        feed.stats.add_errors("buffer", (*records).max(1));
        let place = self.ring.place();
        feed.console.message(&format!(
            "warning: {place}: segment {segment}, byte {offset}: {bytes} bytes passed over: {reason}"
        ));
    }
}
