//! `ISO8601` of the date filter: the general parser of Joda-Time's ISODateTimeFormat (its class comment has the
//! grammar), and four patterns with a blank instead of the `T`.

use super::fields::{Found, Unit};
use super::format::{Dialect, Format};
use super::locale::Locale;
use super::parse::{number, offset, signed};
use super::{Zone, digits};
use chrono::{DateTime, Duration, FixedOffset, NaiveDate, Utc};
use std::sync::OnceLock;

/// The state of parsing one string.
#[derive(Default)]
struct Reading {
    found: Found,
    /// Of an hour, a minute or a second.
    fraction_ms: i64,
    offset: Option<FixedOffset>,
}

/// The moment of a string, to the millisecond. `zone` is the zone of strings that name none.
#[must_use]
pub fn parse_casual(text: &str, zone: Zone) -> Option<DateTime<Utc>> {
    plain(text, zone).or_else(|| general(text, zone)).or_else(|| blank(text, zone))
}

/// The fast path for `2026-05-01T10:20:30.123Z`, which nearly all strings look like.
fn plain(text: &str, zone: Zone) -> Option<DateTime<Utc>> {
    let (year, rest) = digits(text, 4)?;
    let (month, rest) = digits(rest.strip_prefix('-')?, 2)?;
    let (day, rest) = digits(rest.strip_prefix('-')?, 2)?;
    let (hour, rest) = digits(rest.strip_prefix('T')?, 2)?;
    let (minute, rest) = digits(rest.strip_prefix(':')?, 2)?;
    let (second, rest) = digits(rest.strip_prefix(':')?, 2)?;
    let (millis, rest) = match rest.strip_prefix('.') {
        Some(rest) => fraction(rest, 1000)?,
        None => (0, rest),
    };
    let small = |number: i64| u32::try_from(number).ok();
    let date = NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, small(month)?, small(day)?)?;
    let time =
        date.and_hms_milli_opt(small(hour)?, small(minute)?, small(second)?, small(millis)?)?;
    match rest {
        "" => zone.moment(time),
        "Z" => Some(time.and_utc()),
        _ => match offset(rest)? {
            (offset, "") => Zone::Fixed(offset).moment(time),
            _ => None,
        },
    }
}

/// The whole grammar.
fn general(text: &str, zone: Zone) -> Option<DateTime<Utc>> {
    let mut reading = Reading::default();
    let rest = match tee(text) {
        Some(rest) => {
            let after = reading_time(&mut reading, rest)?;
            reading.zone_after(after)
        }
        None => {
            let rest = date(&mut reading, text)?;
            match tee(rest) {
                None => rest,
                Some(rest) => {
                    let after = reading_time(&mut reading, rest).unwrap_or(rest);
                    reading.zone_after(after)
                }
            }
        }
    };
    if !rest.is_empty() {
        return None;
    }
    let zone = reading.offset.map_or(zone, Zone::Fixed);
    // A date always says its year.
    let time = reading.found.time(|| 1970)? + Duration::milliseconds(reading.fraction_ms);
    zone.moment(time)
}

fn tee(text: &str) -> Option<&str> {
    text.strip_prefix(['T', 't'])
}

impl Reading {
    /// Parses an offset, if there is one; returns the rest of the text.
    fn zone_after<'t>(&mut self, text: &'t str) -> &'t str {
        match offset(text) {
            Some((offset, rest)) => {
                self.offset = Some(offset);
                rest
            }
            None => text,
        }
    }
}

/// `2026-05-01`, `2026-121`, `2026-W18-5`: the alternative that consumes most.
fn date<'t>(reading: &mut Reading, text: &'t str) -> Option<&'t str> {
    /// The most digits of a year.
    const YEAR_DIGITS_MAX: usize = 9;
    let (year, _, _, rest) = signed(text, YEAR_DIGITS_MAX)?;
    let week = rest.strip_prefix("-W").or_else(|| rest.strip_prefix("-w"));
    if let Some((week, _, after)) = week.and_then(|rest| number(rest, 2)) {
        reading.found.push(Unit::WeekYear, year);
        reading.found.push(Unit::Week, week);
        let day = after.strip_prefix('-').and_then(|rest| number(rest, 1));
        let Some((day, _, after)) = day else { return Some(after) };
        reading.found.push(Unit::Weekday, day);
        return Some(after);
    }
    reading.found.push(Unit::Year, year);
    let Some(dashed) = rest.strip_prefix('-') else { return Some(rest) };
    if let Some((day, 3, after)) = number(dashed, 3) {
        reading.found.push(Unit::DayOfYear, day);
        return Some(after);
    }
    let Some((month, _, after)) = number(dashed, 2) else { return Some(rest) };
    reading.found.push(Unit::Month, month);
    let day = after.strip_prefix('-').and_then(|rest| number(rest, 2));
    let Some((day, _, after)) = day else { return Some(after) };
    reading.found.push(Unit::Day, day);
    Some(after)
}

/// `10`, `10:20`, `10:20:30`, each with an optional fraction; returns the rest of the text.
fn reading_time<'t>(reading: &mut Reading, text: &'t str) -> Option<&'t str> {
    let (hour, _, mut rest) = number(text, 2)?;
    reading.found.push(Unit::Hour, hour);
    let mut part_ms = 3_600_000;
    for (unit, size) in [(Unit::Minute, 60_000), (Unit::Second, 1000)] {
        let next = rest.strip_prefix(':').and_then(|rest| number(rest, 2));
        let Some((value, _, after)) = next else { break };
        reading.found.push(unit, value);
        (part_ms, rest) = (size, after);
    }
    if let Some((millis, after)) =
        rest.strip_prefix(['.', ',']).and_then(|rest| fraction(rest, part_ms))
    {
        reading.fraction_ms = millis;
        rest = after;
    }
    Some(rest)
}

/// A fraction of a unit of `part_ms` milliseconds: one to nine decimals.
fn fraction(text: &str, part_ms: i64) -> Option<(i64, &str)> {
    /// The most decimals that count: nanoseconds.
    const DIGITS_MAX: usize = 9;
    let length = text.bytes().take(DIGITS_MAX).take_while(u8::is_ascii_digit).count();
    let digits: i64 = text[..length].parse().ok()?;
    Some((digits * part_ms / 10_i64.pow(length as u32), &text[length..]))
}

/// `2026-05-01 10:20:30.123+0100`
fn blank(text: &str, zone: Zone) -> Option<DateTime<Utc>> {
    static FORMATS: OnceLock<Vec<Format>> = OnceLock::new();
    let formats = FORMATS.get_or_init(|| {
        let patterns = ["SSSZ", "SSS"].map(|end| ['.', ','].map(|point| (point, end)));
        let format = |(point, end)| {
            let pattern = format!("yyyy-MM-dd HH:mm:ss{point}{end}");
            Format::parse(&pattern, Dialect::Joda).expect("it is a pattern")
        };
        patterns.into_iter().flatten().map(format).collect()
    });
    // The time of reading counts only for texts without a year.
    let now = DateTime::<Utc>::UNIX_EPOCH;
    formats.iter().find_map(|format| format.read(text, zone, Locale::english(), now))
}
