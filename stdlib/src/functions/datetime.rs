//! `std::datetime`: points in time are nanoseconds since 1970-01-01 UTC, alone or in a record
//! with a zone. Formats are those of chrono's strftime. No function reads the clock.

mod fixed;
mod parse;
mod zone;

use crate::declare::{Outcome, Params, finish, integer, pure, text, text_in, value};
use chrono::{DateTime, Datelike, TimeZone, Timelike};
use std::fmt::Write;
use temblor_lang::builtin::{Call, CallError, Function};
use temblor_lang::value::Kind::{Any, Integer, Record, String};
use temblor_lang::value::{Kind, Value};
use zone::Zone;

pub(super) use parse::FUNCTIONS as PARSE_FUNCTIONS;

const NANOS_PER_SECOND: u64 = 1_000_000_000;
const DATETIME: Params = &[("datetime", Kind::Any)];

/// The functions of this module that format and take apart.
pub(super) static FUNCTIONS: &[Function] = &[
    pure(
        "std::datetime::format",
        &[("datetime", Any), ("format", String)],
        String,
        "The datetime as text in its zone, by a strftime format such as `%Y-%m-%d %H:%M:%S`.",
        &[r#"datetime::format(0, "%Y-%m-%dT%H:%M:%S") == "1970-01-01T00:00:00""#],
        |call, arguments| {
            let (time, format) = (read(call, arguments)?, text(arguments, 1)?);
            written(call, format_args!("{}", time.format(format)))
        },
    ),
    pure(
        "std::datetime::rfc3339",
        DATETIME,
        String,
        "The datetime as RFC 3339 says.",
        &[r#"datetime::rfc3339(0) == "1970-01-01T00:00:00+00:00""#],
        |call, arguments| Ok(Value::Str(call.arena.str(&read(call, arguments)?.to_rfc3339()))),
    ),
    pure(
        "std::datetime::rfc2822",
        DATETIME,
        String,
        "The datetime as RFC 2822 says.",
        &[r#"datetime::rfc2822(0) == "Thu, 1 Jan 1970 00:00:00 +0000""#],
        |call, arguments| {
            let time = read(call, arguments)?;
            if !(0..=9999).contains(&time.year()) {
                return Err(CallError::failed("RFC 2822 has no years beyond 9999"));
            }
            Ok(Value::Str(call.arena.str(&time.to_rfc2822())))
        },
    ),
    pure(
        "std::datetime::with_timezone",
        &[("datetime", Any), ("zone", Any)],
        Record,
        "The same point in time with a zone: a constant of `datetime::timezones`, an IANA name \
         or an offset such as `+02:00`.",
        &[
            r#"datetime::with_timezone(0, "Europe/Berlin") == {"timestamp": 0, "tz": "Europe/Berlin"}"#,
        ],
        with_timezone,
    ),
    pure(
        "std::datetime::year",
        DATETIME,
        Integer,
        "The year.",
        &["datetime::year(0) == 1970"],
        |call, arguments| Ok(Value::Int(i64::from(read(call, arguments)?.year()))),
    ),
    pure(
        "std::datetime::month",
        DATETIME,
        Integer,
        "The month, from 1 to 12.",
        &["datetime::month(0) == 1"],
        |call, arguments| field(call, arguments, |time| time.month()),
    ),
    pure(
        "std::datetime::iso_week",
        DATETIME,
        Integer,
        "The week of the year as ISO 8601 counts them, from 1 to 53.",
        &["datetime::iso_week(0) == 1"],
        |call, arguments| field(call, arguments, |time| time.iso_week().week()),
    ),
    pure(
        "std::datetime::day_of_month",
        DATETIME,
        Integer,
        "The day of the month, from 1 to 31.",
        &["datetime::day_of_month(0) == 1"],
        |call, arguments| field(call, arguments, |time| time.day()),
    ),
    pure(
        "std::datetime::day_of_year",
        DATETIME,
        Integer,
        "The day of the year, from 1 to 366.",
        &["datetime::day_of_year(86400000000000) == 2"],
        |call, arguments| field(call, arguments, |time| time.ordinal()),
    ),
    pure(
        "std::datetime::weekday",
        DATETIME,
        Integer,
        "The day of the week, from 1 (Monday) to 7 (Sunday).",
        &["datetime::weekday(0) == 4"],
        |call, arguments| field(call, arguments, |time| time.weekday().number_from_monday()),
    ),
    pure(
        "std::datetime::hour",
        DATETIME,
        Integer,
        "The hour of the day, from 0 to 23.",
        &[r#"datetime::hour(datetime::with_timezone(0, "Europe/Berlin")) == 1"#],
        |call, arguments| field(call, arguments, |time| time.hour()),
    ),
    pure(
        "std::datetime::minute",
        DATETIME,
        Integer,
        "The minute of the hour, from 0 to 59.",
        &["datetime::minute(60000000000) == 1"],
        |call, arguments| field(call, arguments, |time| time.minute()),
    ),
    pure(
        "std::datetime::second",
        DATETIME,
        Integer,
        "The second of the minute, from 0 to 59.",
        &["datetime::second(1000000000) == 1"],
        |call, arguments| field(call, arguments, |time| time.second()),
    ),
    pure(
        "std::datetime::subsecond_millis",
        DATETIME,
        Integer,
        "The whole milliseconds since the last full second.",
        &["datetime::subsecond_millis(1002003004) == 2"],
        |call, arguments| field(call, arguments, |time| time.timestamp_subsec_millis()),
    ),
    pure(
        "std::datetime::subsecond_micros",
        DATETIME,
        Integer,
        "The whole microseconds since the last full second.",
        &["datetime::subsecond_micros(1002003004) == 2003"],
        |call, arguments| field(call, arguments, |time| time.timestamp_subsec_micros()),
    ),
    pure(
        "std::datetime::subsecond_nanos",
        DATETIME,
        Integer,
        "The nanoseconds since the last full second.",
        &["datetime::subsecond_nanos(1002003004) == 2003004"],
        |call, arguments| field(call, arguments, |time| time.timestamp_subsec_nanos()),
    ),
    pure(
        "std::datetime::start_of",
        &[("datetime", Any), ("unit", String)],
        Integer,
        "When the `second`, `minute`, `hour`, `day`, `week` (from Monday), `month` or `year` of \
         the datetime began in its zone, in nanoseconds.",
        &[
            r#"datetime::start_of(90061000000000, "day") == 86400000000000"#,
            r#"datetime::start_of(90061000000000, "year") == 0"#,
        ],
        start_of,
    ),
];

/// The datetime that the first argument stands for, in its zone.
fn read<'a>(call: &Call<'a>, arguments: &[Value<'a>]) -> Result<DateTime<Zone>, CallError> {
    let given = value(arguments, 0);
    if let Some(nanos) = given.as_u64() {
        return Zone::UTC.at_nanos(nanos);
    }
    let Some(record) = given.as_record(call.arena) else {
        return Err(CallError::failed(format!(
            "a datetime is nanoseconds or a record, not {}",
            given.kind().name()
        )));
    };
    let nanos = timestamp(record.get("timestamp"))?;
    let zone = record.get("tz").map_or(Ok(Zone::UTC), Zone::read)?;
    zone.at_nanos(nanos)
}

fn timestamp(field: Option<Value<'_>>) -> Result<u64, CallError> {
    field.and_then(Value::as_u64).ok_or_else(|| {
        CallError::failed("the field `timestamp` of the datetime is missing or no nanoseconds")
    })
}

fn field<'a>(
    call: &Call<'a>,
    arguments: &[Value<'a>],
    get: fn(&DateTime<Zone>) -> u32,
) -> Outcome<'a> {
    Ok(integer(get(&read(call, arguments)?) as usize))
}

/// Formatting fails, rather than panics, when the format has an unknown specifier.
fn written<'a>(call: &Call<'a>, formatted: std::fmt::Arguments<'_>) -> Outcome<'a> {
    let mut result = text_in(call.arena, 0);
    result
        .write_fmt(formatted)
        .map_err(|_| CallError::failed("the format has an unknown specifier after `%`"))?;
    Ok(finish(result))
}

fn with_timezone<'a>(call: &Call<'a>, arguments: &[Value<'a>]) -> Outcome<'a> {
    let (given, zone) = (value(arguments, 0), value(arguments, 1));
    Zone::read(zone)?;
    let nanos = match (given.as_u64(), given.as_record(call.arena)) {
        (Some(nanos), _) => nanos,
        (None, Some(record)) => timestamp(record.get("timestamp"))?,
        (None, None) => return Err(CallError::BadType),
    };
    let mut record = call.arena.record_builder(2);
    record.insert("timestamp", Value::UInt(nanos));
    record.insert("tz", zone);
    Ok(record.finish())
}

fn start_of<'a>(call: &Call<'a>, arguments: &[Value<'a>]) -> Outcome<'a> {
    let time = read(call, arguments)?;
    let date = time.date_naive();
    let first = |month| chrono::NaiveDate::from_ymd_opt(date.year(), month, 1);
    let (date, hour, minute, second) = match text(arguments, 1)? {
        "second" => (Some(date), time.hour(), time.minute(), time.second()),
        "minute" => (Some(date), time.hour(), time.minute(), 0),
        "hour" => (Some(date), time.hour(), 0, 0),
        "day" => (Some(date), 0, 0, 0),
        "week" => {
            let days = chrono::Days::new(u64::from(date.weekday().num_days_from_monday()));
            (date.checked_sub_days(days), 0, 0, 0)
        }
        "month" => (first(date.month()), 0, 0, 0),
        "year" => (first(1), 0, 0, 0),
        other => return Err(CallError::failed(format!("`{other}` is no unit of the calendar"))),
    };
    // A clock that is set forward at midnight has no such local time: the day begins later.
    date.and_then(|date| date.and_hms_opt(hour, minute, second))
        .and_then(|local| time.timezone().from_local_datetime(&local).earliest())
        .and_then(|start| start.timestamp_nanos_opt())
        .map(|nanos| u64::try_from(nanos).map_or(Value::Int(nanos), Value::UInt))
        .ok_or_else(|| CallError::failed("that moment does not exist in the zone"))
}
