//! Times of day as text. Events come in the order of their times, so the last second's text is kept.
//!
//! Invariant: times are UTC; a zone is a fixed distance that is added when they are written.

use super::digits::{push_number, push_padded, push_two};
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
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const WEEKDAYS: [&str; 7] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

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

/// A way of writing times, in the letters of `strftime` (POSIX), with `%3N` and the like for parts of a second.
#[derive(Clone, Debug)]
pub struct Stamp {
    format: String,
    /// Whether parts of a second are written, so that nothing can be kept.
    is_fine: bool,
    /// Seconds east of Greenwich.
    east: i64,
    second: u64,
    text: Vec<u8>,
}

/// ISO 8601 with milliseconds.
pub const ISO: &str = "%Y-%m-%dT%H:%M:%S.%3NZ";

impl Stamp {
    /// A way of writing.
    ///
    /// # Errors
    /// Says which letter is unknown.
    pub fn new(format: &str) -> Result<Self, String> {
        let stamp = Stamp {
            format: format.to_string(),
            is_fine: ["%f", "%N", "%L", "%3N", "%6N", "%9N", "%3f", "%6f", "%9f", "%Q"]
                .iter()
                .any(|part| format.contains(part)),
            east: 0,
            second: u64::MAX,
            text: Vec::new(),
        };
        push(&stamp.format, 0, 0, &mut Vec::new())?;
        Ok(stamp)
    }

    /// The same in the zone so many seconds east of Greenwich.
    #[must_use]
    pub fn east(self, seconds: i64) -> Self {
        Stamp { east: seconds, second: u64::MAX, ..self }
    }

    /// Appends a time.
    #[inline]
    pub fn push(&mut self, time: Timestamp, out: &mut Vec<u8>) {
        if self.is_fine || time / NS != self.second {
            self.second = time / NS;
            self.text.clear();
            push(&self.format, time, self.east, &mut self.text)
                .expect("the format was tried by `new`");
        }
        out.extend_from_slice(&self.text);
    }
}

fn push(format: &str, time: Timestamp, east: i64, out: &mut Vec<u8>) -> Result<(), String> {
    let civil = Civil::of(time.saturating_add_signed(east.saturating_mul(NS as i64)));
    let mut letters = format.chars();
    while let Some(letter) = letters.next() {
        if letter != '%' {
            let mut bytes = [0; 4];
            out.extend_from_slice(letter.encode_utf8(&mut bytes).as_bytes());
            continue;
        }
        match letters.next() {
            Some(digit @ ('3' | '6' | '9')) if matches!(letters.next(), Some('N' | 'f')) => {
                push_fraction(time, digit as usize - '0' as usize, out);
            }
            Some(letter) => push_part(letter, civil, (time, east), out)?,
            None => return Err(format!("`{format}` ends with a lone %")),
        }
    }
    Ok(())
}

fn push_zone(east: i64, out: &mut Vec<u8>) {
    out.push(if east < 0 { b'-' } else { b'+' });
    push_two(east.unsigned_abs() / 3_600, out);
    push_two(east.unsigned_abs() / 60 % 60, out);
}

fn push_fraction(time: Timestamp, digits: usize, out: &mut Vec<u8>) {
    let nanoseconds = time % NS;
    push_padded(nanoseconds / 10u64.pow(9 - digits as u32), digits, out);
}

fn push_part(
    letter: char,
    civil: Civil,
    (time, east): (Timestamp, i64),
    out: &mut Vec<u8>,
) -> Result<(), String> {
    match letter {
        'Y' => push_padded(civil.year, 4, out),
        'y' => push_two(civil.year, out),
        'm' => push_two(civil.month, out),
        'd' => push_two(civil.day, out),
        'e' => out.extend_from_slice(format!("{:>2}", civil.day).as_bytes()),
        'H' => push_two(civil.hour, out),
        'I' => push_two((civil.hour + 11) % 12 + 1, out),
        'M' => push_two(civil.minute, out),
        'S' => push_two(civil.second, out),
        'p' => out.extend_from_slice(if civil.hour < 12 { b"AM" } else { b"PM" }),
        'b' | 'h' => out.extend_from_slice(MONTHS[civil.month as usize - 1].as_bytes()),
        'a' => out.extend_from_slice(WEEKDAYS[civil.weekday as usize].as_bytes()),
        'f' => push_fraction(time, 6, out),
        'N' => push_fraction(time, 9, out),
        'L' | 'Q' => push_fraction(time, 3, out),
        's' => push_number(time / NS, out),
        'z' => push_zone(east, out),
        'Z' if east == 0 => out.extend_from_slice(b"UTC"),
        'Z' => push_zone(east, out),
        'F' => return push("%Y-%m-%d", time, east, out),
        'T' => return push("%H:%M:%S", time, east, out),
        '%' => out.push(b'%'),
        other => return Err(format!("`%{other}` is no part of a time")),
    }
    Ok(())
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
        Stamp::new("%d %H:%M %z %Z").unwrap().east(-19_800).push(time, &mut out);
        assert_eq!(out, b"28 18:34 -0530 -0530");
        assert!(Stamp::new("%!").is_err() && Stamp::new("%").is_err());
    }

    #[test]
    fn leap_days_exist() {
        let civil = Civil::of(1_709_164_800 * NS);
        assert_eq!((civil.year, civil.month, civil.day, civil.weekday), (2024, 2, 29, 4));
    }
}
