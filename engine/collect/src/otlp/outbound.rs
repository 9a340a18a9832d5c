//! The sender: one request for each event, several at the same time.
//!
//! Invariant: an event is confirmed when the peer has taken its request, and comes back on `err` when the peer
//! refused it for good; while the peer cannot take it, it is sent again.

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, TE};
use hyper::{HeaderMap, Request, StatusCode};
use serde_json::Value;
use temblor_runtime::error::Error;
use temblor_runtime::outlet::{Desk, Feedback, Outlet};
use temblor_runtime::sink::{OpenSink, Sink};
use temblor_wire::outbound::{Task, TaskSink};
use temblor_wire::retry::Retry;
use tokio::task::JoinSet;

use super::signal::{Signal, Signals};
use super::{grpc, schema, shape};
use crate::client::{Answer, Client};
use crate::parcels::{self, Parcels};

/// Events that are taken together.
const EVENTS_MAX: u64 = 256;
/// Bytes of events that are taken together.
const BYTES_MAX: usize = 8 << 20;

/// How requests go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    Grpc,
    Http,
}

/// What bodies are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    Protobuf,
    Json,
}

/// What the program says.
#[derive(Clone, Debug)]
pub(crate) struct Sending {
    pub client: Client,
    pub base: String,
    pub protocol: Protocol,
    pub encoding: Encoding,
    pub(crate) is_packed: bool,
    pub headers: HeaderMap,
    pub signals: Signals,
    pub concurrency: usize,
    pub timeout: Duration,
    pub retry: Retry,
    pub errors: Arc<Feedback>,
}

impl OpenSink for Sending {
    fn open(&self, _: bool) -> Result<Box<dyn Sink>, Error> {
        let config = Arc::new(self.clone());
        let work = move |outlet, desk| -> Task { Box::pin(run(config, outlet, desk)) };
        Ok(Box::new(TaskSink::new(work)))
    }
}

/// What became of a request.
enum Outcome {
    Taken,
    /// The peer will never take it; or not all of it.
    Refused(String),
    /// It was given up.
    Failed(Error),
}

async fn run(config: Arc<Sending>, outlet: Arc<Outlet>, desk: Desk) {
    while let Some(mut parcels) = Parcels::take(&outlet, EVENTS_MAX, BYTES_MAX).await {
        let mut requests = JoinSet::new();
        let mut failure = None;
        let indices: Vec<_> = parcels.indices().collect();
        for index in indices {
            while requests.len() >= config.concurrency {
                note(requests.join_next().await, &mut parcels, &mut failure);
            }
            let made = config.request(parcels.event(index));
            let (config, desk) = (Arc::clone(&config), desk.clone());
            requests.spawn(async move {
                let outcome = match made {
                    Ok((signal, body)) => config.deliver(signal, body, &desk).await,
                    Err(reason) => Outcome::Refused(reason),
                };
                (index, outcome)
            });
        }
        while !requests.is_empty() {
            note(requests.join_next().await, &mut parcels, &mut failure);
        }
        match failure {
            None => parcels.confirm(&config.errors).await,
            Some(error) => parcels.fail(&error),
        }
    }
}

type Noted = Option<Result<((usize, usize), Outcome), tokio::task::JoinError>>;

fn note(ended: Noted, parcels: &mut Parcels, failure: &mut Option<Error>) {
    match ended {
        Some(Ok((_, Outcome::Taken))) | None => {}
        Some(Ok((index, Outcome::Refused(reason)))) => parcels.refuse(index, reason),
        Some(Ok((_, Outcome::Failed(error)))) => *failure = Some(error),
        Some(Err(error)) => *failure = Some(Error::bug("otlp", error.to_string())),
    }
}

impl Sending {
    /// The signal and the body of an event.
    fn request(&self, event: &[u8]) -> Result<(&'static Signal, Bytes), String> {
        let event: Value = serde_json::from_slice(event).map_err(|error| error.to_string())?;
        let signal = self.signals.find(|signal| event.get(signal.key).is_some());
        let what = "an event of OTLP has `logs`, `metrics` or `trace`, and the sink takes that";
        let signal = signal.ok_or(what)?;
        let request = shape::request(signal, event[signal.key].clone());
        let bytes = match self.encoding {
            Encoding::Protobuf => schema::protobuf(signal.request, &request)?,
            Encoding::Json => {
                let mut value = schema::proto_json(signal.request, &request)?;
                shape::turn_identities(&mut value, false);
                value.to_string().into_bytes()
            }
        };
        let bytes = match self.is_packed {
            true => {
                let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
                let packed = encoder.write_all(&bytes).and_then(|()| encoder.finish());
                packed.map_err(|error| format!("it cannot be compressed: {error}"))?
            }
            false => bytes,
        };
        let bytes = match self.protocol {
            Protocol::Grpc => grpc::framed(&bytes, self.is_packed),
            Protocol::Http => bytes,
        };
        Ok((signal, bytes.into()))
    }

    async fn deliver(&self, signal: &'static Signal, body: Bytes, desk: &Desk) -> Outcome {
        let mut retry = self.retry.clone();
        loop {
            let answer = match self.http_request(signal, body.clone()) {
                Ok(request) => self.client.send(request, self.timeout).await,
                Err(reason) => return Outcome::Refused(reason),
            };
            let reason = match answer.map(|answer| self.judge(signal, &answer)) {
                Ok(Ok(None)) => return Outcome::Taken,
                Ok(Ok(Some(refusal))) => return Outcome::Refused(refusal),
                Ok(Err(reason)) | Err(reason) => reason,
            };
            let help = "check that a collector takes OTLP there, and `protocol`";
            let error = Error::output(self.base.clone(), reason, help);
            if !parcels::wait(&mut retry, desk, &error).await {
                return Outcome::Failed(error);
            }
        }
    }

    fn http_request(&self, signal: &Signal, body: Bytes) -> Result<Request<Full<Bytes>>, String> {
        let (path, kind, encoding) = match (self.protocol, self.encoding) {
            (Protocol::Grpc, _) => (signal.method, "application/grpc+proto", "grpc-encoding"),
            (Protocol::Http, Encoding::Protobuf) => {
                (signal.path, "application/x-protobuf", CONTENT_ENCODING.as_str())
            }
            (Protocol::Http, Encoding::Json) => {
                (signal.path, "application/json", CONTENT_ENCODING.as_str())
            }
        };
        let mut request = Request::post(format!("{}{path}", self.base)).header(CONTENT_TYPE, kind);
        if self.protocol == Protocol::Grpc {
            request = request.header(TE, "trailers");
        }
        if self.is_packed {
            request = request.header(encoding, "gzip");
        }
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        request.body(Full::new(body)).map_err(|error| format!("this is no request: {error}"))
    }

    /// What an answer says: `Ok(None)` that all was taken, `Ok(Some(…))` what was refused for good, an error
    /// that it may be tried again.
    fn judge(&self, signal: &Signal, answer: &Answer) -> Result<Option<String>, String> {
        let status = answer.status;
        if self.protocol == Protocol::Http {
            return match status {
                StatusCode::TOO_MANY_REQUESTS
                | StatusCode::BAD_GATEWAY
                | StatusCode::SERVICE_UNAVAILABLE
                | StatusCode::GATEWAY_TIMEOUT => Err(format!("answered {status}")),
                status if status.is_success() => Ok(self.partial(signal, &answer.body)),
                status => Ok(Some(format!("the peer answered {status}: {}", shown(&answer.body)))),
            };
        }
        let field = |name: &str| {
            let value = answer.trailers.get(name).or_else(|| answer.headers.get(name))?;
            value.to_str().ok()
        };
        let code: Option<u32> = field("grpc-status").and_then(|code| code.parse().ok());
        let reason = field("grpc-message").unwrap_or_default();
        match code {
            Some(grpc::OK) => {
                let message =
                    grpc::message(&answer.body, field("grpc-encoding"), answer.body.len());
                Ok(message.ok().and_then(|message| self.partial(signal, &message)))
            }
            Some(code) if grpc::PASSING.contains(&code) => {
                Err(format!("answered code {code}: {reason}"))
            }
            Some(code) => Ok(Some(format!("the peer answered code {code} of gRPC: {reason}"))),
            None if status.is_success() => Err("answered without a status of gRPC".to_string()),
            None => Err(format!("answered {status}, and no status of gRPC")),
        }
    }

    /// What a partial success says was refused.
    fn partial(&self, signal: &Signal, body: &[u8]) -> Option<String> {
        let value = match self.encoding {
            Encoding::Protobuf => schema::read_protobuf(signal.answer, body),
            Encoding::Json => serde_json::from_slice(body)
                .map_err(|error| error.to_string())
                .and_then(|value: Value| schema::read_json(signal.answer, &value)),
        };
        let partial = &value.ok()?["partial_success"];
        let count = partial[signal.rejected].as_i64().filter(|count| *count > 0)?;
        let reason = partial["error_message"].as_str().unwrap_or_default();
        Some(format!("the peer refused {count} items of the request: {reason}"))
    }
}

/// The first bytes of an answer.
fn shown(body: &[u8]) -> String {
    String::from_utf8_lossy(&body[..body.len().min(500)]).into_owned()
}
