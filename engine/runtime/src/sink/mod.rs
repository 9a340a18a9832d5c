//! Sinks: where encoded events go. The writer's thread calls them; they keep nothing back.
//!
//! Invariant: when a write returns well, its bytes are with the operating system.

pub mod repair;

use std::fmt::Debug;
use std::time::Duration;

use crate::ack::Token;
use crate::checkpoint::OutputMark;
use crate::error::Error;
use crate::outlet::Desk;
use crate::outputs::Chunk;

/// What a plan says of a sink: everything that is needed to open it.
pub trait OpenSink: Debug + Send + Sync {
    /// Opens the sink; `resumed` says that the run goes on from a checkpoint, so that what the sink
    /// wrote before is kept.
    ///
    /// # Errors
    /// What is not there, or cannot be written; the run does not begin then.
    fn open(&self, resumed: bool) -> Result<Box<dyn Sink>, Error>;

    /// Whether an event can end the run here, so that the end of the input does not before its time.
    fn ends_run(&self) -> bool {
        false
    }

    /// Whether it keeps something in the state directory, so that the run must have one.
    fn needs_state(&self) -> bool {
        false
    }
}

/// What became of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivered {
    /// Its bytes are with the operating system.
    Written,
    /// The sink keeps it, counts it, and lets its tokens go when the other side has confirmed.
    Later,
}

/// Why bytes were not written.
#[derive(Debug)]
pub enum WriteFailure {
    /// Nobody reads any more: the run ends quietly.
    NobodyReads,
    /// They could not be written now: they stay unacknowledged, and a later run tries again.
    Refused(Error),
    /// They never can be, since the event names an impossible place: they are counted as failed, and
    /// acknowledged.
    Impossible(Error),
    /// They were to end the run, and did.
    EndRun {
        /// The exit code.
        code: u8,
        /// Whether what has been read is dealt with first.
        graceful: bool,
        /// How long the run goes on before.
        delay: Duration,
    },
}

/// Somewhere to write to.
pub trait Sink: Send {
    /// Opens what the next write to `place` needs, and says whether it was opened just now. For sinks
    /// with one place, `place` is empty.
    fn prepare(&mut self, place: &str) -> Result<bool, WriteFailure> {
        let _ = place;
        Ok(false)
    }

    /// The run begins; tasks may be started.
    ///
    /// # Errors
    /// Why the run cannot begin.
    fn start(&mut self, desk: &Desk) -> Result<(), Error> {
        let _ = desk;
        Ok(())
    }

    /// Takes what a batch has put out for `place`. A sink that confirms later takes the bytes and keeps clones
    /// of the tokens; any other writes at once.
    fn deliver(
        &mut self,
        place: &str,
        chunk: &mut Chunk,
        tokens: &[Token],
    ) -> Result<Delivered, WriteFailure> {
        let _ = tokens;
        self.write(place, &chunk.bytes).map(|()| Delivered::Written)
    }

    /// Writes whole events.
    fn write(&mut self, place: &str, bytes: &[u8]) -> Result<(), WriteFailure>;

    /// From now on all that is written is to be on the disk behind each [`sync`](Self::sync).
    fn be_durable(&mut self) {}

    /// Forces to the disk what was written since the last time, where that can be done.
    ///
    /// # Errors
    /// When it may be lost.
    fn sync(&mut self) -> Result<(), Error> {
        Ok(())
    }

    /// The run is over; nothing more is written.
    fn finish(&mut self) {}

    /// The output files that are open, with their lengths.
    fn open_files(&self) -> Vec<OutputMark> {
        Vec::new()
    }
}
