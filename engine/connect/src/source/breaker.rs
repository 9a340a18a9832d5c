//! The source of `cb`: one event for each line of its files, and an account of what became of each.
//!
//! Invariant: each event is a batch of its own, so that what is said of it is said of nothing else.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use temblor_runtime::ack::Witness;
use temblor_runtime::batch::Origin;
use temblor_runtime::checkpoint::FileMark;
use temblor_runtime::error::Error;
use temblor_runtime::intake::Messages;
use temblor_runtime::source::feed::Feed;
use temblor_runtime::source::{OpenSource, Source};

/// Time between two looks at whether the run stops.
const LOOK: Duration = Duration::from_millis(50);

/// What a plan says of the source.
#[derive(Clone, Debug)]
pub(crate) struct BreakerSource {
    pub name: Arc<str>,
    pub paths: Vec<PathBuf>,
    /// How long the next answer is waited for.
    pub timeout: Duration,
    pub circuit: Arc<Circuit>,
}

/// What source and sink share: whether the source may read, and what became of its events.
#[derive(Debug, Default)]
pub(crate) struct Circuit {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Nothing more is read for now.
    broken: bool,
    sent: u64,
    acknowledged: u64,
    failed: u64,
    /// When the last event was sent or answered.
    moved: Option<Instant>,
}

impl Circuit {
    /// The source reads no more, or goes on.
    pub(crate) fn set_broken(&self, broken: bool) {
        let mut state = self.lock();
        (state.broken, state.moved) = (broken, Some(Instant::now()));
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until `holds`, the run stops, or nothing has moved for too long; says whether it holds.
    fn wait(&self, feed: &Feed, timeout: Duration, holds: impl Fn(&State) -> bool) -> bool {
        let mut state = self.lock();
        loop {
            if holds(&state) {
                return true;
            }
            let is_late = state.moved.get_or_insert_with(Instant::now).elapsed() > timeout;
            if is_late || feed.stop.is_asked() || feed.queue.is_aborted() {
                return false;
            }
            let waited = self.changed.wait_timeout(state, LOOK);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// Learns what became of an event.
struct OfEvent(Arc<Circuit>);

impl Witness for OfEvent {
    fn settled(&self, acknowledged: bool) {
        let mut state = self.0.lock();
        match acknowledged {
            true => state.acknowledged += 1,
            false => state.failed += 1,
        }
        state.moved = Some(Instant::now());
        self.0.changed.notify_all();
    }
}

impl OpenSource for BreakerSource {
    fn open(&self, _: &[FileMark]) -> Result<Box<dyn Source>, Error> {
        if self.paths.is_empty() {
            let place = self.name.to_string();
            return Err(Error::input(place, "has no file to read", "set `path` or `paths`"));
        }
        Ok(Box::new(self.clone()))
    }
}

impl Source for BreakerSource {
    fn name(&self) -> String {
        self.name.to_string()
    }

    fn run(&mut self, feed: &Feed) -> Result<(), Error> {
        for path in &self.paths {
            if !self.read(path, feed)? {
                break;
            }
        }
        let is_done = |state: &State| state.sent == state.acknowledged + state.failed;
        let done = self.circuit.wait(feed, self.timeout, is_done);
        let state = self.circuit.lock();
        let State { sent, acknowledged, failed, .. } = *state;
        let said = format!("{acknowledged} of {sent} events were acknowledged, {failed} failed");
        if done || feed.stop.is_asked() {
            feed.console.message(&format!("{}: {said}", self.name));
            return Ok(());
        }
        let reason = format!("{said}, and nothing came for {:?}", self.timeout);
        Err(Error::input(&*self.name, reason, "see what keeps the others, or set `timeout`"))
    }
}

impl BreakerSource {
    /// Sends the lines of a file; says whether the next one is to be read.
    fn read(&self, path: &PathBuf, feed: &Feed) -> Result<bool, Error> {
        let place = path.display().to_string();
        let wrong = |error: std::io::Error| {
            Error::input(place.clone(), format!("cannot be read: {error}"), "check `path`")
        };
        let origin = Origin::named(place.clone());
        for line in BufReader::new(File::open(path).map_err(wrong)?).split(b'\n') {
            let line = line.map_err(wrong)?;
            let line = line.strip_suffix(b"\r").unwrap_or(&line);
            if line.is_empty() {
                continue;
            }
            if !self.circuit.wait(feed, self.timeout, |state| !state.broken) {
                return Ok(false);
            }
            let mut messages = Messages::default();
            messages.push("", line);
            let mut state = self.circuit.lock();
            (state.sent, state.moved) = (state.sent + 1, Some(Instant::now()));
            drop(state);
            let witness = Box::new(OfEvent(Arc::clone(&self.circuit)));
            if feed.hand_over_again(messages.take(), &origin, witness).is_err() {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
