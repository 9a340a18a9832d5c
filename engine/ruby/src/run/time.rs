//! Times: of Ruby, with a zone, and of events. How they are made stands in `make`.

mod make;

use super::strftime::{PATTERN_MAX, strftime};
use super::{Found1, Given, Machine, Stop};
use crate::budget::Breach;
use crate::heap::Heap;
use crate::numeric;
use crate::run::methods::{Methods, takes};
use crate::value::{Clock, Value};
use chrono::{DateTime, Datelike, Duration, FixedOffset, Months, Timelike, Utc};
use make::zone_offset;
use num_bigint::BigInt;
use temblor_logstash_event::datum::iso8601;

/// The methods of times.
pub(in crate::run) const METHODS: &[Methods] = &[
    takes(
        0,
        0,
        &[
            "asctime",
            "ctime",
            "day",
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
            "mday",
            "min",
            "minute",
            "mon",
            "monday?",
            "month",
            "msec",
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
        &["ceil", "floor", "getlocal", "iso8601", "localtime", "rfc3339", "round", "xmlschema"],
    ),
    takes(1, 1, &["+", "-", "<", "<=", ">", ">=", "strftime"]),
    takes(2, 2, &["between?", "clamp"]),
];

/// The methods of `Date` and `DateTime` alone.
pub(in crate::run) const OF_DATES: &[Methods] = &[
    takes(
        0,
        0,
        &["cwday", "cweek", "cwyear", "day_fraction", "jd", "ld", "leap?", "mjd", "next", "succ"],
    ),
    takes(
        0,
        1,
        &[
            "<<",
            ">>",
            "new_offset",
            "next_day",
            "next_month",
            "next_year",
            "prev_day",
            "prev_month",
            "prev_year",
        ],
    ),
    takes(1, 1, &["downto", "upto"]),
    takes(1, 2, &["step"]),
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
