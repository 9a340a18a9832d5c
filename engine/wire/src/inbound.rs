//! What every listening source shares: the loop that accepts connections, TLS, and their bounds.
//!
//! Invariant: a connection is a task, never a thread; a source ends when its listener is closed and all its
//! connections have handed over what they had read whole.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use temblor_declare::{Setting, Takes};
use temblor_runtime::error::Error;
use temblor_runtime::source::feed::Feed;
use tokio::net::{TcpListener, TcpSocket, TcpStream, UnixListener, UnixStream, lookup_host};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::address::Address;
use crate::socket::{Sides, of_tcp, of_tls};
use crate::tls;

/// Connections of one listener at the same time, unless the program sets it.
pub const CONNECTIONS_MAX: usize = 16_384;
/// Connections that the system holds until they are accepted, unless the program sets it.
pub const BACKLOG: u32 = 1024;
/// How long a handshake of TLS may take, unless the program sets it.
pub const HANDSHAKE_MAX: Duration = Duration::from_secs(10);
/// How long is looked for another connection when the run stops.
const LAST_LOOK: Duration = Duration::from_millis(1);
/// Notes about single connections that are printed; further ones are counted only.
const NOTES_MAX: u32 = 20;

/// Setting of every listening source.
pub const MAX_CONNECTIONS: Setting = Setting::new(
    "max_connections",
    Takes::Whole { least: 1, most: 1_000_000 },
    "Connections at the same time; further ones wait until one ends. 16,384 when not set.",
);
/// Setting of every source that listens with TLS.
pub const HANDSHAKE: Setting = Setting::new(
    "handshake_timeout",
    Takes::Duration,
    "A connection whose TLS handshake takes longer is closed.",
)
.or("10s");
/// Setting of everything that uses TCP.
pub const KEEPALIVE: Setting = Setting::new(
    "keepalive",
    Takes::Duration,
    "A peer that has said nothing for so long is asked by the system whether it is still there; one that \
     does not answer is given up. `0s` never asks.",
)
.or("60s");

/// Listens on an address.
///
/// # Errors
/// The address cannot be had.
pub async fn listen(address: &Address) -> Result<TcpListener, Error> {
    listen_with(address, BACKLOG, false).await
}

/// Listens on an address, with so many connections that wait to be accepted; with `shares_port` other sockets
/// may listen there, too.
///
/// # Errors
/// The address cannot be had.
pub async fn listen_with(
    address: &Address,
    backlog: u32,
    shares_port: bool,
) -> Result<TcpListener, Error> {
    let failed = |error: std::io::Error| {
        let help = "choose a port that is free, and an address of this machine";
        Error::input(address.to_string(), format!("cannot be listened on: {error}"), help)
    };
    let mut last = std::io::Error::other("the name has no address");
    for place in lookup_host((address.host.as_str(), address.port)).await.map_err(failed)? {
        match bind(place, backlog, shares_port) {
            Ok(listener) => return Ok(listener),
            Err(error) => last = error,
        }
    }
    Err(failed(last))
}

/// Whether an address can be listened on now, by TCP.
///
/// # Errors
/// The address cannot be had.
pub fn try_listen(address: &Address) -> Result<(), Error> {
    let place = (address.host.as_str(), address.port);
    std::net::TcpListener::bind(place).map(drop).map_err(|error| {
        let help = "choose a port that is free, and an address of this machine";
        Error::input(address.to_string(), format!("cannot be listened on: {error}"), help)
    })
}

fn bind(place: SocketAddr, backlog: u32, shares_port: bool) -> std::io::Result<TcpListener> {
    let socket = if place.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    socket.set_reuseaddr(true)?;
    if shares_port {
        socket.set_reuseport(true)?;
    }
    socket.bind(place)?;
    socket.listen(backlog)
}

/// Notes to the user about single connections: the first ones are printed, all are counted.
#[derive(Debug, Default)]
pub struct Notes {
    printed: AtomicU32,
}

impl Notes {
    /// Counts an error of a kind, and prints it unless enough were printed.
    pub fn note(&self, feed: &Feed, kind: &'static str, text: &str) {
        feed.stats.add_error(kind);
        let before = self.printed.fetch_add(1, Ordering::Relaxed);
        if before < NOTES_MAX {
            feed.console.message(&format!("warning: {text}"));
        } else if before == NOTES_MAX {
            feed.console.message("warning: further notes on connections are counted only");
        } else {
            // It stays at the bound, so that it never begins anew.
            self.printed.store(NOTES_MAX + 1, Ordering::Relaxed);
        }
    }
}

/// How connections are made safe, and how long that may take.
#[derive(Clone, Debug)]
pub struct Guard {
    /// TLS; plain connections when there is none.
    pub tls: Option<Arc<tls::Server>>,
    /// How long the handshake may take.
    pub handshake_max: Duration,
}

impl Guard {
    /// Both sides of a connection that was accepted; nothing, and a note, when its peer does not speak TLS as
    /// it should.
    pub async fn admit(
        &self,
        stream: TcpStream,
        peer: SocketAddr,
        feed: &Feed,
        notes: &Notes,
    ) -> Option<Sides> {
        let Some(tls) = &self.tls else { return Some(of_tcp(stream)) };
        let (acceptor, wrong) = tls.get();
        if let Some(wrong) = wrong {
            let text = format!("{}; the old certificate stays in use", wrong.message);
            notes.note(feed, "tls", &text);
        }
        let shaken = tokio::select! {
            shaken = tokio::time::timeout(self.handshake_max, acceptor.accept(stream)) => shaken,
            () = feed.stop.asked() => return None,
        };
        let reason = match shaken {
            Ok(Ok(stream)) => return Some(of_tls(stream)),
            Ok(Err(error)) => error.to_string(),
            Err(_) => format!("it took longer than {:?}", self.handshake_max),
        };
        notes.note(feed, "tls", &format!("{peer}: the TLS handshake failed: {reason}"));
        None
    }
}

/// Accepts connections until the run stops, and serves each in a task of its own; no more than
/// `connections_max` at a time: further ones wait in the system's backlog. Returns when all have ended.
pub async fn accept<S, T>(listener: TcpListener, feed: &Feed, connections_max: usize, serve: S)
where
    S: Fn(TcpStream, SocketAddr) -> T,
    T: Future<Output = ()> + Send + 'static,
{
    accept_from(listener, feed, connections_max, serve).await;
}

/// Something that connections come from.
pub trait Listens {
    /// A connection.
    type Stream;
    /// Who is at its other end.
    type Peer;

    /// Waits for the next connection.
    fn next(&self) -> impl Future<Output = std::io::Result<(Self::Stream, Self::Peer)>> + Send;

    /// Where it listens, for messages.
    fn place(&self) -> String;
}

impl Listens for TcpListener {
    type Stream = TcpStream;
    type Peer = SocketAddr;

    async fn next(&self) -> std::io::Result<(TcpStream, SocketAddr)> {
        self.accept().await
    }

    fn place(&self) -> String {
        self.local_addr().map_or_else(|_| "listener".to_string(), |one| one.to_string())
    }
}

impl Listens for UnixListener {
    type Stream = UnixStream;
    type Peer = ();

    async fn next(&self) -> std::io::Result<(UnixStream, ())> {
        self.accept().await.map(|(stream, _)| (stream, ()))
    }

    fn place(&self) -> String {
        let path = self.local_addr().ok().and_then(|one| Some(one.as_pathname()?.to_path_buf()));
        path.map_or_else(|| "listener".to_string(), |path| path.display().to_string())
    }
}

/// The same for connections of any kind.
pub async fn accept_from<L, S, T>(listener: L, feed: &Feed, connections_max: usize, serve: S)
where
    L: Listens,
    S: Fn(L::Stream, L::Peer) -> T,
    T: Future<Output = ()> + Send + 'static,
{
    feed.opened();
    let place = listener.place();
    let places = Arc::new(Semaphore::new(connections_max));
    let (mut connections, notes) = (JoinSet::new(), Notes::default());
    loop {
        if places.available_permits() == 0 {
            let text =
                format!("{place}: {connections_max} connections are open; further ones wait");
            notes.note(feed, "connections_full", &text);
        }
        let free = tokio::select! {
            free = Arc::clone(&places).acquire_owned() => free,
            () = feed.stop.asked() => break,
        };
        let accepted = tokio::select! {
            accepted = listener.next() => accepted,
            () = feed.stop.asked() => break,
        };
        while connections.try_join_next().is_some() {}
        match accepted {
            Ok((stream, peer)) => {
                let serving = serve(stream, peer);
                connections.spawn(async move {
                    serving.await;
                    drop(free);
                });
            }
            // The peer has gone, or there are no descriptors: others may still come.
            Err(error) => {
                let text = format!(
                    "{place}: a connection failed: {error}\n  help: raise the limit of open files (ulimit -n)"
                );
                notes.note(feed, "connection", &text);
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
    // Who has connected by now has been promised nothing, but may have sent.
    while let Ok(free) = Arc::clone(&places).try_acquire_owned()
        && let Ok(Ok((stream, peer))) = tokio::time::timeout(LAST_LOOK, listener.next()).await
    {
        let serving = serve(stream, peer);
        connections.spawn(async move {
            serving.await;
            drop(free);
        });
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}

/// What is said about listening where others reach it and nobody is asked who they are.
#[must_use]
pub fn exposure(address: &Address, is_safe: bool) -> Option<String> {
    (!is_safe && !address.is_loopback()).then(|| {
        format!(
            "{address} is reached from other machines, without TLS: anybody who reaches it can send events, \
             and anybody in between can read them; set `tls`, or listen on 127.0.0.1"
        )
    })
}
