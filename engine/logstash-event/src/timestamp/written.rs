//! Formats times as ISO 8601 in UTC with three, six or nine decimals, as many as are needed.
//!
//! Invariant: the output equals that of chrono, which is slower; a test compares them.

use chrono::{DateTime, Datelike, Timelike, Utc};

/// `2026-01-01T00:00:00.000000000Z`
const TEXT_BYTES: usize = 30;
/// chrono represents a leap second by more nanoseconds than this.
const SECOND_NS: u32 = 1_000_000_000;

/// A formatted time, usually without an allocation.
#[derive(Clone, Debug)]
pub(crate) struct Written(Text);

#[derive(Clone, Debug)]
enum Text {
    Short([u8; TEXT_BYTES], usize),
    /// A year before 0 or after 9999, or a leap second.
    Long(String),
}

impl Written {
    /// Writes a moment.
    #[must_use]
    pub(crate) fn of(time: DateTime<Utc>) -> Self {
        let nanos = time.nanosecond();
        match u32::try_from(time.year()) {
            Ok(year @ 0..=9999) if nanos < SECOND_NS => {
                let (bytes, length) = short(time, year, nanos);
                Self(Text::Short(bytes, length))
            }
            _ => Self(Text::Long(by_chrono(time))),
        }
    }

    /// The text.
    #[must_use]
    pub(crate) fn as_str(&self) -> &str {
        match &self.0 {
            Text::Short(bytes, length) => {
                std::str::from_utf8(&bytes[..*length]).expect("only ASCII is written")
            }
            Text::Long(text) => text,
        }
    }
}

/// The text of a moment.
#[must_use]
pub fn iso8601(time: DateTime<Utc>) -> String {
    match Written::of(time).0 {
        Text::Long(text) => text,
        short => Written(short).as_str().to_string(),
    }
}

fn short(time: DateTime<Utc>, year: u32, nanos: u32) -> ([u8; TEXT_BYTES], usize) {
    let mut bytes = *b"0000-00-00T00:00:00.000000000Z";
    put(&mut bytes[0..4], year);
    put(&mut bytes[5..7], time.month());
    put(&mut bytes[8..10], time.day());
    put(&mut bytes[11..13], time.hour());
    put(&mut bytes[14..16], time.minute());
    put(&mut bytes[17..19], time.second());
    let (decimals, fraction) = match nanos {
        _ if nanos.is_multiple_of(1_000_000) => (3, nanos / 1_000_000),
        _ if nanos.is_multiple_of(1_000) => (6, nanos / 1_000),
        _ => (9, nanos),
    };
    let end = 20 + decimals;
    put(&mut bytes[20..end], fraction);
    bytes[end] = b'Z';
    (bytes, end + 1)
}

/// Writes a number as decimal digits, padded with zeros.
#[inline(always)]
fn put(places: &mut [u8], mut number: u32) {
    for place in places.iter_mut().rev() {
        *place = b'0' + (number % 10) as u8;
        number /= 10;
    }
}

#[cold]
fn by_chrono(time: DateTime<Utc>) -> String {
    let nanos = time.timestamp_subsec_nanos();
    let format = if nanos.is_multiple_of(1_000_000) {
        "%Y-%m-%dT%H:%M:%S%.3fZ"
    } else if nanos.is_multiple_of(1_000) {
        "%Y-%m-%dT%H:%M:%S%.6fZ"
    } else {
        "%Y-%m-%dT%H:%M:%S%.9fZ"
    };
    time.format(format).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::NaiveDate;

    #[test]
    fn moments_are_written_as_chrono_writes_them() {
        let seconds = (0..400).map(|number| number * 123_456_789 - 20_000_000_000_i64);
        for seconds in seconds.chain([-62_167_219_201, 253_402_300_800, -1, 0]) {
            for nanos in [0, 1, 999, 1_000, 120_000, 1_000_000, 123_000_000, 999_999_999] {
                let time = DateTime::from_timestamp(seconds, nanos).expect("it is in reach");
                assert_eq!(iso8601(time), by_chrono(time));
                assert_eq!(Written::of(time).as_str(), by_chrono(time));
            }
        }
    }

    #[test]
    fn leap_seconds_and_far_years_are_written() {
        let leap = NaiveDate::from_ymd_opt(2016, 12, 31)
            .and_then(|date| date.and_hms_milli_opt(23, 59, 59, 1_500))
            .expect("it is a leap second");
        assert_eq!(iso8601(leap.and_utc()), "2016-12-31T23:59:60.500Z");
        let far = DateTime::from_timestamp(300_000_000_000, 0).expect("it is in reach");
        assert_eq!(iso8601(far), "+11476-08-15T05:20:00.000Z");
    }
}
