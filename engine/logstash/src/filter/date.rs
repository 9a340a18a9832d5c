//! `date`: reads a field as a time, by the first of several formats that fits.

use super::{Declaration, Filter, Outcome, Turn};
use crate::complain;
use crate::options::{Arguments, Takes, option, required};
use chrono::{DateTime, Utc};
use temblor_logstash_event::datum::Datum;
use temblor_logstash_event::event::LogEvent;
use temblor_logstash_event::reference::FieldRef;
use temblor_logstash_event::template::Template;
use temblor_logstash_event::timestamp::{Dialect, Format, Locale, Zone, parse_casual};

/// `date`
pub(crate) static DECLARATION: Declaration = Declaration {
    name: "date",
    doc: "Reads a field as a time.",
    options: &[
        required("match", Takes::List, "The field and its formats."),
        option("target", Takes::Text, "Where the time goes."),
        option("timezone", Takes::Text, "The zone of texts that name none."),
        option("locale", Takes::Text, "The language of months and days."),
        option("tag_on_failure", Takes::List, "The tags of texts that are no times."),
    ],
    make,
};

#[derive(Debug)]
struct Date {
    field: FieldRef,
    readers: Vec<Reader>,
    target: FieldRef,
    timezone: Option<Template>,
    locale: &'static Locale,
    tags: Vec<String>,
}

#[derive(Debug)]
enum Reader {
    /// `ISO8601`
    Iso,
    /// `UNIX`
    Seconds,
    /// `UNIX_MS`
    Millis,
    /// `TAI64N`
    Tai,
    /// `yyyy-MM-dd`
    Joda(Format),
}

fn make(arguments: &mut Arguments<'_>) -> Option<Box<dyn Filter>> {
    let texts = arguments.texts("match")?;
    let [(field, span), formats @ ..] = texts.as_slice() else {
        let span = arguments.place("match");
        arguments.complain(complain::bad_value("match", span, "a field and at least one format"));
        return None;
    };
    if formats.is_empty() {
        arguments.complain(complain::bad_value("match", *span, "a field and at least one format"));
        return None;
    }
    let field = arguments.reference(field, *span)?;
    let mut readers = Vec::with_capacity(formats.len());
    for (text, span) in formats {
        match reader(text) {
            Ok(reader) => readers.push(reader),
            Err(reason) => arguments.complain(complain::bad_pattern(text, *span, &reason)),
        }
    }
    let timezone = arguments.text("timezone");
    if let Some(name) = timezone.as_deref().filter(|name| !name.contains("%{"))
        && Zone::named(name).is_none()
    {
        let span = arguments.place("timezone");
        arguments.complain(complain::bad_value("timezone", span, "the name of a time zone"));
    }
    let locale = arguments.text("locale").and_then(|tag| Locale::of(&tag));
    Some(Box::new(Date {
        field,
        readers,
        target: arguments.field("target", "@timestamp")?,
        timezone: timezone.as_deref().map(Template::parse),
        locale: locale.unwrap_or_else(Locale::english),
        tags: arguments.tags("tag_on_failure", "_dateparsefailure"),
    }))
}

fn reader(text: &str) -> Result<Reader, String> {
    Ok(match text {
        "ISO8601" => Reader::Iso,
        "UNIX" => Reader::Seconds,
        "UNIX_MS" => Reader::Millis,
        "TAI64N" => Reader::Tai,
        pattern => Reader::Joda(Format::parse(pattern, Dialect::Joda)?),
    })
}

impl Filter for Date {
    fn filter<'a>(&'a self, event: &mut LogEvent<'a>, turn: &mut Turn<'a, '_>) -> Outcome {
        let value = match event.get(&self.field) {
            None | Some(Datum::Null) => return Outcome::Unmatched,
            Some(Datum::List(items)) => items.first().cloned().unwrap_or_default(),
            Some(value) => value.clone(),
        };
        let zone = match &self.timezone {
            Some(template) => Zone::named(template.render(event, turn.arena, turn.now)),
            None => Some(Zone::UTC),
        };
        let now = turn.now;
        let found = zone.and_then(|zone| {
            self.readers.iter().find_map(|reader| reader.read(&value, zone, self.locale, now))
        });
        let Some(time) = found else { return turn.fail(event, &self.tags) };
        match event.set(&self.target, Datum::Time(time), turn.arena) {
            Ok(()) => Outcome::Matched,
            Err(_) => turn.fail(event, &self.tags),
        }
    }
}

impl Reader {
    fn read(
        &self,
        value: &Datum<'_>,
        zone: Zone,
        locale: &Locale,
        now: DateTime<Utc>,
    ) -> Option<DateTime<Utc>> {
        match (self, value) {
            (Reader::Seconds, value) => seconds(value),
            (Reader::Millis, Datum::Int(millis)) => DateTime::from_timestamp_millis(*millis),
            (Reader::Millis, Datum::Float(millis)) => {
                DateTime::from_timestamp_millis(millis.trunc() as i64)
            }
            (Reader::Millis, Datum::Str(text)) => {
                DateTime::from_timestamp_millis(text.parse().ok()?)
            }
            (Reader::Tai, Datum::Str(text)) => tai(text),
            (Reader::Iso, Datum::Str(text)) => parse_casual(text, zone),
            (Reader::Joda(format), Datum::Str(text)) => format.read(text, zone, locale, now),
            (_, Datum::Time(time)) => Some(*time),
            _ => None,
        }
    }
}

/// Seconds since 1970, up to the end of 32 bits; decimals after the third are ignored.
fn seconds(value: &Datum<'_>) -> Option<DateTime<Utc>> {
    /// The last second of 32 signed bits, in milliseconds.
    const MILLIS_MAX: i64 = 2_147_483_647_999;
    let millis = match value {
        Datum::Int(seconds) => seconds.checked_mul(1000)?,
        Datum::Float(seconds) => thousandfold(&format!("{seconds}"))?,
        Datum::Str(text) => thousandfold(text)?,
        _ => return None,
    };
    if millis > MILLIS_MAX {
        return None;
    }
    DateTime::from_timestamp_millis(millis)
}

/// A decimal number such as `-1.5` or `1.478e9` times a thousand, without what is left of its fraction.
fn thousandfold(text: &str) -> Option<i64> {
    /// Numbers of more digits are no times.
    const DIGITS_MAX: usize = 18;
    let (number, exponent) = match text.split_once(['e', 'E']) {
        Some((number, exponent)) => (number, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let unsigned = number.strip_prefix(['+', '-']).unwrap_or(number);
    let (whole, decimals) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let digits = [whole, decimals].concat();
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let kept = i32::try_from(whole.len()).ok()?.checked_add(exponent)?.checked_add(3)?;
    let kept = usize::try_from(kept).unwrap_or(0);
    if kept > DIGITS_MAX {
        return None;
    }
    // A zero in front, as nothing may be left of a small fraction.
    let millis: i64 = format!("0{}", &format!("{digits:0<kept$}")[..kept]).parse().ok()?;
    Some(if number.starts_with('-') { -millis } else { millis })
}

/// TAI64N, ten seconds ahead of UTC as of 1972.
fn tai(text: &str) -> Option<DateTime<Utc>> {
    /// The label of 1970-01-01 TAI.
    const EPOCH: i64 = 1 << 62;
    let text = text.strip_prefix('@').unwrap_or(text);
    let seconds = i64::from_str_radix(text.get(..16)?, 16).ok()?;
    let nanos = u32::from_str_radix(text.get(16..24)?, 16).ok()?;
    let seconds = seconds.checked_sub(EPOCH)?.checked_sub(10)?;
    DateTime::from_timestamp(seconds, nanos / 1_000_000 * 1_000_000)
}
