//! An event while the filters of a configuration work on it: its document, its `@metadata`, and whether it was
//! cancelled.
//!
//! Invariant: [`LogEvent::set`] keeps `@timestamp` a time, and `tags` nothing but strings; both are fields of the
//! document.

use crate::datum::{Datum, Map};
use crate::reference::{self, FieldRef, Refused, TAGS, TIMESTAMP};
use crate::timestamp;
use chrono::{DateTime, Utc};
use std::sync::LazyLock;
use temblor_lang::value::{Arena, OwnedKey, Value};

/// The names of fields that every event has, hashed once.
static NAMES: LazyLock<[OwnedKey; 3]> =
    LazyLock::new(|| ["message", TIMESTAMP, "@version"].map(OwnedKey::new));

/// An event that filters change.
#[derive(Clone, Debug, Default)]
pub struct LogEvent<'a> {
    /// The document.
    pub data: Map<'a>,
    /// `@metadata`: fields that outputs do not write.
    pub metadata: Map<'a>,
    /// Whether a filter dropped it.
    pub cancelled: bool,
}

/// The metadata key that says, between two steps of a chain, which strings of the event are times.
const TIMES: &str = "@times";

/// Collects the paths of the times below `path`. Lists are skipped: no filter puts times into them.
fn gather_times(value: &Datum<'_>, path: &dyn std::fmt::Display, times: &mut Vec<String>) {
    match value {
        Datum::Time(_) => times.push(path.to_string()),
        Datum::Map(map) => {
            for (key, value) in map.iter() {
                gather_times(value, &format_args!("{path}[{key}]"), times);
            }
        }
        _ => {}
    }
}

impl<'a> LogEvent<'a> {
    /// A new event with these fields, at the time `now`.
    #[must_use]
    pub fn new(mut data: Map<'a>, now: DateTime<Utc>) -> Self {
        let metadata = match data.remove("@metadata") {
            Some(Datum::Map(map)) => map,
            _ => Map::default(),
        };
        let mut event = Self { data, metadata, cancelled: false };
        event.check_tags();
        event.check_timestamp(now);
        if event.data.get("@version").is_none() {
            event.data.insert("@version", Datum::Str("1"));
        }
        event
    }

    /// A new event whose `message` is `text`; `original` names a second field (`[event][original]`) for it.
    #[must_use]
    pub fn of_message(text: &'a str, original: Option<&'a FieldRef>, now: DateTime<Utc>) -> Self {
        let [message, timestamp, version] = &*NAMES;
        let mut data = Map::of_event([
            (message.key(), Datum::Str(text)),
            (timestamp.key(), Datum::Time(now)),
            (version.key(), Datum::Str("1")),
        ]);
        if let Some([outer, inner]) = original.map(|field| &*field.steps) {
            let inner = Map::of_one(inner.key(), Datum::Str(text));
            data.append_key(outer.key(), Datum::Map(inner));
        }
        Self { data, metadata: Map::default(), cancelled: false }
    }

    /// An event of a decoded value: a record is the document, anything else its `message`.
    #[must_use]
    pub fn from_value(value: Value<'a>, arena: &'a Arena, now: DateTime<Utc>) -> Self {
        let data = match Datum::from_value(value, arena) {
            Datum::Map(map) => map,
            other => {
                let mut map = Map::default();
                map.insert("message", other);
                map
            }
        };
        Self::new(data, now)
    }

    /// The event as an earlier step of a chain sent it on: no field is added.
    #[must_use]
    pub fn resumed(value: Value<'a>, meta: Value<'a>, arena: &'a Arena) -> Self {
        let mut data = match Datum::from_value(value, arena) {
            Datum::Map(map) => map,
            other => {
                let mut map = Map::default();
                map.append("message", other);
                map
            }
        };
        let mut metadata = match Datum::from_value(meta, arena) {
            Datum::Map(map) => map,
            _ => Map::default(),
        };
        let times = metadata.remove(TIMES);
        if let Some(place) = data.get_mut("@timestamp")
            && let Some(time) = place.as_str().and_then(timestamp::parse_iso8601)
        {
            *place = Datum::Time(time);
        }
        let mut event = Self { data, metadata, cancelled: false };
        if let Some(Datum::List(paths)) = times {
            paths.iter().for_each(|path| event.restore_time(path));
        }
        event
    }

    /// Turns the string at a path back into a time, if it still reads as one.
    fn restore_time(&mut self, path: &Datum<'a>) {
        let field = path.as_str().and_then(|path| FieldRef::parse(path).ok());
        let place = field.and_then(|field| self.get_mut(&field));
        if let Some(place) = place
            && let Some(time) = place.as_str().and_then(timestamp::parse_iso8601)
        {
            *place = Datum::Time(time);
        }
    }

    /// The event and its metadata for the next step of a chain. Times become strings, since the language has no times;
    /// the metadata lists them, so that [`resumed`](Self::resumed) can turn them back.
    #[must_use]
    pub fn sent(&self, arena: &'a Arena) -> (Value<'a>, Value<'a>) {
        let mut times = Vec::new();
        for (key, value) in self.data.iter().filter(|(key, _)| *key != "@timestamp") {
            gather_times(value, &format_args!("[{key}]"), &mut times);
        }
        for (key, value) in self.metadata.iter() {
            gather_times(value, &format_args!("[@metadata][{key}]"), &mut times);
        }
        let data = self.data.to_value(arena);
        if times.is_empty() {
            return (data, self.metadata.to_value(arena));
        }
        let mut metadata = self.metadata.clone();
        let paths = times.iter().map(|path| Datum::Str(arena.str(path)));
        metadata.insert(TIMES, Datum::List(paths.collect()));
        (data, metadata.to_value(arena))
    }

    /// Moves `tags` to `_tags` if they are not strings.
    pub fn check_tags(&mut self) {
        let good = match self.data.get("tags") {
            None | Some(Datum::Str(_) | Datum::Null) => true,
            Some(Datum::List(items)) => items.iter().all(|item| matches!(item, Datum::Str(_))),
            Some(_) => false,
        };
        if !good {
            let tags = self.data.remove("tags").expect("the tags are there");
            self.data.insert("_tags", tags);
            self.tag("_tagsparsefailure");
        }
    }

    /// Turns the string in `@timestamp` into a time; what cannot be read moves to `_@timestamp`.
    fn check_timestamp(&mut self, now: DateTime<Utc>) {
        let time = match self.data.get("@timestamp") {
            None | Some(Datum::Null) => Some(now),
            Some(Datum::Time(time)) => Some(*time),
            Some(Datum::Str(text)) => timestamp::parse_iso8601(text),
            Some(_) => None,
        };
        match time {
            Some(time) => self.data.insert("@timestamp", Datum::Time(time)),
            None => {
                let bad = self.data.remove("@timestamp").expect("the timestamp is there");
                self.data.insert("_@timestamp", bad);
                self.tag("_timestampparsefailure");
                self.data.insert("@timestamp", Datum::Time(now));
            }
        }
    }

    fn map(&self, metadata: bool) -> &Map<'a> {
        if metadata { &self.metadata } else { &self.data }
    }

    fn map_mut(&mut self, metadata: bool) -> &mut Map<'a> {
        if metadata { &mut self.metadata } else { &mut self.data }
    }

    /// The value of a field; `None` for `[@metadata]` as a whole, see [`LogEvent::value_of`].
    #[must_use]
    #[inline]
    pub fn get(&self, field: &FieldRef) -> Option<&Datum<'a>> {
        reference::get(self.map(field.metadata), &field.steps)
    }

    /// A copy of the value of a field, or of `[@metadata]` as a whole.
    #[must_use]
    pub fn value_of(&self, field: &FieldRef) -> Option<Datum<'a>> {
        if field.steps.is_empty() {
            return Some(Datum::Map(self.metadata.clone()));
        }
        self.get(field).cloned()
    }

    /// The value of a field, to be changed.
    #[inline]
    pub fn get_mut(&mut self, field: &FieldRef) -> Option<&mut Datum<'a>> {
        reference::get_mut(self.map_mut(field.metadata), &field.steps)
    }

    /// Whether the field is there, even if it is null.
    #[must_use]
    #[inline]
    pub fn includes(&self, field: &FieldRef) -> bool {
        field.steps.is_empty() || self.get(field).is_some()
    }

    /// Writes a field.
    pub fn set(
        &mut self,
        field: &FieldRef,
        value: Datum<'a>,
        arena: &'a Arena,
    ) -> Result<(), Refused> {
        if field.steps.is_empty() {
            return match value {
                Datum::Map(map) => {
                    self.metadata = map;
                    Ok(())
                }
                _ => Err("@metadata must be a map"),
            };
        }
        if !field.metadata {
            self.guard(field, &value)?;
        }
        if !value.fits(field.steps.len()) {
            return Err("it would nest too deeply");
        }
        reference::set(self.map_mut(field.metadata), &field.steps, value, arena)
    }

    /// Writes a field that does not exist yet.
    pub fn add(
        &mut self,
        field: &'a FieldRef,
        value: Datum<'a>,
        arena: &'a Arena,
    ) -> Result<(), Refused> {
        match &*field.steps {
            [name] if !field.metadata => {
                self.guard(field, &value)?;
                self.data.append_key(name.key(), value);
                Ok(())
            }
            _ => self.set(field, value, arena),
        }
    }

    /// Refuses values of the wrong kind for `tags` and `@timestamp`.
    fn guard(&self, field: &FieldRef, value: &Datum<'a>) -> Result<(), Refused> {
        match (&*field.steps[0], field.steps.len()) {
            (TAGS, 1) => match value {
                Datum::Str(_) | Datum::Null => Ok(()),
                Datum::List(items) if items.iter().all(|item| item.as_str().is_some()) => Ok(()),
                _ => Err("tags must be texts"),
            },
            (TAGS, _) => match self.data.get("tags") {
                Some(Datum::List(_)) if value.as_str().is_some() => Ok(()),
                _ => Err("tags must be texts"),
            },
            (TIMESTAMP, 1) if !matches!(value, Datum::Time(_)) => Err("@timestamp must be a time"),
            _ => Ok(()),
        }
    }

    /// Removes a field; removing `@metadata` empties it.
    pub fn remove(&mut self, field: &FieldRef) -> Option<Datum<'a>> {
        if field.steps.is_empty() {
            return Some(Datum::Map(std::mem::take(&mut self.metadata)));
        }
        if let ([only], false) = (field.steps.as_slice(), field.metadata) {
            return self.data.remove_key(&only.key());
        }
        reference::remove(self.map_mut(field.metadata), &field.steps)
    }

    /// Adds a tag unless the event has it.
    pub fn tag(&mut self, tag: &'a str) {
        match self.data.get_mut("tags") {
            Some(Datum::List(items)) => {
                if !items.iter().any(|item| item.as_str() == Some(tag)) {
                    items.push(Datum::Str(tag));
                }
            }
            Some(Datum::Str(only)) => {
                if *only != tag {
                    let tags = vec![Datum::Str(only), Datum::Str(tag)];
                    self.data.insert("tags", Datum::List(tags));
                }
            }
            _ => self.data.insert("tags", Datum::List(vec![Datum::Str(tag)])),
        }
    }

    /// Adds a tag, even if the event has it.
    pub fn append_tag(&mut self, tag: &'a str) {
        match self.data.get_mut("tags") {
            Some(Datum::List(items)) => items.push(Datum::Str(tag)),
            Some(Datum::Str(only)) => {
                let tags = vec![Datum::Str(only), Datum::Str(tag)];
                self.data.insert("tags", Datum::List(tags));
            }
            _ => self.data.insert("tags", Datum::List(vec![Datum::Str(tag)])),
        }
    }

    /// The time in `@timestamp`.
    #[must_use]
    #[inline]
    pub fn timestamp(&self) -> Option<DateTime<Utc>> {
        match self.data.get("@timestamp") {
            Some(Datum::Time(time)) => Some(*time),
            _ => None,
        }
    }
}
