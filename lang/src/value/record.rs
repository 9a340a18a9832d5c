//! Records: unique string keys in order of insertion. A look-up scans one byte a field and
//! compares only keys whose byte fits; large records carry a hash index instead, so that no
//! look-up walks more than [`TAGGED_MAX`] fields.

use super::verbatim::Verbatim;
use super::{Key, Value};

/// Up to this many fields a record is searched by its tags: that takes a few vector instructions.
pub(super) const TAGGED_MAX: usize = 256;

/// One field.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// The field's name.
    pub key: &'a str,
    /// The field's value.
    pub value: Value<'a>,
    /// Where the field ends in the record's text; 0 when it does not stand there like this.
    pub(super) end: u32,
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
        self.get_key(&Key::new(key))
    }

    /// The value under a key whose hash is known.
    #[must_use]
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
    pub fn position_key(&self, key: &Key<'_>) -> Option<usize> {
        position(self.entries, self.tags, self.index, self.filter, key)
    }

    /// For each field in order its text as it was read, or `None` when it has to be written anew;
    /// neighbours in the text come as one.
    pub(super) fn parts(&self) -> Parts<'a> {
        Parts { entries: self.entries, verbatim: self.verbatim }
    }
}

/// A set of tags; may hold more than there are.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Filter([u64; 4]);

impl Filter {
    #[inline]
    pub fn add(&mut self, tag: u8) {
        self.0[usize::from(tag >> 6)] |= 1 << (tag & 63);
    }

    #[inline]
    pub fn may_hold(&self, tag: u8) -> bool {
        self.0[usize::from(tag >> 6)] >> (tag & 63) & 1 == 1
    }
}

/// Where `key` stands among `entries`.
#[inline]
pub(super) fn position(
    entries: &[Entry<'_>],
    tags: &[u8],
    index: &[u32],
    filter: Filter,
    key: &Key<'_>,
) -> Option<usize> {
    let tag = key.tag();
    if !filter.may_hold(tag) {
        return None;
    }
    if !index.is_empty() {
        return find(index, entries, key).ok();
    }
    let mut from = 0;
    while let Some(at) = memchr::memchr(tag, tags.get(from..)?) {
        if entries[from + at].key == key.text() {
            return Some(from + at);
        }
        from += at + 1;
    }
    None
}

/// Looks `key` up in an index: `Ok(entry number)`, or `Err(free slot)` where it would belong.
pub(super) fn find(index: &[u32], entries: &[Entry<'_>], key: &Key<'_>) -> Result<usize, usize> {
    let mask = index.len() - 1;
    let mut slot = key.hash() as usize & mask;
    loop {
        match index[slot] {
            0 => return Err(slot),
            number => {
                let at = number as usize - 1;
                if entries[at].key == key.text() {
                    return Ok(at);
                }
            }
        }
        slot = (slot + 1) & mask;
    }
}

/// What a record is written from, piece by piece.
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
}

impl<'a> Iterator for Parts<'a> {
    type Item = Part<'a>;

    fn next(&mut self) -> Option<Part<'a>> {
        let (first, mut rest) = self.entries.split_first()?;
        let part = match self.verbatim {
            Some(verbatim) if first.end != 0 => {
                let start = verbatim.start(first.key);
                let mut end = first.end as usize;
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
