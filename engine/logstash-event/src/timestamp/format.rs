//! Patterns such as `yyyy-MM-dd HH:mm:ss`: parsing them, and formatting times by them. The letters are those of
//! Joda-Time's DateTimeFormat and of java.time's DateTimeFormatter.

use super::locale::Locale;
use chrono::{DateTime, Datelike, Days, NaiveDate, Timelike, Utc};
use std::borrow::Cow;
use std::fmt::Write;

/// Letters of one field in a row, at the most; they say how many digits are written.
const LETTERS_MAX: usize = 1_000;

/// Which library's letters a pattern uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// `%{+YYYY}`, and the date filter.
    Joda,
    /// `%{{yyyy}}`
    Java,
}

/// A parsed pattern.
#[derive(Clone, Debug)]
pub struct Format {
    pub(super) parts: Vec<Part>,
}

/// A part of a pattern.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Part {
    /// Literal text.
    Literal(String),
    /// A field, and how often its letter is repeated.
    Field(Field, usize),
}

/// What the letters stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Era,
    Century,
    Year,
    /// A year of an era, without a sign.
    YearOfEra,
    WeekYear,
    Month,
    Day,
    DayOfYear,
    Week,
    Weekday,
    /// 1 (Monday) to 7.
    WeekdayNumber,
    /// The year of a week that begins on Sunday, where week 1 is that of 1 January; for output only.
    LocalWeekYear,
    /// See [`Field::LocalWeekYear`].
    LocalWeek,
    /// 1 (Sunday) to 7, for output only.
    LocalWeekday,
    HalfDay,
    /// 0 to 23.
    Hour,
    /// 1 to 24.
    ClockHour,
    /// 1 to 12.
    ClockHourOfHalf,
    /// 0 to 11.
    HourOfHalf,
    Minute,
    Second,
    Fraction,
    /// `+0100`
    Offset,
    /// `UTC`
    ZoneName,
    /// The offset of UTC by one of java.time's letters, for output only.
    JavaZone(char),
    /// 1 to 4, `Q1`, `1st quarter`; for output only.
    Quarter,
    /// Thousandths of a second since midnight, for output only.
    MilliOfDay,
    /// Billionths of a second since midnight, for output only.
    NanoOfDay,
    /// Billionths of a second, for output only.
    Nano,
}

impl Field {
    /// Whether it is parsed as digits when its letter is repeated `count` times.
    pub(super) fn is_number(self, count: usize) -> bool {
        match self {
            Field::Month => count < 3,
            Field::Era
            | Field::Weekday
            | Field::HalfDay
            | Field::Offset
            | Field::ZoneName
            | Field::JavaZone(_) => false,
            _ => true,
        }
    }
}

impl Format {
    /// Parses a pattern.
    ///
    /// # Errors
    /// A sentence that names the letter that has no meaning.
    pub fn parse(pattern: &str, dialect: Dialect) -> Result<Self, String> {
        let mut parts: Vec<Part> = Vec::new();
        let mut rest = pattern;
        while let Some(first) = rest.chars().next() {
            if first == '\'' {
                let (text, after) = quoted(&rest[1..]);
                push_literal(&mut parts, &text);
                rest = after;
            } else if first.is_ascii_alphabetic() {
                let count = rest.len() - rest.trim_start_matches(first).len();
                let field = match dialect {
                    Dialect::Joda => joda(first),
                    Dialect::Java => java(first),
                };
                let field = field.ok_or_else(|| format!("`{first}` is no letter of a date"))?;
                if count > LETTERS_MAX {
                    return Err(format!("`{first}` stands there more than {LETTERS_MAX} times"));
                }
                parts.push(Part::Field(field, count));
                rest = &rest[count..];
            } else {
                push_literal(&mut parts, &rest[..first.len_utf8()]);
                rest = &rest[first.len_utf8()..];
            }
        }
        Ok(Self { parts })
    }

    /// Whether the pattern has a year.
    #[must_use]
    pub fn has_year(&self) -> bool {
        self.parts.iter().any(|part| {
            matches!(part, Part::Field(Field::Year | Field::YearOfEra | Field::WeekYear, _))
        })
    }

    /// Appends a time, in UTC and in English.
    pub fn push(&self, out: &mut String, time: DateTime<Utc>) {
        for part in &self.parts {
            match part {
                Part::Literal(text) => out.push_str(text),
                Part::Field(field, count) => push_field(out, *field, *count, time),
            }
        }
    }
}

/// The text between quotes, in which `''` is a quote, and the rest of the pattern.
fn quoted(text: &str) -> (String, &str) {
    if let Some(rest) = text.strip_prefix('\'') {
        return ("'".to_string(), rest);
    }
    let mut inside = String::new();
    let mut rest = text;
    loop {
        let Some(end) = rest.find('\'') else {
            inside.push_str(rest);
            return (inside, "");
        };
        inside.push_str(&rest[..end]);
        rest = &rest[end + 1..];
        let Some(after) = rest.strip_prefix('\'') else { return (inside, rest) };
        inside.push('\'');
        rest = after;
    }
}

fn push_literal(parts: &mut Vec<Part>, text: &str) {
    match parts.last_mut() {
        Some(Part::Literal(before)) => before.push_str(text),
        _ => parts.push(Part::Literal(text.to_string())),
    }
}

fn joda(letter: char) -> Option<Field> {
    Some(match letter {
        'C' => Field::Century,
        'y' => Field::Year,
        'Y' => Field::YearOfEra,
        'x' => Field::WeekYear,
        'w' => Field::Week,
        'e' => Field::WeekdayNumber,
        'Z' => Field::Offset,
        'z' => Field::ZoneName,
        'G' | 'M' | 'd' | 'D' | 'E' | 'a' | 'H' | 'k' | 'h' | 'K' | 'm' | 's' | 'S' => {
            java(letter)?
        }
        _ => return None,
    })
}

fn java(letter: char) -> Option<Field> {
    Some(match letter {
        'G' => Field::Era,
        'y' => Field::YearOfEra,
        'u' => Field::Year,
        'Y' => Field::LocalWeekYear,
        'M' | 'L' => Field::Month,
        'd' => Field::Day,
        'D' => Field::DayOfYear,
        'w' => Field::LocalWeek,
        'E' => Field::Weekday,
        'e' | 'c' => Field::LocalWeekday,
        'a' => Field::HalfDay,
        'H' => Field::Hour,
        'k' => Field::ClockHour,
        'h' => Field::ClockHourOfHalf,
        'K' => Field::HourOfHalf,
        'm' => Field::Minute,
        's' => Field::Second,
        'S' => Field::Fraction,
        'Z' | 'x' | 'X' | 'z' | 'V' | 'O' | 'v' => Field::JavaZone(letter),
        'Q' | 'q' => Field::Quarter,
        'A' => Field::MilliOfDay,
        'N' => Field::NanoOfDay,
        'n' => Field::Nano,
        _ => return None,
    })
}

fn push_field(out: &mut String, field: Field, count: usize, time: DateTime<Utc>) {
    if field == Field::Fraction {
        return push_fraction(out, time.timestamp_subsec_nanos(), count);
    }
    match (name(field, count, time), number(field, time)) {
        (Some(name), _) => out.push_str(&name),
        (None, number) => {
            let two = matches!(
                field,
                Field::Year | Field::YearOfEra | Field::WeekYear | Field::LocalWeekYear
            ) && count == 2;
            let number = if two { number.rem_euclid(100) } else { number };
            // Writing into a String does not fail.
            let _ = write!(out, "{number:0count$}");
        }
    }
}

/// What is written in letters.
fn name(field: Field, count: usize, time: DateTime<Utc>) -> Option<Cow<'static, str>> {
    /// From this many letters on a name is written out.
    const LONG: usize = 4;
    /// With this many java.time writes one letter.
    const NARROW: usize = 5;
    let names = Locale::english();
    let long = count >= LONG;
    let shown = |name: &'static str| match count {
        NARROW => Cow::from(&name[..1]),
        _ => Cow::from(name),
    };
    Some(match field {
        Field::JavaZone(letter) => java_zone(letter, count).into(),
        Field::ZoneName if long => "Coordinated Universal Time".into(),
        Field::ZoneName => "UTC".into(),
        Field::Offset if count == 2 => "+00:00".into(),
        Field::Offset if count > 2 => "UTC".into(),
        Field::Offset => "+0000".into(),
        Field::Quarter if count > 2 => {
            let quarter = time.month0() as usize / 3;
            let words = ["1st quarter", "2nd quarter", "3rd quarter", "4th quarter"];
            let marks = ["Q1", "Q2", "Q3", "Q4"];
            if count == LONG { words[quarter].into() } else { marks[quarter].into() }
        }
        Field::Era if count == LONG && time.year() > 0 => "Anno Domini".into(),
        Field::Era if count == LONG => "Before Christ".into(),
        Field::Era => if time.year() > 0 { "AD" } else { "BC" }.into(),
        Field::Month if count > 2 => shown(names.month(time.month0() as usize, long)),
        Field::Weekday => shown(names.day(time.weekday().num_days_from_monday() as usize, long)),
        Field::HalfDay => if time.hour() < 12 { "AM" } else { "PM" }.into(),
        _ => return None,
    })
}

/// What is written in digits.
fn number(field: Field, time: DateTime<Utc>) -> i64 {
    let seconds = i64::from(time.num_seconds_from_midnight());
    let small = match field {
        Field::Year => return i64::from(time.year()),
        Field::YearOfEra if time.year() < 1 => return i64::from(1 - time.year()),
        Field::YearOfEra => return i64::from(time.year()),
        Field::Century => return i64::from(time.year().rem_euclid(10_000) / 100),
        Field::WeekYear => return i64::from(time.iso_week().year()),
        Field::LocalWeekYear => return i64::from(week_end(time).year()),
        Field::MilliOfDay => return seconds * 1000 + i64::from(time.timestamp_subsec_millis()),
        Field::NanoOfDay => {
            return seconds * 1_000_000_000 + i64::from(time.timestamp_subsec_nanos());
        }
        Field::Nano => time.timestamp_subsec_nanos(),
        Field::Quarter => time.month0() / 3 + 1,
        Field::Month => time.month(),
        Field::Day => time.day(),
        Field::DayOfYear => time.ordinal(),
        Field::Week => time.iso_week().week(),
        Field::LocalWeek => week_end(time).ordinal0() / 7 + 1,
        Field::WeekdayNumber => time.weekday().number_from_monday(),
        Field::LocalWeekday => time.weekday().number_from_sunday(),
        Field::Hour => time.hour(),
        Field::ClockHour => (time.hour() + 23) % 24 + 1,
        Field::ClockHourOfHalf => (time.hour() + 11) % 12 + 1,
        Field::HourOfHalf => time.hour() % 12,
        Field::Minute => time.minute(),
        Field::Second => time.second(),
        // These have names alone.
        _ => 0,
    };
    i64::from(small)
}

/// How java.time writes that a time is of UTC.
fn java_zone(letter: char, count: usize) -> &'static str {
    match (letter, count) {
        ('O', _) | ('Z', 4) => "GMT",
        ('x', 1) => "+00",
        ('x', 3 | 5) => "+00:00",
        ('x', _) | ('Z', 1..=3) => "+0000",
        _ => "Z",
    }
}

/// The Saturday of a week that begins on Sunday.
fn week_end(time: DateTime<Utc>) -> NaiveDate {
    let date = time.date_naive();
    let left = 6 - date.weekday().num_days_from_sunday();
    date.checked_add_days(Days::new(u64::from(left))).unwrap_or(date)
}

/// The first `count` decimals of a second.
fn push_fraction(out: &mut String, nanos: u32, count: usize) {
    let decimals = format!("{nanos:09}");
    let known = count.min(decimals.len());
    out.push_str(&decimals[..known]);
    out.extend(std::iter::repeat_n('0', count - known));
}
