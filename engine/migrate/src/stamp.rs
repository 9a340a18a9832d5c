//! Times in front of messages: `Oct 11 22:14:15`, with a year or a fraction, and RFC 3339. A stamp keeps the offset
//! and the digits that it was written with, because templates write them again.

use chrono::{DateTime, Datelike, FixedOffset, NaiveDate, NaiveDateTime, Offset, TimeZone, Utc};
use chrono_tz::Tz;
use temblor_lang::value::{Arena, Value};

/// Names of months, as they begin a time.
const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
/// Digits of a fraction of a second that count.
const FRACTION_DIGITS: usize = 9;

/// A moment as somebody wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    /// Nanoseconds since 1970-01-01 UTC.
    pub at_ns: i64,
    /// Seconds east of UTC.
    pub offset_s: i32,
    /// How many digits the fraction of a second had.
    pub digits: usize,
    /// Whether `Z` stood for the offset.
    pub is_zulu: bool,
}

impl Stamp {
    /// The time of arrival, in a zone.
    pub(crate) fn of_arrival(now_ns: u64, zone: Tz) -> Self {
        let at = DateTime::<Utc>::from_timestamp_nanos(i64::try_from(now_ns).unwrap_or(i64::MAX));
        let offset_s = zone.offset_from_utc_datetime(&at.naive_utc()).fix().local_minus_utc();
        Self {
            at_ns: at.timestamp_nanos_opt().unwrap_or(i64::MAX),
            offset_s,
            digits: 6,
            is_zulu: false,
        }
    }

    fn local(&self) -> DateTime<FixedOffset> {
        let offset = FixedOffset::east_opt(self.offset_s)
            .or_else(|| FixedOffset::east_opt(0))
            .expect("no offset is an offset");
        DateTime::<Utc>::from_timestamp_nanos(self.at_ns).with_timezone(&offset)
    }

    /// By a format of strftime.
    pub(crate) fn format(&self, form: &str) -> String {
        self.local().format(form).to_string()
    }

    /// As RFC 3339 says, with the digits that it came with.
    pub(crate) fn rfc3339(&self) -> String {
        let mut text = self.format("%Y-%m-%dT%H:%M:%S");
        if self.digits > 0 {
            let fraction = format!("{:09}", self.at_ns.rem_euclid(1_000_000_000));
            text.push('.');
            text.push_str(&fraction[..self.digits.min(FRACTION_DIGITS)]);
        }
        if self.is_zulu {
            text.push('Z');
            return text;
        }
        text + &self.offset()
    }

    /// `+02:00`
    pub(crate) fn offset(&self) -> String {
        let minutes = self.offset_s.abs() / 60;
        let sign = if self.offset_s < 0 { '-' } else { '+' };
        format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60)
    }

    /// `{"timestamp": …, "tz": "+02:00"}`, which the functions of `std::datetime` take.
    pub(crate) fn value<'a>(&self, arena: &'a Arena) -> Value<'a> {
        let mut record = arena.record_builder(2);
        record.append("timestamp", Value::Int(self.at_ns));
        record.append("tz", Value::Str(arena.str(&self.offset())));
        record.finish()
    }
}

/// How a year is found that a time does not tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Years {
    /// That of the clock; December in January is last year, January in December next.
    Nearest,
    /// The same, and whatever is two months ahead or more is last year.
    Past,
}

/// What a reader knows besides the text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    /// The time of arrival.
    pub now_ns: u64,
    /// The zone of times that tell none.
    pub zone: Tz,
    /// How years are found.
    pub years: Years,
}

impl Clock {
    fn instant(&self, naive: NaiveDateTime, digits: usize) -> Option<Stamp> {
        let offset = self.zone.offset_from_local_datetime(&naive).earliest();
        let offset_s = offset.map_or(0, |offset| offset.fix().local_minus_utc());
        let at_ns = naive.and_utc().timestamp_nanos_opt()?;
        let at_ns = at_ns.checked_sub(i64::from(offset_s) * 1_000_000_000)?;
        Some(Stamp { at_ns, offset_s, digits, is_zulu: false })
    }

    fn year_of(&self, month: u32) -> i32 {
        let now = DateTime::<Utc>::from_timestamp_nanos(self.now_ns.cast_signed());
        let now = now.with_timezone(&self.zone);
        match (now.month(), month) {
            (1, 12) => now.year() - 1,
            (12, 1) => now.year() + 1,
            (now_month, month) if self.years == Years::Past && month > now_month + 1 => {
                now.year() - 1
            }
            _ => now.year(),
        }
    }

    /// A time at the start of a text, and how many bytes of it that is.
    pub(crate) fn read(&self, text: &str) -> Option<(Stamp, usize)> {
        rfc3339(text).or_else(|| self.bsd(text))
    }

    /// `Oct 11 22:14:15`, `Oct 11 2021 22:14:15`, `Oct 11 22:14:15.250`.
    pub(crate) fn bsd(&self, text: &str) -> Option<(Stamp, usize)> {
        let month = text.get(..3)?;
        let month = MONTHS.iter().position(|name| name.eq_ignore_ascii_case(month))? as u32 + 1;
        let mut rest = text[3..].strip_prefix(' ')?;
        rest = rest.strip_prefix(' ').unwrap_or(rest);
        let (day, behind) = number(rest, 2)?;
        rest = behind.strip_prefix(' ')?;
        let mut year = self.year_of(month);
        if let Some((given, behind)) = number(rest, 4)
            && rest.as_bytes().get(4) == Some(&b' ')
        {
            year = given.cast_signed();
            rest = &behind[1..];
        }
        let ([hour, minute, second], behind) = clock(rest)?;
        let (nanoseconds, digits, behind) = fraction(behind);
        let date = NaiveDate::from_ymd_opt(year, month, day)?;
        let naive = date.and_hms_nano_opt(hour, minute, second, nanoseconds)?;
        Some((self.instant(naive, digits)?, text.len() - behind.len()))
    }
}

/// `2003-10-11T22:14:15.003Z`, with an offset.
pub(crate) fn rfc3339(text: &str) -> Option<(Stamp, usize)> {
    let (year, rest) = number(text, 4)?;
    let (month, rest) = number(rest.strip_prefix('-')?, 2)?;
    let (day, rest) = number(rest.strip_prefix('-')?, 2)?;
    let (parts, rest) = clock(rest.strip_prefix('T')?)?;
    let (nanoseconds, digits, rest) = fraction(rest);
    let (offset_s, is_zulu, rest) = match rest.as_bytes().first()? {
        b'Z' => (0, true, &rest[1..]),
        sign @ (b'+' | b'-') => {
            let (hours, behind) = number(&rest[1..], 2)?;
            let (minutes, behind) = number(behind.strip_prefix(':').unwrap_or(behind), 2)?;
            let seconds = (hours * 60 + minutes).cast_signed() * 60;
            (if *sign == b'-' { -seconds } else { seconds }, false, behind)
        }
        _ => return None,
    };
    let date = NaiveDate::from_ymd_opt(year.cast_signed(), month, day)?;
    let naive = date.and_hms_nano_opt(parts[0], parts[1], parts[2], nanoseconds)?;
    let at_ns = naive.and_utc().timestamp_nanos_opt()?;
    let at_ns = at_ns.checked_sub(i64::from(offset_s) * 1_000_000_000)?;
    Some((Stamp { at_ns, offset_s, digits, is_zulu }, text.len() - rest.len()))
}

fn number(text: &str, digits_at_most: usize) -> Option<(u32, &str)> {
    let digits = text.bytes().take(digits_at_most).take_while(u8::is_ascii_digit).count();
    Some((text.get(..digits)?.parse().ok()?, &text[digits..]))
}

fn clock(text: &str) -> Option<([u32; 3], &str)> {
    let (hour, rest) = number(text, 2)?;
    let (minute, rest) = number(rest.strip_prefix(':')?, 2)?;
    let (second, rest) = number(rest.strip_prefix(':')?, 2)?;
    Some(([hour, minute, second], rest))
}

/// `.250`: nanoseconds, how many digits, and what stands behind.
fn fraction(text: &str) -> (u32, usize, &str) {
    let Some(rest) = text.strip_prefix('.') else { return (0, 0, text) };
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 {
        return (0, 0, text);
    }
    let kept = &rest[..digits.min(FRACTION_DIGITS)];
    let nanoseconds = format!("{kept:0<9}").parse().unwrap_or(0);
    (nanoseconds, kept.len(), &rest[digits..])
}

#[cfg(test)]
mod tests {
    use super::{Clock, Years};
    use chrono_tz::Tz;

    fn read(text: &str, years: Years) -> Option<(String, usize)> {
        // 2026-11-22T12:00:00Z
        let clock = Clock { now_ns: 1_795_348_800_000_000_000, zone: Tz::UTC, years };
        clock.read(text).map(|(stamp, length)| (stamp.rfc3339(), length))
    }

    #[test]
    fn times_keep_how_they_were_written() {
        for (text, wanted, length) in [
            ("Oct 11 22:14:15 host", "2026-10-11T22:14:15+00:00", 15),
            ("Oct  1 22:14:15", "2026-10-01T22:14:15+00:00", 15),
            ("Oct 11 2021 22:14:15 h", "2021-10-11T22:14:15+00:00", 20),
            ("Oct 11 22:14:15.250 h", "2026-10-11T22:14:15.250+00:00", 19),
            ("2023-10-11T22:14:15.123+02:00 h", "2023-10-11T22:14:15.123+02:00", 29),
            ("2023-10-11T22:14:15Z h", "2023-10-11T22:14:15Z", 20),
            ("2023-10-11T22:14:15-0330", "2023-10-11T22:14:15-03:30", 24),
        ] {
            assert_eq!(read(text, Years::Nearest), Some((wanted.to_string(), length)), "{text}");
        }
        for text in
            ["", "Oct", "Oct 32 22:14:15", "Octt 1 1:1:1", "2023-10-11 22:14:15Z", "Feb 30 1:1:1"]
        {
            assert_eq!(read(text, Years::Nearest), None, "{text}");
        }
    }

    #[test]
    fn a_year_is_found() {
        let year = |text, years| read(text, years).expect(text).0[..4].to_string();
        assert_eq!(year("Dec 31 23:59:59 h", Years::Nearest), "2026");
        assert_eq!(year("Dec 31 23:59:59 h", Years::Past), "2026");
        assert_eq!(year("Jan  1 00:00:01 h", Years::Past), "2026");
    }
}
