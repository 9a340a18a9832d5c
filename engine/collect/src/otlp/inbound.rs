//! The receiver: one port for gRPC and HTTP.
//!
//! Invariant: a request is answered well only when its event has settled.

use std::net::SocketAddr;
use std::sync::Arc;

use http_body_util::{BodyExt, Limited};
use hyper::body::{Body as _, Incoming};
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use serde_json::Value;
use temblor_runtime::batch::Origin;
use temblor_runtime::checkpoint::FileMark;
use temblor_runtime::error::Error;
use temblor_runtime::intake::Messages;
use temblor_runtime::source::feed::Feed;
use temblor_runtime::source::{OpenSource, Source};

use super::answer::{Body, Refused, Way, answer};
use super::signal::{Signal, Signals};
use super::{grpc, schema, shape};
use crate::listen::{self, ANSWERS_MAX, Listener};
use crate::stream::Stream;
use crate::unpack;

/// Requests of one connection at the same time.
const STREAMS_MAX: u32 = 100;

/// What the program says.
#[derive(Clone, Debug)]
pub(crate) struct Listening {
    pub listener: Listener,
    /// The name of the metadata.
    pub kind: &'static str,
    pub signals: Signals,
    pub body_bytes_max: usize,
    pub(crate) unpacked_bytes_max: usize,
}

impl OpenSource for Listening {
    fn open(&self, _: &[FileMark]) -> Result<Box<dyn Source>, Error> {
        Ok(Box::new(self.clone()))
    }
}

impl Source for Listening {
    fn name(&self) -> String {
        self.listener.address.to_string()
    }

    fn listens(&self) -> bool {
        true
    }

    fn try_listen(&self) -> Result<(), Error> {
        temblor_wire::inbound::try_listen(&self.listener.address)
    }

    fn run(&mut self, feed: &Feed) -> Result<(), Error> {
        let config = Arc::new(self.clone());
        feed.network.handle()?.block_on(
            self.listener.serve(feed, move |stream, peer, feed| {
                Arc::clone(&config).serve(stream, peer, feed)
            }),
        )
    }
}

impl Listening {
    async fn serve(self: Arc<Self>, stream: Stream, peer: SocketAddr, feed: Feed) {
        let origin = self.listener.origin(self.kind, peer);
        let idle = self.listener.idle;
        let stop = Arc::clone(&feed.stop);
        let service = service_fn(move |request| {
            let (config, feed, origin) = (Arc::clone(&self), feed.clone(), Arc::clone(&origin));
            async move {
                Ok::<_, std::convert::Infallible>(config.respond(request, &feed, &origin).await)
            }
        });
        let mut builder = Builder::new(TokioExecutor::new());
        builder.http1().timer(TokioTimer::new()).header_read_timeout(idle);
        let mut http2 = builder.http2();
        http2
            .timer(TokioTimer::new())
            .keep_alive_interval(idle)
            .max_concurrent_streams(STREAMS_MAX);
        let connection = builder.serve_connection(TokioIo::new(stream), service);
        tokio::pin!(connection);
        // How a connection ends is the peer's business: each request has had its answer or has not.
        tokio::select! {
            _ = connection.as_mut() => return,
            () = stop.asked() => connection.as_mut().graceful_shutdown(),
        }
        let _ = tokio::time::timeout(ANSWERS_MAX, connection).await;
    }

    async fn respond(
        &self,
        request: Request<Incoming>,
        feed: &Feed,
        origin: &Arc<Origin>,
    ) -> Response<Body> {
        let kind = request.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let kind = kind.unwrap_or_default().split(';').next().unwrap_or_default().trim();
        let way = match kind {
            "application/x-protobuf" => Way::Protobuf,
            "application/json" => Way::Json,
            kind if kind.starts_with("application/grpc") => Way::Grpc,
            other => {
                let reason = format!("expected protobuf or JSON, got `{other}`");
                let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
                return answer(
                    Way::Protobuf,
                    &Err(Refused { status, ..Refused::for_good(reason) }),
                );
            }
        };
        let taken = self.take(way, request, feed, origin).await;
        answer(way, &taken)
    }

    async fn take(
        &self,
        way: Way,
        request: Request<Incoming>,
        feed: &Feed,
        origin: &Arc<Origin>,
    ) -> Result<(), Refused> {
        let path = request.uri().path();
        let signal = self.signals.find(|signal| match way {
            Way::Grpc => signal.method == path,
            _ => signal.path == path,
        });
        let nobody = || Refused {
            status: StatusCode::NOT_FOUND,
            code: grpc::UNIMPLEMENTED,
            reason: format!("nobody takes {}", request.uri().path()),
        };
        let signal = signal.ok_or_else(nobody)?;
        if request.method() != Method::POST {
            let status = StatusCode::METHOD_NOT_ALLOWED;
            return Err(Refused { status, ..Refused::for_good("only POST is understood") });
        }
        let name = if way == Way::Grpc { "grpc-encoding" } else { CONTENT_ENCODING.as_str() };
        let encoding = request.headers().get(name).and_then(|one| one.to_str().ok());
        let encoding = encoding.map(str::to_string);
        let body = self.body(request, feed).await?;
        let event = match self.event(way, signal, encoding.as_deref(), &body) {
            Ok(event) => event,
            Err(reason) => {
                // The peer is told, and the bytes are kept: it will not send them again.
                let _ = feed.hand_over_unwatched(listen::bad(&body, reason.clone()), origin).await;
                return Err(Refused::for_good(reason));
            }
        };
        let mut messages = Messages::default();
        let meta = format!("{{\"{}\":{{\"protocol\":\"{}\"}}}}", self.kind, way.name());
        messages.push(&meta, event.to_string().as_bytes());
        let stops = |_| Refused::for_now("this collector is about to stop");
        let receipt = feed.hand_over(messages.take(), origin).await.map_err(stops)?;
        match receipt.settled().await {
            true => Ok(()),
            false => Err(Refused::for_now("not all of it could be delivered; send it again")),
        }
    }

    async fn body(&self, request: Request<Incoming>, feed: &Feed) -> Result<Vec<u8>, Refused> {
        let most = self.body_bytes_max;
        let too_long = || Refused {
            status: StatusCode::PAYLOAD_TOO_LARGE,
            code: grpc::RESOURCE_EXHAUSTED,
            reason: format!("the body is longer than `max_body`, {most} bytes"),
        };
        if request.body().size_hint().lower() > most as u64 {
            feed.stats.add_dropped("requests beyond max_body", 1);
            return Err(too_long());
        }
        let collecting = Limited::new(request.into_body(), most).collect();
        match tokio::time::timeout(self.listener.idle, collecting).await {
            Ok(Ok(body)) => Ok(body.to_bytes().to_vec()),
            Ok(Err(error)) if error.is::<http_body_util::LengthLimitError>() => {
                feed.stats.add_dropped("requests beyond max_body", 1);
                Err(too_long())
            }
            Ok(Err(error)) => Err(Refused::for_now(format!("the body cannot be read: {error}"))),
            Err(_) => {
                feed.stats.add_dropped("requests that never ended", 1);
                Err(Refused::for_now("the body has not come in time"))
            }
        }
    }

    /// The event of a body.
    fn event(
        &self,
        way: Way,
        signal: &Signal,
        encoding: Option<&str>,
        body: &[u8],
    ) -> Result<Value, String> {
        let most = self.unpacked_bytes_max;
        let bytes = match (way, encoding) {
            (Way::Grpc, encoding) => grpc::message(body, encoding, most)?,
            (_, None | Some("identity" | "")) => body.to_vec(),
            (_, Some("gzip")) => unpack::gzip(body, most)?,
            (_, Some(other)) => {
                return Err(format!("bodies may be compressed by gzip, not by `{other}`"));
            }
        };
        let request = match way {
            Way::Grpc | Way::Protobuf => schema::read_protobuf(signal.request, &bytes)?,
            Way::Json => {
                let value = serde_json::from_slice(&bytes);
                let mut value: Value =
                    value.map_err(|error| format!("the body is no JSON: {error}"))?;
                shape::turn_identities(&mut value, true);
                schema::read_json(signal.request, &value)?
            }
        };
        Ok(shape::event(signal, request))
    }
}
