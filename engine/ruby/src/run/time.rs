//! Times: of Ruby, with a zone, and of events.

use super::strftime::{PATTERN_MAX, strftime};
use super::{Answer, Found1, Given, Machine, Stop};
use crate::budget::Breach;
use crate::heap::Heap;
use crate::numeric;
use crate::run::methods::{Methods, takes};
use crate::value::{Clock, Value};
use chrono::{
    DateTime, Datelike, Days, Duration, FixedOffset, Months, NaiveDate, NaiveDateTime, Timelike,
    Utc,
};
use num_bigint::BigInt;
use temblor_logstash_event::datum::iso8601;
use temblor_logstash_event::timestamp::Zone;

/// The methods of times.
pub(in crate::run) const METHODS: &[Methods] = &[
    takes(
        0,
        0,
        &[
            "ajd",
            "asctime",
            "ctime",
            "cwday",
            "cweek",
            "cwyear",
            "day",
            "day_fraction",
            "dst?",
            "epoch_millis",
            "friday?",
            "frozen?",
            "getgm",
            "getutc",
            "gmt?",
            "gmt_offset",
            "gmtime",
            "gmtoff",
            "hour",
            "httpdate",
            "isdst",
            "jd",
            "ld",
            "leap?",
            "mday",
            "min",
            "minute",
            "mjd",
            "mon",
            "monday?",
            "month",
            "msec",
            "next",
            "nsec",
            "offset",
            "rfc2822",
            "rfc822",
            "saturday?",
            "sec",
            "sec_fraction",
            "second",
            "second_fraction",
            "subsec",
            "succ",
            "sunday?",
            "thursday?",
            "time",
            "toEpochMilli",
            "to_a",
            "to_date",
            "to_datetime",
            "to_epoch_milli",
            "to_f",
            "to_i",
            "to_iso8601",
            "to_r",
            "to_time",
            "tuesday?",
            "tv_nsec",
            "tv_sec",
            "tv_usec",
            "usec",
            "utc",
            "utc?",
            "utc_offset",
            "wday",
            "wednesday?",
            "yday",
            "year",
            "zone",
        ],
    ),
    takes(
        0,
        1,
        &[
            "<<",
            ">>",
            "ceil",
            "floor",
            "getlocal",
            "iso8601",
            "localtime",
            "new_offset",
            "next_day",
            "next_month",
            "next_year",
            "prev_day",
            "prev_month",
            "prev_year",
            "rfc3339",
            "round",
            "xmlschema",
        ],
    ),
    takes(1, 1, &["+", "-", "<", "<=", ">", ">=", "downto", "strftime", "upto"]),
    takes(1, 2, &["step"]),
    takes(2, 2, &["between?", "clamp"]),
];

/// The nanoseconds of a second.
const NANOS: i64 = 1_000_000_000;
/// The seconds of a day.
const DAY: f64 = 86_400.0;

/// Days as a span of time.
fn days(value: &Value) -> Option<Duration> {
    match value {
        Value::Int(days) => Duration::try_days(*days),
        Value::Float(days) => span(&Value::Float(days * DAY)),
        exact => {
            let (numerator, denominator) = numeric::ratio(exact)?;
            span(&numeric::fraction(numerator * DAY as i64, denominator))
        }
    }
}

fn midnight(time: DateTime<FixedOffset>) -> DateTime<FixedOffset> {
    time.date_naive().and_time(chrono::NaiveTime::MIN).and_utc().fixed_offset()
}

/// Seconds as a span of time.
fn span(value: &Value) -> Option<Duration> {
    match value {
        Value::Int(seconds) => Duration::try_seconds(*seconds),
        Value::Float(seconds) => {
            let micros = (seconds * 1e6).round();
            (micros.abs() < 9e18).then(|| Duration::microseconds(micros as i64))
        }
        exact => {
            let (numerator, denominator) = numeric::ratio(exact)?;
            let nanos = numeric::floor_div(&(numerator * NANOS), &denominator);
            i64::try_from(nanos).ok().map(Duration::nanoseconds)
        }
    }
}

/// Since 1970.
fn nanoseconds(time: DateTime<FixedOffset>) -> BigInt {
    BigInt::from(time.timestamp()) * NANOS + time.timestamp_subsec_nanos()
}

fn seconds(time: DateTime<FixedOffset>) -> f64 {
    time.timestamp() as f64 + f64::from(time.timestamp_subsec_nanos()) / 1e9
}

/// Another time, so many seconds, days or months away, or the span between two.
fn moved(time: DateTime<FixedOffset>, clock: Clock, name: &str, arguments: &[Value]) -> Found1 {
    Ok(Some(match (name, arguments) {
        ("+" | "-", [number]) if number.is_number() => {
            let amount =
                if clock.counts_days() { days(&arguments[0]) } else { span(&arguments[0]) };
            let amount = amount.map(|amount| if name == "+" { amount } else { -amount });
            let moved = amount.and_then(|amount| time.checked_add_signed(amount));
            let moved = moved.ok_or_else(|| Stop::raise("RangeError", "out of range"))?;
            Value::Time(moved, clock)
        }
        ("-", [Value::Time(other, _)]) => {
            let difference = nanoseconds(time) - nanoseconds(*other);
            match clock.counts_days() {
                true => numeric::fraction(difference, BigInt::from(NANOS) * DAY as i64),
                false => Value::Float(
                    numeric::float(&numeric::fraction(difference, NANOS.into())).unwrap_or(0.0),
                ),
            }
        }
        ("+" | "-", [_]) => {
            return Err(Stop::raise("TypeError", "can't convert into an exact number"));
        }
        (
            ">>" | "next_month" | "<<" | "prev_month" | "next_day" | "prev_day" | "succ" | "next"
            | "next_year" | "prev_year",
            count,
        ) if clock.counts_days() => {
            let count = match count {
                [Value::Int(count)] => i32::try_from(*count).unwrap_or(0),
                _ => 1,
            };
            let back = matches!(name, "<<" | "prev_month" | "prev_day" | "prev_year");
            let count = if back { count.saturating_neg() } else { count };
            let count = if name.ends_with("year") { count.saturating_mul(12) } else { count };
            let moved = match name {
                "next_day" | "prev_day" | "succ" | "next" => {
                    time.checked_add_signed(Duration::days(i64::from(count)))
                }
                _ if count < 0 => time.checked_sub_months(Months::new(count.unsigned_abs())),
                _ => time.checked_add_months(Months::new(count.unsigned_abs())),
            };
            let moved = moved.ok_or_else(|| Stop::raise("RangeError", "out of range"))?;
            Value::Time(moved, clock)
        }
        _ => return Ok(None),
    }))
}

impl Machine<'_, '_> {
    pub(super) fn time_method(
        &mut self,
        time: DateTime<FixedOffset>,
        clock: Clock,
        name: &str,
        arguments: &[Value],
        given: Option<&Given>,
    ) -> Found1 {
        let heap = self.heap;
        let utc = || time.with_timezone(&Utc).fixed_offset();
        Ok(Some(match (name, arguments) {
            ("to_i" | "tv_sec", []) => Value::Int(time.timestamp()),
            ("to_f", []) => Value::Float(seconds(time)),
            ("to_r", []) => numeric::fraction(nanoseconds(time), NANOS.into()),
            ("epoch_millis" | "to_epoch_milli" | "toEpochMilli", []) => {
                Value::Int(time.timestamp_millis())
            }
            ("to_iso8601", []) => heap.text(&iso8601(time.with_timezone(&Utc))),
            ("iso8601" | "xmlschema" | "rfc3339", places) => {
                heap.text(&xml_schema(time, clock, places))
            }
            ("strftime", [Value::Text(pattern)]) => {
                if pattern.len(heap) > PATTERN_MAX {
                    return Err(Stop::Limit(Breach::Size));
                }
                heap.text(&strftime(time, &pattern.str(heap)))
            }
            ("utc" | "getutc" | "gmtime" | "getgm", []) => Value::Time(utc(), Clock::Utc),
            ("localtime" | "getlocal" | "new_offset", zone) => {
                let is_utc = matches!(zone, [Value::Text(zone)] if &*zone.str(heap) == "UTC");
                let shown_as = match name {
                    "new_offset" => clock,
                    _ if is_utc => Clock::Utc,
                    _ => Clock::Time,
                };
                let offset = match zone {
                    [Value::Int(0)] => *utc().offset(),
                    [Value::Text(zone)] => zone_offset(&zone.str(heap))?,
                    [Value::Int(offset)] => i32::try_from(*offset)
                        .ok()
                        .and_then(FixedOffset::east_opt)
                        .ok_or_else(|| Stop::raise("ArgumentError", "utc_offset out of range"))?,
                    _ => *utc().offset(),
                };
                Value::Time(time.with_timezone(&offset), shown_as)
            }
            ("time" | "to_time", []) => Value::Time(
                time,
                match clock {
                    Clock::Stamp | Clock::Utc => Clock::Utc,
                    _ => Clock::Time,
                },
            ),
            ("utc?" | "gmt?", []) => Value::Bool(matches!(clock, Clock::Utc | Clock::Stamp)),
            ("between?", [Value::Time(low, _), Value::Time(high, _)]) => {
                Value::Bool(*low <= time && time <= *high)
            }
            ("clamp", [Value::Time(low, _), Value::Time(high, _)]) => match () {
                () if time < *low => arguments[0].clone(),
                () if time > *high => arguments[1].clone(),
                () => Value::Time(time, clock),
            },
            ("step" | "upto" | "downto", [Value::Time(to, _), step @ ..])
                if clock.counts_days() =>
            {
                let step = match step {
                    [Value::Int(step)] => *step,
                    _ => {
                        if name == "downto" {
                            -1
                        } else {
                            1
                        }
                    }
                };
                let days = self.days_between(time, *to, step, clock)?;
                return match given {
                    None => Ok(Some(heap.list(days))),
                    Some(given) => {
                        for day in days {
                            self.give_to(given, vec![day])?;
                        }
                        Ok(Some(Value::Time(time, clock)))
                    }
                };
            }
            ("to_datetime", []) => Value::Time(time, Clock::DateTime),
            ("to_date", []) => Value::Time(midnight(time), Clock::Date),
            ("round" | "floor" | "ceil", places) => {
                let places = match places {
                    [Value::Int(places)] => u32::try_from(*places).unwrap_or(9).min(9),
                    _ => 0,
                };
                let unit = 10_i64.pow(9 - places);
                let nanos = i64::from(time.timestamp_subsec_nanos());
                let kept = match name {
                    "floor" => nanos / unit,
                    "ceil" => (nanos + unit - 1) / unit,
                    _ => (nanos + unit / 2) / unit,
                };
                let moved = time.checked_add_signed(Duration::nanoseconds(kept * unit - nanos));
                Value::Time(moved.unwrap_or(time), clock)
            }
            ("<", [Value::Time(other, _)]) => Value::Bool(time < *other),
            (">", [Value::Time(other, _)]) => Value::Bool(time > *other),
            ("<=", [Value::Time(other, _)]) => Value::Bool(time <= *other),
            (">=", [Value::Time(other, _)]) => Value::Bool(time >= *other),
            (day, []) if day.ends_with("day?") => {
                Value::Bool(time.format("%A?").to_string().to_lowercase() == day)
            }
            _ => {
                let found = moved(time, clock, name, arguments)?;
                return Ok(found.or_else(|| part_of(heap, time, name, arguments)));
            }
        }))
    }

    /// The days from one to another.
    fn days_between(
        &mut self,
        from: DateTime<FixedOffset>,
        to: DateTime<FixedOffset>,
        step: i64,
        clock: Clock,
    ) -> Result<Vec<Value>, Stop> {
        if step == 0 {
            return Err(Stop::raise("ArgumentError", "step can't be 0"));
        }
        let (mut days, mut day) = (Vec::new(), from);
        while if step > 0 { day <= to } else { day >= to } {
            self.step()?;
            days.push(Value::Time(day, clock));
            let next = Duration::try_days(step).and_then(|step| day.checked_add_signed(step));
            let Some(next) = next else { break };
            day = next;
        }
        Ok(days)
    }

    /// `Time.now`, `Time.at(…)`, `DateTime.parse(…)`
    pub(super) fn time_constant(&mut self, class: &str, name: &str, arguments: &[Value]) -> Found1 {
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
                return Err(super::text::no_text(other));
            }
            _ => return Ok(None),
        }))
    }
}

/// A field of a time.
fn part_of(
    heap: &Heap,
    time: DateTime<FixedOffset>,
    name: &str,
    arguments: &[Value],
) -> Option<Value> {
    let whole = |number: u32| Value::Int(i64::from(number));
    Some(match (name, arguments) {
        ("year", []) => Value::Int(i64::from(time.year())),
        ("cwyear", []) => Value::Int(i64::from(time.iso_week().year())),
        ("month" | "mon", []) => whole(time.month()),
        ("day" | "mday", []) => whole(time.day()),
        ("hour", []) => whole(time.hour()),
        ("min" | "minute", []) => whole(time.minute()),
        ("sec" | "second", []) => whole(time.second()),
        ("usec" | "tv_usec", []) => whole(time.timestamp_subsec_micros()),
        ("msec", []) => whole(time.timestamp_subsec_millis()),
        ("nsec" | "tv_nsec", []) => whole(time.timestamp_subsec_nanos()),
        ("wday", []) => whole(time.weekday().num_days_from_sunday()),
        ("cwday", []) => whole(time.weekday().number_from_monday()),
        ("jd", []) => Value::Int(i64::from(time.num_days_from_ce()) + 1_721_425),
        ("yday", []) => whole(time.ordinal()),
        ("cweek", []) => whole(time.iso_week().week()),
        ("zone", []) if time.offset().local_minus_utc() == 0 => heap.text("UTC"),
        ("zone", []) => heap.text(&time.format("%:z").to_string()),
        ("utc_offset" | "gmt_offset" | "gmtoff", []) => {
            Value::Int(i64::from(time.offset().local_minus_utc()))
        }
        ("dst?" | "isdst", []) => Value::Bool(false),
        ("frozen?", []) => Value::Bool(false),
        ("mjd", []) => Value::Int(i64::from(time.num_days_from_ce()) - 678_576),
        ("ld", []) => Value::Int(i64::from(time.num_days_from_ce()) + 140_265),
        ("leap?", []) => Value::Bool(time.date_naive().leap_year()),
        ("subsec" | "sec_fraction" | "second_fraction", []) => {
            match time.timestamp_subsec_nanos() {
                0 => Value::Int(0),
                nanos => numeric::fraction(nanos.into(), NANOS.into()),
            }
        }
        ("day_fraction", []) => numeric::fraction(
            BigInt::from(time.num_seconds_from_midnight()) * NANOS + time.nanosecond(),
            BigInt::from(NANOS) * DAY as i64,
        ),
        ("offset", []) => {
            numeric::fraction(time.offset().local_minus_utc().into(), BigInt::from(DAY as i64))
        }
        ("ctime" | "asctime", []) => heap.text(&time.format("%a %b %e %H:%M:%S %Y").to_string()),
        ("httpdate", []) => {
            heap.text(&time.to_utc().format("%a, %d %b %Y %H:%M:%S GMT").to_string())
        }
        ("rfc2822" | "rfc822", []) => {
            let zone = if time.offset().local_minus_utc() == 0 { "-0000" } else { "%z" };
            heap.text(&time.format(&format!("%a, %d %b %Y %H:%M:%S {zone}")).to_string())
        }
        ("to_a", []) => {
            let parts = [time.second(), time.minute(), time.hour(), time.day(), time.month()];
            let days = [time.weekday().num_days_from_sunday(), time.ordinal()];
            let parts = parts.into_iter().map(whole);
            let year = [Value::Int(i64::from(time.year()))];
            let days = days.into_iter().map(whole);
            let zone = part_of(heap, time, "zone", &[]).unwrap_or_default();
            heap.list(parts.chain(year).chain(days).chain([Value::Bool(false), zone]).collect())
        }
        _ => return None,
    })
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
            let what = super::object::word_of(other);
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
        Err(_) => super::moment::read(text, now, class),
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

fn zone_offset(name: &str) -> Result<FixedOffset, Stop> {
    let bad = || Stop::raise("ArgumentError", format!("{name:?}: unknown zone"));
    match Zone::named(name).ok_or_else(bad)? {
        Zone::Fixed(offset) => Ok(offset),
        Zone::Named(_) => FixedOffset::east_opt(0).ok_or_else(bad),
    }
}

fn xml_schema(time: DateTime<FixedOffset>, clock: Clock, places: &[Value]) -> String {
    if clock == Clock::Date {
        return time.format("%Y-%m-%d").to_string();
    }
    let fraction = match places {
        [Value::Int(places)] if *places > 0 => {
            let nanos = format!("{:09}", time.timestamp_subsec_nanos());
            let places = usize::try_from(*places).unwrap_or(9).min(9);
            format!(".{}", &nanos[..places])
        }
        _ => String::new(),
    };
    let zone = match time.offset().local_minus_utc() {
        _ if matches!(clock, Clock::Utc | Clock::Stamp) => "Z".to_string(),
        _ => time.format("%:z").to_string(),
    };
    format!("{}{fraction}{zone}", time.format("%Y-%m-%dT%H:%M:%S"))
}
