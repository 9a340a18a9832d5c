//! Times of RFC 3339, `2021-11-05T10:11:12.345+01:00`, as nanoseconds since 1970-01-01 UTC.

use chrono::{DateTime, NaiveDate};

/// Reads a time; nothing where the text is none, or one that nanoseconds in 64 bits do not reach.
#[must_use]
pub fn parse(text: &str) -> Option<i64> {
    common(text.as_bytes())
        .or_else(|| DateTime::parse_from_rfc3339(text).ok()?.timestamp_nanos_opt())
}

/// A time as text, in UTC.
#[must_use]
pub fn text(time_ns: i64) -> String {
    let time = DateTime::from_timestamp_nanos(time_ns);
    time.to_rfc3339_opts(chrono::SecondsFormat::AutoSi, true)
}

/// The common case, `2021-11-05T10:11:12.345Z`, some ten times as fast as a general parser.
fn common(text: &[u8]) -> Option<i64> {
    let (date, rest) = text.split_first_chunk::<19>()?;
    let shape = |at: usize, byte: u8| date[at] == byte;
    if !(shape(4, b'-') && shape(7, b'-') && shape(10, b'T') && shape(13, b':') && shape(16, b':'))
    {
        return None;
    }
    let [year, month, day] = [digits(&date[..4])?, digits(&date[5..7])?, digits(&date[8..10])?];
    let time = [digits(&date[11..13])?, digits(&date[14..16])?, digits(&date[17..])?];
    let rest = rest.strip_suffix(b"Z")?;
    let fraction = match rest.split_first() {
        None => 0,
        Some((b'.', fraction)) if (1..=9).contains(&fraction.len()) => {
            i64::from(digits(fraction)?) * 10_i64.pow(9 - fraction.len() as u32)
        }
        Some(_) => return None,
    };
    let date = NaiveDate::from_ymd_opt(year.cast_signed(), month, day)?;
    let [hour, minute, second] = time;
    let whole = date.and_hms_opt(hour, minute, second)?.and_utc().timestamp_nanos_opt()?;
    whole.checked_add(fraction)
}

fn digits(text: &[u8]) -> Option<u32> {
    text.iter().try_fold(0_u32, |number, byte| {
        byte.is_ascii_digit().then(|| number * 10 + u32::from(byte - b'0'))
    })
}
