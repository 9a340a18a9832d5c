//! Garbage collection, cycles included: marks what can be reached from the roots and frees all
//! other cells.
//!
//! Invariant: whoever calls it names all values that it still holds. Variables of running calls are
//! roots by themselves.

use super::{CELL_BYTES, ENTRY_BYTES, Heap, Scope, ScopeRef, VALUE_BYTES};
use crate::value::Value;

/// Bytes that may be lost before a collection is worth while.
const LOST_MIN: usize = 1 << 20;

/// What was reached so far.
struct Marks {
    texts: Vec<bool>,
    lists: Vec<bool>,
    hashes: Vec<bool>,
    ranges: Vec<bool>,
    closures: Vec<bool>,
    scopes: Vec<bool>,
    /// Values that were reached, whose parts were not.
    open: Vec<Value>,
    /// Bytes of values that stand outside of cells.
    bytes: usize,
}

/// Whether the mark is new.
fn mark(marks: &mut [bool], at: u32) -> bool {
    marks.get_mut(at as usize).is_some_and(|mark| !std::mem::replace(mark, true))
}

impl Heap {
    /// Collects when so much has come in since the last time that the price is small against it.
    pub(in super::super) fn settle<'v>(&self, roots: impl Iterator<Item = &'v Value>) {
        self.budget.drop_copies();
        let lost = self.budget.held().saturating_sub(self.live.get());
        if lost > LOST_MIN.max(self.live.get().min(self.budget.room())) {
            self.collect(roots);
        }
    }

    /// Whether running code has made so much that a collection should free some of it.
    pub(in super::super) fn is_tight(&self) -> bool {
        self.budget.is_tight()
    }

    /// Collects while code runs. Its work is paid for, and the next collection comes when half of the room that is left
    /// has been used up.
    pub(in super::super) fn relieve<'v>(&self, roots: impl Iterator<Item = &'v Value>) {
        let cells = [
            self.texts.borrow().len(),
            self.lists.borrow().len(),
            self.hashes.borrow().len(),
            self.scopes.borrow().len(),
        ];
        self.budget.spend_items(cells.iter().sum());
        self.collect(roots);
        self.budget.plan_relief();
    }

    /// Frees what the roots do not reach.
    pub(in super::super) fn collect<'v>(&self, roots: impl Iterator<Item = &'v Value>) {
        let mut marks = Marks {
            texts: vec![false; self.texts.borrow().len()],
            lists: vec![false; self.lists.borrow().len()],
            hashes: vec![false; self.hashes.borrow().len()],
            ranges: vec![false; self.ranges.borrow().len()],
            closures: vec![false; self.closures.borrow().len()],
            scopes: vec![false; self.scopes.borrow().len()],
            open: Vec::new(),
            bytes: 0,
        };
        let active = self.scopes.borrow().places(|scope| scope.active);
        for at in active {
            self.reach_scope(ScopeRef(at), &mut marks);
            self.reach_open(&mut marks);
        }
        for root in roots {
            self.reach(root, &mut marks);
            self.reach_open(&mut marks);
        }
        let mut bytes = marks.bytes;
        self.texts.borrow_mut().sweep(&marks.texts, |text| bytes += CELL_BYTES + text.len());
        self.lists
            .borrow_mut()
            .sweep(&marks.lists, |list| bytes += CELL_BYTES + list.len() * VALUE_BYTES);
        self.hashes
            .borrow_mut()
            .sweep(&marks.hashes, |hash| bytes += 2 * CELL_BYTES + hash.len() * ENTRY_BYTES);
        self.ranges.borrow_mut().sweep(&marks.ranges, |_| bytes += CELL_BYTES + 2 * VALUE_BYTES);
        self.closures
            .borrow_mut()
            .sweep(&marks.closures, |_| bytes += CELL_BYTES + 2 * VALUE_BYTES);
        self.scopes.borrow_mut().sweep(&marks.scopes, |scope: &Scope| {
            bytes += CELL_BYTES + scope.values.len() * VALUE_BYTES;
        });
        self.live.set(bytes);
        self.budget.set_held(bytes);
    }

    /// Marks what is in the values that were noted.
    fn reach_open(&self, marks: &mut Marks) {
        while let Some(value) = marks.open.pop() {
            self.reach_parts(&value, marks);
        }
    }

    /// Marks a value, and notes it when it has parts.
    fn reach(&self, value: &Value, marks: &mut Marks) {
        let is_new = match value {
            Value::Text(text) => {
                mark(&mut marks.texts, text.0);
                false
            }
            Value::List(list) => mark(&mut marks.lists, list.0),
            Value::Hash(hash) | Value::Set(hash) => mark(&mut marks.hashes, hash.0),
            Value::Object(object) => mark(&mut marks.hashes, object.fields.0),
            Value::Range(range) => mark(&mut marks.ranges, range.0),
            Value::Lambda(closure) => mark(&mut marks.closures, closure.0),
            other => {
                marks.bytes += other.shared_bytes();
                false
            }
        };
        if is_new {
            marks.open.push(value.clone());
        }
    }

    fn reach_parts(&self, value: &Value, marks: &mut Marks) {
        match value {
            Value::List(list) => {
                let lists = self.lists.borrow();
                lists.get(list.0).into_iter().flatten().for_each(|item| self.reach(item, marks));
            }
            Value::Hash(hash) | Value::Set(hash) => self.reach_hash(hash.0, marks),
            Value::Object(object) => self.reach_hash(object.fields.0, marks),
            Value::Range(range) => {
                if let Some(range) = self.ranges.borrow().get(range.0) {
                    self.reach(&range.from, marks);
                    self.reach(&range.to, marks);
                }
            }
            Value::Lambda(closure) => {
                if let Some(closure) = self.closures.borrow().get(closure.0) {
                    self.reach(&closure.this, marks);
                    self.reach_scope(closure.scope, marks);
                }
            }
            // Values without parts are never noted.
            _ => {}
        }
    }

    fn reach_hash(&self, at: u32, marks: &mut Marks) {
        if let Some(hash) = self.hashes.borrow().get(at) {
            hash.values().for_each(|value| self.reach(value, marks));
        }
    }

    /// The variables of a closure, and those around.
    fn reach_scope(&self, scope: ScopeRef, marks: &mut Marks) {
        let scopes = self.scopes.borrow();
        let mut next = Some(scope);
        while let Some(at) = next {
            let Some(scope) = scopes.get(at.0).filter(|_| mark(&mut marks.scopes, at.0)) else {
                break;
            };
            scope.values.iter().for_each(|value| self.reach(value, marks));
            next = scope.parent;
        }
    }
}
