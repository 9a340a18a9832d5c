//! A run as it is seen and steered from outside while it goes on.
//!
//! Invariant: nothing here is on the way of an event: who asks for counts reads what the run counts anyway.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, mpsc};
use std::time::{Duration, Instant};

use crate::ack::{Ledger, SourceId};
use crate::console::Console;
use crate::error::Error;
use crate::exchange::HandOver;
use crate::outputs::SinkId;
use crate::processor::Processor;
use crate::queue::Queue;
use crate::run::NamedSink;
use crate::source::OpenSource;
use crate::stats::Stats;
use crate::stop::Stop;

/// What a run under way shows.
#[derive(Clone)]
pub struct View {
    /// Its counters.
    pub stats: Arc<Stats>,
    /// The queue from the sources to the workers.
    pub queue: Arc<Queue>,
    /// What is under way.
    pub ledger: Arc<Ledger>,
    /// The wish to stop.
    pub stop: Arc<Stop>,
    /// Where messages to the user go.
    pub console: Arc<Console>,
    /// How many workers there are.
    pub workers: usize,
    /// When the run began.
    pub started: Instant,
}

/// A source that begins while the run goes on.
pub struct NewSource {
    /// Where its events come from.
    pub config: Arc<dyn OpenSource>,
    /// The closed source whose place it takes: it goes on where that one stopped.
    pub follows: Option<SourceId>,
}

impl NewSource {
    /// Whether it can begin, as far as can be told while those that will end are still open.
    ///
    /// # Errors
    /// What it reads is not there, or somebody else has what it listens on.
    pub fn try_opening(&self, stats: &Stats, closing: &[SourceId]) -> Result<(), Error> {
        let opened = self.config.open(&[])?;
        let name = opened.name();
        let is_handed_over = closing.iter().any(|old| stats.sources[*old].name == name);
        if is_handed_over { Ok(()) } else { opened.try_listen() }
    }
}

/// What changes when a program takes the place of another. Sources, sinks and ports that are not named here
/// stay what they are.
pub struct Replacement {
    /// The new program, for each worker.
    pub processors: Vec<Box<dyn Processor>>,
    /// Takes what the old program remembers into the new one.
    pub hand_over: HandOver,
    /// Sources that end.
    pub closed_sources: Vec<SourceId>,
    /// Sources that begin; they get the numbers behind those that there are.
    pub sources: Vec<NewSource>,
    /// Sinks that end, once they have what the old program gave them.
    pub closed_sinks: Vec<SinkId>,
    /// Sinks that begin, and whether each goes on with what a sink before it has written.
    pub sinks: Vec<(NamedSink, bool)>,
    /// Names of ports that are new.
    pub ports: Vec<String>,
    /// For each source number, its place in the new program; nothing for those that are closed.
    pub places: Vec<Option<usize>>,
    /// How long each part of the change may wait for what is under way.
    pub limit: Duration,
}

/// Something that is to be done with the run.
pub(crate) struct Request {
    pub what: Replacement,
    pub answer: Answer,
}

/// Where the answer to a request goes.
pub(crate) struct Answer(mpsc::Sender<Result<(), Error>>);

impl Answer {
    pub(crate) fn give(self, result: Result<(), Error>) {
        // Whoever asked may be gone.
        let _ = self.0.send(result);
    }
}

/// The one who looks at a run and steers it; handed to the run with its plan.
#[derive(Default)]
pub struct Overseer {
    view: OnceLock<View>,
    requests: Mutex<Requests>,
    /// Signalled when there is a request, or the end.
    asked: Condvar,
}

#[derive(Default)]
struct Requests {
    waiting: VecDeque<Request>,
    over: bool,
}

impl Overseer {
    /// An overseer whose run has not begun.
    #[must_use]
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// What the run shows; nothing before it has begun.
    #[must_use]
    pub fn view(&self) -> Option<&View> {
        self.view.get()
    }

    /// Puts a program into the place of the one that runs. When that fails, the old program goes on.
    ///
    /// # Errors
    /// What cannot be opened, or that the run is over or does not come to a point between two batches.
    pub fn replace(&self, what: Replacement) -> Result<(), Error> {
        let (answer, answered) = mpsc::channel();
        {
            let mut requests = self.lock();
            if requests.over {
                return Err(over());
            }
            requests.waiting.push_back(Request { what, answer: Answer(answer) });
        }
        self.asked.notify_one();
        answered.recv().unwrap_or_else(|_| Err(over()))
    }

    /// The run has begun.
    pub(crate) fn begin(&self, view: View) {
        // A plan is run once.
        let _ = self.view.set(view);
    }

    /// The next request; nothing when the run is over.
    pub(crate) fn next(&self) -> Option<Request> {
        let mut requests = self.lock();
        loop {
            if requests.over {
                requests.waiting.clear();
                return None;
            }
            if let Some(request) = requests.waiting.pop_front() {
                return Some(request);
            }
            requests = self.asked.wait(requests).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The run is over: what waits is refused.
    pub(crate) fn end(&self) {
        let mut requests = self.lock();
        requests.over = true;
        requests.waiting.clear();
        drop(requests);
        self.asked.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Requests> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Overseer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Overseer")
    }
}

fn over() -> Error {
    Error::config("reload", "the run is ending")
}
