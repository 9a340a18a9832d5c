//! Parses strings by a pattern as Joda-Time does: numbers may have fewer digits than the pattern has letters, names may
//! be long or short, and missing fields are those of 1970-01-01. See [`super::fields`] for how fields become a time.

use super::fields::{Found, Unit};
use super::format::{Field, Format, Part};
use super::locale::Locale;
use super::{Zone, digits};
use chrono::{DateTime, Datelike, FixedOffset, Months, Utc};

/// The state of parsing one string.
struct Reading<'l> {
    found: Found,
    zone: Option<Zone>,
    locale: &'l Locale,
    /// A year of two digits is the one within fifty years of this year.
    pivot: i32,
}

/// The most digits of a year.
const YEAR_DIGITS: usize = 9;

impl Format {
    /// The moment that `text` stands for. `zone` is the zone of strings that name none; `now` gives the year to strings
    /// without one.
    #[must_use]
    pub fn read(
        &self,
        text: &str,
        zone: Zone,
        locale: &Locale,
        now: DateTime<Utc>,
    ) -> Option<DateTime<Utc>> {
        let pivot = now.year() - 30;
        let mut reading = Reading { found: Found::default(), zone: None, locale, pivot };
        let mut rest = text;
        for (at, part) in self.parts.iter().enumerate() {
            let numeric =
                |part: &Part| matches!(part, Part::Field(next, count) if next.is_number(*count));
            let next_is_number = self.parts.get(at + 1).is_some_and(numeric);
            rest = match part {
                Part::Literal(literal) => after_literal(rest, literal)?,
                Part::Field(field, count) => reading.field(*field, *count, next_is_number, rest)?,
            };
        }
        if !rest.is_empty() {
            return None;
        }
        let zone = reading.zone.unwrap_or(zone);
        let local_now = || zone.local(now);
        let time = zone.moment(reading.found.time(|| local_now().year())?)?;
        if self.has_year() { Some(time) } else { nearest_year(time, zone, local_now().month()) }
    }
}

/// Moves a time of December to last year if it is January now, and a time of January to next year if it is December.
fn nearest_year(time: DateTime<Utc>, zone: Zone, month_now: u32) -> Option<DateTime<Utc>> {
    let local = zone.local(time);
    match (month_now, local.month()) {
        (1, 12) => zone.moment(local.checked_sub_months(Months::new(12))?),
        (12, 1) => zone.moment(local.checked_add_months(Months::new(12))?),
        _ => Some(time),
    }
}

fn after_literal<'t>(text: &'t str, literal: &str) -> Option<&'t str> {
    let mut rest = text.chars();
    for wanted in literal.chars() {
        let found = rest.next()?;
        if found != wanted && !found.to_lowercase().eq(wanted.to_lowercase()) {
            return None;
        }
    }
    Some(rest.as_str())
}

/// One to `most` digits: their value, how many there are, and the rest of the text.
pub(super) fn number(text: &str, most: usize) -> Option<(i64, usize, &str)> {
    let length = text.bytes().take(most).take_while(u8::is_ascii_digit).count();
    if length == 0 {
        return None;
    }
    let value: i32 = text[..length].parse().ok()?;
    Some((i64::from(value), length, &text[length..]))
}

/// As [`number`], with an optional sign, and whether there was one.
pub(super) fn signed(text: &str, most: usize) -> Option<(i64, usize, bool, &str)> {
    let sign = text.starts_with(['+', '-']);
    let (value, length, rest) = number(text.strip_prefix(['+', '-']).unwrap_or(text), most)?;
    Some((if text.starts_with('-') { -value } else { value }, length, sign, rest))
}

impl Reading<'_> {
    /// Parses one field; returns the rest of the text.
    fn field<'t>(
        &mut self,
        field: Field,
        count: usize,
        next_is_number: bool,
        text: &'t str,
    ) -> Option<&'t str> {
        match field {
            Field::Year | Field::YearOfEra | Field::WeekYear if count == 2 => {
                self.short_year(field, next_is_number, text)
            }
            Field::Year | Field::YearOfEra | Field::WeekYear => {
                let most = if next_is_number { count } else { YEAR_DIGITS };
                let (value, _, sign, rest) = signed(text, most)?;
                if field == Field::YearOfEra && sign {
                    return None;
                }
                self.keep(Unit::of(field)?, value, rest)
            }
            Field::Fraction => {
                let length = text.bytes().take(count).take_while(u8::is_ascii_digit).count();
                if length == 0 {
                    return None;
                }
                let millis = format!("{:0<3}", &text[..length.min(3)]).parse().ok()?;
                self.keep(Unit::Milli, millis, &text[length..])
            }
            field if field.is_number(count) => {
                let digits = match field {
                    Field::WeekdayNumber => 1,
                    Field::DayOfYear => 3,
                    _ => 2,
                };
                let most = digits.max(count);
                let (value, rest) = match field {
                    Field::Century => signed(text, most).map(|(value, .., rest)| (value, rest))?,
                    _ => number(text, most).map(|(value, _, rest)| (value, rest))?,
                };
                self.keep(Unit::of(field)?, value, rest)
            }
            _ => self.name(field, count, text),
        }
    }

    fn keep<'t>(&mut self, unit: Unit, value: i64, rest: &'t str) -> Option<&'t str> {
        self.found.push(unit, value);
        Some(rest)
    }

    /// A year of two digits, or one with a sign or with all its digits.
    fn short_year<'t>(&mut self, field: Field, strict: bool, text: &'t str) -> Option<&'t str> {
        let unit = if field == Field::WeekYear { Unit::WeekYear } else { Unit::Year };
        if !strict {
            let (value, length, sign, rest) = signed(text, usize::MAX)?;
            if sign || length != 2 {
                return self.keep(unit, value, rest);
            }
        }
        let (value, rest) = digits(text, 2)?;
        let low = i64::from(self.pivot) - 50;
        self.keep(unit, low + (value - low).rem_euclid(100), rest)
    }

    /// A field that is a name or a zone.
    fn name<'t>(&mut self, field: Field, count: usize, text: &'t str) -> Option<&'t str> {
        let locale = self.locale;
        let (unit, (number, rest)) = match field {
            Field::Month => (Unit::Month, locale.read_month(text)?),
            Field::Weekday => (Unit::Weekday, locale.read_day(text)?),
            Field::HalfDay => (Unit::HalfDay, locale.read_half_day(text)?),
            Field::Era => (Unit::Era, locale.read_era(text)?),
            Field::Offset if count > 2 => {
                let (zone, rest) = zone_id(text)?;
                self.zone = Some(zone);
                return Some(rest);
            }
            Field::Offset => {
                let (offset, rest) = offset(text)?;
                self.zone = Some(Zone::Fixed(offset));
                return Some(rest);
            }
            Field::ZoneName => {
                let (zone, rest) = zone_name(text)?;
                self.zone = Some(zone);
                return Some(rest);
            }
            _ => return None,
        };
        let first = i64::from(matches!(field, Field::Month | Field::Weekday));
        self.keep(unit, i64::try_from(number).ok()? + first, rest)
    }
}

/// `Europe/Berlin`
fn zone_id(text: &str) -> Option<(Zone, &str)> {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || "/_+-".contains(c)));
    let mut end = end.unwrap_or(text.len());
    while end > 0 {
        if let Ok(zone) = text[..end].parse() {
            return Some((Zone::Named(zone), &text[end..]));
        }
        end -= 1;
    }
    None
}

/// The few abbreviations that Joda-Time parses.
fn zone_name(text: &str) -> Option<(Zone, &str)> {
    const NAMES: [(&str, chrono_tz::Tz); 11] = [
        ("UTC", chrono_tz::Tz::UTC),
        ("UT", chrono_tz::Tz::UTC),
        ("GMT", chrono_tz::Tz::UTC),
        ("EST", chrono_tz::America::New_York),
        ("EDT", chrono_tz::America::New_York),
        ("CST", chrono_tz::America::Chicago),
        ("CDT", chrono_tz::America::Chicago),
        ("MST", chrono_tz::America::Denver),
        ("MDT", chrono_tz::America::Denver),
        ("PST", chrono_tz::America::Los_Angeles),
        ("PDT", chrono_tz::America::Los_Angeles),
    ];
    NAMES.iter().find_map(|(name, zone)| Some((Zone::Named(*zone), text.strip_prefix(name)?)))
}

/// `Z`, `+01`, `+0100`, `+01:00`, `+01:00:00`, and the rest of the text.
pub(super) fn offset(text: &str) -> Option<(FixedOffset, &str)> {
    if let Some(rest) = text.strip_prefix(['Z', 'z']) {
        return Some((FixedOffset::east_opt(0)?, rest));
    }
    let sign = if text.starts_with('-') { -1 } else { 1 };
    let (hours, mut rest) = digits(text.strip_prefix(['+', '-'])?, 2)?;
    if hours > 23 {
        return None;
    }
    let mut seconds = hours * 3600;
    let colons = rest.starts_with(':');
    for size in [60, 1] {
        let next = match (colons, rest.strip_prefix(':')) {
            (true, Some(next)) => next,
            (true, None) => break,
            (false, _) if rest.starts_with(|c: char| c.is_ascii_digit()) => rest,
            (false, _) => break,
        };
        let (value, after) = digits(next, 2)?;
        if value > 59 {
            return None;
        }
        seconds += value * size;
        rest = after;
    }
    Some((FixedOffset::east_opt(sign * i32::try_from(seconds).ok()?)?, rest))
}
