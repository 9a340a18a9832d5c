//! Cron expressions with seconds: `second minute hour day month weekday [year]`, in UTC. A time fits
//! when every field fits, days of the month and of the week both; weekdays go from 1 (Sunday) to 7.

use chrono::{DateTime, Datelike, Days, Months, NaiveDate, NaiveTime, Timelike};

/// When something is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expression {
    seconds: u64,
    minutes: u64,
    hours: u64,
    days: u64,
    months: u64,
    weekdays: u64,
    /// One flag for each year from [`YEARS`]; empty for all of them.
    years: Vec<bool>,
}

/// Whether ranges may go beyond the end and on from the beginning: `fri-mon`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Wrap {
    Allowed,
    Refused,
}

/// The place of the month in the table of fields.
pub(super) const MONTH: usize = 4;

/// What a field may hold.
pub(super) struct Field {
    pub name: &'static str,
    pub least: u32,
    pub most: u32,
    /// Names of numbers from `least` on; three letters are enough.
    pub names: &'static [&'static str],
}

const YEARS: (u32, u32) = (1970, 2100);
pub(super) const FIELDS: [Field; 7] = [
    Field { name: "second", least: 0, most: 59, names: &[] },
    Field { name: "minute", least: 0, most: 59, names: &[] },
    Field { name: "hour", least: 0, most: 23, names: &[] },
    Field { name: "day of the month", least: 1, most: 31, names: &[] },
    Field { name: "month", least: 1, most: 12, names: &MONTHS },
    Field { name: "weekday", least: 1, most: 7, names: &WEEKDAYS },
    Field { name: "year", least: YEARS.0, most: YEARS.1, names: &[] },
];
const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
pub(super) const WEEKDAYS: [&str; 7] =
    ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];
/// Letters that are enough of a name.
const NAME_LETTERS_MIN: usize = 3;
const SHORT_FORMS: [(&str, &str); 7] = [
    ("@annually", "0 0 0 1 1 *"),
    ("@daily", "0 0 0 * * *"),
    ("@hourly", "0 0 * * * *"),
    ("@midnight", "0 0 0 * * *"),
    ("@monthly", "0 0 0 1 * *"),
    ("@weekly", "0 0 0 * * 1"),
    ("@yearly", "0 0 0 1 1 *"),
];

impl Expression {
    /// Reads an expression.
    ///
    /// # Errors
    /// A sentence on what is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let short = SHORT_FORMS.iter().find(|(short, _)| *short == text);
        let fields: Vec<_> = short.map_or(text, |(_, long)| long).split_whitespace().collect();
        if text.starts_with('@') && short.is_none() {
            let known: Vec<_> = SHORT_FORMS.iter().map(|(short, _)| *short).collect();
            return Err(format!("`{text}` is none of {}", known.join(", ")));
        }
        if !(6..=7).contains(&fields.len()) {
            return Err(format!(
                "`{text}` has {} fields, but there are 6 or 7: second minute hour day month weekday [year]",
                fields.len()
            ));
        }
        let bits = |at: usize| {
            let numbers = numbers(&FIELDS[at], fields[at], Wrap::Refused)?;
            Ok::<_, String>(numbers.iter().fold(0, |bits, number| bits | 1u64 << number))
        };
        let mut years = Vec::new();
        if let Some(written) = fields.get(6) {
            years.resize((YEARS.1 - YEARS.0 + 1) as usize, false);
            numbers(&FIELDS[6], written, Wrap::Refused)?
                .into_iter()
                .for_each(|year| years[(year - YEARS.0) as usize] = true);
        }
        Ok(Self {
            seconds: bits(0)?,
            minutes: bits(1)?,
            hours: bits(2)?,
            days: bits(3)?,
            months: bits(4)?,
            weekdays: bits(5)?,
            years,
        })
    }

    /// Seconds, minutes and hours of any day; ranges may go on from the beginning.
    pub(super) fn of_any_day(fields: [&str; 3]) -> Result<Self, String> {
        let mut any = Self::parse("* * * * * *")?;
        let bits = |at: usize| {
            let numbers = numbers(&FIELDS[at], fields[at], Wrap::Allowed)?;
            Ok::<_, String>(numbers.iter().fold(0, |bits, number| bits | 1u64 << number))
        };
        (any.seconds, any.minutes, any.hours) = (bits(0)?, bits(1)?, bits(2)?);
        Ok(any)
    }

    /// The first second that fits behind a time, in nanoseconds since 1970-01-01 UTC; `None` when
    /// there is none until the year 2100.
    #[must_use]
    pub fn next(&self, behind_ns: u64) -> Option<u64> {
        let second = i64::try_from(behind_ns / NANOSECONDS_PER_SECOND).ok()? + 1;
        let start = DateTime::from_timestamp(second, 0)?.naive_utc();
        let mut date = start.date();
        let mut from = start.time();
        while date.year() <= YEARS.1 as i32 {
            if !self.has_year(date) {
                date = NaiveDate::from_ymd_opt(date.year() + 1, 1, 1)?;
            } else if !has(self.months, date.month()) {
                date = date.with_day(1)?.checked_add_months(Months::new(1))?;
            } else if let Some(time) = self.has_day(date).then(|| self.time(from)).flatten() {
                return u64::try_from(date.and_time(time).and_utc().timestamp_nanos_opt()?).ok();
            } else {
                date = date.checked_add_days(Days::new(1))?;
            }
            from = NaiveTime::MIN;
        }
        None
    }

    fn has_year(&self, date: NaiveDate) -> bool {
        let at = usize::try_from(date.year() - YEARS.0 as i32).ok();
        self.years.is_empty() || at.and_then(|at| self.years.get(at)).copied().unwrap_or(false)
    }

    fn has_day(&self, date: NaiveDate) -> bool {
        has(self.days, date.day()) && has(self.weekdays, date.weekday().number_from_sunday())
    }

    /// The first time of a day that fits, from `from` on.
    pub(super) fn time(&self, from: NaiveTime) -> Option<NaiveTime> {
        let (mut minute, mut second) = (from.minute(), from.second());
        for hour in from.hour()..24 {
            if has(self.hours, hour) {
                while let Some(found) = next_bit(self.minutes, minute) {
                    let least = if found == minute { second } else { 0 };
                    if let Some(second) = next_bit(self.seconds, least) {
                        return NaiveTime::from_hms_opt(hour, found, second);
                    }
                    (minute, second) = (found + 1, 0);
                }
            }
            (minute, second) = (0, 0);
        }
        None
    }
}

const NANOSECONDS_PER_SECOND: u64 = 1_000_000_000;

fn has(bits: u64, number: u32) -> bool {
    bits >> number & 1 == 1
}

/// The first bit that is set, from `least` on.
fn next_bit(bits: u64, least: u32) -> Option<u32> {
    let rest = bits.checked_shr(least)?;
    (rest != 0).then(|| least + rest.trailing_zeros())
}

/// The numbers that a field names: `*`, `5`, `1-5`, `*/10`, `5/10`, `mon-fri`, with commas between.
pub(super) fn numbers(field: &Field, text: &str, wrap: Wrap) -> Result<Vec<u32>, String> {
    let mut all = Vec::new();
    for part in text.split(',') {
        let (range, step) = match part.split_once('/') {
            Some((range, step)) => {
                let step = step.parse::<usize>().ok().filter(|step| *step > 0);
                let step = step.ok_or_else(|| wrong(field, part, "a step is a number from 1"))?;
                (range, Some(step))
            }
            None => (part, None),
        };
        let (first, last) = match range.split_once('-') {
            _ if matches!(range, "*" | "?") => (field.least, field.most),
            Some((first, last)) => (number(field, first)?, number(field, last)?),
            None => {
                let first = number(field, range)?;
                (first, if step.is_some() { field.most } else { first })
            }
        };
        if first > last && wrap == Wrap::Refused {
            return Err(wrong(field, part, "a range goes from the smaller to the larger"));
        }
        let around = if first > last { field.most + 1 - field.least } else { 0 };
        let steps = (first..=last + around).step_by(step.unwrap_or(1));
        all.extend(steps.map(|number| if number > field.most { number - around } else { number }));
    }
    Ok(all)
}

fn number(field: &Field, text: &str) -> Result<u32, String> {
    let small = text.to_ascii_lowercase();
    let named = |name: &&str| small.len() >= NAME_LETTERS_MIN && name.starts_with(&small);
    if let Some(at) = field.names.iter().position(named) {
        return Ok(field.least + at as u32);
    }
    let range = field.least..=field.most;
    text.parse().ok().filter(|number| range.contains(number)).ok_or_else(|| {
        let from_to = format!("it goes from {} to {}", field.least, field.most);
        wrong(field, text, &from_to)
    })
}

fn wrong(field: &Field, text: &str, why: &str) -> String {
    format!("`{text}` is no {}: {why}", field.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The next times behind a text's time, as texts.
    fn next(expression: &str, from: &str, count: usize) -> Vec<String> {
        let expression = Expression::parse(expression).unwrap();
        let from = DateTime::parse_from_rfc3339(from).unwrap().timestamp_nanos_opt().unwrap();
        let mut at = from as u64;
        let mut times = Vec::new();
        while let Some(time) = expression.next(at).filter(|_| times.len() < count) {
            let text = DateTime::from_timestamp_nanos(time as i64);
            times.push(text.format("%Y-%m-%dT%H:%M:%S").to_string());
            at = time;
        }
        times
    }

    #[test]
    fn fields_with_ranges_steps_lists_and_names() {
        let from = "2026-01-30T23:59:58.5Z";
        assert_eq!(
            next("* * * * * *", from, 3),
            ["2026-01-30T23:59:59", "2026-01-31T00:00:00", "2026-01-31T00:00:01"]
        );
        assert_eq!(
            next("*/20 5-6 0 * * *", from, 4),
            [
                "2026-01-31T00:05:00",
                "2026-01-31T00:05:20",
                "2026-01-31T00:05:40",
                "2026-01-31T00:06:00"
            ]
        );
        assert_eq!(
            next("0 30/15 12 1,15 Feb-march ?", from, 3),
            ["2026-02-01T12:30:00", "2026-02-01T12:45:00", "2026-02-15T12:30:00"]
        );
        assert_eq!(
            next("0 0 9 * * MON-Friday", from, 2),
            ["2026-02-02T09:00:00", "2026-02-03T09:00:00"]
        );
    }

    #[test]
    fn days_of_month_and_week_both_fit_and_weeks_begin_with_sunday() {
        // The first of the month and a Sunday.
        assert_eq!(
            next("0 0 0 1 * 1", "2026-01-01T00:00:00Z", 2),
            ["2026-02-01T00:00:00", "2026-03-01T00:00:00"]
        );
        assert_eq!(next("@weekly", "2026-01-01T00:00:00Z", 1), ["2026-01-04T00:00:00"]);
    }

    #[test]
    fn years_end_and_the_29th_of_february_comes() {
        assert_eq!(
            next("0 0 0 29 2 *", "2026-01-01T00:00:00Z", 2),
            ["2028-02-29T00:00:00", "2032-02-29T00:00:00"]
        );
        let once = next("0 0 0 1 1 * 2027", "2026-01-01T00:00:00Z", 9);
        assert_eq!(once, ["2027-01-01T00:00:00"]);
        assert!(next("0 0 0 30 2 *", "2026-01-01T00:00:00Z", 1).is_empty());
    }

    #[test]
    fn mistakes_are_named() {
        for (text, wanted) in [
            ("* * * * *", "has 5 fields"),
            ("60 * * * * *", "`60` is no second: it goes from 0 to 59"),
            ("* * * * * 0", "`0` is no weekday: it goes from 1 to 7"),
            ("5-1 * * * * *", "a range goes from the smaller"),
            ("*/0 * * * * *", "a step is a number from 1"),
            ("* * * * ju *", "`ju` is no month"),
            ("@often", "`@often` is none of"),
            ("", "has 0 fields"),
        ] {
            let error = Expression::parse(text).unwrap_err();
            assert!(error.contains(wanted), "{error}");
        }
    }
}
