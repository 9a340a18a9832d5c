//! How what a connector of an input hands over becomes events, and which fields say where it came from.

use chrono::DateTime;
use temblor_lang::value::{Arena, Key, Value};
use temblor_logstash_event::datum::Datum;
use temblor_logstash_event::event::LogEvent;
use temblor_logstash_event::reference::FieldRef;

/// What a connector hands over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrives {
    /// Streams of bytes, which are cut into frames.
    Frames,
    /// Whole messages.
    Messages,
    /// Bodies, which are JSON when their type of content says so.
    Bodies,
    /// Bodies that were asked for, each of which may have failed to come.
    Polled,
    /// Lines of syslog, from streams and datagrams.
    Syslog,
    /// Events as they were sent, whose `message` the codec reads.
    Events,
    /// Events of the Forward protocol, with their times and tags beside them.
    Forwarded,
}

/// A field that says where an event came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Note {
    /// Where the connector's metadata has it: `tcp.peer.host`.
    pub from: &'static str,
    /// The field with a schema; none when empty.
    pub schema: &'static str,
    /// The field without; none when empty.
    pub old: &'static str,
    /// The option that names another field; none when empty.
    pub option: &'static str,
}

/// How an input over the network makes events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arrival {
    /// What comes.
    pub arrives: Arrives,
    /// What is said of it.
    pub notes: &'static [Note],
}

/// Gives an event of the Forward protocol its time and its tag.
pub(crate) fn forwarded<'a>(event: &mut LogEvent<'a>, meta: Value<'a>) {
    let time = found(meta, "fluent.time").and_then(Value::as_i64);
    if let Some(time) = time {
        event.data.insert("@timestamp", Datum::Time(DateTime::from_timestamp_nanos(time)));
    }
    if let Some(tag) = found(meta, "fluent.tag").and_then(Value::as_str) {
        event.tag(tag);
    }
}

/// What the metadata of a connector has at a path.
pub(crate) fn found<'a>(meta: Value<'a>, path: &str) -> Option<Value<'a>> {
    path.split('.').try_fold(meta, |value, name| value.get(&Key::new(name)))
}

/// Whether a body says that it is JSON.
pub(crate) fn is_json(meta: Value<'_>) -> bool {
    let kind = found(meta, "http.request.headers.content-type").and_then(Value::as_str);
    let kind = kind.unwrap_or_default().split(';').next().unwrap_or_default();
    kind.trim().eq_ignore_ascii_case("application/json")
}

/// Writes a field from the connector's metadata, unless the event has it.
pub(crate) fn note<'a>(
    event: &mut LogEvent<'a>,
    field: &'a FieldRef,
    (path, meta): (&str, Value<'a>),
    arena: &'a Arena,
) {
    let Some(value) = found(meta, path) else { return };
    if event.includes(field) {
        return;
    }
    let are_asked = path == "http.request.headers";
    let value = match (are_asked, Datum::from_value(value, arena)) {
        (true, Datum::Map(headers)) => {
            let mut named = temblor_logstash_event::datum::Map::default();
            for (name, value) in headers.into_entries() {
                named.insert(arena.str(&header(name)), value);
            }
            Datum::Map(named)
        }
        (_, value) => value,
    };
    // A scalar in the way keeps its place.
    let _ = event.add(field, value, arena);
}

/// The name that Logstash gives a header: `http_user_agent`.
fn header(name: &str) -> String {
    let name = name.to_ascii_lowercase().replace('-', "_");
    match &*name {
        "accept" | "host" | "user_agent" => format!("http_{name}"),
        _ => name,
    }
}
