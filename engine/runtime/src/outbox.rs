//! The queue from the workers to the writer: puts results back into the order of their input.
//!
//! Invariant: the result that the writer needs next is always let in, so that bounded room cannot
//! make writer and workers wait for each other.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::limits::OUTPUTS_SPARE_MAX;
use crate::outputs::Outputs;
use crate::queue::{Bounds, Closed};

/// In which order results leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Order {
    /// In the order in which the sources handed over their batches.
    #[default]
    Source,
    /// As they come.
    Any,
}

/// What the writer gets.
pub enum Taken {
    /// The next result.
    Item(Box<Outputs>),
    /// Nothing came in the given time.
    Nothing,
    /// All workers have left, or the run was aborted.
    End,
}

/// The queue.
pub struct Outbox {
    state: Mutex<State>,
    bounds: Bounds,
    order: Order,
    /// Signalled when the writer can go on.
    ready: Condvar,
    /// Signalled when workers can go on.
    room: Condvar,
    /// Cleared outputs, to be used again; boxed, as they move between the threads.
    #[expect(clippy::vec_box, reason = "unboxing would copy and allocate for every batch")]
    spare: Mutex<Vec<Box<Outputs>>>,
}

#[derive(Default)]
struct State {
    waiting: BTreeMap<u64, Box<Outputs>>,
    bytes: usize,
    /// The number that the writer takes next.
    next: u64,
    workers: usize,
    aborted: bool,
}

impl Outbox {
    /// A queue that the given number of workers fill.
    pub fn new(bounds: Bounds, order: Order, workers: usize) -> Self {
        Outbox {
            state: Mutex::new(State { workers, ..State::default() }),
            bounds,
            order,
            ready: Condvar::new(),
            room: Condvar::new(),
            spare: Mutex::new(Vec::new()),
        }
    }

    /// Hands over the result of the work with the given number, waiting for room.
    pub fn put(&self, number: u64, outputs: Box<Outputs>) -> Result<(), Closed> {
        let bytes = outputs.held_bytes();
        let mut state = self.lock();
        while !state.aborted && !self.has_room(&state, number, bytes) {
            state = self.room.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.aborted {
            outputs.tokens.iter().for_each(|token| token.fail());
            return Err(Closed);
        }
        state.bytes += bytes;
        state.waiting.insert(number, outputs);
        drop(state);
        self.ready.notify_one();
        Ok(())
    }

    /// Takes the next result, waiting for it no longer than `patience`, when given.
    pub fn take(&self, patience: Option<Duration>) -> Taken {
        let mut state = self.lock();
        loop {
            if state.aborted {
                return Taken::End;
            }
            if let Some(outputs) = self.next(&mut state) {
                state.bytes -= outputs.held_bytes();
                drop(state);
                self.room.notify_all();
                return Taken::Item(outputs);
            }
            if state.workers == 0 {
                return Taken::End;
            }
            match patience {
                None => state = self.ready.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(patience) => {
                    let waited = self.ready.wait_timeout(state, patience);
                    let (guard, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
                    if timeout.timed_out() {
                        return Taken::Nothing;
                    }
                    state = guard;
                }
            }
        }
    }

    /// A worker will put nothing more.
    pub fn leave(&self) {
        let mut state = self.lock();
        state.workers = state.workers.saturating_sub(1);
        drop(state);
        self.ready.notify_one();
    }

    /// Lets a worker rest for a time, or until the run is aborted.
    pub fn rest(&self, time: Duration) {
        let end = Instant::now() + time;
        let mut state = self.lock();
        loop {
            let left = end.saturating_duration_since(Instant::now());
            if state.aborted || left.is_zero() {
                return;
            }
            let woken = self.room.wait_timeout(state, left);
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Ends the writer and all workers that wait for it.
    pub fn abort(&self) {
        let waiting = {
            let mut state = self.lock();
            state.aborted = true;
            std::mem::take(&mut state.waiting)
        };
        self.ready.notify_all();
        self.room.notify_all();
        waiting.values().flat_map(|outputs| &outputs.tokens).for_each(|token| token.fail());
    }

    /// Outputs that were used before, if there are any.
    pub fn spare(&self) -> Option<Box<Outputs>> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    /// Keeps cleared outputs for the next batch.
    pub fn keep_spare(&self, outputs: Box<Outputs>) {
        let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        if spare.len() < OUTPUTS_SPARE_MAX {
            spare.push(outputs);
        }
    }

    fn has_room(&self, state: &State, number: u64, bytes: usize) -> bool {
        let fits = state.bytes + bytes <= self.bounds.bytes_max
            && state.waiting.len() < self.bounds.count_max;
        fits || state.waiting.is_empty() || (self.order == Order::Source && number == state.next)
    }

    fn next(&self, state: &mut State) -> Option<Box<Outputs>> {
        match self.order {
            Order::Any => state.waiting.pop_first().map(|(_, outputs)| outputs),
            Order::Source => {
                let outputs = state.waiting.remove(&state.next)?;
                state.next += 1;
                Some(outputs)
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outputs(tag: u64, bytes: usize) -> Box<Outputs> {
        let mut outputs = Box::new(Outputs::new(1, 0, false));
        outputs.sink(0).bytes.resize(bytes, b'x');
        outputs.sink(0).events = tag;
        outputs
    }

    fn tag(outbox: &Outbox) -> u64 {
        match outbox.take(None) {
            Taken::Item(outputs) => outputs.chunks[0].events,
            Taken::Nothing | Taken::End => panic!("nothing to take"),
        }
    }

    #[test]
    fn results_leave_in_the_order_of_their_numbers() {
        let bounds = Bounds { bytes_max: 100, count_max: 10 };
        let outbox = Outbox::new(bounds, Order::Source, 1);
        for number in [2, 0, 1] {
            outbox.put(number, outputs(number, 1)).unwrap();
        }
        assert_eq!([tag(&outbox), tag(&outbox), tag(&outbox)], [0, 1, 2]);
        outbox.leave();
        assert!(matches!(outbox.take(None), Taken::End));
    }

    #[test]
    fn the_next_result_is_let_in_although_the_window_is_full() {
        let bounds = Bounds { bytes_max: 10, count_max: 2 };
        let outbox = Outbox::new(bounds, Order::Source, 2);
        outbox.put(1, outputs(1, 8)).unwrap();
        outbox.put(0, outputs(0, 8)).unwrap();
        assert_eq!([tag(&outbox), tag(&outbox)], [0, 1]);
    }

    #[test]
    fn a_worker_far_ahead_waits_until_the_writer_has_taken_something() {
        let bounds = Bounds { bytes_max: 10, count_max: 1 };
        let outbox = Outbox::new(bounds, Order::Source, 2);
        outbox.put(1, outputs(1, 8)).unwrap();
        std::thread::scope(|scope| {
            let ahead = scope.spawn(|| outbox.put(2, outputs(2, 8)));
            outbox.put(0, outputs(0, 8)).unwrap();
            assert_eq!([tag(&outbox), tag(&outbox), tag(&outbox)], [0, 1, 2]);
            assert_eq!(ahead.join().unwrap(), Ok(()));
        });
    }

    #[test]
    fn any_order_takes_what_is_there_and_abort_frees_all() {
        let outbox = Outbox::new(Bounds { bytes_max: 1, count_max: 1 }, Order::Any, 1);
        outbox.put(7, outputs(7, 5)).unwrap();
        assert_eq!(tag(&outbox), 7);
        outbox.put(9, outputs(9, 5)).unwrap();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| outbox.put(8, outputs(8, 5)));
            outbox.abort();
            assert_eq!(waiting.join().unwrap(), Err(Closed));
        });
        assert!(matches!(outbox.take(None), Taken::End));
    }
}
