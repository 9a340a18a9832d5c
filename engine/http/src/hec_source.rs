//! `splunk_hec` as a source: what sends events to Splunk's HTTP Event Collector sends them here.
//!
//! Invariant: without acknowledgement ids an answer says that all events of the request are where they should
//! be; with them an id is only told to be acknowledged when that is so.

mod acks;
mod body;

use std::sync::Arc;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Method, Response, StatusCode};
use temblor_declare::{Build, Built, Secret, Setting, Takes, Wrong};

use crate::auth::are_equal;
use crate::bounds::{
    BODY_TIMEOUT, HEADER_TIMEOUT, MAX_BODY, MAX_CONNECTIONS, MAX_DECOMPRESSED, MAX_HEADER,
    MAX_REQUESTS, WAIT,
};
use crate::json::{push_entry, push_key};
use crate::respond::{Reply, later};
use crate::server::Peer;
use crate::shipping::{ANSWER_TIMEOUT, Desk, NotTaken, Protocol, Shipping, TLS_RECORD};
use acks::Acks;

/// Settings of the source.
pub(crate) const SETTINGS: &[Setting] = &[
    Setting::new(
        "tokens",
        Takes::Texts,
        "The tokens that are taken: texts, `env:NAME` or `file:PATH`. Without it any request is taken.",
    ),
    Setting::new(
        "acknowledge",
        Takes::Flag,
        "Whether requests with a channel are answered at once with an id, whose acknowledgement the sender asks for \
         (`services/collector/ack`). Otherwise a request is answered when its events have got where they should.",
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

/// What all paths begin with.
const ROOT: &str = "/services/collector";
/// The header and the parameter with the sender's channel.
const CHANNEL: &str = "x-splunk-request-channel";

/// Makes the source.
///
/// # Errors
/// A setting that is wrong.
pub(crate) fn build(what: &Build<'_>) -> Result<Built, Wrong> {
    let settings = what.settings;
    let mut tokens = Vec::new();
    for text in settings.texts("tokens") {
        let secret = Secret::of_setting(text);
        let wrong = |reason: String| Wrong::at("tokens", reason, "write env:NAME or file:PATH");
        tokens.push(secret.map_err(wrong)?);
    }
    let hec =
        Hec { tokens: Arc::new(tokens), acks: settings.flag("acknowledge").then(Arc::default) };
    let has_auth = !hec.tokens.is_empty();
    let (source, warnings) = Shipping::of(what, hec, has_auth)?;
    Ok(Built { source: Some(Arc::new(source)), sink: None, warnings })
}

/// The protocol.
#[derive(Clone)]
struct Hec {
    tokens: Arc<Vec<Secret>>,
    acks: Option<Arc<Acks>>,
}

impl std::fmt::Debug for Hec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Hec({} tokens)", self.tokens.len())
    }
}

/// An answer in Splunk's words and numbers.
fn said(status: StatusCode, code: u32, text: &str, more: &str) -> Reply {
    let body = format!("{{\"text\":\"{text}\",\"code\":{code}{more}}}");
    let mut reply = Response::new(Full::new(Bytes::from(body)));
    *reply.status_mut() = status;
    reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    reply
}

fn busy() -> Reply {
    let mut reply = later(StatusCode::SERVICE_UNAVAILABLE, "");
    *reply.body_mut() = Full::new(Bytes::from_static(b"{\"text\":\"Server is busy\",\"code\":9}"));
    reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    reply
}

/// A parameter of the query.
fn parameter(parts: &Parts, name: &str) -> Option<String> {
    let pairs = parts.uri.query()?.split('&');
    let found = pairs.filter_map(|pair| pair.split_once('=')).find(|(key, _)| *key == name);
    found.map(|(_, value)| crate::meta::unescaped(value))
}

impl Protocol for Hec {
    async fn take(&self, desk: &Desk, parts: &Parts, incoming: Incoming, peer: Peer) -> Reply {
        let taken = self.request(desk, parts, incoming, peer).await;
        taken.unwrap_or_else(|refusal| refusal)
    }
}

impl Hec {
    async fn request(
        &self,
        desk: &Desk,
        parts: &Parts,
        incoming: Incoming,
        peer: Peer,
    ) -> Result<Reply, Reply> {
        let path = parts.uri.path().trim_end_matches('/');
        let not_found = || said(StatusCode::NOT_FOUND, 404, "The requested URL was not found.", "");
        let rest = path.strip_prefix(ROOT).ok_or_else(not_found)?;
        let rest = rest.strip_suffix("/1.0").unwrap_or(rest);
        if rest == "/health" {
            return Ok(said(StatusCode::OK, 17, "HEC is healthy", ""));
        }
        self.admit(parts, desk)?;
        let Some(_place) = desk.place() else { return Err(busy()) };
        let channel = parts.headers.get(CHANNEL).and_then(|value| value.to_str().ok());
        let channel = channel.map(str::to_string).or_else(|| parameter(parts, "channel"));
        match (rest, &parts.method) {
            ("" | "/event" | "/raw" | "/ack", method) if *method != Method::POST => {
                Err(said(StatusCode::METHOD_NOT_ALLOWED, 405, "Method Not Allowed", ""))
            }
            ("/ack", _) => self.asked(desk, parts, incoming, channel).await,
            ("" | "/event" | "/raw", _) => {
                let is_raw = rest == "/raw";
                if is_raw && self.acks.is_some() && channel.is_none() {
                    return Err(no_channel());
                }
                let body = desk.body(parts, incoming).await?;
                let shared = |name: &str| parameter(parts, name);
                let common = common(channel.as_deref(), peer);
                let read = match is_raw {
                    true => body::raw(&body, &common, shared),
                    false => body::events(&body, &common),
                };
                let arrival = read.map_err(|wrong| {
                    desk.feed.stats.add_error("hec_bad_body");
                    let more = match wrong.event {
                        Some(number) => format!(",\"invalid-event-number\":{number}"),
                        None => String::new(),
                    };
                    said(StatusCode::BAD_REQUEST, wrong.code, wrong.text, &more)
                })?;
                let receipt = desk.hand_over(arrival).await.map_err(|_| busy())?;
                if let (Some(acks), Some(channel)) = (&self.acks, channel) {
                    let id = acks.open(&channel, receipt).ok_or_else(busy)?;
                    let more = format!(",\"ackId\":{id}");
                    return Ok(said(StatusCode::OK, 0, "Success", &more));
                }
                match desk.written(receipt).await {
                    Ok(()) => Ok(said(StatusCode::OK, 0, "Success", "")),
                    Err(NotTaken::Late) => {
                        Err(said(StatusCode::GATEWAY_TIMEOUT, 8, "Internal server error", ""))
                    }
                    Err(_) => Err(busy()),
                }
            }
            _ => Err(not_found()),
        }
    }

    /// Whether a request shows a token that is taken.
    fn admit(&self, parts: &Parts, desk: &Desk) -> Result<(), Reply> {
        if self.tokens.is_empty() {
            return Ok(());
        }
        let refused = |status, code, text| {
            desk.feed.stats.add_dropped("http_unauthorized", 1);
            Err(said(status, code, text, ""))
        };
        let header = parts.headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let shown = match header.and_then(|text| text.split_once(' ')) {
            Some((scheme, token)) if scheme.eq_ignore_ascii_case("basic") => password(token),
            Some((_, token)) => Some(token.trim().to_string()),
            None => parameter(parts, "token"),
        };
        match shown {
            None => refused(StatusCode::UNAUTHORIZED, 2, "Token is required"),
            // All are compared, so that the time of an answer tells nothing about them.
            Some(shown)
                if self.tokens.iter().filter(|one| are_equal(&shown, one.reveal())).count()
                    == 0 =>
            {
                refused(StatusCode::FORBIDDEN, 4, "Invalid token")
            }
            Some(_) => Ok(()),
        }
    }

    /// Answers which of some ids are acknowledged.
    async fn asked(
        &self,
        desk: &Desk,
        parts: &Parts,
        incoming: Incoming,
        channel: Option<String>,
    ) -> Result<Reply, Reply> {
        let Some(acks) = &self.acks else {
            return Err(said(StatusCode::BAD_REQUEST, 14, "ACK is disabled", ""));
        };
        let channel = channel.ok_or_else(no_channel)?;
        let body = desk.body(parts, incoming).await?;
        let ids = serde_json::from_slice::<serde_json::Value>(&body).ok();
        let ids = ids.as_ref().and_then(|body| body.get("acks")?.as_array());
        let wrong = || said(StatusCode::BAD_REQUEST, 6, "Invalid data format", "");
        let ids: Vec<u64> =
            ids.ok_or_else(wrong)?.iter().filter_map(serde_json::Value::as_u64).collect();
        let told: Vec<_> =
            ids.iter().map(|id| format!("\"{id}\":{}", acks.ask(&channel, *id))).collect();
        let body = format!("{{\"acks\":{{{}}}}}", told.join(","));
        let mut reply = Response::new(Full::new(Bytes::from(body)));
        reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        Ok(reply)
    }
}

fn no_channel() -> Reply {
    said(StatusCode::BAD_REQUEST, 10, "Data channel is missing", "")
}

/// The password of `Basic …`.
fn password(encoded: &str) -> Option<String> {
    use base64::Engine;
    let plain = base64::engine::general_purpose::STANDARD.decode(encoded.trim()).ok()?;
    let plain = String::from_utf8(plain).ok()?;
    plain.split_once(':').map(|(_, password)| password.to_string())
}

/// The beginning of the metadata of all events of a request.
fn common(channel: Option<&str>, peer: Peer) -> String {
    let mut meta = "{\"splunk_hec\":{".to_string();
    if let Some(channel) = channel {
        push_entry("channel", channel, &mut meta);
    }
    push_key("tls", &mut meta);
    meta.push_str(if peer.tls { "true" } else { "false" });
    push_key("peer", &mut meta);
    let (host, port) = (peer.address.ip(), peer.address.port());
    meta.push_str(&format!("{{\"host\":\"{host}\",\"port\":{port}}}"));
    meta
}
