//! What questions were answered with, for all workers. What nobody answered is remembered as well, so that
//! no event waits for it again while that holds.

use super::TimedOut;
use super::wire::{Answer, Question};
use chrono::{DateTime, Duration, Utc};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What was asked for ahead of its events is kept at least so long, in seconds.
const AHEAD_SECONDS_MIN: i64 = 10;
/// Answers that were asked for ahead are kept at least up to this number.
const AHEAD_MIN: usize = 10_000;

/// How many answers are kept, and for how long.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limit {
    pub size: usize,
    pub keep: Duration,
}

/// The answers so far.
#[derive(Debug)]
pub(super) struct Answers {
    /// Of questions that were answered.
    pub found: Limit,
    /// Of others.
    pub failed: Limit,
    /// Whether an event that finds a remembered failure is told of no time-out: in Logstash that holds for
    /// whoever sets a `failed_cache_size`.
    pub(crate) hides_failures: bool,
    by_question: Mutex<HashMap<Question, Remembered>>,
}

#[derive(Debug)]
struct Remembered {
    answer: Answer,
    /// Whether an event has been told.
    told: bool,
    until: DateTime<Utc>,
}

impl Answers {
    pub(super) fn new(found: Limit, failed: Limit, hides_failures: bool) -> Self {
        Self { found, failed, hides_failures, by_question: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Question, Remembered>> {
        self.by_question.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether nobody needs to be asked.
    pub(super) fn knows(&self, question: &Question, now: DateTime<Utc>) -> bool {
        self.lock().get(question).is_some_and(|known| known.until > now)
    }

    /// What is remembered, for one event.
    pub(super) fn tell(
        &self,
        question: &Question,
        now: DateTime<Utc>,
    ) -> Option<Result<Option<String>, TimedOut>> {
        let mut known = self.lock();
        let known = known.get_mut(question).filter(|known| known.until > now)?;
        let again = std::mem::replace(&mut known.told, true);
        Some(match &known.answer {
            Answer::Found(text) => Ok(Some(text.clone())),
            Answer::Silence if !(again && self.hides_failures) => Err(TimedOut),
            Answer::Nothing | Answer::Silence => Ok(None),
        })
    }

    /// Remembers answers that were asked for ahead of their events.
    pub(crate) fn keep_ahead(&self, asked: Vec<(Question, Answer)>, now: DateTime<Utc>) {
        let ahead = |limit: Limit| Limit {
            size: limit.size.max(AHEAD_MIN),
            keep: limit.keep.max(Duration::seconds(AHEAD_SECONDS_MIN)),
        };
        for (question, answer) in asked {
            self.put(question, answer, now, ahead, false);
        }
    }

    /// Remembers an answer that an event was told.
    pub(super) fn keep(&self, question: Question, answer: Answer, now: DateTime<Utc>) {
        self.put(question, answer, now, |limit| limit, true);
    }

    fn put(
        &self,
        question: Question,
        answer: Answer,
        now: DateTime<Utc>,
        adapt: impl Fn(Limit) -> Limit,
        told: bool,
    ) {
        let is_found = matches!(answer, Answer::Found(_));
        let Limit { size, keep } = adapt(if is_found { self.found } else { self.failed });
        if size == 0 {
            return;
        }
        let mut all = self.lock();
        if all.len() >= size {
            all.retain(|_, known| known.until > now);
        }
        if all.len() >= size {
            all.clear();
        }
        all.insert(question, Remembered { answer, told, until: now + keep });
    }
}
