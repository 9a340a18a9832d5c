//! Assignments that add to what they assign to, and what is asked of a value while it grows. Each
//! does just what the plain way does, which everything unusual takes.

use super::draft::{Draft, RecordDraft, is_large};
use super::{Eval, Run, failure, patch};
use crate::builtin::{Addition, Call};
use crate::program::{self, Expr, Segment, Target, TargetRoot, TextPart};
use crate::syntax::tree::BinaryOp;
use crate::value::{Key, Kind, Owned, Value};

/// Stands for `$` where others have the slot of a local.
const META: usize = usize::MAX;

/// The locals, by their slots among all, and `$`, as far as they grow. A local of which there is a
/// draft has no value; one that has a value has no draft, or one that is out of date.
#[derive(Debug, Default)]
pub(crate) struct Drafts<'a>(Vec<(usize, Draft<'a>)>);

impl<'a> Drafts<'a> {
    fn get(&mut self, slot: usize) -> Option<&mut Draft<'a>> {
        self.0.iter_mut().find(|(one, _)| *one == slot).map(|(_, draft)| draft)
    }

    fn take(&mut self, slot: usize) -> Option<Draft<'a>> {
        let at = self.0.iter().position(|(one, _)| *one == slot)?;
        Some(self.0.swap_remove(at).1)
    }

    /// Forgets the locals of a function that has ended or begins anew.
    #[inline]
    pub(crate) fn forget(&mut self, base: usize) {
        if !self.0.is_empty() {
            self.0.retain(|(slot, _)| *slot < base || *slot == META);
        }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// What is added, evaluated.
enum More<'a> {
    Element(Value<'a>),
    Whole(Value<'a>),
    Text(&'a str),
}

impl<'a> Run<'a, '_, '_> {
    /// The value that a draft of a local becomes, if there is one.
    #[cold]
    pub(super) fn settle_local(&mut self, slot: usize) -> Option<Value<'a>> {
        let slot = self.base + slot;
        let value = self.drafts.take(slot)?.finish();
        self.locals[slot] = Some(value);
        Some(value)
    }

    /// `$` as a value that stays as it is.
    #[inline]
    pub(super) fn meta(&mut self) -> Value<'a> {
        if !self.drafts.is_empty()
            && let Some(draft) = self.drafts.take(META)
        {
            self.context.meta = draft.finish();
        }
        self.context.meta
    }

    /// The draft of a local, if it has one that is up to date.
    #[inline]
    pub(super) fn local_draft(&mut self, slot: usize) -> Option<&mut Draft<'a>> {
        if self.drafts.is_empty() || self.locals[self.base + slot].is_some() {
            return None;
        }
        self.drafts.get(self.base + slot)
    }

    /// `let target = value`, where `value` may be the present value with more to it.
    pub(super) fn grow(&mut self, target: &'a Target, value: &'a Expr) -> Eval<'a, ()> {
        let block = match value {
            Expr::Match(matching) => Some(self.arm_of(matching)?),
            Expr::If(arms, otherwise) => self.chosen(arms, otherwise.as_ref())?,
            _ => return self.grow_by(target, value),
        };
        let Some(block) = block else { return self.assign(target, Value::Null) };
        self.perform_all(&block.effects)?;
        match &block.last {
            Some(last) => self.grow(target, last),
            None => self.assign(target, Value::Null),
        }
    }

    fn grow_by(&mut self, target: &'a Target, value: &'a Expr) -> Eval<'a, ()> {
        if let (Expr::Local(slot, _), TargetRoot::Local(_)) = (value, target.root)
            && target.is_read_by(value)
            && self.local_draft(*slot).is_some()
        {
            return Ok(());
        }
        if !is_addition(target, value) {
            return self.assign_plainly(target, value);
        }
        let Some(keys) = self.place_keys(&target.segments) else {
            return self.assign_plainly(target, value);
        };
        let Some(kind) = self.growing_kind(target, &keys) else {
            return self.assign_plainly(target, value);
        };
        if let Expr::Patch(patched) = value {
            return self.grow_by_patch(target, &keys, kind, (value, patched));
        }
        let more = self.more(value)?;
        let fits = match (&more, kind) {
            (More::Element(_), Kind::Array) => true,
            (More::Whole(more), kind) => more.kind() == kind,
            (More::Text(_), kind) => kind == Kind::String,
            (More::Element(_), _) => false,
        };
        if !fits {
            let changed = self.added(value, more)?;
            return self.assign(target, changed);
        }
        let arena = self.arena();
        if let TargetRoot::State = target.root {
            self.add_to_state(&keys, &more, target)?;
        } else if let Some(draft) = self.draft(target, &keys) {
            match (draft, more) {
                (Draft::Array(items), More::Element(more)) => items.push(more),
                (draft, More::Whole(more)) => _ = draft.append(more, arena),
                (draft, More::Text(more)) => _ = draft.append(Value::Str(more), arena),
                (_, More::Element(_)) => {}
            }
        }
        Ok(self.afford(target.span)?)
    }

    fn grow_by_patch(
        &mut self,
        target: &'a Target,
        keys: &[Key<'a>],
        kind: Kind,
        (value, patched): (&'a Expr, &'a program::Patch),
    ) -> Eval<'a, ()> {
        if kind != Kind::Record || target.root == TargetRoot::State {
            return self.assign_plainly(target, value);
        }
        let prepared = self.prepare_all(patched)?;
        let arena = self.arena();
        match self.draft(target, keys) {
            Some(Draft::Record(record)) => {
                patch::apply_in_place(arena, record.whole(), patched, prepared)?;
            }
            _ => return Err(failure::conflicting_type(kind, "record", patched.target_span).into()),
        }
        Ok(self.afford(target.span)?)
    }

    /// What the expression adds.
    fn more(&mut self, value: &'a Expr) -> Eval<'a, More<'a>> {
        Ok(match value {
            Expr::Binary(binary) => More::Whole(self.operand(&binary.right)?),
            Expr::Merge(_, with, _) => More::Whole(self.eval(with)?),
            Expr::Text(parts) => More::Text(self.text(parts.get(1..).unwrap_or_default())?),
            Expr::Call(call) => {
                let second = self.operand(&call.arguments[1])?;
                match call.function.addition {
                    Addition::Element => More::Element(second),
                    Addition::Whole | Addition::None => More::Whole(second),
                }
            }
            _ => unreachable!("only additions are asked for what they add"),
        })
    }

    /// The value of an addition of which what is added is known already: the plain way, with its
    /// errors.
    fn added(&mut self, value: &'a Expr, more: More<'a>) -> Eval<'a> {
        let (More::Element(second) | More::Whole(second)) = more else {
            let (Expr::Text(parts), More::Text(rest)) = (value, more) else {
                unreachable!("only texts are added to by texts")
            };
            let first = self.text(parts.get(..1).unwrap_or_default())?;
            return Ok(Value::Str(self.arena().concat(first, rest)));
        };
        match value {
            Expr::Binary(binary) => {
                let left = self.operand(&binary.left)?;
                self.binary_of(binary, left, second)
            }
            Expr::Call(call) => {
                let first = self.operand(&call.arguments[0])?;
                self.invoke(call, &[first, second])
            }
            Expr::Merge(merged, _, span) => {
                let target = self.eval(merged)?;
                self.merge_of(target, second, *span)
            }
            _ => unreachable!("only additions are asked for what they add"),
        }
    }

    /// The keys of a place; `None` when one is no text.
    fn place_keys(&mut self, segments: &'a [Segment]) -> Option<Vec<Key<'a>>> {
        let mut keys = Vec::with_capacity(segments.len());
        for segment in segments {
            keys.push(match segment {
                Segment::Field(name, hash, _) => Key::with_hash(name, *hash),
                Segment::Expr(Expr::Local(slot, _), _) => Key::new(self.local(*slot)?.as_str()?),
                Segment::Expr(Expr::Const(name), _) => Key::new(name.get().as_str()?),
                _ => return None,
            });
        }
        Some(keys)
    }

    /// The kind of what is at a place, if that is a draft or worth one.
    fn growing_kind(&mut self, target: &Target, keys: &[Key<'a>]) -> Option<Kind> {
        match target.root {
            TargetRoot::Local(slot) => match self.locals[self.base + slot] {
                Some(value) => kind_within(value, keys),
                None => kind_of_draft(self.drafts.get(self.base + slot)?, keys),
            },
            TargetRoot::Meta => match self.drafts.get(META) {
                Some(draft) => kind_of_draft(draft, keys),
                None => kind_within(self.context.meta, keys),
            },
            TargetRoot::Event => {
                let (key, rest) = keys.split_first()?;
                if let Some(draft) = self.event_draft(key) {
                    return kind_of_draft(draft, rest);
                }
                kind_within(self.event_field(key)?, rest)
            }
            TargetRoot::State => match state_at(self.context.state, keys)? {
                Owned::Array(_) => Some(Kind::Array),
                Owned::Str(_) => Some(Kind::String),
                _ => None,
            },
            TargetRoot::Invalid(_) => None,
        }
    }

    /// The draft of a place other than in `state`, made when there is none.
    fn draft(&mut self, target: &Target, keys: &[Key<'a>]) -> Option<&mut Draft<'a>> {
        let arena = self.arena();
        match target.root {
            TargetRoot::Local(slot) => self.draft_of_local(slot)?.at(keys, arena),
            TargetRoot::Meta => self.draft_of_meta()?.at(keys, arena),
            TargetRoot::Event => {
                let (key, rest) = keys.split_first()?;
                self.grow_event()?.part(key, arena)?.at(rest, arena)
            }
            TargetRoot::State | TargetRoot::Invalid(_) => None,
        }
    }

    fn draft_of_local(&mut self, slot: usize) -> Option<&mut Draft<'a>> {
        let (slot, arena) = (self.base + slot, self.arena());
        if let Some(value) = self.locals[slot] {
            let draft = Draft::of(value, arena)?;
            self.drafts.take(slot);
            self.drafts.0.push((slot, draft));
            self.locals[slot] = None;
        }
        self.drafts.get(slot)
    }

    fn draft_of_meta(&mut self) -> Option<&mut Draft<'a>> {
        if self.drafts.get(META).is_none() {
            let draft = Draft::of(self.context.meta, self.arena())?;
            self.drafts.0.push((META, draft));
        }
        self.drafts.get(META)
    }

    /// `let x.a[b] = value` into a draft, or into what is worth one; false when it is neither.
    pub(super) fn put_into_draft(
        &mut self,
        target: &'a Target,
        keys: &[&'a str],
        value: Value<'a>,
    ) -> Eval<'a, bool> {
        let arena = self.arena();
        let keys: Vec<Key<'a>> = keys.iter().map(|key| Key::new(key)).collect();
        let root = match target.root {
            TargetRoot::Local(slot) => match self.locals[self.base + slot] {
                Some(value) if !has_large_part(value, &keys) => return Ok(false),
                _ => self.draft_of_local(slot),
            },
            TargetRoot::Meta => {
                if self.drafts.get(META).is_none() && !has_large_part(self.context.meta, &keys) {
                    return Ok(false);
                }
                self.draft_of_meta()
            }
            _ => None,
        };
        let Some(root) = root else { return Ok(false) };
        root.put(&keys, value, target, arena)?;
        self.afford(target.span)?;
        Ok(true)
    }

    /// As [`Run::put_into_draft`], for `event`.
    pub(super) fn put_into_event(
        &mut self,
        target: &'a Target,
        keys: &[&'a str],
        value: Value<'a>,
    ) -> Eval<'a, bool> {
        let arena = self.arena();
        let keys: Vec<Key<'a>> = keys.iter().map(|key| Key::new(key)).collect();
        let Some((key, rest)) = keys.split_first().filter(|(_, rest)| !rest.is_empty()) else {
            return Ok(false);
        };
        let grows = self.event_draft(key).is_some()
            || self.event_field(key).is_some_and(|value| has_large_part(value, rest));
        if !grows {
            return Ok(false);
        }
        let Some(part) = self.grow_event().and_then(|event| event.part(key, arena)) else {
            return Ok(false);
        };
        part.put(rest, value, target, arena)?;
        self.afford(target.span)?;
        Ok(true)
    }

    fn add_to_state(&mut self, keys: &[Key<'a>], more: &More<'a>, target: &Target) -> Eval<'a, ()> {
        let arena = self.arena();
        let (More::Element(value) | More::Whole(value)) = *more else {
            let More::Text(text) = *more else { return Ok(()) };
            return self.add_to_state(keys, &More::Whole(Value::Str(text)), target);
        };
        if !arena.admits_copy(value) {
            return Err(self.stopped(target.span).into());
        }
        match (state_at_mut(self.context.state, keys), more) {
            (Some(Owned::Array(items)), More::Element(value)) => items.push((*value).into()),
            (Some(Owned::Array(items)), More::Whole(value)) => {
                let more = value.as_array(arena).unwrap_or_default();
                items.extend(more.iter().map(|item| Owned::from(*item)));
            }
            (Some(Owned::Str(text)), More::Whole(Value::Str(more))) => {
                let mut longer = String::from(std::mem::take(text));
                longer.push_str(more);
                arena.step(longer.len());
                *text = longer.into();
            }
            _ => {}
        }
        Ok(())
    }

    /// The field of a local that grows, and need not become a value for that; `None` when it has to.
    pub(super) fn glimpse(&mut self, slot: usize, key: &Key<'_>) -> Option<Value<'a>> {
        match self.local_draft(slot)? {
            Draft::Record(record) => record.get(key),
            Draft::Text(_) | Draft::Array(_) => None,
        }
    }

    /// As [`Run::glimpse`], for an element of an array.
    pub(super) fn glimpse_at(&mut self, slot: usize, index: usize) -> Option<Value<'a>> {
        match self.local_draft(slot)? {
            Draft::Array(items) => items.as_slice().get(index).copied(),
            Draft::Text(_) | Draft::Record(_) => None,
        }
    }

    /// A function that looks at a local that grows, and keeps nothing of it, sees it as it is.
    pub(super) fn call_on_draft(&mut self, call: &'a program::Call) -> Eval<'a, Option<Value<'a>>> {
        let Some((Expr::Local(slot, _), others)) = call.arguments.split_first() else {
            return Ok(None);
        };
        let keeps_nothing = matches!(
            call.function.returns,
            Kind::Bool | Kind::Integer | Kind::Float | Kind::Number | Kind::Null
        );
        if !keeps_nothing || self.local_draft(*slot).is_none() {
            return Ok(None);
        }
        let mut arguments = vec![Value::Null];
        for other in others {
            arguments.push(self.operand(other)?);
        }
        let (slot, context) = (self.base + slot, &self.context.call);
        if self.locals[slot].is_some() {
            return Ok(None);
        }
        let around = Call { arena: context.arena, facts: context.facts };
        let result = {
            let mut arguments: Vec<Value<'_>> = arguments.clone();
            arguments[0] = match self.drafts.get(slot) {
                Some(Draft::Array(items)) => Value::Array(items.as_slice()),
                Some(Draft::Text(text)) => Value::Str(text.as_str()),
                Some(Draft::Record(_)) | None => return Ok(None),
            };
            around.arena.step(super::steps(&arguments));
            match call.function.invoke(&around, &arguments) {
                Ok(Value::Bool(value)) => Value::Bool(value),
                Ok(Value::Int(value)) => Value::Int(value),
                Ok(Value::UInt(value)) => Value::UInt(value),
                Ok(Value::Float(value)) => Value::Float(value),
                // Anything else the plain way gives as well, and says what is wrong.
                Ok(_) | Err(_) => return Ok(None),
            }
        };
        self.afford(call.span)?;
        Ok(Some(result))
    }
}

impl<'a> Draft<'a> {
    /// Sets the value at the end of `keys`; missing records on the way are made.
    pub(super) fn put(
        &mut self,
        keys: &[Key<'a>],
        value: Value<'a>,
        target: &Target,
        arena: &'a crate::value::Arena,
    ) -> Result<(), crate::error::EvalError> {
        let kind = self.kind();
        let (Draft::Record(record), Some((key, rest))) = (self, keys.split_first()) else {
            return Err(super::assign::wrong_container(kind, target));
        };
        if rest.is_empty() {
            record.set(key, value);
            return Ok(());
        }
        let grows = record.drafted(key).is_some()
            || record.glimpse(key).is_some_and(|value| has_large_part(value, rest));
        if grows && let Some(part) = record.part(key, arena) {
            return part.put(rest, value, target, arena);
        }
        let inner: Vec<&'a str> = rest.iter().map(Key::text).collect();
        let inner = super::assign::put(arena, record.glimpse(key), &inner, value, target)?;
        record.set(key, inner);
        Ok(())
    }
}

/// Whether the expression itself, and not just a way through it, adds to the place.
fn is_addition(target: &Target, value: &Expr) -> bool {
    match value {
        Expr::Binary(binary) => binary.op == BinaryOp::Add && target.is_read_by(&binary.left),
        Expr::Call(call) => {
            call.function.addition != Addition::None
                && call.arguments.len() == 2
                && target.is_read_by(&call.arguments[0])
        }
        Expr::Text(parts) => {
            matches!(parts.first(), Some(TextPart::Expr(first)) if target.is_read_by(first))
        }
        Expr::Merge(merged, ..) => target.is_read_by(merged),
        Expr::Patch(patch) => target.is_read_by(&patch.target),
        _ => false,
    }
}

/// The kind of what is at the end of `keys`, if that is large.
fn kind_within(mut value: Value<'_>, keys: &[Key<'_>]) -> Option<Kind> {
    for key in keys {
        value = value.get(key)?;
    }
    is_large(value).then(|| value.kind())
}

/// Whether a record on the way along `keys` is large.
fn has_large_part(mut value: Value<'_>, keys: &[Key<'_>]) -> bool {
    for key in keys {
        if value.kind() == Kind::Record && is_large(value) {
            return true;
        }
        let Some(next) = value.get(key) else { return false };
        value = next;
    }
    false
}

fn kind_of_draft<'a>(draft: &mut Draft<'a>, keys: &[Key<'a>]) -> Option<Kind> {
    let Some((key, rest)) = keys.split_first() else { return Some(draft.kind()) };
    let Draft::Record(record) = draft else { return None };
    kind_of_part(record, key, rest)
}

fn kind_of_part<'a>(record: &mut RecordDraft<'a>, key: &Key<'a>, rest: &[Key<'a>]) -> Option<Kind> {
    if let Some(part) = record.drafted(key) {
        return kind_of_draft(part, rest);
    }
    kind_within(record.glimpse(key)?, rest)
}

fn state_at<'s>(state: &'s Owned, keys: &[Key<'_>]) -> Option<&'s Owned> {
    keys.iter().try_fold(state, |state, key| match state {
        Owned::Record(fields) => fields.get(key.text()),
        _ => None,
    })
}

fn state_at_mut<'s>(state: &'s mut Owned, keys: &[Key<'_>]) -> Option<&'s mut Owned> {
    keys.iter().try_fold(state, |state, key| match state {
        Owned::Record(fields) => fields.get_mut(key.text()),
        _ => None,
    })
}
