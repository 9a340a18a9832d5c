//! A select over one window of event time. The windows of a group stand side by side until the watermark
//! has passed their end; they are aligned to 1970, so that they do not depend on the order of events.
//!
//! Invariant: an event is in all windows that its time belongs to and that have not closed; where none is
//! left, it is late. Windows are emitted in the order of their ends, and of their groups.

use super::Clauses;
use super::group::{self, Identity};
use super::level::{Accumulators, fresh, merge};
use super::truth;
use super::watermark::{Bounds, Watermark};
use crate::event::Event;
use crate::operator::{Emitter, Hold, LATE, OUT, Operator, Surroundings, Usage};
use crate::row::Row;
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use temblor_lang::builtin::CallError;
use temblor_lang::error::EvalError;
use temblor_lang::program::Formula;
use temblor_lang::run::Context;
use temblor_lang::value::{Arena, Frozen, JsonStyle, Owned, Value, push_json};
use temblor_stdlib::formats::rfc3339;
use xxhash_rust::xxh3::xxh3_128;

/// Windows of all groups that a select has open at a time, slides and sessions counted one by one.
pub(crate) const OPEN_WINDOWS_MAX: usize = 1_000_000;
/// Bytes of a window that is open, near enough.
const WINDOW_BYTES: usize = 160;

/// A window of event time as defined.
#[derive(Debug)]
pub struct TimedSpec {
    /// `window` in the select.
    pub name: Frozen,
    /// How it is laid out.
    pub shape: Shape,
    /// The time of an event.
    pub on: Arc<Formula>,
    /// Nanoseconds that an event may be behind the newest one.
    pub late_ns: u64,
    /// Nanoseconds after which a partition without events is not waited for.
    pub idle_ns: u64,
    /// Nanoseconds that the time of an event may be ahead of its arrival.
    pub ahead_ns: Option<u64>,
    /// Groups that may be open at a time.
    pub max_groups: Option<u64>,
    /// Whether it is closed at the end of the input.
    pub flushes: bool,
}

/// How windows of event time are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Every `slide_ns` one ends that covers so many slides; a tumbling window covers one.
    Panes {
        /// Nanoseconds, from 1.
        slide_ns: u64,
        /// Slides, from 1.
        panes: u64,
    },
    /// One ends where no event has come for this time.
    Session {
        /// Nanoseconds, from 1.
        gap_ns: u64,
    },
}

/// A slide, or a session.
#[derive(Debug)]
pub(super) struct Pane {
    pub start_ns: u64,
    pub end_ns: u64,
    pub accumulators: Accumulators,
    /// Whether an event got into it.
    pub is_filled: bool,
    /// The first batch of each partition whose events are in it: all later ones wait behind that.
    pub holds: Vec<(usize, Hold)>,
}

/// One group with open windows.
#[derive(Debug)]
pub(super) struct Group {
    pub identity: Identity,
    /// Which group it was, counted from the start.
    pub order: u64,
    /// When its next window ends.
    pub next_ns: u64,
    /// By their start.
    pub panes: VecDeque<Pane>,
}

/// All open windows.
#[derive(Debug, Default)]
pub struct Open {
    pub(super) groups: halfbrown::HashMap<u128, Box<Group>>,
    /// When each group's next window ends, and which group it was.
    closing: BTreeSet<(u64, u64, u128)>,
    pub(super) watermark: Watermark,
    /// How many groups there were.
    pub(super) clock: u64,
    panes: usize,
    identity_bytes: usize,
    key: Vec<u8>,
}

/// A select over event time.
#[derive(Debug)]
pub struct TimedSelect {
    clauses: Clauses,
    pub(super) spec: TimedSpec,
    max_groups: usize,
    pub(super) open_max: usize,
}

/// An event on its way into windows.
#[derive(Clone, Copy)]
struct Arrived<'a> {
    event: Event<'a>,
    time_ns: u64,
    /// The partition that it came from.
    place: usize,
}

impl TimedSelect {
    /// A select of these clauses over a window.
    #[must_use]
    pub fn new(clauses: Clauses, spec: TimedSpec) -> Self {
        let limit = spec.max_groups.and_then(|limit| usize::try_from(limit).ok());
        let max_groups = limit.unwrap_or(usize::MAX);
        Self { clauses, spec, max_groups, open_max: OPEN_WINDOWS_MAX }
    }

    fn bounds(&self) -> Bounds {
        Bounds { late_ns: self.spec.late_ns, idle_ns: self.spec.idle_ns }
    }

    fn formulas(&self) -> impl Iterator<Item = &Formula> {
        [Some(&self.clauses.target), self.clauses.having.as_ref()].into_iter().flatten()
    }

    /// Paths of the aggregates, in order.
    pub(super) fn aggregates(&self) -> impl Iterator<Item = &'static str> {
        self.formulas().flat_map(|formula| &formula.aggregates).map(|call| call.aggregate.path)
    }

    pub(super) fn fresh(&self) -> Accumulators {
        fresh(self.formulas())
    }

    /// The time of an event.
    fn time<'a>(&'a self, event: Event<'a>, around: &Surroundings<'a>) -> Result<u64, EvalError> {
        let mut nothing = Owned::Null;
        let mut context = self.clauses.context(event, around, &mut nothing);
        let value = self.spec.on.eval(&mut context)?;
        let time_ns = read_time(value).map_err(|error| error.at(self.spec.on.span))?;
        match self.spec.ahead_ns {
            Some(ahead_ns) if time_ns > around.now_ns.saturating_add(ahead_ns) => {
                let message =
                    format!("the event is of {}, too far ahead of its arrival", show(time_ns));
                Err(EvalError::new("E0445", message).at(self.spec.on.span))
            }
            _ => Ok(time_ns),
        }
    }

    /// Gives an event to one group. False when all of its windows have closed.
    fn take<'a>(
        &'a self,
        state: &mut Open,
        dimensions: &'a [Value<'a>],
        arrived: Arrived<'a>,
        around: &Surroundings<'a>,
    ) -> Result<bool, EvalError> {
        state.key.clear();
        push_json(&mut state.key, Value::Array(dimensions), JsonStyle::Sorted);
        let identity = xxh3_128(&state.key);
        let mark_ns = state.watermark.at_ns();
        if !self.is_open(state.groups.get(&identity).map(|one| &**one), arrived.time_ns, mark_ns) {
            return Ok(false);
        }
        self.make_room(state, identity, dimensions)?;
        let group = state.groups.get_mut(&identity).expect("made above");
        let before = group.panes.len();
        let at = group.pane_for(self.spec.shape, arrived.time_ns, || self.fresh());
        let at = at.map_err(|error| failed(&error))?;
        let added = self.add(&mut group.panes[at], arrived, around);
        if !group.panes[at].is_filled {
            group.panes.remove(at);
        }
        state.panes = state.panes + group.panes.len() - before;
        let (order, was_ns) = (group.order, group.next_ns);
        group.next_ns = group.next_end(self.spec.shape, mark_ns);
        let (is_empty, next_ns) = (group.panes.is_empty(), group.next_ns);
        state.reschedule((was_ns, order, identity), (!is_empty).then_some(next_ns));
        added.map(|()| true)
    }

    /// Whether a window that an event of this time belongs to has not closed.
    fn is_open(&self, group: Option<&Group>, time_ns: u64, mark_ns: u64) -> bool {
        match self.spec.shape {
            Shape::Panes { slide_ns, panes } => {
                let start_ns = time_ns / slide_ns * slide_ns;
                start_ns.saturating_add(slide_ns.saturating_mul(panes)) > mark_ns
            }
            Shape::Session { gap_ns } => {
                let end_ns = time_ns.saturating_add(gap_ns);
                let joins = |pane: &Pane| time_ns < pane.end_ns && pane.start_ns < end_ns;
                end_ns > mark_ns || group.is_some_and(|group| group.panes.iter().any(joins))
            }
        }
    }

    /// The group, and room for one more window.
    fn make_room(
        &self,
        state: &mut Open,
        identity: u128,
        dimensions: &[Value<'_>],
    ) -> Result<(), EvalError> {
        if state.panes >= self.open_max {
            let message = format!("more than {} windows are open", self.open_max);
            return Err(EvalError::new("E0447", message)
                .with_help("lower `late` or `idle`, take longer windows or fewer groups"));
        }
        if state.groups.contains_key(&identity) {
            return Ok(());
        }
        if state.groups.len() >= self.max_groups {
            let (key, limit) = (String::from_utf8_lossy(&state.key), self.max_groups);
            let message =
                format!("maximum amount of groups reached ({limit}), ignoring group {key}");
            return Err(EvalError::new("E0432", message).with_help("raise `max_groups`"));
        }
        state.clock += 1;
        let (order, panes) = (state.clock, VecDeque::new());
        let group = Group { identity: Identity::of(dimensions), order, next_ns: u64::MAX, panes };
        state.add(identity, group);
        Ok(())
    }

    /// An event gets into the aggregates of a window.
    fn add<'a>(
        &'a self,
        pane: &mut Pane,
        arrived: Arrived<'a>,
        around: &Surroundings<'a>,
    ) -> Result<(), EvalError> {
        let mut nothing = Owned::Null;
        let mut context = self.clauses.context(arrived.event, around, &mut nothing);
        let mut accumulators = pane.accumulators.iter_mut();
        for formula in self.formulas() {
            for (call, aggregate) in formula.aggregates.iter().enumerate() {
                let arguments = formula.aggregate_arguments(call, &mut context)?;
                let accumulator = accumulators.next().expect("one for each aggregate");
                accumulator.accumulate(arguments).map_err(|error| {
                    EvalError::new("E0433", format!("{}: {error}", aggregate.aggregate.path))
                        .at(aggregate.span)
                })?;
            }
        }
        pane.is_filled = true;
        if !pane.holds.iter().any(|(place, _)| *place == arrived.place) {
            pane.holds.push((arrived.place, around.hold()));
        }
        Ok(())
    }

    /// Emits all windows that end at `until_ns` or before, the earliest end first.
    fn close<'a>(
        &'a self,
        state: &mut Open,
        until_ns: u64,
        around: &Surroundings<'a>,
        out: &mut Emitter<'a>,
    ) {
        while let Some(first) = state.closing.first().copied().filter(|one| one.0 <= until_ns) {
            let (end_ns, _, identity) = first;
            around.call.facts.groups.set(state.groups.len() as u64);
            let group = state.groups.get_mut(&identity).expect("it is in both");
            let before = group.panes.len();
            if let Err(error) = self.emit(group, end_ns, around, out) {
                let empty = around.arena().record_builder(0).finish();
                out.fail(Event::new(Value::Null, empty, around.now_ns), error);
            }
            for pane in group.leave(self.spec.shape, end_ns) {
                pane.holds.into_iter().for_each(|(_, hold)| out.release(hold));
            }
            state.panes -= before - group.panes.len();
            group.next_ns = group.next_end(self.spec.shape, end_ns);
            let next_ns = (!group.panes.is_empty()).then_some(group.next_ns);
            state.reschedule(first, next_ns);
        }
        around.call.facts.groups.set(0);
        around.call.facts.window.set((0, 0));
    }

    /// Computes the result of the window that ends at `end_ns`, and emits it, if `having` agrees.
    fn emit<'a>(
        &'a self,
        group: &Group,
        end_ns: u64,
        around: &Surroundings<'a>,
        out: &mut Emitter<'a>,
    ) -> Result<(), EvalError> {
        let (start_ns, number) = group.covered(self.spec.shape, end_ns);
        let mut merged;
        let accumulators = match number {
            1 => &group.panes[0].accumulators,
            _ => {
                merged = self.fresh();
                for pane in group.panes.iter().take(number) {
                    merge(&mut merged, &pane.accumulators).map_err(|error| failed(&error))?;
                }
                &merged
            }
        };
        let (of_target, of_having) = accumulators.split_at(self.clauses.target.aggregates.len());
        let mut nothing = Owned::Null;
        let (arena, facts) = (around.call.arena, around.call.facts);
        facts.window.set((start_ns, end_ns));
        let meta = arena.record_builder(0).finish();
        let mut context = Context::new(arena, facts, Value::Null, meta, &mut nothing);
        context.args = self.clauses.args.get();
        context.group = group.identity.value(arena);
        context.window = self.spec.name.get();
        context.aggregates = of_target;
        let value = self.clauses.target.eval(&mut context)?;
        if let Some(having) = &self.clauses.having {
            context.event = value;
            context.aggregates = of_having;
            if !truth(having.eval(&mut context)?, having, "having")? {
                return Ok(());
            }
        }
        out.emit(OUT, Event::new(value, meta, around.now_ns));
        Ok(())
    }

    /// Why an event is late.
    fn too_late(&self, time_ns: u64, mark_ns: u64) -> EvalError {
        let message = format!(
            "the event of {} is late: windows up to {} have closed",
            show(time_ns),
            show(mark_ns)
        );
        let help = "wait longer by `late`, or take such events by `else PLACE` or the port `late`";
        EvalError::new("E0446", message).at(self.spec.on.span).with_help(help)
    }
}

impl Group {
    /// The place of the slide or session for an event of this time; sessions that it joins become one.
    fn pane_for(
        &mut self,
        shape: Shape,
        time_ns: u64,
        fresh: impl Fn() -> Accumulators,
    ) -> Result<usize, CallError> {
        let (start_ns, end_ns) = match shape {
            Shape::Panes { slide_ns, .. } => {
                let start_ns = time_ns / slide_ns * slide_ns;
                (start_ns, start_ns.saturating_add(slide_ns))
            }
            Shape::Session { gap_ns } => (time_ns, time_ns.saturating_add(gap_ns)),
        };
        let first = self.panes.partition_point(|pane| pane.end_ns <= start_ns);
        let behind = self.panes.partition_point(|pane| pane.start_ns < end_ns);
        if first == behind {
            let (accumulators, holds) = (fresh(), Vec::new());
            let pane = Pane { start_ns, end_ns, accumulators, is_filled: false, holds };
            self.panes.insert(first, pane);
            return Ok(first);
        }
        for _ in first + 1..behind {
            let next = self.panes.remove(first + 1).expect("it overlaps");
            let pane = &mut self.panes[first];
            merge(&mut pane.accumulators, &next.accumulators)?;
            pane.end_ns = next.end_ns;
            for (place, hold) in next.holds {
                pane.holds.push((place, hold));
            }
        }
        let pane = &mut self.panes[first];
        (pane.start_ns, pane.end_ns) = (pane.start_ns.min(start_ns), pane.end_ns.max(end_ns));
        Ok(first)
    }

    /// When the next window ends, of those that end behind `mark_ns`.
    pub(super) fn next_end(&self, shape: Shape, mark_ns: u64) -> u64 {
        let Some(first) = self.panes.front() else { return u64::MAX };
        match shape {
            Shape::Panes { slide_ns, .. } => {
                first.end_ns.max((mark_ns / slide_ns).saturating_add(1).saturating_mul(slide_ns))
            }
            Shape::Session { .. } => first.end_ns,
        }
    }

    /// Where the window that ends at `end_ns` begins, and how many slides, from the first on, are in it.
    fn covered(&self, shape: Shape, end_ns: u64) -> (u64, usize) {
        match shape {
            Shape::Panes { slide_ns, panes } => {
                let number = self.panes.iter().take_while(|pane| pane.end_ns <= end_ns).count();
                (end_ns.saturating_sub(slide_ns.saturating_mul(panes)), number)
            }
            Shape::Session { .. } => (self.panes.front().map_or(0, |pane| pane.start_ns), 1),
        }
    }

    /// Takes out what no window needs that ends behind `end_ns`.
    fn leave(&mut self, shape: Shape, end_ns: u64) -> Vec<Pane> {
        let is_over = |pane: &Pane| match shape {
            Shape::Panes { slide_ns, panes } => {
                pane.start_ns.saturating_add(slide_ns.saturating_mul(panes)) <= end_ns
            }
            Shape::Session { .. } => pane.end_ns <= end_ns,
        };
        let number = self.panes.iter().take_while(|pane| is_over(pane)).count();
        self.panes.drain(..number).collect()
    }
}

impl Open {
    pub(super) fn add(&mut self, identity: u128, group: Group) {
        self.identity_bytes += group.identity.bytes();
        self.panes += group.panes.len();
        if !group.panes.is_empty() {
            self.closing.insert((group.next_ns, group.order, identity));
        }
        self.groups.insert(identity, Box::new(group));
    }

    /// A group's next window ends at another time; without one the group goes.
    fn reschedule(&mut self, was: (u64, u64, u128), next_ns: Option<u64>) {
        let (was_ns, order, identity) = was;
        if Some(was_ns) != next_ns {
            self.closing.remove(&was);
            self.closing.extend(next_ns.map(|next_ns| (next_ns, order, identity)));
        }
        if next_ns.is_none()
            && let Some(group) = self.groups.remove(&identity)
        {
            self.identity_bytes -= group.identity.bytes();
        }
    }
}

/// A time as a program gives it: whole nanoseconds since 1970, or a text of RFC 3339.
fn read_time(value: Value<'_>) -> Result<u64, EvalError> {
    let wrong = |message: String| EvalError::new("E0445", message);
    let text = value.as_str();
    let read = value.as_i64().or_else(|| rfc3339::parse(text?));
    match (read.map(u64::try_from), value) {
        (Some(Ok(time_ns)), _) => Ok(time_ns),
        (Some(Err(_)), _) => Err(wrong("the time of an event must not be before 1970".to_string())),
        (None, Value::Float(_)) => {
            let message = "the time of an event is whole nanoseconds since 1970, got a float";
            let help = "seconds become nanoseconds by `math::trunc(seconds * 1000000000.0)`";
            Err(wrong(message.to_string()).with_help(help))
        }
        (None, _) => {
            let got = match text {
                Some(text) => format!("`{}`", text.chars().take(40).collect::<String>()),
                None => value.kind().name().to_string(),
            };
            let message = format!(
                "the time of an event is whole nanoseconds since 1970 or a text of RFC 3339, got {got}"
            );
            let help =
                "`datetime::parse` reads other forms: `on datetime::parse(event.time, \"%s\")`";
            Err(wrong(message).with_help(help))
        }
    }
}

/// A time for people.
fn show(time_ns: u64) -> String {
    i64::try_from(time_ns).map_or_else(|_| format!("{time_ns} ns"), rfc3339::text)
}

#[cold]
fn failed(error: &CallError) -> EvalError {
    EvalError::new("E0433", format!("aggregate: {error}"))
}

impl Operator for TimedSelect {
    type State = Open;

    fn start(&self) -> Open {
        Open::default()
    }

    fn process<'a>(
        &'a self,
        state: &mut Open,
        _: &str,
        event: Event<'a>,
        around: &Surroundings<'a>,
        out: &mut Emitter<'a>,
    ) -> Result<(), EvalError> {
        if !self.clauses.takes(event, around)? {
            out.count_drop();
            return Ok(());
        }
        let time_ns = self.time(event, around)?;
        let groups = match &self.clauses.group {
            None => vec![&[Value::Null][..]],
            Some(dimension) => self.clauses.groups(dimension, event, around)?,
        };
        let place = state.watermark.place(&event, around, self.bounds());
        let (mut is_taken, mut result) = (groups.is_empty(), Ok(()));
        for dimensions in groups {
            match self.take(state, dimensions, Arrived { event, time_ns, place }, around) {
                Ok(taken) => is_taken |= taken,
                Err(error) => (is_taken, result) = (true, result.and(Err(error))),
            }
        }
        if !is_taken {
            let error = self.too_late(time_ns, state.watermark.at_ns());
            out.sort_out(LATE, event, error);
        }
        state.watermark.advance(place, time_ns, self.bounds());
        self.close(state, state.watermark.at_ns(), around, out);
        result
    }

    fn flush<'a>(
        &'a self,
        state: &mut Open,
        around: &Surroundings<'a>,
        out: &mut Emitter<'a>,
    ) -> Result<(), EvalError> {
        if self.spec.flushes {
            self.close(state, u64::MAX, around, out);
            return Ok(());
        }
        // They stay open for a run that goes on from here.
        let panes = state.groups.values_mut().flat_map(|group| group.panes.iter_mut());
        panes.flat_map(|pane| pane.holds.drain(..)).for_each(|(_, hold)| out.release(hold));
        Ok(())
    }

    fn save<'a>(&self, state: &Open, arena: &'a Arena) -> Value<'a> {
        self.save_open(state, arena)
    }

    fn restore(&self, saved: Value<'_>) -> Result<Open, CallError> {
        self.restore_open(saved)
    }

    fn rows<'a>(&self, state: &Open, arena: &'a Arena) -> Option<Vec<Row<'a>>> {
        let mut groups: Vec<(u128, &Group)> =
            state.groups.iter().map(|(identity, group)| (*identity, &**group)).collect();
        groups.sort_unstable_by_key(|(_, group)| group.order);
        let row = |(identity, group): (u128, &Group)| {
            let ends = group.panes.front().zip(group.panes.back());
            let (from, to) = ends.map_or((0, 0), |(first, last)| (first.start_ns, last.end_ns));
            let columns = [
                ("open", Value::UInt(group.panes.len() as u64)),
                ("from", Value::UInt(from)),
                ("to", Value::UInt(to)),
            ];
            let key = group::key_of(group.identity.value(arena), arena);
            Row { key, ..Row::new(identity, &columns, arena) }
        };
        Some(groups.into_iter().map(row).collect())
    }

    fn forget(&self, state: &mut Open, hash: u128) -> bool {
        let Some(group) = state.groups.get(&hash) else { return false };
        let was = (group.next_ns, group.order, hash);
        state.panes -= group.panes.len();
        state.reschedule(was, None);
        true
    }

    fn usage(&self, state: &Open) -> Option<Usage> {
        let entries = state.groups.len() as u64;
        let group = size_of::<Group>() + size_of::<(u128, Box<Group>)>();
        let bytes = state.groups.len() * group + state.panes * WINDOW_BYTES + state.identity_bytes;
        Some(Usage { entries, bytes: bytes as u64, evicted: 0 })
    }
}
