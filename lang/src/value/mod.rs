//! The values that programs compute with. A value is `Copy`: whatever it holds lives in an arena,
//! in the event's bytes or in the program, and is never changed once a value refers to it.

mod arena;
mod builder;
mod compare;
mod deep;
mod edited;
mod frozen;
mod hash;
mod json;
mod json_block;
mod json_string;
mod key;
mod lazy;
mod meter;
mod names;
mod owned;
mod record;
mod text;
mod verbatim;
mod weight;

pub use arena::{Arena, ArrayBuilder};
pub use builder::RecordBuilder;
pub(crate) use compare::NotOrdered;
pub use compare::{canonical_key, equal, order, total_order};
pub use deep::deeper;
pub use edited::Edited;
pub(crate) use edited::Editor;
pub use frozen::Frozen;
pub use hash::{hash_of_equals, hash128, keyed_hash128};
pub use json::{JsonStyle, push_json, push_text, to_json};
pub use json_string::push_json_string;
pub use key::{Key, OwnedKey};
pub use lazy::Lazy;
pub(crate) use meter::TURN_STEPS;
pub use meter::{Allowance, EVENT_BYTES_MAX, EVENT_STEPS_MAX, EventBudget, Excess};
pub use names::Names;
pub use owned::Owned;
pub(crate) use record::tagged;
pub use record::{Entry, Record};
pub use text::TextBuilder;
pub(crate) use weight::is_modest;

/// A value of the language.
///
/// The tag takes a whole word, so that a value is always copied by words: copies of single bytes
/// would stall the reads of words that follow them.
#[derive(Clone, Copy, Debug)]
#[repr(u64)]
pub enum Value<'a> {
    /// `null`
    Null,
    /// `true`, `false`
    Bool(bool),
    /// An integer that came from a signed computation; may also be positive.
    Int(i64),
    /// An integer that came from a literal or from JSON without a sign.
    UInt(u64),
    /// A 64-bit IEEE 754 number.
    Float(f64),
    /// UTF-8 text.
    Str(&'a str),
    /// Raw bytes.
    Bytes(&'a [u8]),
    /// `[1, 2]`
    Array(&'a [Value<'a>]),
    /// `{"a": 1}`
    Record(&'a Record<'a>),
    /// An array or a record that still stands on the tape of the parsed event.
    Lazy(Lazy<'a>),
    /// A record that still stands on the tape but for the fields that were set since.
    Edited(&'a Edited<'a>),
}

const _: () = assert!(
    size_of::<Option<Value<'_>>>() == 24,
    "values are copied all the time: keep them at three words"
);

/// The kinds that users see. `Number`, `Any` and the like only appear in signatures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `null`
    Null,
    /// `bool`
    Bool,
    /// `integer`
    Integer,
    /// `float`
    Float,
    /// An integer or a float.
    Number,
    /// `string`
    String,
    /// `bytes`
    Bytes,
    /// `array`
    Array,
    /// `record`
    Record,
    /// Whatever there is.
    Any,
}

impl Kind {
    /// The word that programs and messages use.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Kind::Null => "null",
            Kind::Bool => "bool",
            Kind::Integer => "integer",
            Kind::Float => "float",
            Kind::Number => "number",
            Kind::String => "string",
            Kind::Bytes => "bytes",
            Kind::Array => "array",
            Kind::Record => "record",
            Kind::Any => "any",
        }
    }

    /// Whether a value of this kind is acceptable where `wanted` is asked for.
    #[must_use]
    pub fn fits(self, wanted: Kind) -> bool {
        match wanted {
            Kind::Any => true,
            Kind::Number => matches!(self, Kind::Integer | Kind::Float | Kind::Number),
            _ => self == wanted,
        }
    }
}

impl<'a> Value<'a> {
    /// `{}`
    pub const EMPTY_RECORD: Self = Value::Record(Record::EMPTY);

    /// The kind of this value.
    #[must_use]
    pub fn kind(self) -> Kind {
        match self {
            Value::Null => Kind::Null,
            Value::Bool(_) => Kind::Bool,
            Value::Int(_) | Value::UInt(_) => Kind::Integer,
            Value::Float(_) => Kind::Float,
            Value::Str(_) => Kind::String,
            Value::Bytes(_) => Kind::Bytes,
            Value::Array(_) => Kind::Array,
            Value::Record(_) | Value::Edited(_) => Kind::Record,
            Value::Lazy(lazy) if lazy.is_record() => Kind::Record,
            Value::Lazy(_) => Kind::Array,
        }
    }

    /// The boolean, if it is one.
    #[must_use]
    pub fn as_bool(self) -> Option<bool> {
        if let Value::Bool(value) = self { Some(value) } else { None }
    }

    /// The integer as i64, if it is an integer in that range.
    #[must_use]
    pub fn as_i64(self) -> Option<i64> {
        match self {
            Value::Int(value) => Some(value),
            Value::UInt(value) => i64::try_from(value).ok(),
            _ => None,
        }
    }

    /// The integer as u64, if it is an integer in that range.
    #[must_use]
    pub fn as_u64(self) -> Option<u64> {
        match self {
            Value::Int(value) => u64::try_from(value).ok(),
            Value::UInt(value) => Some(value),
            _ => None,
        }
    }

    /// The number as usize, for indexes and counts.
    #[must_use]
    pub fn as_usize(self) -> Option<usize> {
        self.as_u64().and_then(|value| usize::try_from(value).ok())
    }

    /// Any number as a float; integers are rounded to the nearest float.
    #[must_use]
    pub fn as_f64(self) -> Option<f64> {
        match self {
            Value::Int(value) => Some(value as f64),
            Value::UInt(value) => Some(value as f64),
            Value::Float(value) => Some(value),
            _ => None,
        }
    }

    /// The text, if it is a string.
    #[must_use]
    pub fn as_str(self) -> Option<&'a str> {
        if let Value::Str(text) = self { Some(text) } else { None }
    }

    /// Bytes of a bytes value or of a string.
    #[must_use]
    pub fn as_bytes(self) -> Option<&'a [u8]> {
        match self {
            Value::Bytes(bytes) => Some(bytes),
            Value::Str(text) => Some(text.as_bytes()),
            _ => None,
        }
    }

    /// The elements, if it is an array. A lazy array is unfolded by one level into `arena`.
    #[must_use]
    pub fn as_array(self, arena: &'a Arena) -> Option<&'a [Value<'a>]> {
        match self {
            Value::Array(items) => Some(items),
            Value::Lazy(lazy) if !lazy.is_record() => Some(lazy.unfold_array(arena)),
            _ => None,
        }
    }

    /// The record, if it is one. A lazy record is unfolded by one level into `arena`.
    #[must_use]
    pub fn as_record(self, arena: &'a Arena) -> Option<&'a Record<'a>> {
        match self {
            Value::Record(record) => Some(record),
            Value::Lazy(lazy) if lazy.is_record() => Some(lazy.unfold_record(arena)),
            Value::Edited(edited) => Some(edited.open(arena, 0).into_record()),
            _ => None,
        }
    }

    /// The value under `key`, if this is a record that has it. Touches nothing else.
    #[must_use]
    pub fn get(self, key: &Key<'_>) -> Option<Value<'a>> {
        match self {
            Value::Record(record) => record.get_key(key),
            Value::Lazy(lazy) => lazy.get(key.text()),
            Value::Edited(edited) => edited.get(key),
            _ => None,
        }
    }

    /// The element at `index`, if this is an array that long.
    #[must_use]
    pub fn at(self, index: usize) -> Option<Value<'a>> {
        match self {
            Value::Array(items) => items.get(index).copied(),
            Value::Lazy(lazy) => lazy.at(index),
            _ => None,
        }
    }

    /// Whether both are the same container; two that are equal need not be.
    #[inline]
    pub(crate) fn is_same(self, other: Self) -> bool {
        match (self, other) {
            (Value::Record(left), Value::Record(right)) => std::ptr::eq(left, right),
            (Value::Edited(left), Value::Edited(right)) => std::ptr::eq(left, right),
            (Value::Array(left), Value::Array(right)) => std::ptr::eq(left, right),
            (Value::Lazy(left), Value::Lazy(right)) => left.is_same(right),
            _ => false,
        }
    }

    /// What a look at this value takes at the most, in steps, if what it holds is not looked into:
    /// bytes of a text, elements of a container.
    #[must_use]
    #[inline]
    pub(crate) fn shallow_steps(self) -> usize {
        match self {
            Value::Str(text) => text.len(),
            Value::Bytes(bytes) => bytes.len(),
            Value::Array(items) => items.len(),
            Value::Record(record) => record.len(),
            Value::Lazy(lazy) => lazy.node_count(),
            Value::Edited(edited) => edited.node_count(),
            _ => 1,
        }
    }

    /// Number of elements or fields; `None` for scalars.
    #[must_use]
    pub fn size(self) -> Option<usize> {
        match self {
            Value::Array(items) => Some(items.len()),
            Value::Record(record) => Some(record.len()),
            // Duplicate keys in the text make a lazy record's raw length an over-count.
            Value::Lazy(lazy) if lazy.is_record() => Some(lazy.fields().count()),
            Value::Lazy(lazy) => Some(lazy.raw_len()),
            Value::Edited(edited) => Some(edited.len()),
            _ => None,
        }
    }

    /// A deep copy whose every part lives in `arena`.
    #[must_use]
    pub fn copy_into<'b>(self, arena: &'b Arena) -> Value<'b> {
        match self {
            // What has no room is no copy, and need not be walked either.
            _ if arena.is_spent() => Value::Null,
            Value::Null => Value::Null,
            Value::Bool(value) => Value::Bool(value),
            Value::Int(value) => Value::Int(value),
            Value::UInt(value) => Value::UInt(value),
            Value::Float(value) => Value::Float(value),
            Value::Str(text) => Value::Str(arena.str(text)),
            Value::Bytes(bytes) => Value::Bytes(arena.bytes(bytes)),
            Value::Array(items) => {
                deeper(|| arena.array(items.iter().map(|item| item.copy_into(arena))))
            }
            Value::Record(record) => deeper(|| copy_fields(record.iter(), record.len(), arena)),
            Value::Lazy(lazy) if lazy.is_record() => {
                deeper(|| copy_fields(lazy.fields(), lazy.raw_len(), arena))
            }
            Value::Edited(edited) => deeper(|| copy_fields(edited.fields(), edited.len(), arena)),
            Value::Lazy(lazy) => {
                deeper(|| arena.array(lazy.elements().map(|item| item.copy_into(arena))))
            }
        }
    }
}

fn copy_fields<'a, 'b>(
    fields: impl Iterator<Item = (&'a str, Value<'a>)>,
    size: usize,
    arena: &'b Arena,
) -> Value<'b> {
    let mut builder = RecordBuilder::with_capacity(arena, size);
    for (key, value) in fields {
        builder.insert(arena.str(key), value.copy_into(arena));
    }
    builder.index_all();
    builder.finish()
}

impl PartialEq for Value<'_> {
    /// Equality of the language (`==`): see [`equal`].
    fn eq(&self, other: &Self) -> bool {
        equal(*self, *other)
    }
}
