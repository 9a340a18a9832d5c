//! Values that grow: what a program adds to again and again, in a form with room for more. A draft
//! belongs to one place of the program, and nobody sees it; it becomes a value, which never changes,
//! as soon as something takes it as a whole. Adding to it then begins with a copy.

use crate::value::{Arena, ArrayBuilder, Key, Kind, RecordBuilder, TextBuilder, Value};
use halfbrown::HashMap;

/// Smaller values are built anew: that takes less than a draft. Bytes of a text, elements, fields.
const TEXT_MIN: usize = 128;
const ITEMS_MIN: usize = 8;

/// A value with room for more.
#[derive(Debug)]
pub(super) enum Draft<'a> {
    Text(TextBuilder<'a>),
    Array(ArrayBuilder<'a>),
    Record(RecordDraft<'a>),
}

/// A record of which some fields are drafts themselves.
#[derive(Debug)]
pub(super) struct RecordDraft<'a> {
    record: RecordBuilder<'a>,
    /// Newer than what `record` has of these fields.
    parts: HashMap<&'a str, Draft<'a>>,
}

/// Whether a value is large enough to be worth a draft.
pub(super) fn is_large(value: Value<'_>) -> bool {
    match value {
        Value::Str(text) => text.len() >= TEXT_MIN,
        Value::Array(items) => items.len() >= ITEMS_MIN,
        Value::Record(record) => record.len() >= ITEMS_MIN,
        Value::Lazy(lazy) => lazy.raw_len() >= ITEMS_MIN,
        Value::Edited(edited) => edited.len() >= ITEMS_MIN,
        _ => false,
    }
}

impl<'a> Draft<'a> {
    /// A copy of `value` with as much room again; `None` for what cannot grow.
    pub(super) fn of(value: Value<'a>, arena: &'a Arena) -> Option<Self> {
        if let Value::Str(text) = value {
            let mut draft = arena.text_builder(text.len() * 2);
            draft.push_str(text);
            return Some(Draft::Text(draft));
        }
        if let Some(items) = value.as_array(arena) {
            let mut draft = arena.array_builder(items.len() * 2);
            draft.extend(items);
            return Some(Draft::Array(draft));
        }
        let record = value.as_record(arena)?;
        let record = RecordBuilder::from_record(arena, record, record.len());
        Some(Draft::Record(RecordDraft::of(record)))
    }

    pub(super) fn kind(&self) -> Kind {
        match self {
            Draft::Text(_) => Kind::String,
            Draft::Array(_) => Kind::Array,
            Draft::Record(_) => Kind::Record,
        }
    }

    pub(super) fn finish(self) -> Value<'a> {
        match self {
            Draft::Text(text) => text.finish(),
            Draft::Array(items) => items.finish(),
            Draft::Record(record) => record.finish().finish(),
        }
    }

    /// The draft at the end of `keys`, which is made of what is there; `None` when nothing that can
    /// grow is.
    pub(super) fn at(&mut self, keys: &[Key<'a>], arena: &'a Arena) -> Option<&mut Self> {
        match (keys.split_first(), self) {
            (None, draft) => Some(draft),
            (Some((key, rest)), Draft::Record(record)) => record.part(key, arena)?.at(rest, arena),
            (Some(_), _) => None,
        }
    }

    /// Adds another value of the same kind; false when it is of another.
    pub(super) fn append(&mut self, more: Value<'a>, arena: &'a Arena) -> bool {
        match (self, more) {
            (Draft::Text(text), Value::Str(more)) => text.push_str(more),
            (Draft::Array(items), more) => match more.as_array(arena) {
                Some(more) => items.extend(more),
                None => return false,
            },
            (Draft::Record(record), more) => match more.as_record(arena) {
                Some(more) => {
                    let record = record.whole();
                    more.entries().iter().for_each(|one| record.insert_key(&one.name(), one.value));
                }
                None => return false,
            },
            (Draft::Text(_), _) => return false,
        }
        true
    }
}

impl<'a> RecordDraft<'a> {
    pub(super) fn of(record: RecordBuilder<'a>) -> Self {
        Self { record, parts: HashMap::new() }
    }

    /// The field as a value.
    pub(super) fn get(&mut self, key: &Key<'_>) -> Option<Value<'a>> {
        if !self.parts.is_empty()
            && let Some((name, draft)) = self.parts.remove_entry(key.text())
        {
            self.record.insert_key(&Key::with_hash(name, key.hash()), draft.finish());
        }
        self.record.get_key(key)
    }

    /// The field as it is, if it need not become a value to be looked at.
    pub(crate) fn glimpse(&self, key: &Key<'_>) -> Option<Value<'a>> {
        if self.parts.is_empty() || !self.parts.contains_key(key.text()) {
            self.record.get_key(key)
        } else {
            None
        }
    }

    /// The draft under `key`, if there is one.
    pub(crate) fn drafted(&mut self, key: &Key<'_>) -> Option<&mut Draft<'a>> {
        self.parts.get_mut(key.text())
    }

    pub(super) fn set(&mut self, key: &Key<'a>, value: Value<'a>) {
        if !self.parts.is_empty() {
            self.parts.remove(key.text());
        }
        self.record.insert_key(key, value);
    }

    /// The draft under `key`, made of the field when there is none.
    pub(super) fn part(&mut self, key: &Key<'a>, arena: &'a Arena) -> Option<&mut Draft<'a>> {
        if !self.parts.contains_key(key.text()) {
            let draft = Draft::of(self.record.get_key(key)?, arena)?;
            self.parts.insert(key.text(), draft);
        }
        self.parts.get_mut(key.text())
    }

    /// The record with no field a draft.
    pub(super) fn whole(&mut self) -> &mut RecordBuilder<'a> {
        for (name, draft) in std::mem::take(&mut self.parts) {
            self.record.insert(name, draft.finish());
        }
        &mut self.record
    }

    pub(super) fn finish(mut self) -> RecordBuilder<'a> {
        self.whole();
        self.record
    }
}
