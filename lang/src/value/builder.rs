//! A record under construction in an arena. It belongs to one owner and changes in place; what
//! it becomes in the end never changes.

use super::record::{Entry, Filter, Record, TAGGED_MAX, find, position};
use super::verbatim::Verbatim;
use super::{Arena, Key, Lazy, Value};
use bumpalo::collections::Vec;

/// Where a field ends that has been removed from among many; see [`RecordBuilder::remove_key`].
const REMOVED: u32 = u32::MAX;

/// A record under construction in an arena. When the arena has no memory left, new fields are left
/// out.
#[derive(Debug)]
pub struct RecordBuilder<'a> {
    arena: &'a Arena,
    entries: Vec<'a, Entry<'a>>,
    /// So many of the entries have been removed.
    removed: usize,
    tags: Vec<'a, u8>,
    filter: Filter,
    /// As in [`Record`], but with room to grow; empty while the record is small.
    index: Vec<'a, u32>,
    verbatim: Option<Verbatim<'a>>,
    /// As in [`Record`].
    intact: usize,
    /// Whether no field that was read has been touched: then `intact` counts all of them, and none
    /// knows where it ends.
    untouched: bool,
}

impl<'a> RecordBuilder<'a> {
    /// An empty record with room for `capacity` fields.
    #[must_use]
    pub fn with_capacity(arena: &'a Arena, capacity: usize) -> Self {
        let capacity = if arena.charge(field_bytes(capacity)) { capacity } else { 0 };
        Self {
            arena,
            entries: Vec::with_capacity_in(capacity, arena.bump()),
            removed: 0,
            tags: Vec::with_capacity_in(capacity, arena.bump()),
            filter: Filter::default(),
            index: Vec::new_in(arena.bump()),
            verbatim: None,
            intact: 0,
            untouched: false,
        }
    }

    /// Starts from the fields of `record`, with room for `more` others.
    #[must_use]
    pub fn from_record(arena: &'a Arena, record: &Record<'a>, more: usize) -> Self {
        let mut builder = Self::with_capacity(arena, record.len() + more);
        let has_index = record.len() > TAGGED_MAX;
        if builder.entries.capacity() < record.len()
            || (has_index && !arena.charge(size_of_val(record.index)))
        {
            return builder;
        }
        builder.entries.extend_from_slice_copy(record.entries);
        builder.tags.extend_from_slice_copy(record.tags);
        if has_index {
            builder.index.extend_from_slice_copy(record.index);
        }
        builder.filter = record.filter;
        builder.verbatim = record.verbatim;
        builder.intact = record.intact;
        builder
    }

    /// Starts from the fields of a record on a tape, with room for `more` others. When `text` is
    /// what the tape was parsed from, the fields that nothing replaces are written from it.
    #[must_use]
    pub(crate) fn from_tape(
        arena: &'a Arena,
        record: Lazy<'a>,
        more: usize,
        text: &'a [u8],
    ) -> Self {
        let mut builder = Self::with_capacity(arena, record.raw_len() + more);
        for (key, value) in record.raw_fields() {
            let key = Key::new(key);
            let entry = Entry { key: key.text(), value, end: 0, hash: key.hash() };
            if builder.filter.may_hold(key.tag()) {
                builder.insert_entry(entry);
            } else {
                builder.append_entry(entry);
            }
        }
        // A key that is written twice has no place of its own in the text.
        if builder.len() == record.raw_len() {
            builder.verbatim = Verbatim::of(record, text);
            builder.untouched = builder.verbatim.is_some();
            builder.intact = if builder.untouched { builder.len() } else { 0 };
        }
        builder
    }

    /// Number of fields so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len() - self.removed
    }

    /// Whether there is no field yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[inline]
    fn position(&self, key: &Key<'_>) -> Option<usize> {
        if !self.filter.may_hold(key.tag()) {
            return None;
        }
        if !self.index.is_empty() {
            return find(&self.index, &self.entries, key).ok();
        }
        position(&self.entries, &self.tags, key)
    }

    /// The value under `key`.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<Value<'a>> {
        self.get_key(&Key::new(key))
    }

    /// The value under a key whose hash is known.
    #[must_use]
    pub fn get_key(&self, key: &Key<'_>) -> Option<Value<'a>> {
        self.position(key).map(|at| self.entries[at].value)
    }

    /// Whether `key` is there.
    #[must_use]
    pub fn contains(&self, key: &str) -> bool {
        self.contains_key(&Key::new(key))
    }

    /// As [`RecordBuilder::contains`], for a key whose hash is known.
    #[must_use]
    pub fn contains_key(&self, key: &Key<'_>) -> bool {
        self.position(key).is_some()
    }

    /// Sets `key`, over an earlier value if there is one.
    pub fn insert(&mut self, key: &'a str, value: Value<'a>) {
        self.insert_key(&Key::new(key), value);
    }

    /// As [`RecordBuilder::insert`], for a key whose hash is known.
    pub fn insert_key(&mut self, key: &Key<'a>, value: Value<'a>) {
        self.insert_entry(Entry { key: key.text(), value, end: 0, hash: key.hash() });
    }

    fn insert_entry(&mut self, entry: Entry<'a>) {
        let key = entry.name();
        if let Some(at) = self.position(&key) {
            self.replace(at, entry.value);
            return;
        }
        self.append_entry(entry);
    }

    #[inline]
    fn replace(&mut self, at: usize, value: Value<'a>) {
        self.touch(at);
        self.entries[at].value = value;
        self.entries[at].end = 0;
    }

    /// Before the field at `at` changes or goes: those around it learn where they end.
    #[inline]
    fn touch(&mut self, at: usize) {
        if at < self.intact
            && let Some(verbatim) = self.verbatim
        {
            self.mark(verbatim, at.saturating_sub(1));
            self.intact = at;
        }
    }

    /// Marks the end of the intact fields from number `from` on.
    fn mark(&mut self, verbatim: Verbatim<'a>, from: usize) {
        let (end, next) = if std::mem::take(&mut self.untouched) {
            (self.intact, None)
        } else {
            (self.intact - 1, Some(self.entries[self.intact - 1].key))
        };
        verbatim.mark(&mut self.entries[from..end], next);
    }

    /// Sets `key` to what `value` makes of the earlier value.
    #[inline]
    pub fn upsert(&mut self, key: &Key<'a>, value: impl FnOnce(Option<Value<'a>>) -> Value<'a>) {
        match self.position(key) {
            Some(at) => self.replace(at, value(Some(self.entries[at].value))),
            None => self.append_key(key, value(None)),
        }
    }

    /// Makes room for `more` fields.
    pub fn reserve(&mut self, more: usize) {
        if self.entries.capacity() - self.entries.len() < more {
            self.grow(more);
        }
    }

    /// Makes room for `more` fields and as many as there are; false when there is no memory.
    #[cold]
    fn grow(&mut self, more: usize) -> bool {
        const LEAST: usize = 4;
        let more = more.max(self.entries.len()).max(LEAST);
        let granted = self.arena.charge(field_bytes(self.entries.len() + more));
        if granted {
            self.entries.reserve_exact(more);
            self.tags.reserve_exact(more);
        }
        granted
    }

    /// Adds a field whose key is known to be new.
    pub fn append(&mut self, key: &'a str, value: Value<'a>) {
        self.append_key(&Key::new(key), value);
    }

    /// As [`RecordBuilder::append`], for a key whose hash is known.
    #[inline]
    pub fn append_key(&mut self, key: &Key<'a>, value: Value<'a>) {
        self.append_entry(Entry { key: key.text(), value, end: 0, hash: key.hash() });
    }

    #[inline]
    fn append_entry(&mut self, entry: Entry<'a>) {
        if self.entries.len() == self.entries.capacity() && !self.grow(1) {
            return;
        }
        let tag = entry.name().tag();
        self.entries.push(entry);
        self.tags.push(tag);
        self.filter.add(tag);
        if self.entries.len() > TAGGED_MAX || !self.index.is_empty() {
            self.extend_index();
        }
    }

    #[cold]
    fn extend_index(&mut self) {
        let count = self.entries.len();
        if self.index.len() < count * 2 {
            self.rebuild_index(count * 4);
        } else {
            self.index_entry(count - 1);
        }
    }

    /// Removes `key` and returns its value; the order of the others stays.
    pub fn remove(&mut self, key: &str) -> Option<Value<'a>> {
        self.remove_key(&Key::new(key))
    }

    /// As [`RecordBuilder::remove`], for a key whose hash is known. Of a record with an index a field
    /// goes in two steps, so that nothing has to move for each: it keeps its place under a hash by
    /// which it is not found, since no other key of this text has that, and goes when the record is
    /// finished or half of its places are such.
    pub fn remove_key(&mut self, key: &Key<'_>) -> Option<Value<'a>> {
        let at = self.position(key)?;
        self.touch(at);
        if self.index.is_empty() {
            let entry = self.entries.remove(at);
            self.tags.remove(at);
            return Some(entry.value);
        }
        let entry = &mut self.entries[at];
        let value = entry.value;
        (entry.hash, entry.end) = (!entry.hash, REMOVED);
        self.removed += 1;
        if self.removed * 2 > self.entries.len() {
            self.close_gaps();
        }
        Some(value)
    }

    /// Lets go of the places of removed fields.
    fn close_gaps(&mut self) {
        if self.removed == 0 {
            return;
        }
        self.removed = 0;
        self.entries.retain(|entry| entry.end != REMOVED);
        self.tags.clear();
        self.tags.extend(self.entries.iter().map(|entry| entry.name().tag()));
        self.rebuild_index(self.index.len());
    }

    /// Makes an index although the record is not large: for records that are kept for long.
    pub(super) fn index_all(&mut self) {
        /// The tags of fewer fields are scanned as fast as an index is looked up.
        const INDEXED_MIN: usize = 16;
        if self.entries.len() >= INDEXED_MIN && self.index.is_empty() {
            self.rebuild_index(self.entries.len() * 4);
        }
    }

    fn rebuild_index(&mut self, room: usize) {
        let room = room.next_power_of_two();
        // There is memory for an index wherever there is some for the fields: it is small.
        let _ = room <= self.index.capacity() || self.arena.charge(room * size_of::<u32>());
        self.index.clear();
        self.index.resize(room, 0);
        for number in 0..self.entries.len() {
            self.index_entry(number);
        }
    }

    fn index_entry(&mut self, number: usize) {
        let key = self.entries[number].name();
        if let Err(slot) = find(&self.index, &self.entries, &key) {
            self.index[slot] = u32::try_from(number + 1).expect("fewer fields than input bytes");
        }
    }

    /// The finished record.
    #[must_use]
    pub fn into_record(mut self) -> &'a Record<'a> {
        self.close_gaps();
        if self.entries.is_empty() {
            return Record::EMPTY;
        }
        self.mark_last();
        let record = Record {
            entries: self.entries.into_bump_slice(),
            tags: self.tags.into_bump_slice(),
            filter: self.filter,
            index: self.index.into_bump_slice(),
            verbatim: self.verbatim,
            intact: self.intact,
            named: None,
        };
        self.arena.alloc_record(record)
    }

    /// Sees to it that the last intact field knows where it ends; where that cannot be said, each
    /// field is asked for itself.
    fn mark_last(&mut self) {
        let (Some(verbatim), Some(last)) = (self.verbatim, self.intact.checked_sub(1)) else {
            return;
        };
        if self.untouched {
            self.mark(verbatim, last);
        }
        if self.entries[last].end == 0 {
            self.mark(verbatim, 0);
            self.intact = 0;
        }
    }

    /// The finished record as a value.
    #[must_use]
    pub fn finish(self) -> Value<'a> {
        Value::Record(self.into_record())
    }
}

/// Memory of so many fields.
fn field_bytes(count: usize) -> usize {
    count.saturating_mul(size_of::<Entry<'_>>() + size_of::<u8>())
}

#[cfg(test)]
mod tests {
    use super::super::{JsonStyle, equal, push_json};
    use super::*;

    const TEXTS: [&str; 8] = [
        r#"{"a":1,"b":"x","c":[1,{"d":"}"}]}"#,
        r#" { "a" : 1 ,"b":"x, \"y\"" , "c" : { } } "#,
        r#"{"a":"\u0041\n","\u0062":2,"c":3}"#,
        r#"{"\u0061":1,"b":2}"#,
        r#"{"a":1,"b":2,"a":3,"c":4}"#,
        r#"{"a":{"a":{"b":1}},"b":[[],{}]}"#,
        r#"{"":1,"a":1.50e2,"b":123456789012345678901234567890}"#,
        "{}",
    ];

    fn tape<'a>(arena: &'a Arena, text: &str) -> Lazy<'a> {
        let bytes = arena.bytes_mut(text.as_bytes());
        let tape = simd_json::to_tape(bytes).expect("JSON");
        match Value::from(arena.nodes(&tape.0)) {
            Value::Lazy(lazy) => lazy,
            other => panic!("{other:?} is no container"),
        }
    }

    fn written(record: Value<'_>, style: JsonStyle) -> String {
        let mut text = std::vec::Vec::new();
        push_json(&mut text, record, style);
        String::from_utf8(text).expect("JSON is UTF-8")
    }

    fn change(record: &mut RecordBuilder<'_>, step: usize) {
        match step {
            0 => {}
            1 => record.insert("new", Value::Bool(true)),
            2 => record.insert("a", Value::Null),
            3 => _ = record.remove("b"),
            4 => _ = record.remove("a"),
            _ => {
                _ = record.remove("c");
                record.insert("c", Value::UInt(7));
            }
        }
    }

    #[test]
    fn what_is_written_as_read_means_what_is_written_anew() {
        let arena = Arena::new();
        for text in TEXTS {
            for (first, second) in
                (0..6).flat_map(|first| (0..6).map(move |second| (first, second)))
            {
                let mut record =
                    RecordBuilder::from_tape(&arena, tape(&arena, text), 1, text.as_bytes());
                change(&mut record, first);
                change(&mut record, second);
                let record = record.finish();
                let as_read = written(record, JsonStyle::AsRead);
                let back = Value::Lazy(tape(&arena, &as_read));
                assert!(equal(record, back), "{text}, changes {first} and {second}: {as_read}");
            }
        }
    }

    #[test]
    fn untouched_fields_keep_their_spelling() {
        let arena = Arena::new();
        let text = r#"{"a":1.50,"b":"\u0041","c":[1, 2],"d":null}"#;
        let mut record = RecordBuilder::from_tape(&arena, tape(&arena, text), 1, text.as_bytes());
        record.insert("d", Value::UInt(4));
        let expected = r#"{"a":1.50,"b":"\u0041","c":[1, 2],"d":4}"#;
        assert_eq!(written(record.finish(), JsonStyle::AsRead), expected);
    }

    #[test]
    fn another_text_is_not_trusted() {
        let arena = Arena::new();
        let inner = tape(&arena, r#"{"a":1,"b":2}"#);
        let record = RecordBuilder::from_tape(&arena, inner, 0, br#"{"x":{"a":1,"b":2}}"#);
        assert_eq!(written(record.finish(), JsonStyle::AsRead), r#"{"a":1,"b":2}"#);
    }

    #[test]
    fn removed_fields_leave_nothing_behind() {
        let arena = Arena::new();
        let names: std::vec::Vec<String> =
            (0..2_000).map(|number| format!("key{number}")).collect();
        for kept in [0, 1, 300, 1_999] {
            let mut record = RecordBuilder::with_capacity(&arena, 0);
            for name in &names {
                record.append(arena.str(name), Value::Null);
            }
            for name in &names[kept..] {
                assert!(record.remove(name).is_some() && record.remove(name).is_none());
            }
            record.insert("key5", Value::Bool(true));
            record.insert("last", Value::Bool(true));
            let expected = kept + 1 + usize::from(kept <= 5);
            assert_eq!(record.len(), expected);
            let record = record.into_record();
            assert_eq!((record.len(), record.iter().count()), (expected, expected));
            assert_eq!(record.get("key5"), Some(Value::Bool(true)));
            assert_eq!(record.iter().last().map(|(key, _)| key), Some("last"));
        }
    }

    /// Bytes asked for grow as the record does, whatever is done to it.
    #[test]
    fn records_grow_in_proportion() {
        let bytes = |count: usize| {
            let arena = Arena::new();
            let mut record = RecordBuilder::with_capacity(&arena, 0);
            for number in 0..count {
                record.insert(arena.format(format_args!("k{number:07}")), Value::Null);
                record.remove(arena.format(format_args!("k{:07}", number / 2)));
            }
            arena.charged_bytes()
        };
        assert!(bytes(20_000) < 5 * bytes(5_000), "{} and {}", bytes(20_000), bytes(5_000));
    }

    #[test]
    fn records_of_every_size_find_their_keys() {
        let arena = Arena::new();
        let names: std::vec::Vec<String> = (0..600).map(|number| format!("key{number}")).collect();
        let mut record = RecordBuilder::with_capacity(&arena, 0);
        for (number, name) in names.iter().enumerate() {
            record.insert(arena.str(name), Value::UInt(number as u64));
            record.insert(arena.str(name), Value::UInt(number as u64));
        }
        for name in names.iter().step_by(2) {
            assert!(record.remove(name).is_some());
        }
        let record = record.into_record();
        assert_eq!(record.len(), 300);
        for (number, name) in names.iter().enumerate() {
            let expected = (number % 2 == 1).then_some(number as u64);
            assert_eq!(record.get(name).and_then(Value::as_u64), expected, "{name}");
        }
    }
}
