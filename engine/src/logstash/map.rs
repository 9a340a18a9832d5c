//! The fields of an event or of a map in it, in order of insertion. Every name carries its hash, which it keeps when
//! the map becomes a record of the language.
//!
//! Invariant: no name is there twice, as long as what is appended is new.

use super::datum::Datum;
use temblor_lang::value::{Arena, Key, Value};

/// A map in order of insertion. Events have few enough fields that walking their hashes is fastest.
#[derive(Clone, Debug, Default)]
pub struct Map<'a> {
    entries: Vec<Entry<'a>>,
    names: Names,
}

#[derive(Clone, Debug, PartialEq)]
struct Entry<'a> {
    key: Key<'a>,
    value: Datum<'a>,
}

/// A set of names that may hold more than there are: what is not in it was never set.
#[derive(Clone, Copy, Debug, Default)]
struct Names(u64);

impl Names {
    #[inline]
    fn bit(key: &Key<'_>) -> u64 {
        1 << (key.hash() >> 26)
    }

    #[inline]
    fn add(&mut self, key: &Key<'_>) {
        self.0 |= Self::bit(key);
    }

    #[inline]
    fn may_hold(self, key: &Key<'_>) -> bool {
        self.0 & Self::bit(key) != 0
    }
}

/// Fields that an event has room for from its beginning: as many as patterns for access logs make.
const FIELDS_EXPECTED: usize = 16;

impl PartialEq for Map<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.entries == other.entries
    }
}

impl<'a> Map<'a> {
    /// An empty one with room for the fields of an event.
    #[must_use]
    pub fn of_event() -> Self {
        Self { entries: Vec::with_capacity(FIELDS_EXPECTED), names: Names::default() }
    }

    /// A map of one field.
    #[must_use]
    pub fn of_one(key: Key<'a>, value: Datum<'a>) -> Self {
        let mut map = Self { entries: Vec::with_capacity(1), names: Names::default() };
        map.append_key(key, value);
        map
    }

    /// Whether `key` is sure not to be there.
    #[must_use]
    #[inline]
    pub fn lacks(&self, key: &Key<'_>) -> bool {
        !self.names.may_hold(key)
    }

    /// Number of fields.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    #[inline]
    fn position(&self, key: &Key<'_>) -> Option<usize> {
        if !self.names.may_hold(key) {
            return None;
        }
        let is_key = |one: &Entry<'_>| one.key.hash() == key.hash() && one.key.text() == key.text();
        self.entries.iter().position(is_key)
    }

    /// The value under `key`.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Datum<'a>> {
        self.get_key(&Key::new(key))
    }

    /// As [`Map::get`], for a key whose hash is known.
    #[must_use]
    #[inline]
    pub fn get_key(&self, key: &Key<'_>) -> Option<&Datum<'a>> {
        self.position(key).map(|at| &self.entries[at].value)
    }

    /// The value under `key`, to be changed.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Datum<'a>> {
        self.get_key_mut(&Key::new(key))
    }

    /// As [`Map::get_mut`], for a key whose hash is known.
    #[inline]
    pub fn get_key_mut(&mut self, key: &Key<'_>) -> Option<&mut Datum<'a>> {
        self.position(key).map(|at| &mut self.entries[at].value)
    }

    /// Sets `key`, over an earlier value if there is one.
    pub fn insert(&mut self, key: &'a str, value: Datum<'a>) {
        self.insert_key(Key::new(key), value);
    }

    /// As [`Map::insert`], for a key whose hash is known.
    pub fn insert_key(&mut self, key: Key<'a>, value: Datum<'a>) {
        match self.get_key_mut(&key) {
            Some(place) => *place = value,
            None => self.append_key(key, value),
        }
    }

    /// As [`Map::insert_key`]; the key is copied only when it is new.
    pub fn insert_copied(&mut self, key: &Key<'_>, value: Datum<'a>, arena: &'a Arena) {
        match self.get_key_mut(key) {
            Some(place) => *place = value,
            None => self.append_key(Key::with_hash(arena.str(key.text()), key.hash()), value),
        }
    }

    /// Adds a field that is known to be new.
    pub fn append(&mut self, key: &'a str, value: Datum<'a>) {
        self.append_key(Key::new(key), value);
    }

    /// As [`Map::append`], for a key whose hash is known.
    #[inline]
    pub fn append_key(&mut self, key: Key<'a>, value: Datum<'a>) {
        self.names.add(&key);
        self.entries.push(Entry { key, value });
    }

    /// Removes `key`; the order of the others stays.
    pub fn remove(&mut self, key: &str) -> Option<Datum<'a>> {
        self.remove_key(&Key::new(key))
    }

    /// As [`Map::remove`], for a key whose hash is known.
    pub fn remove_key(&mut self, key: &Key<'_>) -> Option<Datum<'a>> {
        self.position(key).map(|at| self.entries.remove(at).value)
    }

    /// The fields in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&'a str, &Datum<'a>)> {
        self.entries.iter().map(|one| (one.key.text(), &one.value))
    }

    /// The fields in order, to be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&'a str, &mut Datum<'a>)> {
        self.entries.iter_mut().map(|one| (one.key.text(), &mut one.value))
    }

    /// Takes all fields out.
    pub fn into_entries(self) -> Vec<(&'a str, Datum<'a>)> {
        self.entries.into_iter().map(|one| (one.key.text(), one.value)).collect()
    }

    /// Keeps the fields for which `keep` holds.
    pub fn retain(&mut self, mut keep: impl FnMut(&str, &mut Datum<'a>) -> bool) {
        self.entries.retain_mut(|one| keep(one.key.text(), &mut one.value));
    }

    /// As a record of the language.
    #[must_use]
    pub fn to_value(&self, arena: &'a Arena) -> Value<'a> {
        let mut record = arena.record_builder(self.len());
        for one in &self.entries {
            record.append_key(&one.key, one.value.to_value(arena));
        }
        record.finish()
    }
}

impl<'a> FromIterator<(Key<'a>, Datum<'a>)> for Map<'a> {
    /// The keys must differ.
    fn from_iter<I: IntoIterator<Item = (Key<'a>, Datum<'a>)>>(entries: I) -> Self {
        let mut names = Names::default();
        let entries = entries.into_iter().map(|(key, value)| {
            names.add(&key);
            Entry { key, value }
        });
        Self { entries: entries.collect(), names }
    }
}

impl<'a> FromIterator<(&'a str, Datum<'a>)> for Map<'a> {
    /// The keys must differ.
    fn from_iter<I: IntoIterator<Item = (&'a str, Datum<'a>)>>(entries: I) -> Self {
        entries.into_iter().map(|(key, value)| (Key::new(key), value)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_as_long_as_they_are_there() {
        let arena = Arena::new();
        let names: Vec<String> = (0..200).map(|number| format!("field {number}")).collect();
        let mut map = Map::of_event();
        for (number, name) in names.iter().enumerate() {
            map.insert(name, Datum::Int(-1));
            map.insert_copied(&Key::new(name), Datum::Int(number as i64), &arena);
        }
        assert_eq!(map.len(), names.len());
        for name in names.iter().step_by(3) {
            assert!(map.remove(name).is_some() && map.remove(name).is_none(), "{name}");
        }
        for (number, name) in names.iter().enumerate() {
            let expected = (number % 3 > 0).then_some(Datum::Int(number as i64));
            assert_eq!(map.get(name), expected.as_ref(), "{name}");
        }
        let again: Map<'_> = map.clone().into_entries().into_iter().collect();
        assert_eq!(map, again);
    }
}
