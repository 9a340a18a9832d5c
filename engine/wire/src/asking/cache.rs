//! Answers that are kept for a while, up to a number of them.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

/// Answers by question. The oldest goes first when there are too many.
#[derive(Debug)]
pub(super) struct Cache {
    size_max: usize,
    answers: HashMap<Arc<str>, Kept>,
    /// Questions in the order in which their answers came, each with the number of its answer.
    order: VecDeque<(Arc<str>, u64)>,
    number: u64,
}

#[derive(Debug)]
struct Kept {
    answer: Option<Arc<str>>,
    until: Instant,
    number: u64,
}

impl Cache {
    /// Nothing yet.
    #[must_use]
    pub(super) fn new(size_max: usize) -> Self {
        Self { size_max, answers: HashMap::new(), order: VecDeque::new(), number: 0 }
    }

    /// The answer that is kept: `Some(None)` says that there is none.
    #[must_use]
    pub(super) fn get(&self, question: &str, now: Instant) -> Option<Option<Arc<str>>> {
        let kept = self.answers.get(question).filter(|kept| kept.until > now)?;
        Some(kept.answer.clone())
    }

    /// Keeps an answer.
    pub(super) fn put(
        &mut self,
        question: Arc<str>,
        answer: Option<Arc<str>>,
        holds: Duration,
        now: Instant,
    ) {
        if self.size_max == 0 || holds.is_zero() {
            return;
        }
        self.number += 1;
        let Some(until) = now.checked_add(holds) else { return };
        let kept = Kept { answer, until, number: self.number };
        self.order.push_back((Arc::clone(&question), kept.number));
        self.answers.insert(question, kept);
        // Answers that were replaced leave their old places behind.
        while self.answers.len() > self.size_max || self.order.len() > 2 * self.size_max + 1 {
            let Some((oldest, number)) = self.order.pop_front() else { break };
            if self.answers.get(&oldest).is_some_and(|kept| kept.number == number) {
                self.answers.remove(&oldest);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_kept_for_a_while_and_up_to_a_number() {
        let now = Instant::now();
        let (mut cache, minute) = (Cache::new(2), Duration::from_secs(60));
        for name in ["a", "b", "c"] {
            cache.put(name.into(), Some(name.into()), minute, now);
        }
        assert_eq!((cache.answers.len(), cache.get("a", now)), (2, None));
        assert_eq!(cache.get("c", now), Some(Some("c".into())));
        assert_eq!(cache.get("c", now + minute), None);
        cache.put("b".into(), None, minute, now);
        assert_eq!(cache.get("b", now), Some(None));
    }

    #[test]
    fn answers_that_are_replaced_take_no_room_for_ever() {
        let now = Instant::now();
        let mut cache = Cache::new(3);
        for _ in 0..1000 {
            cache.put("a".into(), None, Duration::from_secs(9), now);
        }
        assert!(cache.order.len() <= 7, "{}", cache.order.len());
        assert_eq!(cache.get("a", now), Some(None));
        let mut none = Cache::new(0);
        none.put("a".into(), None, Duration::from_secs(9), now);
        assert_eq!(none.get("a", now), None);
    }
}
