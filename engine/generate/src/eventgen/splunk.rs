//! Outputs to Splunk: its collector of events over HTTP, and its receiver of the management port.
//!
//! Invariant: an event goes with the host, source, source type, index and time that it was made with, whether
//! a stanza or a row of a table said them.

use super::conf::Section;
use super::outputs::{Given, Output, SinkUse};
use serde_json::{Value, json};

/// What a collector is told of each event.
pub(crate) struct Telling(&'static [(&'static str, &'static str)]);

/// Events with their text.
pub(crate) static EVENTS: Telling = Telling(&[
    ("event", "event.`event`"),
    ("time", "event.time"),
    ("host", "event.host"),
    ("source", "event.source"),
    ("sourcetype", "event.sourcetype"),
    ("index", "event.index"),
]);

/// Metrics: the text of an event is a record of fields.
pub(crate) static METRICS: Telling = Telling(&[
    ("event", "\"metric\""),
    ("fields", "json::decode(event.`event`)"),
    ("time", "event.time"),
    ("host", "event.host"),
    ("source", "event.source"),
    ("sourcetype", "event.sourcetype"),
    ("index", "event.index"),
]);

/// All collectors of `httpeventServers`, in turn or, where the stanza says so, each for every event.
pub(crate) fn collectors(keys: &Section, telling: &Telling) -> Output {
    let parsed: Value = keys
        .text("httpeventServers")
        .and_then(|text| serde_json::from_str(text).ok())
        .unwrap_or_default();
    let servers = parsed["servers"].as_array().or_else(|| parsed.as_array());
    let sinks = servers.into_iter().flatten().map(|server| collector(server, keys, telling));
    Output::Sinks {
        sinks: sinks.collect(),
        is_mirrored: keys.text("httpeventOutputMode") == Some("mirror"),
        steps: "",
    }
}

fn collector(server: &Value, keys: &Section, telling: &Telling) -> SinkUse {
    let text = |name: &str, other: &str| match &server[name] {
        Value::String(text) if !text.is_empty() => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => other.to_string(),
    };
    let (protocol, port) = (text("protocol", "https"), text("port", "8088"));
    let target = format!("{protocol}://{}:{port}", text("address", "127.0.0.1"));
    let mut settings: Vec<_> = telling
        .0
        .iter()
        .map(|(name, expression)| (*name, Given::Expression((*expression).to_string())))
        .collect();
    settings.push(("token", Given::Value(text("key", "").into())));
    if protocol == "https" {
        settings.push(("tls", unchecked()));
    }
    let payload = keys.text("httpeventMaxPayloadSize").and_then(|text| text.parse::<u64>().ok());
    settings.extend(payload.map(|bytes| ("batch_bytes", Given::Value(json!(bytes)))));
    SinkUse { kind: "splunk_hec", target, settings }
}

/// Splunk's certificates are its own unless somebody replaced them, and Eventgen takes any.
fn unchecked() -> Given {
    Given::Value(json!({"verify": false}))
}

/// The receiver of a Splunk server, behind its name and password.
pub(crate) fn receiver(keys: &Section) -> Output {
    let (Some(user), Some(password)) = (keys.text("splunkUser"), keys.text("splunkPass")) else {
        return Output::Refused(
            "splunkstream needs splunkUser and splunkPass: there is no session of Splunk to use"
                .to_string(),
        );
    };
    let protocol = keys.text("splunkMethod").unwrap_or("https");
    let host = keys.text("splunkHost").unwrap_or("127.0.0.1");
    let target = format!("{protocol}://{host}:{}", keys.text("splunkPort").unwrap_or("8089"));
    let query = ["host", "source", "sourcetype", "index"]
        .map(|name| format!("{name}=#{{url::encode($splunk.{name})}}"))
        .join("&");
    let url = format!("\"{target}/services/receivers/simple?{query}\"");
    let mut settings = vec![
        ("codec", Given::Value("string".into())),
        ("content_type", Given::Value("text/plain".into())),
        ("url", Given::Expression(url)),
        ("auth", Given::Value(json!({"basic": {"user": user, "password": password}}))),
        ("concurrency", Given::Value(json!(1))),
    ];
    if protocol == "https" {
        settings.push(("tls", unchecked()));
    }
    let sink = SinkUse { kind: "http", target, settings };
    let steps = "set $splunk = event |> select event.`event`";
    Output::Sinks { sinks: vec![sink], is_mirrored: false, steps }
}
