//! What filters and codecs remember, as values that are saved by `--state`, and back.

use chrono::{DateTime, Utc};
use temblor_lang::value::Arena;
use temblor_logstash_event::datum::{Datum, Map};

/// A moment, to the nanosecond.
#[must_use]
pub(crate) fn of_time(time: DateTime<Utc>) -> Datum<'static> {
    Datum::Int(time.timestamp_nanos_opt().unwrap_or_default())
}

/// The moment that [`of_time`] gave.
#[must_use]
pub(crate) fn time(saved: Option<&Datum<'_>>) -> Option<DateTime<Utc>> {
    whole(saved).map(DateTime::from_timestamp_nanos)
}

/// A whole number.
#[must_use]
pub(crate) fn whole(saved: Option<&Datum<'_>>) -> Option<i64> {
    match saved? {
        Datum::Int(number) => Some(*number),
        Datum::UInt(number) => i64::try_from(*number).ok(),
        _ => None,
    }
}

/// A number, which may have lost its fraction on the way.
#[must_use]
pub(crate) fn number(saved: Option<&Datum<'_>>) -> Option<f64> {
    match saved? {
        Datum::Float(number) => Some(*number),
        other => whole(Some(other)).map(|number| number as f64),
    }
}

/// A text.
#[must_use]
pub(crate) fn text(saved: Option<&Datum<'_>>) -> Option<String> {
    saved?.as_str().map(str::to_string)
}

/// A list.
#[must_use]
pub(crate) fn list<'s, 'a>(saved: Option<&'s Datum<'a>>) -> Option<&'s [Datum<'a>]> {
    match saved? {
        Datum::List(items) => Some(items),
        _ => None,
    }
}

/// Keys with what stands under them.
pub(crate) fn map<'a, V>(
    entries: impl IntoIterator<Item = (&'a str, V)>,
    arena: &'a Arena,
    mut save: impl FnMut(V) -> Datum<'a>,
) -> Datum<'a> {
    let mut saved = Map::default();
    for (key, value) in entries {
        saved.append(arena.str(key), save(value));
    }
    Datum::Map(saved)
}

/// What [`map`] gave.
pub(crate) fn entries<V, C: FromIterator<(String, V)>>(
    saved: Option<&Datum<'_>>,
    mut restore: impl FnMut(&Datum<'_>) -> Option<V>,
) -> Option<C> {
    let Datum::Map(saved) = saved? else { return None };
    saved.iter().map(|(key, value)| Some((key.to_string(), restore(value)?))).collect()
}
