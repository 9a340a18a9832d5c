//! The listener of every source of this crate: address, TLS, bounds, and what peers send that is no message.
//!
//! Invariant: a peer that says nothing, or never ends its TLS handshake, loses its connection in time.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use temblor_declare::{Setting, Settings, Takes, Wrong};
use temblor_runtime::batch::{BadFrame, Origin};
use temblor_runtime::error::Error;
use temblor_runtime::intake::{Arrival, Messages};
use temblor_runtime::limits::BAD_FRAME_BYTES_KEPT;
use temblor_runtime::source::feed::Feed;
use temblor_wire::address::Address;
use temblor_wire::inbound::{self, CONNECTIONS_MAX, Notes};
use temblor_wire::tls::{self, TLS};
use tokio_rustls::TlsAcceptor;

use crate::stream::Stream;

/// How long a TLS handshake may take.
pub(crate) const HANDSHAKE_MAX: Duration = Duration::from_secs(10);
/// How long a connection may be silent, unless the program sets it.
pub(crate) const IDLE_MAX: Duration = Duration::from_secs(60);
/// How long answers to what was taken in are waited for when the run ends.
pub(crate) const ANSWERS_MAX: Duration = Duration::from_secs(30);

/// The setting of the connections at the same time.
pub(crate) const CONNECTIONS: Setting = Setting::new(
    "max_connections",
    Takes::Whole { least: 1, most: 1_000_000 },
    "Connections at the same time; further ones wait until one ends. 16384 unless set.",
);
/// The setting of the time without a byte.
pub(crate) const IDLE: Setting = Setting::new(
    "idle",
    Takes::Duration,
    "A connection on which nothing comes for so long, and nothing is under way, is closed.",
)
.or("60s");
/// The same for protocols without an answer: a client that writes seldom would lose what it writes to a
/// connection that was closed.
pub(crate) const LONG_IDLE: Setting = Setting { default: Some("1h"), ..IDLE };
/// The record of TLS.
pub(crate) const TLS_SERVER: Setting = Setting::new(
    "tls",
    Takes::Record(TLS),
    "TLS: `cert` and `key` of this server, and `ca` to let in only clients with a certificate of it.",
);

/// A listener that has not begun.
#[derive(Clone)]
pub(crate) struct Listener {
    /// Where it listens.
    pub address: Address,
    /// How long a connection may be silent.
    pub idle: Duration,
    acceptor: Option<TlsAcceptor>,
    connections_max: usize,
    notes: Arc<Notes>,
}

impl std::fmt::Debug for Listener {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Listener({})", self.address)
    }
}

impl Listener {
    /// As the settings say; with what a user is to be warned of.
    ///
    /// # Errors
    /// The address or a file of TLS cannot be used.
    pub(crate) fn of_settings(settings: &Settings) -> Result<(Self, Vec<String>), Wrong> {
        Self::at(Address::parse(settings.text("address"), "address")?, settings)
    }

    /// The same, at an address that the settings do not say.
    ///
    /// # Errors
    /// A file of TLS cannot be used.
    pub(crate) fn at(address: Address, settings: &Settings) -> Result<(Self, Vec<String>), Wrong> {
        let tls = settings.record("tls");
        let acceptor = tls.map(tls::acceptor).transpose()?;
        let mut warnings = Vec::new();
        let knows_clients = tls.is_some_and(|tls| tls.has("ca"));
        if !address.is_loopback() && !knows_clients {
            warnings.push(match &acceptor {
                None => format!("anybody who reaches {address} can send, and read along: no `tls`"),
                Some(_) => format!("anybody who reaches {address} can send: `tls` has no `ca`"),
            });
        }
        let connections_max = settings.optional_whole("max_connections");
        let connections_max = connections_max.map_or(CONNECTIONS_MAX, |most| most as usize);
        let idle = settings.optional_duration("idle").unwrap_or(IDLE_MAX);
        let notes = Arc::default();
        Ok((Self { address, idle, acceptor, connections_max, notes }, warnings))
    }

    /// Listens until the run stops, and serves each connection in a task of its own.
    ///
    /// # Errors
    /// The address cannot be had.
    pub(crate) async fn serve<S, T>(&self, feed: &Feed, serve: S) -> Result<(), Error>
    where
        S: Fn(Stream, SocketAddr, Feed) -> T + Clone + Send + Sync + 'static,
        T: Future<Output = ()> + Send + 'static,
    {
        let listener = inbound::listen(&self.address).await?;
        inbound::accept(listener, feed, self.connections_max, |stream, peer| {
            let (acceptor, feed, serve) = (self.acceptor.clone(), feed.clone(), serve.clone());
            let notes = Arc::clone(&self.notes);
            async move {
                // Answers are small, and peers wait for them.
                let _ = stream.set_nodelay(true);
                let Some(acceptor) = acceptor else {
                    return serve(Box::new(stream), peer, feed).await;
                };
                let shaken = tokio::time::timeout(HANDSHAKE_MAX, acceptor.accept(stream)).await;
                let reason = match shaken {
                    Ok(Ok(stream)) => return serve(Box::new(stream), peer, feed).await,
                    Ok(Err(error)) => format!("the TLS handshake failed: {error}"),
                    Err(_) => format!("no TLS handshake within {HANDSHAKE_MAX:?}"),
                };
                notes.note(&feed, "handshake", &format!("{peer}: {reason}"));
            }
        })
        .await;
        Ok(())
    }

    /// Says what is wrong with a peer, which is no error of the run. After the first ones peers are only counted.
    pub(crate) fn note(&self, feed: &Feed, peer: SocketAddr, reason: &str) {
        self.notes.note(feed, "handshake", &format!("{peer}: {reason}"));
    }

    /// Whether nobody in between can read along.
    #[must_use]
    pub(crate) fn is_safe(&self) -> bool {
        self.acceptor.is_some() || self.address.is_loopback()
    }

    /// The metadata of a connection: `{"KIND":{"peer":{"host","port"},"tls"}}`.
    #[must_use]
    pub(crate) fn origin(&self, kind: &str, peer: SocketAddr) -> Arc<Origin> {
        let (host, port, tls) = (peer.ip(), peer.port(), self.acceptor.is_some());
        let peer_text = format!("{{\"host\":\"{host}\",\"port\":{port}}}");
        let meta = format!("{{\"{kind}\":{{\"peer\":{peer_text},\"tls\":{tls}}}}}");
        Origin::with_meta(peer.to_string(), meta)
    }
}

/// Bytes that are no message, as one bad frame: it goes to `err` with its first bytes.
#[must_use]
pub(crate) fn bad(bytes: &[u8], reason: String) -> Arrival {
    let head = bytes[..bytes.len().min(BAD_FRAME_BYTES_KEPT)].to_vec();
    let bad = vec![BadFrame { line: 0, length: bytes.len() as u64, reason, head }];
    Arrival { bad, ..Messages::default().take() }
}
