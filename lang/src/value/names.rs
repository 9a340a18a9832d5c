//! The names of all records that a compiled pattern makes: hashed once, and once written as JSON. A
//! record that was made from them is written from them, since it never changes.

use super::json_string::push_json_string;
use super::record::{Entry, Filter, Record};
use super::{Arena, OwnedKey, Value};
use bumpalo::collections::Vec;

/// So many names at most; a bit stands for each.
const NAMES_MAX: usize = 64;
/// Bytes of a label, which is always copied as a whole.
pub(super) const LABEL_BYTES: usize = 32;

/// Names that differ from each other, in the order of the fields.
#[derive(Clone, Debug)]
pub struct Names {
    names: Box<[(OwnedKey, Label)]>,
    filter: Filter,
}

/// A name as JSON between a comma and its colon, and how many bytes that is. The quote of a text stands behind it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Label {
    pub bytes: [u8; LABEL_BYTES],
    pub length: usize,
}

/// The names of a record, and which of them it has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Named<'a> {
    names: &'a Names,
    present: u64,
}

impl Names {
    /// `None` when two are the same, when there are very many, or when one is very long.
    #[must_use]
    pub fn new<'n>(names: impl Iterator<Item = &'n str>) -> Option<Self> {
        let mut list: std::vec::Vec<(OwnedKey, Label)> = std::vec::Vec::new();
        let mut filter = Filter::default();
        for name in names {
            let key = OwnedKey::new(name);
            if list.len() == NAMES_MAX || list.iter().any(|(known, _)| *known == key) {
                return None;
            }
            filter.add(key.key().tag());
            list.push((key, Label::of(name)?));
        }
        Some(Self { names: list.into(), filter })
    }

    /// A record of those of the names that have a value; `values` are those of all names in order.
    #[must_use]
    #[inline]
    pub fn record<'a>(
        &'a self,
        arena: &'a Arena,
        values: impl Iterator<Item = Option<Value<'a>>>,
    ) -> Value<'a> {
        // Few fields: they need no leave, but count.
        let _ = arena.charge(self.names.len() * size_of::<Entry<'_>>());
        let mut entries = Vec::with_capacity_in(self.names.len(), arena.bump());
        let mut tags = [0; NAMES_MAX];
        let (mut present, mut bit) = (0, 1_u64);
        for ((key, _), value) in self.names.iter().zip(values) {
            let this = bit;
            bit <<= 1;
            let Some(value) = value else { continue };
            let key = key.key();
            tags[entries.len() % NAMES_MAX] = key.tag();
            present |= this;
            entries.push(Entry { key: key.text(), value, end: 0, hash: key.hash() });
        }
        let tags = arena.bump().alloc_slice_copy(&tags[..entries.len()]);
        let named = Some(Named { names: self, present });
        let record = Record {
            entries: entries.into_bump_slice(),
            tags,
            filter: self.filter,
            index: &[],
            verbatim: None,
            intact: 0,
            named,
        };
        Value::Record(arena.alloc_record(record))
    }
}

impl Label {
    fn of(name: &str) -> Option<Self> {
        let mut text = vec![b','];
        push_json_string(&mut text, name);
        text.extend_from_slice(b":\"");
        let mut bytes = [0; LABEL_BYTES];
        bytes.get_mut(..text.len())?.copy_from_slice(&text);
        Some(Self { bytes, length: text.len() - 1 })
    }
}

impl<'a> Named<'a> {
    /// The labels of the record's fields in order.
    #[inline]
    pub(super) fn labels(self) -> impl Iterator<Item = &'a Label> {
        let mut present = self.present;
        std::iter::from_fn(move || {
            let (_, label) = self.names.names.get(present.trailing_zeros() as usize)?;
            present &= present - 1;
            Some(label)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{JsonStyle, RecordBuilder, push_json};
    use super::*;

    fn written(value: Value<'_>) -> String {
        let mut out = std::vec::Vec::new();
        push_json(&mut out, value, JsonStyle::Compact);
        String::from_utf8(out).expect("JSON is UTF-8")
    }

    /// A record of the names is the record that a builder makes, whichever of them have values.
    #[test]
    fn records_are_those_of_a_builder() {
        const NAMES: [&str; 7] =
            ["a", "", "client\"ip", "b\n", "äöü", "a long name of a field!", "z"];
        let names = Names::new(NAMES.into_iter()).expect("names differ and are short");
        let arena = Arena::new();
        for present in 0_u32..1 << NAMES.len() {
            let value =
                |bit: usize| (present >> bit & 1 == 1).then(|| Value::UInt(bit as u64 * 77));
            let record = names.record(&arena, (0..NAMES.len()).map(value));
            let mut built = RecordBuilder::with_capacity(&arena, 0);
            for (bit, name) in NAMES.iter().enumerate() {
                if let Some(value) = value(bit) {
                    built.append(name, value);
                }
            }
            let built = built.finish();
            assert_eq!(written(record), written(built));
            for (name, key) in NAMES.iter().map(|name| (name, OwnedKey::new(name))) {
                assert_eq!(record.get(&key.key()), built.get(&key.key()), "{name} of {present}");
            }
            let Value::Record(record) = record else { panic!("no record") };
            let mut changed = RecordBuilder::from_record(&arena, record, 1);
            changed.insert("a", Value::Null);
            changed.remove("z");
            let changed = changed.finish();
            assert!(written(changed).contains("\"a\":null") && !written(changed).contains("\"z\""));
        }
    }

    #[test]
    fn names_that_make_no_records_alike_are_refused() {
        assert!(Names::new(["a", "b", "a"].into_iter()).is_none());
        assert!(Names::new(["a name that is too long to be copied at once"].into_iter()).is_none());
        let many: std::vec::Vec<String> =
            (0..=NAMES_MAX).map(|number| number.to_string()).collect();
        assert!(Names::new(many.iter().map(String::as_str)).is_none());
        assert!(Names::new(many[1..].iter().map(String::as_str)).is_some());
    }
}
