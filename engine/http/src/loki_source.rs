//! `loki` as a source: what sends lines to Loki sends them here.
//!
//! Invariant: a request is answered when all of its lines are where they should be.

mod labels;
mod push;

use std::sync::Arc;

use hyper::body::Incoming;
use hyper::header::CONTENT_TYPE;
use hyper::http::request::Parts;
use hyper::{Method, StatusCode};
use serde_json::Value;
use temblor_declare::{Build, Built, Setting, Takes, Wrong};
use temblor_runtime::intake::{Arrival, Messages};

use crate::auth::{AUTH, Credentials};
use crate::bounds::{
    BODY_TIMEOUT, HEADER_TIMEOUT, MAX_BODY, MAX_CONNECTIONS, MAX_DECOMPRESSED, MAX_HEADER,
    MAX_REQUESTS, WAIT,
};
use crate::json::{push_entry, push_key, text, without_mark};
use crate::respond::{Reply, bare, because, later};
use crate::server::Peer;
use crate::shipping::{ANSWER_TIMEOUT, Desk, NotTaken, Protocol, Shipping, TLS_RECORD};

/// Settings of the source.
pub(crate) const SETTINGS: &[Setting] = &[
    Setting::new(
        "auth",
        Takes::Record(AUTH),
        "What a request must show; else the answer is status 401.",
    ),
    TLS_RECORD,
    ANSWER_TIMEOUT,
    MAX_CONNECTIONS,
    MAX_REQUESTS,
    MAX_HEADER,
    MAX_BODY,
    MAX_DECOMPRESSED,
    HEADER_TIMEOUT,
    BODY_TIMEOUT,
    WAIT,
];

/// Where lines are sent to.
const PATHS: [&str; 2] = ["/loki/api/v1/push", "/api/prom/push"];

/// Makes the source.
///
/// # Errors
/// A setting that is wrong.
pub(crate) fn build(what: &Build<'_>) -> Result<Built, Wrong> {
    let auth = Credentials::of_settings(what.settings)?;
    let has_auth = auth.is_some();
    let (source, warnings) = Shipping::of(what, Loki { auth: auth.map(Arc::new) }, has_auth)?;
    Ok(Built { source: Some(Arc::new(source)), sink: None, warnings })
}

#[derive(Clone, Debug)]
struct Loki {
    auth: Option<Arc<Credentials>>,
}

impl Protocol for Loki {
    async fn take(&self, desk: &Desk, parts: &Parts, incoming: Incoming, _: Peer) -> Reply {
        self.request(desk, parts, incoming).await.unwrap_or_else(|refusal| refusal)
    }
}

impl Loki {
    async fn request(
        &self,
        desk: &Desk,
        parts: &Parts,
        incoming: Incoming,
    ) -> Result<Reply, Reply> {
        if parts.uri.path() == "/ready" {
            return Ok(because(StatusCode::OK, "ready"));
        }
        if !PATHS.contains(&parts.uri.path()) {
            return Err(because(StatusCode::NOT_FOUND, "lines are sent to /loki/api/v1/push"));
        }
        if parts.method != Method::POST {
            return Err(because(StatusCode::METHOD_NOT_ALLOWED, "lines are sent with POST"));
        }
        if self.auth.as_ref().is_some_and(|auth| !auth.are_shown_in(&parts.headers)) {
            desk.feed.stats.add_dropped("http_unauthorized", 1);
            return Err(because(StatusCode::UNAUTHORIZED, "credentials are missing or wrong"));
        }
        let Some(_place) = desk.place() else {
            return Err(later(StatusCode::TOO_MANY_REQUESTS, "too many requests at the same time"));
        };
        let body = desk.body(parts, incoming).await?;
        let tenant = parts.headers.get("x-scope-orgid").and_then(|value| value.to_str().ok());
        let kind = parts.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let is = |name: &str| kind.is_some_and(|kind| kind.contains(name));
        let arrival = if is("json") {
            lines(&body, tenant)
        } else if is("protobuf") {
            pushed(&body, tenant, desk.decompressed_bytes_max())
        } else {
            let reason = "send lines as `Content-Type: application/json`, or as `application/x-protobuf` \
                          compressed by snappy";
            return Err(because(StatusCode::UNSUPPORTED_MEDIA_TYPE, reason));
        };
        let arrival = arrival.map_err(|reason| {
            desk.feed.stats.add_error("loki_bad_body");
            because(StatusCode::BAD_REQUEST, reason)
        })?;
        let Some(arrival) = arrival else { return Ok(bare(StatusCode::NO_CONTENT)) };
        let full = "the program takes no more for now; send it again";
        let receipt = desk.hand_over(arrival).await;
        let receipt = receipt.map_err(|_| later(StatusCode::SERVICE_UNAVAILABLE, full))?;
        match desk.written(receipt).await {
            Ok(()) => Ok(bare(StatusCode::NO_CONTENT)),
            Err(NotTaken::Late) => {
                let reason = "the lines were not written within their time; they may still be";
                Err(because(StatusCode::GATEWAY_TIMEOUT, reason))
            }
            Err(_) => {
                let reason = "the lines could not be written; send them again";
                Err(later(StatusCode::SERVICE_UNAVAILABLE, reason))
            }
        }
    }
}

/// A line that was pushed.
struct Line<'a> {
    /// The labels of its stream, as JSON.
    labels: &'a str,
    /// Nanoseconds since 1970.
    time_ns: u64,
    line: &'a str,
    /// What else is known of it, as JSON.
    metadata: Option<&'a str>,
}

impl Line<'_> {
    fn push(&self, tenant: Option<&str>, messages: &mut Messages) {
        let mut meta = "{\"loki\":{".to_string();
        push_key("labels", &mut meta);
        meta.push_str(self.labels);
        push_key("timestamp", &mut meta);
        meta.push_str(&self.time_ns.to_string());
        if let Some(tenant) = tenant {
            push_entry("tenant", tenant, &mut meta);
        }
        if let Some(more) = self.metadata {
            push_key("metadata", &mut meta);
            meta.push_str(more);
        }
        meta.push_str("}}");
        messages.push(&meta, text(self.line).as_bytes());
    }
}

/// The lines of a push request in Protocol Buffers.
fn pushed(body: &[u8], tenant: Option<&str>, bytes_max: usize) -> Result<Option<Arrival>, String> {
    let mut messages = Messages::default();
    push::read(body, bytes_max, |line| line.push(tenant, &mut messages))?;
    Ok((!messages.is_empty()).then(|| messages.take()))
}

/// The lines of `{"streams": [{"stream": labels, "values": [[time, line, metadata], …]}, …]}`.
fn lines(body: &[u8], tenant: Option<&str>) -> Result<Option<Arrival>, String> {
    let body: Value = serde_json::from_slice(without_mark(body))
        .map_err(|error| format!("the body is not JSON: {error}"))?;
    let streams = body.get("streams").and_then(Value::as_array);
    let streams = streams.ok_or("the body has no array `streams`")?;
    let mut messages = Messages::default();
    for stream in streams {
        let labels = stream.get("stream").filter(|labels| labels.is_object());
        let labels = labels.ok_or("a stream has no record of labels, `stream`")?.to_string();
        let values = stream.get("values").and_then(Value::as_array);
        for value in values.ok_or("a stream has no array `values`")? {
            let [time, line, ..] = value.as_array().map_or(&[][..], Vec::as_slice) else {
                return Err(format!("a line must be [\"nanoseconds\", \"text\"], got {value}"));
            };
            let number = time.as_str().and_then(|time| time.parse::<u64>().ok()).or(time.as_u64());
            let time_ns = number.ok_or_else(|| format!("`{time}` is no time in nanoseconds"))?;
            let line = line.as_str().ok_or_else(|| format!("a line must be a text, got {line}"))?;
            let metadata = value.get(2).map(ToString::to_string);
            let metadata = metadata.as_deref();
            Line { labels: &labels, time_ns, line, metadata }.push(tenant, &mut messages);
        }
    }
    Ok((!messages.is_empty()).then(|| messages.take()))
}

#[cfg(test)]
mod tests {
    use super::lines;

    #[test]
    fn a_body_holds_streams_of_lines() {
        let two = br#"{"streams":[{"stream":{"a":"b"},"values":[["1","x"],["2","y",{"k":"v"}]]}]}"#;
        let arrival = lines(two, Some("one")).unwrap();
        assert_eq!(arrival.map(|arrival| arrival.frames), Some(2));
        assert!(lines(br#"{"streams":[]}"#, None).unwrap().is_none());
        for wrong in [
            "[]",
            "{\"streams\":[{}]}",
            r#"{"streams":[{"stream":{},"values":[["x","y"]]}]}"#,
            r#"{"streams":[{"stream":{},"values":[["1"]]}]}"#,
        ] {
            assert!(lines(wrong.as_bytes(), None).is_err(), "{wrong}");
        }
    }
}
