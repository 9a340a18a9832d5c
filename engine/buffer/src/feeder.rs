//! The thread that gives events from the queue to the sink, and learns what became of them.
//!
//! Invariant: the sink never has more than its own queue takes, so that giving it something never waits for its
//! peer; what it fails to deliver is given to it again from disk, after a pause, before anything new.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use temblor_runtime::ack::{Holding, Position, Witness};
use temblor_runtime::error::Error;
use temblor_runtime::limits::DRAIN_MAX;
use temblor_runtime::outlet::Desk;
use temblor_runtime::outputs::{Chunk, Count};
use temblor_runtime::sink::{Delivered, Sink, WriteFailure};

use crate::parcel;
use crate::reader::{Item, Loss, Reader};
use crate::supply::{Load, OfRecord, OfWaiting, Supply};

/// How long the thread waits at a time without looking whether the run ends.
const LOOK: Duration = Duration::from_millis(100);
/// How long what the sink has is waited for when the run is stopped: the rest is on disk.
const STOP_PATIENCE: Duration = Duration::from_secs(2);

/// Gives events to the sink.
pub struct Feeder {
    supply: Arc<Supply>,
    inner: Box<dyn Sink>,
    /// What the run told of the sink.
    desk: Desk,
    reader: Option<Reader>,
    /// Taken and not given yet, for want of room.
    next: Option<(String, Chunk, Box<dyn Witness>, Load)>,
    /// As long as the sink may still give something back.
    holding: Option<Holding>,
    /// A failure of the sink has been told.
    told: bool,
    /// What the sink has written must be on the disk before it counts as delivered.
    is_durable: bool,
}

impl Feeder {
    pub(crate) fn new(
        supply: Arc<Supply>,
        inner: Box<dyn Sink>,
        desk: Desk,
        is_durable: bool,
    ) -> Self {
        let reader = supply.log.clone().map(Reader::new);
        Self { supply, inner, desk, reader, next: None, holding: None, told: false, is_durable }
    }

    /// Gives events until no more will come and all are dealt with, or the run does not wait any longer.
    pub fn run(mut self) {
        loop {
            let rings = self.supply.bell.rings();
            if self.is_over() {
                break;
            }
            self.hold();
            if !self.feed() {
                self.supply.bell.wait(rings, LOOK);
            }
        }
        self.end();
    }

    fn is_over(&self) -> bool {
        if self.supply.nobody_reads() {
            return true;
        }
        let closed = self.supply.is_closed();
        if !closed || self.next.is_none() && self.supply.is_done() {
            return closed;
        }
        let keeps_rest = self.supply.log.is_some() && self.supply.queue().is_empty();
        let is_stopped = self.desk.stop.is_asked();
        if is_stopped && keeps_rest && self.supply.is_idle() {
            return true;
        }
        let patience = if is_stopped && keeps_rest { STOP_PATIENCE } else { DRAIN_MAX };
        self.supply.stuck_for() > patience
    }

    /// Keeps the ways back open as long as something may come back.
    fn hold(&mut self) {
        let is_done = self.next.is_none() && self.supply.is_done();
        if is_done {
            self.holding = None;
            self.supply.rest();
            return;
        }
        let is_hopeless = self.supply.stuck_for() > DRAIN_MAX
            || self.desk.stop.is_asked() && self.supply.is_idle();
        if is_hopeless {
            self.holding = None;
        } else if self.holding.is_none() {
            self.holding = Some(self.desk.ledger.hold());
        }
    }

    /// Gives the sink what comes next; says whether there was something, and room for it.
    fn feed(&mut self) -> bool {
        if self.next.is_none() {
            self.next = self.take();
        }
        let Some((place, mut chunk, witness, load)) = self.next.take() else { return false };
        if !self.supply.has_room(load) {
            self.next = Some((place, chunk, witness, load));
            return false;
        }
        self.supply.begin(load);
        self.give(&place, &mut chunk, witness);
        true
    }

    /// What comes next: what waits in memory is older than what is on disk.
    fn take(&mut self) -> Option<(String, Chunk, Box<dyn Witness>, Load)> {
        let waiting = self.supply.queue().pop();
        if let Some(mut waiting) = waiting {
            // There is room for others.
            self.supply.bell.ring();
            let chunk = std::mem::take(&mut waiting.chunk);
            let (place, load) = (std::mem::take(&mut waiting.place), load_of(&chunk));
            let (supply, waiting) = (Arc::clone(&self.supply), Mutex::new(Some(waiting)));
            return Some((place, chunk, Box::new(OfWaiting { supply, load, waiting }), load));
        }
        let is_stopped = self.supply.is_closed() && self.desk.stop.is_asked();
        if is_stopped {
            return None;
        }
        loop {
            match self.reader.as_mut()?.next_now() {
                Item::Nothing | Item::End => return None,
                Item::Lost(loss) => self.tell_loss(&loss),
                Item::Record(record) => {
                    let Some((place, chunk)) = parcel::read(&record.body, record.events) else {
                        self.tell_unknown(record.sequence);
                        continue;
                    };
                    let (supply, sequence) = (Arc::clone(&self.supply), record.sequence);
                    let load = load_of(&chunk);
                    return Some((
                        place,
                        chunk,
                        Box::new(OfRecord { supply, sequence, load }),
                        load,
                    ));
                }
            }
        }
    }

    fn give(&mut self, place: &str, chunk: &mut Chunk, witness: Box<dyn Witness>) {
        let nowhere = Position { file: 0, offset: 0, line: 0 };
        let token = self.supply.desk.ledger.open_watched(0, nowhere, Some(witness));
        let (events, bytes) = (chunk.events, chunk.bytes.len() as u64);
        let mut given = self.inner.deliver(place, chunk, std::slice::from_ref(&token));
        if self.is_durable
            && let Ok(Delivered::Written) = given
            && let Err(error) = self.inner.sync()
        {
            given = Err(WriteFailure::Refused(error));
        }
        let counters = &self.desk.stats.sinks[self.desk.sink];
        match given {
            Ok(Delivered::Later) => {}
            Ok(Delivered::Written) => {
                counters.add(Count { events, bytes });
                self.told = false;
            }
            Err(WriteFailure::Impossible(error)) => {
                counters.add_failed(events);
                self.desk.trouble(error);
            }
            Err(WriteFailure::Refused(error)) => {
                token.fail();
                self.tell_failure(error, events);
            }
            Err(WriteFailure::NobodyReads | WriteFailure::EndRun { .. }) => {
                token.fail();
                self.supply.nobody_will_read();
                self.desk.stop.ask();
            }
        }
    }

    /// A sink on this machine failed. What is on disk is tried again; what was in memory is not.
    fn tell_failure(&mut self, error: Error, events: u64) {
        if self.supply.log.is_none() {
            self.desk.stats.sinks[self.desk.sink].add_failed(events);
            return self.desk.trouble(error);
        }
        if !std::mem::replace(&mut self.told, true) {
            let text = format!(
                "warning: {error}\n  note: its events are kept in its buffer and tried again"
            );
            self.desk.console.message(&text);
        }
    }

    fn tell_loss(&self, loss: &Loss) {
        let Loss { segment, offset, bytes, records, reason } = loss;
        self.desk.stats.add_errors("buffer", (*records).max(1));
        let name = &self.desk.name;
        let text = format!(
            "warning: the buffer of `{name}`: segment {segment}, byte {offset}: {bytes} bytes passed over: {reason}"
        );
        self.desk.console.message(&text);
    }

    /// A record that is whole, and yet none of ours.
    fn tell_unknown(&self, sequence: u64) {
        self.desk.stats.add_error("buffer");
        let text = format!(
            "warning: the buffer of `{}`: record {sequence} holds no events of a sink; passed over",
            self.desk.name
        );
        self.desk.console.message(&text);
        if let Some(log) = &self.supply.log {
            log.settle(sequence, true);
        }
    }

    /// The run is over: the sink ends, and what is left is said.
    fn end(mut self) {
        self.inner.finish();
        drop(self.next.take());
        // Their tokens fail: they come again.
        while let Some(left) = self.supply.queue().pop() {
            self.desk.stats.sinks[self.desk.sink].add_failed(left.chunk.events);
        }
        if let Some(log) = &self.supply.log {
            log.abandon();
            let fill = log.fill();
            if fill.records > 0 {
                let text = format!(
                    "note: {} records ({} bytes on disk) remain in the buffer of `{}`; the next run with the same \
                     --state sends them",
                    fill.records, fill.bytes, self.desk.name
                );
                self.desk.console.message(&text);
            }
        }
    }
}

fn load_of(chunk: &Chunk) -> Load {
    Load { bytes: chunk.bytes.len(), events: chunk.events }
}
