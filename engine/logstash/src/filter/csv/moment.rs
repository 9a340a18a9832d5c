//! Days and moments as the converters of Ruby's `csv` library read them: two shapes with names of months,
//! and ISO 8601. What has another shape is no date.

use chrono::{DateTime, NaiveDate, NaiveTime, Utc};

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// `2001-09-09`, `Sep 9, 2001`, `Sunday, Sep 9 2001`, at midnight.
pub(super) fn day(text: &str) -> Option<DateTime<Utc>> {
    let date = iso_day(text).or_else(|| {
        let words = words(text);
        let (month, day, year) = match words.as_slice() {
            [month, day, year] | [_, month, day, year] => (month, day, year),
            _ => return None,
        };
        named_day(month, day.strip_suffix(',').unwrap_or(day), year)
    })?;
    Some(date.and_time(NaiveTime::MIN).and_utc())
}

/// `Sep 9 01:46:40, 2001`, `2001-09-09 01:46:40`, and ISO 8601 with or without a zone.
pub(super) fn moment(text: &str) -> Option<DateTime<Utc>> {
    if let Some(date) = iso_day(text) {
        return Some(date.and_time(NaiveTime::MIN).and_utc());
    }
    if let Some((date, time)) = text.split_once(' ')
        && let Some(date) = iso_day(date)
    {
        return Some(date.and_time(clock(time)?).and_utc());
    }
    if text.get(10..11) == Some("T") {
        return temblor_logstash_event::timestamp::parse_iso8601(text);
    }
    let words = words(text);
    let (month, day, time, year) = match words.as_slice() {
        [month, day, time, year] | [_, month, day, time, year] => (month, day, time, year),
        _ => return None,
    };
    let time = clock(time.strip_suffix(',').unwrap_or(time))?;
    Some(named_day(month, day, year)?.and_time(time).and_utc())
}

fn words(text: &str) -> Vec<&str> {
    text.split_ascii_whitespace().collect()
}

fn iso_day(text: &str) -> Option<NaiveDate> {
    let shaped = text.len() == 10 && text.as_bytes()[4] == b'-' && text.as_bytes()[7] == b'-';
    if shaped { NaiveDate::parse_from_str(text, "%Y-%m-%d").ok() } else { None }
}

fn named_day(month: &str, day: &str, year: &str) -> Option<NaiveDate> {
    let name = month.get(..3)?.to_ascii_lowercase();
    let month = MONTHS.iter().position(|one| *one == name)? as u32 + 1;
    NaiveDate::from_ymd_opt(full_year(year)?, month, day.parse().ok()?)
}

/// Two digits are a year from 1969 to 2068.
fn full_year(text: &str) -> Option<i32> {
    let year: i32 = text.parse().ok()?;
    Some(match (text.len(), year) {
        (2, 69..) => 1900 + year,
        (2, _) => 2000 + year,
        _ => year,
    })
}

fn clock(text: &str) -> Option<NaiveTime> {
    NaiveTime::parse_from_str(text, "%H:%M:%S").ok()
}
