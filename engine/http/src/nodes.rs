//! Several servers that stand for one: requests go round, and around those that do not answer.
//!
//! Invariant: a server that failed is left alone for a while that grows; when all have failed, the one whose
//! time is over first is asked.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::target::Target;

/// How long a server is left alone after its first failure.
const REST_FIRST: Duration = Duration::from_millis(500);
/// How long it is left alone at the most.
const REST_MAX: Duration = Duration::from_secs(60);

/// The servers.
#[derive(Debug)]
pub(crate) struct Nodes {
    nodes: Vec<Node>,
    next: AtomicUsize,
}

#[derive(Debug)]
struct Node {
    target: Target,
    health: Mutex<Health>,
}

/// How a server is.
#[derive(Clone, Copy, Debug, Default)]
struct Health {
    /// Failures in a row.
    failures: u32,
    /// It is left alone until then.
    rests_until: Option<Instant>,
}

impl Nodes {
    /// All of them are well.
    #[must_use]
    pub(crate) fn new(targets: impl IntoIterator<Item = Target>) -> Self {
        let node = |target| Node { target, health: Mutex::default() };
        Self { nodes: targets.into_iter().map(node).collect(), next: AtomicUsize::new(0) }
    }

    /// The next to ask, and whether all are resting.
    #[must_use]
    pub(crate) fn choose(&self, now: Instant) -> (usize, bool) {
        let start = self.next.fetch_add(1, Ordering::Relaxed);
        let order = (0..self.nodes.len()).map(|step| (start + step) % self.nodes.len());
        let rests = |node: usize| self.health(node).rests_until.filter(|until| *until > now);
        let well = order.clone().find(|node| rests(*node).is_none());
        match well {
            Some(node) => (node, false),
            None => (order.min_by_key(|node| rests(*node)).expect("there is a node"), true),
        }
    }

    /// A server.
    #[must_use]
    pub(crate) fn target(&self, node: usize) -> &Target {
        &self.nodes[node].target
    }

    /// A server has answered.
    pub(crate) fn succeeded(&self, node: usize) {
        *self.lock(node) = Health::default();
    }

    /// A server has not answered, or cannot serve. Says whether another is well.
    pub(crate) fn failed(&self, node: usize, now: Instant) -> bool {
        {
            let mut health = self.lock(node);
            let rest = REST_FIRST.saturating_mul(1 << health.failures.min(10)).min(REST_MAX);
            *health = Health { failures: health.failures + 1, rests_until: Some(now + rest) };
        }
        (0..self.nodes.len())
            .any(|node| self.health(node).rests_until.is_none_or(|until| until <= now))
    }

    fn health(&self, node: usize) -> Health {
        *self.lock(node)
    }

    fn lock(&self, node: usize) -> std::sync::MutexGuard<'_, Health> {
        self.nodes[node].health.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_go_round_and_around_what_has_failed() {
        let target = |text| Target::parse(text, None, "address").unwrap();
        let nodes = Nodes::new([target("http://a"), target("http://b")]);
        let now = Instant::now();
        let chosen: Vec<_> = (0..4).map(|_| nodes.choose(now)).collect();
        assert_eq!(chosen, [(0, false), (1, false), (0, false), (1, false)]);
        assert!(nodes.failed(0, now));
        assert_eq!((nodes.choose(now), nodes.choose(now)), ((1, false), (1, false)));
        assert!(!nodes.failed(1, now + Duration::from_millis(100)));
        let later = now + Duration::from_millis(200);
        assert_eq!((nodes.choose(later), nodes.choose(later)), ((0, true), (0, true)));
        let rested = now + REST_FIRST;
        assert_eq!(nodes.choose(rested), (0, false));
        nodes.succeeded(1);
        assert!((0..4).map(|_| nodes.choose(later)).all(|chosen| chosen == (1, false)));
    }
}
