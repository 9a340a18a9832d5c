//! A new program in the place of the old one, between two batches.
//!
//! Invariant: either all workers go on with the new program, or all with the old one; while one is exchanged
//! for the other, no worker works.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::error::Error;
use crate::outputs::Outputs;
use crate::processor::Processor;
use crate::queue::Queue;

/// Time between two looks at whether the run was aborted meanwhile.
const PATIENCE: Duration = Duration::from_millis(50);

/// Takes what the old program remembers into the new one. Gets the old program, to put out what nobody takes.
pub type HandOver = Box<dyn FnOnce(&mut dyn Processor, &mut Outputs) -> Result<(), Error> + Send>;

/// The place where the workers meet.
pub struct Exchange {
    workers: usize,
    state: Mutex<State>,
    /// Signalled when a worker has come, and when it is decided.
    moved: Condvar,
}

struct State {
    came: usize,
    phase: Phase,
    processors: Vec<Box<dyn Processor>>,
    hand_over: Option<HandOver>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Workers are still at work.
    Gathering,
    /// All have come; one of them hands over.
    Meeting,
    /// The new program holds.
    Done,
    /// The old program goes on.
    Withdrawn,
}

impl Exchange {
    /// An exchange for as many workers as there are processors.
    #[must_use]
    pub fn new(processors: Vec<Box<dyn Processor>>, hand_over: HandOver) -> Arc<Self> {
        let hand_over = Some(hand_over);
        let state = State { came: 0, phase: Phase::Gathering, processors, hand_over };
        let workers = state.processors.len();
        Arc::new(Self { workers, state: Mutex::new(state), moved: Condvar::new() })
    }

    /// A worker has come: waits for the others, and gives it the new program in the place of its old one. The
    /// last one to come hands over.
    ///
    /// # Errors
    /// What the old program had to put out failed, and ends the run.
    pub fn meet(
        &self,
        processor: &mut Box<dyn Processor>,
        queue: &Queue,
        outputs: &mut Outputs,
    ) -> Result<(), Error> {
        let mut state = self.lock();
        state.came += 1;
        let mut result = Ok(());
        if state.came == self.workers && state.phase == Phase::Gathering {
            state.phase = Phase::Meeting;
            let hand_over = state.hand_over.take();
            // The others wait for the phase, not for this lock: a panic in here must not hold them.
            drop(state);
            let guard = Decided(self);
            if let Some(hand_over) = hand_over {
                result = hand_over(processor.as_mut(), outputs);
            }
            drop(guard);
            state = self.lock();
        }
        while matches!(state.phase, Phase::Gathering | Phase::Meeting) {
            let waited = self.moved.wait_timeout(state, PATIENCE);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            if state.phase == Phase::Gathering && queue.is_aborted() {
                state.phase = Phase::Withdrawn;
            }
        }
        if state.phase == Phase::Done
            && let Some(new) = state.processors.pop()
        {
            *processor = new;
        }
        self.moved.notify_all();
        result
    }

    /// Waits until the new program holds, or for that long: then the old one goes on, and this is `false`.
    pub fn wait(&self, limit: Duration) -> bool {
        let end = Instant::now() + limit;
        let mut state = self.lock();
        loop {
            match state.phase {
                Phase::Done => return true,
                Phase::Withdrawn => return false,
                Phase::Gathering if Instant::now() >= end => {
                    state.phase = Phase::Withdrawn;
                    self.moved.notify_all();
                    return false;
                }
                Phase::Gathering | Phase::Meeting => {}
            }
            let waited = self.moved.wait_timeout(state, PATIENCE);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// States that the exchange is done, whatever became of the handing over.
struct Decided<'a>(&'a Exchange);

impl Drop for Decided<'_> {
    fn drop(&mut self) {
        self.0.lock().phase = Phase::Done;
        self.0.moved.notify_all();
    }
}
