//! Times as Logstash reads and writes them: patterns of Joda-Time and of java.time, ISO 8601, and
//! seconds since 1970. Nothing here reads a clock.

mod casual;
mod fields;
mod format;
mod iso;
mod locale;
mod parse;
mod written;

pub use casual::parse_casual;
pub use format::{Dialect, Format};
pub use iso::parse_iso8601;
pub use locale::Locale;
pub(crate) use written::Written;
pub use written::iso8601;

use chrono::offset::LocalResult;
use chrono::{DateTime, FixedOffset, NaiveDateTime, TimeZone, Utc};
use chrono_tz::Tz;

/// The time zone of strings that name none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Zone {
    /// `Europe/Berlin`
    Named(Tz),
    /// `+02:00`
    Fixed(FixedOffset),
}

impl Zone {
    /// Universal time.
    pub const UTC: Zone = Zone::Named(Tz::UTC);

    /// The zone of an IANA name, an abbreviation that Joda-Time knows, or an offset.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        if name == "Z" || name == "UTC" {
            return Some(Self::UTC);
        }
        if let Ok(zone) = name.parse() {
            return Some(Zone::Named(zone));
        }
        let (offset, rest) = offset(name)?;
        rest.is_empty().then_some(Zone::Fixed(offset))
    }

    /// The local time of a moment.
    #[must_use]
    pub fn local(self, time: DateTime<Utc>) -> NaiveDateTime {
        match self {
            Zone::Named(zone) => time.with_timezone(&zone).naive_local(),
            Zone::Fixed(offset) => time.with_timezone(&offset).naive_local(),
        }
    }

    /// The moment of a local time: `None` in the gap where clocks are put forward, the earlier of two where they are put
    /// back.
    #[must_use]
    pub fn moment(self, local: NaiveDateTime) -> Option<DateTime<Utc>> {
        fn utc<Z: TimeZone>(found: LocalResult<DateTime<Z>>) -> Option<DateTime<Utc>> {
            found.earliest().map(|time| time.with_timezone(&Utc))
        }
        match self {
            Zone::Named(Tz::UTC) => Some(local.and_utc()),
            Zone::Named(zone) => utc(zone.from_local_datetime(&local)),
            Zone::Fixed(offset) => utc(offset.from_local_datetime(&local)),
        }
    }
}

/// The offset at the beginning of `text` (`Z`, `+01`, `+0100`, `+01:00`), and the rest of the text.
pub(super) fn offset(text: &str) -> Option<(FixedOffset, &str)> {
    if let Some(rest) = text.strip_prefix(['Z', 'z']) {
        return Some((FixedOffset::east_opt(0)?, rest));
    }
    let sign = if text.starts_with('-') { -1 } else { 1 };
    let rest = text.strip_prefix(['+', '-'])?;
    let (hours, rest) = digits(rest, 2)?;
    let after_colon = rest.strip_prefix(':').unwrap_or(rest);
    let (minutes, rest) = digits(after_colon, 2).unwrap_or((0, rest));
    let seconds = digits(rest.strip_prefix(':').unwrap_or(""), 2);
    let (seconds, rest) = seconds.unwrap_or((0, rest));
    let total = (hours * 60 + minutes) * 60 + seconds;
    Some((FixedOffset::east_opt(sign * i32::try_from(total).ok()?)?, rest))
}

/// Exactly `count` digits as a number, and the rest of the text.
pub(super) fn digits(text: &str, count: usize) -> Option<(i64, &str)> {
    let head = text.get(..count)?;
    if !head.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some((head.parse().ok()?, &text[count..]))
}

#[cfg(test)]
mod tests;
