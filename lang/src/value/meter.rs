//! What one run of a program may take of memory and time, counted in bytes that it asks its arena
//! for and in steps of work. Once either is used up, the arena hands out nothing more, and whoever
//! runs the program ends the event before anything that is incomplete can leave it.

use std::cell::Cell;

/// Memory that one run of a script or an expression may take for one event, in bytes. Reached by
/// `spec/limits/budgets.txt`.
pub const EVENT_BYTES_MAX: usize = 64 << 20;
/// Work that one run of a script or an expression may do for one event, in steps. A step is about
/// a byte that is looked at; see [`TURN_STEPS`]. They take seconds. Reached by
/// `spec/limits/budgets.txt`.
pub const EVENT_STEPS_MAX: usize = 2_000_000_000;
/// Steps of a turn of a loop, a call of a function, or any other matter of a few dozen instructions.
pub(crate) const TURN_STEPS: usize = 32;

/// What may still be taken, and what has been.
#[derive(Debug)]
pub(super) struct Meter {
    /// Bytes asked for.
    bytes: Cell<usize>,
    /// So many may be asked for.
    bytes_max: Cell<usize>,
    /// Steps that may still be done; zero once anything is used up.
    steps: Cell<usize>,
}

/// What a meter allows; see [`super::Arena::begin`].
#[derive(Clone, Copy, Debug)]
pub struct Allowance {
    bytes_max: usize,
    steps: usize,
}

/// Which of the budgets is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Excess {
    /// The memory.
    Bytes,
    /// The work.
    Steps,
}

impl Default for Meter {
    /// Counts, and allows everything.
    fn default() -> Self {
        let all = || Cell::new(usize::MAX);
        Self { bytes: Cell::new(0), bytes_max: all(), steps: all() }
    }
}

impl Meter {
    /// So many bytes and steps from here on.
    pub(super) fn limited(bytes: usize, steps: usize) -> Self {
        Self { bytes: Cell::new(0), bytes_max: Cell::new(bytes), steps: Cell::new(steps) }
    }

    /// Asks for memory; false when there is none.
    #[inline]
    pub(super) fn charge(&self, bytes: usize) -> bool {
        let total = self.bytes.get().saturating_add(bytes);
        self.bytes.set(total);
        if total <= self.bytes_max.get() {
            return true;
        }
        self.steps.set(0);
        false
    }

    /// Does work; false when there is to be none any more.
    #[inline]
    pub(super) fn step(&self, steps: usize) -> bool {
        let left = self.steps.get().saturating_sub(steps);
        self.steps.set(left);
        left > 0
    }

    #[inline]
    pub(super) fn is_spent(&self) -> bool {
        self.steps.get() == 0
    }

    pub(crate) fn excess(&self) -> Option<Excess> {
        match (self.is_spent(), self.bytes.get() > self.bytes_max.get()) {
            (false, _) => None,
            (true, true) => Some(Excess::Bytes),
            (true, false) => Some(Excess::Steps),
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes.get()
    }

    pub(crate) fn bytes_left(&self) -> usize {
        self.bytes_max.get().saturating_sub(self.bytes.get())
    }

    pub(super) fn steps(&self) -> usize {
        self.steps.get()
    }

    pub(super) fn reset(&mut self) {
        self.bytes.set(0);
    }

    /// No more than so many bytes and steps from here on; what was allowed before.
    #[inline]
    pub(super) fn begin(&self, bytes: usize, steps: usize) -> Allowance {
        let before = Allowance { bytes_max: self.bytes_max.get(), steps: self.steps.get() };
        self.bytes_max.set(before.bytes_max.min(self.bytes.get().saturating_add(bytes)));
        self.steps.set(before.steps.min(steps));
        before
    }

    /// What was allowed before, less the steps since, of `steps` that were given. An arena without
    /// limits has as many steps for the next run.
    #[inline]
    pub(super) fn end(&self, before: Allowance, steps: usize) {
        self.bytes_max.set(before.bytes_max);
        if before.steps == usize::MAX {
            self.steps.set(usize::MAX);
        } else {
            let done = before.steps.min(steps) - self.steps.get();
            self.steps.set(before.steps - done);
        }
    }
}
