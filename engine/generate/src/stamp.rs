//! Times of day as text. Events come in the order of their times, so the last second's text is kept.
//!
//! Invariant: times are UTC; a zone says what its clocks show of them when they are written.

use super::digits::{push_number, push_padded, push_two};
use super::zone::Zone;
use temblor_runtime::clock::Timestamp;

/// A moment by calendar and clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Civil {
    /// 1970 …
    pub year: u64,
    /// 1 to 12.
    pub month: u64,
    /// 1 to 31.
    pub day: u64,
    /// 0 to 23.
    pub hour: u64,
    /// 0 to 59.
    pub minute: u64,
    /// 0 to 59.
    pub second: u64,
    /// 0 (Sunday) to 6.
    pub weekday: u64,
}

const NS: u64 = 1_000_000_000;
/// Names of months, from January.
pub const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
/// Names of days, from Sunday.
pub(crate) const WEEKDAYS: [&str; 7] =
    ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

impl Civil {
    /// The calendar's view of a time (days to date: Howard Hinnant, "chrono-compatible low-level
    /// date algorithms").
    pub fn of(time: Timestamp) -> Self {
        let seconds = time / NS;
        let (days, in_day) = (seconds / 86_400, seconds % 86_400);
        let shifted = days + 719_468;
        let era = shifted / 146_097;
        let of_era = shifted % 146_097;
        let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted_month = (5 * of_year + 2) / 153;
        let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
        Civil {
            year: year_of_era + era * 400 + u64::from(month <= 2),
            month,
            day: of_year - (153 * shifted_month + 2) / 5 + 1,
            hour: in_day / 3_600,
            minute: in_day / 60 % 60,
            second: in_day % 60,
            weekday: (days + 4) % 7,
        }
    }
}

/// A way of writing times, in the letters of `strftime` (POSIX, with `-` for numbers without padding), with
/// `%3N` and the like for parts of a second.
#[derive(Clone, Debug)]
pub struct Stamp {
    parts: Vec<Part>,
    zone: Zone,
    second: u64,
    /// What the second looks like; parts of a second are zeros.
    text: Vec<u8>,
    /// Where parts of a second stand in the text, and how many digits.
    fractions: Vec<(usize, usize)>,
}

/// A part of a format.
#[derive(Clone, Debug, PartialEq)]
enum Part {
    Text(String),
    /// `%Y`
    Letter(char),
    /// `%-d`: a number without padding
    Bare(char),
    /// `%3N`
    Fraction(usize),
}

/// ISO 8601 with milliseconds.
pub(crate) const ISO: &str = "%Y-%m-%dT%H:%M:%S.%3NZ";

/// Letters that stand for several others.
const SHORTHANDS: [(char, &str); 8] = [
    ('F', "%Y-%m-%d"),
    ('T', "%H:%M:%S"),
    ('R', "%H:%M"),
    ('D', "%m/%d/%y"),
    ('r', "%I:%M:%S %p"),
    ('c', "%a %b %e %H:%M:%S %Y"),
    ('x', "%m/%d/%y"),
    ('X', "%H:%M:%S"),
];

const LETTERS: &str = "YymdeHIMSkljpPbhaBAsuwzZUWVGgCnt%";

impl Stamp {
    /// A way of writing.
    ///
    /// # Errors
    /// Says which letter is unknown.
    pub(crate) fn new(format: &str) -> Result<Self, String> {
        Self::compile(format, true)
    }

    /// A way of writing in which an unknown letter stands for itself, as in C's `strftime`.
    #[must_use]
    pub(crate) fn lenient(format: &str) -> Self {
        Self::compile(format, false).expect("nothing is refused")
    }

    fn compile(format: &str, is_strict: bool) -> Result<Self, String> {
        let mut parts = Vec::new();
        compile(format, is_strict, &mut parts)?;
        let (text, fractions) = (Vec::new(), Vec::new());
        Ok(Stamp { parts, zone: Zone::UTC, second: u64::MAX, text, fractions })
    }

    /// The same by the clocks of a zone.
    #[must_use]
    pub(crate) fn zone(self, zone: Zone) -> Self {
        Stamp { zone, second: u64::MAX, ..self }
    }

    /// The bytes that it may write.
    #[must_use]
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = b"0123456789".to_vec();
        for part in &self.parts {
            match part {
                Part::Text(text) => bytes.extend_from_slice(text.as_bytes()),
                Part::Fraction(_) => {}
                Part::Letter(letter) | Part::Bare(letter)
                    if "YmdHIMSsyCjuwUWVGg".contains(*letter) => {}
                Part::Letter(_) | Part::Bare(_) => bytes.extend(b'\t'..=b'z'),
            }
        }
        bytes
    }

    /// Appends a time.
    #[inline]
    pub(crate) fn push(&mut self, time: Timestamp, out: &mut Vec<u8>) {
        if time / NS != self.second {
            self.render(time);
        }
        let start = out.len();
        out.extend_from_slice(&self.text);
        for (at, digits) in &self.fractions {
            let mut part = time % NS / 10u64.pow(9 - *digits as u32);
            for place in (0..*digits).rev() {
                out[start + at + place] = b'0' + (part % 10) as u8;
                part /= 10;
            }
        }
    }

    /// Writes the second down; all of its events look the same but for their parts of a second.
    fn render(&mut self, time: Timestamp) {
        self.second = time / NS;
        self.text.clear();
        self.fractions.clear();
        let east = self.zone.east(time);
        let civil = Civil::of(time.saturating_add_signed(east.saturating_mul(NS as i64)));
        for part in &self.parts {
            match part {
                Part::Text(text) => self.text.extend_from_slice(text.as_bytes()),
                Part::Fraction(digits) => {
                    self.fractions.push((self.text.len(), *digits));
                    self.text.extend(std::iter::repeat_n(b'0', *digits));
                }
                Part::Letter(letter) => {
                    push_letter(*letter, civil, (time, east, &self.zone), &mut self.text);
                }
                Part::Bare(letter) => {
                    let start = self.text.len();
                    push_letter(*letter, civil, (time, east, &self.zone), &mut self.text);
                    let padded = self.text.split_off(start);
                    let bare = padded.trim_ascii_start();
                    let zeros = bare.iter().take_while(|byte| **byte == b'0').count();
                    self.text.extend_from_slice(&bare[zeros.min(bare.len().saturating_sub(1))..]);
                }
            }
        }
    }
}

fn compile(format: &str, is_strict: bool, parts: &mut Vec<Part>) -> Result<(), String> {
    let mut rest = format;
    while let Some(at) = rest.find('%') {
        text(&rest[..at], parts);
        let mut letters = rest[at + 1..].chars();
        let Some(first) = letters.next() else {
            if is_strict {
                return Err(format!("`{format}` ends with a lone %"));
            }
            text("%", parts);
            return Ok(());
        };
        let second = letters.clone().next();
        let (part, length) = match (first, second) {
            ('1'..='9', Some('N' | 'f' | 'Q')) => {
                (Some(Part::Fraction(first as usize - '0' as usize)), 2)
            }
            ('-' | '#', Some(letter)) if LETTERS.contains(letter) && letter != '%' => {
                (Some(Part::Bare(letter)), 1 + letter.len_utf8())
            }
            ('f', _) => (Some(Part::Fraction(6)), 1),
            ('N', _) => (Some(Part::Fraction(9)), 1),
            ('L' | 'Q', _) => (Some(Part::Fraction(3)), 1),
            ('%', _) => (Some(Part::Text("%".to_string())), 1),
            (letter, _) if LETTERS.contains(letter) => (Some(Part::Letter(letter)), 1),
            (letter, _) => (None, letter.len_utf8()),
        };
        let shorthand = SHORTHANDS.iter().find(|(letter, _)| *letter == first);
        match (part, shorthand) {
            (Some(part), _) => parts.push(part),
            (None, Some((_, long))) => compile(long, is_strict, parts)?,
            (None, None) if is_strict => return Err(format!("`%{first}` is no part of a time")),
            (None, None) => text(&rest[at..=at + length], parts),
        }
        rest = &rest[at + 1 + length..];
    }
    text(rest, parts);
    Ok(())
}

fn text(text: &str, parts: &mut Vec<Part>) {
    match parts.last_mut() {
        _ if text.is_empty() => {}
        Some(Part::Text(before)) => before.push_str(text),
        _ => parts.push(Part::Text(text.to_string())),
    }
}

fn push_zone(east: i64, out: &mut Vec<u8>) {
    out.push(if east < 0 { b'-' } else { b'+' });
    push_two(east.unsigned_abs() / 3_600, out);
    push_two(east.unsigned_abs() / 60 % 60, out);
}

fn push_letter(
    letter: char,
    civil: Civil,
    (time, east, zone): (Timestamp, i64, &Zone),
    out: &mut Vec<u8>,
) {
    let hour = (civil.hour + 11) % 12 + 1;
    let name = |names: &'static [&'static str], index: u64| names[index as usize].as_bytes();
    match letter {
        'Y' => push_padded(civil.year, 4, out),
        'C' => push_two(civil.year / 100, out),
        'y' => push_two(civil.year, out),
        'm' => push_two(civil.month, out),
        'd' => push_two(civil.day, out),
        'e' => push_spaced(civil.day, out),
        'H' => push_two(civil.hour, out),
        'k' => push_spaced(civil.hour, out),
        'I' => push_two(hour, out),
        'l' => push_spaced(hour, out),
        'M' => push_two(civil.minute, out),
        'S' => push_two(civil.second, out),
        'p' => out.extend_from_slice(if civil.hour < 12 { b"AM" } else { b"PM" }),
        'P' => out.extend_from_slice(if civil.hour < 12 { b"am" } else { b"pm" }),
        'b' | 'h' => out.extend_from_slice(&name(&MONTHS, civil.month - 1)[..3]),
        'B' => out.extend_from_slice(name(&MONTHS, civil.month - 1)),
        'a' => out.extend_from_slice(&name(&WEEKDAYS, civil.weekday)[..3]),
        'A' => out.extend_from_slice(name(&WEEKDAYS, civil.weekday)),
        's' => push_number(time / NS, out),
        'w' => push_number(civil.weekday, out),
        'u' => push_number((civil.weekday + 6) % 7 + 1, out),
        'z' => push_zone(east, out),
        'Z' => match zone.abbreviation(time) {
            Some(name) => out.extend_from_slice(name.as_bytes()),
            None => push_zone(east, out),
        },
        'n' => out.push(b'\n'),
        't' => out.push(b'\t'),
        // The rest is about days and weeks of the year, which the calendar knows.
        other => {
            let text = zone.civil(time).format(&format!("%{other}")).to_string();
            out.extend_from_slice(text.as_bytes());
        }
    }
}

fn push_spaced(number: u64, out: &mut Vec<u8>) {
    if number < 10 {
        out.push(b' ');
    }
    push_number(number, out);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_asked() {
        let time = 1_772_323_445_067_000_000;
        let written = |format: &str| {
            let mut out = Vec::new();
            Stamp::new(format).unwrap().push(time, &mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(written(ISO), "2026-03-01T00:04:05.067Z");
        assert_eq!(written("%d/%b/%Y:%H:%M:%S %z"), "01/Mar/2026:00:04:05 +0000");
        assert_eq!(written("%a %e %I%p %s %f %%"), "Sun  1 12AM 1772323445 067000 %");
        let mut out = Vec::new();
        Stamp::new("%d %H:%M %z %Z").unwrap().zone(Zone::Fixed(-19_800)).push(time, &mut out);
        assert_eq!(out, b"28 18:34 -0530 -0530");
        assert_eq!(
            written("%-d/%-m %k%l %A %B %j %D %R %y"),
            "1/3  012 Sunday March 060 03/01/26 00:04 26"
        );
        assert!(Stamp::new("%!").is_err() && Stamp::new("%").is_err());
        let mut out = Vec::new();
        Stamp::lenient("%! %ü %H %").push(time, &mut out);
        assert_eq!(out, "%! %ü 00 %".as_bytes());
    }

    #[test]
    fn leap_days_exist() {
        let civil = Civil::of(1_709_164_800 * NS);
        assert_eq!((civil.year, civil.month, civil.day, civil.weekday), (2024, 2, 29, 4));
    }
}
