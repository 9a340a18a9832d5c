//! `std::units`: spans of time and sizes as people write them. Spans are nanoseconds, sizes bytes.

use crate::declare::{Outcome, finish, pure, text, text_in, unsigned};
use std::fmt::Write;
use temblor_lang::builtin::{Call, CallError, Function};
use temblor_lang::value::Kind::{Integer, String};
use temblor_lang::value::Value;

/// Units of time in nanoseconds, the largest first.
const SPANS: &[(&str, u64)] = &[
    ("w", 604_800_000_000_000),
    ("d", 86_400_000_000_000),
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];

/// Units of size in bytes, the largest first; those of 1024 are the ones that are written.
const SIZES: &[(&str, u64)] = &[
    ("EiB", 1 << 60),
    ("PiB", 1 << 50),
    ("TiB", 1 << 40),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("EB", 1_000_000_000_000_000_000),
    ("PB", 1_000_000_000_000_000),
    ("TB", 1_000_000_000_000),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("kB", 1_000),
    ("B", 1),
];

/// The functions of this module.
pub static FUNCTIONS: &[Function] = &[
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
        |_, arguments| parsed(text(arguments, 0)?, SPANS),
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
        |_, arguments| parsed(text(arguments, 0)?, SIZES),
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

/// A sum of numbers with units; a number alone stands for itself where a size is asked for.
fn parsed<'a>(given: &str, units: &[(&str, u64)]) -> Outcome<'a> {
    let bad = || CallError::failed(format!("`{given}` is no number with a unit"));
    let mut rest = given.trim();
    let mut total = 0.0;
    if rest.is_empty() {
        return Err(bad());
    }
    while !rest.is_empty() {
        let is_digit = |character: char| character.is_ascii_digit() || character == '.';
        let (number, after) =
            rest.split_at(rest.find(|other| !is_digit(other)).unwrap_or(rest.len()));
        let after = after.trim_start();
        let (unit, after) =
            after.split_at(after.find(|other: char| !other.is_alphabetic()).unwrap_or(after.len()));
        let number: f64 = number.parse().map_err(|_| bad())?;
        total += number * scale(unit, units).ok_or_else(bad)? as f64;
        rest = after.trim_start();
    }
    if total >= i64::MAX as f64 {
        return Err(CallError::failed(format!("`{given}` does not fit 64 bits")));
    }
    Ok(Value::UInt(total.round() as u64))
}

fn scale(unit: &str, units: &[(&str, u64)]) -> Option<u64> {
    let is_size = units.last().is_some_and(|(name, _)| *name == "B");
    if is_size && unit.is_empty() {
        return Some(1);
    }
    let fits = |name: &str| if is_size { name.eq_ignore_ascii_case(unit) } else { name == unit };
    units.iter().find(|(name, _)| fits(name)).map(|(_, scale)| *scale)
}

fn format_duration<'a>(call: &Call<'a>, arguments: &[Value<'a>]) -> Outcome<'a> {
    let mut rest = unsigned(arguments, 0)?;
    let mut result = text_in(call.arena, 0);
    for (unit, scale) in SPANS {
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
