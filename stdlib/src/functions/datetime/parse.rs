//! Reading datetimes from text. Text without a zone is UTC unless the program says otherwise.

use super::fixed;
use super::zone::Zone;
use crate::declare::{Outcome, items, optional, pure, signed, text, text_or, unsigned, value};
use chrono::{DateTime, Datelike, NaiveDateTime, TimeZone};
use temblor_lang::builtin::{Call, CallError, Function};
use temblor_lang::value::Kind::{Any, Array, Integer, String};
use temblor_lang::value::Value;

/// The functions of `std::datetime` that read text and other clocks.
pub(crate) static FUNCTIONS: &[Function] = &[
    pure(
        "std::datetime::parse",
        &[("text", String), ("format", String)],
        Integer,
        "The nanoseconds since 1970-01-01 UTC that the text stands for by a strftime format. An \
         offset counts when the format has one (`%z`, `%:z`, `%#z`, `%+`), and `Z` is the offset 0; else the text is in \
         UTC. The format must say a date and a time.",
        &[
            r#"datetime::parse("1970-01-01 00:00:01", "%Y-%m-%d %H:%M:%S") == 1000000000"#,
            r#"datetime::parse("1970-01-01T01:00:00+01:00", "%+") == 0"#,
            r#"datetime::parse("1970-01-01T00:00:01Z", "%Y-%m-%dT%H:%M:%S%z") == 1000000000"#,
        ],
        |_, arguments| {
            let nanos = parse(text(arguments, 0)?, text(arguments, 1)?, Zone::UTC)?;
            // Before 1970 tremor's numbers wrap, and so do these.
            Ok(Value::UInt(nanos as u64))
        },
    ),
    pure(
        "std::datetime::parse_in",
        &[("text", String), ("format", String), ("zone", Any)],
        Integer,
        "As `datetime::parse`, but text without an offset is in the given zone. Times before 1970 \
         are negative.",
        &[
            r#"datetime::parse_in("1970-01-01 01:00:00", "%Y-%m-%d %H:%M:%S", "Europe/Berlin") == 0"#,
        ],
        |_, arguments| {
            let zone = Zone::read(value(arguments, 2))?;
            Ok(nanoseconds(parse(text(arguments, 0)?, text(arguments, 1)?, zone)?))
        },
    ),
    optional(
        1,
        pure(
            "std::datetime::parse_any",
            &[("text", String), ("formats", Array), ("zone", String)],
            Any,
            "As `datetime::parse_in` by the first of the formats that fits; `null` when none \
             does. Without a zone, UTC. The names `UNIX`, `UNIX_MS` and `ISO8601` stand for \
             seconds and milliseconds since 1970 and for RFC 3339.",
            &[
                r#"datetime::parse_any("1.5", ["ISO8601", "UNIX"]) == 1500000000"#,
                r#"datetime::parse_any("soon", ["ISO8601"]) == null"#,
            ],
            parse_any,
        ),
    ),
    pure(
        "std::datetime::parse_without_year",
        &[("text", String), ("format", String), ("zone", Any), ("near", Integer)],
        Integer,
        "For formats that say no year, such as those of old syslog: of the years around the time \
         `near` (nanoseconds, for example `system::ingest_ns()`), the one that brings the result \
         nearest to it.",
        &[r#"datetime::parse_without_year("Jan  1 00:00:01", "%b %e %T", "UTC", 0) == 1000000000"#],
        parse_without_year,
    ),
    pure(
        "std::datetime::from_unix",
        &[("number", Any), ("unit", String)],
        Integer,
        "Nanoseconds of a number of `s`, `ms`, `us` or `ns` since 1970.",
        &[
            r#"datetime::from_unix(1.5, "s") == 1500000000"#,
            r#"datetime::from_unix(2, "ms") == 2000000"#,
        ],
        |_, arguments| from_unix(value(arguments, 0), text(arguments, 1)?),
    ),
    pure(
        "std::datetime::to_unix",
        &[("datetime", Integer), ("unit", String)],
        Integer,
        "Nanoseconds as a whole number of `s`, `ms`, `us` or `ns` since 1970, rounded down.",
        &[r#"datetime::to_unix(2500000000, "s") == 2"#],
        |_, arguments| {
            let scale = scale(text(arguments, 1)?)?;
            match value(arguments, 0).as_u64() {
                Some(nanos) => Ok(Value::UInt(nanos / scale as u64)),
                None => Ok(Value::Int(signed(arguments, 0)?.div_euclid(scale))),
            }
        },
    ),
];

/// Nanoseconds since 1970; `zone` is that of text without an offset.
fn parse(text: &str, format: &str, zone: Zone) -> Result<i64, CallError> {
    let bad = |why| CallError::failed(format!("`{text}` is no datetime of `{format}`: {why}"));
    if let Some(nanos) = fixed::read(text, format).and_then(|written| nanos_of(written, zone)) {
        return Ok(nanos);
    }
    let nanos = if has_offset(format) {
        let zulu = || DateTime::parse_from_str(text, &with_zulu(format));
        let read = DateTime::parse_from_str(text, format);
        let read =
            if text.contains('Z') { read.or_else(|error| zulu().map_err(|_| error)) } else { read };
        read.map_err(bad)?.timestamp_nanos_opt()
    } else {
        let local = NaiveDateTime::parse_from_str(text, format).map_err(bad)?;
        local_nanos(zone, &local)
    };
    nanos.ok_or_else(|| CallError::failed(format!("the datetime `{text}` is out of range")))
}

/// `None` when that is out of range.
fn nanos_of(written: fixed::Written, zone: Zone) -> Option<i64> {
    let Some(offset) = written.offset_seconds else { return local_nanos(zone, &written.local) };
    let shift = offset.checked_mul(super::NANOS_PER_SECOND as i64)?;
    written.local.and_utc().timestamp_nanos_opt()?.checked_sub(shift)
}

/// The earlier of two moments where clocks were set back.
fn local_nanos(zone: Zone, local: &NaiveDateTime) -> Option<i64> {
    if zone.is_utc() {
        return local.and_utc().timestamp_nanos_opt();
    }
    zone.from_local_datetime(local).earliest()?.timestamp_nanos_opt()
}

/// A format whose offsets may be written `Z`.
fn with_zulu(format: &str) -> std::string::String {
    format.replace("%:z", "%#z").replace("%z", "%#z")
}

/// Whether a format has a specifier for the offset from UTC.
fn has_offset(format: &str) -> bool {
    let mut characters = format.chars();
    while let Some(character) = characters.next() {
        if character != '%' {
            continue;
        }
        match characters.next() {
            Some('+' | 'z' | 'Z') => return true,
            Some(':' | '#') if characters.next() == Some('z') => return true,
            _ => {}
        }
    }
    false
}

fn nanoseconds<'a>(nanos: i64) -> Value<'a> {
    u64::try_from(nanos).map_or(Value::Int(nanos), Value::UInt)
}

fn parse_any<'a>(call: &Call<'a>, arguments: &[Value<'a>]) -> Outcome<'a> {
    let text = text(arguments, 0)?;
    let zone = Zone::named(text_or(arguments, 2, "UTC")?)?;
    for format in items(call, arguments, 1)? {
        let parsed = match format.as_str().ok_or(CallError::BadType)? {
            "UNIX" => unix_text(text, "s"),
            "UNIX_MS" => unix_text(text, "ms"),
            "ISO8601" => parse(text, "%+", zone).ok().map(nanoseconds),
            format => parse(text, format, zone).ok().map(nanoseconds),
        };
        if let Some(found) = parsed {
            return Ok(found);
        }
    }
    Ok(Value::Null)
}

fn unix_text<'a>(text: &str, unit: &str) -> Option<Value<'a>> {
    let whole = text.parse().map(Value::Int);
    let number = whole.or_else(|_| text.parse().map(Value::Float)).ok()?;
    from_unix(number, unit).ok()
}

fn parse_without_year<'a>(_: &Call<'a>, arguments: &[Value<'a>]) -> Outcome<'a> {
    let (text, format) = (text(arguments, 0)?, text(arguments, 1)?);
    let (zone, near) = (Zone::read(value(arguments, 2))?, unsigned(arguments, 3)?);
    let year = zone.at_nanos(near)?.year();
    let near = i128::from(near);
    let dated = format!("%Y {format}");
    (year - 1..=year + 1)
        .filter_map(|year| parse(&format!("{year} {text}"), &dated, zone).ok())
        .min_by_key(|nanos| (i128::from(*nanos) - near).abs())
        .map(nanoseconds)
        .ok_or_else(|| CallError::failed(format!("`{text}` is no datetime of `{format}`")))
}

/// Nanoseconds in one unit.
fn scale(unit: &str) -> Result<i64, CallError> {
    match unit {
        "s" => Ok(1_000_000_000),
        "ms" => Ok(1_000_000),
        "us" => Ok(1_000),
        "ns" => Ok(1),
        _ => Err(CallError::failed(format!("`{unit}` is none of the units s, ms, us, ns"))),
    }
}

fn from_unix<'a>(number: Value<'_>, unit: &str) -> Outcome<'a> {
    let scale = scale(unit)?;
    let nanos = match number {
        Value::Float(number) => {
            let nanos = (number * scale as f64).round();
            (nanos.abs() < i64::MAX as f64).then_some(nanos as i64)
        }
        _ => number.as_i64().ok_or(CallError::BadType)?.checked_mul(scale),
    };
    nanos.map(nanoseconds).ok_or_else(|| CallError::failed("the time is out of range"))
}
