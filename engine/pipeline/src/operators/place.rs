//! A place that an operator writes to: `event.a.b`, `$a.b`, or `a.b` for a field of the event.
//! Values never change, so the records on the way are built anew; a missing one is made.

use crate::event::Event;
use temblor_declare::Settings;
use temblor_lang::diagnostic::Diagnostic;
use temblor_lang::error::EvalError;
use temblor_lang::value::{Arena, Key, RecordBuilder, Value};

/// Below what the place lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Root {
    Event,
    Meta,
}

/// A place below the event or its metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    root: Root,
    keys: Vec<String>,
}

impl Place {
    /// Reads the text of a place; `None` when it is none.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (root, path) = match text.strip_prefix('$') {
            Some(path) => (Root::Meta, path),
            None if text == "event" => (Root::Event, ""),
            None => (Root::Event, text.strip_prefix("event.").unwrap_or(text)),
        };
        let keys = match path {
            "" if text != "event." => Vec::new(),
            path => path.split('.').map(|key| key.trim_matches('`').to_string()).collect(),
        };
        let is_good = keys.iter().all(|key| !key.is_empty() && !key.contains(['[', ']', ' ']));
        (is_good && !text.is_empty()).then_some(Self { root, keys })
    }

    /// The place that a setting names, if it is set.
    pub(super) fn of(settings: &Settings, name: &str) -> Result<Option<Self>, Diagnostic> {
        let Some(text) = settings.optional_text(name) else { return Ok(None) };
        match Self::parse(text) {
            Some(place) => Ok(Some(place)),
            None => Err(settings
                .error(name, format!("`{text}` is not a place that can be written to"))
                .with_help("write fields by name, such as `event.a.b` or `$a`")),
        }
    }

    /// What stands at this place, if anything does.
    pub(super) fn get<'a>(&self, event: &Event<'a>) -> Option<Value<'a>> {
        let root = match self.root {
            Root::Event => event.value,
            Root::Meta => event.meta,
        };
        self.keys.iter().try_fold(root, |value, key| value.get(&Key::new(key)))
    }

    /// The event with `value` at this place.
    ///
    /// # Errors
    /// When there is something on the way that is not a record.
    pub(super) fn put<'a>(
        &'a self,
        arena: &'a Arena,
        event: Event<'a>,
        value: Value<'a>,
    ) -> Result<Event<'a>, EvalError> {
        match self.root {
            Root::Event => Ok(event.with_value(put(arena, Some(event.value), &self.keys, value)?)),
            Root::Meta => {
                let meta = Some(event.meta).filter(|meta| !matches!(meta, Value::Null));
                Ok(event.with_meta(put(arena, meta, &self.keys, value)?))
            }
        }
    }
}

fn put<'a>(
    arena: &'a Arena,
    current: Option<Value<'a>>,
    keys: &'a [String],
    value: Value<'a>,
) -> Result<Value<'a>, EvalError> {
    let Some((key, rest)) = keys.split_first() else { return Ok(value) };
    let mut record = match current {
        None => RecordBuilder::with_capacity(arena, 1),
        Some(current) => match current.as_record(arena) {
            Some(record) => RecordBuilder::from_record(arena, record, 1),
            None => return Err(not_a_record(key, current)),
        },
    };
    let inner = put(arena, record.get(key), rest, value)?;
    record.insert(key, inner);
    Ok(record.finish())
}

#[cold]
fn not_a_record(key: &str, current: Value<'_>) -> EvalError {
    let kind = current.kind().name();
    EvalError::new("E0604", format!("`{key}` cannot be set in a value of kind {kind}"))
        .with_help("only records have fields; use another place")
}

#[cfg(test)]
mod tests {
    use super::*;
    use temblor_lang::value::to_json;
    use temblor_stdlib::formats::json;

    fn set(place: &str, event: &str) -> String {
        let arena = Arena::new();
        let place = Place::parse(place).expect("a good place");
        let value = json::parse(event, &arena).expect("good JSON");
        match place.put(&arena, Event::new(value, Value::Null, 0), Value::UInt(1)) {
            Ok(event) => format!("{} {}", to_json(event.value), to_json(event.meta)),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn writes_what_it_names() {
        assert_eq!(set("a", r#"{"b":2}"#), r#"{"b":2,"a":1} null"#);
        assert_eq!(set("event.a.b", r#"{"a":{"c":3}}"#), r#"{"a":{"c":3,"b":1}} null"#);
        assert_eq!(set("event", "5"), "1 null");
        assert_eq!(set("$a.b", "5"), r#"5 {"a":{"b":1}}"#);
        assert_eq!(set("a.b", r#"{"a":7}"#), "`b` cannot be set in a value of kind integer");
    }

    #[test]
    fn refuses_what_is_no_place() {
        for text in ["", "a..b", "event.", "a[0]", "a b"] {
            assert_eq!(Place::parse(text), None, "{text}");
        }
    }
}
