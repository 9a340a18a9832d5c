//! The sender: one request for each event, several at the same time.
//!
//! Invariant: an event is confirmed when the peer has taken its request, and comes back on `err` when the peer
//! refused it for good; while the peer cannot take it, it is sent again.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, RETRY_AFTER, TE};
use hyper::{HeaderMap, Request, StatusCode};
use serde_json::Value;
use temblor_declare::order::Order;
use temblor_runtime::error::Error;
use temblor_runtime::outlet::{Desk, Feedback, Outlet};
use temblor_runtime::sink::{OpenSink, Sink};
use temblor_wire::admission::{Admission, Fault};
use temblor_wire::outbound::{Task, TaskSink};
use temblor_wire::retry::Retry;
use tokio::task::JoinSet;

use super::signal::{Signal, Signals};
use super::{grpc, schema, shape};
use crate::client::{Answer, Client};
use crate::parcels::Parcels;

/// Events that are taken together.
const EVENTS_MAX: u64 = 256;
/// Bytes of events that are taken together.
const BYTES_MAX: usize = 8 << 20;
/// The longest wait that a peer can ask for.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(120);

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
    /// Which events keep their order.
    pub order: Order,
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

/// An event by its parcel and its place there, and what is sent for it.
type Made = ((usize, usize), Result<(&'static Signal, Bytes), String>);

async fn run(config: Arc<Sending>, outlet: Arc<Outlet>, desk: Desk) {
    let admission = Admission::new(config.concurrency, &config.retry, &desk);
    while let Some(mut parcels) = Parcels::take(&outlet, EVENTS_MAX, BYTES_MAX).await {
        let mut requests = JoinSet::new();
        for group in config.groups(&parcels) {
            let (config, admission) = (Arc::clone(&config), Arc::clone(&admission));
            requests.spawn(async move { config.deliver_all(group, &admission).await });
        }
        let mut failure = None;
        while let Some(ended) = requests.join_next().await {
            match ended {
                Ok(outcomes) => outcomes.into_iter().for_each(|(index, outcome)| match outcome {
                    Outcome::Taken => {}
                    Outcome::Refused(reason) => parcels.refuse(index, reason),
                    Outcome::Failed(error) => failure = Some(error),
                }),
                Err(error) => failure = Some(Error::bug("otlp", error.to_string())),
            }
        }
        match failure {
            None => parcels.confirm(&config.errors).await,
            Some(error) => parcels.fail(&error),
        }
    }
}

impl Sending {
    /// The events whose requests go one after another; different groups go at the same time.
    fn groups(&self, parcels: &Parcels) -> Vec<Vec<Made>> {
        let made = |index| (index, self.request(parcels.event(index)));
        let lane = |index| match self.order {
            Order::Key(at) => parcels.attribute(index, at).map(str::to_string),
            _ => None,
        };
        match self.order {
            Order::None => parcels.indices().map(|index| vec![made(index)]).collect(),
            Order::Source | Order::Key(_) => {
                let mut groups: BTreeMap<Option<String>, Vec<Made>> = BTreeMap::new();
                for index in parcels.indices() {
                    groups.entry(lane(index)).or_default().push(made(index));
                }
                groups.into_values().collect()
            }
        }
    }

    /// Sends requests one after another.
    async fn deliver_all(
        &self,
        group: Vec<Made>,
        admission: &Arc<Admission>,
    ) -> Vec<((usize, usize), Outcome)> {
        let mut outcomes = Vec::with_capacity(group.len());
        for (index, made) in group {
            let outcome = match made {
                Ok((signal, body)) => {
                    let place = admission.place().await;
                    let outcome = self.deliver(signal, body, admission).await;
                    drop(place);
                    outcome
                }
                Err(reason) => Outcome::Refused(reason),
            };
            outcomes.push((index, outcome));
        }
        outcomes
    }

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

    async fn deliver(
        &self,
        signal: &'static Signal,
        body: Bytes,
        admission: &Arc<Admission>,
    ) -> Outcome {
        let mut attempts = admission.attempts("");
        loop {
            let turn = match attempts.turn().await {
                Ok(turn) => turn,
                Err(error) => return Outcome::Failed(error),
            };
            let answer = match self.http_request(signal, body.clone()) {
                Ok(request) => self.client.send(request, self.timeout).await,
                Err(reason) => return Outcome::Refused(reason),
            };
            let (reason, fault) = match answer {
                Ok(answer) => match self.judge(signal, &answer) {
                    Ok(refusal) => {
                        turn.answered();
                        return refusal.map_or(Outcome::Taken, Outcome::Refused);
                    }
                    Err(reason) => (reason, self.fault(&answer)),
                },
                Err(reason) => (reason, Fault::Broken(None)),
            };
            let help = "check that a collector takes OTLP there, and `protocol`";
            let error = Error::output(self.base.clone(), reason, help);
            if let Err(error) = attempts.failed(turn, fault, error).await {
                return Outcome::Failed(error);
            }
        }
    }

    /// What an answer that is for now says of the peer.
    fn fault(&self, answer: &Answer) -> Fault {
        let asked = answer.headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok());
        let asked = asked.and_then(|text| text.trim().parse().ok()).map(Duration::from_secs);
        let asked = asked.map(|asked| asked.min(RETRY_AFTER_MAX));
        let says_busy = self.protocol == Protocol::Grpc
            && answer
                .trailers
                .get("grpc-status")
                .or_else(|| answer.headers.get("grpc-status"))
                .is_some_and(|code| code == "8");
        match says_busy || answer.status == StatusCode::TOO_MANY_REQUESTS {
            true => Fault::Busy(asked),
            false => Fault::Broken(asked),
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
