//! What events know of the request that they came in: the metadata `$http` and `$http_server`.

use std::net::SocketAddr;

use hyper::Version;
use hyper::header::{AUTHORIZATION, HeaderMap};
use hyper::http::request::Parts;

use crate::json::{push_entry, push_key, push_text};

/// How headers are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Headers {
    /// A text, or an array of texts where a header comes more than once.
    Plain,
    /// Always an array of texts: what tremor gives.
    Arrays,
}

/// Appends headers as a record. `Authorization` is left out when `secret`.
pub(crate) fn push_headers(headers: &HeaderMap, form: Headers, secret: bool, out: &mut String) {
    out.push('{');
    for name in headers.keys() {
        if secret && name == AUTHORIZATION {
            continue;
        }
        push_key(name.as_str(), out);
        let mut values = headers.get_all(name).iter();
        let (first, mut next) = (values.next(), values.next());
        let as_array = form == Headers::Arrays || next.is_some();
        if as_array {
            out.push('[');
        }
        if let Some(value) = first {
            push_text(&String::from_utf8_lossy(value.as_bytes()), out);
        }
        while let Some(value) = next {
            out.push(',');
            push_text(&String::from_utf8_lossy(value.as_bytes()), out);
            next = values.next();
        }
        if as_array {
            out.push(']');
        }
    }
    out.push('}');
}

/// `{"http":{"request":{…},"request_id":…,"peer":{…}}}`.
#[must_use]
pub(crate) fn of_request(
    parts: &Parts,
    id: u64,
    peer: SocketAddr,
    tls: bool,
    secret: bool,
) -> String {
    let mut out = String::with_capacity(512);
    out.push_str("{\"http\":{\"request\":{");
    push_entry("method", parts.method.as_str(), &mut out);
    push_entry("path", parts.uri.path(), &mut out);
    push_entry("url", &url(parts, tls), &mut out);
    push_entry("version", version(parts.version), &mut out);
    push_key("headers", &mut out);
    push_headers(&parts.headers, Headers::Plain, secret, &mut out);
    push_key("query", &mut out);
    push_query(parts.uri.query().unwrap_or_default(), &mut out);
    out.push('}');
    push_key("request_id", &mut out);
    out.push_str(&id.to_string());
    push_key("tls", &mut out);
    out.push_str(if tls { "true" } else { "false" });
    push_key("peer", &mut out);
    out.push('{');
    push_entry("host", &peer.ip().to_string(), &mut out);
    push_key("port", &mut out);
    out.push_str(&peer.port().to_string());
    out.push_str("}}}");
    out
}

/// `{"http_server":{"request":{…},"request_id":…}}`, as tremor has it.
#[must_use]
pub(crate) fn of_tremor_request(parts: &Parts, id: u64, tls: bool) -> String {
    let mut out = String::with_capacity(512);
    out.push_str("{\"http_server\":{\"request\":{");
    push_entry("method", parts.method.as_str(), &mut out);
    push_entry("url", &url(parts, tls), &mut out);
    push_entry("protocol", "http", &mut out);
    push_entry("version", version(parts.version), &mut out);
    push_key("headers", &mut out);
    push_headers(&parts.headers, Headers::Arrays, false, &mut out);
    out.push('}');
    push_key("request_id", &mut out);
    out.push_str(&id.to_string());
    out.push_str("}}");
    out
}

/// The whole URL, as far as the request says it.
fn url(parts: &Parts, tls: bool) -> String {
    let scheme = if tls { "https" } else { "http" };
    let host = parts.uri.authority().map(|one| one.as_str().to_string()).or_else(|| {
        let host = parts.headers.get(hyper::header::HOST)?;
        host.to_str().ok().map(str::to_string)
    });
    let path = parts.uri.path_and_query().map_or("/", |one| one.as_str());
    match host {
        Some(host) => format!("{scheme}://{host}{path}"),
        None => path.to_string(),
    }
}

fn version(version: Version) -> &'static str {
    match version {
        Version::HTTP_09 => "HTTP/0.9",
        Version::HTTP_10 => "HTTP/1.0",
        Version::HTTP_11 => "HTTP/1.1",
        Version::HTTP_2 => "HTTP/2.0",
        _ => "HTTP/3.0",
    }
}

/// The query of a URL as a record; a name that comes more than once has an array of values.
fn push_query(query: &str, out: &mut String) {
    let mut entries: Vec<(String, Vec<String>)> = Vec::new();
    for part in query.split('&').filter(|part| !part.is_empty()) {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        let (name, value) = (unescaped(name), unescaped(value));
        match entries.iter_mut().find(|(known, _)| *known == name) {
            Some((_, values)) => values.push(value),
            None => entries.push((name, vec![value])),
        }
    }
    out.push('{');
    for (name, values) in entries {
        push_key(&name, out);
        match values.as_slice() {
            [one] => push_text(one, out),
            several => {
                out.push('[');
                for (at, value) in several.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    push_text(value, out);
                }
                out.push(']');
            }
        }
    }
    out.push('}');
}

/// A part of a query without its escapes (`+` and `%XX`).
fn unescaped(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let digit = |at: usize| tail.get(at).and_then(|byte| char::from(*byte).to_digit(16));
        match (first, digit(0), digit(1)) {
            (b'%', Some(high), Some(low)) => {
                bytes.push((high * 16 + low) as u8);
                rest = &tail[2..];
                continue;
            }
            (b'+', ..) => bytes.push(b' '),
            (byte, ..) => bytes.push(*byte),
        }
        rest = tail;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::Request;

    #[test]
    fn metadata_tells_of_the_request() {
        let request = Request::post("/a%20b?x=1&y=a+b%21&x=2&z")
            .header("host", "here:1")
            .header("x-one", "\"1\"")
            .header("x-two", "1")
            .header("x-two", "2")
            .header("authorization", "Basic hush")
            .body(())
            .unwrap();
        let (parts, ()) = request.into_parts();
        let peer = "127.0.0.1:9".parse().unwrap();
        let meta: serde_json::Value =
            serde_json::from_str(&of_request(&parts, 7, peer, false, true)).unwrap();
        let request = &meta["http"]["request"];
        assert_eq!(request["query"].to_string(), r#"{"x":["1","2"],"y":"a b!","z":""}"#);
        let headers = r#"{"host":"here:1","x-one":"\"1\"","x-two":["1","2"]}"#;
        assert_eq!(request["headers"].to_string(), headers);
        assert_eq!(request["url"], "http://here:1/a%20b?x=1&y=a+b%21&x=2&z");
        assert_eq!(meta["http"]["request_id"], 7);
        assert_eq!(meta["http"]["peer"]["port"], 9);
        let tremor: serde_json::Value =
            serde_json::from_str(&of_tremor_request(&parts, 7, true)).unwrap();
        let request = &tremor["http_server"]["request"];
        assert_eq!(request["headers"]["x-one"][0], "\"1\"");
        assert_eq!(request["version"], "HTTP/1.1");
    }

    #[test]
    fn escapes_of_queries_are_undone_where_they_are_some() {
        for (text, wanted) in
            [("%41+b", "A b"), ("%4", "%4"), ("%zz", "%zz"), ("%", "%"), ("%c3%a4", "ä")]
        {
            assert_eq!(unescaped(text), wanted);
        }
    }
}
