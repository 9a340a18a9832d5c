//! The life of a source at a broker: sessions that begin anew, with back-off, until the run stops.
//!
//! Invariant: what a session has not acknowledged when it breaks, the broker gives to a later one.

use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use temblor_runtime::console::Console;
use temblor_runtime::error::Error;
use temblor_runtime::outlet::Desk;
use temblor_runtime::source::feed::Feed;
use temblor_runtime::stats::Stats;
use temblor_wire::retry::{self, Retry};
use tokio::task::JoinHandle;

/// How long a source that stops waits for what it has handed over. Operators that keep events for longer let
/// them go when all sources have ended: those are delivered again by the broker.
pub const SETTLE_MAX: Duration = Duration::from_secs(5);
/// How long a connection may take, with TLS and authentication.
pub const CONNECT_MAX: Duration = Duration::from_secs(10);
/// A session that lasted so long was a good one: the next failure waits for the shortest time again.
const GOOD_SESSION: Duration = Duration::from_secs(10);

/// Whether a broker is there, as users are told: once when it goes away, however often it is tried meanwhile,
/// and once when it is back. A broker that is tried again is no failure of the run.
#[derive(Clone)]
pub struct Presence(Arc<Told>);

struct Told {
    /// What counts the attempts: `source` or `sink`.
    kind: &'static str,
    console: Arc<Console>,
    stats: Arc<Stats>,
    is_away: AtomicBool,
    away: Mutex<Away>,
}

#[derive(Default)]
struct Away {
    since: Option<Instant>,
    /// Whether users know that it is away.
    is_told: bool,
    /// What users were told to try. Another kind of reason is told, too: a broker that is back may refuse.
    said: Option<String>,
    /// When it was last found.
    found: Option<Instant>,
}

impl Presence {
    /// Of the broker that a source reads from.
    #[must_use]
    pub fn of_source(feed: &Feed) -> Self {
        Self::new("source", &feed.console, &feed.stats)
    }

    /// Of the broker that a sink writes to.
    #[must_use]
    pub fn of_sink(desk: &Desk) -> Self {
        Self::new("sink", &desk.console, &desk.stats)
    }

    fn new(kind: &'static str, console: &Arc<Console>, stats: &Arc<Stats>) -> Self {
        let (console, stats) = (Arc::clone(console), Arc::clone(stats));
        let (is_away, away) = (AtomicBool::new(false), Mutex::default());
        Self(Arc::new(Told { kind, console, stats, is_away, away }))
    }

    /// An attempt failed, and there will be another. `help` tells kinds of failures apart.
    pub fn lost(&self, error: &Error) {
        self.0.stats.add_error(self.0.kind);
        self.lost_silently(error);
    }

    /// The same, where the attempt counts already.
    pub fn lost_silently(&self, error: &Error) {
        let mut away = self.0.away.lock().unwrap_or_else(PoisonError::into_inner);
        if away.since.is_none() {
            (away.since, away.is_told) = (Some(Instant::now()), false);
            self.0.is_away.store(true, Ordering::Release);
            // One that comes and goes within moments is told once.
            if away.found.is_none_or(|found| found.elapsed() >= GOOD_SESSION) {
                away.said = None;
            }
        }
        if away.said.as_deref() != Some(error.help()) {
            (away.said, away.is_told) = (Some(error.help().to_string()), true);
            self.0
                .console
                .message(&format!("warning: {error}\n  it is tried again until it works"));
        }
    }

    /// Whether it is away.
    #[must_use]
    pub fn is_away(&self) -> bool {
        self.0.is_away.load(Ordering::Acquire)
    }

    /// It has answered.
    pub fn found(&self, name: &str) {
        if !self.is_away() {
            return;
        }
        let mut away = self.0.away.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(since) = away.since.take() else { return };
        self.0.is_away.store(false, Ordering::Release);
        away.found = Some(Instant::now());
        if away.is_told {
            let seconds = since.elapsed().as_secs_f64();
            self.0.console.message(&format!("{name} is back after {seconds:.1} s"));
        }
    }
}

/// How a session ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Ended {
    /// The run stops.
    Stopped,
    /// Something did not get where it should: it has to be delivered again.
    Failed,
}

/// Runs sessions until one ends because the run stops. A session tells the [`Presence`] when the broker has
/// answered.
pub async fn repeat<F, S>(feed: &Feed, mut retry: Retry, mut session: F) -> Result<(), Error>
where
    F: FnMut(Presence) -> S,
    S: Future<Output = Result<Ended, Error>>,
{
    let presence = Presence::of_source(feed);
    loop {
        let began = tokio::time::Instant::now();
        let error = match session(presence.clone()).await {
            Ok(Ended::Stopped) => return Ok(()),
            Ok(Ended::Failed) => None,
            Err(_) if feed.stop.is_asked() => return Ok(()),
            Err(error) => Some(error),
        };
        if began.elapsed() >= GOOD_SESSION {
            retry.succeed();
        }
        let Some(wait) = retry.fail(retry::chance()) else {
            let given_up = || Error::input("source", "was given up after its last attempt", "");
            return Err(error.unwrap_or_else(given_up));
        };
        error.iter().for_each(|error| presence.lost(error));
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            () = feed.stop.asked() => return Ok(()),
        }
    }
}

/// Counts messages that were left out because the program did not take them in time.
pub fn count_missed(feed: &Feed, missed: u64) {
    if missed > 0 {
        feed.stats.add_dropped("slow listener", missed);
    }
}

/// A task that ends with its owner.
#[derive(Debug)]
pub struct Guard(JoinHandle<()>);

impl Guard {
    /// Spawns a task.
    pub fn spawn(task: impl Future<Output = ()> + Send + 'static) -> Self {
        Self(tokio::spawn(task))
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Appends a text as JSON.
pub fn push_json(text: &str, out: &mut String) {
    // A text can always be written.
    out.push_str(&serde_json::to_string(text).unwrap_or_default());
}
