//! `tremor::chash`: consistent hashing (Lamping and Veach, "A Fast, Minimal Memory, Consistent
//! Hash Algorithm", 2014) over SipHash-1-3. Slots never change between releases.

use crate::declare::{Outcome, json_text, pure, text, unsigned, value};
use siphasher::sip::SipHasher13;
use std::hash::Hasher;
use temblor_lang::builtin::{CallError, Function};
use temblor_lang::value::Kind::{Any, Integer, String};
use temblor_lang::value::{JsonStyle, Value};

/// The two halves of the key of `chash::jump`.
const KEYS: (u64, u64) = (8_390_880_576_440_238_080, 128_034_676_764_530);

/// The functions of this module.
pub(super) static FUNCTIONS: &[Function] = &[
    pure(
        "tremor::chash::jump",
        &[("key", String), ("slots", Integer)],
        Integer,
        "The slot, from 0 up to, not including, `slots`, that the key belongs to. Few keys move \
         when the number of slots changes.",
        &[r#"chash::jump("key", 1) == 0"#],
        |_, arguments| jump(KEYS, text(arguments, 0)?, value(arguments, 1)),
    ),
    pure(
        "tremor::chash::jump_with_keys",
        &[("first", Integer), ("second", Integer), ("key", String), ("slots", Integer)],
        Integer,
        "As `chash::jump`, with the two halves of the hash key given.",
        &[r#"chash::jump_with_keys(0, 0, "test2", 1000) == 10"#],
        |_, arguments| {
            let keys = (unsigned(arguments, 0)?, unsigned(arguments, 1)?);
            jump(keys, text(arguments, 2)?, value(arguments, 3))
        },
    ),
    pure(
        "tremor::chash::sorted_serialize",
        &[("value", Any)],
        String,
        "The value as JSON with the fields of records sorted: equal values give equal text.",
        &[r#"chash::sorted_serialize({"b": 1, "a": 2}) == "{\"a\":2,\"b\":1}""#],
        |call, arguments| {
            Ok(Value::Str(json_text(call.arena, value(arguments, 0), JsonStyle::Sorted)))
        },
    ),
];

fn jump<'a>(keys: (u64, u64), key: &str, slots: Value<'_>) -> Outcome<'a> {
    let slots = slots.as_u64().and_then(|slots| u32::try_from(slots).ok());
    let slots = i64::from(slots.ok_or(CallError::BadType)?);
    if slots == 0 {
        return Err(CallError::failed("there must be at least one slot"));
    }
    let mut hasher = SipHasher13::new_with_keys(keys.0, keys.1);
    hasher.write(key.as_bytes());
    hasher.write_u8(0xff);
    let mut state = hasher.finish();
    let (mut slot, mut next) = (0, 0);
    while next < slots {
        slot = next;
        state = state.wrapping_mul(2_862_933_555_777_941_757).wrapping_add(1);
        next = ((slot + 1) as f64 * ((1u64 << 31) as f64 / ((state >> 33) + 1) as f64)) as i64;
    }
    Ok(Value::UInt(slot as u64))
}
