//! Patterns such as `yyyy-MM-dd HH:mm:ss`: their parts, and times written by them. The letters are
//! those of Joda-Time's DateTimeFormat and of java.time's DateTimeFormatter.

use super::locale::Locale;
use chrono::{DateTime, Datelike, Timelike, Utc};
use std::fmt::Write;

/// Whose letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// `%{+YYYY}`, and the date filter.
    Joda,
    /// `%{{yyyy}}`
    Java,
}

/// A pattern that was read.
#[derive(Clone, Debug)]
pub struct Format {
    pub(super) parts: Vec<Part>,
}

/// A part of a pattern.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Part {
    /// Text as it is.
    Literal(String),
    /// A field and how often its letter is there.
    Field(Field, usize),
}

/// What letters stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Era,
    Century,
    Year,
    /// A year without a sign.
    YearOfEra,
    WeekYear,
    Month,
    Day,
    DayOfYear,
    Week,
    Weekday,
    /// 1 (Monday) to 7.
    WeekdayNumber,
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
    /// `UTC`, only to be written.
    ZoneName,
}

impl Field {
    /// Whether it is read as digits when its letter is there `count` times.
    pub(super) fn is_number(self, count: usize) -> bool {
        match self {
            Field::Month => count < 3,
            Field::Era | Field::Weekday | Field::HalfDay | Field::Offset | Field::ZoneName => false,
            _ => true,
        }
    }
}

impl Format {
    /// Reads a pattern. The error names the letter that means nothing.
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
                parts.push(Part::Field(field, count));
                rest = &rest[count..];
            } else {
                push_literal(&mut parts, &rest[..first.len_utf8()]);
                rest = &rest[first.len_utf8()..];
            }
        }
        Ok(Self { parts })
    }

    /// Whether the pattern says a year.
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

/// What stands between quotes, `''` being one, and what follows.
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
        'e' => Field::WeekdayNumber,
        'Z' => Field::Offset,
        'G' | 'M' | 'd' | 'D' | 'w' | 'E' | 'a' | 'H' | 'k' | 'h' | 'K' | 'm' | 's' | 'S' | 'z' => {
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
        'Y' => Field::WeekYear,
        'M' | 'L' => Field::Month,
        'd' => Field::Day,
        'D' => Field::DayOfYear,
        'w' => Field::Week,
        'E' => Field::Weekday,
        'e' | 'c' => Field::WeekdayNumber,
        'a' => Field::HalfDay,
        'H' => Field::Hour,
        'k' => Field::ClockHour,
        'h' => Field::ClockHourOfHalf,
        'K' => Field::HourOfHalf,
        'm' => Field::Minute,
        's' => Field::Second,
        'S' => Field::Fraction,
        'Z' | 'x' | 'X' => Field::Offset,
        'z' | 'V' | 'O' | 'v' => Field::ZoneName,
        _ => return None,
    })
}

fn push_field(out: &mut String, field: Field, count: usize, time: DateTime<Utc>) {
    /// From this many letters on a name is written out.
    const LONG: usize = 4;
    let names = Locale::english();
    let long = count >= LONG;
    let number = match field {
        Field::Era => return out.push_str(if time.year() > 0 { "AD" } else { "BC" }),
        Field::Month if count > 2 => {
            return out.push_str(names.month(time.month0() as usize, long));
        }
        Field::Weekday => {
            return out.push_str(names.day(time.weekday().num_days_from_monday() as usize, long));
        }
        Field::HalfDay => return out.push_str(if time.hour() < 12 { "AM" } else { "PM" }),
        Field::Offset => {
            return out.push_str(if count == 2 {
                "+00:00"
            } else if count > 2 {
                "UTC"
            } else {
                "+0000"
            });
        }
        Field::ZoneName => return out.push_str("UTC"),
        Field::Fraction => return push_fraction(out, time.timestamp_subsec_nanos(), count),
        Field::Year | Field::YearOfEra if count == 2 => i64::from(time.year().rem_euclid(100)),
        Field::WeekYear if count == 2 => i64::from(time.iso_week().year().rem_euclid(100)),
        Field::Year => i64::from(time.year()),
        Field::YearOfEra if time.year() < 1 => i64::from(1 - time.year()),
        Field::YearOfEra => i64::from(time.year()),
        Field::Century => i64::from(time.year().rem_euclid(10_000) / 100),
        Field::WeekYear => i64::from(time.iso_week().year()),
        Field::Month => i64::from(time.month()),
        Field::Day => i64::from(time.day()),
        Field::DayOfYear => i64::from(time.ordinal()),
        Field::Week => i64::from(time.iso_week().week()),
        Field::WeekdayNumber => i64::from(time.weekday().number_from_monday()),
        Field::Hour => i64::from(time.hour()),
        Field::ClockHour => i64::from((time.hour() + 23) % 24 + 1),
        Field::ClockHourOfHalf => i64::from((time.hour() + 11) % 12 + 1),
        Field::HourOfHalf => i64::from(time.hour() % 12),
        Field::Minute => i64::from(time.minute()),
        Field::Second => i64::from(time.second()),
    };
    // Writing into a String does not fail.
    let _ = write!(out, "{number:0count$}");
}

/// The first `count` decimals of a second.
fn push_fraction(out: &mut String, nanos: u32, count: usize) {
    let decimals = format!("{nanos:09}");
    let known = count.min(decimals.len());
    out.push_str(&decimals[..known]);
    out.extend(std::iter::repeat_n('0', count - known));
}
