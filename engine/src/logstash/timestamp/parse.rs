//! Texts read by a pattern, with Joda-Time's leniency: numbers may have fewer digits than letters,
//! names may be long or short, and a missing year is guessed from the current time.

use super::format::{Field, Format, Part};
use super::locale::Locale;
use super::{Zone, offset};
use chrono::{
    DateTime, Datelike, Duration, FixedOffset, NaiveDate, NaiveDateTime, NaiveTime, Utc, Weekday,
};

/// What a text says.
#[derive(Debug, Default)]
struct Found {
    year: Option<i32>,
    week_year: Option<i32>,
    month: Option<u32>,
    day: Option<u32>,
    day_of_year: Option<u32>,
    week: Option<u32>,
    weekday: Option<u32>,
    afternoon: Option<bool>,
    hour: Option<u32>,
    half_hour: Option<u32>,
    minute: u32,
    second: u32,
    nanos: u32,
    offset: Option<FixedOffset>,
    zone: Option<Zone>,
}

impl Format {
    /// The moment that `text` stands for. `zone` is for texts that name none; `now` helps where
    /// there is no year.
    #[must_use]
    pub fn read(
        &self,
        text: &str,
        zone: Zone,
        locale: &Locale,
        now: DateTime<Utc>,
    ) -> Option<DateTime<Utc>> {
        let mut found = Found::default();
        let mut rest = text;
        for (at, part) in self.parts.iter().enumerate() {
            rest = match part {
                Part::Literal(literal) => after_literal(rest, literal)?,
                Part::Field(field, count) => {
                    let next_is_number = matches!(self.parts.get(at + 1),
                        Some(Part::Field(next, count)) if next.is_number(*count));
                    found.read(*field, *count, next_is_number, rest, locale, now)?
                }
            };
        }
        if !rest.is_empty() {
            return None;
        }
        let zone = found.offset.map(Zone::Fixed).or(found.zone).unwrap_or(zone);
        zone.moment(found.local(now)?)
    }
}

fn after_literal<'t>(text: &'t str, literal: &str) -> Option<&'t str> {
    let head = text.get(..literal.len())?;
    head.eq_ignore_ascii_case(literal).then(|| &text[literal.len()..])
}

/// Up to `most` digits, at least one.
fn number(text: &str, most: usize) -> Option<(u32, usize, &str)> {
    let length = text.bytes().take(most).take_while(u8::is_ascii_digit).count();
    if length == 0 {
        return None;
    }
    Some((text[..length].parse().ok()?, length, &text[length..]))
}

impl Found {
    /// Reads one field; gives what follows it.
    fn read<'t>(
        &mut self,
        field: Field,
        count: usize,
        next_is_number: bool,
        text: &'t str,
        locale: &Locale,
        now: DateTime<Utc>,
    ) -> Option<&'t str> {
        if field.is_number(count) {
            return self.read_number(field, count, next_is_number, text, now);
        }
        match field {
            Field::Month => {
                let (month, rest) = locale.read_month(text)?;
                self.month = Some(u32::try_from(month).ok()? + 1);
                Some(rest)
            }
            Field::Weekday => {
                let (day, rest) = locale.read_day(text)?;
                self.weekday = Some(u32::try_from(day).ok()? + 1);
                Some(rest)
            }
            Field::HalfDay => {
                let half = text.get(..2)?;
                self.afternoon = match half.to_ascii_uppercase().as_str() {
                    "AM" => Some(false),
                    "PM" => Some(true),
                    _ => return None,
                };
                Some(&text[2..])
            }
            Field::Era => after_literal(text, "AD"),
            Field::Offset if count > 2 => {
                let end = text
                    .find(|c: char| !(c.is_ascii_alphanumeric() || "/_+-".contains(c)))
                    .unwrap_or(text.len());
                self.zone = Some(Zone::named(&text[..end])?);
                Some(&text[end..])
            }
            Field::Offset => {
                let (offset, rest) = offset(text)?;
                self.offset = Some(offset);
                Some(rest)
            }
            // Names such as `EST` mean several zones; nobody reads them.
            _ => None,
        }
    }

    fn read_number<'t>(
        &mut self,
        field: Field,
        count: usize,
        next_is_number: bool,
        text: &'t str,
        now: DateTime<Utc>,
    ) -> Option<&'t str> {
        /// A year has no more digits.
        const YEAR_DIGITS: usize = 9;
        match field {
            Field::Year | Field::WeekYear => {
                let most = if next_is_number { count } else { YEAR_DIGITS };
                let negative = text.starts_with('-');
                let (year, length, rest) = number(text.strip_prefix('-').unwrap_or(text), most)?;
                let year = i32::try_from(year).ok()?;
                let year = match (count, length) {
                    (2, 2) => full_year(year, now.year()),
                    _ if negative => -year,
                    _ => year,
                };
                let place = if field == Field::Year { &mut self.year } else { &mut self.week_year };
                *place = Some(year);
                Some(rest)
            }
            Field::Fraction => {
                let length = text.bytes().take(count).take_while(u8::is_ascii_digit).count();
                let decimals: String = text[..length].chars().take(9).collect();
                self.nanos = format!("{decimals:0<9}").parse().ok()?;
                // Times have a precision of milliseconds here.
                self.nanos -= self.nanos % 1_000_000;
                Some(&text[length..])
            }
            Field::DayOfYear => {
                let (value, _, rest) = number(text, count.max(3))?;
                self.day_of_year = Some(value);
                Some(rest)
            }
            _ => {
                let (value, _, rest) = number(text, 2)?;
                self.put(field, value)?;
                Some(rest)
            }
        }
    }

    fn put(&mut self, field: Field, value: u32) -> Option<()> {
        let (place, least, most) = match field {
            Field::Month => (&mut self.month, 1, 12),
            Field::Day => (&mut self.day, 1, 31),
            Field::Week => (&mut self.week, 1, 53),
            Field::WeekdayNumber => (&mut self.weekday, 1, 7),
            Field::Hour => (&mut self.hour, 0, 23),
            Field::ClockHour => (&mut self.hour, 1, 24),
            Field::ClockHourOfHalf => (&mut self.half_hour, 1, 12),
            Field::HourOfHalf => (&mut self.half_hour, 0, 11),
            Field::Minute if value <= 59 => {
                self.minute = value;
                return Some(());
            }
            Field::Second if value <= 59 => {
                self.second = value;
                return Some(());
            }
            _ => return None,
        };
        if !(least..=most).contains(&value) {
            return None;
        }
        *place = Some(value);
        Some(())
    }

    fn local(&self, now: DateTime<Utc>) -> Option<NaiveDateTime> {
        let hour = match (self.hour, self.half_hour) {
            (Some(hour), _) => hour % 24,
            (None, Some(half)) => half % 12 + 12 * u32::from(self.afternoon.unwrap_or(false)),
            (None, None) => 12 * u32::from(self.afternoon.unwrap_or(false)),
        };
        let time = NaiveTime::from_hms_nano_opt(hour, self.minute, self.second, self.nanos)?;
        Some(self.date(now)?.and_time(time))
    }

    fn date(&self, now: DateTime<Utc>) -> Option<NaiveDate> {
        let weekday = |number: u32| Weekday::try_from(u8::try_from(number - 1).ok()?).ok();
        if let (Some(week), None) = (self.week, self.month) {
            let year = self.week_year.or(self.year).unwrap_or(now.year());
            return NaiveDate::from_isoywd_opt(year, week, weekday(self.weekday.unwrap_or(1))?);
        }
        let year = self.year.or(self.week_year).unwrap_or_else(|| self.guessed_year(now));
        let date = match self.day_of_year {
            Some(day) => NaiveDate::from_yo_opt(year, day)?,
            None => NaiveDate::from_ymd_opt(year, self.month.unwrap_or(1), self.day.unwrap_or(1))?,
        };
        // A day of the week moves the date within its week.
        match self.weekday {
            Some(wanted) => {
                let shift = i64::from(wanted) - i64::from(date.weekday().number_from_monday());
                date.checked_add_signed(Duration::days(shift))
            }
            None => Some(date),
        }
    }

    fn guessed_year(&self, now: DateTime<Utc>) -> i32 {
        match (now.month(), self.month) {
            (1, Some(12)) => now.year() - 1,
            (12, Some(1)) => now.year() + 1,
            _ => now.year(),
        }
    }
}

/// The year that two digits stand for: the century is that of fifty years around a moment thirty
/// years ago.
fn full_year(digits: i32, current: i32) -> i32 {
    let low = current - 30 - 50;
    low + (digits - low).rem_euclid(100)
}
