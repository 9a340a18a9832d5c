//! The wish to stop, which reaches threads that run and threads that wait for input. Each source has a wish of
//! its own below that of the run, so that one source can be closed while the others go on.
//!
//! Invariant: once asked for, a stop stays asked for, and so do those below it.

use std::io::{PipeReader, PipeWriter, Result, pipe};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

use tokio::sync::Notify;

/// Tells sources to take in no more. Everything taken in is still brought to its end.
pub struct Stop {
    asked: AtomicBool,
    /// Whether this one was asked for alone, while the run goes on.
    closed: AtomicBool,
    /// When it was asked for.
    asked_at: OnceLock<Instant>,
    /// Closed when a stop is asked for, which makes `reader` ready for everyone who polls it.
    writer: Mutex<Option<PipeWriter>>,
    reader: PipeReader,
    /// Signalled when a stop is asked for, for tasks.
    tasks: Notify,
    /// Asked for together with this one.
    below: Mutex<Vec<Arc<Stop>>>,
}

impl Stop {
    /// A stop that nobody has asked for yet. Fails when no pipe can be had.
    pub fn new() -> Result<Self> {
        let (reader, writer) = pipe()?;
        Ok(Stop {
            asked: AtomicBool::new(false),
            closed: AtomicBool::new(false),
            asked_at: OnceLock::new(),
            writer: Mutex::new(Some(writer)),
            reader,
            tasks: Notify::new(),
            below: Mutex::default(),
        })
    }

    /// A stop of its own, which is asked for with this one at the latest. Fails when no pipe can be had.
    pub fn part(&self) -> Result<Arc<Self>> {
        let part = Arc::new(Self::new()?);
        let mut below = self.lock_below();
        below.push(Arc::clone(&part));
        if self.is_asked() {
            part.ask();
        }
        Ok(part)
    }

    /// Asks for the stop.
    pub fn ask(&self) {
        let _ = self.asked_at.set(Instant::now());
        self.asked.store(true, Ordering::Release);
        self.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.tasks.notify_waiters();
        self.lock_below().iter().for_each(|part| part.ask());
    }

    /// Asks for this stop alone: the run goes on without what listens to it.
    pub fn close(&self) {
        self.closed.store(true, Ordering::Release);
        self.ask();
    }

    /// Whether somebody asked.
    pub fn is_asked(&self) -> bool {
        self.asked.load(Ordering::Acquire)
    }

    /// Whether it was [closed](Self::close).
    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// When somebody asked.
    pub fn asked_at(&self) -> Option<Instant> {
        self.asked_at.get().copied()
    }

    /// Waits, as a task, until the stop is asked for.
    pub async fn asked(&self) {
        let asked = self.tasks.notified();
        tokio::pin!(asked);
        asked.as_mut().enable();
        if !self.is_asked() {
            asked.await;
        }
    }

    /// Becomes readable when the stop is asked for.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.reader.as_fd()
    }

    fn lock_below(&self) -> MutexGuard<'_, Vec<Arc<Stop>>> {
        self.below.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_closed_alone_and_stops_with_the_whole() {
        let whole = Stop::new().unwrap();
        let (first, second) = (whole.part().unwrap(), whole.part().unwrap());
        first.close();
        assert!(first.is_asked() && first.is_closed());
        assert!(!whole.is_asked() && !second.is_asked());
        whole.ask();
        assert!(second.is_asked() && !second.is_closed());
        assert!(whole.part().unwrap().is_asked(), "one that comes late is asked at once");
    }
}
