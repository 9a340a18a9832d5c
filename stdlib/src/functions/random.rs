//! `std::random` and the generated identifiers: reproducible chance. What is drawn depends on the
//! event's arrival time, the seed of the run and the number of draws before within the event.

use super::binary::hexadecimal;
use crate::declare::{Outcome, count, finish, impure, number, optional, text_in, value};
use temblor_lang::builtin::{Call, CallError, Function};
use temblor_lang::random::Random;
use temblor_lang::value::Kind::{Array, Bool, Bytes, Float, Integer, Number, String};
use temblor_lang::value::Value;

/// The longest text that `random::string` makes, in characters.
const STRING_MAX: usize = 1 << 20;

/// Bytes of a span identifier in OpenTelemetry and in Google Cloud.
const SPAN_BYTES: usize = 8;
/// Bytes of a trace identifier there.
const TRACE_BYTES: usize = 16;

/// The functions of these modules.
pub(super) static FUNCTIONS: &[Function] = &[
    impure(
        "std::random::bool",
        &[],
        Bool,
        "True or false, each half of the time.",
        &["type::is_bool(random::bool())"],
        |call, _| Ok(Value::Bool(next_draw(call).bits() >> 63 == 1)),
    ),
    impure(
        "std::random::string",
        &[("length", Integer)],
        String,
        "So many random ASCII letters and digits, at most 1,048,576.",
        &["string::len(random::string(16)) == 16"],
        string,
    ),
    optional(
        2,
        impure(
            "std::random::integer",
            &[("first", Integer), ("second", Integer)],
            Integer,
            "An integer: any signed one; with one argument, from 0 up to, not including, it; \
             with two, from the first up to, not including, the second.",
            &["random::integer(1) == 0", "random::integer(5, 6) == 5"],
            whole,
        ),
    ),
    optional(
        2,
        impure(
            "std::random::float",
            &[("first", Number), ("second", Number)],
            Float,
            "A float from 0 up to, not including, 1; with one argument, up to that; with two, \
             from the first up to the second.",
            &["random::float() < 1.0", "random::float(5, 6) >= 5.0"],
            fraction,
        ),
    ),
    impure(
        "cncf::otel::gen_span_id_string",
        &[],
        String,
        "A random span identifier: 16 hexadecimal digits.",
        &["string::len(otel::gen_span_id_string()) == 16"],
        |call, _| Ok(hexadecimal(call, &identifier::<SPAN_BYTES>(call))),
    ),
    impure(
        "cncf::otel::gen_span_id_bytes",
        &[],
        Bytes,
        "A random span identifier: 8 bytes.",
        &["type::is_binary(otel::gen_span_id_bytes())"],
        |call, _| Ok(Value::Bytes(call.arena.bytes(&identifier::<SPAN_BYTES>(call)))),
    ),
    impure(
        "cncf::otel::gen_span_id_array",
        &[],
        Array,
        "A random span identifier: an array of 8 integers from 0 to 255.",
        &["type::is_array(otel::gen_span_id_array())"],
        |call, _| Ok(integers(call, &identifier::<SPAN_BYTES>(call))),
    ),
    impure(
        "cncf::otel::gen_trace_id_string",
        &[],
        String,
        "A random trace identifier: 32 hexadecimal digits.",
        &["string::len(otel::gen_trace_id_string()) == 32"],
        |call, _| Ok(hexadecimal(call, &identifier::<TRACE_BYTES>(call))),
    ),
    impure(
        "cncf::otel::gen_trace_id_bytes",
        &[],
        Bytes,
        "A random trace identifier: 16 bytes.",
        &["type::is_binary(otel::gen_trace_id_bytes())"],
        |call, _| Ok(Value::Bytes(call.arena.bytes(&identifier::<TRACE_BYTES>(call)))),
    ),
    impure(
        "cncf::otel::gen_trace_id_array",
        &[],
        Array,
        "A random trace identifier: an array of 16 integers from 0 to 255.",
        &["type::is_array(otel::gen_trace_id_array())"],
        |call, _| Ok(integers(call, &identifier::<TRACE_BYTES>(call))),
    ),
    impure(
        "google::cloud::logging::gen_span_id_string",
        &[],
        String,
        "A random span identifier: 16 hexadecimal digits.",
        &["string::len(logging::gen_span_id_string()) == 16"],
        |call, _| Ok(hexadecimal(call, &identifier::<SPAN_BYTES>(call))),
    ),
    impure(
        "google::cloud::logging::gen_trace_id_string",
        &[],
        String,
        "A random trace identifier: 32 hexadecimal digits.",
        &["string::len(logging::gen_trace_id_string()) == 32"],
        |call, _| Ok(hexadecimal(call, &identifier::<TRACE_BYTES>(call))),
    ),
];

/// The numbers for the next draw within the event.
pub(super) fn next_draw(call: &Call<'_>) -> Random {
    let facts = call.facts;
    let draw = facts.draws.get();
    facts.draws.set(draw.wrapping_add(1));
    let mixed = Random::seeded(facts.ingest_ns ^ facts.seed.rotate_left(32)).bits();
    Random::seeded(mixed ^ draw.wrapping_mul(0xd1b5_4a32_d192_ed03))
}

/// Random bytes, not all of them 0.
pub(super) fn identifier<const LENGTH: usize>(call: &Call<'_>) -> [u8; LENGTH] {
    let mut draw = next_draw(call);
    let mut bytes = [0; LENGTH];
    while bytes == [0; LENGTH] {
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&draw.bits().to_be_bytes()[..chunk.len()]);
        }
    }
    bytes
}

fn integers<'a>(call: &Call<'a>, bytes: &[u8]) -> Value<'a> {
    call.arena.array(bytes.iter().map(|byte| Value::UInt(u64::from(*byte))))
}

fn string<'a>(call: &Call<'a>, arguments: &[Value<'a>]) -> Outcome<'a> {
    const ALPHABET: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    let length = count(arguments, 0)?;
    if length > STRING_MAX {
        return Err(CallError::failed(format!("a random string has at most {STRING_MAX} letters")));
    }
    let mut draw = next_draw(call);
    let mut result = text_in(call.arena, length);
    for _ in 0..length {
        result.push(char::from(ALPHABET[draw.below(ALPHABET.len() as u64) as usize]));
    }
    Ok(finish(result))
}

fn whole<'a>(call: &Call<'a>, arguments: &[Value<'a>]) -> Outcome<'a> {
    match arguments {
        [] => Ok(Value::Int(next_draw(call).bits() as i64)),
        [bound] => match bound.as_u64().ok_or(CallError::BadType)? {
            0 => Err(CallError::failed("the bound of a random integer must be above 0")),
            bound => Ok(Value::UInt(next_draw(call).below(bound))),
        },
        _ => {
            let low = value(arguments, 0).as_i64().ok_or(CallError::BadType)?;
            let high = value(arguments, 1).as_i64().ok_or(CallError::BadType)?;
            if low >= high {
                return Err(CallError::failed("the first bound must be below the second"));
            }
            let offset = next_draw(call).below(high.abs_diff(low));
            Ok(Value::Int(low.wrapping_add_unsigned(offset)))
        }
    }
}

fn fraction<'a>(call: &Call<'a>, arguments: &[Value<'a>]) -> Outcome<'a> {
    let (low, high) = match arguments.len() {
        0 => (0.0, 1.0),
        1 => (0.0, number(arguments, 0)?),
        _ => (number(arguments, 0)?, number(arguments, 1)?),
    };
    if !(low < high && (high - low).is_finite()) {
        return Err(CallError::failed("the bounds of a random float must be finite and ascending"));
    }
    let drawn = low + next_draw(call).unit() * (high - low);
    // Rounding may reach the bound, which is not part of the range.
    Ok(Value::Float(if drawn < high { drawn } else { low }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use temblor_lang::builtin::Facts;
    use temblor_lang::value::Arena;

    fn drawn(facts: &Facts, count: usize) -> Vec<u64> {
        let arena = Arena::new();
        let call = Call { arena: &arena, facts };
        (0..count).map(|_| next_draw(&call).bits()).collect()
    }

    fn facts(ingest_ns: u64, seed: u64) -> Facts {
        Facts { ingest_ns, seed, ..Facts::default() }
    }

    #[test]
    fn replaying_an_event_draws_the_same() {
        assert_eq!(drawn(&facts(7, 1), 3), drawn(&facts(7, 1), 3));
    }

    #[test]
    fn draws_within_an_event_differ() {
        let drawn = drawn(&facts(7, 1), 3);
        assert!(drawn[0] != drawn[1] && drawn[1] != drawn[2] && drawn[0] != drawn[2]);
    }

    #[test]
    fn time_and_seed_change_the_first_draw() {
        let first = |ingest_ns, seed| drawn(&facts(ingest_ns, seed), 1);
        assert!(first(7, 1) != first(8, 1) && first(7, 1) != first(7, 2));
    }

    #[test]
    fn bounds_are_kept_and_reached() {
        let facts = facts(1, 1);
        let arena = Arena::new();
        let call = Call { arena: &arena, facts: &facts };
        let mut seen = [false; 4];
        for _ in 0..200 {
            let number = whole(&call, &[Value::Int(-2), Value::Int(2)]).unwrap().as_i64().unwrap();
            seen[usize::try_from(number + 2).unwrap()] = true;
            let number = fraction(&call, &[Value::Int(1), Value::Int(2)]).unwrap();
            assert!((1.0..2.0).contains(&number.as_f64().unwrap()));
        }
        assert_eq!(seen, [true; 4]);
    }
}
