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
    use crate::tape::Reader;

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

    /// As deep as JSON nests, within as many levels of a program, on the stack of a worker.
    #[test]
    fn a_deep_tape_within_deep_records_needs_no_deep_stack() {
        let walk = || {
            let arena = Arena::new();
            let text = format!("{}1{}", "{\"a\":[".repeat(510), "]}".repeat(510));
            for levels in (0..2_000).step_by(61) {
                let tape = Reader::default().read(text.as_bytes(), &arena).expect("JSON");
                let value = (0..levels).fold(tape, |inner, _| {
                    let mut record = arena.record_builder(1);
                    record.insert("a", inner);
                    record.finish()
                });
                let copy = Frozen::new(value);
                assert!(equal(value, copy.get()) && total_order(value, copy.get()).is_eq());
                assert_eq!(hash128(value), hash128(copy.get()));
                assert!(equal(Owned::from(value).read(&arena), value));
                assert_eq!(canonical_key(value).len(), text.len() + 6 * levels);
            }
        };
        let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(walk);
        thread.expect("a thread starts").join().expect("no step fails");
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
