//! Datetimes whose fields all have their full width, such as `2026-03-01T00:00:00.007Z`: read in
//! one walk over format and text. Whatever is written otherwise is left to chrono; where this reads
//! a text, chrono reads the same.

use chrono::{NaiveDate, NaiveDateTime};

/// A datetime as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Written {
    pub local: NaiveDateTime,
    /// East of UTC, where the format says so.
    pub(crate) offset_seconds: Option<i64>,
}

/// Reads `text` by `format`; `None`: that takes chrono.
pub(super) fn read(text: &str, format: &str) -> Option<Written> {
    let mut reader = Reader { text: text.as_bytes(), ..Reader::default() };
    reader.read(format.as_bytes())?;
    let Reader { text: [], seen, numbers, offset_seconds, .. } = reader else { return None };
    if seen & COMPLETE != COMPLETE {
        return None;
    }
    let number = |field: Field| numbers[field as usize];
    let year = i32::try_from(number(Field::Year)).ok()?;
    let date = NaiveDate::from_ymd_opt(year, number(Field::Month), number(Field::Day))?;
    let (hour, minute, second) =
        (number(Field::Hour), number(Field::Minute), number(Field::Second));
    let local = date.and_hms_nano_opt(hour, minute, second, number(Field::Nanosecond))?;
    Some(Written { local, offset_seconds })
}

/// What a format may ask for. Each may be asked for once: chrono compares what is written twice.
#[derive(Clone, Copy)]
enum Field {
    Year,
    Month,
    Day,
    Hour,
    Minute,
    Second,
    Nanosecond,
    Offset,
}

const FIELDS: usize = Field::Offset as usize + 1;
/// The fields that a datetime cannot do without.
const COMPLETE: u8 = (1 << Field::Nanosecond as u8) - 1;

/// Digits of a nanosecond.
const FRACTION_DIGITS_MAX: u32 = 9;

#[derive(Default)]
struct Reader<'t> {
    /// What is still to be read.
    text: &'t [u8],
    /// One bit for each field.
    seen: u8,
    numbers: [u32; FIELDS],
    offset_seconds: Option<i64>,
}

impl Reader<'_> {
    fn read(&mut self, mut format: &[u8]) -> Option<()> {
        loop {
            format = match format {
                [] => return Some(()),
                [b'%', b'Y', rest @ ..] => self.number::<4>(Field::Year, rest)?,
                [b'%', b'm', rest @ ..] => self.number::<2>(Field::Month, rest)?,
                [b'%', b'd', rest @ ..] => self.number::<2>(Field::Day, rest)?,
                [b'%', b'H', rest @ ..] => self.number::<2>(Field::Hour, rest)?,
                [b'%', b'M', rest @ ..] => self.number::<2>(Field::Minute, rest)?,
                [b'%', b'S', rest @ ..] => self.number::<2>(Field::Second, rest)?,
                [b'%', b'b' | b'h', rest @ ..] => {
                    self.month_name()?;
                    rest
                }
                [b'%', b'F', rest @ ..] => {
                    self.read(b"%Y-%m-%d")?;
                    rest
                }
                [b'%', b'T', rest @ ..] => {
                    self.read(b"%H:%M:%S")?;
                    rest
                }
                [b'%', b'.', b'f', rest @ ..] => {
                    self.fraction(1, FRACTION_DIGITS_MAX)?;
                    // chrono passes over what is finer than a nanosecond.
                    if self.text.first().is_some_and(u8::is_ascii_digit) {
                        return None;
                    }
                    rest
                }
                [b'%', b'.', digits @ (b'3' | b'6' | b'9'), b'f', rest @ ..] => {
                    let digits = u32::from(digits - b'0');
                    self.fraction(digits, digits)?;
                    rest
                }
                [b'%', b'z', rest @ ..] => {
                    self.offset()?;
                    rest
                }
                [b'%', ..] => return None,
                [literal, rest @ ..] => {
                    self.text = self.text.strip_prefix(&[*literal])?;
                    rest
                }
            };
        }
    }

    fn note(&mut self, field: Field, number: u32) -> Option<()> {
        let bit = 1 << field as u8;
        if self.seen & bit != 0 {
            return None;
        }
        self.seen |= bit;
        self.numbers[field as usize] = number;
        Some(())
    }

    /// A number of exactly so many digits; gives the rest of the format back.
    fn number<'f, const DIGITS: usize>(
        &mut self,
        field: Field,
        rest: &'f [u8],
    ) -> Option<&'f [u8]> {
        let number = self.digits::<DIGITS>()?;
        self.note(field, number)?;
        Some(rest)
    }

    fn digits<const DIGITS: usize>(&mut self) -> Option<u32> {
        let (digits, rest) = self.text.split_first_chunk::<DIGITS>()?;
        self.text = rest;
        digits.iter().try_fold(0, |number, digit| Some(number * 10 + value_of(*digit)?))
    }

    /// `Jan`, in any case.
    fn month_name(&mut self) -> Option<()> {
        const NAMES: [&[u8; 3]; 12] = [
            b"jan", b"feb", b"mar", b"apr", b"may", b"jun", b"jul", b"aug", b"sep", b"oct", b"nov",
            b"dec",
        ];
        let (name, rest) = self.text.split_first_chunk::<3>()?;
        self.text = rest;
        let name = name.map(|letter| letter.to_ascii_lowercase());
        let month = NAMES.iter().position(|one| **one == name)?;
        self.note(Field::Month, month as u32 + 1)
    }

    /// `.` and at least so many digits; with more than `most` the rest is left.
    fn fraction(&mut self, least: u32, most: u32) -> Option<()> {
        let mut rest = self.text.strip_prefix(b".")?;
        let (mut number, mut count) = (0, 0);
        while let Some((digit, after)) = rest.split_first()
            && count < most
            && let Some(value) = value_of(*digit)
        {
            (number, count, rest) = (number * 10 + value, count + 1, after);
        }
        self.text = rest;
        if count < least {
            return None;
        }
        self.note(Field::Nanosecond, number * 10_u32.pow(FRACTION_DIGITS_MAX - count))
    }

    /// `+02:00` or `+0200`.
    fn offset(&mut self) -> Option<()> {
        let (sign, rest) = self.text.split_first()?;
        let sign = match sign {
            b'+' => 1,
            b'-' => -1,
            _ => return None,
        };
        self.text = rest;
        let hours = self.digits::<2>().filter(|hours| *hours < 24)?;
        self.text = self.text.strip_prefix(b":").unwrap_or(self.text);
        let minutes = self.digits::<2>().filter(|minutes| *minutes < 60)?;
        self.offset_seconds = Some(sign * i64::from(hours * 3600 + minutes * 60));
        self.note(Field::Offset, 0)
    }
}

fn value_of(digit: u8) -> Option<u32> {
    let value = digit.wrapping_sub(b'0');
    (value < 10).then_some(u32::from(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::DateTime;

    const FORMATS: [&str; 10] = [
        "%Y-%m-%dT%H:%M:%S%.3fZ",
        "%Y-%m-%d %H:%M:%S",
        "%F %T%.f",
        "%FT%T%.f%z",
        "%d/%b/%Y:%H:%M:%S %z",
        "%Y%m%d%H%M%S",
        "%Y-%m-%d",
        "%F %Y %T",
        "%A %F %T",
        "  %F é %T ",
    ];

    const TEXTS: [&str; 24] = [
        "2026-03-01T00:00:00.007Z",
        "2026-03-01T00:00:00.Z",
        "2026-03-01T00:00:00Z",
        "2026-02-29T00:00:00.1Z",
        "2026-03-01T24:00:00.1Z",
        "2026-03-01T23:59:60.1Z",
        "2026-03-01T00:00:00.1234567891Z",
        "2026-3-1T0:0:0.5Z",
        "1969-12-31T23:59:59.999999999Z",
        "2026-03-01 00:00:00",
        "2026-03-01  00:00:00",
        "2026-03-01 00:00:00 ",
        "2026-03-01 00:00:00.25",
        "2026-03-01T00:00:00.25+02:00",
        "2026-03-01T00:00:00.25-1130",
        "2026-03-01T00:00:00.25+2400",
        "2026-03-01T00:00:00.25+0260",
        "01/mar/2026:10:20:30 -0700",
        "01/Xxx/2026:10:20:30 -0700",
        "20260301102030",
        "202603011020301",
        "2026-03-01",
        "2026-03-01 2026 10:20:30",
        "  2026-03-01 é 10:20:30 ",
    ];

    /// What chrono makes of it: the local time and the offset.
    fn by_chrono(text: &str, format: &str) -> Option<Written> {
        if format.contains("%z") {
            let read = DateTime::parse_from_str(text, format).ok()?;
            let offset_seconds = Some(i64::from(read.offset().local_minus_utc()));
            return Some(Written { local: read.naive_local(), offset_seconds });
        }
        let local = NaiveDateTime::parse_from_str(text, format).ok()?;
        Some(Written { local, offset_seconds: None })
    }

    #[test]
    fn reads_what_chrono_reads() {
        let mut read_here = 0;
        for format in FORMATS {
            for text in TEXTS {
                let Some(here) = read(text, format) else { continue };
                read_here += 1;
                assert_eq!(Some(here), by_chrono(text, format), "{text} by {format}");
            }
        }
        assert_eq!(read_here, 8);
    }

    #[test]
    fn a_changed_byte_is_read_alike() {
        const BYTES: &[u8] = b"09:-+. ZT/aJ";
        for (format, text) in [
            ("%Y-%m-%dT%H:%M:%S%.3fZ", "2026-03-01T00:00:00.007Z"),
            ("%FT%T%.f%z", "2026-03-01T00:00:00.25+02:00"),
            ("%d/%b/%Y:%H:%M:%S %z", "01/Mar/2026:10:20:30 -0700"),
        ] {
            assert!(read(text, format).is_some(), "{text} by {format}");
            for place in 0..text.len() {
                for byte in BYTES {
                    let mut changed = text.as_bytes().to_vec();
                    changed[place] = *byte;
                    let changed = String::from_utf8(changed).expect("ASCII");
                    if let Some(here) = read(&changed, format) {
                        assert_eq!(
                            Some(here),
                            by_chrono(&changed, format),
                            "{changed} by {format}"
                        );
                    }
                }
            }
        }
    }
}
