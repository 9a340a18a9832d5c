//! `patch` and `merge`. All keys and values of a patch are evaluated before the first operation
//! is applied; the target itself never changes, so a patch that fails has done nothing.

use super::{Eval, Run, failure};
use crate::error::EvalError;
use crate::program::{Expr, Patch, PatchOp};
use crate::span::Span;
use crate::value::{Arena, Editor, Key, Kind, RecordBuilder, Value, deeper};
use bumpalo::collections::Vec;

/// Key and value of an operation, evaluated.
pub(super) struct Prepared<'a> {
    key: Key<'a>,
    /// The second key of `move` and `copy`.
    to: Key<'a>,
    value: Value<'a>,
}

impl<'a> Run<'a, '_, '_> {
    pub(super) fn patch(&mut self, patch: &'a Patch) -> Eval<'a> {
        let target = self.eval(&patch.target)?;
        let prepared = self.prepare_all(patch)?;
        self.patched(target, patch, prepared)
    }

    /// `target` after the operations.
    fn patched(
        &mut self,
        target: Value<'a>,
        patch: &'a Patch,
        prepared: Vec<'a, Prepared<'a>>,
    ) -> Eval<'a> {
        if patch.sets_fields()
            && names_differ(&prepared)
            && let Some(editor) = self.editor_of(target)
        {
            return Ok(edited(editor, patch, &prepared)?);
        }
        let Some(mut record) = self.copy_of(target, patch.ops.len()) else {
            return Err(
                failure::conflicting_type(target.kind(), "record", patch.target_span).into()
            );
        };
        self.apply_all(&mut record, patch, prepared)?;
        Ok(record.finish())
    }

    /// `let event = patch event of … end`, whose value nobody takes: in place.
    pub(super) fn patch_event(&mut self, patch: &'a Patch) -> Eval<'a, ()> {
        let kind = self.event_kind();
        if patch.sets_fields() && kind == Kind::Record {
            let prepared = self.prepare_all(patch)?;
            if names_differ(&prepared) {
                return Ok(self.set_fields(patch, &prepared)?);
            }
            let event = self.whole_event();
            let value = self.patched(event, patch, prepared)?;
            self.replace_event(value);
            return Ok(());
        }
        if !patch.is_in_one_go() {
            let value = self.patch(patch)?;
            self.replace_event(value);
            return Ok(());
        }
        let prepared = self.prepare_all(patch)?;
        let Some(mut record) = self.take_event() else {
            return Err(failure::conflicting_type(kind, "record", patch.target_span).into());
        };
        let result = self.apply_all(&mut record, patch, prepared);
        self.put_back(record);
        result
    }

    /// Sets fields of the event, which is a record: all or, when it fails, none.
    fn set_fields(&mut self, patch: &'a Patch, prepared: &[Prepared<'a>]) -> Result<(), EvalError> {
        for ((op, span), Prepared { key, .. }) in patch.ops.iter().zip(prepared) {
            check_presence(op, key, |key| self.event_field(key).is_some(), *span)?;
        }
        for Prepared { key, value, .. } in prepared {
            self.set_event_field(key, *value);
        }
        Ok(())
    }

    pub(super) fn prepare_all(&mut self, patch: &'a Patch) -> Eval<'a, Vec<'a, Prepared<'a>>> {
        let mut prepared = Vec::with_capacity_in(patch.ops.len(), self.arena().bump());
        for (op, _) in &patch.ops {
            prepared.push(self.prepare(op)?);
        }
        Ok(prepared)
    }

    fn apply_all(
        &mut self,
        record: &mut RecordBuilder<'a>,
        patch: &'a Patch,
        prepared: Vec<'a, Prepared<'a>>,
    ) -> Eval<'a, ()> {
        for ((op, span), prepared) in patch.ops.iter().zip(prepared) {
            self.apply(record, op, prepared, *span)?;
        }
        Ok(())
    }

    fn prepare(&mut self, op: &'a PatchOp) -> Eval<'a, Prepared<'a>> {
        let (key, to, value) = match op {
            PatchOp::Insert(key, value)
            | PatchOp::Upsert(key, value)
            | PatchOp::Update(key, value)
            | PatchOp::Merge(key, value) => (Some(key), None, Some(value)),
            PatchOp::Erase(key) | PatchOp::Default(key, _) => (Some(key), None, None),
            PatchOp::Move(from, to) | PatchOp::Copy(from, to) => (Some(from), Some(to), None),
            PatchOp::MergeAll(value) => (None, None, Some(value)),
            PatchOp::DefaultAll(_) => (None, None, None),
        };
        let key = key.map_or(Ok(Key::default()), |key| self.key(key))?;
        let to = to.map_or(Ok(Key::default()), |to| self.key(to))?;
        let value = value.map_or(Ok(Value::Null), |value| self.eval(value))?;
        Ok(Prepared { key, to, value })
    }

    fn apply(
        &mut self,
        record: &mut RecordBuilder<'a>,
        op: &'a PatchOp,
        prepared: Prepared<'a>,
        span: Span,
    ) -> Eval<'a, ()> {
        match op {
            PatchOp::Default(_, default) => {
                if !record.contains_key(&prepared.key) {
                    let value = self.eval(default)?;
                    record.insert_key(&prepared.key, value);
                }
                Ok(())
            }
            PatchOp::DefaultAll(default) => self.default_all(record, default, span),
            op => Ok(apply_one(self.arena(), record, op, prepared, span)?),
        }
    }

    fn default_all(
        &mut self,
        record: &mut RecordBuilder<'a>,
        default: &'a Expr,
        span: Span,
    ) -> Eval<'a, ()> {
        let default = self.eval(default)?;
        if default.kind() != Kind::Record {
            return Err(failure::conflicting_type(default.kind(), "record", span).into());
        }
        fill(self.arena(), record, default);
        Ok(())
    }

    pub(super) fn merge(&mut self, target: &'a Expr, with: &'a Expr, span: Span) -> Eval<'a> {
        let target = self.eval(target)?;
        let with = self.eval(with)?;
        self.merge_of(target, with, span)
    }

    pub(super) fn merge_of(&mut self, target: Value<'a>, with: Value<'a>, span: Span) -> Eval<'a> {
        for value in [target, with] {
            if value.kind() != Kind::Record {
                return Err(failure::conflicting_type(value.kind(), "record", span).into());
            }
        }
        Ok(match self.copy_of(target, with.size().unwrap_or(0)) {
            Some(mut record) => {
                merge_into(self.arena(), &mut record, with);
                record.finish()
            }
            None => with,
        })
    }

    /// `let event = merge event of … end`, whose value nobody takes: in place.
    pub(super) fn merge_event(&mut self, with: &'a Expr, span: Span) -> Eval<'a, ()> {
        let with = self.eval(with)?;
        for kind in [self.event_kind(), with.kind()] {
            if kind != Kind::Record {
                return Err(failure::conflicting_type(kind, "record", span).into());
            }
        }
        let arena = self.arena();
        if let Some(event) = self.change_event() {
            merge_into(arena, event, with);
        }
        Ok(())
    }
}

/// The operations of a patch that does all or nothing.
pub(super) fn apply_in_place<'a>(
    arena: &'a Arena,
    record: &mut RecordBuilder<'a>,
    patch: &'a Patch,
    prepared: Vec<'a, Prepared<'a>>,
) -> Result<(), EvalError> {
    for ((op, span), prepared) in patch.ops.iter().zip(prepared) {
        apply_one(arena, record, op, prepared, *span)?;
    }
    Ok(())
}

/// An operation that evaluates nothing.
fn apply_one<'a>(
    arena: &'a Arena,
    record: &mut RecordBuilder<'a>,
    op: &PatchOp,
    Prepared { key, to, value }: Prepared<'a>,
    span: Span,
) -> Result<(), EvalError> {
    check_presence(op, &key, |key| record.contains_key(key), span)?;
    match op {
        PatchOp::Insert(..) | PatchOp::Upsert(..) | PatchOp::Update(..) => {
            record.insert_key(&key, value);
        }
        PatchOp::Erase(_) => {
            record.remove_key(&key);
        }
        PatchOp::Move(..) | PatchOp::Copy(..) => transfer(record, op, &key, &to, span)?,
        PatchOp::Merge(..) => merge_field(arena, record, &key, value, span)?,
        PatchOp::MergeAll(_) => {
            if value.kind() != Kind::Record {
                return Err(failure::conflicting_type(value.kind(), "record", span));
            }
            merge_into(arena, record, value);
        }
        PatchOp::Default(..) | PatchOp::DefaultAll(_) => {
            unreachable!("defaults are evaluated, and only where they are missing")
        }
    }
    Ok(())
}

fn merge_field<'a>(
    arena: &'a Arena,
    record: &mut RecordBuilder<'a>,
    key: &Key<'a>,
    value: Value<'a>,
    span: Span,
) -> Result<(), EvalError> {
    let merged = match record.get_key(key) {
        None => value,
        Some(field) => match (field.kind(), value.kind()) {
            (Kind::Record, Kind::Record) => merged(arena, field, value),
            (Kind::Record, other) | (other, _) => {
                return Err(failure::conflicting_type(other, "record", span));
            }
        },
    };
    record.insert_key(key, merged);
    Ok(())
}

/// Fails when `insert` finds the field, or `update` does not.
fn check_presence<'k>(
    op: &PatchOp,
    key: &Key<'k>,
    mut is_present: impl FnMut(&Key<'k>) -> bool,
    span: Span,
) -> Result<(), EvalError> {
    match op {
        PatchOp::Insert(..) if is_present(key) => Err(failure::key_exists(key.text(), span)),
        PatchOp::Update(..) if !is_present(key) => Err(failure::update_missing(key.text(), span)),
        _ => Ok(()),
    }
}

/// Whether no two operations are about the same field, so that what one finds does not depend on
/// those before it.
fn names_differ(prepared: &[Prepared<'_>]) -> bool {
    let is_first = |at: usize| prepared[..at].iter().all(|one| !one.key.is_same(&prepared[at].key));
    (1..prepared.len()).all(is_first)
}

/// The record of `editor` with the fields that the patch sets.
fn edited<'a>(
    mut editor: Editor<'a>,
    patch: &'a Patch,
    prepared: &[Prepared<'a>],
) -> Result<Value<'a>, EvalError> {
    for ((op, span), Prepared { key, .. }) in patch.ops.iter().zip(prepared) {
        check_presence(op, key, |key| editor.get(key).is_some(), *span)?;
    }
    for Prepared { key, value, .. } in prepared {
        let is_set = editor.set(key, *value);
        debug_assert!(is_set, "a patch that sets fields sets few");
    }
    Ok(editor.finish())
}

/// `move` and `copy`.
fn transfer<'a>(
    record: &mut RecordBuilder<'a>,
    op: &PatchOp,
    from: &Key<'a>,
    to: &Key<'a>,
    span: Span,
) -> Result<(), EvalError> {
    if record.contains_key(to) {
        return Err(failure::key_exists(to.text(), span));
    }
    let value = match op {
        PatchOp::Move(..) => record.remove_key(from),
        _ => record.get_key(from),
    };
    if let Some(value) = value {
        record.insert_key(to, value);
    }
    Ok(())
}

/// Both are records: `with` overrides, records on both sides are merged recursively.
fn merged<'a>(arena: &'a Arena, target: Value<'a>, with: Value<'a>) -> Value<'a> {
    let Some(record) = target.as_record(arena) else { return with };
    let mut record = RecordBuilder::from_record(arena, record, with.size().unwrap_or(0));
    merge_into(arena, &mut record, with);
    record.finish()
}

fn merge_into<'a>(arena: &'a Arena, record: &mut RecordBuilder<'a>, with: Value<'a>) {
    // Records that share what they hold have no end: then there is one to memory.
    let Some(with) = with.as_record(arena).filter(|_| !arena.is_spent()) else { return };
    record.reserve(with.len());
    for field in with.entries() {
        record.upsert(&field.name(), |old| match old {
            Some(old) if old.kind() == Kind::Record && field.value.kind() == Kind::Record => {
                deeper(|| merged(arena, old, field.value))
            }
            _ => field.value,
        });
    }
}

/// Adds what is missing, at all levels where both sides hold records.
fn fill<'a>(arena: &'a Arena, record: &mut RecordBuilder<'a>, default: Value<'a>) {
    let Some(default) = default.as_record(arena).filter(|_| !arena.is_spent()) else { return };
    for field in default.entries() {
        let (key, value) = (field.name(), field.value);
        let Some(old) = record.get_key(&key) else {
            record.insert_key(&key, value);
            continue;
        };
        if let (Some(inner), Kind::Record) = (old.as_record(arena), value.kind()) {
            let mut inner = RecordBuilder::from_record(arena, inner, 0);
            deeper(|| fill(arena, &mut inner, value));
            record.insert_key(&key, inner.finish());
        }
    }
}
