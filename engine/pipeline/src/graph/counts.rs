//! What is counted at each step: events, failures and what was left out. Each worker counts for itself and adds
//! that to the counts of all behind each batch, so that an event costs no atomic operation.

use super::{Graph, States, Step};
use crate::operator::Usage;
use std::sync::atomic::{AtomicU64, Ordering};

/// What one worker has counted at a node since it was added to the counts of all.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    events: u64,
    failed: u64,
    dropped: u64,
}

impl Tally {
    /// Counts an event, and what became of it.
    #[inline]
    pub(super) fn add(&mut self, has_failed: bool, (failed, dropped): (u64, u64)) {
        self.events += 1;
        self.failed += u64::from(has_failed) + failed;
        self.dropped += dropped;
    }
}

/// What all workers have counted at a node.
#[derive(Debug, Default)]
pub(super) struct Counts {
    events: AtomicU64,
    failed: AtomicU64,
    dropped: AtomicU64,
}

/// How a step has done so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepCounts {
    /// Its name.
    pub name: String,
    /// Events that came to it.
    pub events: u64,
    /// Events that failed in it.
    pub failed: u64,
    /// Events that it left out on purpose.
    pub dropped: u64,
    /// What it keeps, where it is a step that knows.
    pub usage: Option<Usage>,
}

impl Graph {
    /// Adds what a worker has counted to the counts of all.
    pub fn absorb(&self, states: &mut States) {
        for (node, tally) in self.nodes.iter().zip(&mut states.1) {
            if tally.events > 0 {
                let Tally { events, failed, dropped } = std::mem::take(tally);
                node.counts.events.fetch_add(events, Ordering::Relaxed);
                node.counts.failed.fetch_add(failed, Ordering::Relaxed);
                node.counts.dropped.fetch_add(dropped, Ordering::Relaxed);
            }
        }
    }

    /// What was counted at each operator, script and select, and what each keeps.
    #[must_use]
    pub fn step_counts(&self, states: &States) -> Vec<StepCounts> {
        let steps = self.nodes.iter().zip(&states.0).filter_map(|(node, state)| {
            let Step::Operator(operator) = &node.step else { return None };
            let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
            Some(StepCounts {
                name: node.name.clone(),
                events: load(&node.counts.events),
                failed: load(&node.counts.failed),
                dropped: load(&node.counts.dropped),
                usage: operator.usage(state.as_ref()),
            })
        });
        steps.collect()
    }
}
