//! Events as Splunk's HTTP Event Collector takes them.

use crate::json::{push_entry, push_key};
use crate::load::{Item, Load};

/// Attributes of an event, by their place among the settings that are evaluated for each event.
const TEXTS: [(usize, &str); 4] = [(0, "host"), (1, "source"), (2, "sourcetype"), (3, "index")];
const TIME: usize = 4;
const FIELDS: usize = 5;
const EVENT: usize = 6;

/// Whether an event says what can be sent.
///
/// # Errors
/// Why it cannot.
pub(crate) fn check(load: &Load, item: Item) -> Result<(), String> {
    if load.event(item).is_empty() {
        return Err("an event must not be empty".to_string());
    }
    match load.attribute(item, TIME) {
        Some(text) if text.parse::<f64>().ok().filter(|time| time.is_finite()).is_none() => {
            Err(format!("`time` must be seconds since 1970, got {text}"))
        }
        _ => Ok(()),
    }
}

/// Appends `{"time": …, "host": …, "event": …}`.
pub(crate) fn push(load: &Load, item: Item, out: &mut Vec<u8>) {
    let mut text = "{".to_string();
    if let Some(time) = load.attribute(item, TIME) {
        push_key("time", &mut text);
        text.push_str(time);
    }
    for (attribute, name) in TEXTS {
        if let Some(value) = load.attribute(item, attribute) {
            push_entry(name, value, &mut text);
        }
    }
    if let Some(fields) = load.attribute(item, FIELDS).filter(|fields| *fields != "null") {
        push_key("fields", &mut text);
        text.push_str(fields);
    }
    push_key("event", &mut text);
    out.extend_from_slice(text.as_bytes());
    match load.attribute(item, EVENT) {
        Some(event) => out.extend_from_slice(event.as_bytes()),
        None => out.extend_from_slice(load.event(item)),
    }
    out.extend_from_slice(b"}\n");
}

/// A name for the stream of requests of one sink (a random UUID, RFC 9562): collectors that acknowledge
/// want one, the others leave it aside.
#[must_use]
pub(crate) fn channel() -> String {
    use std::hash::{BuildHasher, Hasher, RandomState};
    let bits = || RandomState::new().build_hasher().finish();
    let (first, second) = (bits(), bits());
    format!(
        "{:08x}-{:04x}-4{:03x}-8{:03x}-{:012x}",
        first >> 32,
        (first >> 16) & 0xffff,
        first & 0xfff,
        second >> 52,
        second & 0xffff_ffff_ffff
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_are_uuids_of_their_own() {
        let (one, other) = (channel(), channel());
        assert_ne!(one, other);
        let lengths: Vec<_> = one.split('-').map(str::len).collect();
        assert_eq!(lengths, [8, 4, 4, 4, 12], "{one}");
    }
}
