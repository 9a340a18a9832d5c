//! The canonical hash of a value: equal whatever the order of a record's keys and whichever of
//! the number kinds holds a whole number. It is stable over runs and machines (XXH3, 128 bit).

use super::{Value, deeper};
use xxhash_rust::xxh3::xxh3_128_with_seed;

/// Tags keep values of different kinds apart (`"1"` from `1`, `[]` from `{}`).
#[derive(Clone, Copy)]
enum Tag {
    Null = 1,
    Bool,
    Whole,
    Fraction,
    Text,
    Array,
    Record,
    Key,
}

/// A 128-bit hash of the whole value.
#[must_use]
pub fn hash128(value: Value<'_>) -> u128 {
    hash::<EXACT>(value, 0)
}

/// The same under a key: hashes under different keys have nothing to do with each other, so that nobody who
/// does not know the key can tell which values meet.
#[must_use]
pub fn keyed_hash128(value: Value<'_>, key: u64) -> u128 {
    hash::<EXACT>(value, key)
}

/// A hash that is the same for values that are [`super::equal`], which numbers are that differ by
/// very little, and that is the same for few others but numbers between -1 and 1.
#[must_use]
pub fn hash_of_equals(value: Value<'_>) -> u128 {
    hash::<EQUALS>(value, 0)
}

const EXACT: bool = false;
const EQUALS: bool = true;

fn hash<const EQUALS: bool>(value: Value<'_>, seed: u64) -> u128 {
    match value {
        Value::Int(_) | Value::UInt(_) | Value::Float(_) if EQUALS => {
            near(value.as_f64().unwrap_or_default(), seed)
        }
        Value::Null => leaf(Tag::Null, &[], seed),
        Value::Bool(value) => leaf(Tag::Bool, &[u8::from(value)], seed),
        Value::Int(value) => whole(i128::from(value), seed),
        Value::UInt(value) => whole(i128::from(value), seed),
        Value::Float(value) => number(value, seed),
        Value::Str(text) => leaf(Tag::Text, text.as_bytes(), seed),
        Value::Bytes(bytes) => leaf(Tag::Text, bytes, seed),
        Value::Array(items) => deeper(|| sequence::<EQUALS>(items.iter().copied(), seed)),
        Value::Record(record) => deeper(|| fields::<EQUALS>(record.iter(), seed)),
        Value::Lazy(lazy) if lazy.is_record() => deeper(|| fields::<EQUALS>(lazy.fields(), seed)),
        Value::Edited(edited) => deeper(|| fields::<EQUALS>(edited.fields(), seed)),
        Value::Lazy(lazy) => deeper(|| sequence::<EQUALS>(lazy.elements(), seed)),
    }
}

/// Numbers from 1 on are so far from each other that only the same are equal; integers beyond 53
/// bits are equal to the float next to them.
fn near(value: f64, seed: u64) -> u128 {
    let bits = if value.abs() < 1.0 { 0 } else { value.to_bits() };
    leaf(Tag::Fraction, &bits.to_le_bytes(), seed)
}

fn leaf(tag: Tag, bytes: &[u8], seed: u64) -> u128 {
    xxh3_128_with_seed(bytes, seed ^ tag as u64)
}

fn whole(value: i128, seed: u64) -> u128 {
    leaf(Tag::Whole, &value.to_le_bytes(), seed)
}

fn number(value: f64, seed: u64) -> u128 {
    /// Whole floats below this magnitude convert to integers without loss.
    const WHOLE_MAX: f64 = 18_446_744_073_709_551_616.0;
    if value.fract() == 0.0 && value.abs() < WHOLE_MAX {
        whole(value as i128, seed)
    } else {
        leaf(Tag::Fraction, &value.to_bits().to_le_bytes(), seed)
    }
}

fn sequence<'a, const EQUALS: bool>(items: impl Iterator<Item = Value<'a>>, seed: u64) -> u128 {
    items.fold(leaf(Tag::Array, &[], seed), |state, item| {
        combine(Tag::Array, state, hash::<EQUALS>(item, seed), seed)
    })
}

/// A sum of the fields' hashes, so that their order does not matter.
fn fields<'a, const EQUALS: bool>(
    fields: impl Iterator<Item = (&'a str, Value<'a>)>,
    seed: u64,
) -> u128 {
    let sum = fields.fold(0u128, |sum, (key, value)| {
        sum.wrapping_add(combine(
            Tag::Record,
            leaf(Tag::Key, key.as_bytes(), seed),
            hash::<EQUALS>(value, seed),
            seed,
        ))
    });
    leaf(Tag::Record, &sum.to_le_bytes(), seed)
}

fn combine(tag: Tag, left: u128, right: u128, seed: u64) -> u128 {
    let mut bytes = [0; 32];
    bytes[..16].copy_from_slice(&left.to_le_bytes());
    bytes[16..].copy_from_slice(&right.to_le_bytes());
    leaf(tag, &bytes, seed)
}
