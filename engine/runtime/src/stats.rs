//! Counters of a run. Workers, sources and the writer add to them once per batch.
//!
//! Invariant: what is received ends in some count: written, dropped, failed or an error.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::memory;
use crate::outputs::{Count, Outputs};
use crate::pacing::Pacing;

/// The counters of one source.
#[derive(Debug, Default)]
pub struct SourceStats {
    /// What the user calls it.
    pub name: String,
    /// Events that were decoded, or tried to be.
    pub events: AtomicU64,
    /// Bytes of frames (after decompression).
    pub bytes: AtomicU64,
    /// Bytes read from the operating system.
    pub raw_bytes: AtomicU64,
    /// Bytes that there are to read; 0 when unknown.
    pub total_bytes: AtomicU64,
    /// Whether it is open, and how it ended.
    pub condition: Condition,
    /// Whether the last that happened was a failure. Beside the condition, which takes a lock.
    is_failing: AtomicBool,
    /// Times that it worked again after failures.
    reconnects: AtomicU64,
    errors: Mutex<Sums>,
    dropped: Mutex<Sums>,
}

/// Whether a source or a sink does its work, for those who ask whether the run is ready.
#[derive(Debug, Default)]
pub struct Condition(Mutex<Health>);

/// How a source or a sink is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Health {
    /// It works, as far as is known.
    #[default]
    Working,
    /// It is not open yet.
    Opening,
    /// Its input has ended, or it was asked to stop.
    Ended,
    /// What it does fails now, and is tried again; the reason, where it is known.
    Failing(String),
    /// It has ended with an error.
    Failed(String),
}

impl Condition {
    /// States how it is from now on.
    pub fn set(&self, health: Health) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = health;
    }

    /// How it is now.
    pub fn get(&self) -> Health {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// A pair of counters.
#[derive(Debug, Default)]
pub struct PortStats {
    /// What the user calls it.
    pub name: String,
    events: AtomicU64,
    bytes: AtomicU64,
    failed: AtomicU64,
    /// Bytes that were handed to it and have not been confirmed yet.
    held_bytes: AtomicU64,
    /// Events of them.
    held_events: AtomicU64,
    /// Attempts that failed and are made again.
    retries: AtomicU64,
    /// The writer's time in it, in nanoseconds: writing, or waiting for room in its queue.
    busy_ns: AtomicU64,
    /// Whether the last attempt failed. Beside the condition, which takes a lock.
    is_failing: AtomicBool,
    /// Times that it worked again after attempts had failed.
    reconnects: AtomicU64,
    /// Whether the user was told that attempts fail.
    is_told: AtomicBool,
    /// Whether its peer takes events.
    pub condition: Condition,
    /// What its requests wait for, where it sends some.
    pub pacing: Pacing,
}

/// The counters of a run.
pub struct Stats {
    started: Instant,
    /// By source.
    pub sources: boxcar::Vec<SourceStats>,
    /// By port.
    pub ports: boxcar::Vec<PortStats>,
    /// By sink.
    pub sinks: boxcar::Vec<PortStats>,
    errors: Mutex<Sums>,
    dropped: Mutex<Sums>,
    /// Memory of the process when it was looked at last, in bytes; 0 where nobody looks.
    memory_bytes: AtomicU64,
    /// How long sources were held up because of it, in nanoseconds.
    slowed_ns: AtomicU64,
}

/// Counts by what they count.
type Sums = BTreeMap<Cow<'static, str>, u64>;

/// Counts by what they count, in the order of the names.
pub type Reasons = Vec<(String, u64)>;

/// What was counted for one source, port or sink.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// What the user calls it.
    pub name: String,
    /// Events.
    pub events: u64,
    /// Bytes.
    pub bytes: u64,
    /// Events that could not be written.
    pub failed: u64,
    /// Attempts that failed and were made again.
    pub retries: u64,
}

/// All counts at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counts {
    /// Time since the start.
    pub elapsed: Duration,
    /// By source.
    pub sources: Vec<Row>,
    /// By port.
    pub ports: Vec<Row>,
    /// By sink.
    pub sinks: Vec<Row>,
    /// Errors by kind.
    pub errors: Vec<(String, u64)>,
    /// Events left out on purpose, by what left them out.
    pub dropped: Vec<(String, u64)>,
    /// Share of the input that has been read, where its size is known.
    pub share_read: Option<f64>,
    /// How long sources were held up for lack of memory.
    pub slowed: Duration,
    /// Entries of tables that gave way for lack of memory.
    pub given_up: u64,
}

impl Counts {
    /// Events received over all sources.
    pub fn events(&self) -> u64 {
        self.sources.iter().map(|row| row.events).sum()
    }

    /// Bytes received over all sources.
    pub fn bytes(&self) -> u64 {
        self.sources.iter().map(|row| row.bytes).sum()
    }

    /// Errors of all kinds.
    pub fn error_count(&self) -> u64 {
        self.errors.iter().map(|(_, count)| count).sum()
    }

    /// Events that could not be written.
    pub fn failed(&self) -> u64 {
        self.sinks.iter().map(|row| row.failed).sum()
    }
}

impl PortStats {
    /// A counter with a name.
    pub fn named(name: &str) -> Self {
        PortStats { name: name.to_string(), ..PortStats::default() }
    }

    /// Adds events that got where they should.
    pub fn add(&self, count: Count) {
        self.events.fetch_add(count.events, Ordering::Relaxed);
        self.bytes.fetch_add(count.bytes, Ordering::Relaxed);
    }

    /// Adds events that did not.
    pub fn add_failed(&self, events: u64) {
        self.failed.fetch_add(events, Ordering::Relaxed);
    }

    /// Events wait for it, or are on their way to its peer.
    pub fn hold(&self, held: Count) {
        self.held_events.fetch_add(held.events, Ordering::Relaxed);
        self.held_bytes.fetch_add(held.bytes, Ordering::Relaxed);
    }

    /// Events do so no more.
    pub fn let_go(&self, held: Count) {
        self.held_events.fetch_sub(held.events, Ordering::Relaxed);
        self.held_bytes.fetch_sub(held.bytes, Ordering::Relaxed);
    }

    /// What is held now.
    pub fn held(&self) -> Count {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Count { events: load(&self.held_events), bytes: load(&self.held_bytes) }
    }

    /// An attempt failed, for this reason, and is made again. Says whether it is the first that failed in a row.
    pub fn fail_attempt(&self, reason: &str) -> bool {
        self.retries.fetch_add(1, Ordering::Relaxed);
        let was_failing = self.is_failing.swap(true, Ordering::Relaxed);
        self.condition.set(Health::Failing(reason.to_string()));
        !was_failing
    }

    /// The peer has taken something. Says whether attempts had failed before.
    pub fn succeed(&self) -> bool {
        let is_back = self.is_failing.load(Ordering::Relaxed)
            && self.is_failing.swap(false, Ordering::Relaxed);
        if is_back {
            self.reconnects.fetch_add(1, Ordering::Relaxed);
            self.condition.set(Health::Working);
        }
        is_back
    }

    /// Notes whether the user was told that attempts fail; says what was noted before.
    pub(crate) fn tell(&self, is_told: bool) -> bool {
        self.is_told.swap(is_told, Ordering::Relaxed)
    }

    /// Times that it worked again after attempts had failed.
    pub fn reconnects(&self) -> u64 {
        self.reconnects.load(Ordering::Relaxed)
    }

    /// Attempts that failed and were made again.
    pub fn retries(&self) -> u64 {
        self.retries.load(Ordering::Relaxed)
    }

    /// Adds time that the writer spent with it.
    pub fn add_busy(&self, time: Duration) {
        let time_ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.busy_ns.fetch_add(time_ns, Ordering::Relaxed);
    }

    /// The time that the writer has spent with it.
    pub fn busy(&self) -> Duration {
        Duration::from_nanos(self.busy_ns.load(Ordering::Relaxed))
    }

    fn row(&self) -> Row {
        Row {
            name: self.name.clone(),
            events: self.events.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
            retries: self.retries(),
        }
    }
}

impl SourceStats {
    /// A counter with a name.
    pub fn named(name: &str) -> Self {
        SourceStats { name: name.to_string(), ..SourceStats::default() }
    }

    /// A part of its input failed, for this reason; the rest goes on.
    pub fn fail(&self, reason: &str) {
        self.is_failing.store(true, Ordering::Relaxed);
        self.condition.set(Health::Failing(reason.to_string()));
    }

    /// Something was read.
    pub fn succeed(&self) {
        if self.is_failing.load(Ordering::Relaxed) && self.is_failing.swap(false, Ordering::Relaxed)
        {
            self.reconnects.fetch_add(1, Ordering::Relaxed);
            self.condition.set(Health::Working);
        }
    }

    /// Times that it worked again after failures.
    pub fn reconnects(&self) -> u64 {
        self.reconnects.load(Ordering::Relaxed)
    }

    /// Errors of its events, by kind.
    pub fn errors(&self) -> Reasons {
        listed(&self.errors)
    }

    /// Its events that were left out on purpose, by reason.
    pub fn dropped(&self) -> Reasons {
        listed(&self.dropped)
    }

    fn row(&self) -> Row {
        Row {
            name: self.name.clone(),
            events: self.events.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
            failed: 0,
            retries: 0,
        }
    }
}

impl Stats {
    /// Counters for the given sources, ports and sinks.
    pub fn new(
        sources: Vec<SourceStats>,
        ports: Vec<PortStats>,
        sinks: Vec<PortStats>,
        started: Instant,
    ) -> Self {
        let (errors, dropped) = (Mutex::default(), Mutex::default());
        let (sources, ports, sinks) =
            (listed_once(sources), listed_once(ports), listed_once(sinks));
        let (memory_bytes, slowed_ns) = (AtomicU64::new(0), AtomicU64::new(0));
        Stats { started, sources, ports, sinks, errors, dropped, memory_bytes, slowed_ns }
    }

    /// Adds what a worker counted for one batch.
    pub fn add_outputs(&self, outputs: &Outputs) {
        if let Some(source) = outputs.source {
            let source = &self.sources[source];
            source.events.fetch_add(outputs.received, Ordering::Relaxed);
            add_all(&source.errors, &outputs.error_counts);
            add_all(&source.dropped, &outputs.dropped);
        }
        for ((_, stats), count) in self.ports.iter().zip(&outputs.ports) {
            stats.add(*count);
        }
        add_all(&self.errors, &outputs.error_counts);
        add_all(&self.dropped, &outputs.dropped);
    }

    /// Adds an error that no batch reported.
    pub fn add_error(&self, kind: &'static str) {
        self.add_errors(kind, 1);
    }

    /// Counts errors of one kind.
    pub fn add_errors(&self, kind: &'static str, count: u64) {
        let mut errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        *errors.entry(Cow::Borrowed(kind)).or_default() += count;
    }

    /// Counts events that were shed on purpose, by the reason.
    pub fn add_dropped(&self, reason: &'static str, events: u64) {
        let mut dropped = self.dropped.lock().unwrap_or_else(PoisonError::into_inner);
        *dropped.entry(Cow::Borrowed(reason)).or_default() += events;
    }

    /// Counts events that an output shed on purpose, by output and reason.
    pub fn add_shed(&self, output: &str, reason: &str, events: u64) {
        let mut dropped = self.dropped.lock().unwrap_or_else(PoisonError::into_inner);
        *dropped.entry(Cow::Owned(format!("{output}: {reason}"))).or_default() += events;
    }

    /// States the memory of the process, and for how long sources were held up because of it since then.
    pub fn note_memory(&self, bytes: u64, slowed: Duration) {
        let slowed_ns = u64::try_from(slowed.as_nanos()).unwrap_or(u64::MAX);
        self.memory_bytes.store(bytes, Ordering::Relaxed);
        self.slowed_ns.fetch_add(slowed_ns, Ordering::Relaxed);
    }

    /// Memory of the process when it was looked at last, in bytes.
    pub fn memory_bytes(&self) -> u64 {
        self.memory_bytes.load(Ordering::Relaxed)
    }

    /// All counts now.
    pub fn counts(&self) -> Counts {
        Counts {
            elapsed: self.started.elapsed(),
            sources: self.sources.iter().map(|(_, one)| one.row()).collect(),
            ports: self.ports.iter().map(|(_, one)| one.row()).collect(),
            sinks: self.sinks.iter().map(|(_, one)| one.row()).collect(),
            errors: listed(&self.errors),
            dropped: listed(&self.dropped),
            share_read: self.share_read(),
            slowed: Duration::from_nanos(self.slowed_ns.load(Ordering::Relaxed)),
            given_up: memory::given_up(),
        }
    }

    fn share_read(&self) -> Option<f64> {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let total: u64 = self.sources.iter().map(|(_, source)| load(&source.total_bytes)).sum();
        let read: u64 = self.sources.iter().map(|(_, source)| load(&source.raw_bytes)).sum();
        let known = self.sources.iter().all(|(_, source)| load(&source.total_bytes) > 0);
        known.then(|| (read as f64 / total as f64).min(1.0))
    }
}

/// A list that grows while others read it.
fn listed_once<T>(values: Vec<T>) -> boxcar::Vec<T> {
    values.into_iter().collect()
}

fn add_all(sums: &Mutex<Sums>, counts: &BTreeMap<&'static str, u64>) {
    if counts.is_empty() {
        return;
    }
    let mut sums = sums.lock().unwrap_or_else(PoisonError::into_inner);
    for (kind, count) in counts {
        *sums.entry(Cow::Borrowed(kind)).or_default() += count;
    }
}

fn listed(sums: &Mutex<Sums>) -> Reasons {
    let sums = sums.lock().unwrap_or_else(PoisonError::into_inner);
    sums.iter().map(|(kind, count)| (kind.to_string(), *count)).collect()
}
