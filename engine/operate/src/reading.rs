//! All that a run counts, read at one moment: what metrics, health and status are made of.
//!
//! Invariant: no two sources, sinks or steps of a reading have the same name.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::Duration;

use temblor_runtime::latency::Latency;
use temblor_runtime::overseer::View;
use temblor_runtime::pacing::Paced;
use temblor_runtime::queue::Fill;
use temblor_runtime::stats::{Counts, Health, Reasons, Row};

use crate::operations::{Operations, Reloads, StepSeen};

/// A source.
pub struct SourceSeen {
    /// Events and bytes, and its name.
    pub row: Row,
    /// Errors of its events, by kind.
    pub errors: Reasons,
    /// Its events that were left out on purpose, by reason.
    pub dropped: Reasons,
    /// How it is.
    pub health: Health,
    /// Times that it worked again after failures.
    pub reconnects: u64,
    /// How long it has waited for room in the queue.
    pub waited: Duration,
    /// How long its batches took until they were where they should be.
    pub latency: Latency,
    /// Batches under way.
    pub in_flight: u64,
    /// Bytes of its files that have not been read yet, where the size is known.
    pub lag_bytes: Option<u64>,
}

/// A sink.
pub struct SinkSeen {
    /// Events and bytes, and its name.
    pub row: Row,
    /// How it is.
    pub health: Health,
    /// Events that it holds, queued or on their way.
    pub held_events: u64,
    /// Bytes of these.
    pub held_bytes: u64,
    /// Attempts that failed and were made again.
    pub retries: u64,
    /// Times that it worked again after failures.
    pub reconnects: u64,
    /// The writer's time in it.
    pub busy: Duration,
    /// What its requests wait for, where it sends some.
    pub paced: Option<Paced>,
}

/// What is seen of a run at one moment.
pub struct Reading {
    /// The sources.
    pub sources: Vec<SourceSeen>,
    /// The steps of the program.
    pub steps: Vec<StepSeen>,
    /// The ports of the program.
    pub ports: Vec<Row>,
    /// The sinks.
    pub sinks: Vec<SinkSeen>,
    /// Errors by kind.
    pub errors: Reasons,
    /// Events left out on purpose, by reason.
    pub dropped: Reasons,
    /// The queue from the sources to the workers.
    pub queue: Fill,
    /// How long workers have waited for work, all together.
    pub idle: Duration,
    /// How many workers there are.
    pub workers: usize,
    /// How long the run goes on already.
    pub uptime: Duration,
    /// Memory of the process when it was looked at last, in bytes; 0 without a bound on it.
    pub memory_bytes: u64,
    /// How long sources were held up because of it.
    pub slowed: Duration,
    /// Entries of tables that gave way because of it.
    pub given_up: u64,
    /// Whether it has been asked to stop.
    pub draining: bool,
    /// How reloading has gone.
    pub reloads: Reloads,
}

impl Reading {
    /// What is seen now; nothing before the run has begun.
    #[must_use]
    pub fn of(operations: &dyn Operations) -> Option<Self> {
        let view = operations.view()?;
        let Counts { sources, ports, sinks, errors, dropped, elapsed, slowed, given_up, .. } =
            view.stats.counts();
        let sources = sources.into_iter().enumerate().map(|(at, row)| source(&view, at, row));
        let sinks = sinks.into_iter().enumerate().map(|(at, row)| sink(&view, at, row));
        let mut reading = Self {
            sources: sources.collect(),
            steps: operations.steps(),
            ports,
            sinks: sinks.collect(),
            errors,
            dropped,
            queue: view.queue.fill(),
            idle: view.queue.idle(),
            workers: view.workers,
            uptime: elapsed,
            memory_bytes: view.stats.memory_bytes(),
            slowed,
            given_up,
            draining: view.stop.is_asked(),
            reloads: operations.reloads(),
        };
        tell_apart(reading.sources.iter_mut().map(|one| &mut one.row.name));
        tell_apart(reading.steps.iter_mut().map(|one| &mut one.name));
        tell_apart(reading.ports.iter_mut().map(|one| &mut one.name));
        tell_apart(reading.sinks.iter_mut().map(|one| &mut one.row.name));
        Some(reading)
    }
}

fn source(view: &View, at: usize, row: Row) -> SourceSeen {
    let stats = &view.stats.sources[at];
    let (latency, in_flight) = view.ledger.latency(at);
    let total = stats.total_bytes.load(Ordering::Relaxed);
    let read = stats.raw_bytes.load(Ordering::Relaxed);
    SourceSeen {
        row,
        errors: stats.errors(),
        dropped: stats.dropped(),
        health: stats.condition.get(),
        reconnects: stats.reconnects(),
        waited: view.queue.waited(at),
        latency,
        in_flight,
        lag_bytes: (total > 0).then(|| total.saturating_sub(read)),
    }
}

fn sink(view: &View, at: usize, row: Row) -> SinkSeen {
    let stats = &view.stats.sinks[at];
    let held = stats.held();
    SinkSeen {
        row,
        health: stats.condition.get(),
        held_events: held.events,
        held_bytes: held.bytes,
        retries: stats.retries(),
        reconnects: stats.reconnects(),
        busy: stats.busy(),
        paced: stats.pacing.seen(),
    }
}

/// Names that come again get a number: `out`, `out#2`.
fn tell_apart<'n>(names: impl Iterator<Item = &'n mut String>) {
    let mut seen: BTreeMap<String, u64> = BTreeMap::new();
    for name in names {
        let times = seen.entry(name.clone()).or_default();
        *times += 1;
        if *times > 1 {
            name.push_str(&format!("#{times}"));
        }
    }
}
