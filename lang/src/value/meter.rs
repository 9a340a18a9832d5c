//! What an event may take of memory and time, counted in bytes that are asked of its arena and in steps
//! of work: all runs of scripts and expressions for one event share a budget. Once either is used up, the
//! arena hands out nothing more to a run, and whoever runs the program ends the event before anything
//! that is incomplete can leave it.

use std::cell::Cell;

/// Memory that all steps of a program may take for one event, behind what it takes to read it, in bytes.
/// Reached by `spec/limits/budgets.txt`.
pub const EVENT_BYTES_MAX: usize = 64 << 20;
/// Work that all steps of a program may do for one event, in steps of the budget. Such a step is about
/// a byte that is looked at; see [`TURN_STEPS`]. They take seconds. Reached by
/// `spec/limits/budgets.txt`.
pub const EVENT_STEPS_MAX: usize = 2_000_000_000;
/// Memory for what a program does about an event whose budget is used up, in bytes. Reached by
/// `spec/limits/budgets.txt`.
pub const RESERVE_BYTES_MAX: usize = 16 << 20;
/// Work for the same.
pub const RESERVE_STEPS_MAX: usize = 200_000_000;
/// More steps than this are left only where nobody counts them.
const UNCOUNTED: usize = usize::MAX / 2;
/// Steps of a turn of a loop, a call of a function, or any other matter of a few dozen instructions.
pub const TURN_STEPS: usize = 32;

/// What may still be taken, and what has been.
#[derive(Debug)]
pub(super) struct Meter {
    /// Bytes asked for.
    bytes: Cell<usize>,
    /// So many may be asked for.
    bytes_max: Cell<usize>,
    /// Steps that may still be done; zero once anything is used up.
    steps: Cell<usize>,
    /// Up to so many bytes the event may ask for.
    event_end: Cell<usize>,
    /// Steps that the event may still do, those of the run that is on its way not taken off.
    event_steps: Cell<usize>,
    /// Whether there is a reserve for what fails.
    has_reserve: Cell<bool>,
}

/// What is left of the budget of an event.
#[derive(Clone, Copy, Debug)]
pub struct EventBudget {
    bytes: usize,
    steps: usize,
    has_reserve: bool,
}

impl EventBudget {
    /// That of an event which has just been read.
    pub const WHOLE: Self =
        Self { bytes: EVENT_BYTES_MAX, steps: EVENT_STEPS_MAX, has_reserve: true };
}

/// What a meter allows; see [`super::Arena::begin`].
#[derive(Clone, Copy, Debug)]
pub struct Allowance {
    bytes_max: usize,
    steps: usize,
    /// Steps that the run got.
    given: usize,
}

/// Which of the budgets is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Excess {
    /// The memory.
    Bytes,
    /// The work.
    Steps,
}

impl Default for Meter {
    /// Counts, and allows everything.
    fn default() -> Self {
        let all = || Cell::new(usize::MAX);
        let has_reserve = Cell::new(false);
        let (event_end, event_steps) = (all(), all());
        Self { bytes: Cell::new(0), bytes_max: all(), steps: all(), event_end, event_steps, has_reserve }
    }
}

impl Meter {
    /// So many bytes and steps from here on.
    pub fn limited(bytes: usize, steps: usize) -> Self {
        Self { bytes_max: Cell::new(bytes), steps: Cell::new(steps), ..Self::default() }
    }

    /// Asks for memory; false when there is none.
    #[inline]
    pub fn charge(&self, bytes: usize) -> bool {
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
    pub fn step(&self, steps: usize) -> bool {
        let left = self.steps.get().saturating_sub(steps);
        self.steps.set(left);
        left > 0
    }

    #[inline]
    pub fn is_spent(&self) -> bool {
        self.steps.get() == 0
    }

    pub fn excess(&self) -> Option<Excess> {
        match (self.is_spent(), self.bytes.get() > self.bytes_max.get()) {
            (false, _) => None,
            (true, true) => Some(Excess::Bytes),
            (true, false) => Some(Excess::Steps),
        }
    }

    pub fn bytes(&self) -> usize {
        self.bytes.get()
    }

    pub fn bytes_left(&self) -> usize {
        self.bytes_max.get().saturating_sub(self.bytes.get())
    }

    pub fn steps(&self) -> usize {
        self.steps.get()
    }

    pub fn reset(&mut self) {
        self.bytes.set(0);
        self.event_end.set(usize::MAX);
        self.event_steps.set(usize::MAX);
    }

    /// An event begins, or goes on, with what is left of its budget.
    /// A run before may have ended by a panic, and is over.
    pub fn begin_event(&self, left: EventBudget) {
        self.bytes_max.set(usize::MAX);
        self.steps.set(usize::MAX);
        self.event_end.set(self.bytes.get().saturating_add(left.bytes));
        self.event_steps.set(left.steps);
        self.has_reserve.set(left.has_reserve);
    }

    /// What is left to the event.
    pub fn event_budget(&self) -> EventBudget {
        EventBudget {
            bytes: self.event_end.get().saturating_sub(self.bytes.get()),
            steps: self.event_steps.get(),
            has_reserve: self.has_reserve.get(),
        }
    }

    /// What the event has used up, if it has. Work outside of runs counts, too.
    #[inline]
    pub fn event_excess(&self) -> Option<Excess> {
        let outside = usize::MAX - self.steps.get();
        if outside != 0 && outside < UNCOUNTED {
            self.steps.set(usize::MAX);
            if self.event_steps.get() < UNCOUNTED {
                self.event_steps.set(self.event_steps.get().saturating_sub(outside));
            }
        }
        match (self.bytes.get() > self.event_end.get(), self.event_steps.get()) {
            (false, 1..) => None,
            (true, _) => Some(Excess::Bytes),
            (false, 0) => Some(Excess::Steps),
        }
    }

    /// What fails may be dealt with, though the budget is used up; once for each event.
    pub fn use_reserve(&self) {
        if self.event_excess().is_some() && self.has_reserve.replace(false) {
            self.event_end.set(self.bytes.get().saturating_add(RESERVE_BYTES_MAX));
            self.event_steps.set(RESERVE_STEPS_MAX);
        }
    }

    /// No more than so many bytes and steps from here on, nor more than is left to the event; what was
    /// allowed before.
    #[inline]
    pub fn begin(&self, bytes: usize, steps: usize) -> Allowance {
        let (bytes_max, before) = (self.bytes_max.get(), self.steps.get());
        let (mut end, mut given) = (self.bytes.get().saturating_add(bytes), before.min(steps));
        if before > UNCOUNTED {
            end = end.min(self.event_end.get());
            given = given.min(self.event_steps.get());
        }
        self.bytes_max.set(bytes_max.min(end));
        self.steps.set(given);
        Allowance { bytes_max, steps: before, given }
    }

    /// What was allowed before, less the steps since. An arena without limits has as many steps for the
    /// next run, and the event has less.
    #[inline]
    pub fn end(&self, before: Allowance) {
        self.bytes_max.set(before.bytes_max);
        let done = before.given - self.steps.get();
        if before.steps > UNCOUNTED {
            self.steps.set(usize::MAX);
            if self.event_steps.get() < UNCOUNTED {
                self.event_steps.set(self.event_steps.get() - done);
            }
        } else {
            self.steps.set(before.steps - done);
        }
    }
}
