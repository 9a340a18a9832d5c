//! A value tree that can change in place: the `state` of scripts. Everything read from it is
//! copied into the event's arena, so no value ever refers to memory that a later write changes.

use super::{Arena, Value, deeper};
use halfbrown::HashMap;

/// A mutable value.
#[derive(Debug, Default)]
pub enum Owned {
    /// `null`
    #[default]
    Null,
    /// `true`, `false`
    Bool(bool),
    /// See [`Value::Int`].
    Int(i64),
    /// See [`Value::UInt`].
    UInt(u64),
    /// A 64-bit float.
    Float(f64),
    /// Text.
    Str(Box<str>),
    /// Raw bytes.
    Bytes(Box<[u8]>),
    /// An array.
    Array(Vec<Owned>),
    /// A record.
    Record(HashMap<Box<str>, Owned>),
}

impl Owned {
    /// A copy of this value in `arena`.
    #[must_use]
    pub fn read<'a>(&self, arena: &'a Arena) -> Value<'a> {
        match self {
            _ if arena.is_spent() => Value::Null,
            Owned::Null => Value::Null,
            Owned::Bool(value) => Value::Bool(*value),
            Owned::Int(value) => Value::Int(*value),
            Owned::UInt(value) => Value::UInt(*value),
            Owned::Float(value) => Value::Float(*value),
            Owned::Str(text) => Value::Str(arena.str(text)),
            Owned::Bytes(bytes) => Value::Bytes(arena.bytes(bytes)),
            Owned::Array(items) => {
                deeper(|| arena.array(items.iter().map(|item| item.read(arena))))
            }
            Owned::Record(fields) => deeper(|| {
                let mut record = arena.record_builder(fields.len());
                for (key, value) in fields.iter() {
                    record.append(arena.str(key), value.read(arena));
                }
                record.finish()
            }),
        }
    }
}

impl Clone for Owned {
    fn clone(&self) -> Self {
        match self {
            Owned::Null => Owned::Null,
            Owned::Bool(value) => Owned::Bool(*value),
            Owned::Int(value) => Owned::Int(*value),
            Owned::UInt(value) => Owned::UInt(*value),
            Owned::Float(value) => Owned::Float(*value),
            Owned::Str(text) => Owned::Str(text.clone()),
            Owned::Bytes(bytes) => Owned::Bytes(bytes.clone()),
            Owned::Array(items) => deeper(|| Owned::Array(items.clone())),
            Owned::Record(fields) => deeper(|| Owned::Record(fields.clone())),
        }
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        match self {
            Owned::Array(items) => deeper(|| items.clear()),
            Owned::Record(fields) => deeper(|| fields.clear()),
            _ => {}
        }
    }
}

impl From<Value<'_>> for Owned {
    fn from(value: Value<'_>) -> Self {
        match value {
            Value::Null => Owned::Null,
            Value::Bool(value) => Owned::Bool(value),
            Value::Int(value) => Owned::Int(value),
            Value::UInt(value) => Owned::UInt(value),
            Value::Float(value) => Owned::Float(value),
            Value::Str(text) => Owned::Str(text.into()),
            Value::Bytes(bytes) => Owned::Bytes(bytes.into()),
            Value::Array(items) => {
                deeper(|| Owned::Array(items.iter().map(|item| (*item).into()).collect()))
            }
            Value::Record(record) => deeper(|| own_fields(record.iter())),
            Value::Lazy(lazy) if lazy.is_record() => deeper(|| own_fields(lazy.fields())),
            Value::Edited(edited) => deeper(|| own_fields(edited.fields())),
            Value::Lazy(lazy) => {
                deeper(|| Owned::Array(lazy.elements().map(Owned::from).collect()))
            }
        }
    }
}

fn own_fields<'a>(fields: impl Iterator<Item = (&'a str, Value<'a>)>) -> Owned {
    Owned::Record(fields.map(|(key, value)| (key.into(), value.into())).collect())
}
