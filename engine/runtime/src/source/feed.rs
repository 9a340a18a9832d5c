//! A source's way into the run: blocks become batches with a token, and go to the queue.
//!
//! Invariant: a block's token is opened before the block can be seen by a worker, in input order.

use std::io::{ErrorKind, Read, Result as IoResult};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::ack::{Ledger, Position, SourceId, Witness};
use crate::batch::{Batch, Origin};
use crate::buffer::Pool;
use crate::clock::{Clock, EventTimes, Timestamp, system_time};
use crate::console::Console;
use crate::error::Error;
use crate::framing::Framing;
use crate::network::Network;
use crate::queue::{Closed, Queue};
use crate::source::assembler::{Assembler, Block};
use crate::source::completion::Completions;
use crate::stats::{Health, SourceStats, Stats};
use crate::stop::Stop;
use crate::troubles::Troubles;

/// What a source needs of the run. A clone may live in a task of its own.
#[derive(Clone)]
pub struct Feed {
    /// The source's index in the plan.
    pub source: SourceId,
    /// Where batches go.
    pub queue: Arc<Queue>,
    /// Where buffers come from.
    pub pool: Arc<Pool>,
    /// Where tokens come from.
    pub ledger: Arc<Ledger>,
    /// The run's counters.
    pub stats: Arc<Stats>,
    /// Where notes to the user go.
    pub console: Arc<Console>,
    /// Where errors go that do not end the run.
    pub troubles: Arc<Troubles>,
    /// Files that were read to their ends.
    pub completions: Arc<Completions>,
    /// The wish to stop.
    pub stop: Arc<Stop>,
    /// The run's clock.
    pub clock: Clock,
    /// Sockets, timers and tasks.
    pub network: Arc<Network>,
    /// Where the run keeps what outlives it, if it has such a place.
    pub state: Option<PathBuf>,
}

/// Something to read from that knows whether reading would wait.
pub trait Input: Read {
    /// Whether a read would have to wait now.
    fn is_idle(&self) -> bool {
        false
    }
}

/// How the reading of one input ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// There is no more.
    AtEnd,
    /// The run stops.
    Stopped,
}

impl Feed {
    /// The counters of this source.
    pub fn counters(&self) -> &SourceStats {
        &self.stats.sources[self.source]
    }

    /// Peers can connect from now on.
    pub fn opened(&self) {
        self.counters().condition.set(Health::Working);
    }

    /// Reports an error that ends one input but not the run.
    pub fn trouble(&self, error: Error) {
        self.stats.add_error("source");
        self.counters().fail(&error.to_string());
        self.troubles.report(&self.console, error);
    }

    /// Reads an input to its end, sending blocks as they become full, or as soon as there is a worker
    /// with nothing to do, or nothing more to read for now.
    pub fn pump(
        &self,
        input: &mut dyn Input,
        assembler: &mut Assembler,
        at: &At,
    ) -> IoResult<Ended> {
        loop {
            if self.stop.is_asked() {
                return Ok(Ended::Stopped);
            }
            let is_wanted = assembler.has_block() && (self.queue.is_hungry() || input.is_idle());
            if is_wanted && self.send(assembler.cut(), at).is_err() {
                return Ok(Ended::Stopped);
            }
            let count = match input.read(assembler.space()) {
                Ok(0) => return Ok(Ended::AtEnd),
                Ok(count) => count,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(_) if self.stop.is_asked() => return Ok(Ended::Stopped),
                Err(error) => return Err(error),
            };
            assembler.filled(count);
            if assembler.is_full() && self.send(assembler.cut(), at).is_err() {
                return Ok(Ended::Stopped);
            }
        }
    }

    /// Sends a block, waiting for room in the queue.
    pub fn send(&self, block: Option<Block>, at: &At) -> Result<(), Closed> {
        let Some(block) = block else { return Ok(()) };
        self.counters().bytes.fetch_add(block.range.len() as u64, Ordering::Relaxed);
        self.queue.send(Box::new(self.batch(block, at, None)))
    }

    /// Sends a block whose events come at a time that the source sets, waiting for room in the queue.
    pub fn send_due(&self, block: Block, at: &At, due: Timestamp) -> Result<(), Closed> {
        self.counters().bytes.fetch_add(block.range.len() as u64, Ordering::Relaxed);
        self.queue.send(Box::new(Batch { due, ..self.batch(block, at, None) }))
    }

    /// Sends a block whose events were taken in at a time that the source knows, waiting for room in
    /// the queue.
    pub fn send_timed(
        &self,
        block: Block,
        at: &At,
        ingest: Option<Timestamp>,
    ) -> Result<(), Closed> {
        self.counters().bytes.fetch_add(block.range.len() as u64, Ordering::Relaxed);
        self.queue.send(Box::new(Batch { ingest, ..self.batch(block, at, None) }))
    }

    /// Sends a block whose settling is reported to a witness, waiting for room in the queue.
    pub fn send_watched(
        &self,
        block: Block,
        at: &At,
        witness: Box<dyn Witness>,
    ) -> Result<(), Closed> {
        self.counters().bytes.fetch_add(block.range.len() as u64, Ordering::Relaxed);
        self.queue.send(Box::new(self.batch(block, at, Some(witness))))
    }

    fn batch(&self, block: Block, at: &At, witness: Option<Box<dyn Witness>>) -> Batch {
        let bad = &block.bad;
        // A bad frame has a number but no bytes in the block.
        let behind = bad.iter().filter(|bad| bad.line >= block.first_line + block.frames).count();
        let end = Position {
            file: at.file,
            offset: block.offset + block.range.len() as u64,
            line: block.first_line + block.frames + behind as u64,
        };
        let arrival = system_time();
        self.counters().succeed();
        Batch {
            source: self.source,
            origin: Arc::clone(&at.origin),
            bad: block.bad,
            times: EventTimes::together(arrival),
            arrival,
            due: 0,
            ingest: None,
            buffer: block.buffer,
            range: block.range,
            framing: at.framing,
            frames: block.frames,
            first_line: block.first_line,
            offset: block.offset,
            token: self.ledger.open_watched(self.source, end, witness),
        }
    }
}

/// Which input is being read.
pub struct At {
    /// What messages call it.
    pub origin: Arc<Origin>,
    /// Its index among the files of the source.
    pub file: usize,
    /// How its frames are told apart.
    pub framing: Framing,
}
