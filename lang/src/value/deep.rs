//! Steps into values that are nested. A program can nest values as deep as memory allows, so every
//! walk over a value makes its steps here, where the stack is made longer before it is used up.

/// Room on the stack that a step can count on, in bytes; frames of debug builds are large.
const STEP_BYTES: usize = 128 << 10;
/// What the stack grows by, in bytes.
const GROWTH_BYTES: usize = 2 << 20;

/// Runs a step into a container; its own steps inwards may be as many as there are levels.
#[inline]
pub fn deeper<T>(step: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(STEP_BYTES, GROWTH_BYTES, step)
}

#[cfg(test)]
mod tests {
    use super::super::{Arena, Frozen, JsonStyle, Owned, Value};
    use super::super::{canonical_key, equal, hash128, push_json, total_order};

    const LEVELS: usize = 100_000;

    fn nested(arena: &Arena, records: bool) -> Value<'_> {
        (0..LEVELS).fold(Value::Null, |inner, _| {
            if records {
                let mut record = arena.record_builder(1);
                record.insert("a", inner);
                record.finish()
            } else {
                arena.array([inner])
            }
        })
    }

    fn walk(records: bool) {
        let arena = Arena::new();
        let value = nested(&arena, records);
        let copy = Frozen::new(value);
        assert!(equal(value, copy.get()));
        assert!(total_order(value, copy.get()).is_eq());
        assert_eq!(hash128(value), hash128(copy.get()));
        let owned = Owned::from(value);
        assert!(equal(owned.clone().read(&arena), value));
        assert!(canonical_key(value).len() > 2 * LEVELS);
        let mut text = Vec::new();
        push_json(&mut text, value, JsonStyle::Compact);
        assert!(text.len() > 2 * LEVELS);
    }

    #[test]
    fn deep_values_need_no_deep_stack() {
        for records in [false, true] {
            let thread = std::thread::Builder::new().stack_size(2 << 20);
            let walked = thread.spawn(move || walk(records)).expect("a thread starts");
            walked.join().expect("no step fails");
        }
    }
}
