//! `http_lookup`: events that ask a server, and come back with its answer.
//!
//! Invariant: credentials are shown to the server of the address alone.

use bytes::Bytes;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper::{Method, StatusCode};
use serde_json::value::RawValue;
use temblor_declare::{Build, Built, CodecUse, Connector, Ends, Notation, Setting, Takes, Wrong};
use temblor_wire::asking::{
    ATTEMPTS, Ask, CACHE_FOR, CACHE_MISSES_FOR, CACHE_SIZE, CONCURRENCY, Lookup, Manners, ORDERED,
    TIMEOUT, Told, Trouble,
};
use temblor_wire::tls::TLS;

use crate::auth::{AUTH, Credentials};
use crate::client::{Client, Got};
use crate::json::text;
use crate::sink::add_auth;
use crate::source::header;
use crate::target::Target;

/// Bytes of an answer; a longer one is an error of its event.
pub(crate) const ANSWER_BYTES_MAX: usize = 1 << 20;

/// Lookups by HTTP.
pub(crate) static HTTP_LOOKUP: Connector = Connector {
    kind: "http_lookup",
    notation: Notation::Temblor,
    doc: "Asks a server by HTTP about events. Each event that goes to it comes back from `NAME/out` with the URL and \
          the answer in `$lookup.question` and `$lookup.answer`: the body, as JSON or as a text, or `null` when the \
          status is 204, 404 or 410. Broken connections, status 408, 425, 429 and 5xx are tried again; other \
          statuses, and questions that are given up, send the event to `NAME/err`. The step \
          `lookup NAME into event.field` writes all of that. Events wait here and hold up no worker; they count as \
          delivered when all that stems from their return is. An answer has at most 1 MiB.",
    ends: Ends::Sink,
    address: Some("\"URL\": the server, and what is asked where `url` does not say more"),
    source: &[],
    sink: &[
        Setting::new(
            "url",
            Takes::PerEvent,
            "The URL for an event; nothing is asked when it is `null`. One that begins with `/` is a path of \
             the server of the address.",
        )
        .required(),
        Setting::new("metadata", Takes::Hidden("$"), "Comes back with the event."),
        Setting::new("method", Takes::Word(&["GET", "HEAD", "POST"]), "The method.").or("GET"),
        Setting::new("headers", Takes::Map, "Headers of each request."),
        Setting::new("auth", Takes::Record(AUTH), "The credentials that each request shows."),
        Setting::new(
            "tls",
            Takes::Record(TLS),
            "How the server is checked, and a certificate of our own.",
        ),
        TIMEOUT,
        ATTEMPTS,
        CONCURRENCY,
        ORDERED,
        CACHE_FOR,
        CACHE_MISSES_FOR,
        CACHE_SIZE,
    ],
    codec: CodecUse::Structured,
    writes_lines: true,
    gives: &["out"],
    meta: &["lookup"],
    examples: &[r##"sink users into http_lookup "http://127.0.0.1:8080" with
  url = "/users/#{event.user}", cache_for = "10m", timeout = "2s"
end;
in |> lookup users into event.who else unknown |> out"##],
    build,
};

fn build(what: &Build<'_>) -> Result<Built, Wrong> {
    let settings = what.settings;
    let target = Target::parse(settings.text("address"), None, "address")?;
    let mut headers = HeaderMap::new();
    for (name, value) in settings.map("headers") {
        let wrong = || Wrong::at("headers", format!("`{name}` cannot be a header"), "");
        let (name, value) = header(name, value).ok_or_else(wrong)?;
        headers.insert(name, value);
    }
    headers
        .entry(hyper::header::ACCEPT)
        .or_insert(HeaderValue::from_static("application/json, text/plain;q=0.9, */*;q=0.1"));
    let auth = Credentials::of_settings(settings)?;
    let mut warnings = add_auth(auth.as_ref(), &[&target], &mut headers);
    warnings.extend(Client::warning(settings, &[&target]));
    let method = match settings.text("method") {
        "HEAD" => Method::HEAD,
        "POST" => Method::POST,
        _ => Method::GET,
    };
    let client = Client::of_settings(settings, &[&target])?;
    let server = Server { client, target, method, headers };
    let sink = Lookup::sink(server, Manners::of_settings(settings));
    Ok(Built { sink: Some(sink), source: None, warnings })
}

/// Whom questions are put to.
struct Server {
    client: Client,
    target: Target,
    method: Method,
    headers: HeaderMap,
}

impl Ask for Server {
    async fn ask(&self, question: &str) -> Result<Told, Trouble> {
        let wrong = |reason: String| Trouble::ForGood(reason);
        let mut headers = self.headers.clone();
        let uri = if question.starts_with('/') {
            self.target.uri(question).map_err(wrong)?
        } else {
            let target = Target::parse(question, None, "url").map_err(|one| wrong(one.message))?;
            if target.address != self.target.address || target.scheme != self.target.scheme {
                headers.remove(AUTHORIZATION);
            }
            target.uri(&target.path).map_err(wrong)?
        };
        let sent = self.client.send(&self.method, &uri, &headers, Bytes::new()).await;
        said(&sent.map_err(|reason| Trouble::ForNow(reason, None))?)
    }
}

/// What an answer says.
fn said(got: &Got) -> Result<Told, Trouble> {
    let told = |answer| Ok(Told { answer, holds: None });
    match got.status {
        StatusCode::NO_CONTENT | StatusCode::NOT_FOUND | StatusCode::GONE => told(None),
        status if status.is_success() && got.body.len() > ANSWER_BYTES_MAX => {
            let bytes = got.body.len();
            Err(Trouble::ForGood(format!(
                "the answer has {bytes} bytes, more than {ANSWER_BYTES_MAX}"
            )))
        }
        status if status.is_success() => told(Some(body(got).into())),
        _ if got.is_for_now() => Err(Trouble::ForNow(got.sentence(), got.retry_after())),
        _ => Err(Trouble::ForGood(got.sentence())),
    }
}

/// The body as JSON: as it is where it is JSON, else as a text.
fn body(got: &Got) -> String {
    let kind = got.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let is_json = kind.is_none_or(|kind| kind.contains("json"));
    if is_json && let Ok(value) = serde_json::from_slice::<&RawValue>(&got.body) {
        return value.get().to_string();
    }
    text(&String::from_utf8_lossy(&got.body))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn got(status: u16, kind: &'static str, body: &'static [u8]) -> Got {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        let status = StatusCode::from_u16(status).expect("a status of three digits");
        Got { status, headers, body: Bytes::from_static(body) }
    }

    #[test]
    fn answers_are_json_or_texts_and_absence_is_one() {
        let answer = |one: Got| said(&one).map(|told| told.answer.map(|text| text.to_string()));
        assert_eq!(
            answer(got(200, "application/json", b"{\"a\":1}")),
            Ok(Some("{\"a\":1}".into()))
        );
        assert_eq!(answer(got(200, "text/plain", b"12")), Ok(Some("\"12\"".into())));
        assert_eq!(
            answer(got(200, "application/json", b"{\"a\"")),
            Ok(Some("\"{\\\"a\\\"\"".into()))
        );
        assert_eq!(answer(got(404, "text/plain", b"none")), Ok(None));
        assert!(matches!(answer(got(503, "text/plain", b"")), Err(Trouble::ForNow(..))));
        assert!(matches!(answer(got(401, "text/plain", b"")), Err(Trouble::ForGood(_))));
    }

    #[test]
    fn an_answer_has_a_bound() {
        let mut long = got(200, "text/plain", b"");
        long.body = Bytes::from(vec![b'a'; ANSWER_BYTES_MAX + 1]);
        assert!(matches!(said(&long), Err(Trouble::ForGood(_))));
    }
}
