//! A select with windows. Each group has its own levels, one for each window of the frame: the
//! first gets the events, each further one what the one before has gathered when it closes.

use super::group;
use super::level::{Accumulators, Item, Level, WindowKind, WindowSpec, fresh, merge};
use super::{Clauses, truth};
use crate::event::Event;
use crate::operator::{Emitter, Hold, OUT, Operator, Surroundings, Usage};
use crate::row::Row;
use std::collections::VecDeque;
use temblor_lang::builtin::CallError;
use temblor_lang::error::EvalError;
use temblor_lang::program::Formula;
use temblor_lang::run::Context;
use temblor_lang::value::{Arena, JsonStyle, Owned, Value, push_json};
use xxhash_rust::xxh3::xxh3_128;

/// A select with at least one window.
#[derive(Debug)]
pub struct WindowedSelect {
    clauses: Clauses,
    pub(super) windows: Vec<WindowSpec>,
    /// The smallest limit of the frame.
    max_groups: usize,
    evicts: bool,
    /// The shortest age of the frame, in nanoseconds.
    max_age: Option<u64>,
}

/// Bytes of a small accumulator such as a sum, and of the reference to it.
const ACCUMULATOR_BYTES: usize = 48;

/// One group that is open.
#[derive(Debug)]
pub(super) struct Group {
    /// What `group` is.
    pub identity: group::Identity,
    pub levels: Box<[Level]>,
    /// The batches whose events are in some level.
    pub hold: Option<Hold>,
    /// Number of its last use, for eviction.
    pub used: u64,
    /// Time of its last use, in nanoseconds since 1970-01-01 UTC.
    pub used_ns: u64,
}

/// A use of a group; stale when the group has been used again.
#[derive(Clone, Copy, Debug)]
struct Use {
    identity: u128,
    used: u64,
    used_ns: u64,
}

/// All open groups.
#[derive(Debug, Default)]
pub struct Groups {
    /// Boxed, so that the free places of a large table are small.
    pub(super) open: halfbrown::HashMap<u128, Box<Group>>,
    /// Bytes of the identities of the open groups.
    pub(super) identity_bytes: usize,
    /// Uses in order; stale ones are skipped. Only kept when groups are evicted.
    uses: VecDeque<Use>,
    pub(super) clock: u64,
    pub(super) evicted: u64,
    /// The text of a group while its identity is taken.
    key: Vec<u8>,
}

impl WindowedSelect {
    /// A select of these clauses over a frame of windows.
    #[must_use]
    pub fn new(clauses: Clauses, windows: Vec<WindowSpec>) -> Self {
        let limit = windows.iter().filter_map(|window| window.max_groups).min();
        let max_groups = limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX);
        let evicts = windows.iter().any(|window| window.evicts);
        let max_age = windows.iter().filter_map(|window| window.max_age).min();
        Self { clauses, windows, max_groups, evicts, max_age }
    }

    /// The formulas that may call aggregates.
    pub(super) fn formulas(&self) -> impl Iterator<Item = &Formula> {
        [Some(&self.clauses.target), self.clauses.having.as_ref()].into_iter().flatten()
    }

    /// Paths of the aggregates, in order.
    pub(super) fn aggregates(&self) -> impl Iterator<Item = &'static str> {
        self.formulas().flat_map(|formula| &formula.aggregates).map(|call| call.aggregate.path)
    }

    fn fresh(&self) -> Accumulators {
        fresh(self.formulas())
    }

    fn new_group(&self, dimensions: &[Value<'_>]) -> Group {
        let levels = self.windows.iter().map(|spec| Level::new(spec, self.fresh())).collect();
        let identity = group::Identity::of(dimensions);
        Group { identity, levels, hold: None, used: 0, used_ns: 0 }
    }

    /// Feeds one event to one group.
    fn feed_group<'a>(
        &'a self,
        state: &mut Groups,
        dimensions: &'a [Value<'a>],
        event: Event<'a>,
        around: &Surroundings<'a>,
        out: &mut Emitter<'a>,
    ) -> Result<(), EvalError> {
        state.key.clear();
        push_json(&mut state.key, Value::Array(dimensions), JsonStyle::Sorted);
        let identity = xxh3_128(&state.key);
        let aged = self.close_aged(state, around, out);
        if !state.open.contains_key(&identity) {
            self.make_room(state, around, out)?;
            state.add(identity, self.new_group(dimensions));
        }
        state.clock += 1;
        let (used, used_ns) = (state.clock, around.now_ns);
        state.note_use(self, identity, used, used_ns);
        around.call.facts.groups.set(state.open.len() as u64);
        let item = Item { event: event.value, meta: event.meta, ingest_ns: event.ingest_ns };
        let group = state.open.get_mut(&identity).expect("inserted above");
        (group.used, group.used_ns) = (used, used_ns);
        let result = self.feed(group, 0, item, around, out);
        // The oldest batch that the group still needs is held: all later ones wait behind it.
        group.hold.get_or_insert_with(|| around.hold());
        if group.levels.iter().all(Level::is_empty)
            && let Some(group) = state.remove(identity)
        {
            out.release(group.hold.unwrap_or_default());
        }
        around.call.facts.groups.set(0);
        aged.and(result)
    }

    /// Closes the groups that have had no event for too long, the oldest first.
    fn close_aged<'a>(
        &'a self,
        state: &mut Groups,
        around: &Surroundings<'a>,
        out: &mut Emitter<'a>,
    ) -> Result<(), EvalError> {
        let Some(max_age) = self.max_age else { return Ok(()) };
        let mut result = Ok(());
        let is_old = |one: &Use| one.used_ns.saturating_add(max_age) <= around.now_ns;
        while state.uses.front().is_some_and(is_old) {
            let Some(mut group) = state.pop_use() else { continue };
            result = result.and(self.close(&mut group, around, out));
            out.release(group.hold.take().unwrap_or_default());
        }
        result
    }

    /// A new group over the limit is refused, or pushes out the one used least recently.
    fn make_room<'a>(
        &'a self,
        state: &mut Groups,
        around: &Surroundings<'a>,
        out: &mut Emitter<'a>,
    ) -> Result<(), EvalError> {
        if state.open.len() < self.max_groups {
            return Ok(());
        }
        if !self.evicts {
            let key = String::from_utf8_lossy(&state.key);
            return Err(EvalError::new(
                "E0432",
                format!(
                    "maximum amount of groups reached ({}), ignoring group {key}",
                    self.max_groups
                ),
            )
            .with_help("raise `max_groups`, or set `eviction = \"lru\"`"));
        }
        while !state.uses.is_empty() {
            if let Some(mut group) = state.pop_use() {
                let closed = self.close(&mut group, around, out);
                out.release(group.hold.take().unwrap_or_default());
                return closed;
            }
        }
        Ok(())
    }

    /// Emits what all levels hold, smallest first.
    fn close<'a>(
        &'a self,
        group: &mut Group,
        around: &Surroundings<'a>,
        out: &mut Emitter<'a>,
    ) -> Result<(), EvalError> {
        let item = tick_item(around);
        for level in 0..group.levels.len() {
            if group.levels[level].holds_data {
                self.emit(group, level, item, around, out)?;
                self.pass_up(group, level)?;
            }
        }
        Ok(())
    }

    /// Hands what a level has gathered to the next one without asking whether that closes.
    fn pass_up(&self, group: &mut Group, level: usize) -> Result<(), EvalError> {
        let (below, above) = group.levels.split_at_mut(level + 1);
        if let Some(next) = above.first_mut() {
            merge(&mut next.accumulators, &below[level].accumulators).map_err(|e| failed(&e))?;
            next.holds_data = true;
        }
        below[level].clear(&self.windows[level], || self.fresh());
        Ok(())
    }

    /// Gives an item to a level; see the processing of one event in the specification.
    fn feed<'a>(
        &'a self,
        group: &mut Group,
        level: usize,
        item: Item<'a>,
        around: &Surroundings<'a>,
        out: &mut Emitter<'a>,
    ) -> Result<(), EvalError> {
        let spec = &self.windows[level];
        let decision = group.levels[level].decide(spec, item, level == 0, around)?;
        if decision.include {
            self.add(group, level, item, around)?;
        }
        if decision.emit {
            if group.levels[level].holds_data {
                self.emit(group, level, item, around, out)?;
                if level + 1 < self.windows.len() {
                    self.feed(group, level + 1, item, around, out)?;
                }
            }
            group.levels[level].clear(spec, || self.fresh());
        }
        if !decision.include {
            self.add(group, level, item, around)?;
        }
        Ok(())
    }

    /// Level 0 takes the event into its aggregates, a higher one what the level below has gathered.
    fn add<'a>(
        &'a self,
        group: &mut Group,
        level: usize,
        item: Item<'a>,
        around: &Surroundings<'a>,
    ) -> Result<(), EvalError> {
        if level > 0 {
            let (below, above) = group.levels.split_at_mut(level);
            merge(&mut above[0].accumulators, &below[level - 1].accumulators)
                .map_err(|error| failed(&error))?;
            above[0].holds_data = true;
            return Ok(());
        }
        let mut nothing = Owned::Null;
        let event = Event::new(item.event, item.meta, item.ingest_ns);
        let mut context = self.clauses.context(event, around, &mut nothing);
        let accumulators = &mut group.levels[0].accumulators;
        let formulas = [Some(&self.clauses.target), self.clauses.having.as_ref()];
        let mut at = 0;
        for formula in formulas.into_iter().flatten() {
            for (call, aggregate) in formula.aggregates.iter().enumerate() {
                let arguments = formula.aggregate_arguments(call, &mut context)?;
                accumulators[at].accumulate(arguments).map_err(|error| {
                    EvalError::new("E0433", format!("{}: {error}", aggregate.aggregate.path))
                        .at(aggregate.span)
                })?;
                at += 1;
            }
        }
        group.levels[0].holds_data = true;
        Ok(())
    }

    /// Computes the result of a level and emits it, if `having` agrees.
    fn emit<'a>(
        &'a self,
        group: &Group,
        level: usize,
        item: Item<'a>,
        around: &Surroundings<'a>,
        out: &mut Emitter<'a>,
    ) -> Result<(), EvalError> {
        let covered = group.levels[level].covered(|| self.fresh()).map_err(|e| failed(&e))?;
        let accumulators = covered.as_ref().unwrap_or(&group.levels[level].accumulators);
        let (of_target, of_having) = accumulators.split_at(self.clauses.target.aggregates.len());
        let mut nothing = Owned::Null;
        let (arena, facts) = (around.call.arena, around.call.facts);
        let mut context = Context::new(arena, facts, Value::Null, item.meta, &mut nothing);
        context.args = self.clauses.args.get();
        context.group = group.identity.value(arena);
        context.window = self.windows[level].name.get();
        context.aggregates = of_target;
        let value = self.clauses.target.eval(&mut context)?;
        if let Some(having) = &self.clauses.having {
            context.event = value;
            context.aggregates = of_having;
            if !truth(having.eval(&mut context)?, having, "having")? {
                return Ok(());
            }
        }
        out.emit(OUT, Event::new(value, item.meta, item.ingest_ns));
        Ok(())
    }

    /// One group at a tick: only its first level is asked.
    fn tick_group<'a>(
        &'a self,
        group: &mut Group,
        around: &Surroundings<'a>,
        out: &mut Emitter<'a>,
    ) -> Result<(), EvalError> {
        let spec = &self.windows[0];
        if !group.levels[0].decide_tick(spec, around)? {
            return Ok(());
        }
        let item = tick_item(around);
        if group.levels[0].holds_data {
            self.emit(group, 0, item, around, out)?;
            if self.windows.len() > 1 {
                self.feed(group, 1, item, around, out)?;
            }
        }
        group.levels[0].clear(spec, || self.fresh());
        Ok(())
    }
}

fn tick_item<'a>(around: &Surroundings<'a>) -> Item<'a> {
    let meta = around.arena().record_builder(0).finish();
    Item { event: Value::Null, meta, ingest_ns: around.now_ns }
}

#[cold]
fn failed(error: &CallError) -> EvalError {
    EvalError::new("E0433", format!("aggregate: {error}"))
}

impl Groups {
    /// No groups, after so many uses and evictions.
    pub(super) fn going_on(clock: u64, evicted: u64) -> Self {
        Self { clock, evicted, ..Self::default() }
    }

    /// Adds a group.
    pub(super) fn add(&mut self, identity: u128, group: Group) {
        self.identity_bytes += group.identity.bytes();
        self.open.insert(identity, Box::new(group));
    }

    fn remove(&mut self, identity: u128) -> Option<Group> {
        let group = self.open.remove(&identity)?;
        self.identity_bytes -= group.identity.bytes();
        Some(*group)
    }

    /// Drops stale uses when they outnumber the groups by far.
    fn compact(&mut self) {
        /// Stale uses that are tolerated beside each group.
        const USES_PER_GROUP_MAX: usize = 8;
        /// Below this it is not worth the while.
        const USES_MIN: usize = 1024;
        if self.uses.len() > USES_MIN.max(self.open.len() * USES_PER_GROUP_MAX) {
            let open = &self.open;
            self.uses
                .retain(|one| open.get(&one.identity).is_some_and(|group| group.used == one.used));
        }
    }

    /// Remembers a use, where groups are evicted.
    pub(super) fn note_use(
        &mut self,
        select: &WindowedSelect,
        identity: u128,
        used: u64,
        used_ns: u64,
    ) {
        if select.evicts || select.max_age.is_some() {
            self.uses.push_back(Use { identity, used, used_ns });
            self.compact();
        }
    }

    /// Takes the oldest use, and the group out of the open ones when that was its last.
    fn pop_use(&mut self) -> Option<Group> {
        let Use { identity, used, .. } = self.uses.pop_front()?;
        let is_last = self.open.get(&identity).is_some_and(|group| group.used == used);
        let group = if is_last { self.remove(identity) } else { None };
        self.evicted += u64::from(group.is_some());
        group
    }
}

impl Operator for WindowedSelect {
    type State = Groups;

    fn start(&self) -> Groups {
        Groups::default()
    }

    fn process<'a>(
        &'a self,
        state: &mut Groups,
        _: &str,
        event: Event<'a>,
        around: &Surroundings<'a>,
        out: &mut Emitter<'a>,
    ) -> Result<(), EvalError> {
        if !self.clauses.takes(event, around)? {
            out.count_drop();
            return Ok(());
        }
        let Some(dimension) = &self.clauses.group else {
            return self.feed_group(state, &[Value::Null], event, around, out);
        };
        for dimensions in self.clauses.groups(dimension, event, around)? {
            self.feed_group(state, dimensions, event, around, out)?;
        }
        Ok(())
    }

    fn wants_ticks(&self) -> bool {
        self.max_age.is_some() || !matches!(self.windows[0].kind, WindowKind::Size { .. })
    }

    fn tick<'a>(
        &'a self,
        state: &mut Groups,
        around: &Surroundings<'a>,
        out: &mut Emitter<'a>,
    ) -> Result<(), EvalError> {
        let mut result = self.close_aged(state, around, out);
        // In the order of their last use: the order of the table is another in each run.
        let mut groups: Vec<_> = state.open.values_mut().map(Box::as_mut).collect();
        groups.sort_unstable_by_key(|group| group.used);
        let mut open = groups.len() as u64;
        for group in groups {
            around.call.facts.groups.set(open);
            let one = self.tick_group(group, around, out);
            if group.levels.iter().all(Level::is_empty) {
                open -= 1;
                out.release(group.hold.take().unwrap_or_default());
            }
            result = result.and(one);
        }
        around.call.facts.groups.set(0);
        let identity_bytes = &mut state.identity_bytes;
        state.open.retain(|_, group| {
            let goes = group.levels.iter().all(Level::is_empty);
            *identity_bytes -= if goes { group.identity.bytes() } else { 0 };
            !goes
        });
        result
    }

    fn flush<'a>(
        &'a self,
        state: &mut Groups,
        around: &Surroundings<'a>,
        out: &mut Emitter<'a>,
    ) -> Result<(), EvalError> {
        let mut result = Ok(());
        if !self.windows.iter().any(|window| window.flushes) {
            // They stay open for a run that goes on from here.
            for group in state.open.values_mut() {
                out.release(group.hold.take().unwrap_or_default());
            }
            return result;
        }
        state.identity_bytes = 0;
        let mut groups: Vec<_> = std::mem::take(&mut state.open).into_iter().collect();
        groups.sort_unstable_by_key(|(_, group)| group.used);
        let mut open = groups.len() as u64;
        for (_, mut group) in groups {
            around.call.facts.groups.set(open);
            open -= 1;
            result = result.and(self.close(&mut group, around, out));
            out.release(group.hold.take().unwrap_or_default());
        }
        around.call.facts.groups.set(0);
        result
    }

    fn save<'a>(&self, state: &Groups, arena: &'a Arena) -> Value<'a> {
        self.save_groups(state, arena)
    }

    fn restore(&self, saved: Value<'_>) -> Result<Groups, CallError> {
        self.restore_groups(saved)
    }

    fn rows<'a>(&self, state: &Groups, arena: &'a Arena) -> Option<Vec<Row<'a>>> {
        Some(self.group_rows(state, arena))
    }

    fn amend(&self, state: &mut Groups, hash: u128, columns: Value<'_>) -> Result<(), CallError> {
        self.amend_group(state, hash, columns)
    }

    fn forget(&self, state: &mut Groups, hash: u128) -> bool {
        state.open.remove(&hash).is_some()
    }

    fn usage(&self, state: &Groups) -> Option<Usage> {
        let aggregates = self.aggregates().count() * ACCUMULATOR_BYTES;
        let levels = self.windows.len() * (size_of::<Level>() + aggregates);
        let group = size_of::<(u128, Box<Group>)>() + size_of::<Group>() + levels;
        let entries = state.open.len();
        let bytes = (entries * group + state.identity_bytes) as u64;
        let entries = entries as u64;
        Some(Usage { entries, bytes, evicted: state.evicted })
    }
}
