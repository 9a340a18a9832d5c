//! `let`: a new value at the end of a path. Values never change, so the records along the path
//! are built anew; only `state` is changed in place.

use super::{Eval, Run, failure};
use crate::error::EvalError;
use crate::program::{Segment, Target, TargetRoot};
use crate::value::{Arena, Key, Kind, Owned, RecordBuilder, Value};
use halfbrown::HashMap;

impl<'a> Run<'a, '_, '_> {
    pub(super) fn assign(&mut self, target: &'a Target, value: Value<'a>) -> Eval<'a, ()> {
        if let TargetRoot::Invalid(what) = target.root {
            return Err(failure::not_assignable(what, target.span).into());
        }
        if let ([], TargetRoot::Local(slot)) = (target.segments.as_slice(), target.root) {
            self.set_local(slot, value);
            return Ok(());
        }
        if let ([Segment::Field(name, hash, _)], TargetRoot::Event) =
            (target.segments.as_slice(), target.root)
        {
            return Ok(self.set_field(&Key::with_hash(name, *hash), value, target)?);
        }
        let keys = self.keys(&target.segments)?;
        let arena = self.arena();
        match target.root {
            TargetRoot::Event => {
                if !self.put_into_event(target, &keys, value)? {
                    self.put_event(&keys, value, target)?;
                }
            }
            TargetRoot::Meta => {
                if !self.put_into_draft(target, &keys, value)? {
                    let meta = self.meta();
                    self.context.meta = put(arena, Some(meta), &keys, value, target)?;
                }
            }
            TargetRoot::State => {
                // What is incomplete, or too large to be copied, must not get there.
                if !arena.admits_copy(value) {
                    return Err(self.stopped(target.span).into());
                }
                put_state(self.context.state, &keys, value, target)?;
            }
            TargetRoot::Local(_) if self.put_into_draft(target, &keys, value)? => {}
            TargetRoot::Local(slot) => {
                let Some(current) = self.local(slot) else {
                    return Err(failure::missing_local(&target.name, target.span).into());
                };
                let changed = put(arena, Some(current), &keys, value, target)?;
                self.set_local(slot, changed);
            }
            TargetRoot::Invalid(_) => unreachable!("refused above"),
        }
        Ok(())
    }

    /// `let event.a = …`
    fn set_field(
        &mut self,
        key: &Key<'a>,
        value: Value<'a>,
        target: &Target,
    ) -> Result<(), EvalError> {
        if self.set_event_field(key, value) {
            return Ok(());
        }
        Err(wrong_container(self.context.event.kind(), target))
    }

    fn put_event(
        &mut self,
        keys: &[&'a str],
        value: Value<'a>,
        target: &Target,
    ) -> Result<(), EvalError> {
        let Some((key, rest)) = keys.split_first() else {
            self.replace_event(value);
            return Ok(());
        };
        let key = Key::new(key);
        let inner = put(self.arena(), self.event_field(&key), rest, value, target)?;
        self.set_field(&key, inner, target)
    }

    fn keys(&mut self, segments: &'a [Segment]) -> Eval<'a, Vec<&'a str>> {
        let mut keys = Vec::with_capacity(segments.len());
        for segment in segments {
            keys.push(match segment {
                Segment::Field(name, _, _) => name,
                Segment::Expr(expr, span) => match self.eval(expr)? {
                    Value::Str(name) => name,
                    Value::Int(_) | Value::UInt(_) => {
                        return Err(failure::assign_to_array(*span).into());
                    }
                    other => {
                        let error = failure::conflicting_type(other.kind(), "string", *span);
                        return Err(error.into());
                    }
                },
                other => return Err(failure::assign_to_array(other.span()).into()),
            });
        }
        Ok(keys)
    }
}

/// `current` with `value` at the end of `keys`; missing records on the way are made.
pub(super) fn put<'a>(
    arena: &'a Arena,
    current: Option<Value<'a>>,
    keys: &[&'a str],
    value: Value<'a>,
    target: &Target,
) -> Result<Value<'a>, EvalError> {
    let Some((key, rest)) = keys.split_first() else { return Ok(value) };
    let mut record = match current {
        None => RecordBuilder::with_capacity(arena, 1),
        Some(current) => match current.as_record(arena) {
            Some(record) => RecordBuilder::from_record(arena, record, 1),
            None => return Err(wrong_container(current.kind(), target)),
        },
    };
    let inner = put(arena, record.get(key), rest, value, target)?;
    record.insert(key, inner);
    Ok(record.finish())
}

fn put_state(
    state: &mut Owned,
    keys: &[&str],
    value: Value<'_>,
    target: &Target,
) -> Result<(), EvalError> {
    let Some((key, rest)) = keys.split_first() else {
        *state = Owned::from(value);
        return Ok(());
    };
    let Owned::Record(fields) = state else {
        return Err(wrong_container(kind_of(state), target));
    };
    if !fields.contains_key(*key) {
        let fresh = if rest.is_empty() { Owned::Null } else { Owned::Record(HashMap::new()) };
        fields.insert((*key).into(), fresh);
    }
    let inner = fields.get_mut(*key).expect("inserted above");
    put_state(inner, rest, value, target)
}

fn kind_of(state: &Owned) -> Kind {
    match state {
        Owned::Array(_) => Kind::Array,
        Owned::Record(_) => Kind::Record,
        // A scalar needs no arena memory beyond its text; this is the way of an error.
        scalar => scalar.read(&Arena::new()).kind(),
    }
}

#[cold]
pub(super) fn wrong_container(kind: Kind, target: &Target) -> EvalError {
    failure::conflicting_type(kind, "record", target.span)
}
