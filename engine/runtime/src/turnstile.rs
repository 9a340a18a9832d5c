//! The turnstile: lets the workers through one at a time, in the order of their batches, so that
//! operators with state see what one worker alone would show them.
//!
//! Invariant: every number passes exactly once; a turn that is dropped passes.

use std::collections::BTreeSet;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Whose turn it is.
#[derive(Default)]
pub struct Turnstile {
    state: Mutex<State>,
    moved: Condvar,
}

#[derive(Default)]
struct State {
    /// The number whose turn it is.
    next: u64,
    /// Later numbers that have passed already, without having waited.
    passed: BTreeSet<u64>,
}

impl Turnstile {
    /// The turn of the given number.
    pub fn turn(&self, number: u64) -> Turn<'_> {
        Turn { turnstile: self, number, passed: false }
    }

    fn wait(&self, number: u64) {
        let mut state = self.lock();
        while state.next < number {
            state = self.moved.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn pass(&self, number: u64) {
        let mut state = self.lock();
        state.passed.insert(number);
        let before = state.next;
        loop {
            let next = state.next;
            if !state.passed.remove(&next) {
                break;
            }
            state.next += 1;
        }
        if state.next != before {
            drop(state);
            self.moved.notify_all();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One batch's right to go through the turnstile.
pub struct Turn<'a> {
    turnstile: &'a Turnstile,
    number: u64,
    passed: bool,
}

impl Turn<'_> {
    /// Waits until every earlier batch has passed. Between this and [`pass`](Self::pass) no other
    /// worker is in its ordered section.
    pub fn wait(&self) {
        if !self.passed {
            self.turnstile.wait(self.number);
        }
    }

    /// Lets the next batch into its ordered section.
    pub fn pass(&mut self) {
        if !self.passed {
            self.passed = true;
            self.turnstile.pass(self.number);
        }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.pass();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn ordered_sections_run_in_the_order_of_the_numbers() {
        let turnstile = Turnstile::default();
        let seen = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for number in [3, 1, 0, 2] {
                let (turnstile, seen) = (&turnstile, &seen);
                scope.spawn(move || {
                    let turn = turnstile.turn(number);
                    turn.wait();
                    seen.lock().unwrap().push(number);
                });
            }
        });
        assert_eq!(seen.into_inner().unwrap(), [0, 1, 2, 3]);
    }

    #[test]
    fn who_does_not_need_a_turn_passes_without_waiting() {
        let turnstile = Turnstile::default();
        drop(turnstile.turn(1));
        let mut first = turnstile.turn(0);
        first.wait();
        first.pass();
        first.pass();
        turnstile.turn(2).wait();
    }
}
