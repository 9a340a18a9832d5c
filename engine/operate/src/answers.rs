//! The answers to requests over HTTP, the same for the metrics address and for the control socket. Only the
//! socket, which nobody but its owner can open, may change anything.
//!
//! Invariant: whatever is asked, the answer comes from a thread that no event waits for.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{ALLOW, CONTENT_TYPE};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulConnection;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::operations::{Change, Operations};
use crate::reading::Reading;
use crate::{health, metrics};

/// How long a peer may take to send the head of a request.
const HEAD_MAX: Duration = Duration::from_secs(10);
/// Bytes of the head of a request, at the most.
const HEAD_BYTES_MAX: usize = 16 << 10;

/// Who may ask for what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rights {
    /// Looking.
    Look,
    /// Looking, reloading, stopping, changing the log.
    Steer,
}

type Answer = Response<Full<Bytes>>;

/// Serves the requests of one connection for as long as it is polled.
pub(crate) fn connection<S>(
    stream: S,
    operations: Arc<dyn Operations>,
    rights: Rights,
) -> impl GracefulConnection<Error = hyper::Error> + Send
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let service = service_fn(move |request: Request<Incoming>| {
        let operations = Arc::clone(&operations);
        async move {
            let what = (request.method().clone(), request.uri().clone());
            let answering = tokio::task::spawn_blocking(move || {
                answer(&what.0, what.1.path(), what.1.query(), operations.as_ref(), rights)
            });
            let answered = answering.await.unwrap_or_else(|_| {
                plain(StatusCode::INTERNAL_SERVER_ERROR, "the answer failed; this is a bug\n")
            });
            Ok::<_, Infallible>(answered)
        }
    });
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_MAX)
        .max_buf_size(HEAD_BYTES_MAX)
        .serve_connection(TokioIo::new(stream), service)
}

fn answer(
    method: &Method,
    path: &str,
    query: Option<&str>,
    operations: &dyn Operations,
    rights: Rights,
) -> Answer {
    let changes = matches!(path, "/reload" | "/drain" | "/log");
    let wanted = if changes { Method::POST } else { Method::GET };
    if changes && rights == Rights::Look {
        let text = "only the control socket takes this: temblor ctl, or --control PATH\n";
        return plain(StatusCode::FORBIDDEN, text);
    }
    let known = ["/metrics", "/health", "/ready", "/status", "/"].contains(&path) || changes;
    if known && *method != wanted && !(wanted == Method::GET && *method == Method::HEAD) {
        let mut answer = plain(StatusCode::METHOD_NOT_ALLOWED, &format!("use {wanted}\n"));
        let allowed = if changes { "POST" } else { "GET, HEAD" };
        answer.headers_mut().insert(ALLOW, allowed.parse().expect("it is a plain word"));
        return answer;
    }
    match path {
        "/metrics" => match Reading::of(operations) {
            Some(reading) => with_type(StatusCode::OK, metrics::MEDIA_TYPE, metrics::text(reading)),
            None => plain(StatusCode::SERVICE_UNAVAILABLE, "the run has not begun\n"),
        },
        "/health" => json(StatusCode::OK, &json!({"live": true})),
        "/ready" => match health::ready(operations) {
            (true, said) => json(StatusCode::OK, &said),
            (false, said) => json(StatusCode::SERVICE_UNAVAILABLE, &said),
        },
        "/status" => json(StatusCode::OK, &health::status(operations)),
        "/reload" => reload(query, operations),
        "/drain" => match operations.view() {
            Some(view) => {
                view.stop.ask();
                json(StatusCode::ACCEPTED, &json!({"draining": true}))
            }
            None => plain(StatusCode::SERVICE_UNAVAILABLE, "the run has not begun\n"),
        },
        "/log" => {
            let level = parameter(query, "level").unwrap_or_default();
            match operations.set_log_level(&level) {
                Ok(()) => json(StatusCode::OK, &json!({"level": level})),
                Err(reason) => json(StatusCode::BAD_REQUEST, &json!({"error": reason})),
            }
        }
        "/" => plain(StatusCode::OK, "temblor: /metrics /health /ready /status\n"),
        _ => plain(StatusCode::NOT_FOUND, "there are /metrics, /health, /ready and /status\n"),
    }
}

fn reload(query: Option<&str>, operations: &dyn Operations) -> Answer {
    let program = parameter(query, "program");
    let dry_run = parameter(query, "dry_run").is_some_and(|value| value == "true");
    match operations.reload(program.as_deref(), dry_run) {
        Ok(Change { begins, ends, loses }) => {
            let done = !dry_run;
            let said = json!({"reloaded": done, "begins": begins, "ends": ends, "loses": loses});
            json(StatusCode::OK, &said)
        }
        Err(reason) => json(StatusCode::CONFLICT, &json!({"reloaded": false, "error": reason})),
    }
}

/// A parameter of the query, without percent encoding.
fn parameter(query: Option<&str>, name: &str) -> Option<String> {
    let pairs = query?.split('&').filter_map(|pair| pair.split_once('='));
    let value = pairs.into_iter().find(|(key, _)| *key == name)?.1;
    Some(decoded(value))
}

fn decoded(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::with_capacity(text.len()), text.as_bytes());
    while let [first, behind @ ..] = rest {
        let hex = behind.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        let byte = hex.filter(|_| *first == b'%').and_then(|two| u8::from_str_radix(two, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &behind[2..] } else { behind };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A value of a query, so that [`decoded`] gives it back.
#[must_use]
pub fn encoded(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => {
            char::from(byte).to_string()
        }
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(byte).collect()
}

fn plain(status: StatusCode, text: &str) -> Answer {
    with_type(status, "text/plain; charset=utf-8", text.to_string())
}

fn json(status: StatusCode, value: &Value) -> Answer {
    with_type(status, "application/json", format!("{value}\n"))
}

fn with_type(status: StatusCode, media: &'static str, text: String) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from(text)));
    *answer.status_mut() = status;
    let media = media.parse().expect("a media type is plain text");
    answer.headers_mut().insert(CONTENT_TYPE, media);
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_queries_come_back_as_they_were() {
        for text in ["/etc/a b.tmb", "100%", "ä&=?#", ""] {
            let query = format!("x=1&program={}", encoded(text));
            assert_eq!(parameter(Some(&query), "program").as_deref(), Some(text));
        }
        assert_eq!(decoded("%zz%4"), "%zz%4");
    }
}
