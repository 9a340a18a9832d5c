//! How the batches fared that an operator let through: late, badly or well. Answers come from the
//! writer's thread at any time and are looked at when the operator's turn comes.
//!
//! Invariant: a batch is asked about once, however many of its events pass.

use crate::operator::Surroundings;
use std::sync::{Arc, Mutex, PoisonError};
use temblor_runtime::ack::{SourceId, Watcher};

/// Answers that have come and not been looked at, at the most; later ones are left out.
const ANSWERS_MAX: usize = 4096;

/// Whether each answer is a good one, in the order in which they came.
#[derive(Debug)]
struct Inbox {
    timeout_ns: u64,
    answers: Mutex<Vec<bool>>,
}

impl Watcher for Inbox {
    fn answered(&self, took_ns: u64, acknowledged: bool) {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        if answers.len() < ANSWERS_MAX {
            answers.push(acknowledged && took_ns <= self.timeout_ns);
        }
    }
}

/// The answers that one operator waits for.
#[derive(Debug)]
pub(super) struct Answers {
    inbox: Arc<Inbox>,
    /// The batch that was asked about last.
    asked: Option<(SourceId, u64)>,
}

impl Answers {
    /// Answers that take longer than this are bad.
    #[must_use]
    pub(super) fn within(timeout_ns: u64) -> Self {
        let inbox = Arc::new(Inbox { timeout_ns, answers: Mutex::default() });
        Self { inbox, asked: None }
    }

    /// Asks how the batch of the event that passes now will fare.
    pub(super) fn ask(&mut self, around: &Surroundings<'_>) {
        let Some(token) = around.token else { return };
        let batch = Some(token.identity());
        if self.asked != batch {
            self.asked = batch;
            token.watch(self.inbox.clone());
        }
    }

    /// Takes the answers that have come: whether each is good.
    pub(super) fn take(&mut self) -> Vec<bool> {
        std::mem::take(&mut *self.inbox.answers.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// For tests: an answer has come.
    #[cfg(test)]
    pub(super) fn answer(&self, took_ns: u64, acknowledged: bool) {
        self.inbox.answered(took_ns, acknowledged);
    }
}
