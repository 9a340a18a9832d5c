//! Parses dates and times as people write them: `Time.parse`, `Date.parse` and `DateTime.parse`.
//! The time of day is extracted first, then the date is searched in the rest, as Ruby does.

use super::{Answer, Stop};
use crate::value::{Clock, Value};
use chrono::{DateTime, Datelike, Duration, FixedOffset, NaiveDate, NaiveTime, Utc};
use regex::Regex;
use std::sync::LazyLock;

/// Longer texts are refused, as Ruby does.
const TEXT_MAX: usize = 128;
/// Two digits of a year from here on are of the last century.
const LAST_CENTURY_FROM: i32 = 69;

static CLOCK: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"(?i)(?:^|[^\d:])(\d{1,2})(?::(\d{2})(?::(\d{2})(?:[.,](\d+))?)?\s*([ap]\.?m\.?\b)?|\s*([ap]\.?m\.?)\b)",
        r"\s*(z\b|[+-]\d{1,2}(?::?\d{2})?|(?:gmt|utc)(?:[+-]\d{1,2}(?::?\d{2})?)?|[a-z]{3,4}\b)?"
    ))
});
static ISO: LazyLock<Regex> = LazyLock::new(|| pattern(r"('?-?\d{2,})-(\d{1,2})-(\d{1,2})"));
static DAY_FIRST: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(\d{1,2})(?:st|nd|rd|th)?[\s\-/.]*(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?(?:[\s\-/.,']*(-?\d+))?",
    )
});
static MONTH_FIRST: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?[\s\-/.]*(\d{1,2})\b(?:st|nd|rd|th)?(?:[\s\-/.,']*(-?\d+))?",
    )
});
static PARTED: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b(\d+)[/.](\d+)(?:[/.](\d+))?"));
static ORDINAL: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b(\d{4})-(\d{3})\b"));
static WEEK: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i)\b(\d{4})-?w(\d{2})(?:-?(\d))?\b"));
static DIGITS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?i)\b(\d{8})(?:t?(\d{2})(\d{2})(\d{2})?(?:[.,](\d+))?\s*(z|[+-]\d{2}:?\d{2})?)?\b")
});
static ACCESS_LOG: LazyLock<Regex> = LazyLock::new(|| pattern(r"\d{4}:\d{1,2}:\d{2}"));

/// Names of zones, and their minutes east of Greenwich.
const ZONES: &[(&str, i32)] = &[
    ("EST", -300),
    ("EDT", -240),
    ("CST", -360),
    ("CDT", -300),
    ("MST", -420),
    ("MDT", -360),
    ("PST", -480),
    ("PDT", -420),
    ("AKST", -540),
    ("HST", -600),
    ("WET", 0),
    ("WEST", 60),
    ("BST", 60),
    ("CET", 60),
    ("CEST", 120),
    ("MET", 60),
    ("MEST", 120),
    ("EET", 120),
    ("EEST", 180),
    ("MSK", 180),
    ("IST", 330),
    ("JST", 540),
];

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern is one of this file")
}

/// What a text says.
#[derive(Default)]
struct Parts {
    date: Option<NaiveDate>,
    time: Option<NaiveTime>,
    offset: Option<FixedOffset>,
    /// Whether the zone is `Z` or `UTC`, not a number.
    is_utc: bool,
    /// What `24:00` and leap seconds add.
    more: Duration,
}

/// The moment that a text says; what it leaves out is of `now`.
pub(super) fn read(text: &str, now: DateTime<Utc>, class: &str) -> Answer {
    let nothing = || match class {
        "Time" => Stop::raise("ArgumentError", format!("no time information in {text:?}")),
        _ => Stop::raise("Date::Error", "invalid date"),
    };
    if text.len() > TEXT_MAX {
        let message = format!("string length ({}) exceeds the limit {TEXT_MAX}", text.len());
        return Err(Stop::raise("ArgumentError", message));
    }
    // Ruby takes the year of `02/Jan/2020:03:04:05` for the hour.
    if ACCESS_LOG.is_match(text) {
        return Err(nothing());
    }
    let parts = parts(text, now).ok_or_else(nothing)?;
    if parts.date.is_none() && (parts.time.is_none() || class == "Date") {
        return Err(nothing());
    }
    let date = parts.date.unwrap_or(now.date_naive());
    let offset = parts.offset.unwrap_or(Utc.fix_offset());
    let local = date.and_time(parts.time.unwrap_or(NaiveTime::MIN));
    let moment = local.and_local_timezone(offset).single().ok_or_else(nothing)?;
    let clock = if parts.is_utc { Clock::Utc } else { Clock::Time };
    Ok(Value::Time(moment + parts.more, clock))
}

/// UTC as an offset.
trait FixOffset {
    fn fix_offset(&self) -> FixedOffset;
}

impl FixOffset for Utc {
    fn fix_offset(&self) -> FixedOffset {
        FixedOffset::east_opt(0).expect("no offset is in range")
    }
}

fn parts(text: &str, now: DateTime<Utc>) -> Option<Parts> {
    let mut parts = Parts::default();
    let mut rest = text.to_string();
    if let Some(found) = DIGITS.captures(text) {
        digits(&found, &mut parts)?;
        return Some(parts);
    }
    if let Some(found) = CLOCK.captures(text) {
        clock(&found, &mut parts)?;
        let whole = found.get(0)?;
        rest = format!("{} {}", &text[..whole.start()], &text[whole.end()..]);
    }
    parts.date = date(&rest, now)?;
    Some(parts)
}

fn number(found: &regex::Captures<'_>, at: usize) -> Option<i32> {
    found.get(at)?.as_str().parse().ok()
}

/// The time of day; `None` where it is none.
fn clock(found: &regex::Captures<'_>, parts: &mut Parts) -> Option<()> {
    let mut hour = number(found, 1)? as u32;
    let half = found.get(5).or(found.get(6)).map(|half| half.as_str().to_lowercase());
    match half.as_deref().map(|half| half.starts_with('p')) {
        Some(true) if hour < 12 => hour += 12,
        Some(false) if hour == 12 => hour = 0,
        _ => {}
    }
    let (minute, second) = (number(found, 2).unwrap_or(0), number(found, 3).unwrap_or(0));
    let nanos = found.get(4).map_or(0, |digits| nanoseconds(digits.as_str()));
    parts.time = match (hour, minute, second) {
        (24, 0, 0) => {
            parts.more = Duration::days(1);
            Some(NaiveTime::MIN)
        }
        (hour, minute, 60) => {
            parts.more = Duration::seconds(1);
            NaiveTime::from_hms_nano_opt(hour, minute as u32, 59, nanos)
        }
        (hour, minute, second) => {
            NaiveTime::from_hms_nano_opt(hour, minute as u32, second as u32, nanos)
        }
    };
    parts.offset = found.get(7).and_then(|zone| offset(zone.as_str()));
    parts.is_utc = found.get(7).is_some_and(|zone| is_utc(zone.as_str()));
    parts.time.map(|_| ())
}

fn nanoseconds(digits: &str) -> u32 {
    let nine: String = digits.chars().chain("000000000".chars()).take(9).collect();
    nine.parse().unwrap_or(0)
}

fn is_utc(zone: &str) -> bool {
    zone.eq_ignore_ascii_case("z") || zone.eq_ignore_ascii_case("utc")
}

fn offset(zone: &str) -> Option<FixedOffset> {
    let plain = zone.to_uppercase();
    let plain = plain.trim_start_matches("GMT").trim_start_matches("UTC");
    let sign = match plain.chars().next() {
        None => return FixedOffset::east_opt(0),
        Some('+') => 1,
        Some('-') => -1,
        Some('Z') => return FixedOffset::east_opt(0),
        Some(_) => {
            let (_, minutes) = ZONES.iter().find(|(name, _)| *name == plain)?;
            return FixedOffset::east_opt(minutes * 60);
        }
    };
    let digits: String = plain[1..].chars().filter(char::is_ascii_digit).collect();
    let (hours, minutes) = digits.split_at(digits.len().min(2));
    let hours: i32 = hours.parse().ok()?;
    let minutes: i32 = if minutes.is_empty() { 0 } else { minutes.parse().ok()? };
    FixedOffset::east_opt(sign * (hours * 3600 + minutes * 60))
}

/// `20200102T030405Z`
fn digits(found: &regex::Captures<'_>, parts: &mut Parts) -> Option<()> {
    let day = &found[1];
    let part = |from: usize, to: usize| day[from..to].parse::<u32>().ok();
    parts.date = NaiveDate::from_ymd_opt(part(0, 4)? as i32, part(4, 6)?, part(6, 8)?);
    if found.get(2).is_some() {
        let nanos = found.get(5).map_or(0, |digits| nanoseconds(digits.as_str()));
        let of = |at| number(found, at).unwrap_or(0) as u32;
        parts.time = NaiveTime::from_hms_nano_opt(of(2), of(3), of(4), nanos);
        parts.time?;
        parts.offset = found.get(6).and_then(|zone| offset(zone.as_str()));
        parts.is_utc = found.get(6).is_some_and(|zone| is_utc(zone.as_str()));
    }
    parts.date.map(|_| ())
}

/// The year that so many digits mean.
fn year(text: &str) -> Option<i32> {
    let bare = text.trim_start_matches('\'');
    let year: i32 = bare.parse().ok()?;
    let short = bare.trim_start_matches('-').len() <= 2;
    Some(match (short, year) {
        (true, LAST_CENTURY_FROM..) => year + 1900,
        (true, _) => year + 2000,
        (false, year) => year,
    })
}

fn month(name: &str) -> Option<u32> {
    let names =
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let name = name.to_lowercase();
    names.iter().position(|one| *one == name).map(|at| at as u32 + 1)
}

/// The date in a text: outer `None` where there is a wrong one, inner where there is none.
fn date(text: &str, now: DateTime<Utc>) -> Option<Option<NaiveDate>> {
    let of = |year, month, day| NaiveDate::from_ymd_opt(year, month, day).map(Some);
    let this_year = now.year();
    for (pattern, day, name) in [(&DAY_FIRST, 1, 2), (&MONTH_FIRST, 2, 1)] {
        let Some(found) = pattern.captures(text) else { continue };
        let named = found.get(3).map_or(Some(this_year), |text| year(text.as_str()))?;
        return of(named, month(&found[name])?, number(&found, day)? as u32);
    }
    if let Some(found) = WEEK.captures(text) {
        let day = number(&found, 3).unwrap_or(1);
        let weekday = chrono::Weekday::try_from(u8::try_from(day - 1).ok()?).ok()?;
        let week = number(&found, 2)? as u32;
        return NaiveDate::from_isoywd_opt(number(&found, 1)?, week, weekday).map(Some);
    }
    if let Some(found) = ISO.captures(text) {
        return of(year(&found[1])?, number(&found, 2)? as u32, number(&found, 3)? as u32);
    }
    if let Some(found) = ORDINAL.captures(text) {
        return NaiveDate::from_yo_opt(number(&found, 1)?, number(&found, 2)? as u32).map(Some);
    }
    if let Some(found) = PARTED.captures(text) {
        let (one, two) = (&found[1], number(&found, 2)? as u32);
        return match found.get(3).map(|three| three.as_str()) {
            // `2020/1/2`, but `1/2/2020` has the day in front.
            Some(three) if one.len() > 2 || three.len() <= 2 => {
                of(year(one)?, two, three.parse().ok()?)
            }
            Some(three) => of(year(three)?, two, one.parse().ok()?),
            None if one.len() > 2 => of(year(one)?, two, 1),
            None => of(this_year, one.parse().ok()?, two),
        };
    }
    Some(weekday(text, now))
}

/// The day of this week that is named.
fn weekday(text: &str, now: DateTime<Utc>) -> Option<NaiveDate> {
    let names = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
    let text = text.to_lowercase();
    let words = text.split(|c: char| !c.is_ascii_alphabetic()).filter(|word| word.len() >= 3);
    let at =
        words.filter_map(|word| names.iter().position(|name| word.starts_with(name))).next()?;
    let today = now.date_naive();
    let back = Duration::days(i64::from(today.weekday().num_days_from_sunday()));
    Some(today - back + Duration::days(at as i64))
}
