//! Where the clocks of a stream stand: a fixed distance from UTC, or a place with its daylight saving.
//!
//! Invariant: a zone is given to whoever needs it; only [`Zone::local`] asks the machine.

use chrono::{DateTime, NaiveDateTime, Offset, TimeZone};
use chrono_tz::{OffsetName, Tz};
use temblor_runtime::clock::Timestamp;

const NS: i64 = 1_000_000_000;

/// The most that clocks anywhere differ from UTC.
const EAST_S_MAX: i64 = 15 * 3_600;

/// A zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Zone {
    /// So many seconds east of Greenwich.
    Fixed(i64),
    /// A place of the IANA database.
    Place(Tz),
}

impl Default for Zone {
    fn default() -> Self {
        Zone::UTC
    }
}

impl Zone {
    /// Coordinated universal time.
    pub(crate) const UTC: Zone = Zone::Fixed(0);

    /// Reads `local`, `UTC`, `0000`, `+0530`, `-0800`, `Europe/Berlin`.
    ///
    /// # Errors
    /// Says what zones look like.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text.contains("local") {
            return Ok(Zone::local());
        }
        if text == "UTC" || text == "Z" {
            return Ok(Zone::UTC);
        }
        if let Some(place) = text.contains('/').then(|| text.parse().ok()).flatten() {
            return Ok(Zone::Place(place));
        }
        let (sign, digits) = match text.strip_prefix('-') {
            Some(digits) => (-1, digits),
            None => (1, text.strip_prefix('+').unwrap_or(text)),
        };
        let is_number = !digits.is_empty() && digits.len() <= 4;
        let number = digits.parse::<i64>().ok().filter(|number| is_number && *number >= 0);
        let seconds = number.map(|number| number / 100 * 3_600 + number % 100 * 60);
        match seconds.filter(|seconds| *seconds < EAST_S_MAX && digits_fit(digits)) {
            Some(seconds) => Ok(Zone::Fixed(sign * seconds)),
            None => {
                Err(format!("`{text}` is neither `local` nor a distance from UTC such as +0530"))
            }
        }
    }

    /// The zone of the machine: `TZ`, else what `/etc/localtime` leads to, else UTC.
    #[must_use]
    pub(crate) fn local() -> Self {
        let named = std::env::var("TZ").ok().filter(|name| !name.is_empty());
        let linked = || {
            let target = std::fs::read_link("/etc/localtime").ok()?;
            let target = target.to_string_lossy().into_owned();
            Some(target.split_once("zoneinfo/")?.1.to_string())
        };
        let name = named.or_else(linked).unwrap_or_default();
        name.trim_start_matches(':').parse().map_or(Zone::UTC, Zone::Place)
    }

    /// How far the clocks are ahead of UTC at a time, in seconds.
    #[must_use]
    pub(crate) fn east(&self, time: Timestamp) -> i64 {
        match self {
            Zone::Fixed(seconds) => *seconds,
            Zone::Place(place) => {
                let utc = DateTime::from_timestamp_nanos(time.cast_signed()).naive_utc();
                i64::from(place.offset_from_utc_datetime(&utc).fix().local_minus_utc())
            }
        }
    }

    /// What the clocks show at a time, as nanoseconds since their own 1970.
    #[must_use]
    pub(crate) fn shown(&self, time: Timestamp) -> Timestamp {
        time.saturating_add_signed(self.east(time).saturating_mul(NS))
    }

    /// What calendar and clock show at a time.
    #[must_use]
    pub(crate) fn civil(&self, time: Timestamp) -> NaiveDateTime {
        DateTime::from_timestamp_nanos(self.shown(time).cast_signed()).naive_utc()
    }

    /// The time at which calendar and clock show this: the earlier one of an hour that comes twice; an
    /// hour that is left out counts as it would have without the change.
    #[must_use]
    pub(crate) fn instant(&self, civil: NaiveDateTime) -> i64 {
        let shown = civil.and_utc().timestamp_nanos_opt().unwrap_or(0);
        let east = match self {
            Zone::Fixed(seconds) => *seconds,
            Zone::Place(place) => match place.offset_from_local_datetime(&civil).earliest() {
                Some(offset) => i64::from(offset.fix().local_minus_utc()),
                None => self.east(u64::try_from(shown - 7_200 * NS).unwrap_or(0)),
            },
        };
        shown.saturating_sub(east.saturating_mul(NS))
    }

    /// `CEST` and the like, where the zone has such a name at that time.
    #[must_use]
    pub(crate) fn abbreviation(&self, time: Timestamp) -> Option<String> {
        match self {
            Zone::Fixed(0) => Some("UTC".to_string()),
            Zone::Fixed(_) => None,
            Zone::Place(place) => {
                let utc = DateTime::from_timestamp_nanos(time.cast_signed()).naive_utc();
                place.offset_from_utc_datetime(&utc).abbreviation().map(str::to_string)
            }
        }
    }
}

fn digits_fit(digits: &str) -> bool {
    digits.bytes().all(|byte| byte.is_ascii_digit())
        && digits.parse::<u32>().is_ok_and(|number| number % 100 < 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_are_read() {
        let zone = |text: &str| Zone::parse(text).unwrap();
        assert_eq!(
            [zone("0000"), zone("+0530"), zone("-0100"), zone("0"), zone("530")],
            [0, 19_800, -3_600, 0, 19_800].map(Zone::Fixed)
        );
        for bad in ["", "CET", "+9900", "0160", "Europe/Nowhere"] {
            assert!(Zone::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn summers_have_an_hour_more() {
        let berlin = Zone::parse("Europe/Berlin").unwrap();
        // 2026-03-29T00:59:59Z is the last second of winter time.
        let change = 1_774_746_000_000_000_000;
        assert_eq!([berlin.east(change - 1), berlin.east(change)], [3_600, 7_200]);
        assert_eq!(berlin.abbreviation(change).as_deref(), Some("CEST"));
        let civil = berlin.civil(change);
        assert_eq!(civil.to_string(), "2026-03-29 03:00:00");
        assert_eq!(berlin.instant(civil), change.cast_signed());
    }
}
