//! One window of a frame, for one group: when it closes, and what it has gathered so far.

use std::collections::VecDeque;
use std::sync::Arc;
use temblor_lang::builtin::{Accumulator, CallError};
use temblor_lang::error::EvalError;
use temblor_lang::program::{Formula, Script};
use temblor_lang::run::{Context, Outcome};
use temblor_lang::value::{Arena, Frozen, Owned, Value};

/// A window as defined.
#[derive(Debug)]
pub struct WindowSpec {
    /// `window` in the select: the last part of the window's name.
    pub name: Frozen,
    /// When it closes.
    pub kind: WindowKind,
    /// Groups that may be open at a time.
    pub max_groups: Option<u64>,
    /// Whether a group over the limit pushes out the one that was used least recently.
    pub evicts: bool,
    /// Nanoseconds without an event after which a group is closed and forgotten.
    pub max_age: Option<u64>,
    /// Whether it is closed at the end of the input.
    pub flushes: bool,
    /// What `args` refers to in its scripts.
    pub args: Arc<Frozen>,
}

/// When a window closes.
#[derive(Debug)]
pub enum WindowKind {
    /// After events of this weight; the script gives the weight of one, else it is 1.
    Size {
        /// Weight at which it closes, from 1.
        size: u64,
        /// Weight of one event.
        weight: Option<Script>,
    },
    /// After this time; the script gives the time of an event, else it is that of its arrival.
    Interval {
        /// Nanoseconds.
        interval: u64,
        /// Time of an event in nanoseconds.
        time: Option<Script>,
    },
    /// When the script says so.
    State {
        /// `state` at the start.
        initial: Arc<Frozen>,
        /// Asked for each event.
        script: Script,
        /// Asked at each tick.
        tick: Option<Script>,
    },
    /// When no event has come for this time.
    Session {
        /// Nanoseconds.
        gap: u64,
        /// Time of an event in nanoseconds.
        time: Option<Script>,
    },
    /// Every `slide`, over the last `panes` slides.
    Sliding {
        /// How long one slide is.
        slide: Slide,
        /// Slides that a result covers, from 1.
        panes: usize,
        /// Weight or time of an event.
        script: Option<Script>,
    },
}

/// The measure of a sliding window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slide {
    /// Events.
    Count(u64),
    /// Nanoseconds.
    Time(u64),
}

/// The running state of the aggregates of target and `having`.
pub(super) type Accumulators = Box<[Box<dyn Accumulator>]>;

/// One level of one group.
#[derive(Debug)]
pub(super) struct Level {
    pub closing: Closing,
    pub accumulators: Accumulators,
    /// Whether something was added since it closed last.
    pub holds_data: bool,
    /// Only sliding windows have them.
    pub panes: Option<Box<Panes>>,
}

/// Earlier slides of a sliding window, the oldest first.
#[derive(Debug, Default)]
pub(super) struct Panes(pub VecDeque<Accumulators>);

/// What decides when the window closes.
#[derive(Debug)]
pub(super) enum Closing {
    Weight(u64),
    /// `None` before the first event.
    Deadline(Option<u64>),
    Script(Box<Owned>),
}

const _: () = assert!(size_of::<Level>() <= 48, "a group has one for each window");

/// What an item does to a window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decision {
    /// The item belongs to what is emitted now.
    pub include: bool,
    /// The window closes.
    pub emit: bool,
}

/// What a level is fed with.
#[derive(Clone, Copy)]
pub(super) struct Item<'a> {
    pub event: Value<'a>,
    pub meta: Value<'a>,
    pub ingest_ns: u64,
}

impl Level {
    pub(super) fn new(spec: &WindowSpec, accumulators: Accumulators) -> Self {
        let closing = match &spec.kind {
            WindowKind::Size { .. } => Closing::Weight(0),
            WindowKind::Sliding { slide: Slide::Count(_), .. } => Closing::Weight(0),
            WindowKind::Interval { .. }
            | WindowKind::Session { .. }
            | WindowKind::Sliding { slide: Slide::Time(_), .. } => Closing::Deadline(None),
            WindowKind::State { initial, .. } => {
                Closing::Script(Box::new(Owned::from(initial.get())))
            }
        };
        Self { closing, accumulators, holds_data: false, panes: None }
    }

    /// Whether forgetting the level would lose nothing.
    pub(super) fn is_empty(&self) -> bool {
        let no_carry = !matches!(self.closing, Closing::Weight(carried) if carried > 0);
        !self.holds_data && no_carry && self.panes.as_ref().is_none_or(|panes| panes.0.is_empty())
    }

    /// What `item` does; `first` says whether this is the level that gets events.
    pub(super) fn decide<'a>(
        &mut self,
        spec: &'a WindowSpec,
        item: Item<'a>,
        first: bool,
        around: &crate::operator::Surroundings<'a>,
    ) -> Result<Decision, EvalError> {
        match &spec.kind {
            WindowKind::Size { size, weight } => {
                let weight =
                    if first { measure(weight.as_ref(), spec, item, around)? } else { None };
                Ok(self.weigh(*size, weight.unwrap_or(1)))
            }
            WindowKind::Sliding { slide: Slide::Count(size), script, .. } => {
                let weight =
                    if first { measure(script.as_ref(), spec, item, around)? } else { None };
                Ok(self.weigh(*size, weight.unwrap_or(1)))
            }
            WindowKind::Interval { interval, time }
            | WindowKind::Sliding { slide: Slide::Time(interval), script: time, .. } => {
                let now = measure(time.as_ref(), spec, item, around)?.unwrap_or(item.ingest_ns);
                Ok(self.time(*interval, now, false))
            }
            WindowKind::Session { gap, time } => {
                let now = measure(time.as_ref(), spec, item, around)?.unwrap_or(item.ingest_ns);
                Ok(self.time(*gap, now, true))
            }
            WindowKind::State { script, .. } => self.ask(script, spec, item, around),
        }
    }

    /// The excess over the size is carried into the next window.
    fn weigh(&mut self, size: u64, weight: u64) -> Decision {
        let Closing::Weight(gathered) = &mut self.closing else {
            return Decision { include: true, emit: false };
        };
        *gathered = gathered.saturating_add(weight);
        let full = *gathered >= size;
        if full {
            *gathered -= size;
        }
        Decision { include: full, emit: full }
    }

    /// An event at or after the deadline closes the window and opens the next one. With `renew`
    /// each event moves the deadline.
    fn time(&mut self, interval: u64, now: u64, renew: bool) -> Decision {
        let Closing::Deadline(deadline) = &mut self.closing else {
            return Decision { include: false, emit: false };
        };
        let over = deadline.is_some_and(|deadline| now >= deadline);
        if over || renew || deadline.is_none() {
            *deadline = Some(now.saturating_add(interval));
        }
        Decision { include: false, emit: over }
    }

    fn ask<'a>(
        &mut self,
        script: &'a Script,
        spec: &'a WindowSpec,
        item: Item<'a>,
        around: &crate::operator::Surroundings<'a>,
    ) -> Result<Decision, EvalError> {
        let Closing::Script(state) = &mut self.closing else {
            return Ok(Decision { include: true, emit: false });
        };
        let reply = run(script, spec, item, around, state)?;
        read_reply(reply, around.arena()).map_err(|error| error.at(script.span))
    }

    /// Whether the level closes now, without an event.
    pub(super) fn decide_tick<'a>(
        &mut self,
        spec: &'a WindowSpec,
        around: &crate::operator::Surroundings<'a>,
    ) -> Result<bool, EvalError> {
        let timed = match &spec.kind {
            WindowKind::Interval { time: None, .. } | WindowKind::Session { time: None, .. } => {
                true
            }
            WindowKind::Sliding { slide: Slide::Time(_), script: None, .. } => true,
            WindowKind::State { tick: Some(tick), .. } => {
                let item = Item { event: Value::Null, meta: Value::Null, ingest_ns: around.now_ns };
                return self.ask(tick, spec, item, around).map(|decision| decision.emit);
            }
            _ => false,
        };
        match &mut self.closing {
            Closing::Deadline(Some(deadline)) if timed && around.now_ns >= *deadline => {
                self.closing = Closing::Deadline(None);
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// Empties the level after it has emitted. A sliding window keeps its last slides.
    pub(super) fn clear(&mut self, spec: &WindowSpec, fresh: impl FnOnce() -> Accumulators) {
        match &spec.kind {
            WindowKind::Sliding { panes, .. } => {
                let full = std::mem::replace(&mut self.accumulators, fresh());
                let kept = &mut self.panes.get_or_insert_default().0;
                kept.push_back(full);
                while kept.len() >= *panes {
                    kept.pop_front();
                }
            }
            _ => self.accumulators.iter_mut().for_each(|one| one.reset()),
        }
        self.holds_data = false;
    }

    /// The accumulators that a result is computed from: for a sliding window all slides together.
    pub(super) fn covered(
        &self,
        fresh: impl FnOnce() -> Accumulators,
    ) -> Result<Option<Accumulators>, CallError> {
        let Some(panes) = self.panes.as_ref().filter(|panes| !panes.0.is_empty()) else {
            return Ok(None);
        };
        let mut all = fresh();
        for pane in panes.0.iter().chain([&self.accumulators]) {
            merge(&mut all, pane)?;
        }
        Ok(Some(all))
    }
}

/// Adds what `from` has gathered.
pub(super) fn merge(into: &mut Accumulators, from: &Accumulators) -> Result<(), CallError> {
    for (into, from) in into.iter_mut().zip(from) {
        into.merge(from.as_ref())?;
    }
    Ok(())
}

/// Weight or time of an event by a script; `None` without one.
fn measure<'a>(
    script: Option<&'a Script>,
    spec: &'a WindowSpec,
    item: Item<'a>,
    around: &crate::operator::Surroundings<'a>,
) -> Result<Option<u64>, EvalError> {
    let Some(script) = script else { return Ok(None) };
    let mut nothing = Owned::Null;
    let value = run(script, spec, item, around, &mut nothing)?;
    match value.as_u64() {
        Some(measure) => Ok(Some(measure)),
        None => Err(EvalError::new(
            "E0430",
            format!(
                "a window's script must give a whole number from 0, got {}",
                value.kind().name()
            ),
        )
        .at(script.span)),
    }
}

fn run<'a>(
    script: &'a Script,
    spec: &'a WindowSpec,
    item: Item<'a>,
    around: &crate::operator::Surroundings<'a>,
    state: &mut Owned,
) -> Result<Value<'a>, EvalError> {
    let (arena, facts) = (around.call.arena, around.call.facts);
    let mut context = Context::new(arena, facts, item.event, item.meta, state);
    context.args = spec.args.get();
    match script.run(&mut context)? {
        Outcome::Emit { value, .. } => Ok(value),
        Outcome::Drop => Ok(Value::Null),
    }
}

/// `true`, `false` or `[emit, include]`.
fn read_reply<'a>(reply: Value<'a>, arena: &'a Arena) -> Result<Decision, EvalError> {
    if let Some(both) = reply.as_bool() {
        return Ok(Decision { include: both, emit: both });
    }
    match reply.as_array(arena) {
        Some([Value::Bool(emit), Value::Bool(include)]) => {
            Ok(Decision { include: *include, emit: *emit })
        }
        _ => Err(EvalError::new(
            "E0431",
            "a window's script must give a bool or the two bools `[emit, include]`",
        )),
    }
}

/// Fresh accumulators for the aggregates of the formulas, in order.
pub(super) fn fresh<'f>(formulas: impl Iterator<Item = &'f Formula>) -> Accumulators {
    formulas
        .flat_map(|formula| formula.aggregates.iter())
        .map(|call| (call.aggregate.start)())
        .collect()
}
