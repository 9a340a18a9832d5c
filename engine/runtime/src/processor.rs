//! The seam between the moving of bytes and the language: what runs in a worker between two queues.
//!
//! Invariant: the runtime knows nothing of values, and a processor knows nothing of files and threads.

use crate::batch::{BadFrame, Batch};
use crate::clock::Timestamp;
use crate::error::Error;
use crate::outputs::Outputs;
use crate::turnstile::Turn;

/// What becomes of a saved state that no step of the program takes up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unmatched {
    /// The run is refused.
    #[default]
    Refuse,
    /// It is dropped, and said.
    Drop,
}

/// One worker's copy of a program: decode, operators, encode, over one batch at a time.
///
/// With N workers there are N copies. Where a copy has state that decides what comes out, the copies
/// share it (behind a mutex), and every access to it lies between [`Turn::wait`] and [`Turn::pass`]:
/// then N workers give exactly what one gives. A program without state ignores the turn.
///
/// A call that fails with an error ends the run; what it put out before is still written. Errors of
/// single events are reported through [`Outputs::error`] instead.
pub trait Processor: Send {
    /// Processes the frames of a batch.
    fn process(
        &mut self,
        batch: &mut Batch,
        turn: &mut Turn<'_>,
        out: &mut Outputs,
    ) -> Result<(), Error>;

    /// Takes a frame that could not be read; comes before the [`process`](Self::process) of its batch.
    fn reject(&mut self, batch: &Batch, bad: &BadFrame, out: &mut Outputs) -> Result<(), Error> {
        out.bad_frame(batch, bad)
    }

    /// Whether [`tick`](Self::tick) does anything.
    fn wants_ticks(&self) -> bool {
        false
    }

    /// Lets timers run. Called in the ordered section, on one of the copies only.
    fn tick(&mut self, now: Timestamp, out: &mut Outputs) -> Result<(), Error> {
        let _ = (now, out);
        Ok(())
    }

    /// Whether there is a state that [`snapshot`](Self::snapshot) would give.
    fn keeps_state(&self) -> bool {
        false
    }

    /// Everything that is remembered, as bytes for [`restore`](Self::restore); `None` when there is
    /// nothing. Called in the ordered section.
    fn snapshot(&mut self) -> Option<Vec<u8>> {
        None
    }

    /// Takes up what [`snapshot`](Self::snapshot) of an earlier run gave, for all copies. What is to be
    /// told to the user, or a sentence when it does not fit.
    fn restore(&mut self, saved: &[u8], unmatched: Unmatched) -> Result<Vec<String>, String> {
        let _ = (saved, unmatched);
        Err("the program remembers nothing".to_string())
    }

    /// The input has ended: puts out what is still kept. Called in the ordered section, after all
    /// batches have been processed, once on each copy.
    fn flush(&mut self, now: Timestamp, out: &mut Outputs) -> Result<(), Error> {
        let _ = (now, out);
        Ok(())
    }
}
