//! Timestamps of syslog messages: `Nov  5 10:11:12`, the same with a year after the day, or RFC 3339.
//! All are nanoseconds since 1970-01-01 UTC; without an offset the time is UTC.

use crate::formats::FormatError;
use crate::formats::cursor::Cursor;
use crate::formats::rfc3339;
use chrono::{DateTime, Datelike, NaiveDate};

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// Reads any of the three forms.
pub(super) fn read(cursor: &mut Cursor<'_>, ingest_ns: u64) -> Result<i64, FormatError> {
    let Some(month) = month(cursor.rest()) else {
        return timestamp(cursor).map_err(|error| FormatError {
            expected: "a timestamp, such as 'Nov  5 10:11:12'",
            ..error
        });
    };
    let mut ahead = *cursor;
    let time = without_year(&mut ahead, month, ingest_ns).or_else(|_| {
        ahead = *cursor;
        with_year(&mut ahead, month)
    })?;
    *cursor = ahead;
    Ok(time)
}

/// The number, from 1, of the month whose short name comes first.
fn month(text: &str) -> Option<u32> {
    let name = text.get(..3)?;
    let at = MONTHS.iter().position(|month| month.eq_ignore_ascii_case(name))?;
    Some(at as u32 + 1)
}

/// `Nov  5 10:11:12`. The year is that of `ingest_ns`, or the one before when a message of December
/// arrives in January.
fn without_year(cursor: &mut Cursor<'_>, month: u32, ingest_ns: u64) -> Result<i64, FormatError> {
    let start = *cursor;
    cursor.take(3);
    blank(cursor)?;
    let day = cursor.number("a day of the month")?;
    blank(cursor)?;
    let time = time_of_day(cursor)?;
    let now = DateTime::from_timestamp_nanos(ingest_ns.cast_signed());
    let year = now.year() - i32::from(now.month() == 1 && month == 12);
    instant(year, month, day, time).ok_or_else(|| start.expected("a date that exists"))
}

/// `Nov 5 2021 10:11:12`
fn with_year(cursor: &mut Cursor<'_>, month: u32) -> Result<i64, FormatError> {
    let start = *cursor;
    cursor.take(3);
    blank(cursor)?;
    let day = cursor.number("a day of the month")?;
    blank(cursor)?;
    let year = cursor.number("a time or a year")?;
    blank(cursor)?;
    let time = time_of_day(cursor)?;
    instant(year, month, day, time).ok_or_else(|| start.expected("a date that exists"))
}

fn blank(cursor: &mut Cursor<'_>) -> Result<(), FormatError> {
    if cursor.blanks() { Ok(()) } else { Err(cursor.expected("a blank")) }
}

/// `10:11:12`, with a colon after it or not.
fn time_of_day(cursor: &mut Cursor<'_>) -> Result<[u32; 3], FormatError> {
    let hour = cursor.number("an hour")?;
    cursor.expect(":")?;
    let minute = cursor.number("a minute")?;
    cursor.expect(":")?;
    let second = cursor.number("a second")?;
    cursor.eat(":");
    Ok([hour, minute, second])
}

fn instant(year: i32, month: u32, day: u32, [hour, minute, second]: [u32; 3]) -> Option<i64> {
    let date = NaiveDate::from_ymd_opt(year, month, day)?;
    date.and_hms_opt(hour, minute, second)?.and_utc().timestamp_nanos_opt()
}

/// `2021-11-05T10:11:12.345+01:00`, up to the blank after it.
pub(super) fn timestamp(cursor: &mut Cursor<'_>) -> Result<i64, FormatError> {
    let expected = "a timestamp of RFC 3339, such as 2021-11-05T10:11:12Z";
    let rest = cursor.rest();
    let end = memchr::memchr(b' ', rest.as_bytes()).ok_or_else(|| cursor.expected(expected))?;
    let time = rfc3339::parse(&rest[..end]).ok_or_else(|| cursor.expected(expected))?;
    cursor.take(end);
    Ok(time)
}
