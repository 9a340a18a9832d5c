//! A record on the tape of which a few fields have been set. It costs what was set and one walk
//! over the names of its fields: no value is copied, and it is written as the text that it was read
//! from with the new fields in their places. It never names a field twice.

use super::builder::RecordBuilder;
use super::key::same_text;
use super::record::{Filter, Part, zero_bytes};
use super::verbatim::Verbatim;
use super::{Arena, Key, Lazy, Value};
use bumpalo::collections::Vec;

/// Records of more fields are opened instead: there, names are found by their hashes.
const FIELDS_MAX: usize = 64;

/// A field that was set.
#[derive(Clone, Copy, Debug)]
struct Change<'a> {
    key: Key<'a>,
    value: Value<'a>,
    /// Number of the field that it replaces; a new field has the next free number.
    number: usize,
}

/// A record on the tape with fields that were set since; complete.
#[derive(Clone, Copy, Debug)]
pub struct Edited<'a> {
    tape: Lazy<'a>,
    text: &'a [u8],
    /// By their numbers.
    changes: &'a [Change<'a>],
    /// What it is written from, where that is certain.
    parts: Option<&'a [Part<'a>]>,
}

impl<'a> Edited<'a> {
    /// Number of fields.
    #[must_use]
    pub fn len(&self) -> usize {
        let is_new = |change: &&Change<'_>| change.number >= self.tape.raw_len();
        self.tape.raw_len() + self.changes.iter().filter(is_new).count()
    }

    /// The values that were set.
    pub(super) fn changes(&self) -> impl Iterator<Item = Value<'a>> + use<'a> {
        self.changes.iter().map(|change| change.value)
    }

    /// Bytes of the text that it was read from.
    pub(super) fn text_bytes(&self) -> usize {
        self.text.len()
    }

    /// Nodes of the tape that it takes.
    pub(super) fn node_count(&self) -> usize {
        self.tape.node_count()
    }

    /// Whether there is no field: never, since one was set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// The value under `key`.
    #[must_use]
    pub fn get(&self, key: &Key<'_>) -> Option<Value<'a>> {
        changed(self.changes, key).map_or_else(|| self.tape.get(key.text()), Some)
    }

    /// Name and value of each field: those that were read, in their order, then the new ones.
    pub fn fields(&self) -> impl Iterator<Item = (&'a str, Value<'a>)> + use<'a> {
        let (tape, changes) = (self.tape, self.changes);
        let read = tape.raw_fields().enumerate().map(move |(number, (key, value))| {
            let change = changes.iter().find(|change| change.number == number);
            (key, change.map_or(value, |change| change.value))
        });
        let new = changes.iter().filter(move |change| change.number >= tape.raw_len());
        read.chain(new.map(|change| (change.key.text(), change.value)))
    }

    /// A copy to be changed further, with room for `more` fields.
    #[must_use]
    pub fn open(&self, arena: &'a Arena, more: usize) -> RecordBuilder<'a> {
        opened(arena, (self.tape, self.text), self.changes, more)
    }

    /// What it is written from, where that is certain.
    pub(super) fn parts(&self) -> Option<impl Iterator<Item = Part<'a>> + use<'a>> {
        self.parts.map(|parts| parts.iter().copied())
    }
}

/// A record on the tape whose fields are set.
#[derive(Debug)]
pub(crate) struct Editor<'a> {
    arena: &'a Arena,
    tape: Lazy<'a>,
    text: &'a [u8],
    verbatim: Verbatim<'a>,
    tags: Tags,
    /// Where on the tape each name stands.
    places: &'a [u32],
    changes: Vec<'a, Change<'a>>,
}

impl<'a> Editor<'a> {
    /// So many fields are set at most before the record is opened. Each look-up walks them.
    pub(crate) const CHANGES_MAX: usize = 8;

    /// For a record that was parsed from `text`. `None` when that is not certain, when a name is
    /// written twice, or when there are very many fields.
    #[must_use]
    pub(crate) fn of(arena: &'a Arena, tape: Lazy<'a>, text: &'a [u8]) -> Option<Self> {
        let count = tape.raw_len();
        if count > FIELDS_MAX {
            return None;
        }
        let verbatim = Verbatim::of(tape, text)?;
        let (mut tags, mut filter) = (Tags::default(), Filter::default());
        let (mut next, mut is_certain) = (1, true);
        // Few and small: what an editor takes needs no leave, but counts.
        let room = count * size_of::<u32>() + Self::CHANGES_MAX * size_of::<Change<'_>>();
        let _ = arena.charge(room + size_of::<Edited<'_>>());
        let places = arena.bump().alloc_slice_fill_with(count, |number| {
            let place = next;
            let (name, after) = tape.name_at(place).unwrap_or(("", place));
            let tag = tag(name);
            is_certain &= !filter.may_hold(tag);
            filter.add(tag);
            tags.set(number, tag);
            next = after;
            place
        });
        let changes = Vec::new_in(arena.bump());
        let editor = Self { arena, tape, text, verbatim, tags, places, changes };
        (is_certain || editor.names_differ()).then_some(editor)
    }

    /// Whether no name is written twice.
    #[cold]
    fn names_differ(&self) -> bool {
        (0..self.places.len())
            .all(|number| self.name(number).is_some_and(|name| self.number(name) == Some(number)))
    }

    /// The number of the first field on the tape that is called `name`.
    #[inline]
    fn number(&self, name: &str) -> Option<usize> {
        let is_name = |number| self.name(number).is_some_and(|one| same_text(one, name));
        self.tags.find(tag(name), self.places.len(), is_name)
    }

    #[inline]
    fn name(&self, number: usize) -> Option<&'a str> {
        self.tape.text_at(*self.places.get(number)?)
    }

    /// The value under `key`.
    #[must_use]
    #[inline]
    pub(crate) fn get(&self, key: &Key<'_>) -> Option<Value<'a>> {
        if !self.changes.is_empty()
            && let Some(value) = changed(&self.changes, key)
        {
            return Some(value);
        }
        let number = self.number(key.text())?;
        Some(self.tape.value_after(self.places[number]))
    }

    /// Sets `key`; false when too many fields have been set, and nothing has happened.
    #[must_use]
    pub(crate) fn set(&mut self, key: &Key<'a>, value: Value<'a>) -> bool {
        if let Some(change) = self.changes.iter_mut().find(|change| change.key.is_same(key)) {
            change.value = value;
            return true;
        }
        if self.changes.len() == Self::CHANGES_MAX {
            return false;
        }
        let number = self.number(key.text());
        let next = self.changes.last().map_or(0, |last| last.number + 1);
        let number = number.unwrap_or_else(|| next.max(self.places.len()));
        if self.changes.capacity() == 0 {
            self.changes.reserve_exact(Self::CHANGES_MAX);
        }
        let at = self.changes.partition_point(|change| change.number < number);
        self.changes.insert(at, Change { key: *key, value, number });
        true
    }

    /// The record with all fields in reach, and room for `more`.
    #[must_use]
    pub(crate) fn open(&self, more: usize) -> RecordBuilder<'a> {
        opened(self.arena, (self.tape, self.text), &self.changes, more)
    }

    /// The record as a value.
    #[must_use]
    pub(crate) fn finish(self) -> Value<'a> {
        let parts = self.parts();
        let changes = self.changes.into_bump_slice();
        let (tape, text) = (self.tape, self.text);
        Value::Edited(self.arena.alloc(Edited { tape, text, changes, parts }))
    }

    /// The text, cut where fields were replaced.
    fn parts(&self) -> Option<&'a [Part<'a>]> {
        let mut parts = Vec::with_capacity_in(self.changes.len() * 2 + 1, self.arena.bump());
        let new = self.changes.partition_point(|change| change.number < self.places.len());
        // The first field that is not written yet.
        let mut from = 0;
        for change in &self.changes[..new] {
            parts.extend(self.part(from, change.number)?);
            parts.push(Part::Field(change.key.text(), change.value));
            from = change.number + 1;
        }
        parts.extend(self.part(from, self.places.len())?);
        for change in &self.changes[new..] {
            parts.push(Part::Field(change.key.text(), change.value));
        }
        Some(parts.into_bump_slice())
    }

    /// The text of the fields from number `from` up to, but without, `to`; the outer `None`: it is
    /// not certain where they end.
    fn part(&self, from: usize, to: usize) -> Option<Option<Part<'a>>> {
        if from == to {
            return Some(None);
        }
        let start = self.verbatim.start(self.name(from)?);
        match self.verbatim.end(self.name(to)) {
            0 => None,
            end => Some(Some(Part::Text(self.verbatim.part(start, end as usize)))),
        }
    }
}

/// A byte of each name of at most [`FIELDS_MAX`]; eight are compared at once.
#[derive(Debug, Default)]
struct Tags([u64; FIELDS_MAX / 8]);

impl Tags {
    #[inline]
    fn set(&mut self, number: usize, tag: u8) {
        self.0[number / 8] |= u64::from(tag) << (number % 8 * 8);
    }

    /// The first of `count` numbers with this tag that `is_it` agrees to.
    #[inline]
    fn find(&self, tag: u8, count: usize, is_it: impl Fn(usize) -> bool) -> Option<usize> {
        let pattern = u64::from_le_bytes([tag; 8]);
        for (at, word) in self.0.iter().take(count.div_ceil(8)).enumerate() {
            let mut hits = zero_bytes(word ^ pattern);
            while hits != 0 {
                let number = at * 8 + hits.trailing_zeros() as usize / 8;
                if is_it(number) {
                    return Some(number);
                }
                hits &= hits - 1;
            }
        }
        None
    }
}

/// A byte by which most names of a record differ, for less than a hash costs.
#[inline(always)]
fn tag(name: &str) -> u8 {
    match name.as_bytes() {
        [] => 0,
        [first, rest @ ..] => {
            let last = rest.last().unwrap_or(first);
            (first ^ last.rotate_left(4)).wrapping_add((name.len() as u8).wrapping_mul(53))
        }
    }
}

#[inline]
fn changed<'a>(changes: &[Change<'a>], key: &Key<'_>) -> Option<Value<'a>> {
    changes.iter().find(|change| change.key.is_same(key)).map(|change| change.value)
}

fn opened<'a>(
    arena: &'a Arena,
    (tape, text): (Lazy<'a>, &'a [u8]),
    changes: &[Change<'a>],
    more: usize,
) -> RecordBuilder<'a> {
    let mut record = RecordBuilder::from_tape(arena, tape, changes.len() + more, text);
    for change in changes {
        record.insert_key(&change.key, change.value);
    }
    record
}

#[cfg(test)]
mod tests {
    use super::super::{JsonStyle, equal, hash128, push_json};
    use super::*;

    const TEXTS: [&str; 6] = [
        r#"{"a":1,"b":"x","c":[1,{"d":"}"}]}"#,
        r#" { "a" : 1 ,"b":"x, \"y\"" , "c" : { } } "#,
        r#"{"a":"\u0041\n","\u0062":2,"c":3}"#,
        r#"{"a":{"a":{"b":1}},"b":[[],{}]}"#,
        r#"{"":1,"a":1.50e2,"b":123456789012345678901234567890}"#,
        r#"{"b":null}"#,
    ];

    fn tape<'a>(arena: &'a Arena, text: &str) -> Lazy<'a> {
        let bytes = arena.bytes_mut(text.as_bytes());
        let tape = simd_json::to_tape(bytes).expect("JSON");
        match Value::from(arena.nodes(&tape.0)) {
            Value::Lazy(lazy) => lazy,
            other => panic!("{other:?} is no container"),
        }
    }

    fn editor<'a>(arena: &'a Arena, text: &'a str) -> Option<Editor<'a>> {
        Editor::of(arena, tape(arena, text), text.as_bytes())
    }

    fn written(value: Value<'_>, style: JsonStyle) -> String {
        let mut text = std::vec::Vec::new();
        push_json(&mut text, value, style);
        String::from_utf8(text).expect("JSON is UTF-8")
    }

    /// Sets the fields in an editor and in a record, which must agree in everything.
    fn check(text: &str, names: &[&str]) {
        let arena = Arena::new();
        let mut editor =
            editor(&arena, text).expect("names differ, and the text is that of the tape");
        let mut record = RecordBuilder::from_tape(&arena, tape(&arena, text), 0, &[]);
        for (number, name) in names.iter().enumerate() {
            let (name, value) = (arena.str(name), Value::UInt(number as u64));
            assert!(editor.set(&Key::new(name), value));
            record.insert(name, value);
        }
        for name in ["", "a", "b", "c", "d", "new", "\"\n"] {
            assert_eq!(editor.get(&Key::new(name)), record.get(name), "{name} of {text}");
        }
        let (edited, record) = (editor.finish(), record.finish());
        assert!(equal(edited, record) && equal(record, edited), "{text} with {names:?}");
        assert_eq!(edited.size(), record.size());
        assert_eq!(hash128(edited), hash128(record));
        for style in [JsonStyle::Compact, JsonStyle::Sorted, JsonStyle::Pretty] {
            assert_eq!(written(edited, style), written(record, style), "{text} with {names:?}");
        }
        let as_read = written(edited, JsonStyle::AsRead);
        assert!(equal(record, Value::Lazy(tape(&arena, &as_read))), "{as_read}");
        let copy = Arena::new();
        assert!(equal(edited.copy_into(&copy), record));
        let opened = edited.as_record(&arena).map(Value::Record).expect("a record");
        assert_eq!(written(opened, JsonStyle::Compact), written(record, JsonStyle::Compact));
    }

    #[test]
    fn what_is_set_is_what_a_record_would_hold() {
        const NAMES: [&str; 6] = ["a", "b", "c", "new", "\"\n", ""];
        for text in TEXTS {
            for first in NAMES {
                check(text, &[first]);
                for second in NAMES {
                    check(text, &[first, second]);
                    NAMES.iter().for_each(|third| check(text, &[first, second, third]));
                }
            }
        }
    }

    #[test]
    fn untouched_fields_keep_their_spelling() {
        let arena = Arena::new();
        let mut editor =
            editor(&arena, r#"{"a":1.50, "b":"\u0041","c":[1, 2]}"#).expect("editable");
        assert!(editor.set(&Key::new("b"), Value::UInt(4)));
        assert!(editor.set(&Key::new("z"), Value::Null));
        let expected = r#"{"a":1.50,"b":4,"c":[1, 2],"z":null}"#;
        assert_eq!(written(editor.finish(), JsonStyle::AsRead), expected);
    }

    #[test]
    fn what_cannot_be_edited_is_opened() {
        let arena = Arena::new();
        assert!(editor(&arena, r#"{"a":1,"b":2,"a":3}"#).is_none());
        assert!(editor(&arena, r#"{"\u0061":1}"#).is_none());
        assert!(editor(&arena, "{}").is_none());
        assert!(Editor::of(&arena, tape(&arena, r#"{"a":1}"#), br#"{"x":{"a":1}}"#).is_none());
        let fields: std::vec::Vec<String> =
            (0..=FIELDS_MAX).map(|number| format!("\"k{number}\":{number}")).collect();
        let wide = format!("{{{}}}", fields.join(","));
        assert!(editor(&arena, &wide).is_none());
        let mut full = editor(&arena, r#"{"a":1}"#).expect("editable");
        let names: std::vec::Vec<String> =
            (0..=Editor::CHANGES_MAX).map(|n| format!("n{n}")).collect();
        let set: std::vec::Vec<bool> =
            names.iter().map(|name| full.set(&Key::new(arena.str(name)), Value::Null)).collect();
        assert_eq!(set.iter().filter(|done| **done).count(), Editor::CHANGES_MAX);
        assert_eq!(full.open(0).len(), 1 + Editor::CHANGES_MAX);
    }
}
