//! The memory of one event or one batch: everything in it goes at once. Nothing in an arena is
//! ever freed alone, so values that point into it need no count and no drop. An arena that runs a
//! program counts what is taken; when that is too much, it gives empty values instead of memory, and
//! [`Arena::excess`] says so.

use super::meter::{Allowance, EventBudget, Excess, Meter};
use super::record::SMALL_FIELDS;
use super::{Key, Record, RecordBuilder, TextBuilder, Value};
use bumpalo::Bump;
use std::fmt::{Arguments, Write};

/// An arena that has grown beyond this gives its memory back when it is reset, in bytes.
const KEPT_BYTES_MAX: usize = 32 << 20;

/// Bump-allocated memory for values.
#[derive(Debug, Default)]
pub struct Arena {
    bump: Bump,
    meter: Meter,
}

impl Arena {
    /// An empty arena; takes no memory until used.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty arena that gives no more than so many bytes, and allows no more than so many steps
    /// of work.
    #[must_use]
    pub fn limited(bytes: usize, steps: usize) -> Self {
        Self { bump: Bump::new(), meter: Meter::limited(bytes, steps) }
    }

    /// Forgets everything and keeps the largest block for the next event, unless it is very large.
    pub fn reset(&mut self) {
        if self.bump.allocated_bytes() > KEPT_BYTES_MAX {
            self.bump = Bump::new();
        } else {
            self.bump.reset();
        }
        self.meter.reset();
    }

    /// Asks for memory that is then taken from [`Arena::bump`]; false when it must not be.
    #[inline]
    #[must_use]
    pub fn charge(&self, bytes: usize) -> bool {
        self.meter.charge(bytes)
    }

    /// Counts work, about a step for each byte or value that is looked at; false when it is to end.
    #[inline]
    pub fn step(&self, steps: usize) -> bool {
        self.meter.step(steps)
    }

    /// Whether memory or work is used up: what is in the arena may be incomplete from then on.
    #[inline]
    #[must_use]
    pub fn is_spent(&self) -> bool {
        self.meter.is_spent()
    }

    /// What is used up, if something is.
    #[must_use]
    pub fn excess(&self) -> Option<Excess> {
        self.meter.excess()
    }

    /// Bytes that have been asked for since the last reset.
    #[must_use]
    pub fn charged_bytes(&self) -> usize {
        self.meter.bytes()
    }

    /// Bytes that may still be asked for.
    #[must_use]
    pub fn bytes_left(&self) -> usize {
        self.meter.bytes_left()
    }

    /// Steps that may still be done.
    #[must_use]
    pub fn steps_left(&self) -> usize {
        self.meter.steps()
    }

    /// Limits what is taken from here on; to be followed by [`Arena::end`].
    #[inline]
    pub fn begin(&self, bytes: usize, steps: usize) -> Allowance {
        self.meter.begin(bytes, steps)
    }

    /// What was allowed `before` is allowed again, less the work since.
    #[inline]
    pub fn end(&self, before: Allowance) {
        self.meter.end(before);
    }

    /// Whatever runs from here on until the next call, or the next reset, shares this budget.
    pub fn begin_event(&self, left: EventBudget) {
        self.meter.begin_event(left);
    }

    /// What is left of the budget of the event.
    #[must_use]
    pub fn event_budget(&self) -> EventBudget {
        self.meter.event_budget()
    }

    /// What the event has used up, if it has.
    #[inline]
    #[must_use]
    pub fn event_excess(&self) -> Option<Excess> {
        self.meter.event_excess()
    }

    /// So many events that a step had kept go on together with this one, each with a budget of its own.
    pub fn join_kept(&self, events: usize) {
        self.meter.join_kept(events);
    }

    /// Lets what fails be dealt with, though the budget of the event is used up; once for each event.
    pub fn use_reserve(&self) {
        self.meter.use_reserve();
    }

    /// A copy of `text`.
    #[must_use]
    pub fn str(&self, text: &str) -> &str {
        if self.charge(text.len()) { self.bump.alloc_str(text) } else { "" }
    }

    /// A copy of `bytes`.
    #[must_use]
    pub fn bytes(&self, bytes: &[u8]) -> &[u8] {
        if self.charge(bytes.len()) { self.bump.alloc_slice_copy(bytes) } else { &[] }
    }

    /// A mutable copy of `bytes`, for parsers that work in place.
    #[must_use]
    pub fn bytes_mut(&self, bytes: &[u8]) -> &mut [u8] {
        if self.charge(bytes.len()) { self.bump.alloc_slice_copy(bytes) } else { &mut [] }
    }

    /// So many bytes that are zero, to be written to.
    #[must_use]
    pub fn zeros(&self, count: usize) -> &mut [u8] {
        if self.charge(count) { self.bump.alloc_slice_fill_copy(count, 0) } else { &mut [] }
    }

    /// A mutable copy of `text`.
    #[must_use]
    pub fn str_mut(&self, text: &str) -> &mut str {
        self.bump.alloc_str(if self.charge(text.len()) { text } else { "" })
    }

    /// A mutable copy of `values`, to be put in order.
    #[must_use]
    pub fn values_mut<'a>(&'a self, values: &[Value<'a>]) -> &'a mut [Value<'a>] {
        if self.charge(size_of_val(values)) { self.bump.alloc_slice_copy(values) } else { &mut [] }
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
        let mut text = self.text_builder(0);
        text.write_fmt(arguments).expect("writing into memory does not fail");
        text.into_str()
    }

    /// One text behind the other.
    #[must_use]
    pub fn concat(&self, left: &str, right: &str) -> &str {
        let mut text = self.text_builder(left.len() + right.len());
        text.push_str(left);
        text.push_str(right);
        text.into_str()
    }

    /// An empty text with room for `capacity` bytes.
    #[must_use]
    #[inline]
    pub fn text_builder(&self, capacity: usize) -> TextBuilder<'_> {
        TextBuilder::with_capacity(self, capacity)
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
        let room = capacity.saturating_mul(size_of::<Value<'_>>());
        let capacity = if self.charge(room) { capacity } else { 0 };
        let items = bumpalo::collections::Vec::with_capacity_in(capacity, &self.bump);
        ArrayBuilder { arena: self, items }
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
        if self.charge(size_of_val(nodes)) { self.bump.alloc_slice_copy(nodes) } else { &[] }
    }

    pub(super) fn alloc_record<'a>(&'a self, record: Record<'a>) -> &'a Record<'a> {
        if self.charge(size_of::<Record<'_>>()) { self.bump.alloc(record) } else { Record::EMPTY }
    }

    /// The allocator itself, for collections that live in the arena. What depends on data asks by
    /// [`Arena::charge`] first.
    #[must_use]
    pub fn bump(&self) -> &Bump {
        &self.bump
    }
}

/// A growing array in an arena.
#[derive(Debug)]
pub struct ArrayBuilder<'a> {
    arena: &'a Arena,
    items: bumpalo::collections::Vec<'a, Value<'a>>,
}

impl<'a> ArrayBuilder<'a> {
    /// Appends one value.
    #[inline]
    pub fn push(&mut self, value: Value<'a>) {
        if self.items.len() < self.items.capacity() || self.grow(1) {
            self.items.push(value);
        }
    }

    /// Appends all of `values`.
    pub fn extend(&mut self, values: &[Value<'a>]) {
        if self.items.capacity() - self.items.len() >= values.len() || self.grow(values.len()) {
            self.items.extend_from_slice_copy(values);
        }
    }

    /// Makes room for `more` values and as many as there are; false when there is no memory.
    #[cold]
    fn grow(&mut self, more: usize) -> bool {
        const LEAST: usize = 4;
        let more = more.max(self.items.len()).max(LEAST);
        let room = (self.items.len() + more).saturating_mul(size_of::<Value<'_>>());
        let granted = self.arena.charge(room);
        if granted {
            self.items.reserve_exact(more);
        }
        granted
    }

    /// The values so far.
    #[must_use]
    pub fn as_slice(&self) -> &[Value<'a>] {
        &self.items
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
    pub(crate) fn into_slice(self) -> &'a [Value<'a>] {
        self.items.into_bump_slice()
    }

    /// The finished array value.
    #[must_use]
    pub fn finish(self) -> Value<'a> {
        Value::Array(self.into_slice())
    }
}
