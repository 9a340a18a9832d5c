//! Events as lines of log streams: the bodies that Loki takes.

use std::collections::BTreeMap;

use hyper::header::HeaderMap;
use temblor_runtime::clock::system_time;

use crate::json::{push_entry, push_text};
use crate::load::{Item, Load};
use crate::source::header;

/// Attributes of an event, by their place among the settings that are evaluated for each event.
const LABELS: usize = 0;
const LINE: usize = 1;
const TIMESTAMP: usize = 2;
const TENANT: usize = 3;

/// Adds the tenant of an event to the headers of its request, and checks what else it says.
///
/// # Errors
/// Why the event cannot be a line.
pub(crate) fn add_tenant(load: &Load, item: Item, headers: &mut HeaderMap) -> Result<(), String> {
    labels(load, item)?;
    if let Some(text) = load.attribute(item, TIMESTAMP)
        && text.parse::<u64>().is_err()
    {
        return Err(format!("`timestamp` must be nanoseconds since 1970, got {text}"));
    }
    if let Some(tenant) = load.attribute(item, TENANT) {
        let (name, value) = header("x-scope-orgid", tenant)
            .ok_or_else(|| format!("`{tenant}` is no name of a tenant"))?;
        headers.insert(name, value);
    }
    Ok(())
}

/// The labels of an event, as texts.
fn labels(load: &Load, item: Item) -> Result<BTreeMap<String, String>, String> {
    let Some(json) = load.attribute(item, LABELS).filter(|json| *json != "null") else {
        return Ok(BTreeMap::from([("job".to_string(), "temblor".to_string())]));
    };
    let value: serde_json::Value = serde_json::from_str(json).map_err(|error| error.to_string())?;
    let serde_json::Value::Object(record) = value else {
        return Err(format!("`labels` must be a record, got {json}"));
    };
    let label = |(name, value): (String, serde_json::Value)| match value {
        serde_json::Value::Null => None,
        serde_json::Value::String(text) => Some((name, text)),
        other => Some((name, other.to_string())),
    };
    let labels: BTreeMap<_, _> = record.into_iter().filter_map(label).collect();
    if labels.is_empty() {
        return Err("`labels` must have at least one label".to_string());
    }
    Ok(labels)
}

/// Appends `{"streams": [{"stream": labels, "values": [[time, line], …]}, …]}`.
pub(crate) fn push(load: &Load, items: &[Item], out: &mut Vec<u8>) {
    let mut streams: BTreeMap<BTreeMap<String, String>, Vec<Item>> = BTreeMap::new();
    for item in items {
        // Events without usable labels were refused before.
        streams.entry(labels(load, *item).unwrap_or_default()).or_default().push(*item);
    }
    let now = system_time().to_string();
    let mut text = "{\"streams\":[".to_string();
    for (at, (labels, items)) in streams.iter().enumerate() {
        text.push_str(if at == 0 { "{\"stream\":{" } else { ",{\"stream\":{" });
        labels.iter().for_each(|(name, value)| push_entry(name, value, &mut text));
        text.push_str("},\"values\":[");
        for (at, item) in items.iter().enumerate() {
            text.push_str(if at == 0 { "[" } else { ",[" });
            push_text(load.attribute(*item, TIMESTAMP).unwrap_or(&now), &mut text);
            text.push(',');
            let event = String::from_utf8_lossy(load.event(*item));
            push_text(load.attribute(*item, LINE).unwrap_or(&event), &mut text);
            text.push(']');
        }
        text.push_str("]}");
    }
    text.push_str("]}");
    out.extend_from_slice(text.as_bytes());
}
