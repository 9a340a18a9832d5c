//! The wish to stop, which reaches threads that run and threads that wait for input.
//!
//! Invariant: once asked for, a stop stays asked for.

use std::io::{PipeReader, PipeWriter, Result, pipe};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use tokio::sync::Notify;

/// Tells sources to take in no more. Everything taken in is still brought to its end.
pub struct Stop {
    asked: AtomicBool,
    /// Closed when a stop is asked for, which makes `reader` ready for everyone who polls it.
    writer: Mutex<Option<PipeWriter>>,
    reader: PipeReader,
    /// Signalled when a stop is asked for, for tasks.
    tasks: Notify,
}

impl Stop {
    /// A stop that nobody has asked for yet. Fails when no pipe can be had.
    pub fn new() -> Result<Self> {
        let (reader, writer) = pipe()?;
        let (asked, writer) = (AtomicBool::new(false), Mutex::new(Some(writer)));
        Ok(Stop { asked, writer, reader, tasks: Notify::new() })
    }

    /// Asks for the stop.
    pub fn ask(&self) {
        self.asked.store(true, Ordering::Release);
        self.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.tasks.notify_waiters();
    }

    /// Whether somebody asked.
    pub fn is_asked(&self) -> bool {
        self.asked.load(Ordering::Acquire)
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
}
