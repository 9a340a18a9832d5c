//! Reading along a path, and asking whether it leads anywhere.

use super::draft::Draft;
use super::{Eval, Run, failure};
use crate::error::EvalError;
use crate::program::{Expr, Path, Root, Segment};
use crate::span::Span;
use crate::value::{Key, Kind, Owned, Record, Value};

/// A segment whose expression has been evaluated.
enum EvaluatedSegment<'a> {
    Field(Key<'a>),
    /// A field whose name was computed.
    Name(&'a str),
    Index(usize),
    Range(usize, usize),
}

/// The last computed name and its last look-up. A script often asks first whether a field is there and then
/// for its value, or asks several records for one name. Names and records are told apart by identity, not by
/// content: they do not change while a program runs.
#[derive(Debug, Default)]
pub(crate) struct Memo<'a> {
    /// The name whose hash is known.
    name: Option<&'a str>,
    hash: u32,
    /// The record that was asked last for the name, and what it gave.
    record: Option<&'a Record<'a>>,
    found: Option<Value<'a>>,
}

impl<'a> Memo<'a> {
    /// Takes in a name whose hash is known.
    #[inline]
    pub(crate) fn note(&mut self, key: &Key<'a>) {
        *self = Self { name: Some(key.text()), hash: key.hash(), record: None, found: None };
    }

    /// The name with its hash.
    #[inline]
    pub(crate) fn key(&self, name: &'a str) -> Key<'a> {
        if self.is_noted(name) { Key::with_hash(name, self.hash) } else { Key::new(name) }
    }

    #[inline]
    fn is_noted(&self, name: &str) -> bool {
        self.name.is_some_and(|noted| std::ptr::eq(noted, name))
    }

    #[inline]
    fn find(&mut self, record: &'a Record<'a>, name: &'a str) -> Option<Value<'a>> {
        if !self.is_noted(name) {
            self.note(&Key::new(name));
        } else if self.record.is_some_and(|last| std::ptr::eq(last, record)) {
            return self.found;
        }
        self.record = Some(record);
        self.found = record.get_key(&Key::with_hash(name, self.hash));
        self.found
    }
}

impl<'a> Run<'a, '_, '_> {
    /// The field of `container` that is called `name`.
    fn named(&mut self, container: Value<'a>, name: &'a str) -> Option<Value<'a>> {
        match container {
            Value::Record(record) => self.memo.find(record, name),
            container => container.get(&self.memo.key(name)),
        }
    }

    /// `table[name]`, the way of most look-ups in loops: a field of a record whose name is in a
    /// local. `None` when the path is none of that kind, `Some(None)` when there is no such field.
    #[inline]
    pub(super) fn table_field(&mut self, path: &'a Path) -> Option<Option<Value<'a>>> {
        let [Segment::Expr(Expr::Local(name, _), _)] = path.segments.as_slice() else {
            return None;
        };
        let table = match &path.root {
            Root::Expr(Expr::Const(value)) => value.get(),
            Root::Local(slot, _) => match self.locals[self.base + *slot] {
                Some(table) => table,
                None => return self.growing_field(*slot, *name),
            },
            _ => return None,
        };
        match (table, self.local(*name)?) {
            (Value::Record(record), Value::Str(name)) => Some(self.memo.find(record, name)),
            _ => None,
        }
    }

    /// As [`Run::table_field`], of a table that grows.
    #[cold]
    fn growing_field(&mut self, table: usize, name: usize) -> Option<Option<Value<'a>>> {
        let name = self.local(name)?.as_str()?;
        let is_record = matches!(self.local_draft(table)?, Draft::Record(_));
        is_record.then(|| self.glimpse(table, &Key::new(name)))
    }

    /// The first step into a local that grows, and where the path goes on; `None` where the local
    /// has to become a value.
    #[cold]
    fn read_growing(&mut self, path: &'a Path) -> Eval<'a, Option<(Value<'a>, &'a [Segment])>> {
        let (Root::Local(slot, _), Some((first, rest))) = (&path.root, path.segments.split_first())
        else {
            return Ok(None);
        };
        let Some(draft) = self.local_draft(*slot) else { return Ok(None) };
        let kind = draft.kind();
        let found = match self.step(first, kind)? {
            EvaluatedSegment::Field(key) => self.glimpse(*slot, &key),
            EvaluatedSegment::Name(name) => self.glimpse(*slot, &Key::new(name)),
            EvaluatedSegment::Index(index) => self.glimpse_at(*slot, index),
            EvaluatedSegment::Range(..) => None,
        };
        Ok(found.map(|found| (found, rest)))
    }

    pub(super) fn read(&mut self, path: &'a Path) -> Eval<'a> {
        let found = match (&path.root, path.segments.as_slice()) {
            (Root::Event, [Segment::Field(name, hash, _)]) => {
                self.event_field(&Key::with_hash(name, *hash))
            }
            _ => self.table_field(path).flatten(),
        };
        if let Some(found) = found {
            return Ok(found);
        }
        if let Root::State = path.root {
            return self.read_state(path);
        }
        let (mut value, rest) = match (&path.root, path.segments.split_first()) {
            (Root::Event, Some((first, rest))) => (self.read_event(first)?, rest),
            (root, _) => match self.read_growing_local(path)? {
                Some(found) => found,
                None => (self.root(root)?, path.segments.as_slice()),
            },
        };
        for segment in rest {
            let step = self.step(segment, value.kind())?;
            value = self.follow(value, &step, path.root.noun(), segment.span())?;
        }
        Ok(value)
    }

    #[inline]
    fn read_growing_local(
        &mut self,
        path: &'a Path,
    ) -> Eval<'a, Option<(Value<'a>, &'a [Segment])>> {
        if self.drafts.is_empty() { Ok(None) } else { self.read_growing(path) }
    }

    /// The first step from the event, which does not ask for all of it.
    fn read_event(&mut self, segment: &'a Segment) -> Eval<'a> {
        let kind = self.event_kind();
        let step = self.step(segment, kind)?;
        let value = match &step {
            EvaluatedSegment::Field(key) => self.event_field(key),
            EvaluatedSegment::Name(name) => self.event_field(&self.memo.key(name)),
            EvaluatedSegment::Index(_) | EvaluatedSegment::Range(..) => None,
        };
        if let Some(value) = value {
            return Ok(value);
        }
        let event = self.whole_event();
        Ok(self.follow(event, &step, Root::Event.noun(), segment.span())?)
    }

    fn root(&mut self, root: &'a Root) -> Eval<'a> {
        Ok(match root {
            Root::Event => self.whole_event(),
            Root::Meta => self.meta(),
            Root::Args => self.context.args,
            Root::Group => self.context.group,
            Root::Window => self.context.window,
            Root::State => self.context.state.read(self.context.call.arena),
            Root::Expr(expr) => self.operand(expr)?,
            Root::Local(slot, place) => match self.local(*slot) {
                Some(value) => value,
                None => return Err(failure::missing_local(&place.name, place.span).into()),
            },
        })
    }

    /// Evaluates a segment; `container` only serves the message when the kind is wrong.
    fn step(&mut self, segment: &'a Segment, container: Kind) -> Eval<'a, EvaluatedSegment<'a>> {
        match segment {
            Segment::Field(name, hash, _) => {
                Ok(EvaluatedSegment::Field(Key::with_hash(name, *hash)))
            }
            Segment::Index(index, _) => Ok(EvaluatedSegment::Index(*index)),
            Segment::Expr(expr, span) => match self.operand(expr)? {
                Value::Str(name) => Ok(EvaluatedSegment::Name(name)),
                value @ (Value::Int(_) | Value::UInt(_)) => match value.as_usize() {
                    Some(index) => Ok(EvaluatedSegment::Index(index)),
                    None => Err(failure::bad_index(value, *span).into()),
                },
                value => {
                    let expected = if container == Kind::Array { "integer" } else { "string" };
                    Err(failure::conflicting_type(value.kind(), expected, *span).into())
                }
            },
            Segment::Range(bounds, span) => {
                let start = self.bound(&bounds.0, *span)?;
                let end = self.bound(&bounds.1, *span)?;
                Ok(EvaluatedSegment::Range(start, end))
            }
        }
    }

    /// As [`Run::step`], but what can be no key of this container leads nowhere (`None`), and only
    /// what can be no index of an array is an error.
    fn presence_step(
        &mut self,
        segment: &'a Segment,
        container: Kind,
    ) -> Eval<'a, Option<EvaluatedSegment<'a>>> {
        let (expr, span) = match segment {
            Segment::Expr(expr, span) => (expr, span),
            Segment::Range(..) if container != Kind::Array => return Ok(None),
            _ => return self.step(segment, container).map(Some),
        };
        let value = self.operand(expr)?;
        Ok(match (container, value, value.as_usize()) {
            (Kind::Record, Value::Str(name), _) => Some(EvaluatedSegment::Name(name)),
            (Kind::Array, _, Some(index)) => Some(EvaluatedSegment::Index(index)),
            (Kind::Array, Value::Int(_), None) => {
                return Err(failure::bad_index(value, *span).into());
            }
            (Kind::Array, _, None) => {
                return Err(failure::conflicting_type(value.kind(), "integer", *span).into());
            }
            _ => None,
        })
    }

    fn bound(&mut self, bound: &'a crate::program::Expr, span: Span) -> Eval<'a, usize> {
        let value = self.eval(bound)?;
        match (value.as_usize(), value.kind()) {
            (Some(bound), _) => Ok(bound),
            (None, Kind::Integer) => Err(failure::bad_index(value, span).into()),
            (None, kind) => Err(failure::conflicting_type(kind, "integer", span).into()),
        }
    }

    fn follow(
        &mut self,
        value: Value<'a>,
        step: &EvaluatedSegment<'a>,
        noun: &str,
        span: Span,
    ) -> Result<Value<'a>, EvalError> {
        let value = self.tapes.near(value, self.context.call.arena);
        match (step, value.kind()) {
            (EvaluatedSegment::Field(key), Kind::Record) => {
                value.get(key).ok_or_else(|| failure::missing_key(noun, key.text(), value, span))
            }
            (EvaluatedSegment::Name(name), Kind::Record) => {
                self.named(value, name).ok_or_else(|| failure::missing_key(noun, name, value, span))
            }
            (EvaluatedSegment::Index(index), Kind::Array) => value.at(*index).ok_or_else(|| {
                failure::index_out_of_bounds(*index, value.size().unwrap_or(0), span)
            }),
            (EvaluatedSegment::Range(start, end), Kind::Array) => {
                let items = self.tapes.opened(value, self.context.call.arena);
                let items = items.as_array(self.arena()).unwrap_or(&[]);
                match items.get(*start..*end) {
                    Some(items) => Ok(Value::Array(items)),
                    None => Err(failure::bad_range(*start, *end, items.len(), span)),
                }
            }
            (EvaluatedSegment::Field(_) | EvaluatedSegment::Name(_), kind) => {
                Err(failure::conflicting_type(kind, "record", span))
            }
            (_, kind) => Err(failure::conflicting_type(kind, "array", span)),
        }
    }

    /// Walks the mutable state without copying more than the value at the end of the path.
    fn read_state(&mut self, path: &'a Path) -> Eval<'a> {
        let mut steps = Vec::with_capacity(path.segments.len());
        for segment in &path.segments {
            if let Segment::Range(..) = segment {
                return self.read_state_copy(path);
            }
            steps.push(self.step(segment, Kind::Record)?);
        }
        let arena = self.arena();
        let mut owned: &Owned = self.context.state;
        for (step, segment) in steps.iter().zip(&path.segments) {
            let next = match (step, owned) {
                (EvaluatedSegment::Field(key), Owned::Record(fields)) => fields.get(key.text()),
                (EvaluatedSegment::Name(name), Owned::Record(fields)) => fields.get(*name),
                (EvaluatedSegment::Index(index), Owned::Array(items)) => items.get(*index),
                _ => None,
            };
            owned = match next {
                Some(next) => next,
                // Build the message from the same code as every other path.
                None => {
                    let value = owned.read(arena);
                    return Ok(self.follow(value, step, "state", segment.span())?);
                }
            };
        }
        Ok(owned.read(arena))
    }

    fn read_state_copy(&mut self, path: &'a Path) -> Eval<'a> {
        let mut value = self.context.state.read(self.arena());
        for segment in &path.segments {
            let step = self.step(segment, value.kind())?;
            value = self.follow(value, &step, "state", segment.span())?;
        }
        Ok(value)
    }

    fn is_growing_record(&mut self, slot: usize) -> bool {
        matches!(self.local_draft(slot), Some(Draft::Record(_)))
    }

    /// `present path`: false when the path leads nowhere, an error only for a dynamic segment of
    /// a bad kind and for a reversed range.
    pub(super) fn is_present(&mut self, path: &'a Path) -> Eval<'a, bool> {
        if let Some(found) = self.table_field(path) {
            return Ok(found.is_some());
        }
        let mut segments = path.segments.as_slice();
        let root = match (&path.root, segments) {
            (Root::Event, [Segment::Field(name, hash, _), rest @ ..]) => {
                segments = rest;
                self.event_field(&Key::with_hash(name, *hash))
            }
            (Root::Local(slot, _), [first, rest @ ..]) if self.is_growing_record(*slot) => {
                let Some(step) = self.presence_step(first, Kind::Record)? else {
                    return Ok(false);
                };
                segments = rest;
                match step {
                    EvaluatedSegment::Field(key) => self.glimpse(*slot, &key),
                    EvaluatedSegment::Name(name) => self.glimpse(*slot, &Key::new(name)),
                    EvaluatedSegment::Index(_) | EvaluatedSegment::Range(..) => return Ok(false),
                }
            }
            (Root::Local(slot, _), _) => self.local(*slot),
            (root, _) => Some(self.root(root)?),
        };
        let Some(mut value) = root else { return Ok(false) };
        for segment in segments {
            value = self.tapes.near(value, self.context.call.arena);
            let Some(step) = self.presence_step(segment, value.kind())? else {
                return Ok(false);
            };
            if let EvaluatedSegment::Range(start, end) = step
                && end < start
            {
                return Err(failure::bad_range(start, end, 0, segment.span()).into());
            }
            let next = match (&step, value.kind()) {
                (EvaluatedSegment::Field(key), Kind::Record) => value.get(key),
                (EvaluatedSegment::Name(name), Kind::Record) => self.named(value, name),
                (EvaluatedSegment::Index(index), Kind::Array) => value.at(*index),
                (EvaluatedSegment::Range(start, end), Kind::Array) => {
                    let items = value.as_array(self.arena()).unwrap_or(&[]);
                    items.get(*start..*end).map(Value::Array)
                }
                _ => None,
            };
            match next {
                Some(next) => value = next,
                None => return Ok(false),
            }
        }
        Ok(true)
    }
}
