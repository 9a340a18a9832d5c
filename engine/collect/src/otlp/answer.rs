//! What a request is answered, over gRPC and over HTTP.

use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Frame};
use hyper::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use hyper::{HeaderMap, Response, StatusCode};
use prost::Message;

use super::grpc;

/// A body.
pub(crate) type Body = UnsyncBoxBody<Bytes, std::convert::Infallible>;

/// How a request came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// gRPC.
    Grpc,
    /// HTTP with protobuf.
    Protobuf,
    /// HTTP with JSON.
    Json,
}

impl Way {
    /// What programs are told.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Grpc => "grpc",
            Self::Protobuf => "http/protobuf",
            Self::Json => "http/json",
        }
    }
}

/// Why a request was not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    /// The status over HTTP.
    pub status: StatusCode,
    /// The code over gRPC.
    pub code: u32,
    /// A sentence.
    pub reason: String,
}

impl Refused {
    /// It will never be taken as it is.
    pub(crate) fn for_good(reason: impl Into<String>) -> Self {
        Self {
            status: StatusCode::BAD_REQUEST,
            code: grpc::INVALID_ARGUMENT,
            reason: reason.into(),
        }
    }

    /// It may be taken later.
    pub(crate) fn for_now(reason: impl Into<String>) -> Self {
        let (status, code) = (StatusCode::SERVICE_UNAVAILABLE, grpc::UNAVAILABLE);
        Self { status, code, reason: reason.into() }
    }
}

/// `google.rpc.Status`, the body of errors over HTTP.
#[derive(Clone, PartialEq, Message)]
struct Status {
    #[prost(uint32, tag = "1")]
    code: u32,
    #[prost(string, tag = "2")]
    message: String,
}

/// The answer to a request.
pub(crate) fn answer(way: Way, taken: &Result<(), Refused>) -> Response<Body> {
    match way {
        Way::Grpc => of_grpc(taken),
        Way::Protobuf | Way::Json => of_http(way, taken),
    }
}

/// An answer of gRPC always has status 200, and its code behind the body.
fn of_grpc(taken: &Result<(), Refused>) -> Response<Body> {
    let mut trailers = HeaderMap::new();
    let code = taken.as_ref().err().map_or(grpc::OK, |refused| refused.code);
    trailers.insert("grpc-status", HeaderValue::from(code));
    if let Err(refused) = taken {
        let reason = HeaderValue::try_from(grpc::escaped(&refused.reason));
        trailers.insert("grpc-message", reason.expect("it was escaped"));
    }
    let frames = match taken {
        // An empty message: nothing was refused.
        Ok(()) => {
            vec![Frame::data(Bytes::from(grpc::framed(b"", false))), Frame::trailers(trailers)]
        }
        Err(_) => vec![Frame::trailers(trailers)],
    };
    let frames = futures_util::stream::iter(frames.into_iter().map(Ok));
    let mut response = Response::new(http_body_util::StreamBody::new(frames).boxed_unsync());
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
    response
}

fn of_http(way: Way, taken: &Result<(), Refused>) -> Response<Body> {
    let (status, code, reason) = match taken {
        Ok(()) => (StatusCode::OK, grpc::OK, ""),
        Err(refused) => (refused.status, refused.code, refused.reason.as_str()),
    };
    let body = match (way, taken) {
        (Way::Json, Ok(())) => b"{}".to_vec(),
        (Way::Json, Err(_)) => {
            serde_json::json!({ "code": code, "message": reason }).to_string().into_bytes()
        }
        (_, Ok(())) => Vec::new(),
        (_, Err(_)) => Status { code, message: reason.to_string() }.encode_to_vec(),
    };
    let mut response = Response::new(Full::new(Bytes::from(body)).boxed_unsync());
    *response.status_mut() = status;
    let kind = if way == Way::Json { "application/json" } else { "application/x-protobuf" };
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    if status == StatusCode::SERVICE_UNAVAILABLE {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
    }
    response
}
