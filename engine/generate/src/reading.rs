//! Reads times in the letters of `strptime`: what Python reads, and parts of a second in the letters of Splunk.
//!
//! Invariant: what a format leaves out is taken from the time that is handed in: a log without years is of
//! this year.

use super::stamp::{MONTHS, WEEKDAYS};
use super::zone::Zone;
use chrono::{Datelike, NaiveDate, NaiveDateTime, NaiveTime};
use temblor_runtime::clock::Timestamp;
use temblor_stdlib::formats::datetime::DateFormat;

/// A format that times are read by.
#[derive(Clone, Debug)]
pub enum TimeReader {
    /// Letters of `strptime`.
    Letters(Vec<Item>),
    /// A format of the library, where the letters are others.
    Library(DateFormat),
}

/// A part of a format.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Item {
    /// A character that must stand there.
    Character(char),
    /// Any number of blanks.
    Blanks,
    /// `%Y`
    Letter(char),
    /// `%3N`: any digits are taken.
    Fraction,
}

/// What was read so far.
#[derive(Default)]
struct Fields {
    year: Option<i32>,
    month: Option<u32>,
    day: Option<u32>,
    day_of_year: Option<u32>,
    hour: u32,
    is_afternoon: Option<bool>,
    minute: u32,
    second: u32,
    nanosecond: u32,
    east: Option<i64>,
    epoch: Option<i64>,
}

const LETTERS: &str = "YymdeHkIlMSpPbhBaAjszZ";
const SHORTHANDS: [(char, &str); 8] = [
    ('F', "%Y-%m-%d"),
    ('T', "%H:%M:%S"),
    ('R', "%H:%M"),
    ('D', "%m/%d/%y"),
    ('r', "%I:%M:%S %p"),
    ('c', "%a %b %d %H:%M:%S %Y"),
    ('x', "%m/%d/%y"),
    ('X', "%H:%M:%S"),
];

impl TimeReader {
    /// Compiles a format; `None` when it is none.
    #[must_use]
    pub(crate) fn compile(format: &str) -> Option<Self> {
        let mut items = Vec::new();
        if items_of(format, &mut items).is_some() {
            return Some(TimeReader::Letters(items));
        }
        Some(DateFormat::compile(format)).filter(DateFormat::is_valid).map(TimeReader::Library)
    }

    /// The time that a text shows, in nanoseconds since 1970; `now` says what the text leaves out.
    #[must_use]
    pub(crate) fn read(&self, text: &str, zone: &Zone, now: Timestamp) -> Option<i64> {
        let items = match self {
            TimeReader::Library(format) => return format.nanoseconds(text),
            TimeReader::Letters(items) => items,
        };
        let mut fields = Fields::default();
        let mut rest = text.trim();
        for item in items {
            rest = fields.take(*item, rest)?;
        }
        // Eventgen, too, looks away from an offset that the format does not name.
        let is_offset = rest.len() == 5 && rest.starts_with(['+', '-']) || rest == "Z";
        if rest.is_empty() || is_offset { fields.time(zone, now) } else { None }
    }
}

fn items_of(format: &str, items: &mut Vec<Item>) -> Option<()> {
    let mut letters = format.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter.is_whitespace() {
            items.push(Item::Blanks);
            continue;
        }
        if letter != '%' {
            items.push(Item::Character(letter));
            continue;
        }
        let mut kind = letters.next()?;
        if kind == '-' {
            kind = letters.next()?;
        }
        match kind {
            '%' => items.push(Item::Character('%')),
            'f' | 'N' | 'L' | 'Q' => items.push(Item::Fraction),
            '1'..='9' => {
                letters.next().filter(|letter| "NfQ".contains(*letter))?;
                items.push(Item::Fraction);
            }
            known if LETTERS.contains(known) => items.push(Item::Letter(known)),
            other => {
                let (_, long) = SHORTHANDS.iter().find(|(letter, _)| *letter == other)?;
                items_of(long, items)?;
            }
        }
    }
    Some(())
}

/// A number of at most so many digits, and what follows.
fn number(text: &str, digits_max: usize) -> Option<(i64, &str)> {
    let length = text.bytes().take(digits_max).take_while(u8::is_ascii_digit).count();
    Some((text[..length].parse().ok()?, &text[length..]))
}

/// The number of the name that a text begins with, long or short.
fn name<'t>(text: &'t str, names: &[&str]) -> Option<(u32, &'t str)> {
    for length in [usize::MAX, 3] {
        for (index, name) in names.iter().enumerate() {
            let name = &name[..name.len().min(length)];
            let begins =
                text.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name));
            if begins {
                return Some((index as u32, &text[name.len()..]));
            }
        }
    }
    None
}

impl Fields {
    fn take<'t>(&mut self, item: Item, text: &'t str) -> Option<&'t str> {
        match item {
            Item::Character(letter) => text.strip_prefix(letter),
            Item::Blanks => Some(text.trim_start()),
            Item::Letter(letter) => self.letter(letter, text),
            Item::Fraction => {
                let length = text.bytes().take_while(u8::is_ascii_digit).count();
                let digits = &text[..length.min(9)];
                let scale = 10u32.pow(9 - digits.len() as u32);
                self.nanosecond = digits.parse::<u32>().ok()? * scale;
                Some(&text[length..])
            }
        }
    }

    fn letter<'t>(&mut self, letter: char, text: &'t str) -> Option<&'t str> {
        let small = |digits: usize| {
            let (number, rest) = number(text.trim_start(), digits)?;
            Some((u32::try_from(number).ok()?, rest))
        };
        let rest;
        match letter {
            'Y' => {
                let (year, after) = number(text, 4)?;
                (self.year, rest) = (Some(i32::try_from(year).ok()?), after);
            }
            'y' => {
                let (year, after) = small(2)?;
                let century = if year < 69 { 2000 } else { 1900 };
                (self.year, rest) = (Some(century + year.cast_signed()), after);
            }
            'm' => (self.month, rest) = small(2).map(|(number, rest)| (Some(number), rest))?,
            'd' | 'e' => (self.day, rest) = small(2).map(|(number, rest)| (Some(number), rest))?,
            'j' => {
                (self.day_of_year, rest) = small(3).map(|(number, rest)| (Some(number), rest))?
            }
            'H' | 'k' | 'I' | 'l' => (self.hour, rest) = small(2)?,
            'M' => (self.minute, rest) = small(2)?,
            'S' => (self.second, rest) = small(2)?,
            'p' | 'P' => {
                let word = text.get(..2)?.to_ascii_uppercase();
                self.is_afternoon = Some(match word.as_str() {
                    "AM" => false,
                    "PM" => true,
                    _ => return None,
                });
                rest = &text[2..];
            }
            'b' | 'h' | 'B' => {
                let (month, after) = name(text, &MONTHS)?;
                (self.month, rest) = (Some(month + 1), after);
            }
            'a' | 'A' => rest = name(text, &WEEKDAYS)?.1,
            's' => return self.epoch(text),
            'z' => return self.offset(text),
            _ => rest = text.trim_start_matches(|letter: char| letter.is_ascii_alphabetic()),
        }
        Some(rest)
    }

    /// Seconds; the digits behind the tenth are parts of a second.
    fn epoch<'t>(&mut self, text: &'t str) -> Option<&'t str> {
        let length = text.bytes().take_while(u8::is_ascii_digit).count();
        let (seconds, parts) = text[..length].split_at(length.min(10));
        self.epoch = Some(seconds.parse().ok()?);
        if !parts.is_empty() {
            let digits = &parts[..parts.len().min(9)];
            self.nanosecond = digits.parse::<u32>().ok()? * 10u32.pow(9 - digits.len() as u32);
        }
        Some(&text[length..])
    }

    fn offset<'t>(&mut self, text: &'t str) -> Option<&'t str> {
        if let Some(rest) = text.strip_prefix('Z') {
            self.east = Some(0);
            return Some(rest);
        }
        let sign = match text.bytes().next()? {
            b'+' => 1,
            b'-' => -1,
            _ => return None,
        };
        let (hours, rest) = number(&text[1..], 2)?;
        let (minutes, rest) = number(rest.strip_prefix(':').unwrap_or(rest), 2)?;
        self.east = Some(sign * (hours * 3_600 + minutes * 60));
        Some(rest)
    }

    fn time(&self, zone: &Zone, now: Timestamp) -> Option<i64> {
        if let Some(seconds) = self.epoch {
            return seconds.checked_mul(1_000_000_000)?.checked_add(i64::from(self.nanosecond));
        }
        let today = zone.civil(now);
        let year = self.year.unwrap_or_else(|| today.year());
        let date = match (self.day_of_year, self.month, self.day) {
            (Some(day), _, _) => NaiveDate::from_yo_opt(year, day)?,
            (None, None, None) => today.date(),
            (None, month, day) => {
                NaiveDate::from_ymd_opt(year, month.unwrap_or(1), day.unwrap_or(1))?
            }
        };
        let hour = match self.is_afternoon {
            Some(is_afternoon) => self.hour % 12 + if is_afternoon { 12 } else { 0 },
            None => self.hour,
        };
        let second = self.second.min(59);
        let clock = NaiveTime::from_hms_nano_opt(hour, self.minute, second, self.nanosecond)?;
        let civil = NaiveDateTime::new(date, clock);
        let zone = self.east.map_or(*zone, Zone::Fixed);
        Some(zone.instant(civil))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_logs_are_read() {
        let now = 1_772_323_445_000_000_000; // 2026-03-01T00:04:05Z
        for (format, text, expected) in [
            ("%Y-%m-%d %H:%M:%S", "2020-01-01 00:00:01", 1_577_836_801_000_000_000),
            ("%Y-%m-%dT%H:%M:%S.%f", "2020-01-01T00:00:00.25", 1_577_836_800_250_000_000),
            ("%Y-%m-%dT%H:%M:%S.%3N%z", "2020-01-01T01:00:00.250+01:00", 1_577_836_800_250_000_000),
            ("%b %d %H:%M:%S", "Feb  3 04:05:06", 1_770_091_506_000_000_000),
            ("%H:%M:%S", "04:05:06", 1_772_337_906_000_000_000),
            ("%d/%b/%Y:%I:%M:%S %p", "01/Jan/2020:12:00:00 AM", 1_577_836_800_000_000_000),
            ("%A, %B %d, %Y", "Wednesday, January 1, 2020", 1_577_836_800_000_000_000),
            ("%s", "1577836800250", 1_577_836_800_250_000_000),
            ("%s.%f", "1577836800.5", 1_577_836_800_500_000_000),
            ("%y%j", "20001", 1_577_836_800_000_000_000),
            ("%Y-%m-%dT%H:%M:%S", "2020-01-01T00:00:00+0000", 1_577_836_800_000_000_000),
        ] {
            let reader = TimeReader::compile(format).unwrap();
            assert_eq!(reader.read(text, &Zone::UTC, now), Some(expected), "{format} {text}");
        }
        for (format, text) in [
            ("%Y-%m-%d", "2020-13-01"),
            ("%H:%M", "10:00:00"),
            ("%b", "Foo"),
            ("%s", "x"),
            ("%p", "ü"),
            ("%S", ""),
        ] {
            let reader = TimeReader::compile(format).unwrap();
            assert_eq!(reader.read(text, &Zone::UTC, now), None, "{format} {text}");
        }
        assert!(TimeReader::compile("%!").is_none());
        assert!(matches!(TimeReader::compile("%+"), Some(TimeReader::Library(_))));
    }
}
