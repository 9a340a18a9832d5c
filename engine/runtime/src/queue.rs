//! The queue from the sources to the workers, bounded by bytes and by count.
//!
//! Invariant: work leaves the queue with consecutive numbers, and a source that finds no room waits:
//! back-pressure is the absence of room.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use crate::ack::SourceId;
use crate::batch::Batch;
use crate::clock::Timestamp;
use crate::exchange::Exchange;

/// What a worker does next. The number gives the order in which results leave.
pub enum Work {
    /// Process a batch.
    Batch(u64, Box<Batch>),
    /// Let timers run.
    Tick(u64, Timestamp),
    /// Say what is remembered.
    Snapshot(u64),
    /// Meet the other workers, and go on with another program; each worker gets this once.
    Exchange(u64, Arc<Exchange>),
    /// The input has ended; each worker gets this once.
    End(u64),
}

/// The run stops; nothing is taken any more.
#[derive(Debug, PartialEq, Eq)]
pub struct Closed;

/// How much a queue holds.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Memory of what waits, in bytes.
    pub bytes_max: usize,
    /// Number of things that wait.
    pub count_max: usize,
}

/// The queue.
pub struct Queue {
    state: Mutex<State>,
    bounds: Bounds,
    /// Signalled when there is work, or the end.
    work: Condvar,
    /// Signalled when there is room again, for threads.
    room: Condvar,
    /// The same, for tasks.
    room_for_tasks: Notify,
}

#[derive(Default)]
struct State {
    batches: VecDeque<Box<Batch>>,
    bytes: usize,
    next_number: u64,
    /// A tick that no worker has taken yet; a later one replaces it.
    tick: Option<Timestamp>,
    /// A saved state is wanted, and no worker has taken that up yet.
    snapshot: bool,
    /// Sources that may still send.
    senders: usize,
    /// Those of them that only follow what others send.
    followers: usize,
    /// The end waits for [`Queue::release_end`].
    holds_end: bool,
    /// Nobody sends or receives any more.
    aborted: bool,
    /// Batches that were put, and taken, since the start.
    put: u64,
    taken: u64,
    /// Memory is short: one batch at a time.
    narrow: bool,
    /// Another program is to be taken up.
    exchange: Option<Pending>,
    /// A worker has been told of the end.
    ended: bool,
    /// How long senders have waited for room, by source.
    waited: BTreeMap<SourceId, Duration>,
    /// How long workers have waited for work, all together.
    idle: Duration,
}

/// An exchange that not all workers know of yet.
struct Pending {
    exchange: Arc<Exchange>,
    /// Batches that are taken first.
    after: u64,
    /// Workers that are still to be told.
    workers: usize,
    /// Some have been told.
    begun: bool,
}

/// What waits in the queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fill {
    /// Batches.
    pub batches: usize,
    /// Memory that they hold.
    pub bytes: usize,
    /// How much that may be.
    pub bytes_max: usize,
}

impl Queue {
    /// A queue that the given number of senders will use; it ends when all have [left](Self::leave).
    pub fn new(bounds: Bounds, senders: usize) -> Self {
        Queue {
            state: Mutex::new(State { senders, ..State::default() }),
            bounds,
            work: Condvar::new(),
            room: Condvar::new(),
            room_for_tasks: Notify::new(),
        }
    }

    /// Adds a batch, waiting for room.
    pub fn send(&self, batch: Box<Batch>) -> Result<(), Closed> {
        let mut state = self.lock();
        if !state.aborted && !self.has_room(&state, &batch) {
            let began = Instant::now();
            while !state.aborted && !self.has_room(&state, &batch) {
                state = self.room.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            *state.waited.entry(batch.source).or_default() += began.elapsed();
        }
        self.put(state, batch)
    }

    /// Adds a batch, waiting for room as a task: what network sources use.
    pub async fn send_async(&self, batch: Box<Batch>) -> Result<(), Closed> {
        let mut began = None;
        loop {
            let room = self.room_for_tasks.notified();
            tokio::pin!(room);
            room.as_mut().enable();
            {
                let mut state = self.lock();
                if state.aborted || self.has_room(&state, &batch) {
                    if let Some(began) = began {
                        let waited: Duration = Instant::elapsed(&began);
                        *state.waited.entry(batch.source).or_default() += waited;
                    }
                    return self.put(state, batch);
                }
            }
            began.get_or_insert_with(Instant::now);
            room.await;
        }
    }

    /// Adds a batch that stems from others, whether there is room or not: those who would make room may wait for it.
    pub(crate) fn send_back(&self, batch: Box<Batch>) -> Result<(), Closed> {
        self.put(self.lock(), batch)
    }

    /// Takes the next work, waiting for it. `None` when the run was aborted.
    pub fn receive(&self) -> Option<Work> {
        let mut state = self.lock();
        loop {
            if state.aborted {
                return None;
            }
            // Once one worker has gone to the meeting, the others do nothing before they come, too.
            if state.exchange.as_ref().is_some_and(|one| one.begun)
                && let Some(work) = state.take_exchange()
            {
                return Some(work);
            }
            if let Some(now) = state.tick.take() {
                return Some(Work::Tick(state.take_number(), now));
            }
            if std::mem::take(&mut state.snapshot) {
                return Some(Work::Snapshot(state.take_number()));
            }
            if let Some(work) = state.take_exchange() {
                return Some(work);
            }
            if let Some(batch) = state.batches.pop_front() {
                state.bytes -= batch.held_bytes();
                state.taken += 1;
                let number = state.take_number();
                drop(state);
                self.room.notify_one();
                self.room_for_tasks.notify_one();
                return Some(Work::Batch(number, batch));
            }
            if state.senders == 0 && !state.holds_end {
                state.ended = true;
                return Some(Work::End(state.take_number()));
            }
            let began = Instant::now();
            state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.idle += began.elapsed();
        }
    }

    /// Takes one batch at a time from now on, or as many as fit again.
    pub fn narrow(&self, narrow: bool) {
        self.lock().narrow = narrow;
        self.room.notify_all();
        self.room_for_tasks.notify_waiters();
        self.room_for_tasks.notify_one();
    }

    /// What waits now.
    pub fn fill(&self) -> Fill {
        let state = self.lock();
        let (batches, bytes) = (state.batches.len(), state.bytes);
        Fill { batches, bytes, bytes_max: self.bounds.bytes_max }
    }

    /// How long a source has waited for room so far, not counting the wait that is under way.
    pub fn waited(&self, source: SourceId) -> Duration {
        self.lock().waited.get(&source).copied().unwrap_or_default()
    }

    /// How long workers have waited for work so far, all together.
    pub fn idle(&self) -> Duration {
        self.lock().idle
    }

    /// Asks for a tick at the given time; one worker will take it.
    pub fn tick(&self, now: Timestamp) {
        self.lock().tick = Some(now);
        self.work.notify_one();
    }

    /// The end of the input waits for [`release_end`](Self::release_end): something may still be due that ends
    /// the run, and until then time goes on.
    pub fn hold_end(&self) {
        self.lock().holds_end = true;
    }

    /// Whether the end is held, and nothing but it is left once `done` works have been dealt with.
    pub fn only_end_is_left(&self, done: u64) -> bool {
        let state = self.lock();
        state.holds_end
            && state.senders == 0
            && state.batches.is_empty()
            && state.next_number == done
    }

    /// Lets the end come.
    pub fn release_end(&self) {
        self.lock().holds_end = false;
        self.work.notify_all();
    }

    /// Whether the end is held.
    pub fn holds_end(&self) -> bool {
        self.lock().holds_end
    }

    /// Asks for a saved state; one worker will give it.
    pub fn snapshot(&self) {
        self.lock().snapshot = true;
        self.work.notify_one();
    }

    /// Asks all workers to take up another program, behind the batches that are here now. False when the run
    /// is ending.
    pub fn exchange(&self, exchange: &Arc<Exchange>, workers: usize) -> bool {
        let mut state = self.lock();
        if state.ended || state.aborted {
            return false;
        }
        let (exchange, after) = (Arc::clone(exchange), state.put);
        state.exchange = Some(Pending { exchange, after, workers, begun: false });
        drop(state);
        self.work.notify_all();
        true
    }

    /// Takes back what no worker has been told yet of an exchange.
    pub fn withdraw_exchange(&self) {
        self.lock().exchange = None;
        self.work.notify_all();
    }

    /// One more will send. False when the run is ending.
    pub fn join(&self) -> bool {
        let mut state = self.lock();
        if state.ended || state.aborted || state.senders == 0 {
            return false;
        }
        state.senders += 1;
        true
    }

    /// Whether a worker would have to wait now, so that there is no reason to collect more.
    pub fn is_hungry(&self) -> bool {
        self.lock().batches.is_empty()
    }

    /// Whether everything was ended at once.
    pub fn is_aborted(&self) -> bool {
        self.lock().aborted
    }

    /// How many senders may still send.
    pub fn senders(&self) -> usize {
        self.lock().senders
    }

    /// One of the senders only follows the others: it ends when they have ended.
    pub fn follow(&self) {
        self.lock().followers += 1;
    }

    /// A sender that followed the others has ended before them.
    pub fn unfollow(&self) {
        let mut state = self.lock();
        state.followers = state.followers.saturating_sub(1);
    }

    /// Whether all senders have ended that do not only follow others.
    pub fn only_followers_are_left(&self) -> bool {
        let state = self.lock();
        state.senders <= state.followers
    }

    /// A sender has nothing more to send.
    pub fn leave(&self) {
        let mut state = self.lock();
        state.senders = state.senders.saturating_sub(1);
        if state.senders == 0 {
            drop(state);
            self.work.notify_all();
        }
    }

    /// Ends all sending and receiving at once; what waits is let go, unacknowledged.
    pub fn abort(&self) {
        let waiting = {
            let mut state = self.lock();
            state.aborted = true;
            state.bytes = 0;
            std::mem::take(&mut state.batches)
        };
        self.work.notify_all();
        self.room.notify_all();
        self.room_for_tasks.notify_waiters();
        self.room_for_tasks.notify_one();
        waiting.iter().for_each(|batch| batch.token.fail());
    }

    fn has_room(&self, state: &State, batch: &Batch) -> bool {
        let fits = !state.narrow
            && state.bytes + batch.held_bytes() <= self.bounds.bytes_max
            && state.batches.len() < self.bounds.count_max;
        fits || state.batches.is_empty()
    }

    fn put(&self, mut state: MutexGuard<'_, State>, batch: Box<Batch>) -> Result<(), Closed> {
        if state.aborted {
            batch.token.fail();
            return Err(Closed);
        }
        state.bytes += batch.held_bytes();
        state.put += 1;
        state.batches.push_back(batch);
        drop(state);
        self.work.notify_one();
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The exchange, when it is its turn.
    fn take_exchange(&mut self) -> Option<Work> {
        let pending = self.exchange.as_mut().filter(|one| self.taken >= one.after)?;
        pending.workers -= 1;
        pending.begun = true;
        let (exchange, is_last) = (Arc::clone(&pending.exchange), pending.workers == 0);
        if is_last {
            self.exchange = None;
        }
        Some(Work::Exchange(self.take_number(), exchange))
    }

    fn take_number(&mut self) -> u64 {
        let number = self.next_number;
        self.next_number += 1;
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::ack::{Ledger, Position};
    use crate::batch::Origin;
    use crate::buffer::Pool;
    use crate::clock::EventTimes;
    use crate::framing::Framing;

    fn batch(bytes: usize) -> Box<Batch> {
        let position = Position { file: 0, offset: 0, line: 1 };
        Box::new(Batch {
            source: 0,
            origin: Origin::named(String::new()),
            bad: Vec::new(),
            times: EventTimes::together(0),
            arrival: 0,
            due: 0,
            ingest: None,
            buffer: Pool::new(bytes).take(),
            range: 0..bytes,
            framing: Framing::Lines,
            frames: 1,
            first_line: 1,
            offset: 0,
            token: Ledger::new(1).open(0, position),
        })
    }

    fn queue(bytes_max: usize, count_max: usize) -> Queue {
        Queue::new(Bounds { bytes_max, count_max }, 1)
    }

    /// The number of the next work, and the bytes of its batch.
    fn next(queue: &Queue) -> (u64, usize) {
        match queue.receive() {
            Some(Work::Batch(number, batch)) => (number, batch.held_bytes()),
            Some(
                Work::Tick(number, _)
                | Work::Snapshot(number)
                | Work::Exchange(number, _)
                | Work::End(number),
            ) => (number, 0),
            None => panic!("aborted"),
        }
    }

    fn has_room(queue: &Queue, bytes: usize) -> bool {
        queue.has_room(&queue.lock(), &batch(bytes))
    }

    #[test]
    fn room_is_bounded_by_bytes_and_by_count() {
        let queue = queue(10, 3);
        assert!(has_room(&queue, 99), "a giant passes through an empty queue");
        queue.send(batch(4)).unwrap();
        assert!(has_room(&queue, 6) && !has_room(&queue, 7));
        queue.send(batch(1)).unwrap();
        queue.send(batch(1)).unwrap();
        assert!(!has_room(&queue, 1));
        assert_eq!(next(&queue), (0, 4));
        assert!(has_room(&queue, 1));
    }

    #[test]
    fn a_sender_without_room_waits_for_the_receiver() {
        let queue = queue(10, 1);
        queue.send(batch(8)).unwrap();
        std::thread::scope(|scope| {
            let sender = scope.spawn(|| queue.send(batch(7)));
            assert_eq!([next(&queue), next(&queue)], [(0, 8), (1, 7)]);
            assert_eq!(sender.join().unwrap(), Ok(()));
        });
    }

    #[test]
    fn what_comes_back_needs_no_room() {
        let queue = queue(10, 1);
        queue.send(batch(8)).unwrap();
        queue.send_back(batch(7)).unwrap();
        assert_eq!([next(&queue), next(&queue)], [(0, 8), (1, 7)]);
    }

    #[test]
    fn a_task_without_room_waits_as_well() {
        let queue = queue(10, 1);
        queue.send(batch(8)).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        std::thread::scope(|scope| {
            let sender = scope.spawn(|| runtime.block_on(queue.send_async(batch(7))));
            assert_eq!([next(&queue), next(&queue)], [(0, 8), (1, 7)]);
            assert_eq!(sender.join().unwrap(), Ok(()));
        });
    }

    #[test]
    fn ticks_come_first_and_do_not_pile_up_and_every_worker_sees_the_end() {
        let queue = queue(10, 3);
        queue.send(batch(4)).unwrap();
        queue.tick(1);
        queue.tick(2);
        assert!(matches!(queue.receive(), Some(Work::Tick(0, 2))));
        assert_eq!(next(&queue), (1, 4));
        queue.leave();
        assert!(matches!(queue.receive(), Some(Work::End(2))));
        assert!(matches!(queue.receive(), Some(Work::End(3))));
    }

    #[test]
    fn abort_frees_senders_and_receivers() {
        let queue = queue(1, 1);
        queue.send(batch(1)).unwrap();
        std::thread::scope(|scope| {
            let sender = scope.spawn(|| queue.send(batch(1)));
            queue.abort();
            assert_eq!(sender.join().unwrap(), Err(Closed));
            assert!(queue.receive().is_none());
        });
    }
}
