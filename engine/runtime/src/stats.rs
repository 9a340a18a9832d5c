//! Counters of a run. Workers, sources and the writer add to them once per batch.
//!
//! Invariant: what is received ends in some count: written, dropped, failed or an error.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::outputs::{Count, Outputs};

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
}

/// A pair of counters.
#[derive(Debug, Default)]
pub struct PortStats {
    /// What the user calls it.
    pub name: String,
    events: AtomicU64,
    bytes: AtomicU64,
    failed: AtomicU64,
}

/// The counters of a run.
pub struct Stats {
    started: Instant,
    /// By source.
    pub sources: Vec<SourceStats>,
    /// By port.
    pub ports: Vec<PortStats>,
    /// By sink.
    pub sinks: Vec<PortStats>,
    errors: Mutex<Sums>,
    dropped: Mutex<Sums>,
}

/// Counts by what they count.
type Sums = BTreeMap<Cow<'static, str>, u64>;

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

    fn row(&self) -> Row {
        Row {
            name: self.name.clone(),
            events: self.events.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
        }
    }
}

impl SourceStats {
    /// A counter with a name.
    pub fn named(name: &str) -> Self {
        SourceStats { name: name.to_string(), ..SourceStats::default() }
    }

    fn row(&self) -> Row {
        Row {
            name: self.name.clone(),
            events: self.events.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
            failed: 0,
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
        Stats { started, sources, ports, sinks, errors, dropped }
    }

    /// Adds what a worker counted for one batch.
    pub fn add_outputs(&self, outputs: &Outputs) {
        if let Some(source) = outputs.source {
            self.sources[source].events.fetch_add(outputs.received, Ordering::Relaxed);
        }
        for (stats, count) in self.ports.iter().zip(&outputs.ports) {
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

    /// All counts now.
    pub fn counts(&self) -> Counts {
        Counts {
            elapsed: self.started.elapsed(),
            sources: self.sources.iter().map(SourceStats::row).collect(),
            ports: self.ports.iter().map(PortStats::row).collect(),
            sinks: self.sinks.iter().map(PortStats::row).collect(),
            errors: listed(&self.errors),
            dropped: listed(&self.dropped),
            share_read: self.share_read(),
        }
    }

    fn share_read(&self) -> Option<f64> {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let total: u64 = self.sources.iter().map(|source| load(&source.total_bytes)).sum();
        let read: u64 = self.sources.iter().map(|source| load(&source.raw_bytes)).sum();
        let known = self.sources.iter().all(|source| load(&source.total_bytes) > 0);
        known.then(|| (read as f64 / total as f64).min(1.0))
    }
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

fn listed(sums: &Mutex<Sums>) -> Vec<(String, u64)> {
    let sums = sums.lock().unwrap_or_else(PoisonError::into_inner);
    sums.iter().map(|(kind, count)| (kind.to_string(), *count)).collect()
}
