//! What can be done with handles: read and change what they refer to.
//!
//! Invariant: a closure that is handed in to change a value runs while nothing is borrowed, so
//! that it may use the heap itself.

use super::{CELL_BYTES, ENTRY_BYTES, Heap, VALUE_BYTES};
use crate::dictionary::{Dictionary, Key};
use crate::handle::{ClosureRef, HashRef, ListRef, RangeRef, ScopeRef, TextRef};
use crate::text::{Content, Stored};
use crate::value::{Closure, Object, Range, STRUCT, Value};
use std::sync::Arc;

impl TextRef {
    pub(crate) fn content(self, heap: &Heap) -> Content {
        let mut texts = heap.texts.borrow_mut();
        texts.get_mut(self.0).map(Stored::content).unwrap_or_default()
    }

    /// The text; bytes as Java reads them.
    pub(crate) fn str(self, heap: &Heap) -> Arc<str> {
        self.content(heap).read()
    }

    pub(crate) fn set(self, heap: &Heap, content: Content) {
        let size = content.bytes().len();
        heap.budget.spend_bytes(size);
        heap.budget.hold(size);
        if let Some(text) = heap.texts.borrow_mut().get_mut(self.0) {
            heap.budget.release(text.len());
            text.set(content);
        }
    }

    /// Puts UTF-8 behind UTF-8, without a copy of what is there; false where there are other bytes.
    pub(crate) fn push(self, heap: &Heap, more: &str) -> bool {
        heap.budget.spend_bytes(more.len());
        heap.budget.hold(more.len());
        let mut texts = heap.texts.borrow_mut();
        texts.get_mut(self.0).is_some_and(|text| text.push(more))
    }

    pub(crate) fn len(self, heap: &Heap) -> usize {
        heap.texts.borrow().get(self.0).map_or(0, Stored::len)
    }

    pub(crate) fn freeze(self, heap: &Heap) {
        if let Some(text) = heap.texts.borrow_mut().get_mut(self.0) {
            text.frozen = true;
        }
    }

    pub(crate) fn is_frozen(self, heap: &Heap) -> bool {
        heap.texts.borrow().get(self.0).is_some_and(|text| text.frozen)
    }

    /// Whether bytes are in it that no text stands for.
    pub(crate) fn is_bytes(self, heap: &Heap) -> bool {
        heap.texts.borrow().get(self.0).is_some_and(Stored::is_bytes)
    }
}

impl ListRef {
    /// A copy of all items.
    pub(crate) fn items(self, heap: &Heap) -> Vec<Value> {
        let lists = heap.lists.borrow();
        let items = lists.get(self.0).cloned().unwrap_or_default();
        heap.budget.spend_items(items.len());
        items
    }

    pub(crate) fn item(self, heap: &Heap, at: usize) -> Option<Value> {
        heap.lists.borrow().get(self.0)?.get(at).cloned()
    }

    pub(crate) fn len(self, heap: &Heap) -> usize {
        heap.lists.borrow().get(self.0).map_or(0, Vec::len)
    }

    /// Gives the list other items.
    pub(crate) fn set_items(self, heap: &Heap, items: Vec<Value>) {
        heap.budget.spend_items(items.len());
        self.edit(heap, |old| *old = items);
    }

    pub(crate) fn push(self, heap: &Heap, item: Value) {
        heap.budget.hold(VALUE_BYTES);
        if let Some(items) = heap.lists.borrow_mut().get_mut(self.0) {
            items.push(item);
        }
    }

    /// Changes the items. Meanwhile the list is empty for whom asks.
    pub(crate) fn edit<R>(self, heap: &Heap, change: impl FnOnce(&mut Vec<Value>) -> R) -> R {
        let taken = heap.lists.borrow_mut().get_mut(self.0).map(std::mem::take);
        let mut items = taken.unwrap_or_default();
        let before = items.len();
        let result = change(&mut items);
        heap.budget.hold(items.len().saturating_sub(before) * VALUE_BYTES);
        heap.budget.release(before.saturating_sub(items.len()) * VALUE_BYTES);
        if let Some(place) = heap.lists.borrow_mut().get_mut(self.0) {
            *place = items;
        }
        result
    }
}

impl HashRef {
    pub(crate) fn len(self, heap: &Heap) -> usize {
        heap.hashes.borrow().get(self.0).map_or(0, Dictionary::len)
    }

    pub(crate) fn get(self, heap: &Heap, key: &Value) -> Option<Value> {
        let key = Key::of(heap, key);
        heap.hashes.borrow().get(self.0)?.get(&key).cloned()
    }

    /// Puts in a pair. A text is copied, as who changes it later must not change the key.
    pub(crate) fn insert(self, heap: &Heap, key: Value, value: Value) {
        let name = Key::of(heap, &key);
        let key = match key {
            Value::Text(text) if !text.is_frozen(heap) => {
                let copy = heap.new_text(text.content(heap));
                copy.freeze(heap);
                Value::Text(copy)
            }
            key => key,
        };
        if let Some(hash) = heap.hashes.borrow_mut().get_mut(self.0)
            && hash.insert(name, key, value)
        {
            heap.budget.hold(ENTRY_BYTES);
        }
    }

    pub(crate) fn remove(self, heap: &Heap, key: &Value) -> Option<Value> {
        let key = Key::of(heap, key);
        let removed = heap.hashes.borrow_mut().get_mut(self.0)?.remove(&key)?;
        heap.budget.release(ENTRY_BYTES);
        Some(removed)
    }

    /// A copy of all pairs.
    pub(crate) fn pairs(self, heap: &Heap) -> Vec<(Value, Value)> {
        let hashes = heap.hashes.borrow();
        let pairs = hashes.get(self.0).map(Dictionary::pairs).unwrap_or_default();
        heap.budget.spend_items(pairs.len());
        pairs
    }

    /// The first pair.
    pub(crate) fn first(self, heap: &Heap) -> Option<(Value, Value)> {
        heap.hashes.borrow().get(self.0)?.first()
    }

    pub(crate) fn clear(self, heap: &Heap) {
        if let Some(hash) = heap.hashes.borrow_mut().get_mut(self.0) {
            heap.budget.release(hash.len() * ENTRY_BYTES);
            hash.clear();
        }
    }

    /// A copy, with what a missing key is.
    pub(crate) fn copy(self, heap: &Heap) -> HashRef {
        let copy = heap.hashes.borrow().get(self.0).cloned().unwrap_or_default();
        heap.new_hash(copy)
    }

    /// Gives the hash the pairs of another one.
    pub(crate) fn replace(self, heap: &Heap, other: HashRef) {
        let pairs = other.pairs(heap);
        self.clear(heap);
        pairs.into_iter().for_each(|(key, value)| self.insert(heap, key, value));
    }

    /// What a missing key is.
    pub(crate) fn default(self, heap: &Heap) -> Value {
        let hashes = heap.hashes.borrow();
        hashes.get(self.0).map(|hash| hash.default.clone()).unwrap_or_default()
    }

    pub(crate) fn set_default(self, heap: &Heap, value: Value) {
        if let Some(hash) = heap.hashes.borrow_mut().get_mut(self.0) {
            hash.default = value;
        }
    }
}

impl RangeRef {
    pub(crate) fn get(self, heap: &Heap) -> Range {
        heap.ranges.borrow().get(self.0).cloned().unwrap_or_default()
    }
}

impl ClosureRef {
    /// Nothing for a handle of another heap.
    pub(crate) fn get(self, heap: &Heap) -> Option<Closure> {
        heap.closures.borrow().get(self.0).cloned()
    }
}

impl ScopeRef {
    /// No variables at all.
    pub(crate) const NONE: Self = Self(u32::MAX);

    /// The scope so many blocks further out.
    fn outer(self, heap: &Heap, up: u16) -> Self {
        let scopes = heap.scopes.borrow();
        let parent = |scope: Self| scopes.get(scope.0).and_then(|scope| scope.parent);
        (0..up).fold(self, |scope, _| parent(scope).unwrap_or(scope))
    }

    pub(crate) fn get(self, heap: &Heap, up: u16, slot: u16) -> Value {
        let scope = if up == 0 { self } else { self.outer(heap, up) };
        let scopes = heap.scopes.borrow();
        let value = scopes.get(scope.0).and_then(|scope| scope.values.get(slot as usize));
        value.cloned().unwrap_or_default()
    }

    pub(crate) fn set(self, heap: &Heap, up: u16, slot: u16, value: Value) {
        let scope = if up == 0 { self } else { self.outer(heap, up) };
        let mut scopes = heap.scopes.borrow_mut();
        if let Some(place) =
            scopes.get_mut(scope.0).and_then(|one| one.values.get_mut(slot as usize))
        {
            *place = value;
        }
    }

    /// Keeps the variables, and those around, beyond their call.
    pub(super) fn capture(self, heap: &Heap) {
        let mut scopes = heap.scopes.borrow_mut();
        let mut next = Some(self);
        while let Some(scope) = next.and_then(|scope| scopes.get_mut(scope.0)) {
            if scope.captured {
                break;
            }
            scope.captured = true;
            heap.budget.hold(CELL_BYTES + scope.values.len() * VALUE_BYTES);
            next = scope.parent;
        }
    }

    /// The call has ended; what no closure holds is used again.
    pub(crate) fn leave(self, heap: &Heap) {
        let mut scopes = heap.scopes.borrow_mut();
        let Some(scope) = scopes.get_mut(self.0) else { return };
        scope.active = false;
        if !scope.captured {
            // What it held is lost now, not when the next call takes its place.
            scope.values.clear();
            scopes.give_back(self.0);
        }
    }
}

impl Value {
    /// What a hash has under a symbol.
    #[must_use]
    pub fn entry(&self, heap: &Heap, name: &str) -> Option<Value> {
        match self {
            Value::Hash(hash) => hash.get(heap, &Value::Symbol(name.into())),
            _ => None,
        }
    }

    /// Puts a value under a symbol of a hash.
    pub fn set_entry(&self, heap: &Heap, name: &str, value: Value) {
        if let Value::Hash(hash) = self {
            hash.insert(heap, Value::Symbol(name.into()), value);
        }
    }
}

impl Object {
    /// Whether its fields are its value, as those of a `Struct`.
    pub(crate) fn is_record(&self, heap: &Heap) -> bool {
        let fields = self.fields.pairs(heap);
        fields.iter().all(|(name, _)| matches!(name, Value::Symbol(_)))
            && (self.class.starts_with(STRUCT) || !fields.is_empty())
    }
}
