//! Puts the fields of a parsed string together as Joda-Time's parser does: it starts from 1970-01-01 and sets the fields
//! from the largest to the smallest; fields that the string does not name are at their minimum.

use super::format::Field;
use chrono::{Datelike, Duration, NaiveDate, NaiveDateTime, NaiveTime, Timelike, Weekday};

/// A field, by the way it changes a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Era,
    Century,
    YearOfEra,
    Year,
    WeekYear,
    Month,
    Week,
    DayOfYear,
    Day,
    Weekday,
    HalfDay,
    Hour,
    /// 1 to 24
    ClockHour,
    HourOfHalf,
    /// 1 to 12
    ClockHourOfHalf,
    Minute,
    Second,
    Milli,
}

/// Spans of time, largest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Size {
    Unbounded,
    Century,
    Year,
    Month,
    Week,
    Day,
    HalfDay,
    Hour,
    Minute,
    Second,
    Milli,
}

/// The fields of a string, in the order of the string.
#[derive(Debug)]
pub(super) struct Found {
    fields: Vec<(Unit, i64)>,
}

/// As many fields as most strings have: date, time, fraction and name of the day.
const FIELDS_EXPECTED: usize = 8;

impl Default for Found {
    fn default() -> Self {
        Self { fields: Vec::with_capacity(FIELDS_EXPECTED) }
    }
}

impl Found {
    pub(super) fn push(&mut self, unit: Unit, value: i64) {
        self.fields.push((unit, value));
    }

    /// The local time. `year` gives the year for strings that have a month or a day but no year.
    pub(super) fn time(mut self, year: impl FnOnce() -> i32) -> Option<NaiveDateTime> {
        self.fields.sort_by_key(|(unit, _)| unit.rank());
        let first = self.fields.first().map(|(unit, _)| unit.rank().1);
        if matches!(first, Some(Size::Month | Size::Week | Size::Day)) {
            self.fields.insert(0, (Unit::Year, i64::from(year())));
        }
        if let Some((date, clock)) = self.plain() {
            return plain_time(date, clock);
        }
        let mut time = NaiveDate::from_ymd_opt(1970, 1, 1)?.and_time(NaiveTime::MIN);
        for (unit, value) in &self.fields {
            time = unit.floor(unit.set(time, *value)?)?;
        }
        // A second round, since a later field may have moved an earlier one.
        for (at, (unit, value)) in self.fields.iter().enumerate() {
            time = unit.set(time, *value)?;
            if at + 1 == self.fields.len() {
                time = unit.floor(time)?;
            }
        }
        Some(time)
    }

    /// The fast path for strings of year, month, day, hour, minute, second and millisecond only: none of these moves
    /// another.
    fn plain(&self) -> Option<([i64; 3], [i64; 4])> {
        let (fields, millis) = match self.fields.as_slice() {
            [fields @ .., (Unit::Milli, millis)] => (fields, *millis),
            fields => (fields, 0),
        };
        match *fields {
            [
                (Unit::Year, year),
                (Unit::Month, month),
                (Unit::Day, day),
                (Unit::Hour, hour),
                (Unit::Minute, minute),
                (Unit::Second, second),
            ] => Some(([year, month, day], [hour, minute, second, millis])),
            _ => None,
        }
    }
}

fn plain_time(date: [i64; 3], clock: [i64; 4]) -> Option<NaiveDateTime> {
    let [year, month, day] = date;
    let small = |value: i64| u32::try_from(value).ok();
    let date = NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, small(month)?, small(day)?)?;
    let [hour, minute, second, millis] = clock;
    // chrono takes more nanoseconds for a leap second.
    let millis = small(millis).filter(|millis| *millis < 1000)?;
    date.and_hms_milli_opt(small(hour)?, small(minute)?, small(second)?, millis)
}

impl Unit {
    /// The unit of a pattern's field.
    pub(super) fn of(field: Field) -> Option<Self> {
        Some(match field {
            Field::Era => Unit::Era,
            Field::Century => Unit::Century,
            Field::Year => Unit::Year,
            Field::YearOfEra => Unit::YearOfEra,
            Field::WeekYear => Unit::WeekYear,
            Field::Month => Unit::Month,
            Field::Day => Unit::Day,
            Field::DayOfYear => Unit::DayOfYear,
            Field::Week => Unit::Week,
            Field::Weekday | Field::WeekdayNumber => Unit::Weekday,
            Field::HalfDay => Unit::HalfDay,
            Field::Hour => Unit::Hour,
            Field::ClockHour => Unit::ClockHour,
            Field::HourOfHalf => Unit::HourOfHalf,
            Field::ClockHourOfHalf => Unit::ClockHourOfHalf,
            Field::Minute => Unit::Minute,
            Field::Second => Unit::Second,
            Field::Fraction => Unit::Milli,
            Field::Offset
            | Field::ZoneName
            | Field::LocalWeekYear
            | Field::LocalWeek
            | Field::LocalWeekday
            | Field::JavaZone(_)
            | Field::Quarter
            | Field::MilliOfDay
            | Field::NanoOfDay
            | Field::Nano => return None,
        })
    }

    /// The span that it is a part of, and its own span: the order in which fields are set.
    fn rank(self) -> (Size, Size) {
        match self {
            Unit::Era => (Size::Unbounded, Size::Unbounded),
            Unit::Century => (Size::Unbounded, Size::Century),
            Unit::YearOfEra | Unit::Year | Unit::WeekYear => (Size::Unbounded, Size::Year),
            Unit::Month => (Size::Year, Size::Month),
            Unit::Week => (Size::Year, Size::Week),
            Unit::DayOfYear => (Size::Year, Size::Day),
            Unit::Day => (Size::Month, Size::Day),
            Unit::Weekday => (Size::Week, Size::Day),
            Unit::HalfDay => (Size::Day, Size::HalfDay),
            Unit::Hour | Unit::ClockHour => (Size::Day, Size::Hour),
            Unit::HourOfHalf | Unit::ClockHourOfHalf => (Size::HalfDay, Size::Hour),
            Unit::Minute => (Size::Hour, Size::Minute),
            Unit::Second => (Size::Minute, Size::Second),
            Unit::Milli => (Size::Second, Size::Milli),
        }
    }

    /// The time with this field set; `None` if the value does not exist.
    fn set(self, time: NaiveDateTime, value: i64) -> Option<NaiveDateTime> {
        let small = u32::try_from(value).ok();
        match self {
            Unit::Era => {
                let year =
                    if value == 1 { time.year().abs().max(1) } else { 1 - time.year().abs() };
                with_year(time, year)
            }
            Unit::Century if value >= 0 => {
                let year = i32::try_from(value).ok()?.checked_mul(100)?;
                with_year(time, year.checked_add(time.year().rem_euclid(100))?)
            }
            Unit::Century => None,
            Unit::YearOfEra if value < 1 => None,
            Unit::YearOfEra if time.year() < 1 => with_year(time, 1 - i32::try_from(value).ok()?),
            Unit::Year | Unit::YearOfEra => with_year(time, i32::try_from(value).ok()?),
            Unit::WeekYear => with_week_year(time, i32::try_from(value).ok()?),
            Unit::Month => with_month(time, small?),
            Unit::Week => {
                let week = time.iso_week();
                let date = NaiveDate::from_isoywd_opt(week.year(), small?, time.weekday())?;
                Some(date.and_time(time.time()))
            }
            Unit::DayOfYear => time.with_ordinal(small?),
            Unit::Day => time.with_day(small?),
            Unit::Weekday => {
                let wanted = Weekday::try_from(u8::try_from(value - 1).ok()?).ok()?;
                let shift = i64::from(wanted.number_from_monday())
                    - i64::from(time.weekday().number_from_monday());
                time.checked_add_signed(Duration::days(shift))
            }
            Unit::HalfDay => {
                time.with_hour(time.hour() % 12 + 12 * small.filter(|half| *half < 2)?)
            }
            Unit::Hour => time.with_hour(small?),
            Unit::ClockHour => time.with_hour(small.filter(|hour| (1..=24).contains(hour))? % 24),
            Unit::HourOfHalf => {
                time.with_hour(time.hour() / 12 * 12 + small.filter(|hour| *hour < 12)?)
            }
            Unit::ClockHourOfHalf => {
                let hour = small.filter(|hour| (1..=12).contains(hour))?;
                time.with_hour(time.hour() / 12 * 12 + hour % 12)
            }
            Unit::Minute => time.with_minute(small?),
            Unit::Second => time.with_second(small?),
            Unit::Milli => time.with_nanosecond(small.filter(|millis| *millis < 1000)? * 1_000_000),
        }
    }

    /// The first moment of this field's span.
    fn floor(self, time: NaiveDateTime) -> Option<NaiveDateTime> {
        let date = time.date();
        let day = |date: NaiveDate| date.and_time(NaiveTime::MIN);
        let clock = |hour, minute, second| {
            Some(date.and_time(NaiveTime::from_hms_opt(hour, minute, second)?))
        };
        match self {
            Unit::Era if time.year() >= 1 => NaiveDate::from_ymd_opt(1, 1, 1).map(day),
            // There is no first day before the year 1.
            Unit::Era => None,
            Unit::Century => {
                NaiveDate::from_ymd_opt(time.year().div_euclid(100) * 100, 1, 1).map(day)
            }
            Unit::YearOfEra | Unit::Year => NaiveDate::from_ymd_opt(time.year(), 1, 1).map(day),
            Unit::WeekYear => {
                NaiveDate::from_isoywd_opt(date.iso_week().year(), 1, Weekday::Mon).map(day)
            }
            Unit::Month => date.with_day(1).map(day),
            Unit::Week => {
                let week = date.iso_week();
                NaiveDate::from_isoywd_opt(week.year(), week.week(), Weekday::Mon).map(day)
            }
            Unit::DayOfYear | Unit::Day | Unit::Weekday => Some(day(date)),
            Unit::HalfDay => clock(time.hour() / 12 * 12, 0, 0),
            Unit::Hour | Unit::ClockHour | Unit::HourOfHalf | Unit::ClockHourOfHalf => {
                clock(time.hour(), 0, 0)
            }
            Unit::Minute => clock(time.hour(), time.minute(), 0),
            Unit::Second => clock(time.hour(), time.minute(), time.second()),
            Unit::Milli => Some(time),
        }
    }
}

/// Days behind the 28th of February stay the same days of a month.
fn with_year(time: NaiveDateTime, year: i32) -> Option<NaiveDateTime> {
    time.with_year(year).or_else(|| time.with_day(28)?.with_year(year))
}

fn with_month(time: NaiveDateTime, month: u32) -> Option<NaiveDateTime> {
    (0..4).find_map(|back| time.with_day(time.day().checked_sub(back)?)?.with_month(month))
}

fn with_week_year(time: NaiveDateTime, year: i32) -> Option<NaiveDateTime> {
    let week = time.iso_week().week();
    let date = NaiveDate::from_isoywd_opt(year, week, time.weekday())
        .or_else(|| NaiveDate::from_isoywd_opt(year, week - 1, time.weekday()))?;
    Some(date.and_time(time.time()))
}
