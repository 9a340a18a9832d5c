//! Reads a file again when it has changed: a thread of its own checks the file from time to time, so that
//! no event waits for it.
//!
//! Invariant: the thread does not keep alive what it watches for; it ends when nobody else holds that.

use std::path::Path;
use std::sync::{Arc, Weak};
use std::time::{Duration, SystemTime};
use temblor_runtime::console::warn;

/// Something that was read from a file and can be read from it again.
pub trait Reloaded: Send + Sync + 'static {
    /// The file.
    fn path(&self) -> &Path;

    /// Its name in messages: `the lookup table`.
    fn called(&self) -> &'static str;

    /// Reads the file again.
    ///
    /// # Errors
    /// A sentence, when the file cannot be read or is not what was expected; what was read before stays in use.
    fn reload(&self) -> Result<(), String>;
}

/// The time of change and the length that a file had when it was last read.
#[derive(Clone, Copy, Debug)]
pub struct Watch(Option<(SystemTime, u64)>);

impl Watch {
    /// The file as it is now. Call it before the file is read, so that no change is missed.
    #[must_use]
    pub fn of(path: &Path) -> Self {
        let stamp = |metadata: std::fs::Metadata| Some((metadata.modified().ok()?, metadata.len()));
        Self(std::fs::metadata(path).ok().and_then(stamp))
    }

    /// Checks the file at intervals of `every`, for as long as `what` lives. A file that has changed and cannot be
    /// used is named in a warning, once for each change.
    ///
    /// # Errors
    /// A sentence, when the thread cannot be started.
    pub fn start<T: Reloaded>(self, what: &Arc<T>, every: Duration) -> Result<(), String> {
        let weak = Arc::downgrade(what);
        let thread = std::thread::Builder::new().name("lookup".to_string());
        let started = thread.spawn(move || self.run(&weak, every));
        started.map(drop).map_err(|error| format!("cannot watch the file: {error}"))
    }

    fn run<T: Reloaded>(mut self, what: &Weak<T>, every: Duration) {
        loop {
            std::thread::sleep(every);
            let Some(what) = what.upgrade() else { return };
            let now = Self::of(what.path());
            if now.0 == self.0 {
                continue;
            }
            self = now;
            if let Err(reason) = what.reload() {
                warn(&format!("{} stays as it was: {reason}", what.called()));
            }
        }
    }
}
