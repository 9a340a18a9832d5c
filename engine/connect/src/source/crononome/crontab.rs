//! Time tables as crontabs write them, and Logstash's scheduler: `[second] minute hour day month weekday
//! [zone]`. Weekdays go from 0 to 7 and begin and end with Sunday; a day fits when the day of the month
//! or that of the week fits, where both are said.

use super::expression::{Expression, FIELDS, Field, MONTH, Wrap, numbers};
use chrono::{DateTime, Datelike, Days, Duration, NaiveDate, NaiveDateTime, NaiveTime};
use chrono::{Offset, TimeZone, Utc};
use chrono_tz::Tz;

/// When something is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crontab {
    /// Seconds, minutes and hours; any day.
    times: Expression,
    months: u64,
    days: Vec<Day>,
    weekdays: Vec<Weekday>,
    zone: Tz,
}

/// A day of the month.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Day {
    /// From 1.
    Number(u32),
    /// `L`, `-1`: from the end, the last is 1.
    FromEnd(u32),
}

/// A day of the week, and which one of the month: `tue#2`, `fri#-1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Weekday {
    /// From 0, which is Sunday.
    number: u32,
    nth: Option<i32>,
}

const WEEKDAY: Field =
    Field { name: "weekday", least: 0, most: 7, names: &super::expression::WEEKDAYS };
/// The place of the day of the month in the table of fields.
const DAY: usize = 3;
/// A day without any match is looked for no further than this; every pattern that fits at all fits within
/// 28 years and a century without a leap year.
const SEARCH_DAYS_MAX: u32 = 40 * 366;
/// Clocks are never put back by more.
const SET_BACK_HOURS_MAX: i64 = 3;
const SHORT_FORMS: [(&str, &str); 8] = [
    ("@annually", "0 0 1 1 *"),
    ("@daily", "0 0 * * *"),
    ("@hourly", "0 * * * *"),
    ("@midnight", "0 0 * * *"),
    ("@monthly", "0 0 1 * *"),
    ("@noon", "0 12 * * *"),
    ("@weekly", "0 0 * * 0"),
    ("@yearly", "0 0 1 1 *"),
];

impl Crontab {
    /// Reads a time table; `zone` is for those that name none.
    ///
    /// # Errors
    /// A sentence on what is wrong.
    pub fn parse(text: &str, zone: Tz) -> Result<Self, String> {
        let mut fields: Vec<&str> = text.split_whitespace().collect();
        let mut zone = zone;
        if let Some(last) = fields.last().copied().filter(|_| fields.len() > 1) {
            match zone_named(last) {
                Some(Ok(named)) => {
                    zone = named;
                    fields.pop();
                }
                Some(Err(reason)) => return Err(reason),
                None => {}
            }
        }
        if let [short] = fields[..]
            && short.starts_with('@')
        {
            let found = SHORT_FORMS.iter().find(|(name, _)| *name == short);
            let known = || SHORT_FORMS.map(|(name, _)| name).join(", ");
            let (_, long) = found.ok_or_else(|| format!("`{short}` is none of {}", known()))?;
            fields = long.split_whitespace().collect();
        }
        if fields.len() == 5 {
            fields.insert(0, "0");
        }
        let [second, minute, hour, day, month, weekday] = fields[..] else {
            return Err(format!(
                "`{text}` has {} fields, but there are 5 or 6, and a time zone: \
                 [second] minute hour day month weekday [zone]",
                fields.len()
            ));
        };
        let times = [second, minute, hour].map(stepped);
        let months = numbers(&FIELDS[MONTH], &stepped(month), Wrap::Allowed)?;
        let table = Self {
            times: Expression::of_any_day(times.each_ref().map(String::as_str))?,
            months: months.iter().fold(0, |bits, number| bits | 1 << number),
            days: list(day, one_day)?,
            weekdays: list(weekday, one_weekday)?,
            zone,
        };
        match table.next(0) {
            Some(_) => Ok(table),
            None => Err(format!("`{text}` never comes")),
        }
    }

    /// The first second that fits behind a time, in nanoseconds since 1970-01-01 UTC.
    #[must_use]
    pub fn next(&self, behind_ns: u64) -> Option<u64> {
        let behind = DateTime::from_timestamp(i64::try_from(behind_ns / 1_000_000_000).ok()?, 0)?;
        let first = self.search(self.local(behind) + Duration::seconds(1), behind);
        // Where clocks are put back, times come twice.
        let again = self.set_back(behind);
        let again = again.and_then(|moment| self.search(self.local(moment), behind));
        let found = first.into_iter().chain(again).min()?;
        u64::try_from(found.timestamp_nanos_opt()?).ok()
    }

    fn local(&self, time: DateTime<Utc>) -> NaiveDateTime {
        time.with_timezone(&self.zone).naive_local()
    }

    /// The moment at which clocks are put back soon behind a time.
    fn set_back(&self, behind: DateTime<Utc>) -> Option<DateTime<Utc>> {
        let offset = |time: DateTime<Utc>| {
            self.zone.offset_from_utc_datetime(&time.naive_utc()).fix().local_minus_utc()
        };
        let (mut before, mut after) = (behind, behind + Duration::hours(SET_BACK_HOURS_MAX));
        if offset(after) >= offset(before) {
            return None;
        }
        let old = offset(before);
        while after - before > Duration::seconds(1) {
            let middle = before + Duration::seconds((after - before).num_seconds() / 2);
            if offset(middle) == old { before = middle } else { after = middle }
        }
        Some(after)
    }

    /// The first moment behind `behind` whose local time fits and is not before `from`.
    fn search(&self, from: NaiveDateTime, behind: DateTime<Utc>) -> Option<DateTime<Utc>> {
        let (mut date, mut time) = (from.date(), from.time());
        for _ in 0..SEARCH_DAYS_MAX {
            while self.fits(date)
                && let Some(found) = self.times.time(time)
            {
                let moments = self.zone.from_local_datetime(&date.and_time(found));
                let moments = [moments.earliest(), moments.latest()];
                let moments = moments.into_iter().flatten().map(|one| one.with_timezone(&Utc));
                if let Some(moment) = moments.into_iter().find(|one| *one > behind) {
                    return Some(moment);
                }
                // It lies where clocks are put forward, or has been.
                let (next, days) = found.overflowing_add_signed(Duration::seconds(1));
                if days != 0 {
                    break;
                }
                time = next;
            }
            date = date.checked_add_days(Days::new(1))?;
            time = NaiveTime::MIN;
        }
        None
    }

    fn fits(&self, date: NaiveDate) -> bool {
        let day = |one: &Day| match *one {
            Day::Number(number) => number == date.day(),
            Day::FromEnd(number) => number == days_left(date) + 1,
        };
        let weekday = |one: &Weekday| {
            one.number == date.weekday().num_days_from_sunday()
                && match one.nth {
                    None => true,
                    Some(nth) if nth > 0 => (date.day() as i32 - 1) / 7 + 1 == nth,
                    Some(nth) => (days_left(date) as i32) / 7 + 1 == -nth,
                }
        };
        let (of_month, of_week) = (self.days.iter().any(day), self.weekdays.iter().any(weekday));
        let fits = match (self.days.is_empty(), self.weekdays.is_empty()) {
            (true, true) => true,
            (false, true) => of_month,
            (true, false) => of_week,
            (false, false) => of_month || of_week,
        };
        fits && self.months >> date.month() & 1 == 1
    }
}

/// Days of the month behind a date.
fn days_left(date: NaiveDate) -> u32 {
    let next = date.with_day(1).and_then(|first| first.checked_add_months(chrono::Months::new(1)));
    next.map_or(0, |next| u32::try_from((next - date).num_days() - 1).unwrap_or(0))
}

/// A zone, if a word is to be one: it has a slash between names, or is the name of a zone.
fn zone_named(word: &str) -> Option<Result<Tz, String>> {
    if word == "Z" {
        return Some(Ok(Tz::UTC));
    }
    let is_name = word.starts_with(|one: char| one.is_ascii_alphabetic());
    match word.parse() {
        Ok(zone) if is_name => Some(Ok(zone)),
        _ if is_name && word.contains('/') => Some(Err(format!("`{word}` is no time zone"))),
        _ if word.starts_with('+') => {
            Some(Err(format!("`{word}` is no time zone: say one with a name, such as UTC")))
        }
        _ => None,
    }
}

/// `/10` is short for `*/10`.
fn stepped(field: &str) -> String {
    let parts = field.split(',').map(|part| match part.starts_with('/') {
        true => format!("*{part}"),
        false => part.to_string(),
    });
    parts.collect::<Vec<_>>().join(",")
}

/// The items of a field; none where everything fits.
fn list<T>(field: &str, one: impl Fn(&str) -> Result<Vec<T>, String>) -> Result<Vec<T>, String> {
    if matches!(field, "*" | "?") {
        return Ok(Vec::new());
    }
    let items: Result<Vec<Vec<T>>, String> = stepped(field).split(',').map(one).collect();
    Ok(items?.into_iter().flatten().collect())
}

fn one_day(text: &str) -> Result<Vec<Day>, String> {
    let from_end = match text {
        "L" | "l" | "last" => Some(1),
        _ => text.strip_prefix('-').and_then(|rest| rest.parse().ok()),
    };
    match from_end {
        Some(number @ 1..=31) => Ok(vec![Day::FromEnd(number)]),
        _ => {
            let days = numbers(&FIELDS[DAY], text, Wrap::Allowed)?;
            Ok(days.into_iter().map(Day::Number).collect())
        }
    }
}

fn one_weekday(text: &str) -> Result<Vec<Weekday>, String> {
    let (name, nth) = match text.split_once('#') {
        None => (text, None),
        Some((name, "L" | "last")) => (name, Some(-1)),
        Some((name, nth)) => {
            let number = nth.parse().ok().filter(|nth: &i32| matches!(nth.abs(), 1..=5));
            let reason = || format!("`{nth}` in `{text}` is no number from 1 to 5, or -1 to -5");
            (name, Some(number.ok_or_else(reason)?))
        }
    };
    let days = numbers(&WEEKDAY, name, Wrap::Allowed)?;
    Ok(days.into_iter().map(|day| Weekday { number: day % 7, nth }).collect())
}

#[cfg(test)]
mod tests {
    use super::Crontab;
    use chrono::DateTime;
    use chrono_tz::Tz;

    /// The next times behind one, as texts.
    fn next(table: &str, from: &str, count: usize) -> Vec<String> {
        let table = Crontab::parse(table, Tz::UTC).expect(table);
        let from = DateTime::parse_from_rfc3339(from).unwrap().timestamp_nanos_opt().unwrap();
        let mut times = Vec::new();
        let mut at = from as u64;
        while let Some(time) = table.next(at).filter(|_| times.len() < count) {
            times.push(
                DateTime::from_timestamp_nanos(time as i64).format("%m-%dT%H:%M:%S").to_string(),
            );
            at = time;
        }
        times
    }

    #[test]
    fn fields_are_five_or_six() {
        let from = "2026-01-30T23:58:30Z";
        assert_eq!(next("* * * * *", from, 2), ["01-30T23:59:00", "01-31T00:00:00"]);
        assert_eq!(next("/20 * * * * *", from, 2), ["01-30T23:58:40", "01-30T23:59:00"]);
        assert_eq!(
            next("*/15,50-52 0-1 * * *", from, 5)[2..],
            ["01-31T00:30:00", "01-31T00:45:00", "01-31T00:50:00"]
        );
        assert_eq!(next("@noon", from, 1), ["01-31T12:00:00"]);
        assert_eq!(next("@weekly", from, 1), ["02-01T00:00:00"]);
        assert_eq!(
            next("0 22-1 * * *", "2026-01-01T00:30:00Z", 2),
            ["01-01T01:00:00", "01-01T22:00:00"]
        );
    }

    #[test]
    fn days_of_month_or_week() {
        let from = "2026-01-01T12:00:00Z";
        assert_eq!(
            next("0 0 13 * fri", from, 3),
            ["01-02T00:00:00", "01-09T00:00:00", "01-13T00:00:00"]
        );
        assert_eq!(next("0 0 * * 7", from, 1), next("0 0 * * 0", from, 1));
        assert_eq!(
            next("0 0 * * fri-mon", from, 4),
            ["01-02T00:00:00", "01-03T00:00:00", "01-04T00:00:00", "01-05T00:00:00"]
        );
        assert_eq!(next("0 0 L feb,mar *", from, 2), ["02-28T00:00:00", "03-31T00:00:00"]);
        assert_eq!(next("0 0 -2 * *", from, 1), ["01-30T00:00:00"]);
        assert_eq!(next("0 0 * * tue#2", from, 2), ["01-13T00:00:00", "02-10T00:00:00"]);
        assert_eq!(next("0 0 * * fri#-1", from, 1), ["01-30T00:00:00"]);
        assert_eq!(next("0 0 29 2 *", from, 1), ["02-29T00:00:00"]);
    }

    #[test]
    fn zones_and_their_changes() {
        let morning = "0 6 * * * Europe/Berlin";
        assert_eq!(next(morning, "2026-03-28T00:00:00Z", 2), ["03-28T05:00:00", "03-29T04:00:00"]);
        // 02:30 is not there on the day on which clocks are put forward, and twice when they are put back.
        let night = "30 2 * * * Europe/Berlin";
        assert_eq!(next(night, "2026-03-28T12:00:00Z", 1), ["03-30T00:30:00"]);
        assert_eq!(
            next(night, "2026-10-24T12:00:00Z", 3),
            ["10-25T00:30:00", "10-25T01:30:00", "10-26T01:30:00"]
        );
        let often = "0,30 * * * * Europe/Berlin";
        assert_eq!(
            next(often, "2026-10-25T00:30:00Z", 3),
            ["10-25T01:00:00", "10-25T01:30:00", "10-25T02:00:00"]
        );
    }

    #[test]
    fn mistakes_are_named() {
        for (text, wanted) in [
            ("* * * *", "has 4 fields"),
            ("", "has 0 fields"),
            ("60 * * * *", "`60` is no minute: it goes from 0 to 59"),
            ("* * * * 8", "`8` is no weekday: it goes from 0 to 7"),
            ("* * * * Europe/Berin", "`Europe/Berin` is no time zone"),
            ("* * * * * +02:00", "is no time zone: say one with a name"),
            ("* * * * mon#6", "`6` in `mon#6` is no number"),
            ("0 0 30 2 *", "never comes"),
            ("*/0 * * * *", "a step is a number from 1"),
            ("@often", "is none of @annually"),
            ("every 5 minutes", "has 3 fields"),
        ] {
            let error = Crontab::parse(text, Tz::UTC).unwrap_err();
            assert!(error.contains(wanted), "{text}: {error}");
        }
    }
}
