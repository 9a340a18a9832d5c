//! What every source shares that speaks HTTP: connections, TLS, their bounds, and the end of a run.
//!
//! Invariant: a connection that brings no request within its time is closed, also one that never sends a
//! byte; a run that stops answers what it has begun.

use std::convert::Infallible;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hyper::Request;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use temblor_runtime::error::Error;
use temblor_runtime::source::feed::Feed;
use temblor_wire::address::Address;
use temblor_wire::inbound::{Notes, accept, listen};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

use crate::bounds::{Bounds, DRAIN_MAX, HEADERS_MAX, STREAMS_MAX};
use crate::respond::Reply;
use crate::safe::Safe;

/// Where to listen, and how.
#[derive(Clone)]
pub(crate) struct Server {
    /// The address.
    pub address: Address,
    /// How connections are made safe, if they are.
    pub tls: Option<Arc<Safe>>,
    /// What peers may do.
    pub bounds: Bounds,
    /// What is said of single connections.
    pub notes: Arc<Notes>,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Server({}, {:?})", self.address, self.bounds)
    }
}

/// What is known of the connection of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer {
    /// The other side.
    pub address: SocketAddr,
    /// Whether the connection is safe.
    pub tls: bool,
}

/// Answers requests.
pub(crate) trait Handler: Send + Sync + 'static {
    /// Answers one.
    fn handle(&self, request: Request<Incoming>, peer: Peer) -> impl Future<Output = Reply> + Send;
}

/// The sentence that warns of an address that others reach without any check.
#[must_use]
pub(crate) fn warning(address: &Address, has_tls: bool, has_auth: bool) -> Option<String> {
    let is_open = !address.is_loopback() && !has_tls && !has_auth;
    is_open.then(|| {
        format!(
            "{address} can be reached from other machines, without TLS and without authentication: set `tls` \
             or `auth`, or listen on 127.0.0.1"
        )
    })
}

/// Listens and serves until the run stops.
///
/// # Errors
/// The address cannot be had.
pub(crate) async fn serve<H: Handler>(
    server: &Server,
    feed: &Feed,
    handler: Arc<H>,
) -> Result<(), Error> {
    let listener = listen(&server.address).await?;
    accept(listener, feed, server.bounds.connections_max, |stream, address| {
        connection(stream, address, server.clone(), feed.clone(), Arc::clone(&handler))
    })
    .await;
    Ok(())
}

/// Serves one connection.
async fn connection<H: Handler>(
    stream: TcpStream,
    address: SocketAddr,
    server: Server,
    feed: Feed,
    handler: Arc<H>,
) {
    // Answers are small: they leave at once.
    let _ = stream.set_nodelay(true);
    let Some(safe) = &server.tls else {
        return requests(stream, Peer { address, tls: false }, &server.bounds, &feed, handler)
            .await;
    };
    let (acceptor, wrong) = safe.get();
    if let Some(wrong) = wrong {
        let place = server.address.to_string();
        feed.trouble(Error::input(place, wrong.message, "the files as they were still hold"));
    }
    let shaken = tokio::select! {
        shaken = tokio::time::timeout(server.bounds.header_timeout, acceptor.accept(stream)) => shaken,
        () = feed.stop.asked() => return,
    };
    match shaken {
        Ok(Ok(stream)) => {
            requests(stream, Peer { address, tls: true }, &server.bounds, &feed, handler).await;
        }
        Ok(Err(error)) => {
            let text = format!("{}: no safe connection with {address}: {error}", server.address);
            server.notes.note(&feed, "tls_handshake_failed", &text);
        }
        Err(_) => feed.stats.add_dropped("tls_handshake_too_slow", 1),
    }
}

async fn requests<S, H>(stream: S, peer: Peer, bounds: &Bounds, feed: &Feed, handler: Arc<H>)
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    H: Handler,
{
    let began = Arc::new(AtomicBool::new(false));
    let noted = Arc::clone(&began);
    let service = service_fn(move |request| {
        noted.store(true, Ordering::Relaxed);
        let handler = Arc::clone(&handler);
        async move { Ok::<_, Infallible>(handler.handle(request, peer).await) }
    });
    let builder = builder(bounds);
    let serving = builder.serve_connection(TokioIo::new(stream), service);
    tokio::pin!(serving);
    let too_late = tokio::time::sleep(bounds.header_timeout);
    tokio::pin!(too_late);
    let mut is_watched = true;
    loop {
        tokio::select! {
            // A peer that breaks off, or breaks the protocol, has had its answer.
            _ = serving.as_mut() => return,
            () = &mut too_late, if is_watched => {
                is_watched = false;
                if !began.load(Ordering::Relaxed) {
                    return feed.stats.add_dropped("http_head_too_slow", 1);
                }
            }
            () = feed.stop.asked() => break,
        }
    }
    serving.as_mut().graceful_shutdown();
    let _ = tokio::time::timeout(DRAIN_MAX, serving).await;
}

fn builder(bounds: &Bounds) -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(bounds.header_timeout)
        .max_headers(HEADERS_MAX)
        .max_buf_size(bounds.header_bytes_max);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS_MAX)
        .max_header_list_size(u32::try_from(bounds.header_bytes_max).unwrap_or(u32::MAX))
        .keep_alive_interval(bounds.header_timeout)
        .keep_alive_timeout(bounds.header_timeout);
    builder
}
