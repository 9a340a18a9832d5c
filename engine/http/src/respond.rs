//! The answers of servers: a status, a sentence that says why, and what the client should do.

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER};
use hyper::{Response, StatusCode};

use crate::bounds::RETRY_AFTER_S;

/// An answer.
pub(crate) type Reply = Response<Full<Bytes>>;

/// An answer without a body.
#[must_use]
pub(crate) fn bare(status: StatusCode) -> Reply {
    let mut reply = Response::new(Full::new(Bytes::new()));
    *reply.status_mut() = status;
    reply
}

/// An answer that says why, as a line of text.
#[must_use]
pub(crate) fn because(status: StatusCode, reason: impl Into<String>) -> Reply {
    let mut text = reason.into();
    text.push('\n');
    let mut reply = Response::new(Full::new(Bytes::from(text)));
    *reply.status_mut() = status;
    let kind = HeaderValue::from_static("text/plain; charset=utf-8");
    reply.headers_mut().insert(CONTENT_TYPE, kind);
    reply
}

/// An answer that says why, and that the client should come back.
#[must_use]
pub(crate) fn later(status: StatusCode, reason: impl Into<String>) -> Reply {
    with(because(status, reason), RETRY_AFTER, HeaderValue::from(RETRY_AFTER_S))
}

/// The same answer with another header.
#[must_use]
pub(crate) fn with(mut reply: Reply, name: HeaderName, value: HeaderValue) -> Reply {
    reply.headers_mut().insert(name, value);
    reply
}
