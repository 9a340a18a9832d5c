//! Sources: where batches come from. Each runs in a thread of its own, reads, and sends.
//!
//! Invariant: a source does no work per event, holds back nothing when no more input is there, and
//! reads no further while the queue has no room.

pub mod assembler;
pub mod completion;
pub mod feed;

use std::any::Any;
use std::fmt::Debug;

use crate::checkpoint::FileMark;
use crate::error::Error;
use feed::Feed;

/// What a plan says of a source: everything that is needed to open it.
pub trait OpenSource: Any + Debug + Send + Sync {
    /// Opens the source; `marks` are the places that an earlier run got to.
    ///
    /// # Errors
    /// What is not there, or cannot be read; the run does not begin then.
    fn open(&self, marks: &[FileMark]) -> Result<Box<dyn Source>, Error>;

    /// Whether what was settled once cannot be read again, because peers were answered: outputs must not be
    /// cut back to an earlier moment then.
    fn forgets(&self) -> bool {
        true
    }

    /// What the user calls it, when it keeps something in the state directory, so that the run must have one.
    fn needs_state(&self) -> Option<&str> {
        None
    }
}

/// A source that is ready to run.
pub trait Source: Send {
    /// What the user calls it.
    fn name(&self) -> String;

    /// How many bytes there are to read, when that is known.
    fn total_bytes(&self) -> Option<u64> {
        None
    }

    /// Whether it only follows what other sources send, and ends when they have ended.
    fn follows(&self) -> bool {
        false
    }

    /// Whether it opens what peers connect to when it runs, and says so to the feed then.
    fn listens(&self) -> bool {
        false
    }

    /// Whether what it will listen on can be had now: asked before a program takes the place of another.
    ///
    /// # Errors
    /// Somebody else has it, or it is none of this machine.
    fn try_listen(&self) -> Result<(), Error> {
        Ok(())
    }

    /// The run is about to begin; called before any source runs.
    fn prepare(&mut self, feed: &Feed) {
        let _ = feed;
    }

    /// Reads until the input ends or the run stops. What is wrong with one file of several is reported
    /// to the feed and does not end the source.
    fn run(&mut self, feed: &Feed) -> Result<(), Error>;
}
