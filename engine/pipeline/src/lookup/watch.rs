//! Reading a file again when it has changed: a thread of its own looks at it from time to time, so that who
//! uses what was read never waits for a file.
//!
//! Invariant: the thread does not keep alive what it watches for.

use std::path::Path;
use std::sync::{Arc, Weak};
use std::time::{Duration, SystemTime};

/// What is made of a file and can be made of it anew.
pub trait Reloaded: Send + Sync + 'static {
    /// The file.
    fn path(&self) -> &Path;

    /// What it is called in messages: `the lookup table`.
    fn called(&self) -> &'static str;

    /// Reads the file again.
    ///
    /// # Errors
    /// A sentence, when the file cannot be read or is not what was expected; what was read before then stays.
    fn reload(&self) -> Result<(), String>;
}

/// A file as it was when it was read last.
#[derive(Clone, Copy, Debug)]
pub struct Watch(Option<(SystemTime, u64)>);

impl Watch {
    /// The file as it is now; to be asked for before it is read.
    #[must_use]
    pub fn of(path: &Path) -> Self {
        let stamp = |metadata: std::fs::Metadata| Some((metadata.modified().ok()?, metadata.len()));
        Self(std::fs::metadata(path).ok().and_then(stamp))
    }

    /// Looks at the file `every` so often, for as long as `what` lives. A file that has changed and cannot be
    /// used is named on standard error, once for each change.
    ///
    /// # Errors
    /// A sentence, when there can be no further thread.
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
                eprintln!("warning: {} stays as it was: {reason}", what.called());
            }
        }
    }
}
