//! Garbage collection, cycles included: marks what can be reached from the roots and frees all
//! other cells.
//!
//! Invariant: it runs between events only, when running code holds no value.

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
    pub(in super::super) fn settle<'v>(&mut self, roots: impl Iterator<Item = &'v Value>) {
        let lost = self.budget.held().saturating_sub(self.live);
        if lost > LOST_MIN.max(self.live.min(self.budget.room())) {
            self.collect(roots);
        }
    }

    /// Frees what the roots do not reach.
    pub(in super::super) fn collect<'v>(&mut self, roots: impl Iterator<Item = &'v Value>) {
        let mut marks = Marks {
            texts: vec![false; self.texts.get_mut().len()],
            lists: vec![false; self.lists.get_mut().len()],
            hashes: vec![false; self.hashes.get_mut().len()],
            ranges: vec![false; self.ranges.get_mut().len()],
            closures: vec![false; self.closures.get_mut().len()],
            scopes: vec![false; self.scopes.get_mut().len()],
            open: Vec::new(),
            bytes: 0,
        };
        for root in roots {
            self.reach(root, &mut marks);
            while let Some(value) = marks.open.pop() {
                self.reach_parts(&value, &mut marks);
            }
        }
        let mut bytes = marks.bytes;
        self.texts.get_mut().sweep(&marks.texts, |text| bytes += CELL_BYTES + text.len());
        self.lists
            .get_mut()
            .sweep(&marks.lists, |list| bytes += CELL_BYTES + list.len() * VALUE_BYTES);
        self.hashes
            .get_mut()
            .sweep(&marks.hashes, |hash| bytes += 2 * CELL_BYTES + hash.len() * ENTRY_BYTES);
        self.ranges.get_mut().sweep(&marks.ranges, |_| bytes += CELL_BYTES + 2 * VALUE_BYTES);
        self.closures.get_mut().sweep(&marks.closures, |_| bytes += CELL_BYTES + 2 * VALUE_BYTES);
        self.scopes.get_mut().sweep(&marks.scopes, |scope: &Scope| {
            bytes += CELL_BYTES + scope.values.len() * VALUE_BYTES;
        });
        self.live = bytes;
        self.budget.set_held(bytes);
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
