//! Open groups as a value, and back. What is restored belongs to a select of the same windows and
//! aggregates, or it is refused.

use super::group::Identity;
use super::level::{Accumulators, Closing, Level, Panes, WindowSpec, fresh};
use super::timed::{self, Open, Pane, Shape, TimedSelect};
use super::watermark::Watermark;
use super::windowed::{Group, Groups, WindowedSelect};
use temblor_lang::builtin::CallError;
use temblor_lang::value::{Arena, Key, Owned, Value};

pub(super) fn part<'a>(saved: Value<'a>, name: &str) -> Result<Value<'a>, CallError> {
    saved.get(&Key::new(name)).ok_or_else(|| CallError::failed(format!("`{name}` is missing")))
}

pub(super) fn whole(saved: Value<'_>, name: &str) -> Result<u64, CallError> {
    let wrong = || CallError::failed(format!("`{name}` is not a whole number"));
    part(saved, name)?.as_u64().ok_or_else(wrong)
}

pub(super) fn text<'a>(saved: Value<'a>, name: &str) -> Result<&'a str, CallError> {
    let wrong = || CallError::failed(format!("`{name}` is not a text"));
    part(saved, name)?.as_str().ok_or_else(wrong)
}

pub(super) fn items<'a>(
    saved: Value<'a>,
    name: &str,
    arena: &'a Arena,
) -> Result<&'a [Value<'a>], CallError> {
    let wrong = || CallError::failed(format!("`{name}` is not an array"));
    part(saved, name)?.as_array(arena).ok_or_else(wrong)
}

/// A hash as a value: the halves of its 128 bits.
fn hash_value<'a>(hash: u128, arena: &'a Arena) -> Value<'a> {
    arena.array([(hash >> 64) as u64, hash as u64].map(Value::UInt))
}

fn hash(saved: Value<'_>) -> Result<u128, CallError> {
    match (saved.at(0).and_then(Value::as_u64), saved.at(1).and_then(Value::as_u64)) {
        (Some(high), Some(low)) => Ok(u128::from(high) << 64 | u128::from(low)),
        _ => Err(CallError::failed("the identity of a group is damaged")),
    }
}

fn save_accumulators<'a>(accumulators: &Accumulators, arena: &'a Arena) -> Value<'a> {
    arena.array(accumulators.iter().map(|one| one.save(arena)))
}

fn restore_accumulators<'a>(
    into: &mut Accumulators,
    saved: Value<'a>,
    arena: &'a Arena,
) -> Result<(), CallError> {
    let saved = saved.as_array(arena).unwrap_or_default();
    if saved.len() != into.len() {
        return Err(CallError::failed("it has other aggregates"));
    }
    into.iter_mut().zip(saved).try_for_each(|(one, saved)| one.restore(*saved))
}

impl Level {
    fn save<'a>(&self, arena: &'a Arena) -> Value<'a> {
        let mut record = arena.record_builder(5);
        let (kind, at) = match &self.closing {
            Closing::Weight(weight) => ("weight", Value::UInt(*weight)),
            Closing::Deadline(deadline) => ("deadline", deadline.map_or(Value::Null, Value::UInt)),
            Closing::Script(state) => ("state", state.read(arena)),
        };
        record.append("kind", Value::Str(kind));
        record.append("at", at);
        record.append("holds", Value::Bool(self.holds_data));
        record.append("gathered", save_accumulators(&self.accumulators, arena));
        let panes = self.panes.iter().flat_map(|panes| &panes.0);
        let panes = panes.map(|pane| save_accumulators(pane, arena));
        record.append("panes", arena.array(panes));
        record.finish()
    }

    fn restore<'a>(
        spec: &WindowSpec,
        saved: Value<'a>,
        fresh: &impl Fn() -> Accumulators,
        arena: &'a Arena,
    ) -> Result<Self, CallError> {
        let mut level = Level::new(spec, fresh());
        let at = part(saved, "at")?;
        match (&mut level.closing, part(saved, "kind")?.as_str(), at) {
            (Closing::Weight(weight), Some("weight"), Value::UInt(at)) => *weight = at,
            (Closing::Weight(weight), Some("weight"), Value::Int(at)) => {
                *weight = u64::try_from(at).unwrap_or(0);
            }
            (Closing::Deadline(deadline), Some("deadline"), at) => *deadline = at.as_u64(),
            (Closing::Script(state), Some("state"), at) => **state = Owned::from(at),
            _ => return Err(CallError::failed("a window closes in another way now")),
        }
        level.holds_data = part(saved, "holds")?.as_bool().unwrap_or(false);
        restore_accumulators(&mut level.accumulators, part(saved, "gathered")?, arena)?;
        let mut panes = Panes::default();
        for saved in items(saved, "panes", arena)? {
            let mut pane = fresh();
            restore_accumulators(&mut pane, *saved, arena)?;
            panes.0.push_back(pane);
        }
        level.panes = (!panes.0.is_empty()).then(|| Box::new(panes));
        Ok(level)
    }
}

impl WindowedSelect {
    /// What a saved state must agree with: the aggregates by their paths, in order.
    fn shape<'a>(&self, arena: &'a Arena) -> Value<'a> {
        arena.array(self.aggregates().map(|path| Value::Str(arena.str(path))))
    }

    pub(super) fn save_groups<'a>(&self, state: &Groups, arena: &'a Arena) -> Value<'a> {
        let mut groups: Vec<_> = state.open.iter().collect();
        groups.sort_unstable_by_key(|(_, group)| group.used);
        let groups = groups.into_iter().map(|(identity, group)| {
            let mut record = arena.record_builder(5);
            record.append("identity", hash_value(*identity, arena));
            record.append("group", group.identity.value(arena));
            record.append("used", Value::UInt(group.used));
            record.append("used_ns", Value::UInt(group.used_ns));
            let levels = group.levels.iter().map(|level| level.save(arena));
            record.append("levels", arena.array(levels));
            record.finish()
        });
        let groups = arena.array(groups);
        let mut record = arena.record_builder(4);
        record.append("aggregates", self.shape(arena));
        record.append("clock", Value::UInt(state.clock));
        record.append("evicted", Value::UInt(state.evicted));
        record.append("groups", groups);
        record.finish()
    }

    pub(super) fn restore_groups(&self, saved: Value<'_>) -> Result<Groups, CallError> {
        let arena = Arena::new();
        if part(saved, "aggregates")? != self.shape(&arena) {
            return Err(CallError::failed("it has other aggregates"));
        }
        let mut state = Groups::going_on(whole(saved, "clock")?, whole(saved, "evicted")?);
        for saved in items(saved, "groups", &arena)? {
            let identity = hash(part(*saved, "identity")?)?;
            let group = self.restore_group(*saved, &arena)?;
            state.note_use(self, identity, group.used, group.used_ns);
            state.add(identity, group);
        }
        Ok(state)
    }

    fn restore_group<'a>(&self, saved: Value<'a>, arena: &'a Arena) -> Result<Group, CallError> {
        let levels = items(saved, "levels", arena)?;
        if levels.len() != self.windows.len() {
            return Err(CallError::failed("it has another number of windows"));
        }
        let fresh = || fresh(self.formulas());
        let levels = self.windows.iter().zip(levels);
        let levels = levels.map(|(spec, saved)| Level::restore(spec, *saved, &fresh, arena));
        Ok(Group {
            identity: Identity::restore(items(saved, "group", arena)?),
            levels: levels.collect::<Result<_, _>>()?,
            hold: None,
            used: whole(saved, "used")?,
            used_ns: whole(saved, "used_ns")?,
        })
    }
}

impl Shape {
    /// What a saved state must agree with.
    fn text(self) -> String {
        match self {
            Shape::Panes { slide_ns, panes } => format!("{panes} of {slide_ns} ns"),
            Shape::Session { gap_ns } => format!("session of {gap_ns} ns"),
        }
    }
}

impl TimedSelect {
    fn shape<'a>(&self, arena: &'a Arena) -> Value<'a> {
        arena.array(self.aggregates().map(|path| Value::Str(arena.str(path))))
    }

    pub(super) fn save_open<'a>(&self, state: &Open, arena: &'a Arena) -> Value<'a> {
        let mut groups: Vec<_> = state.groups.iter().collect();
        groups.sort_unstable_by_key(|(_, group)| group.order);
        let groups = groups.into_iter().map(|(identity, group)| {
            let panes = group.panes.iter().map(|pane| {
                let mut record = arena.record_builder(3);
                record.append("start", Value::UInt(pane.start_ns));
                record.append("end", Value::UInt(pane.end_ns));
                record.append("gathered", save_accumulators(&pane.accumulators, arena));
                record.finish()
            });
            let panes = arena.array(panes);
            let mut record = arena.record_builder(5);
            record.append("identity", hash_value(*identity, arena));
            record.append("group", group.identity.value(arena));
            record.append("order", Value::UInt(group.order));
            record.append("next", Value::UInt(group.next_ns));
            record.append("windows", panes);
            record.finish()
        });
        let groups = arena.array(groups);
        let mut record = arena.record_builder(5);
        record.append("aggregates", self.shape(arena));
        record.append("shape", Value::Str(arena.str(&self.spec.shape.text())));
        record.append("clock", Value::UInt(state.clock));
        record.append("watermark", state.watermark.save(arena));
        record.append("groups", groups);
        record.finish()
    }

    pub(super) fn restore_open(&self, saved: Value<'_>) -> Result<Open, CallError> {
        let arena = Arena::new();
        if part(saved, "aggregates")? != self.shape(&arena) {
            return Err(CallError::failed("it has other aggregates"));
        }
        if text(saved, "shape")? != self.spec.shape.text() {
            return Err(CallError::failed("its windows are of another kind or length"));
        }
        let mut state = Open::default();
        state.clock = whole(saved, "clock")?;
        state.watermark = Watermark::restore(part(saved, "watermark")?, &arena)?;
        for saved in items(saved, "groups", &arena)? {
            let identity = hash(part(*saved, "identity")?)?;
            state.add(identity, self.restore_group(*saved, &arena)?);
        }
        Ok(state)
    }

    fn restore_group<'a>(
        &self,
        saved: Value<'a>,
        arena: &'a Arena,
    ) -> Result<timed::Group, CallError> {
        let pane = |saved: &Value<'a>| {
            let mut accumulators = self.fresh();
            restore_accumulators(&mut accumulators, part(*saved, "gathered")?, arena)?;
            let (start_ns, end_ns) = (whole(*saved, "start")?, whole(*saved, "end")?);
            Ok(Pane { start_ns, end_ns, accumulators, is_filled: true, holds: Vec::new() })
        };
        let panes = items(saved, "windows", arena)?.iter().map(pane);
        Ok(timed::Group {
            identity: Identity::restore(items(saved, "group", arena)?),
            order: whole(saved, "order")?,
            next_ns: whole(saved, "next")?,
            panes: panes.collect::<Result<_, CallError>>()?,
        })
    }
}
