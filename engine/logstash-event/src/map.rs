//! A map in order of insertion, for an event and the maps in it. Each name is stored with its hash, which is reused when
//! the map becomes a record of the language.
//!
//! Invariant: names are unique, provided that callers of `append…` pass new ones. A removed field leaves a gap, so that
//! no other field moves; gaps are closed when the storage is full.

use crate::datum::Datum;
use std::collections::HashMap;
use temblor_lang::value::{Arena, Key, Value};

/// A map in order of insertion. Look-ups walk the hashes: events have few fields, and for those it is fastest.
#[derive(Clone, Debug, Default)]
pub struct Map<'a> {
    entries: Vec<Entry<'a>>,
    names: Names,
    /// The number of gaps among the entries.
    gaps: u32,
    /// A lower bound of the number of gaps at the beginning.
    gaps_in_front: u32,
    /// Where each field is, once there are many; none of them is missing then.
    #[expect(clippy::box_collection, reason = "nearly every map has none: it takes one word then")]
    index: Option<Box<HashMap<&'a str, u32>>>,
}

/// Gaps are closed when they are more than one part in so many.
const GAPS_WORTH: usize = 4;
/// With more fields than this they are found by an index.
const WALKED_FIELDS_MAX: usize = 256;

#[derive(Clone, Debug)]
struct Entry<'a> {
    /// `None` in a gap.
    name: Option<&'a str>,
    hash: u32,
    value: Datum<'a>,
}

impl<'a> Entry<'a> {
    const GAP: Self = Self { name: None, hash: 0, value: Datum::Null };

    #[inline]
    fn new(key: Key<'a>, value: Datum<'a>) -> Self {
        Self { name: Some(key.text()), hash: key.hash(), value }
    }

    #[inline]
    fn field(&self) -> Option<(Key<'a>, &Datum<'a>)> {
        Some((Key::with_hash(self.name?, self.hash), &self.value))
    }
}

/// A Bloom filter of names: a name that it does not hold was never set.
#[derive(Clone, Copy, Debug, Default)]
pub struct Names(u64);

impl Names {
    /// The names of all these keys.
    #[must_use]
    pub fn of<'k>(keys: impl Iterator<Item = Key<'k>>) -> Self {
        let mut names = Self::default();
        keys.for_each(|key| names.add(&key));
        names
    }

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

/// The initial capacity of an event, in fields: as many as the patterns for access logs set.
const FIELDS_EXPECTED: usize = 16;

/// Spare capacity of other maps, in fields: few are added to most of them.
const FIELDS_MORE: usize = 2;

impl PartialEq for Map<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

impl<'a> Map<'a> {
    /// The fields of an event, with capacity for more. The names must differ.
    #[must_use]
    #[inline]
    pub fn of_event<const N: usize>(fields: [(Key<'a>, Datum<'a>); N]) -> Self {
        let mut map = Self { entries: Vec::with_capacity(FIELDS_EXPECTED), ..Self::default() };
        fields.iter().for_each(|(key, _)| map.names.add(key));
        map.entries.extend(fields.map(|(key, value)| Entry::new(key, value)));
        map
    }

    /// A map of one field.
    #[must_use]
    #[inline]
    pub(crate) fn of_one(key: Key<'a>, value: Datum<'a>) -> Self {
        let mut map = Self { entries: Vec::with_capacity(1), ..Self::default() };
        map.append_key(key, value);
        map
    }

    /// Whether `key` is certainly absent.
    #[must_use]
    #[inline]
    pub fn lacks(&self, key: &Key<'_>) -> bool {
        !self.names.may_hold(key)
    }

    /// Whether all of the names are certainly absent.
    #[must_use]
    #[inline]
    pub fn lacks_all(&self, names: Names) -> bool {
        self.names.0 & names.0 == 0
    }

    /// Number of fields.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.entries.len() - self.gaps as usize
    }

    /// Whether it has no fields.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[inline]
    fn position(&self, key: &Key<'_>) -> Option<usize> {
        if self.names.may_hold(key) { self.search(key) } else { None }
    }

    fn search(&self, key: &Key<'_>) -> Option<usize> {
        if let Some(index) = &self.index {
            return index.get(key.text()).map(|at| *at as usize);
        }
        let (hash, from) = (key.hash(), self.gaps_in_front as usize);
        let is_key =
            |one: &Entry<'a>| one.hash == hash && one.name.is_some_and(|name| key.is_text(name));
        self.entries[from..].iter().position(is_key).map(|at| from + at)
    }

    /// The value under `key`.
    #[must_use]
    #[inline]
    pub fn get(&self, key: &str) -> Option<&Datum<'a>> {
        self.get_key(&Key::new(key))
    }

    /// As [`Map::get`], for a key whose hash is known.
    #[must_use]
    #[inline]
    pub fn get_key(&self, key: &Key<'_>) -> Option<&Datum<'a>> {
        self.position(key).map(|at| &self.entries[at].value)
    }

    /// The value under `key`, mutable.
    #[inline]
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Datum<'a>> {
        self.get_key_mut(&Key::new(key))
    }

    /// As [`Map::get_mut`], for a key whose hash is known.
    #[inline]
    pub(crate) fn get_key_mut(&mut self, key: &Key<'_>) -> Option<&mut Datum<'a>> {
        self.position(key).map(|at| &mut self.entries[at].value)
    }

    /// Sets `key`; replaces an earlier value.
    #[inline]
    pub fn insert(&mut self, key: &'a str, value: Datum<'a>) {
        self.insert_key(Key::new(key), value);
    }

    /// As [`Map::insert`], for a key whose hash is known.
    #[inline]
    pub fn insert_key(&mut self, key: Key<'a>, value: Datum<'a>) {
        self.see_to_index();
        match self.get_key_mut(&key) {
            Some(place) => *place = value,
            None => self.append_key(key, value),
        }
    }

    /// As [`Map::insert_key`]; the key is copied into the arena only if it is new.
    pub(crate) fn insert_copied(&mut self, key: &Key<'_>, value: Datum<'a>, arena: &'a Arena) {
        self.see_to_index();
        match self.get_key_mut(key) {
            Some(place) => *place = value,
            None => self.append_key(Key::with_hash(arena.str(key.text()), key.hash()), value),
        }
    }

    /// Adds a field that is known to be new.
    #[inline]
    pub fn append(&mut self, key: &'a str, value: Datum<'a>) {
        self.append_key(Key::new(key), value);
    }

    /// As [`Map::append`], for a key whose hash is known.
    #[inline]
    pub fn append_key(&mut self, key: Key<'a>, value: Datum<'a>) {
        self.names.add(&key);
        self.see_to_index();
        // So few gaps that closing them would not pay are left.
        let has_gaps = self.gaps as usize * GAPS_WORTH > self.entries.len();
        if self.entries.len() == self.entries.capacity() && has_gaps {
            self.close_gaps();
        }
        if let (Some(index), Ok(at)) = (&mut self.index, u32::try_from(self.entries.len())) {
            index.insert(key.text(), at);
        }
        self.entries.push(Entry::new(key, value));
    }

    /// Makes the index of a map that has become large.
    #[inline]
    fn see_to_index(&mut self) {
        if self.entries.len() > WALKED_FIELDS_MAX && self.index.is_none() {
            self.make_index();
        }
    }

    #[cold]
    fn make_index(&mut self) {
        let places = self.entries.iter().zip(0_u32..);
        let named = places.filter_map(|(one, at)| Some((one.name?, at)));
        self.index = Some(Box::new(named.collect()));
    }

    /// Bytes that a copy takes; texts are shared.
    #[must_use]
    pub fn weight(&self) -> usize {
        let inside = self.entries.iter().map(|one| one.value.weight()).sum::<usize>();
        size_of_val(self.entries.as_slice()) + inside
    }

    /// Appends strings under new names, all of which `names` holds. A `None` leaves a gap.
    #[inline]
    pub fn append_texts(
        &mut self,
        names: Names,
        texts: impl ExactSizeIterator<Item = Option<(Key<'a>, &'a str)>>,
    ) {
        self.names.0 |= names.0;
        self.index = None;
        let gaps = &mut self.gaps;
        // The length is known, so that the storage grows at most once.
        self.entries.extend(texts.map(|text| match text {
            Some((key, text)) => Entry::new(key, Datum::Str(text)),
            None => {
                *gaps += 1;
                Entry::GAP
            }
        }));
    }

    #[cold]
    fn close_gaps(&mut self) {
        self.entries.retain(|one| one.name.is_some());
        (self.gaps, self.gaps_in_front) = (0, 0);
        self.index = None;
    }

    /// Removes `key`; the order of the others stays.
    #[inline]
    pub fn remove(&mut self, key: &str) -> Option<Datum<'a>> {
        self.remove_key(&Key::new(key))
    }

    /// As [`Map::remove`], for a key whose hash is known.
    #[inline]
    pub fn remove_key(&mut self, key: &Key<'_>) -> Option<Datum<'a>> {
        let at = self.position(key)?;
        if let Some(index) = &mut self.index {
            index.remove(key.text());
        }
        self.gaps += 1;
        self.gaps_in_front += u32::from(at == self.gaps_in_front as usize);
        let gone = std::mem::replace(&mut self.entries[at], Entry::GAP);
        Some(gone.value)
    }

    /// The fields without the gaps.
    #[inline]
    fn fields(&self) -> impl Iterator<Item = (Key<'a>, &Datum<'a>)> {
        self.entries.iter().filter_map(Entry::field)
    }

    /// The fields in order.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = (&'a str, &Datum<'a>)> {
        self.fields().map(|(key, value)| (key.text(), value))
    }

    /// The fields in order, mutable.
    #[inline]
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&'a str, &mut Datum<'a>)> {
        self.entries.iter_mut().filter_map(|one| Some((one.name?, &mut one.value)))
    }

    /// Drops the map. Only lists and maps own memory; the other values are not visited by drop glue.
    #[inline]
    pub fn discard(self) {
        for one in self.entries {
            match one.value {
                Datum::Map(_) | Datum::List(_) => drop(one.value),
                plain => std::mem::forget(plain),
            }
        }
    }

    /// Takes all fields out.
    pub fn into_entries(self) -> Vec<(&'a str, Datum<'a>)> {
        self.entries.into_iter().filter_map(|one| Some((one.name?, one.value))).collect()
    }

    /// Keeps the fields for which `keep` returns true.
    pub fn retain(&mut self, mut keep: impl FnMut(&str, &mut Datum<'a>) -> bool) {
        self.entries.retain_mut(|one| one.name.is_some_and(|name| keep(name, &mut one.value)));
        (self.gaps, self.gaps_in_front) = (0, 0);
        self.index = None;
    }

    /// Converts to a record of the language.
    #[must_use]
    pub fn to_value(&self, arena: &'a Arena) -> Value<'a> {
        arena.record_of(
            self.len(),
            self.fields().map(|(key, value)| {
                let value = match value {
                    Datum::Str(text) => Value::Str(text),
                    other => other.to_value(arena),
                };
                (key, value)
            }),
        )
    }
}

impl<'a> FromIterator<(Key<'a>, Datum<'a>)> for Map<'a> {
    /// The keys must differ.
    fn from_iter<I: IntoIterator<Item = (Key<'a>, Datum<'a>)>>(entries: I) -> Self {
        let fields = entries.into_iter();
        let mut map = Self::default();
        map.entries.reserve_exact(fields.size_hint().0 + FIELDS_MORE);
        map.entries.extend(fields.map(|(key, value)| {
            map.names.add(&key);
            Entry::new(key, value)
        }));
        map
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
        let mut map = Map::of_event([]);
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

    #[test]
    fn fields_keep_their_order_while_others_come_and_go() {
        let names: Vec<String> = (0..100).map(|number| format!("field {number}")).collect();
        let mut map = Map::of_event([]);
        let mut expected: Vec<&str> = Vec::new();
        for (number, name) in names.iter().enumerate() {
            map.insert(name, Datum::Str(name));
            expected.push(name);
            if number % 3 > 0 {
                assert!(map.remove(expected.remove(number % 2)).is_some());
            }
            let found: Vec<&str> = map.iter().map(|(name, _)| name).collect();
            assert_eq!(found, expected);
            assert_eq!(map.len(), expected.len());
        }
        map.retain(|name, _| name.len() > 8);
        assert!(map.len() == map.iter().count() && map.iter().all(|(name, _)| name.len() > 8));
        let room = Arena::new();
        let Value::Record(record) = map.to_value(&room) else { panic!("no record") };
        assert_eq!(record.len(), map.len());
    }
}
