//! Requests that wait for an answer of the program: who waits, and the way from the answer to them.
//!
//! Invariant: a request gets one answer; one that has ended, for whatever reason, is no longer known here.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use tokio::sync::oneshot;

/// What a program answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Answer {
    /// The status, if the program says one.
    pub status: Option<u16>,
    /// Headers.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

/// A request that waits.
struct Waiting {
    /// The source that it came in by.
    source: Arc<str>,
    sender: oneshot::Sender<Answer>,
}

static WAITING: LazyLock<Mutex<HashMap<u64, Waiting>>> = LazyLock::new(Mutex::default);
/// The number of the next request of this process.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// A place among those who wait; given up when it is dropped.
#[derive(Debug)]
pub(crate) struct Ticket {
    /// The number of the request: `request_id` in its metadata.
    pub id: u64,
    /// Where the answer comes.
    pub answer: oneshot::Receiver<Answer>,
}

/// The number of a request that nobody answers.
pub(crate) fn next_id() -> u64 {
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// A request of `source` waits for its answer.
pub(crate) fn wait(source: &Arc<str>) -> Ticket {
    let id = next_id();
    let (sender, answer) = oneshot::channel();
    lock().insert(id, Waiting { source: Arc::clone(source), sender });
    Ticket { id, answer }
}

/// Answers a request of `source`.
///
/// # Errors
/// Why there is nobody to answer, as a sentence.
pub(crate) fn answer(source: &str, id: &str, answer: Answer) -> Result<(), String> {
    let number: u64 = id.parse().map_err(|_| format!("`{id}` is no number of a request"))?;
    let waiting = {
        let mut all = lock();
        match all.get(&number) {
            Some(waiting) if *waiting.source == *source => all.remove(&number),
            Some(waiting) => {
                return Err(format!(
                    "request {id} came by `{}`, not by `{source}`",
                    waiting.source
                ));
            }
            None => None,
        }
    };
    let gone = || {
        format!(
            "no request {id} waits at `{source}`: it was answered before, or its time was over, or its \
             client has gone"
        )
    };
    waiting.ok_or_else(gone)?.sender.send(answer).map_err(|_| gone())
}

impl Drop for Ticket {
    fn drop(&mut self) {
        lock().remove(&self.id);
    }
}

fn lock() -> std::sync::MutexGuard<'static, HashMap<u64, Waiting>> {
    WAITING.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_answered_once_by_its_own_source() {
        let source: Arc<str> = Arc::from("in");
        let mut ticket = wait(&source);
        let id = ticket.id.to_string();
        let other = answer("else", &id, Answer::default()).unwrap_err();
        assert_eq!(other, format!("request {id} came by `in`, not by `else`"));
        let wanted = Answer { status: Some(201), ..Answer::default() };
        assert_eq!(answer("in", &id, Answer { status: Some(201), ..Answer::default() }), Ok(()));
        assert_eq!(ticket.answer.try_recv(), Ok(wanted));
        assert!(answer("in", &id, Answer::default()).unwrap_err().contains("answered before"));
        let gone = wait(&source).id.to_string();
        assert!(answer("in", &gone, Answer::default()).is_err());
        assert!(answer("in", "x", Answer::default()).is_err());
    }
}
