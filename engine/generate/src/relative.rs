//! Times said from where one stands: `now`, `-15m`, `-1d@d`, `+2mon@mon-1h`, or a date.
//!
//! Invariant: days, weeks, months and years are those of the calendar in the zone; smaller units are fixed.

use super::zone::Zone;
use chrono::{Datelike, Days, Months, NaiveDate, NaiveDateTime, TimeDelta, Timelike};
use temblor_runtime::clock::Timestamp;

/// Steps in one time word: more would be a mistake.
const STEPS_MAX: usize = 16;

/// A time, seen from another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum TimeWord {
    /// `now`
    #[default]
    Now,
    /// `2026-01-31 12:00:00`
    At(Timestamp),
    /// `-1d@d`: steps one after the other.
    Steps(Vec<Step>),
}

/// A step through time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// `-3h`
    Go(i64, Unit),
    /// `@d`: back to where the unit begins.
    Snap(Unit),
}

/// What steps are counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// No word has it; programs say durations.
    Nanosecond,
    /// `s`
    Second,
    /// `m`
    Minute,
    /// `h`
    Hour,
    /// `d`
    Day,
    /// `w`: begins on Sunday
    Week,
    /// `w1`: a day of the week, 0 and 7 for Sunday
    Weekday(u32),
    /// `mon`
    Month,
    /// `q`
    Quarter,
    /// `y`
    Year,
}

const UNITS: [(&str, Unit); 30] = [
    ("s", Unit::Second),
    ("sec", Unit::Second),
    ("secs", Unit::Second),
    ("second", Unit::Second),
    ("seconds", Unit::Second),
    ("m", Unit::Minute),
    ("min", Unit::Minute),
    ("minute", Unit::Minute),
    ("minutes", Unit::Minute),
    ("h", Unit::Hour),
    ("hr", Unit::Hour),
    ("hrs", Unit::Hour),
    ("hour", Unit::Hour),
    ("hours", Unit::Hour),
    ("d", Unit::Day),
    ("day", Unit::Day),
    ("days", Unit::Day),
    ("w", Unit::Week),
    ("week", Unit::Week),
    ("weeks", Unit::Week),
    ("mon", Unit::Month),
    ("month", Unit::Month),
    ("months", Unit::Month),
    ("q", Unit::Quarter),
    ("qtr", Unit::Quarter),
    ("quarter", Unit::Quarter),
    ("quarters", Unit::Quarter),
    ("y", Unit::Year),
    ("yr", Unit::Year),
    ("year", Unit::Year),
];

impl TimeWord {
    /// Reads a word; dates are those of the zone.
    ///
    /// # Errors
    /// Says what such times look like.
    pub(crate) fn parse(text: &str, zone: &Zone) -> Result<Self, String> {
        let text = text.trim().trim_matches('"');
        let bad = || format!("`{text}` is no time such as now, -15m, -1d@d or 2026-01-31 12:00:00");
        if text.eq_ignore_ascii_case("now") || text == "now()" {
            return Ok(TimeWord::Now);
        }
        if let Some(rest) =
            text.strip_prefix("now").filter(|rest| rest.starts_with(['-', '+', '@']))
        {
            return TimeWord::parse(rest, zone);
        }
        if text.starts_with(['-', '+', '@']) {
            return steps(text).map(TimeWord::Steps).ok_or_else(bad);
        }
        date(text, zone).map(TimeWord::At).ok_or_else(bad)
    }

    /// The time that is meant at a time.
    #[must_use]
    pub(crate) fn at(&self, now: Timestamp, zone: &Zone) -> Timestamp {
        let steps = match self {
            TimeWord::Now => return now,
            TimeWord::At(time) => return *time,
            TimeWord::Steps(steps) => steps,
        };
        steps.iter().fold(now, |time, step| step.from(time, zone))
    }

    /// Whether it is always `now`.
    #[must_use]
    pub(crate) fn is_now(&self) -> bool {
        *self == TimeWord::Now
    }
}

impl Step {
    fn from(self, time: Timestamp, zone: &Zone) -> Timestamp {
        let fixed = |count: i64, seconds: i64| {
            time.saturating_add_signed(count.saturating_mul(seconds).saturating_mul(1_000_000_000))
        };
        let by_calendar = |civil: Option<NaiveDateTime>| {
            civil.map_or(time, |civil| u64::try_from(zone.instant(civil)).unwrap_or(0))
        };
        match self {
            Step::Go(count, Unit::Nanosecond) => time.saturating_add_signed(count),
            Step::Go(count, Unit::Second) => fixed(count, 1),
            Step::Go(count, Unit::Minute) => fixed(count, 60),
            Step::Go(count, Unit::Hour) => fixed(count, 3_600),
            Step::Go(count, unit) => by_calendar(go(zone.civil(time), count, unit)),
            Step::Snap(unit) => by_calendar(snap(zone.civil(time), unit)),
        }
    }
}

fn go(civil: NaiveDateTime, count: i64, unit: Unit) -> Option<NaiveDateTime> {
    let months = match unit {
        Unit::Month => 1,
        Unit::Quarter => 3,
        Unit::Year => 12,
        Unit::Week | Unit::Weekday(_) => return days(civil, count.checked_mul(7)?),
        _ => return days(civil, count),
    };
    let months_count = Months::new(u32::try_from(count.unsigned_abs()).ok()?.checked_mul(months)?);
    if count < 0 {
        civil.checked_sub_months(months_count)
    } else {
        civil.checked_add_months(months_count)
    }
}

fn days(civil: NaiveDateTime, count: i64) -> Option<NaiveDateTime> {
    let days = Days::new(count.unsigned_abs());
    if count < 0 { civil.checked_sub_days(days) } else { civil.checked_add_days(days) }
}

fn snap(civil: NaiveDateTime, unit: Unit) -> Option<NaiveDateTime> {
    let midnight = civil.date().and_hms_opt(0, 0, 0)?;
    let first = |date: NaiveDate, month: u32| {
        NaiveDate::from_ymd_opt(date.year(), month, 1)?.and_hms_opt(0, 0, 0)
    };
    match unit {
        Unit::Nanosecond => Some(civil),
        Unit::Second => civil.with_nanosecond(0),
        Unit::Minute => civil.with_nanosecond(0)?.with_second(0),
        Unit::Hour => civil.with_nanosecond(0)?.with_second(0)?.with_minute(0),
        Unit::Day => Some(midnight),
        Unit::Week => snap(civil, Unit::Weekday(0)),
        Unit::Weekday(day) => {
            let since = (civil.weekday().num_days_from_sunday() + 7 - day % 7) % 7;
            midnight.checked_sub_signed(TimeDelta::days(i64::from(since)))
        }
        Unit::Month => first(civil.date(), civil.month()),
        Unit::Quarter => first(civil.date(), (civil.month() - 1) / 3 * 3 + 1),
        Unit::Year => first(civil.date(), 1),
    }
}

fn unit(word: &str) -> Option<Unit> {
    let lower = word.to_lowercase();
    if let Some(day) = lower.strip_prefix('w').and_then(|day| day.parse().ok()) {
        return (day <= 7).then_some(Unit::Weekday(day));
    }
    UNITS.iter().find(|(name, _)| *name == lower).map(|(_, unit)| *unit)
}

fn steps(text: &str) -> Option<Vec<Step>> {
    let (mut steps, mut rest) = (Vec::new(), text);
    while let Some(sign) = rest.chars().next() {
        let body = &rest[1..];
        let end = body.find(['-', '+', '@']).unwrap_or(body.len());
        let (step, after) = body.split_at(end);
        let step = step.trim();
        steps.push(match sign {
            '@' => Step::Snap(unit(step)?),
            _ => {
                let digits = step.find(|c: char| !c.is_ascii_digit()).unwrap_or(step.len());
                if step.is_empty() {
                    return None;
                }
                let (count, word) = step.split_at(digits);
                let count: i64 = if count.is_empty() { 1 } else { count.parse().ok()? };
                let word = if word.trim().is_empty() { "s" } else { word.trim() };
                Step::Go(if sign == '-' { -count } else { count }, unit(word)?)
            }
        });
        rest = after;
    }
    (steps.len() <= STEPS_MAX && !steps.is_empty()).then_some(steps)
}

fn date(text: &str, zone: &Zone) -> Option<Timestamp> {
    if let Ok(seconds) = text.parse::<f64>() {
        return (0.0..1e10).contains(&seconds).then_some((seconds * 1e9) as u64);
    }
    const FORMATS: [&str; 5] = [
        "%Y-%m-%d %H:%M:%S%.f",
        "%Y-%m-%dT%H:%M:%S%.f",
        "%m/%d/%Y:%H:%M:%S",
        "%m/%d/%Y %H:%M:%S",
        "%Y-%m-%d %H:%M",
    ];
    let (civil, zone) = match text.strip_suffix('Z') {
        Some(civil) => (civil, &Zone::UTC),
        None => (text, zone),
    };
    let read = |format: &&str| NaiveDateTime::parse_from_str(civil, format).ok();
    let midnight = || {
        NaiveDate::parse_from_str(civil, "%Y-%m-%d").ok().and_then(|date| date.and_hms_opt(0, 0, 0))
    };
    let civil = FORMATS.iter().find_map(read).or_else(midnight)?;
    u64::try_from(zone.instant(civil)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_times() {
        let zone = Zone::UTC;
        let at = |text: &str| {
            let now = 1_772_323_445_067_000_000; // Sunday, 2026-03-01T00:04:05.067Z
            let time = TimeWord::parse(text, &zone).unwrap().at(now, &zone);
            zone.civil(time).to_string()
        };
        for (text, expected) in [
            ("now", "2026-03-01 00:04:05.067"),
            ("-15m", "2026-02-28 23:49:05.067"),
            ("-1d@d", "2026-02-28 00:00:00"),
            ("@mon-1h", "2026-02-28 23:00:00"),
            ("+1mon", "2026-04-01 00:04:05.067"),
            ("@w1", "2026-02-23 00:00:00"),
            ("-1y@y", "2025-01-01 00:00:00"),
            ("@q+2hours", "2026-01-01 02:00:00"),
            ("now-5s", "2026-03-01 00:04:00.067"),
            ("-30", "2026-03-01 00:03:35.067"),
            ("2020-02-03 04:05:06", "2020-02-03 04:05:06"),
            ("2020-02-03T04:05:06.5Z", "2020-02-03 04:05:06.500"),
            ("1580702706", "2020-02-03 04:05:06"),
        ] {
            assert_eq!(at(text), expected, "{text}");
        }
        for bad in ["", "soon", "-", "-3parsecs", "@", "@w9", "-1h@@d", "2020-13-01"] {
            assert!(TimeWord::parse(bad, &zone).is_err(), "{bad}");
        }
        let long = "-1s".repeat(STEPS_MAX + 1);
        assert!(
            TimeWord::parse(&long[3..], &zone).is_ok() && TimeWord::parse(&long, &zone).is_err()
        );
    }

    #[test]
    fn days_are_those_of_the_zone() {
        let berlin = Zone::parse("Europe/Berlin").unwrap();
        let noon = 1_774_778_400_000_000_000; // 2026-03-29T10:00:00Z, the day of the change
        let time = TimeWord::parse("@d", &berlin).unwrap().at(noon, &berlin);
        assert_eq!(Zone::UTC.civil(time).to_string(), "2026-03-28 23:00:00");
        let before = TimeWord::parse("-1d", &berlin).unwrap().at(noon, &berlin);
        assert_eq!(noon - before, 23 * 3_600_000_000_000);
    }
}
