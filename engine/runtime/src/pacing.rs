//! What the requests of a sink wait for, as others see it: how many may be under way, and peers that are down.
//!
//! Invariant: these are counts of what the sink decides; nothing is decided here.

use std::sync::atomic::{AtomicU64, Ordering};

/// What the requests of a sink wait for: how many may be under way, and peers that are down.
#[derive(Debug, Default)]
pub struct Pacing {
    /// Requests that may be under way now; 0 for a sink that sends none.
    limit: AtomicU64,
    under_way: AtomicU64,
    /// Peers whose circuit is open.
    open: AtomicU64,
    /// Trials under way.
    trying: AtomicU64,
    /// Times that a circuit has opened.
    opened: AtomicU64,
}

/// The same at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paced {
    /// Requests that may be under way.
    pub limit: u64,
    /// Requests under way.
    pub under_way: u64,
    /// Peers that get nothing but trials.
    pub open: u64,
    /// Trials under way.
    pub trying: u64,
    /// Times that a circuit has opened.
    pub opened: u64,
}

impl Pacing {
    /// So many requests may be under way from now on.
    pub fn limit(&self, requests: usize) {
        self.limit.store(requests as u64, Ordering::Relaxed);
    }

    /// A request has begun, or ended.
    pub fn under_way(&self, begins: bool) {
        match begins {
            true => self.under_way.fetch_add(1, Ordering::Relaxed),
            false => self.under_way.fetch_sub(1, Ordering::Relaxed),
        };
    }

    /// A trial has begun, or ended.
    pub fn trying(&self, begins: bool) {
        match begins {
            true => self.trying.fetch_add(1, Ordering::Relaxed),
            false => self.trying.fetch_sub(1, Ordering::Relaxed),
        };
    }

    /// The circuit of a peer has opened.
    pub fn opened(&self) {
        self.open.fetch_add(1, Ordering::Relaxed);
        self.opened.fetch_add(1, Ordering::Relaxed);
    }

    /// It has closed.
    pub fn closed(&self) {
        self.open.fetch_sub(1, Ordering::Relaxed);
    }

    /// What is seen now; nothing for a sink that sends no requests.
    #[must_use]
    pub fn seen(&self) -> Option<Paced> {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let limit = load(&self.limit);
        (limit > 0).then(|| Paced {
            limit,
            under_way: load(&self.under_way),
            open: load(&self.open),
            trying: load(&self.trying),
            opened: load(&self.opened),
        })
    }
}
