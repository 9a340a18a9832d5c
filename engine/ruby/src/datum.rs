//! Values of code from those of an event, and the other way round.

use super::budget::Breach;
use super::heap::Heap;
use super::numeric;
use super::text::Content;
use super::value::Value;
use chrono::Utc;
use num_bigint::BigInt;
use std::sync::Arc;
use temblor_lang::value::Arena;
use temblor_logstash_event::datum::{Datum, Map};

/// Lists and maps of an event nest no deeper than this when they become values of code.
const EVENT_DEPTH_MAX: usize = 1_500;

impl Value {
    /// A copy of a value of an event.
    #[must_use]
    pub fn of_datum(heap: &Heap, datum: &Datum<'_>) -> Self {
        Self::of_datum_at(heap, datum, 0)
    }

    fn of_datum_at(heap: &Heap, datum: &Datum<'_>, depth: usize) -> Self {
        if depth > EVENT_DEPTH_MAX {
            heap.budget().exceed(Breach::Depth);
            return Value::Nil;
        }
        match datum {
            Datum::Null => Value::Nil,
            Datum::Bool(value) => Value::Bool(*value),
            Datum::Int(number) => Value::Int(*number),
            Datum::UInt(number) => Value::Big(Arc::new(BigInt::from(*number))),
            Datum::Float(number) => Value::Float(*number),
            Datum::Str(text) => heap.text(text),
            Datum::Time(time) => Value::timestamp(*time),
            Datum::List(items) => {
                let item = |item| Self::of_datum_at(heap, item, depth + 1);
                heap.list(items.iter().map(item).collect())
            }
            Datum::Map(map) => Self::of_map_at(heap, map, depth),
        }
    }

    /// A copy of a map of an event.
    #[must_use]
    pub fn of_map(heap: &Heap, map: &Map<'_>) -> Self {
        Self::of_map_at(heap, map, 0)
    }

    fn of_map_at(heap: &Heap, map: &Map<'_>, depth: usize) -> Self {
        let pair = |(key, value)| {
            let key = heap.new_text(Content::Plain(Arc::from(key)));
            key.freeze(heap);
            (Value::Text(key), Self::of_datum_at(heap, value, depth + 1))
        };
        heap.hash(map.iter().map(pair))
    }

    /// As a value of an event; nothing for what an event cannot hold.
    #[must_use]
    pub fn to_datum<'a>(&self, heap: &Heap, arena: &'a Arena) -> Option<Datum<'a>> {
        self.datum_at(heap, arena, 0)
    }

    fn datum_at<'a>(&self, heap: &Heap, arena: &'a Arena, depth: usize) -> Option<Datum<'a>> {
        if !heap.descend(depth) {
            return None;
        }
        let text = |text: &str| {
            // The copy lives as long as the event.
            heap.budget().hold_for_event(text.len());
            Datum::Str(arena.str(text))
        };
        Some(match self {
            Value::Nil => Datum::Null,
            Value::Bool(value) => Datum::Bool(*value),
            Value::Int(number) => Datum::Int(*number),
            Value::Float(number) => Datum::Float(*number),
            Value::Text(one) => text(&one.str(heap)),
            Value::Symbol(one) => text(one),
            // Logstash has no place for a `Date` in events.
            Value::Time(_, clock) if clock.counts_days() => return None,
            Value::Time(time, _) => Datum::Time(time.with_timezone(&Utc)),
            Value::List(items) => {
                let items = items.items(heap);
                let items = items.iter().map(|item| item.datum_at(heap, arena, depth + 1));
                Datum::List(items.collect::<Option<_>>()?)
            }
            Value::Big(number) => match u64::try_from(&**number) {
                Ok(number) => Datum::UInt(number),
                Err(_) => Datum::Float(numeric::float(self).unwrap_or(f64::INFINITY)),
            },
            Value::Decimal(_) => Datum::Float(numeric::float(self).unwrap_or(f64::NAN)),
            Value::Hash(hash) => {
                let mut map = Map::default();
                for (key, value) in hash.pairs(heap) {
                    let value = value.datum_at(heap, arena, depth + 1)?;
                    map.insert(arena.str(&key.print(heap)), value);
                }
                Datum::Map(map)
            }
            _ => return None,
        })
    }
}
