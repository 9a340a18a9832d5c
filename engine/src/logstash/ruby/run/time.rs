//! Times: of Ruby, with a zone, and of events.

use super::strftime::strftime;
use super::{Answer, Found1, Machine, Stop};
use crate::logstash::datum::iso8601;
use crate::logstash::ruby::value::Value;
use crate::logstash::timestamp::{Zone, parse_iso8601};
use chrono::{DateTime, Datelike, Duration, FixedOffset, NaiveDate, NaiveDateTime, Timelike, Utc};

/// The methods of times.
pub(super) const NAMES: &[&str] = &[
    "to_i",
    "to_f",
    "to_r",
    "to_s",
    "to_iso8601",
    "iso8601",
    "xmlschema",
    "strftime",
    "utc",
    "getutc",
    "gmtime",
    "getgm",
    "localtime",
    "getlocal",
    "time",
    "to_time",
    "to_date",
    "to_datetime",
    "year",
    "month",
    "mon",
    "day",
    "mday",
    "hour",
    "min",
    "sec",
    "usec",
    "nsec",
    "wday",
    "yday",
    "zone",
    "utc_offset",
    "gmt_offset",
    "utc?",
    "monday?",
    "tuesday?",
    "wednesday?",
    "thursday?",
    "friday?",
    "saturday?",
    "sunday?",
    "+",
    "-",
    "<",
    ">",
    "<=",
    ">=",
    "<=>",
    "round",
    "floor",
    "tv_sec",
    "tv_usec",
    "new_offset",
    "cweek",
    "cwday",
    "epoch_millis",
    "between?",
    "beginning_of_day",
    "hash",
    "date",
    "msec",
    "to_epoch_milli",
    "toEpochMilli",
    "cwyear",
    "next_day",
    "prev_day",
    "next_month",
    "prev_month",
];

/// Seconds as a span of time.
fn span(value: &Value) -> Option<Duration> {
    match value {
        Value::Int(seconds) => Duration::try_seconds(*seconds),
        Value::Float(seconds) => {
            let micros = (seconds * 1e6).round();
            (micros.abs() < 9e18).then(|| Duration::microseconds(micros as i64))
        }
        _ => None,
    }
}

fn seconds(time: DateTime<FixedOffset>) -> f64 {
    time.timestamp() as f64 + f64::from(time.timestamp_subsec_nanos()) / 1e9
}

impl Machine<'_, '_> {
    pub(super) fn time_method(
        &mut self,
        time: DateTime<FixedOffset>,
        stamp: bool,
        name: &str,
        arguments: &[Value],
    ) -> Found1 {
        let utc = || time.with_timezone(&Utc).fixed_offset();
        Ok(Some(match (name, arguments) {
            ("to_i" | "tv_sec", []) => Value::Int(time.timestamp()),
            ("to_f" | "to_r", []) => Value::Float(seconds(time)),
            ("epoch_millis" | "to_epoch_milli" | "toEpochMilli", []) => {
                Value::Int(time.timestamp_millis())
            }
            ("to_iso8601", []) => Value::text(&iso8601(time.with_timezone(&Utc))),
            ("iso8601" | "xmlschema", places) => Value::text(&xml_schema(time, places)),
            ("strftime", [Value::Text(pattern)]) => Value::text(&strftime(time, pattern)),
            ("utc" | "getutc" | "gmtime" | "getgm", []) => Value::Time(utc(), false),
            ("localtime" | "getlocal" | "new_offset", zone) => {
                let offset = match zone {
                    [Value::Text(zone)] => zone_offset(zone)?,
                    [Value::Int(offset)] => i32::try_from(*offset)
                        .ok()
                        .and_then(FixedOffset::east_opt)
                        .ok_or_else(|| Stop::raise("ArgumentError", "utc_offset out of range"))?,
                    _ => *utc().offset(),
                };
                Value::Time(time.with_timezone(&offset), false)
            }
            ("time" | "to_time" | "to_datetime" | "to_date" | "round" | "floor", _) => {
                Value::Time(time, false)
            }
            ("+", [other]) => match span(other).and_then(|span| time.checked_add_signed(span)) {
                Some(sum) => Value::Time(sum, stamp),
                None => return Err(Stop::raise("TypeError", "can't convert into an exact number")),
            },
            ("-", [Value::Time(other, _)]) => Value::Float(seconds(time) - seconds(*other)),
            ("-", [other]) => match span(other).and_then(|span| time.checked_sub_signed(span)) {
                Some(difference) => Value::Time(difference, stamp),
                None => return Err(Stop::raise("TypeError", "can't convert into an exact number")),
            },
            ("<", [Value::Time(other, _)]) => Value::Bool(time < *other),
            (">", [Value::Time(other, _)]) => Value::Bool(time > *other),
            ("<=", [Value::Time(other, _)]) => Value::Bool(time <= *other),
            (">=", [Value::Time(other, _)]) => Value::Bool(time >= *other),
            (day, []) if day.ends_with("day?") => {
                Value::Bool(time.format("%A?").to_string().to_lowercase() == day)
            }
            _ => return Ok(part_of(time, name, arguments)),
        }))
    }

    /// `Time.now`, `Time.at(…)`, `DateTime.parse(…)`
    pub(super) fn time_constant(&mut self, name: &str, arguments: &[Value]) -> Found1 {
        let now = self.now.fixed_offset();
        Ok(Some(match (name, arguments) {
            ("now" | "today" | "current" | "new", []) => Value::Time(now, false),
            ("at", [Value::Time(time, _), ..]) => Value::Time(*time, false),
            ("at", [Value::Int(seconds), Value::Int(part), unit @ ..]) => {
                let nanos = match unit.first().map(Value::print).as_deref() {
                    Some("millisecond") => 1_000_000,
                    Some("nsec" | "nanosecond") => 1,
                    _ => 1_000,
                };
                moment(*seconds, part.saturating_mul(nanos))?
            }
            ("at", [value, ..]) => at(value)?,
            ("mktime" | "local" | "utc" | "gm" | "new" | "civil", parts) => made(parts)?,
            ("parse" | "iso8601" | "xmlschema" | "rfc3339", [Value::Text(text), ..]) => {
                parse(text)?
            }
            ("strptime", [Value::Text(text), Value::Text(pattern)]) => strptime(text, pattern)?,
            _ => return Ok(None),
        }))
    }
}

/// A field of a time.
fn part_of(time: DateTime<FixedOffset>, name: &str, arguments: &[Value]) -> Option<Value> {
    let whole = |number: u32| Value::Int(i64::from(number));
    Some(match (name, arguments) {
        ("year" | "cwyear", []) => Value::Int(i64::from(time.year())),
        ("month" | "mon", []) => whole(time.month()),
        ("day" | "mday", []) => whole(time.day()),
        ("hour", []) => whole(time.hour()),
        ("min", []) => whole(time.minute()),
        ("sec", []) => whole(time.second()),
        ("usec" | "tv_usec", []) => whole(time.timestamp_subsec_micros()),
        ("msec", []) => whole(time.timestamp_subsec_millis()),
        ("nsec", []) => whole(time.timestamp_subsec_nanos()),
        ("wday", []) => whole(time.weekday().num_days_from_sunday()),
        ("cwday", []) => whole(time.weekday().number_from_monday()),
        ("yday", []) => whole(time.ordinal()),
        ("cweek", []) => whole(time.iso_week().week()),
        ("zone", []) if time.offset().local_minus_utc() == 0 => Value::text("UTC"),
        ("zone", []) => Value::text(&time.format("%:z").to_string()),
        ("utc_offset" | "gmt_offset", []) => Value::Int(i64::from(time.offset().local_minus_utc())),
        ("utc?", []) => Value::Bool(time.offset().local_minus_utc() == 0),
        _ => return None,
    })
}

fn moment(seconds: i64, nanos: i64) -> Answer {
    let more = nanos.div_euclid(1_000_000_000);
    let nanos = u32::try_from(nanos.rem_euclid(1_000_000_000)).unwrap_or(0);
    DateTime::<Utc>::from_timestamp(seconds.saturating_add(more), nanos)
        .map(|time| Value::Time(time.fixed_offset(), false))
        .ok_or_else(|| Stop::raise("RangeError", "this time is out of range"))
}

fn at(value: &Value) -> Answer {
    match value {
        Value::Int(seconds) => moment(*seconds, 0),
        Value::Float(seconds) => {
            let whole = seconds.floor();
            if !(-1e15..1e15).contains(&whole) {
                return Err(Stop::raise("RangeError", "this time is out of range"));
            }
            moment(whole as i64, ((seconds - whole) * 1e9).round() as i64)
        }
        other => {
            let message = format!("can't convert {} into an exact number", other.class());
            Err(Stop::raise("TypeError", message))
        }
    }
}

/// Year, month, day, hour, minute, second.
fn made(parts: &[Value]) -> Answer {
    let part = |at: usize, default: u32| match parts.get(at) {
        Some(Value::Int(number)) => u32::try_from(*number).unwrap_or(u32::MAX),
        Some(Value::Text(text)) => text.parse().unwrap_or(u32::MAX),
        Some(Value::Float(number)) if *number >= 0.0 => *number as u32,
        _ => default,
    };
    let year = i32::try_from(part(0, 1970)).unwrap_or(i32::MAX);
    NaiveDate::from_ymd_opt(year, part(1, 1), part(2, 1))
        .and_then(|day| day.and_hms_opt(part(3, 0), part(4, 0), part(5, 0)))
        .map(|time| Value::Time(time.and_utc().fixed_offset(), false))
        .ok_or_else(|| Stop::raise("ArgumentError", "argument out of range"))
}

pub(super) fn parse(text: &str) -> Answer {
    let text = text.trim();
    if let Ok(time) =
        DateTime::parse_from_rfc3339(text).or_else(|_| DateTime::parse_from_rfc2822(text))
    {
        return Ok(Value::Time(time, false));
    }
    if let Some(time) = parse_iso8601(&text.replacen(' ', "T", 1)) {
        return Ok(Value::Time(time.fixed_offset(), false));
    }
    for pattern in [
        "%Y-%m-%d %H:%M:%S%.f %z",
        "%d/%b/%Y:%H:%M:%S %z",
        "%a %b %e %H:%M:%S %z %Y",
        "%d %b %Y %H:%M:%S %z",
    ] {
        if let Ok(time) = DateTime::parse_from_str(text, pattern) {
            return Ok(Value::Time(time, false));
        }
    }
    for pattern in
        ["%Y-%m-%d %H:%M:%S%.f UTC", "%d %b %Y %H:%M:%S", "%Y/%m/%d %H:%M:%S", "%Y%m%dT%H%M%S"]
    {
        if let Ok(time) = NaiveDateTime::parse_from_str(text, pattern) {
            return Ok(Value::Time(time.and_utc().fixed_offset(), false));
        }
    }
    for pattern in ["%Y/%m/%d", "%d %b %Y", "%Y%m%d"] {
        if let Ok(day) = NaiveDate::parse_from_str(text, pattern) {
            let time = day.and_time(chrono::NaiveTime::MIN).and_utc();
            return Ok(Value::Time(time.fixed_offset(), false));
        }
    }
    Err(Stop::raise("ArgumentError", format!("no time information in {text:?}")))
}

fn strptime(text: &str, pattern: &str) -> Answer {
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
        return Ok(Value::Time(time, false));
    }
    if let Ok(time) = NaiveDateTime::parse_from_str(text, &chrono_pattern) {
        return Ok(Value::Time(time.and_utc().fixed_offset(), false));
    }
    if let Ok(day) = NaiveDate::parse_from_str(text, &chrono_pattern) {
        let time = day.and_time(chrono::NaiveTime::MIN).and_utc();
        return Ok(Value::Time(time.fixed_offset(), false));
    }
    let message = format!("invalid date or strptime format - `{text}' `{pattern}'");
    Err(Stop::raise("ArgumentError", message))
}

fn zone_offset(name: &str) -> Result<FixedOffset, Stop> {
    let bad = || Stop::raise("ArgumentError", format!("{name:?}: unknown zone"));
    match Zone::named(name).ok_or_else(bad)? {
        Zone::Fixed(offset) => Ok(offset),
        Zone::Named(_) => FixedOffset::east_opt(0).ok_or_else(bad),
    }
}

fn xml_schema(time: DateTime<FixedOffset>, places: &[Value]) -> String {
    let fraction = match places {
        [Value::Int(places)] if *places > 0 => {
            let nanos = format!("{:09}", time.timestamp_subsec_nanos());
            let places = usize::try_from(*places).unwrap_or(9).min(9);
            format!(".{}", &nanos[..places])
        }
        _ => String::new(),
    };
    let zone = match time.offset().local_minus_utc() {
        0 => "Z".to_string(),
        _ => time.format("%:z").to_string(),
    };
    format!("{}{fraction}{zone}", time.format("%Y-%m-%dT%H:%M:%S"))
}
