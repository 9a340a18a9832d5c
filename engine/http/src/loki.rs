//! `loki`: events become lines of log streams (Grafana Loki's push interface).
//!
//! Invariant: a line that Loki takes twice, with the same time and labels, is one line there, so that sending
//! again does no harm.

use std::collections::BTreeMap;
use std::sync::Arc;

use hyper::header::{HeaderMap, HeaderValue};
use temblor_declare::{Build, Built, CodecUse, Connector, Ends, Notation, Setting, Takes, Wrong};
use temblor_runtime::clock::system_time;
use temblor_runtime::outlet::Feedback;
use temblor_wire::retry::{RETRY, Retry};
use temblor_wire::tls::TLS;

use crate::auth::{AUTH, Credentials};
use crate::client::{Client, TIMEOUT};
use crate::json::{push_entry, push_text};
use crate::load::{BATCH_BYTES, BATCH_EVENTS, CONCURRENCY, Item, Load, Portions};
use crate::sink::{Form, Manner, Requests, add_auth};
use crate::source::header;
use crate::target::Target;

/// Where lines are sent to, unless the URL has a path.
const PATH: &str = "/loki/api/v1/push";
/// Attributes of an event, by their place among the settings that are evaluated for each event.
const LABELS: usize = 0;
const LINE: usize = 1;
const TIMESTAMP: usize = 2;
const TENANT: usize = 3;

/// Lines in Loki.
pub static LOKI: Connector = Connector {
    kind: "loki",
    notation: Notation::Temblor,
    doc: "Lines of log streams in Grafana Loki. Use few labels with few values; what differs from event to event \
          belongs into the line. What Loki refuses (a label name, a line that is too old) goes to `err`.",
    ends: Ends::Sink,
    address: Some("\"URL\": where Loki is, such as http://127.0.0.1:3100"),
    source: &[],
    sink: &[
        Setting::new(
            "labels",
            Takes::PerEventJson,
            "A record of labels; {\"job\": \"temblor\"} without it.",
        ),
        Setting::new("line", Takes::PerEvent, "The line; the whole event as JSON without it."),
        Setting::new(
            "timestamp",
            Takes::PerEvent,
            "The time of the line in nanoseconds since 1970; the time of sending without it.",
        ),
        Setting::new("tenant", Takes::PerEvent, "The tenant (`X-Scope-OrgID`)."),
        BATCH_EVENTS,
        BATCH_BYTES,
        CONCURRENCY,
        Setting::new("compression", Takes::Word(&["none", "gzip"]), "How requests are compressed.")
            .or("gzip"),
        Setting::new("auth", Takes::Record(AUTH), "The credentials that each request shows."),
        Setting::new(
            "tls",
            Takes::Record(TLS),
            "How the server is checked, and a certificate of our own.",
        ),
        TIMEOUT,
        Setting::new("retry", Takes::Record(RETRY), "The waits between attempts."),
    ],
    codec: CodecUse::Default("json"),
    writes_lines: true,
    gives: &[],
    meta: &[],
    examples: &[r#"sink logs into loki "http://127.0.0.1:3100" with
  labels = {"job": "app", "level": event.level}, line = event.message
end;
in |> logs"#],
    build,
};

fn build(what: &Build<'_>) -> Result<Built, Wrong> {
    collector(what, None, PATH, Form::Loki, "application/json")
}

/// A sink that sends to a collector of logs; `auth` stands for the setting, if it is given.
///
/// # Errors
/// A setting that is wrong.
pub fn collector(
    what: &Build<'_>,
    auth: Option<Credentials>,
    path: &str,
    form: Form,
    kind: &'static str,
) -> Result<Built, Wrong> {
    let settings = what.settings;
    let mut target = Target::parse(settings.text("address"), None, "address")?;
    if target.path == "/" {
        target.path = path.to_string();
    }
    let auth = match auth {
        Some(auth) => Some(auth),
        None => Credentials::of_settings(settings)?,
    };
    let mut headers = HeaderMap::new();
    headers.insert(hyper::header::CONTENT_TYPE, HeaderValue::from_static(kind));
    let warnings = add_auth(auth.as_ref(), &[&target], &mut headers);
    let requests = Requests {
        client: Client::of_settings(settings, &[&target])?,
        target,
        method: hyper::Method::POST,
        headers,
        form,
        portions: Portions::of_settings(settings),
        gzip: settings.text("compression") == "gzip",
        retry: Retry::of_settings(settings.record("retry")),
        manner: Manner::Collector,
        errors: Feedback::new(),
        answers: Feedback::new(),
    };
    let mut sink = requests.built();
    sink.answers = None;
    debug_assert!(Arc::strong_count(&sink.open) == 1);
    Ok(Built { sink: Some(sink), source: None, warnings })
}

/// Adds the tenant of an event to the headers of its request, and checks what else it says.
///
/// # Errors
/// Why the event cannot be a line.
pub fn add_tenant(load: &Load, item: Item, headers: &mut HeaderMap) -> Result<(), String> {
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
pub fn push(load: &Load, items: &[Item], out: &mut Vec<u8>) {
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
