//! Records: unique string keys in order of insertion. A look-up scans one byte a field and
//! compares only keys whose byte fits; large records carry a hash index instead, so that no
//! look-up walks more than [`TAGGED_MAX`] fields.

use super::names::Named;
use super::verbatim::Verbatim;
use super::{Arena, Key, Value};
use bumpalo::collections::Vec;

/// Up to this many fields a record is searched by its tags: that takes a few vector instructions.
pub(super) const TAGGED_MAX: usize = 256;

/// Records of so many fields are made in one walk.
pub(super) const SMALL_FIELDS: usize = 64;

/// One field.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// The field's name.
    pub key: &'a str,
    /// The field's value.
    pub value: Value<'a>,
    /// Where the field ends in the record's text; 0 when it does not stand there like this.
    pub(super) end: u32,
    /// Hash of the name, so that what is copied from record to record is not hashed again.
    pub(super) hash: u32,
}

impl<'a> Entry<'a> {
    /// The name with its hash.
    #[must_use]
    #[inline]
    pub fn name(&self) -> Key<'a> {
        Key::with_hash(self.key, self.hash)
    }
}

/// A record that is complete and will not change.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    pub(super) entries: &'a [Entry<'a>],
    /// A byte of each key's hash.
    pub(super) tags: &'a [u8],
    /// Which tags there are, or were.
    pub(super) filter: Filter,
    /// Open-addressing table of entry numbers plus one (0 = free); empty for small records.
    /// Its length is a power of two, at least twice the number of entries.
    pub(super) index: &'a [u32],
    /// What untouched fields were read from.
    pub(super) verbatim: Option<Verbatim<'a>>,
    /// So many fields at the beginning are the fields at the beginning of the text: the first tells
    /// where they start, the last where they end, and those between need not know.
    pub(super) intact: usize,
    /// The names of the pattern that made the record.
    pub(super) named: Option<Named<'a>>,
}

impl<'a> Record<'a> {
    /// All records without fields, such as the metadata of most events.
    pub(super) const EMPTY: &'static Record<'static> = &Record {
        entries: &[],
        tags: &[],
        filter: Filter([0; 4]),
        index: &[],
        verbatim: None,
        intact: 0,
        named: None,
    };

    /// A record of at most `capacity` fields, whose names differ, and that are no more than
    /// [`SMALL_FIELDS`].
    #[inline]
    pub(super) fn small(
        arena: &'a Arena,
        capacity: usize,
        fields: impl Iterator<Item = (Key<'a>, Value<'a>)>,
    ) -> Self {
        // Few fields: they need no leave, but count.
        let _ = arena.charge(capacity * size_of::<Entry<'_>>());
        let mut entries = Vec::with_capacity_in(capacity, arena.bump());
        let mut tags = [0; SMALL_FIELDS];
        let mut filter = Filter::default();
        for (key, value) in fields {
            let tag = key.tag();
            tags[entries.len() % SMALL_FIELDS] = tag;
            filter.add(tag);
            entries.push(Entry { key: key.text(), value, end: 0, hash: key.hash() });
        }
        let tags = arena.bump().alloc_slice_copy(&tags[..entries.len()]);
        Self { entries: entries.into_bump_slice(), tags, filter, ..*Record::EMPTY }
    }

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
        self.get_key(&Key::new(key))
    }

    /// The value under a key whose hash is known.
    #[must_use]
    #[inline]
    pub fn get_key(&self, key: &Key<'_>) -> Option<Value<'a>> {
        self.position_key(key).map(|at| self.entries[at].value)
    }

    /// Where `key` stands among [`Record::entries`].
    #[must_use]
    pub fn position(&self, key: &str) -> Option<usize> {
        self.position_key(&Key::new(key))
    }

    /// As [`Record::position`], for a key whose hash is known.
    #[must_use]
    #[inline]
    pub(crate) fn position_key(&self, key: &Key<'_>) -> Option<usize> {
        if !self.filter.may_hold(key.tag()) {
            return None;
        }
        if !self.index.is_empty() {
            return find(self.index, self.entries, key).ok();
        }
        position(self.entries, self.tags, key)
    }

    /// Whether some fields may be written as they were read.
    pub(super) fn has_text(&self) -> bool {
        self.verbatim.is_some()
    }

    /// For each field in order its text as it was read, or `None` when it has to be written anew;
    /// neighbours in the text come as one.
    pub(super) fn parts(&self) -> Parts<'a> {
        Parts { entries: self.entries, verbatim: self.verbatim, intact: self.intact }
    }
}

/// A set of tags; may hold more than there are.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Filter([u64; 4]);

impl Filter {
    #[inline]
    pub(super) fn add(&mut self, tag: u8) {
        self.0[usize::from(tag >> 6)] |= 1 << (tag & 63);
    }

    #[inline]
    pub(super) fn may_hold(&self, tag: u8) -> bool {
        self.0[usize::from(tag >> 6)] >> (tag & 63) & 1 == 1
    }
}

/// Where `key` stands among the entries of a record without an index, by their tags.
pub(super) fn position(entries: &[Entry<'_>], tags: &[u8], key: &Key<'_>) -> Option<usize> {
    let is_key = |at: usize| entries.get(at).is_some_and(|entry| key.is(entry.key, entry.hash));
    tagged(tags, key.tag(), is_key)
}

/// The first place of those with this tag that `is_key` agrees to.
#[inline]
pub(crate) fn tagged(tags: &[u8], tag: u8, is_key: impl Fn(usize) -> bool) -> Option<usize> {
    let (words, rest) = tags.as_chunks::<8>();
    if words.len() <= WORDS_MAX {
        let pattern = u64::from_le_bytes([tag; 8]);
        for (number, word) in words.iter().enumerate() {
            let mut hits = zero_bytes(u64::from_le_bytes(*word) ^ pattern);
            while hits != 0 {
                let at = number * 8 + hits.trailing_zeros() as usize / 8;
                if is_key(at) {
                    return Some(at);
                }
                hits &= hits - 1;
            }
        }
        let first = words.len() * 8;
        let found = rest.iter().enumerate().find(|(at, one)| **one == tag && is_key(first + at));
        return found.map(|(at, _)| first + at);
    }
    let mut from = 0;
    while let Some(at) = memchr::memchr(tag, tags.get(from..)?) {
        if is_key(from + at) {
            return Some(from + at);
        }
        from += at + 1;
    }
    None
}

/// Up to this many words of tags are compared here: a function for more bytes is called too long.
const WORDS_MAX: usize = 8;

/// The top bit of each byte that is zero; bytes behind the first zero may be marked wrongly. See
/// "Bit Twiddling Hacks" (S. E. Anderson), "Determine if a word has a zero byte".
#[inline]
pub(super) fn zero_bytes(word: u64) -> u64 {
    const ONES: u64 = u64::from_ne_bytes([0x01; 8]);
    const TOPS: u64 = u64::from_ne_bytes([0x80; 8]);
    word.wrapping_sub(ONES) & !word & TOPS
}

/// Looks `key` up in an index: `Ok(entry number)`, or `Err(free slot)` where it would belong.
#[inline]
pub(super) fn find(index: &[u32], entries: &[Entry<'_>], key: &Key<'_>) -> Result<usize, usize> {
    let mask = index.len() - 1;
    let mut slot = key.hash() as usize & mask;
    loop {
        match index[slot] {
            0 => return Err(slot),
            number => {
                let at = number as usize - 1;
                if key.is(entries[at].key, entries[at].hash) {
                    return Ok(at);
                }
            }
        }
        slot = (slot + 1) & mask;
    }
}

/// What a record is written from, piece by piece.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part<'a> {
    /// Fields as they came in, with the commas between them.
    Text(&'a [u8]),
    /// A field to be written anew.
    Field(&'a str, Value<'a>),
}

/// See [`Record::parts`].
pub(super) struct Parts<'a> {
    entries: &'a [Entry<'a>],
    verbatim: Option<Verbatim<'a>>,
    intact: usize,
}

impl<'a> Iterator for Parts<'a> {
    type Item = Part<'a>;

    fn next(&mut self) -> Option<Part<'a>> {
        let first = self.entries.first()?;
        let (together, mut rest) = self.entries.split_at(std::mem::take(&mut self.intact).max(1));
        let end = together.last().map_or(0, |last| last.end as usize);
        let part = match self.verbatim {
            Some(verbatim) if end != 0 => {
                let start = verbatim.start(first.key);
                let mut end = end;
                // A neighbour follows after nothing but a comma.
                while let Some((next, more)) = rest.split_first()
                    && next.end != 0
                    && verbatim.start(next.key) == end + 1
                {
                    (end, rest) = (next.end as usize, more);
                }
                Part::Text(verbatim.part(start, end))
            }
            _ => Part::Field(first.key, first.value),
        };
        self.entries = rest;
        Some(part)
    }
}
