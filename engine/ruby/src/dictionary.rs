//! A hash in order of insertion.
//!
//! Invariant: everything that identifies a key is read from the heap beforehand, so that a look-
//! up needs no access to the heap.

use super::handle::{ClosureRef, HashRef};
use super::value::Value;
use std::collections::HashMap;
use std::sync::Arc;

/// Entries up to which keys are compared one by one.
const SEARCHED_MAX: usize = 8;
/// Holes that removed entries may leave.
const HOLES_MIN: usize = 8;

/// A hash in order of insertion.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dictionary {
    /// Removed entries leave holes, which are filled up when they are many.
    entries: Vec<Option<Entry>>,
    count: usize,
    /// Where keys stand, once there are many.
    index: Option<HashMap<Key, usize>>,
    /// What a missing key is.
    pub default: Value,
}

#[derive(Clone, Debug)]
struct Entry {
    name: Key,
    key: Value,
    value: Value,
}

/// What tells a key from another one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    Text(Arc<str>),
    Symbol(Arc<str>),
    Int(i64),
    /// Seconds and nanoseconds since 1970.
    Time(i64, u32),
    /// An object of a class without a value of its own.
    Object(HashRef),
    Lambda(ClosureRef),
    Event(usize),
    /// As it is printed.
    Other(Arc<str>),
}

impl Dictionary {
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    fn place(&self, key: &Key) -> Option<usize> {
        match &self.index {
            Some(index) => index.get(key).copied(),
            None => {
                let is_it =
                    |entry: &Option<Entry>| entry.as_ref().is_some_and(|entry| entry.name == *key);
                self.entries.iter().position(is_it)
            }
        }
    }

    pub(crate) fn get(&self, key: &Key) -> Option<&Value> {
        self.entries.get(self.place(key)?)?.as_ref().map(|entry| &entry.value)
    }

    /// Puts in a pair; whether the key is new. The key that is there stays.
    pub(crate) fn insert(&mut self, name: Key, key: Value, value: Value) -> bool {
        if let Some(entry) = self.place(&name).and_then(|at| self.entries[at].as_mut()) {
            entry.value = value;
            return false;
        }
        if let Some(index) = &mut self.index {
            index.insert(name.clone(), self.entries.len());
        }
        self.entries.push(Some(Entry { name, key, value }));
        self.count += 1;
        if self.index.is_none() && self.entries.len() > SEARCHED_MAX {
            self.fill_up();
        }
        true
    }

    pub(crate) fn remove(&mut self, key: &Key) -> Option<Value> {
        let at = self.place(key)?;
        let removed = self.entries[at].take()?;
        self.count -= 1;
        if let Some(index) = &mut self.index {
            index.remove(key);
        }
        if self.entries.len() > 2 * self.count + HOLES_MIN {
            self.fill_up();
        }
        Some(removed.value)
    }

    /// Closes the holes, and makes the index anew.
    fn fill_up(&mut self) {
        self.entries.retain(Option::is_some);
        let places = self.entries.iter().flatten().enumerate();
        self.index = (self.entries.len() > SEARCHED_MAX)
            .then(|| places.map(|(at, entry)| (entry.name.clone(), at)).collect());
    }

    pub(crate) fn pairs(&self) -> Vec<(Value, Value)> {
        let pair = |entry: &Entry| (entry.key.clone(), entry.value.clone());
        self.entries.iter().flatten().map(pair).collect()
    }

    pub(crate) fn first(&self) -> Option<(Value, Value)> {
        let entry = self.entries.iter().flatten().next()?;
        Some((entry.key.clone(), entry.value.clone()))
    }

    pub(crate) fn clear(&mut self) {
        self.entries.clear();
        self.count = 0;
        self.index = None;
    }

    /// All values that it holds, keys and default among them.
    pub(crate) fn values(&self) -> impl Iterator<Item = &Value> {
        let entries = self.entries.iter().flatten().flat_map(|entry| [&entry.key, &entry.value]);
        entries.chain(std::iter::once(&self.default))
    }
}
