//! Makes times: the current one, from numbers, from parts and from text.

use super::super::{Answer, Found1, Machine, Stop};
use super::{NANOS, midnight};
use crate::heap::Heap;
use crate::numeric;
use crate::value::{Clock, Value};
use chrono::{DateTime, Days, FixedOffset, Months, NaiveDate, NaiveDateTime, Utc};
use temblor_logstash_event::timestamp::Zone;

impl Machine<'_, '_> {
    /// `Time.now`, `Time.at(…)`, `DateTime.parse(…)`
    pub(in crate::run) fn time_constant(
        &mut self,
        class: &str,
        name: &str,
        arguments: &[Value],
    ) -> Found1 {
        let heap = self.heap;
        if let ("valid_date?" | "leap?", "Date" | "DateTime") = (name, class) {
            let days = if name == "leap?" { &[Value::Int(2), Value::Int(29)][..] } else { &[] };
            let parts: Vec<Value> = arguments.iter().chain(days).cloned().collect();
            return Ok(Some(Value::Bool(made(heap, &parts, false, class).is_ok())));
        }
        let found = self.some_time(class, name, arguments)?;
        Ok(found.map(|found| match (found, class) {
            (Value::Time(time, _), "Date") => Value::Time(midnight(time), Clock::Date),
            (Value::Time(time, _), "DateTime") => Value::Time(time, Clock::DateTime),
            (other, _) => other,
        }))
    }

    fn some_time(&mut self, class: &str, name: &str, arguments: &[Value]) -> Found1 {
        let heap = self.heap;
        let now = self.now.fixed_offset();
        Ok(Some(match (name, arguments) {
            ("now" | "today" | "current" | "new", []) => Value::Time(now, Clock::Time),
            ("at", [Value::Time(time, _), ..]) => Value::Time(*time, Clock::Time),
            ("at", [Value::Int(seconds), Value::Int(part), unit @ ..]) => {
                let nanos = match unit.first().map(|one| one.print(heap)).as_deref() {
                    Some("millisecond") => 1_000_000,
                    Some("nsec" | "nanosecond") => 1,
                    _ => 1_000,
                };
                moment(*seconds, part.saturating_mul(nanos))?
            }
            ("at", [value, ..]) => at(heap, value)?,
            ("mktime" | "local" | "utc" | "gm" | "new" | "civil", parts) => {
                let zoned = name == "new" && class == "Time";
                match (made(heap, parts, zoned, class)?, name) {
                    (Value::Time(time, _), "utc" | "gm") => Value::Time(time, Clock::Utc),
                    (made, _) => made,
                }
            }
            ("iso8601" | "xmlschema", [Value::Text(text)])
                if class == "Time" && !text.str(heap).contains(['T', 't']) =>
            {
                let message = format!("invalid xmlschema format: {}", arguments[0].inspect(heap));
                return Err(Stop::raise("ArgumentError", message));
            }
            (
                "parse" | "iso8601" | "xmlschema" | "rfc3339" | "rfc2822" | "httpdate",
                [Value::Text(text), rest @ ..],
            ) => {
                // A second time says what the text leaves out.
                let base = match rest.first() {
                    Some(Value::Time(base, _)) => base.with_timezone(&Utc),
                    _ => self.now,
                };
                parse(&text.str(heap), base, class)?
            }
            ("strptime", [Value::Text(text), Value::Text(pattern)]) => {
                strptime(&text.str(heap), &pattern.str(heap), self.now)?
            }
            ("parse" | "iso8601" | "xmlschema" | "rfc3339" | "strptime", [other, ..]) => {
                return Err(super::super::text::no_text(other));
            }
            _ => return Ok(None),
        }))
    }
}

fn moment(seconds: i64, nanos: i64) -> Answer {
    let more = nanos.div_euclid(1_000_000_000);
    let nanos = u32::try_from(nanos.rem_euclid(1_000_000_000)).unwrap_or(0);
    DateTime::<Utc>::from_timestamp(seconds.saturating_add(more), nanos)
        .map(|time| Value::Time(time.fixed_offset(), Clock::Time))
        .ok_or_else(|| Stop::raise("RangeError", "this time is out of range"))
}

fn at(heap: &Heap, value: &Value) -> Answer {
    Ok(match value {
        Value::Int(seconds) => moment(*seconds, 0)?,
        Value::Float(seconds) if !seconds.is_finite() => {
            return Err(Stop::raise("FloatDomainError", value.print(heap)));
        }
        number if number.is_number() => {
            let (numerator, denominator) = numeric::ratio(number).unwrap_or_default();
            let nanos = numeric::floor_div(&(numerator * NANOS), &denominator);
            let (whole, rest) = (&nanos / NANOS, &nanos % NANOS);
            match (i64::try_from(whole), i64::try_from(rest)) {
                (Ok(whole), Ok(rest)) => moment(whole, rest)?,
                _ => return Err(Stop::raise("RangeError", "this time is out of range")),
            }
        }
        other => {
            let what = super::super::object::word_of(other);
            let message = format!("can't convert {what} into an exact number");
            return Err(Stop::raise("TypeError", message));
        }
    })
}

/// Year, month, day, hour, minute, second; behind them a zone where `zoned`, else microseconds.
fn made(heap: &Heap, parts: &[Value], zoned: bool, class: &str) -> Answer {
    let invalid = || match class {
        "Time" => Stop::raise("ArgumentError", "argument out of range"),
        _ => Stop::raise("Date::Error", "invalid date"),
    };
    let part = |at: usize, default: u32| match parts.get(at) {
        Some(Value::Int(number)) => u32::try_from(*number).unwrap_or(u32::MAX),
        Some(Value::Text(text)) => text.str(heap).parse().unwrap_or(u32::MAX),
        Some(Value::Float(number)) if *number >= 0.0 => *number as u32,
        Some(Value::Rational(parts)) => u32::try_from(&parts.0 / &parts.1).unwrap_or(u32::MAX),
        _ => default,
    };
    let month = match parts.get(1) {
        Some(Value::Text(name)) => {
            const NAMES: &str = "janfebmaraprmayjunjulaugsepoctnovdec";
            let name = name.str(heap).to_lowercase();
            match NAMES.find(&*name).filter(|at| name.len() == 3 && at % 3 == 0) {
                Some(at) => at as u32 / 3 + 1,
                None => part(1, 1),
            }
        }
        // A negative month counts from the end of the year.
        Some(Value::Int(back @ -12..=-1)) if class != "Time" => (13 + back) as u32,
        _ => part(1, 1),
    };
    if class == "Time" && !(1..=12).contains(&month) {
        let message = format!("argument out of range: for month: {month}");
        return Err(Stop::raise("ArgumentError", message));
    }
    let year = i32::try_from(part(0, 1970)).unwrap_or(i32::MAX);
    // A negative day counts from the end of the month.
    let day = match parts.get(2) {
        Some(Value::Int(back @ -31..=-1)) => NaiveDate::from_ymd_opt(year, month, 1)
            .and_then(|first| first.checked_add_months(Months::new(1)))
            .and_then(|next| next.checked_sub_days(Days::new(back.unsigned_abs()))),
        // The 30th of February is the first of March to `Time`.
        Some(Value::Int(day @ 29..=31)) if class == "Time" => {
            NaiveDate::from_ymd_opt(year, month, 1)
                .and_then(|first| first.checked_add_days(Days::new(day.unsigned_abs() - 1)))
        }
        _ => NaiveDate::from_ymd_opt(year, month, part(2, 1)),
    };
    let fraction = match parts.get(5) {
        Some(Value::Float(seconds)) => (seconds.fract() * 1e9).round() as u32,
        Some(Value::Rational(parts)) => {
            let rest = numeric::floor_mod(&parts.0, &parts.1);
            u32::try_from(rest * NANOS / &parts.1).unwrap_or(0)
        }
        _ => 0,
    };
    // `Time.new` has the zone behind the seconds.
    let offset = match parts.get(6) {
        Some(Value::Text(zone)) => zone_offset(&zone.str(heap))?,
        Some(Value::Int(seconds)) if zoned => i32::try_from(*seconds)
            .ok()
            .and_then(FixedOffset::east_opt)
            .ok_or_else(|| Stop::raise("ArgumentError", "utc_offset out of range"))?,
        _ => *DateTime::<Utc>::UNIX_EPOCH.fixed_offset().offset(),
    };
    let micros = match parts.get(6) {
        Some(Value::Int(micros)) if !zoned => u32::try_from(*micros).unwrap_or(0).min(999_999),
        _ => 0,
    };
    let nanos = fraction + micros * 1_000;
    day.and_then(|day| day.and_hms_nano_opt(part(3, 0), part(4, 0), part(5, 0), nanos))
        .and_then(|time| time.and_local_timezone(offset).single())
        .map(|time| Value::Time(time, Clock::Time))
        .ok_or_else(invalid)
}

/// A moment in the notation of standards, or as people write it.
fn parse(text: &str, now: DateTime<Utc>, class: &str) -> Answer {
    let text = text.trim();
    let standard =
        DateTime::parse_from_rfc3339(text).or_else(|_| DateTime::parse_from_rfc2822(text));
    match standard {
        // A zone by its letter is UTC, one by its number is local.
        Ok(time) if text.ends_with(['Z', 'z']) => Ok(Value::Time(time, Clock::Utc)),
        Ok(time) => Ok(Value::Time(time, Clock::Time)),
        Err(_) => super::super::moment::read(text, now, class),
    }
}

fn strptime(text: &str, pattern: &str, now: DateTime<Utc>) -> Answer {
    let chrono_pattern = pattern.replace(".%L", "%.f").replace("%L", "%3f").replace("%N", "%f");
    if pattern == "%s" || pattern == "%Q" {
        let number: i64 = text.trim().parse().unwrap_or(0);
        return if pattern == "%s" {
            moment(number, 0)
        } else {
            moment(number.div_euclid(1000), number.rem_euclid(1000) * 1_000_000)
        };
    }
    if let Ok(time) = DateTime::parse_from_str(text, &chrono_pattern) {
        return Ok(Value::Time(time, Clock::Time));
    }
    if let Ok(time) = NaiveDateTime::parse_from_str(text, &chrono_pattern) {
        return Ok(Value::Time(time.and_utc().fixed_offset(), Clock::Time));
    }
    if let Ok(day) = NaiveDate::parse_from_str(text, &chrono_pattern) {
        let time = day.and_time(chrono::NaiveTime::MIN).and_utc();
        return Ok(Value::Time(time.fixed_offset(), Clock::Time));
    }
    if let Ok(time) = chrono::NaiveTime::parse_from_str(text, &chrono_pattern) {
        let time = now.date_naive().and_time(time).and_utc();
        return Ok(Value::Time(time.fixed_offset(), Clock::Time));
    }
    let failed = || {
        let message = format!("invalid date or strptime format - `{text}' `{pattern}'");
        Stop::raise("ArgumentError", message)
    };
    // What the pattern leaves out of a date is the first; of a time, nought.
    let has = |letters: &[&str]| letters.iter().any(|letter| chrono_pattern.contains(letter));
    let parts: [(&[&str], &str, &str); 3] = [
        (&["%m", "%b", "%B", "%j", "%F", "%D", "%c", "%h"], "%m", "1"),
        (&["%d", "%e", "%j", "%F", "%D", "%c"], "%d", "1"),
        (&["%M", "%T", "%R", "%c", "%r", "%X"], "%M", "0"),
    ];
    for (letters, letter, value) in parts {
        let is_needed = has(&["%Y", "%y"]) && (letter != "%M" || has(&["%H", "%I", "%k", "%l"]));
        if is_needed && !has(letters) {
            let (text, pattern) = (format!("{text} {value}"), format!("{pattern} {letter}"));
            return strptime(&text, &pattern, now).map_err(|_| failed());
        }
    }
    Err(failed())
}

pub(super) fn zone_offset(name: &str) -> Result<FixedOffset, Stop> {
    let bad = || Stop::raise("ArgumentError", format!("{name:?}: unknown zone"));
    match Zone::named(name).ok_or_else(bad)? {
        Zone::Fixed(offset) => Ok(offset),
        Zone::Named(_) => FixedOffset::east_opt(0).ok_or_else(bad),
    }
}
