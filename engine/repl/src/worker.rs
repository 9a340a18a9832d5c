//! A session on a thread of its own. Most evaluations end when they are asked to; a builtin at work on
//! much data cannot be asked. Then the prompt leaves the thread alone and goes on with a session that
//! knows what the old one knew before.

use super::{Reply, Session, Spare};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use temblor_lang::budget::Budget;

/// How long an evaluation may go on that was asked to stop.
const GRACE: Duration = Duration::from_secs(1);
/// How often is looked whether it was asked.
const LOOK: Duration = Duration::from_millis(20);
/// The stack of the thread: programs may nest deep.
const STACK_BYTES: usize = 64 << 20;

/// What a session is asked to do.
#[derive(Debug)]
pub(crate) enum Request {
    /// Takes an entry; the terminal has so many columns, if that is known.
    Enter(String, Option<usize>),
    /// Loads the watched file again if it was saved.
    Look,
    /// Forgets lines that are being pasted.
    GiveUp,
}

/// What the prompt shows of a session.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sight {
    /// What can be completed to.
    pub(crate) vocabulary: Vec<String>,
    /// The number of the current sample.
    pub number: usize,
    /// Whether lines are being pasted.
    pub(crate) pastes: bool,
    /// The file that is watched.
    pub watched: Option<PathBuf>,
}

#[derive(Debug)]
struct Answer {
    reply: Reply,
    sight: Sight,
    spare: Spare,
}

/// The budget of the session that answers now: Ctrl-C ends what runs by it.
pub(crate) type Interrupted = Arc<Mutex<Arc<Budget>>>;

/// The session that answers now.
#[derive(Debug)]
pub(crate) struct Worker {
    requests: Sender<Request>,
    answers: Receiver<Answer>,
    budget: Arc<Budget>,
    interrupted: Interrupted,
    /// To go on from, should the thread not come back.
    spare: Spare,
    /// As it was when the session answered last.
    pub(crate) sight: Sight,
}

impl Worker {
    /// Gives a session a thread.
    ///
    /// # Errors
    /// When there is no thread to be had.
    pub(crate) fn start(mut session: Session) -> std::io::Result<Self> {
        let (sight, spare) = (session.sight(), session.spare());
        let interrupted = Arc::new(Mutex::new(session.budget()));
        let budget = session.budget();
        let (requests, answers) = spawn(move || session)?;
        Ok(Self { requests, answers, budget, interrupted, spare, sight })
    }

    /// What Ctrl-C tells to end.
    pub(crate) fn interrupted(&self) -> Interrupted {
        self.interrupted.clone()
    }

    /// Asks the session, and waits for its answer; but not for ever once it was told to stop.
    pub(crate) fn ask(&mut self, request: Request) -> Reply {
        // An editor that was started decides by itself what Ctrl-C means.
        let patient =
            matches!(&request, Request::Enter(entry, _) if entry.trim_start().starts_with(":edit"));
        let mut deadline = None;
        if self.requests.send(request).is_err() {
            return self.begin_anew(BROKEN);
        }
        loop {
            match self.answers.recv_timeout(LOOK) {
                Ok(Answer { reply, sight, spare }) => {
                    (self.sight, self.spare) = (sight, spare);
                    return reply;
                }
                Err(RecvTimeoutError::Disconnected) => return self.begin_anew(BROKEN),
                Err(RecvTimeoutError::Timeout) if self.budget.is_interrupted() && !patient => {
                    let deadline = deadline.get_or_insert_with(|| Instant::now() + GRACE);
                    if Instant::now() >= *deadline {
                        return self.begin_anew(ABANDONED);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Goes on with what was known before the last request.
    fn begin_anew(&mut self, why: &str) -> Reply {
        let (spare, budget) = (self.spare.clone(), Arc::new(Budget::default()));
        let of_session = budget.clone();
        match spawn(move || Session::revived(spare, of_session)) {
            Ok((requests, answers)) => {
                (self.requests, self.answers) = (requests, answers);
                self.budget = budget.clone();
                *self.interrupted.lock().unwrap_or_else(PoisonError::into_inner) = budget;
                Reply { text: why.to_string(), ends: false, failed: true }
            }
            Err(error) => {
                Reply { text: format!("error: no thread: {error}\n"), ends: true, failed: true }
            }
        }
    }
}

const ABANDONED: &str = "interrupted, but a function is at work that cannot be stopped: it is left to \
                         itself and takes a core until it ends; steps have forgotten what they remembered\n";
const BROKEN: &str = "error: that entry met a bug of temblor; all that was entered before is still there, but \
                      steps have forgotten what they remembered\n";

/// A thread that answers requests until nobody can ask any more.
fn spawn(
    session: impl FnOnce() -> Session + Send + 'static,
) -> std::io::Result<(Sender<Request>, Receiver<Answer>)> {
    let (requests, to_do) = channel();
    let (done, answers) = channel();
    let work = move || {
        let mut session = session();
        for request in to_do {
            let reply = session.answer(request);
            let (sight, spare) = (session.sight(), session.spare());
            if done.send(Answer { reply, sight, spare }).is_err() {
                return;
            }
        }
    };
    let named = std::thread::Builder::new().name("session".to_string());
    named.stack_size(STACK_BYTES).spawn(work)?;
    Ok((requests, answers))
}

impl Session {
    fn answer(&mut self, request: Request) -> Reply {
        match request {
            Request::Enter(entry, columns) => {
                columns.into_iter().for_each(|columns| self.set_width(columns));
                self.enter(&entry)
            }
            Request::Look => {
                let text = self.look_at_watched().unwrap_or_default();
                Reply { text, ends: false, failed: false }
            }
            Request::GiveUp => {
                self.pasted = None;
                Reply { text: String::new(), ends: false, failed: false }
            }
        }
    }

    fn sight(&mut self) -> Sight {
        Sight {
            vocabulary: self.vocabulary(),
            number: self.samples.number(),
            pastes: self.pasted.is_some(),
            watched: self.watched().map(std::path::Path::to_path_buf),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use temblor_lang::diagnostic::Colour;

    fn ask(worker: &mut Worker, entry: &str) -> Reply {
        worker.ask(Request::Enter(entry.to_string(), None))
    }

    fn worker() -> Worker {
        let mut session = Session::new(Vec::new(), Colour::Off);
        session.enter(":sample {\"a\": 1}");
        session.enter(":mode json");
        Worker::start(session).expect("there is a thread")
    }

    #[test]
    fn what_is_left_alone_takes_nothing_along() {
        let mut worker = worker();
        ask(&mut worker, "let x = event.a + 1");
        ask(&mut worker, "where event.a > 0 |> set event.b = 2");
        // As if the next entry never ended: nobody answers.
        let (requests, _unheard) = channel();
        let (_silent, answers) = channel();
        (worker.requests, worker.answers) = (requests, answers);
        worker.budget.interrupt();
        let reply = ask(&mut worker, "x");
        assert!(reply.failed && reply.text.contains("cannot be stopped"), "{}", reply.text);
        assert_eq!(ask(&mut worker, "x + event.a").text, "3\n");
        assert_eq!(ask(&mut worker, ":send").text, "out: {\"a\":1,\"b\":2}\n");
        assert_eq!(worker.sight.number, 1);
    }

    #[test]
    fn a_thread_that_is_gone_is_replaced() {
        let mut worker = worker();
        let (requests, unheard) = channel();
        drop(unheard);
        worker.requests = requests;
        assert!(ask(&mut worker, "1").text.contains("met a bug"));
        assert_eq!(ask(&mut worker, "event.a").text, "1\n");
        assert!(ask(&mut worker, ":quit").ends);
    }
}
