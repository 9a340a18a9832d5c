//! ISO 8601 as loosely as Logstash parses it: parts at the end may be missing, and a blank may replace the `T` and a
//! comma the decimal point.

use super::{Zone, digits, offset};
use chrono::{DateTime, NaiveDate, NaiveTime, Utc, Weekday};

/// The moment of a string; one without a zone is in UTC.
#[must_use]
pub fn parse_iso8601(text: &str) -> Option<DateTime<Utc>> {
    let zone = Zone::UTC;
    let (date, rest) = date(text)?;
    let Some(rest) = rest.strip_prefix(['T', 't', ' ']) else {
        return rest.is_empty().then(|| zone.moment(date.and_time(NaiveTime::MIN)))?;
    };
    let (time, rest) = time(rest)?;
    let local = date.and_time(time);
    // A blank before the offset is wrong but common.
    let rest = if text.contains(' ') { rest.trim_start() } else { rest };
    if rest.is_empty() {
        return zone.moment(local);
    }
    let (offset, rest) = offset(rest)?;
    if rest.is_empty() { Zone::Fixed(offset).moment(local) } else { None }
}

/// `2026`, `2026-05`, `2026-05-01`, `2026-121`, `2026-W18-5`
fn date(text: &str) -> Option<(NaiveDate, &str)> {
    let negative = text.starts_with('-');
    let (year, rest) = digits(text.strip_prefix('-').unwrap_or(text), 4)?;
    let year = i32::try_from(year).ok()? * if negative { -1 } else { 1 };
    let first = NaiveDate::from_ymd_opt(year, 1, 1)?;
    let Some(rest) = rest.strip_prefix('-') else { return Some((first, rest)) };
    if let Some(rest) = rest.strip_prefix('W') {
        let (week, rest) = digits(rest, 2)?;
        let day = rest.strip_prefix('-').and_then(|rest| digits(rest, 1));
        let (day, rest) = day.unwrap_or((1, rest));
        let weekday = Weekday::try_from(u8::try_from(day - 1).ok()?).ok()?;
        return Some((NaiveDate::from_isoywd_opt(year, u32::try_from(week).ok()?, weekday)?, rest));
    }
    if let Some((day, after)) = digits(rest, 3)
        && !after.starts_with(|next: char| next.is_ascii_digit())
    {
        return Some((NaiveDate::from_yo_opt(year, u32::try_from(day).ok()?)?, after));
    }
    let (month, rest) = one_or_two(rest)?;
    let day = rest.strip_prefix('-').and_then(one_or_two);
    let (day, rest) = day.unwrap_or((1, rest));
    Some((NaiveDate::from_ymd_opt(year, month, day)?, rest))
}

fn one_or_two(text: &str) -> Option<(u32, &str)> {
    let (number, rest) = digits(text, 2).or_else(|| digits(text, 1))?;
    Some((u32::try_from(number).ok()?, rest))
}

/// `10`, `10:20`, `10:20:30`, `10:20:30.123456`
fn time(text: &str) -> Option<(NaiveTime, &str)> {
    let (hour, rest) = one_or_two(text)?;
    let minute = rest.strip_prefix(':').and_then(one_or_two);
    let (minute, rest) = minute.unwrap_or((0, rest));
    let second = rest.strip_prefix(':').and_then(one_or_two);
    let (second, rest) = second.unwrap_or((0, rest));
    let (nanos, rest) = match rest.strip_prefix(['.', ',']) {
        Some(rest) => {
            let length = rest.bytes().take_while(u8::is_ascii_digit).count();
            if length == 0 {
                return None;
            }
            let digits = rest[..length].bytes().chain(std::iter::repeat(b'0')).take(9);
            let nanos = digits.fold(0, |nanos, digit| nanos * 10 + u32::from(digit - b'0'));
            (nanos, &rest[length..])
        }
        None => (0, rest),
    };
    Some((NaiveTime::from_hms_nano_opt(hour, minute, second, nanos)?, rest))
}
