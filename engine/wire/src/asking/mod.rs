//! Sinks that ask somebody about each event and give the event back with the answer: what lookups over the
//! network share.
//!
//! Invariant: an event is held by the task of its sink, never by a worker, and its token until all that stems
//! from its return is where it should be. Questions under way, and answers that are kept, are bounded.

mod cache;
mod round;

pub use round::Lookup;

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use temblor_declare::{Setting, Settings, Takes};

use crate::retry::Retry;

/// Questions under way at the same time, unless the program sets it.
pub const CONCURRENCY: Setting = Setting::new(
    "concurrency",
    Takes::Whole { least: 1, most: 4096 },
    "Questions at the same time. The same question is asked once, however many events wait for it.",
)
.or("64");
/// How long one attempt may take.
pub const TIMEOUT: Setting =
    Setting::new("timeout", Takes::Duration, "A question without an answer fails after so long.")
        .or("5s");
/// Attempts, unless `retry` says otherwise.
pub const ATTEMPTS: Setting = Setting::new(
    "attempts",
    Takes::Whole { least: 1, most: 100 },
    "A question that fails so often is given up: its events go to `err`.",
)
.or("3");
/// Whether events keep their order.
pub const ORDERED: Setting = Setting::new(
    "ordered",
    Takes::Flag,
    "Whether events come back in the order in which they came. Otherwise those of a batch come as soon as all of \
     the batch have their answers.",
)
.or("true");
/// How long answers are kept.
pub const CACHE_FOR: Setting = Setting::new(
    "cache_for",
    Takes::Duration,
    "How long an answer is kept, at the most; `0s` keeps none.",
)
.or("5m");
/// How long it is kept that there is nothing.
pub const CACHE_MISSES_FOR: Setting = Setting::new(
    "cache_misses_for",
    Takes::Duration,
    "How long it is kept that there is no answer.",
)
.or("30s");
/// How many answers are kept.
pub const CACHE_SIZE: Setting = Setting::new(
    "cache_size",
    Takes::Whole { least: 0, most: 100_000_000 },
    "Answers that are kept, at the most; the oldest goes first.",
)
.or("10000");

/// What somebody says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// The answer as JSON; none when there is nothing to be said about the question.
    pub answer: Option<Arc<str>>,
    /// How long it holds, if whoever was asked says so.
    pub holds: Option<Duration>,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The same question may go well later, not before this wait if there is one.
    ForNow(String, Option<Duration>),
    /// It will never go well.
    ForGood(String),
}

/// Whom questions are put to.
pub trait Ask: Send + Sync + 'static {
    /// Asks once. The caller bounds the time.
    fn ask(&self, question: &str) -> impl Future<Output = Result<Told, Trouble>> + Send;
}

/// How questions are put.
#[derive(Clone, Debug)]
pub struct Manners {
    /// Questions at the same time.
    pub concurrency: usize,
    /// How long an attempt may take.
    pub timeout: Duration,
    /// The waits between attempts.
    pub retry: Retry,
    /// Whether events keep their order.
    pub ordered: bool,
    /// How long answers are kept.
    pub cache_for: Duration,
    /// How long it is kept that there is none.
    pub cache_misses_for: Duration,
    /// How many of both are kept.
    pub cache_size: usize,
}

impl Manners {
    /// As the settings say.
    #[must_use]
    pub fn of_settings(settings: &Settings) -> Self {
        Self {
            concurrency: settings.size("concurrency"),
            timeout: settings.duration("timeout"),
            retry: Retry::default().at_most(settings.whole("attempts")),
            ordered: settings.flag("ordered"),
            cache_for: settings.duration("cache_for"),
            cache_misses_for: settings.duration("cache_misses_for"),
            cache_size: settings.size("cache_size"),
        }
    }
}
