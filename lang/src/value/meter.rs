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
const RESERVE_BYTES_MAX: usize = 16 << 20;
/// Work for the same.
const RESERVE_STEPS_MAX: usize = 200_000_000;
/// Memory that each event brings along which a step had kept and lets go, in bytes.
const KEPT_BYTES_MAX: usize = 64 << 10;
/// Work that it brings along.
const KEPT_STEPS_MAX: usize = 1_000_000;
/// More steps than this are left only where nobody counts them.
const UNCOUNTED: usize = usize::MAX / 2;
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
    /// Bytes that runs for the event may still ask for, those of the run that is on its way not taken off.
    event_bytes: Cell<usize>,
    /// Steps that they may still do, in the same way.
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

    /// What was taken when so much is left, in bytes and steps.
    #[must_use]
    pub fn less(self, left: Self) -> (usize, usize) {
        (self.bytes.saturating_sub(left.bytes), self.steps.saturating_sub(left.steps))
    }
}

/// What a meter allows; see [`super::Arena::begin`].
#[derive(Clone, Copy, Debug)]
pub struct Allowance {
    bytes_max: usize,
    steps: usize,
    /// Steps that the run got.
    given: usize,
    /// Bytes that had been asked for before.
    bytes: usize,
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
        let (bytes, bytes_max, steps) = (Cell::new(0), all(), all());
        let (event_bytes, event_steps) = (all(), all());
        Self { bytes, bytes_max, steps, event_bytes, event_steps, has_reserve }
    }
}

impl Meter {
    /// So many bytes and steps from here on.
    pub(super) fn limited(bytes: usize, steps: usize) -> Self {
        Self { bytes_max: Cell::new(bytes), steps: Cell::new(steps), ..Self::default() }
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
        self.event_bytes.set(usize::MAX);
        self.event_steps.set(usize::MAX);
    }

    /// An event begins, or goes on, with what is left of its budget. A run before may have ended by a
    /// panic, and is over.
    pub(super) fn begin_event(&self, left: EventBudget) {
        self.bytes_max.set(usize::MAX);
        self.steps.set(usize::MAX);
        self.event_bytes.set(left.bytes);
        self.event_steps.set(left.steps);
        self.has_reserve.set(left.has_reserve);
    }

    /// What is left to the event.
    pub(super) fn event_budget(&self) -> EventBudget {
        let (bytes, steps) = (self.event_bytes.get(), self.event_steps.get());
        EventBudget { bytes, steps, has_reserve: self.has_reserve.get() }
    }

    /// What the event has used up, if it has. Work outside of runs counts, too.
    #[inline]
    pub(super) fn event_excess(&self) -> Option<Excess> {
        let outside = usize::MAX - self.steps.get();
        if outside != 0 && outside < UNCOUNTED {
            self.steps.set(usize::MAX);
            take(&self.event_steps, outside);
        }
        match (self.event_bytes.get(), self.event_steps.get()) {
            (1.., 1..) => None,
            (0, _) => Some(Excess::Bytes),
            (_, 0) => Some(Excess::Steps),
        }
    }

    /// What fails may be dealt with, though the budget is used up; once for each event.
    pub(super) fn use_reserve(&self) {
        if self.event_excess().is_some() && self.has_reserve.replace(false) {
            self.event_bytes.set(RESERVE_BYTES_MAX);
            self.event_steps.set(RESERVE_STEPS_MAX);
        }
    }

    /// So many events that had been kept go on together with this one.
    #[cold]
    pub(super) fn join_kept(&self, events: usize) {
        for (left, each) in
            [(&self.event_bytes, KEPT_BYTES_MAX), (&self.event_steps, KEPT_STEPS_MAX)]
        {
            if left.get() < UNCOUNTED {
                left.set(left.get().saturating_add(events.saturating_mul(each)).min(UNCOUNTED - 1));
            }
        }
    }

    /// No more than so many bytes and steps from here on, nor more than is left to the event; what was
    /// allowed before.
    #[inline]
    pub(super) fn begin(&self, bytes: usize, steps: usize) -> Allowance {
        let (start, bytes_max, before) = (self.bytes.get(), self.bytes_max.get(), self.steps.get());
        let (mut room, mut given) = (bytes, before.min(steps));
        if before > UNCOUNTED {
            room = room.min(self.event_bytes.get());
            given = given.min(self.event_steps.get());
        }
        self.bytes_max.set(bytes_max.min(start.saturating_add(room)));
        self.steps.set(given);
        Allowance { bytes_max, steps: before, given, bytes: start }
    }

    /// What was allowed before, less the steps since. An arena without limits has as many steps for the
    /// next run, and the event has less.
    #[inline]
    pub(super) fn end(&self, before: Allowance) {
        self.bytes_max.set(before.bytes_max);
        let done = before.given - self.steps.get();
        if before.steps > UNCOUNTED {
            self.steps.set(usize::MAX);
            take(&self.event_steps, done);
            take(&self.event_bytes, self.bytes.get() - before.bytes);
        } else {
            self.steps.set(before.steps - done);
        }
    }
}

/// Takes off what was used, where it is counted.
#[inline]
fn take(left: &Cell<usize>, used: usize) {
    if left.get() < UNCOUNTED {
        left.set(left.get().saturating_sub(used));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_runs_for_an_event_share_its_budget() {
        let meter = Meter::default();
        meter.begin_event(EventBudget::WHOLE);
        for (bytes, fits) in [(40 << 20, true), (20 << 20, true), (10 << 20, false)] {
            let before = meter.begin(EVENT_BYTES_MAX, EVENT_STEPS_MAX);
            assert_eq!(meter.charge(bytes), fits, "{bytes}");
            meter.end(before);
        }
        assert_eq!(meter.event_excess(), Some(Excess::Bytes));
        // What fails is dealt with once, and no more than once.
        meter.use_reserve();
        assert_eq!(meter.event_excess(), None);
        let before = meter.begin(EVENT_BYTES_MAX, EVENT_STEPS_MAX);
        assert!(meter.charge(RESERVE_BYTES_MAX - 1) && !meter.charge(2));
        meter.end(before);
        meter.use_reserve();
        assert_eq!(meter.event_excess(), Some(Excess::Bytes));
        meter.begin_event(EventBudget::WHOLE);
        assert_eq!(meter.event_excess(), None);
    }

    #[test]
    fn work_of_all_runs_and_of_none_counts_for_the_event() {
        let meter = Meter::default();
        meter.begin_event(EventBudget::WHOLE);
        meter.step(EVENT_STEPS_MAX / 2);
        assert_eq!(meter.event_excess(), None);
        let before = meter.begin(EVENT_BYTES_MAX, EVENT_STEPS_MAX);
        assert!(meter.step(EVENT_STEPS_MAX / 4));
        // A run within a run takes its work from there.
        let inner = meter.begin(EVENT_BYTES_MAX, EVENT_STEPS_MAX);
        assert!(!meter.step(EVENT_STEPS_MAX / 4));
        meter.end(inner);
        meter.end(before);
        assert_eq!(meter.event_excess(), Some(Excess::Steps));
        meter.join_kept(1);
        assert_eq!(meter.event_excess(), None, "an event that was kept brings work of its own");
    }

    #[test]
    fn nothing_is_counted_where_no_event_is() {
        let meter = Meter::default();
        for _ in 0..3 {
            let before = meter.begin(EVENT_BYTES_MAX, EVENT_STEPS_MAX);
            assert!(meter.charge(EVENT_BYTES_MAX - 1) && meter.step(EVENT_STEPS_MAX - 1));
            meter.end(before);
        }
        assert_eq!(meter.event_excess(), None);
    }
}
