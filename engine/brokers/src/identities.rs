//! Identities of messages whose program gives them none.
//!
//! Invariant: a message that is sent again after a failure keeps its identity, so that readers, and brokers, can
//! tell it from an equal one.

use temblor_wire::retry;

/// Gives identities out.
#[derive(Debug)]
pub struct Identities {
    /// Differs from process to process.
    run: u64,
    next: u64,
}

impl Identities {
    /// None have been given out.
    #[must_use]
    pub fn new() -> Self {
        Self { run: retry::chance().to_bits(), next: 0 }
    }

    /// Reserves identities for so many events; gives the first.
    pub fn take(&mut self, count: usize) -> u64 {
        let first = self.next;
        self.next += count as u64;
        first
    }

    /// The text of an identity.
    #[must_use]
    pub fn name(&self, number: u64) -> String {
        format!("{:016x}-{number:x}", self.run)
    }
}

impl Default for Identities {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identities_differ_within_a_run_and_between_runs() {
        let (mut one, other) = (Identities::new(), Identities::new());
        assert_eq!((one.take(3), one.take(1)), (0, 3));
        assert_ne!(one.name(0), one.name(1));
        assert_ne!(one.name(0), other.name(0));
    }
}
