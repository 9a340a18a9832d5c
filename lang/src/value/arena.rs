//! The memory of one event or one batch: everything in it goes at once. Nothing in an arena is
//! ever freed alone, so values that point into it need no count and no drop.

use super::record::SMALL_FIELDS;
use super::{Key, Record, RecordBuilder, Value};
use bumpalo::Bump;
use std::fmt::{Arguments, Write};

/// Bump-allocated memory for values.
#[derive(Debug, Default)]
pub struct Arena {
    bump: Bump,
}

impl Arena {
    /// An empty arena; takes no memory until used.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets everything and keeps the largest block for the next event.
    pub fn reset(&mut self) {
        self.bump.reset();
    }

    /// Bytes that this arena holds from the system.
    #[must_use]
    pub fn allocated_bytes(&self) -> usize {
        self.bump.allocated_bytes()
    }

    /// A copy of `text`.
    #[must_use]
    pub fn str(&self, text: &str) -> &str {
        self.bump.alloc_str(text)
    }

    /// A copy of `bytes`.
    #[must_use]
    pub fn bytes(&self, bytes: &[u8]) -> &[u8] {
        self.bump.alloc_slice_copy(bytes)
    }

    /// A mutable copy of `bytes`, for parsers that work in place.
    #[must_use]
    pub fn bytes_mut(&self, bytes: &[u8]) -> &mut [u8] {
        self.bump.alloc_slice_copy(bytes)
    }

    /// As [`Arena::bytes_mut`], followed by `padding` zeros.
    #[must_use]
    pub fn padded(&self, bytes: &[u8], padding: usize) -> &mut [u8] {
        let mut copy =
            bumpalo::collections::Vec::with_capacity_in(bytes.len() + padding, &self.bump);
        copy.extend_from_slice_copy(bytes);
        copy.resize(bytes.len() + padding, 0);
        copy.into_bump_slice_mut()
    }

    /// Formatted text: `arena.format(format_args!("{n} items"))`.
    #[must_use]
    pub fn format(&self, arguments: Arguments<'_>) -> &str {
        let mut text = bumpalo::collections::String::new_in(&self.bump);
        text.write_fmt(arguments).expect("writing into memory does not fail");
        text.into_bump_str()
    }

    /// A slice of values whose number the iterator may not know.
    #[must_use]
    pub fn slice<'a>(&'a self, items: impl IntoIterator<Item = Value<'a>>) -> &'a [Value<'a>] {
        let items = items.into_iter();
        let mut list = self.array_builder(items.size_hint().0);
        items.for_each(|item| list.push(item));
        list.into_slice()
    }

    /// An array value of the given items.
    #[must_use]
    pub fn array<'a>(&'a self, items: impl IntoIterator<Item = Value<'a>>) -> Value<'a> {
        Value::Array(self.slice(items))
    }

    /// An empty list to push values to.
    #[must_use]
    pub fn array_builder(&self, capacity: usize) -> ArrayBuilder<'_> {
        ArrayBuilder { items: bumpalo::collections::Vec::with_capacity_in(capacity, &self.bump) }
    }

    /// An empty record to insert fields to.
    #[must_use]
    pub fn record_builder(&self, capacity: usize) -> RecordBuilder<'_> {
        RecordBuilder::with_capacity(self, capacity)
    }

    /// A record of at most `capacity` fields, whose names differ.
    #[must_use]
    #[inline]
    pub fn record_of<'a>(
        &'a self,
        capacity: usize,
        fields: impl Iterator<Item = (Key<'a>, Value<'a>)>,
    ) -> Value<'a> {
        if capacity == 0 {
            return Value::EMPTY_RECORD;
        }
        if capacity <= SMALL_FIELDS {
            return Value::Record(self.alloc_record(Record::small(self, capacity, fields)));
        }
        let mut record = self.record_builder(capacity);
        fields.for_each(|(key, value)| record.append_key(&key, value));
        record.finish()
    }

    /// Moves a plain value in.
    #[must_use]
    pub fn alloc<'a, T: Copy + 'a>(&'a self, value: T) -> &'a T {
        self.bump.alloc(value)
    }

    /// A copy of the nodes of a tape, so that the tape can be used for the next event.
    #[must_use]
    pub fn nodes<'a>(&'a self, nodes: &[simd_json::Node<'a>]) -> &'a [simd_json::Node<'a>] {
        self.bump.alloc_slice_copy(nodes)
    }

    pub(super) fn alloc_record<'a>(&'a self, record: Record<'a>) -> &'a Record<'a> {
        self.bump.alloc(record)
    }

    /// The allocator itself, for collections that live in the arena.
    #[must_use]
    pub fn bump(&self) -> &Bump {
        &self.bump
    }
}

/// A growing array in an arena.
#[derive(Debug)]
pub struct ArrayBuilder<'a> {
    items: bumpalo::collections::Vec<'a, Value<'a>>,
}

impl<'a> ArrayBuilder<'a> {
    /// Appends one value.
    pub fn push(&mut self, value: Value<'a>) {
        self.items.push(value);
    }

    /// Appends all of `values`.
    pub fn extend(&mut self, values: &[Value<'a>]) {
        self.items.extend_from_slice(values);
    }

    /// Number of values so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether nothing was pushed yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The finished slice.
    #[must_use]
    pub fn into_slice(self) -> &'a [Value<'a>] {
        self.items.into_bump_slice()
    }

    /// The finished array value.
    #[must_use]
    pub fn finish(self) -> Value<'a> {
        Value::Array(self.into_slice())
    }
}
