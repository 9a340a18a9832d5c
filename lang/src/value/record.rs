//! Records: unique string keys in order of insertion. Small ones are searched in line; larger
//! ones carry a hash index, so a look-up never walks more than [`LINEAR_MAX`] fields.

use super::{Arena, Value};
use xxhash_rust::xxh3::xxh3_64;

/// Up to this many fields a record is searched in line: comparing lengths and a few bytes is
/// faster than hashing the key.
const LINEAR_MAX: usize = 24;

/// A key whose hash is known, so that programs hash their constant keys once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key<'k> {
    text: &'k str,
    hash: u64,
}

impl<'k> Key<'k> {
    /// Hashes `text`.
    #[must_use]
    pub fn new(text: &'k str) -> Self {
        Self { text, hash: xxh3_64(text.as_bytes()) }
    }

    /// A key whose hash was taken by [`Key::new`] before.
    #[must_use]
    pub(crate) fn with_hash(text: &'k str, hash: u64) -> Self {
        Self { text, hash }
    }

    /// The hash, to be kept beside a key that is stored.
    #[must_use]
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// The key itself.
    #[must_use]
    pub fn text(&self) -> &'k str {
        self.text
    }
}

/// One field.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// The field's name.
    pub key: &'a str,
    /// The field's value.
    pub value: Value<'a>,
}

/// A record that is complete and will not change.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    entries: &'a [Entry<'a>],
    /// Open-addressing table of entry numbers plus one (0 = free); empty for small records.
    /// Its length is a power of two, at least twice the number of entries.
    index: &'a [u32],
}

impl<'a> Record<'a> {
    /// Number of fields.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no field.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The fields in order of insertion.
    #[must_use]
    pub fn entries(&self) -> &'a [Entry<'a>] {
        self.entries
    }

    /// Name and value of each field in order of insertion.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&'a str, Value<'a>)> + use<'a> {
        self.entries.iter().map(|entry| (entry.key, entry.value))
    }

    /// The value under `key`.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<Value<'a>> {
        self.position(key).map(|at| self.entries[at].value)
    }

    /// The value under a key whose hash is known.
    #[must_use]
    pub fn get_key(&self, key: &Key<'_>) -> Option<Value<'a>> {
        self.position_key(key).map(|at| self.entries[at].value)
    }

    /// Where `key` stands among [`Record::entries`].
    #[must_use]
    pub fn position(&self, key: &str) -> Option<usize> {
        if self.index.is_empty() {
            return self.entries.iter().position(|entry| entry.key == key);
        }
        self.position_key(&Key::new(key))
    }

    /// As [`Record::position`], for a key whose hash is known.
    #[must_use]
    pub fn position_key(&self, key: &Key<'_>) -> Option<usize> {
        if self.index.is_empty() {
            return self.entries.iter().position(|entry| entry.key == key.text);
        }
        find(self.index, self.entries, key).ok()
    }
}

/// Looks `key` up in an index: `Ok(entry number)`, or `Err(free slot)` where it would belong.
fn find(index: &[u32], entries: &[Entry<'_>], key: &Key<'_>) -> Result<usize, usize> {
    let mask = index.len() - 1;
    let mut slot = key.hash as usize & mask;
    loop {
        match index[slot] {
            0 => return Err(slot),
            number => {
                let at = number as usize - 1;
                if entries[at].key == key.text {
                    return Ok(at);
                }
            }
        }
        slot = (slot + 1) & mask;
    }
}

/// A record under construction in an arena.
#[derive(Debug)]
pub struct RecordBuilder<'a> {
    arena: &'a Arena,
    entries: bumpalo::collections::Vec<'a, Entry<'a>>,
    /// As in [`Record`], but with room to grow; empty while the record is small.
    index: bumpalo::collections::Vec<'a, u32>,
}

impl<'a> RecordBuilder<'a> {
    /// An empty record with room for `capacity` fields.
    #[must_use]
    pub fn with_capacity(arena: &'a Arena, capacity: usize) -> Self {
        Self {
            arena,
            entries: bumpalo::collections::Vec::with_capacity_in(capacity, arena.bump()),
            index: bumpalo::collections::Vec::new_in(arena.bump()),
        }
    }

    /// Starts from the fields of `record`, with room for `more` others.
    #[must_use]
    pub fn from_record(arena: &'a Arena, record: &Record<'a>, more: usize) -> Self {
        let mut builder = Self::with_capacity(arena, record.len() + more);
        builder.entries.extend_from_slice(record.entries);
        builder.index.extend_from_slice(record.index);
        builder
    }

    /// Number of fields so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no field yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn position(&self, key: &str) -> Option<usize> {
        if self.index.is_empty() {
            return self.entries.iter().position(|entry| entry.key == key);
        }
        find(&self.index, &self.entries, &Key::new(key)).ok()
    }

    /// The value under `key`.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<Value<'a>> {
        self.position(key).map(|at| self.entries[at].value)
    }

    /// Whether `key` is there.
    #[must_use]
    pub fn contains(&self, key: &str) -> bool {
        self.position(key).is_some()
    }

    /// Sets `key`, over an earlier value if there is one.
    pub fn insert(&mut self, key: &'a str, value: Value<'a>) {
        match self.position(key) {
            Some(at) => self.entries[at].value = value,
            None => self.append(key, value),
        }
    }

    /// Adds a field whose key is known to be new.
    pub fn append(&mut self, key: &'a str, value: Value<'a>) {
        self.entries.push(Entry { key, value });
        let count = self.entries.len();
        if count <= LINEAR_MAX {
            return;
        }
        if self.index.len() < count * 2 {
            self.rebuild_index(count * 4);
        } else {
            self.index_entry(count - 1);
        }
    }

    /// Removes `key` and returns its value; the order of the others stays.
    pub fn remove(&mut self, key: &str) -> Option<Value<'a>> {
        let at = self.position(key)?;
        let entry = self.entries.remove(at);
        if !self.index.is_empty() {
            self.rebuild_index(self.index.len());
        }
        Some(entry.value)
    }

    fn rebuild_index(&mut self, room: usize) {
        self.index.clear();
        self.index.resize(room.next_power_of_two(), 0);
        for number in 0..self.entries.len() {
            self.index_entry(number);
        }
    }

    fn index_entry(&mut self, number: usize) {
        let key = Key::new(self.entries[number].key);
        if let Err(slot) = find(&self.index, &self.entries, &key) {
            self.index[slot] = u32::try_from(number + 1).expect("fewer fields than input bytes");
        }
    }

    /// The finished record.
    #[must_use]
    pub fn into_record(self) -> &'a Record<'a> {
        let record =
            Record { entries: self.entries.into_bump_slice(), index: self.index.into_bump_slice() };
        self.arena.alloc_record(record)
    }

    /// The finished record as a value.
    #[must_use]
    pub fn finish(self) -> Value<'a> {
        Value::Record(self.into_record())
    }
}
