//! How large a value is when it is walked or written as a tree. Values share what they hold, so that
//! a small one can stand for a tree without end: whoever walks all of a value weighs it first.

use super::{Arena, Value, deeper, equal};

/// What a value weighs by itself, in bytes: about as long as it is when written.
const VALUE_BYTES: usize = 8;
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
        Value::Edited(edited) => deeper(|| {
            let names = edited.fields().map(|(name, _)| name.len()).sum();
            sum(edited.fields().map(|(_, value)| value), names, arena, max)
        }),
        Value::Lazy(lazy) => {
            let bytes = lazy.text_bytes();
            arena.step(lazy.node_count() + bytes / TEXT_BYTES_PER_STEP);
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
    arena.step(1 + count + own / TEXT_BYTES_PER_STEP);
    total
}
