//! The heap of a filter: it holds values that code can change and values that contain others. A
//! value is a handle into it; the heap moves with the state of the filter.
//!
//! Invariant: no reference into the heap is alive while other code runs, so that nothing can be
//! borrowed twice.

mod access;
mod collect;
mod key;
mod slab;

pub(crate) use super::handle::{ClosureRef, HashRef, ListRef, RangeRef, ScopeRef, TextRef};

use super::budget::{Breach, Budget, DEPTH_MAX, Limits};
use super::dictionary::Dictionary;
use super::text::{Content, Encoding, Stored};
use super::value::{Closure, Range, Value};
use slab::Slab;
use std::cell::{Cell, RefCell};
use std::sync::Arc;

/// The values of one filter.
#[derive(Debug, Default)]
pub struct Heap {
    texts: RefCell<Slab<Stored>>,
    lists: RefCell<Slab<Vec<Value>>>,
    hashes: RefCell<Slab<Dictionary>>,
    ranges: RefCell<Slab<Range>>,
    closures: RefCell<Slab<Closure>>,
    scopes: RefCell<Slab<Scope>>,
    budget: Budget,
    /// Bytes that were held behind the last collection.
    live: Cell<usize>,
}

/// The variables of one call of a method, a lambda or a block.
#[derive(Debug, Default)]
pub(super) struct Scope {
    pub values: Vec<Value>,
    /// The variables around a block.
    pub parent: Option<ScopeRef>,
    /// Whether a closure holds them, so that they outlive the call.
    pub captured: bool,
    /// Whether their call still runs.
    pub active: bool,
}

/// Bytes of what a handle stands for, without its items.
const CELL_BYTES: usize = 48;
/// Bytes of a value.
const VALUE_BYTES: usize = size_of::<Value>();
/// Bytes of an entry of a hash, with its place in the index.
const ENTRY_BYTES: usize = 2 * VALUE_BYTES + 64;

impl Heap {
    /// A heap with bounds of its own.
    pub(super) fn bounded(limits: Limits) -> Self {
        Self { budget: Budget::new(limits), ..Self::default() }
    }

    /// A text.
    pub fn text(&self, text: &str) -> Value {
        self.text_of(Content::Plain(text.into()))
    }

    /// A text that is shared with what it was taken from.
    pub(crate) fn shared_text(&self, text: &Arc<str>) -> Value {
        self.text_of(Content::Plain(text.clone()))
    }

    /// Bytes in no encoding; a text where they are ASCII.
    pub fn binary(&self, bytes: &[u8]) -> Value {
        self.text_of(Content::of(bytes, Encoding::Binary))
    }

    /// Bytes of UTF-8, or what should be.
    pub fn bytes(&self, bytes: &[u8]) -> Value {
        self.text_of(Content::of(bytes, Encoding::Utf8))
    }

    pub(super) fn text_of(&self, content: Content) -> Value {
        Value::Text(self.new_text(content))
    }

    pub(super) fn new_text(&self, content: Content) -> TextRef {
        let size = content.bytes().len();
        self.made(CELL_BYTES + size, size);
        TextRef(self.texts.borrow_mut().insert(Stored::new(content)))
    }

    /// A list.
    pub fn list(&self, items: Vec<Value>) -> Value {
        Value::List(self.new_list(items))
    }

    pub(super) fn new_list(&self, items: Vec<Value>) -> ListRef {
        self.made(CELL_BYTES + items.len() * VALUE_BYTES, items.len() * VALUE_BYTES);
        ListRef(self.lists.borrow_mut().insert(items))
    }

    /// A hash.
    pub fn hash(&self, pairs: impl IntoIterator<Item = (Value, Value)>) -> Value {
        let hash = self.new_hash(Dictionary::default());
        pairs.into_iter().for_each(|(key, value)| hash.insert(self, key, value));
        Value::Hash(hash)
    }

    /// A set of values.
    pub(super) fn set(&self, items: impl IntoIterator<Item = Value>) -> HashRef {
        let set = self.new_hash(Dictionary::default());
        items.into_iter().for_each(|item| set.insert(self, item, Value::Bool(true)));
        set
    }

    pub(super) fn new_hash(&self, dictionary: Dictionary) -> HashRef {
        let bytes = dictionary.len() * ENTRY_BYTES;
        self.made(2 * CELL_BYTES + bytes, bytes);
        HashRef(self.hashes.borrow_mut().insert(dictionary))
    }

    pub(super) fn range(&self, from: Value, to: Value, exclusive: bool) -> Value {
        self.made(CELL_BYTES + 2 * VALUE_BYTES, 0);
        let range = Range { from, to, exclusive };
        Value::Range(RangeRef(self.ranges.borrow_mut().insert(range)))
    }

    pub(super) fn closure(&self, closure: Closure) -> ClosureRef {
        self.made(CELL_BYTES + 2 * VALUE_BYTES, 0);
        closure.scope.capture(self);
        ClosureRef(self.closures.borrow_mut().insert(closure))
    }

    /// Variables of a call; all are `nil`.
    pub(super) fn scope(&self, size: usize, parent: Option<ScopeRef>) -> ScopeRef {
        let mut scopes = self.scopes.borrow_mut();
        let at = scopes.reuse();
        if let Some(scope) = scopes.get_mut(at) {
            scope.values.clear();
            scope.values.resize(size, Value::Nil);
            (scope.parent, scope.captured, scope.active) = (parent, false, true);
        }
        ScopeRef(at)
    }

    /// A value has come to be.
    fn made(&self, bytes: usize, work: usize) {
        self.budget.hold(bytes);
        self.budget.spend_bytes(work);
    }

    /// Bytes that values take, with those that are lost but not yet freed.
    #[must_use]
    pub fn held(&self) -> usize {
        self.budget.held()
    }

    /// Begins work that is no part of an event, such as saving: what the last event has used up does not
    /// count.
    pub fn begin_apart(&self) {
        self.budget().begin();
    }

    /// Pays for a look into a value at this depth; false when code has gone beyond a bound.
    pub(crate) fn descend(&self, depth: usize) -> bool {
        if depth > DEPTH_MAX {
            self.budget().exceed(Breach::Depth);
        }
        self.budget().spend(1)
    }

    pub(super) fn budget(&self) -> &Budget {
        &self.budget
    }

    /// Ends the code when it went beyond a bound.
    pub(super) fn check(&self) -> Result<(), Breach> {
        self.budget.breach().map_or(Ok(()), Err)
    }
}
