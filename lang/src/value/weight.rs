//! How large a value is when it is walked or written as a tree. Values share what they hold, so that
//! a small one can stand for a tree without end: whoever walks all of a value weighs it first.

use super::{Arena, TURN_STEPS, Value, deeper, equal};

/// What a value weighs by itself, in bytes: about as long as it is when written.
const VALUE_BYTES: usize = 8;
/// Steps of a value that is looked at.
const VALUE_STEPS: usize = 4;
/// Bytes of a text that are copied or compared in a step.
const TEXT_BYTES_PER_STEP: usize = 8;

impl Arena {
    /// Whether all of `value` may be walked. Its size counts as work; where there is not so much work
    /// left, nothing is.
    #[inline]
    #[must_use]
    pub fn admits_walk(&self, value: Value<'_>) -> bool {
        if is_container(value) {
            weigh(value, self, usize::MAX);
        }
        !self.is_spent()
    }

    /// As [`super::equal`], as far as that may be walked. Both are walked in step, so that what one of
    /// them weighs is all that the walk can take.
    #[inline]
    #[must_use]
    pub fn equal(&self, left: Value<'_>, right: Value<'_>) -> bool {
        if is_container(left) && is_container(right) {
            left.size() == right.size() && self.admits_walk(left) && equal(left, right)
        } else {
            equal(left, right)
        }
    }

    /// Whether all of `value` may be written or copied: as [`Arena::admits_walk`], and there is as
    /// much memory as that takes. The memory is asked for by whoever takes it.
    #[inline]
    #[must_use]
    pub fn admits_copy(&self, value: Value<'_>) -> bool {
        let left = self.bytes_left();
        let bytes = match value {
            Value::Str(text) => text.len(),
            Value::Bytes(bytes) => bytes.len(),
            _ if is_container(value) => weigh(value, self, left),
            _ => return true,
        };
        // What cannot be had is asked for, so that it is known which budget is used up.
        (bytes <= left || self.charge(bytes)) && !self.is_spent()
    }
}

/// Whether a value, which has been built, is so small that it need not be weighed before it leaves:
/// a few values, none of them long, and fewer that stand on the tape.
#[inline]
pub(crate) fn is_modest(value: Value<'_>) -> bool {
    /// Values that are looked at one by one; more are weighed.
    const VALUES_MAX: usize = 256;
    match value {
        // All of its few fields are parts of one text.
        Value::Record(record) if record.named.is_some() => true,
        _ => are_modest(std::iter::once(value), 1, &mut { VALUES_MAX }),
    }
}

/// Whether so many `values` are no more than are left.
#[inline]
fn are_modest<'a>(values: impl Iterator<Item = Value<'a>>, count: usize, left: &mut usize) -> bool {
    /// Texts and bytes that are no longer than this are short.
    const SHORT_BYTES_MAX: usize = 64 << 10;
    if count > *left {
        return false;
    }
    *left -= count;
    for value in values {
        let is_small = match value {
            Value::Str(text) => text.len() <= SHORT_BYTES_MAX,
            Value::Bytes(bytes) => bytes.len() <= SHORT_BYTES_MAX,
            Value::Array(_) | Value::Record(_) | Value::Edited(_) | Value::Lazy(_) => {
                is_modest_container(value, left)
            }
            _ => true,
        };
        if !is_small {
            return false;
        }
    }
    true
}

fn is_modest_container(value: Value<'_>, left: &mut usize) -> bool {
    /// So many values one on the tape counts as.
    const TAPE_VALUES: usize = 16;
    match value {
        Value::Array(items) => are_modest(items.iter().copied(), items.len(), left),
        Value::Record(record) => {
            let values = record.entries().iter().map(|entry| entry.value);
            are_modest(values, record.len(), left)
        }
        Value::Edited(edited) => are_modest(edited.changes(), TAPE_VALUES, left),
        _ => are_modest(std::iter::empty(), TAPE_VALUES, left),
    }
}

#[inline]
fn is_container(value: Value<'_>) -> bool {
    matches!(value, Value::Array(_) | Value::Record(_) | Value::Edited(_) | Value::Lazy(_))
}

/// What `value` weighs, in bytes; more than `max` as soon as that is certain, and nothing that means
/// anything once the arena allows no more work.
fn weigh(value: Value<'_>, arena: &Arena, max: usize) -> usize {
    match value {
        Value::Array(items) => deeper(|| sum(items.iter().copied(), 0, arena, max)),
        Value::Record(record) => deeper(|| {
            let names = record.entries().iter().map(|entry| entry.key.len()).sum();
            sum(record.entries().iter().map(|entry| entry.value), names, arena, max)
        }),
        Value::Edited(edited) => deeper(|| sum(edited.changes(), edited.text_bytes(), arena, max)),
        Value::Lazy(lazy) => {
            let bytes = lazy.text_bytes();
            arena.step(lazy.node_count() * VALUE_STEPS + bytes / TEXT_BYTES_PER_STEP);
            bytes + lazy.node_count() * VALUE_BYTES
        }
        Value::Str(text) => text.len() + VALUE_BYTES,
        Value::Bytes(bytes) => bytes.len() + VALUE_BYTES,
        _ => VALUE_BYTES,
    }
}

/// The weight of a container whose names have so many bytes.
fn sum<'a>(
    items: impl Iterator<Item = Value<'a>>,
    names: usize,
    arena: &Arena,
    max: usize,
) -> usize {
    let (mut total, mut own, mut count) = (names + VALUE_BYTES, names, 0);
    for item in items {
        count += 1;
        total = total.saturating_add(if is_container(item) {
            if arena.is_spent() {
                return usize::MAX;
            }
            weigh(item, arena, max)
        } else {
            let bytes = weigh(item, arena, max);
            own += bytes;
            bytes
        });
        if total > max {
            break;
        }
    }
    arena.step(TURN_STEPS + count * VALUE_STEPS + own / TEXT_BYTES_PER_STEP);
    total
}
