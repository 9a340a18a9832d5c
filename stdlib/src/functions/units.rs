//! `std::units`: spans of time and sizes as people write them. Spans are nanoseconds, sizes bytes.

use crate::declare::{Outcome, finish, pure, text, text_in, unsigned};
use std::fmt::Write;
use temblor_lang::builtin::{Call, CallError, Function};
use temblor_lang::units::{DURATIONS, SIZES, parse_duration, parse_size};
use temblor_lang::value::Kind::{Integer, String};
use temblor_lang::value::Value;

/// The functions of this module.
pub(super) static FUNCTIONS: &[Function] = &[
    pure(
        "std::units::parse_duration",
        &[("text", String)],
        Integer,
        "The nanoseconds of a span such as `1h30m`, `2.5s` or `10ms`. The units are w, d, h, m, \
         s, ms, us and ns.",
        &[
            r#"units::parse_duration("1h30m") == 5400000000000"#,
            r#"units::parse_duration("2.5s") == 2500000000"#,
        ],
        |_, arguments| parsed(arguments, parse_duration),
    ),
    pure(
        "std::units::format_duration",
        &[("nanos", Integer)],
        String,
        "Nanoseconds as a span such as `1h30m`.",
        &[
            r#"units::format_duration(5400000000000) == "1h30m""#,
            r#"units::format_duration(1002000000) == "1s2ms""#,
            r#"units::format_duration(0) == "0s""#,
        ],
        format_duration,
    ),
    pure(
        "std::units::parse_bytes",
        &[("text", String)],
        Integer,
        "The bytes of a size such as `5MiB`, `1.5 GB` or `100`. Units with an i are powers of \
         1024, the others of 1000; case does not matter.",
        &[
            r#"units::parse_bytes("5MiB") == 5242880"#,
            r#"units::parse_bytes("1.5 kb") == 1500"#,
            r#"units::parse_bytes("100") == 100"#,
        ],
        |_, arguments| parsed(arguments, parse_size),
    ),
    pure(
        "std::units::format_bytes",
        &[("bytes", Integer)],
        String,
        "Bytes as a size of at most one decimal, in powers of 1024.",
        &[
            r#"units::format_bytes(1536) == "1.5KiB""#,
            r#"units::format_bytes(1048576) == "1MiB""#,
            r#"units::format_bytes(100) == "100B""#,
        ],
        format_bytes,
    ),
];

/// What a text of the first argument comes to.
fn parsed<'a>(arguments: &[Value<'a>], parse: fn(&str) -> Option<u64>) -> Outcome<'a> {
    let given = text(arguments, 0)?;
    let bad = || CallError::failed(format!("`{given}` is no number with a unit, or too large"));
    parse(given).map(Value::UInt).ok_or_else(bad)
}

fn format_duration<'a>(call: &Call<'a>, arguments: &[Value<'a>]) -> Outcome<'a> {
    let mut rest = unsigned(arguments, 0)?;
    let mut result = text_in(call.arena, 0);
    for (unit, scale) in DURATIONS {
        let times = rest / scale;
        rest %= scale;
        if times > 0 {
            write!(result, "{times}{unit}").expect("writing into memory does not fail");
        }
    }
    if result.is_empty() {
        result.push_str("0s");
    }
    Ok(finish(result))
}

fn format_bytes<'a>(call: &Call<'a>, arguments: &[Value<'a>]) -> Outcome<'a> {
    let bytes = unsigned(arguments, 0)?;
    let fitting = SIZES.iter().filter(|(name, _)| name.contains('i') || *name == "B");
    let (unit, scale) = fitting.copied().find(|(_, scale)| bytes >= *scale).unwrap_or(("B", 1));
    let tenths = (bytes as f64 * 10.0 / scale as f64).round() / 10.0;
    Ok(Value::Str(call.arena.format(format_args!("{tenths}{unit}"))))
}
