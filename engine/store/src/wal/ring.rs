//! The log that source and sink of a `wal` share.
//!
//! Invariant: as long as something is in it that may come out in this run, the sources of what comes back stay.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use temblor_buffer::bell::Bell;
use temblor_buffer::folder::open_error;
use temblor_buffer::log::{Durability, Log, Refused, Settings};
use temblor_runtime::ack::{Holding, Ledger};
use temblor_runtime::error::Error;

use crate::place;

/// A log that is opened when the run begins.
pub(super) struct Ring {
    directory: PathBuf,
    bytes_max: u64,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    /// Source and sink have it open.
    log: Weak<Log>,
    /// Says that something may come back; only where a source takes it out.
    holding: Option<Holding>,
    is_read: bool,
}

impl std::fmt::Debug for Ring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Ring({:?}, {})", self.directory, self.bytes_max)
    }
}

impl Ring {
    pub(super) fn new(directory: PathBuf, bytes_max: u64) -> Arc<Self> {
        Arc::new(Self { directory, bytes_max, open: Mutex::default() })
    }

    /// The directory, for messages.
    pub(super) fn place(&self) -> String {
        self.directory.display().to_string()
    }

    /// How much it holds at the most.
    pub(super) fn bytes_max(&self) -> u64 {
        self.bytes_max
    }

    /// The log, opened by whoever comes first.
    pub(super) fn log(&self) -> Result<Arc<Log>, Error> {
        let mut open = self.lock();
        if let Some(log) = open.log.upgrade() {
            return Ok(log);
        }
        place::checked(&self.directory)?;
        let settings = Settings {
            bytes_max: self.bytes_max,
            reserve_bytes: 0,
            compresses: false,
            durability: Durability::System,
            key: None,
        };
        let log = Log::open(&self.directory, settings, Arc::new(Bell::default()));
        let log = log.map_err(|error| open_error(&self.directory, error))?;
        open.log = Arc::downgrade(&log);
        Ok(log)
    }

    /// A source takes events out: from now on it is known that they come back.
    pub(super) fn be_read(&self, log: &Log, ledger: &Arc<Ledger>) {
        let mut open = self.lock();
        open.is_read = true;
        if !log.is_drained() {
            open.holding.get_or_insert_with(|| ledger.hold());
        }
    }

    /// Puts a record into the log.
    pub(super) fn put(
        &self,
        log: &Log,
        body: &[u8],
        events: u32,
        ledger: &Arc<Ledger>,
    ) -> Result<u64, Refused> {
        let mut open = self.lock();
        let put = log.append(body, events)?;
        if open.is_read {
            open.holding.get_or_insert_with(|| ledger.hold());
        }
        Ok(put)
    }

    /// Whether nothing is in the log; then nothing comes back either, before more is put in.
    pub(super) fn is_empty(&self, log: &Log) -> bool {
        let mut open = self.lock();
        let is_empty = log.is_drained();
        if is_empty {
            open.holding = None;
        }
        is_empty
    }

    /// Nothing is taken out any more.
    pub(super) fn let_go(&self) {
        let mut open = self.lock();
        (open.is_read, open.holding) = (false, None);
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
