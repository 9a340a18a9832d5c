//! Counts what the code of one event costs: steps, bytes, depth and size.
//!
//! Invariant: operations that return no `Result` record a breach here, and the interpreter ends
//! the code of the event at its next step.

use std::cell::Cell;

/// Steps that the code of one event may take. A step is a node that runs, or as much work of a method.
pub(crate) const STEPS_MAX: usize = 2_000_000;
/// Bytes of text that a method works on for the price of a step.
pub(crate) const STEP_BYTES: usize = 64;
/// Items of a list or a hash that a method works on for the price of a step.
pub(crate) const STEP_ITEMS: usize = 16;
/// Bytes of the values that the code of one event may hold at a time, with its copies in the event.
pub(crate) const EVENT_BYTES_MAX: usize = 64 << 20;
/// Bytes that the values of one filter may take, with those that it keeps from event to event.
pub(crate) const HEAP_BYTES_MAX: usize = 1 << 30;
/// With less than this part of an event's bytes left, code runs into its bound without a further collection.
const RELIEF_PARTS: usize = 16;
/// Items of a list and bytes of a text that code may make at once.
pub(crate) const SIZE_MAX: usize = 1 << 20;
/// Lists and hashes nest no deeper when they are printed, compared or put into an event.
pub(crate) const DEPTH_MAX: usize = 100;

/// What code may spend.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Steps for one event.
    pub steps: usize,
    /// Bytes of the values that are made for one event.
    pub event_bytes: usize,
    /// Bytes of all values of the filter.
    pub heap_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { steps: STEPS_MAX, event_bytes: EVENT_BYTES_MAX, heap_bytes: HEAP_BYTES_MAX }
    }
}

/// The bound that code went beyond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Breach {
    /// [`Limits::steps`]
    Steps(usize),
    /// [`Limits::event_bytes`]
    EventBytes(usize),
    /// [`Limits::heap_bytes`]
    HeapBytes(usize),
    /// [`SIZE_MAX`]
    Size,
    /// [`DEPTH_MAX`]
    Depth,
}

impl Breach {
    /// What the code did, as a sentence.
    #[must_use]
    pub(crate) fn message(self) -> String {
        match self {
            Breach::Steps(most) => format!("the code ran more than {most} steps"),
            Breach::EventBytes(most) => {
                format!("the code made values of more than {} MiB for one event", most >> 20)
            }
            Breach::HeapBytes(most) => {
                format!("the code keeps values of more than {} MiB", most >> 20)
            }
            Breach::Size => {
                format!("the code made a text or list of more than {SIZE_MAX} bytes or items")
            }
            Breach::Depth => format!("values nest deeper than {DEPTH_MAX} levels"),
        }
    }
}

/// What was spent so far.
#[derive(Debug, Default)]
pub(crate) struct Budget {
    limits: Limits,
    steps: Cell<usize>,
    /// Bytes that values take, of this event and of those before.
    held: Cell<usize>,
    held_max: Cell<usize>,
    /// Bytes of copies that live as long as the event, which no collection frees.
    copies: Cell<usize>,
    /// With so many bytes held, a collection is worth while.
    relief_at: Cell<usize>,
    breach: Cell<Option<Breach>>,
}

impl Budget {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// An event begins: it has its own steps, and its own bytes above what is held.
    pub(crate) fn begin(&self) {
        let Limits { event_bytes, heap_bytes, .. } = self.limits;
        self.steps.set(0);
        self.breach.set(None);
        self.held_max.set((self.held.get() + event_bytes).min(heap_bytes));
        self.plan_relief();
    }

    /// Whether half of the room was used up since the last collection.
    pub(crate) fn is_tight(&self) -> bool {
        self.held.get() > self.relief_at.get()
    }

    /// The next collection comes when half of the room that is left has been used up; with little room left, none does,
    /// as it would come too often.
    pub(crate) fn plan_relief(&self) {
        let room = self.held_max.get().saturating_sub(self.held.get());
        let at = match room > self.limits.event_bytes / RELIEF_PARTS {
            true => self.held.get() + room / 2,
            false => usize::MAX,
        };
        self.relief_at.set(at);
    }

    /// Pays for work; false when nothing is left.
    pub(crate) fn spend(&self, steps: usize) -> bool {
        let spent = self.steps.get().saturating_add(steps);
        self.steps.set(spent);
        if spent > self.limits.steps {
            self.exceed(Breach::Steps(self.limits.steps));
        }
        self.breach.get().is_none()
    }

    /// Pays for work on bytes of text.
    pub(crate) fn spend_bytes(&self, bytes: usize) -> bool {
        self.spend(bytes / STEP_BYTES)
    }

    /// Pays for work on items.
    pub(crate) fn spend_items(&self, items: usize) -> bool {
        self.spend(items / STEP_ITEMS)
    }

    /// Notes bytes that a value takes.
    pub(crate) fn hold(&self, bytes: usize) {
        let held = self.held.get().saturating_add(bytes);
        self.held.set(held);
        if held > self.held_max.get() {
            let Limits { event_bytes, heap_bytes, .. } = self.limits;
            let whole = self.held_max.get() == heap_bytes;
            self.exceed(match whole {
                true => Breach::HeapBytes(heap_bytes),
                false => Breach::EventBytes(event_bytes),
            });
        }
    }

    /// Notes bytes of a copy that lives as long as the event.
    pub(crate) fn hold_for_event(&self, bytes: usize) {
        self.copies.set(self.copies.get().saturating_add(bytes));
        self.hold(bytes);
    }

    /// The event has ended, and with it what was copied for it.
    pub(crate) fn drop_copies(&self) {
        self.release(self.copies.take());
    }

    /// Notes bytes that a value no longer takes.
    pub(crate) fn release(&self, bytes: usize) {
        self.held.set(self.held.get().saturating_sub(bytes));
    }

    /// Bytes that values take.
    pub(crate) fn held(&self) -> usize {
        self.held.get()
    }

    /// Bytes that values take, counted anew.
    pub(crate) fn set_held(&self, bytes: usize) {
        self.held.set(bytes + self.copies.get());
    }

    /// Bytes that values may still take before the filter has no more.
    pub(crate) fn room(&self) -> usize {
        self.limits.heap_bytes.saturating_sub(self.held.get())
    }

    /// Notes a breach; the first one counts.
    pub(crate) fn exceed(&self, breach: Breach) {
        if self.breach.get().is_none() {
            self.breach.set(Some(breach));
        }
    }

    /// The first breach of this event.
    pub(crate) fn breach(&self) -> Option<Breach> {
        self.breach.get()
    }
}
