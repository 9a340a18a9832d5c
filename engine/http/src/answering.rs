//! Answers of servers as events, and what refusals tell.

use hyper::header::{CONTENT_TYPE, HeaderMap};
use hyper::{Method, Uri};
use temblor_runtime::intake::{Arrival, Messages};

use crate::client::Got;
use crate::json::{push_entry, push_key, text};
use crate::meta::{Headers, push_headers};

/// The event of an answer: its body, with `{NAME: {"request", "response"}}` as its metadata, and what was to
/// come back with it.
#[must_use]
pub(crate) fn event(
    (name, form): (&str, Headers),
    (method, uri, headers): (&Method, &Uri, &HeaderMap),
    got: &Got,
    correlation: Option<&str>,
) -> Arrival {
    let mut meta = "{".to_string();
    push_key(name, &mut meta);
    meta.push_str("{\"request\":{");
    push_entry("method", method.as_str(), &mut meta);
    push_entry("url", &uri.to_string(), &mut meta);
    push_key("headers", &mut meta);
    push_headers(headers, form, true, &mut meta);
    meta.push_str("},\"response\":{");
    push_key("status", &mut meta);
    meta.push_str(got.status.as_str());
    push_key("headers", &mut meta);
    push_headers(&got.headers, form, false, &mut meta);
    meta.push('}');
    push_key("content-length", &mut meta);
    meta.push_str(&got.body.len().to_string());
    meta.push('}');
    if let Some(correlation) = correlation {
        push_key("correlation", &mut meta);
        meta.push_str(correlation);
    }
    meta.push('}');
    let mut messages = Messages::default();
    messages.push(&meta, body(got).as_bytes());
    messages.take()
}

/// The body of an answer as JSON: as it is where it is JSON, else as a text.
fn body(got: &Got) -> String {
    if got.body.is_empty() {
        return "null".to_string();
    }
    let kind = got.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let shown = String::from_utf8_lossy(&got.body);
    let is_json = kind.is_some_and(|kind| kind.contains("json"))
        && serde_json::from_slice::<&serde_json::value::RawValue>(&got.body).is_ok();
    if is_json { shown.into_owned() } else { text(&shown) }
}

/// What is known of a refusal besides its reason.
#[must_use]
pub(crate) fn details(got: &Got) -> String {
    format!("{{\"status\":{},\"body\":{}}}", got.status.as_u16(), text(&got.shown()))
}
