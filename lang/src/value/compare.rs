//! Equality and the two orders of values. Equality never fails; the order of `<` does for kinds
//! that have none, and the total order serves sorting only.

use super::{JsonStyle, Key, Value, deeper, push_json};
use std::cmp::Ordering;

/// Two floats this near to each other are equal for `==`.
const FLOAT_TOLERANCE: f64 = f64::EPSILON;

/// Equality of `==` and of expression patterns: numbers by value across kinds (floats within
/// [`FLOAT_TOLERANCE`]), strings and bytes by their bytes, containers element by element.
#[must_use]
#[inline]
pub fn equal(left: Value<'_>, right: Value<'_>) -> bool {
    match (left, right) {
        (Value::Str(left), Value::Str(right)) => left == right,
        _ => equal_others(left, right),
    }
}

fn equal_others(left: Value<'_>, right: Value<'_>) -> bool {
    use Value::{Bool, Bytes, Float, Int, Null, Str, UInt};
    match (left, right) {
        (Null, Null) => true,
        (Bool(l), Bool(r)) => l == r,
        (Int(l), Int(r)) => l == r,
        (UInt(l), UInt(r)) => l == r,
        (Int(l), UInt(r)) | (UInt(r), Int(l)) => u64::try_from(l).is_ok_and(|l| l == r),
        (Float(_), Int(_) | UInt(_) | Float(_)) | (Int(_) | UInt(_), Float(_)) => {
            match (left.as_f64(), right.as_f64()) {
                (Some(l), Some(r)) => (l - r).abs() < FLOAT_TOLERANCE,
                _ => false,
            }
        }
        (Str(l), Str(r)) => l == r,
        (Bytes(l), Bytes(r)) => l == r,
        (Str(text), Bytes(bytes)) | (Bytes(bytes), Str(text)) => text.as_bytes() == bytes,
        _ if left.kind() == right.kind() => deeper(|| equal_containers(left, right)),
        _ => false,
    }
}

fn equal_containers(left: Value<'_>, right: Value<'_>) -> bool {
    if left.size() != right.size() {
        return false;
    }
    match left {
        Value::Lazy(lazy) if lazy.is_record() => equal_fields(lazy.fields(), right),
        Value::Edited(edited) => equal_fields(edited.fields(), right),
        Value::Record(record) => equal_fields(record.iter(), right),
        _ => elements(left).zip(elements(right)).all(|(l, r)| equal(l, r)),
    }
}

fn equal_fields<'v>(
    mut left: impl Iterator<Item = (&'v str, Value<'v>)>,
    right: Value<'_>,
) -> bool {
    /// Each look for a field on the tape walks all of it: with more fields, all names are hashed.
    const WALKED_FIELDS_MAX: usize = 24;
    if let Value::Lazy(lazy) = right
        && lazy.raw_len() > WALKED_FIELDS_MAX
    {
        let fields: halfbrown::HashMap<&str, Value<'_>> = lazy.raw_fields().collect();
        return left.all(|(key, value)| fields.get(key).is_some_and(|other| equal(value, *other)));
    }
    left.all(|(key, value)| field(right, key).is_some_and(|other| equal(value, other)))
}

fn field<'a>(value: Value<'a>, key: &str) -> Option<Value<'a>> {
    match value {
        Value::Record(record) => record.get(key),
        Value::Lazy(lazy) => lazy.get(key),
        Value::Edited(edited) => edited.get(&Key::new(key)),
        _ => None,
    }
}

fn elements<'a>(value: Value<'a>) -> Box<dyn Iterator<Item = Value<'a>> + 'a> {
    match value {
        Value::Array(items) => Box::new(items.iter().copied()),
        Value::Lazy(lazy) => Box::new(lazy.elements()),
        _ => Box::new(std::iter::empty()),
    }
}

/// The kinds have no order (`<` on records, booleans, mixed kinds …).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotOrdered;

/// The order of `<`, `<=`, `>`, `>=`: numbers with numbers, strings and bytes with each other.
/// `Ok(None)` means unordered numbers (NaN): every comparison is false.
///
/// # Errors
/// [`NotOrdered`] for all other kinds.
pub fn order(left: Value<'_>, right: Value<'_>) -> Result<Option<Ordering>, NotOrdered> {
    match (left, right) {
        (
            Value::Int(_) | Value::UInt(_) | Value::Float(_),
            Value::Int(_) | Value::UInt(_) | Value::Float(_),
        ) => Ok(order_numbers(left, right)),
        (Value::Str(_) | Value::Bytes(_), Value::Str(_) | Value::Bytes(_)) => {
            Ok(Some(left.as_bytes().cmp(&right.as_bytes())))
        }
        _ => Err(NotOrdered),
    }
}

fn order_numbers(left: Value<'_>, right: Value<'_>) -> Option<Ordering> {
    match (left, right) {
        (Value::Int(l), Value::Int(r)) => Some(l.cmp(&r)),
        (Value::UInt(l), Value::UInt(r)) => Some(l.cmp(&r)),
        (Value::Int(l), Value::UInt(r)) => Some(i128::from(l).cmp(&i128::from(r))),
        (Value::UInt(l), Value::Int(r)) => Some(i128::from(l).cmp(&i128::from(r))),
        _ => left.as_f64()?.partial_cmp(&right.as_f64()?),
    }
}

/// A total order for sorting: record < array < string and bytes < number < bool < null, and
/// false < true. Records compare by their number of fields, then by their sorted keys, then by the
/// values under them.
#[must_use]
pub fn total_order(left: Value<'_>, right: Value<'_>) -> Ordering {
    let ranks = rank(left).cmp(&rank(right));
    if ranks != Ordering::Equal {
        return ranks;
    }
    match (left, right) {
        (Value::Bool(l), Value::Bool(r)) => l.cmp(&r),
        (Value::Str(_) | Value::Bytes(_), _) => left.as_bytes().cmp(&right.as_bytes()),
        (Value::Int(_) | Value::UInt(_) | Value::Float(_), _) => {
            order_numbers(left, right).unwrap_or_else(|| order_nan(left, right))
        }
        _ if rank(left) == RANK_ARRAY => deeper(|| order_arrays(left, right)),
        _ if rank(left) == RANK_RECORD => deeper(|| order_records(left, right)),
        _ => Ordering::Equal,
    }
}

fn order_nan(left: Value<'_>, right: Value<'_>) -> Ordering {
    let number = |value: Value<'_>| value.as_f64().unwrap_or(f64::NAN);
    number(left).total_cmp(&number(right))
}

fn order_arrays(left: Value<'_>, right: Value<'_>) -> Ordering {
    elements(left)
        .zip(elements(right))
        .map(|(l, r)| total_order(l, r))
        .find(|order| order.is_ne())
        .unwrap_or_else(|| left.size().cmp(&right.size()))
}

fn order_records(left: Value<'_>, right: Value<'_>) -> Ordering {
    let (left, right) = (sorted_fields(left), sorted_fields(right));
    left.len()
        .cmp(&right.len())
        .then_with(|| left.iter().map(|(key, _)| key).cmp(right.iter().map(|(key, _)| key)))
        .then_with(|| {
            left.iter()
                .zip(&right)
                .map(|((_, left), (_, right))| total_order(*left, *right))
                .find(|order| order.is_ne())
                .unwrap_or(Ordering::Equal)
        })
}

fn sorted_fields<'a>(record: Value<'a>) -> Vec<(&'a str, Value<'a>)> {
    let mut fields: Vec<_> = match record {
        Value::Record(record) => record.iter().collect(),
        Value::Lazy(lazy) => lazy.fields().collect(),
        Value::Edited(edited) => edited.fields().collect(),
        _ => Vec::new(),
    };
    fields.sort_unstable_by_key(|(key, _)| *key);
    fields
}

const RANK_RECORD: u8 = 0;
const RANK_ARRAY: u8 = 1;

fn rank(value: Value<'_>) -> u8 {
    match value {
        Value::Record(_) | Value::Edited(_) => RANK_RECORD,
        Value::Lazy(lazy) if lazy.is_record() => RANK_RECORD,
        Value::Array(_) | Value::Lazy(_) => RANK_ARRAY,
        Value::Str(_) | Value::Bytes(_) => 2,
        Value::Int(_) | Value::UInt(_) | Value::Float(_) => 3,
        Value::Bool(_) => 4,
        Value::Null => 5,
    }
}

/// The compact JSON text with sorted keys: the identity of a group.
#[must_use]
pub fn canonical_key(value: Value<'_>) -> String {
    let mut text = Vec::new();
    push_json(&mut text, value, JsonStyle::Sorted);
    String::from_utf8(text).expect("JSON output is UTF-8")
}
