//! The client's side of streams: connecting to one of several addresses, with TLS, and again after a failure.
//!
//! Invariant: an address that failed is left alone for its wait while another one works.

use std::io::Error as IoError;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};
use temblor_declare::{Setting, Settings, Takes, Wrong};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpStream, UnixStream};
use tokio::time::Instant;

use crate::address::Address;
use crate::retry::{self, Retry};
use crate::socket::{self, ReadSide, Sides, WriteSide, of_tcp, of_tls, of_unix};
use crate::tls;

/// How long a connection may take to come about, TLS included.
pub const CONNECT_MAX: Duration = Duration::from_secs(10);

/// Setting of every sink that connects.
pub const ADDRESSES: Setting = Setting::new(
    "addresses",
    Takes::Texts,
    "Further addresses. `strategy` says what they are for.",
);
/// Setting of every sink that connects.
pub const STRATEGY: Setting = Setting::new(
    "strategy",
    Takes::Word(&["failover", "round_robin"]),
    "With several addresses: `failover` sends to the first one that works, `round_robin` to each in turn.",
)
.or("failover");
/// Setting of everything that connects.
pub const CONNECT_TIMEOUT: Setting = Setting::new(
    "connect_timeout",
    Takes::Duration,
    "An attempt to connect, with its TLS handshake, fails after so long.",
)
.or("10s");

/// Whom to connect to.
#[derive(Clone, Debug)]
pub enum Peer {
    /// Over TCP.
    Tcp(Address),
    /// A socket of the Unix domain.
    Unix(String),
}

impl std::fmt::Display for Peer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix(path) => f.write_str(path),
        }
    }
}

/// How to connect.
#[derive(Clone, Debug)]
pub struct Dialer {
    /// TLS; plain connections when there is none.
    pub tls: Option<Arc<tls::Client>>,
    /// When the system asks whether a silent peer is still there.
    pub keepalive: Option<Duration>,
    /// How long a connection may take to come about.
    pub connect_max: Duration,
}

impl Dialer {
    /// As the settings say; `is_secure` asks for TLS even without the record `tls`.
    ///
    /// # Errors
    /// A file of `tls` that cannot be used.
    pub fn of_settings(settings: &Settings, is_secure: bool) -> Result<Self, Wrong> {
        let tls = match settings.record("tls") {
            Some(record) => Some(tls::Client::new(record)?),
            None if is_secure => Some(tls::Client::new(&Settings::default())?),
            None => None,
        };
        let keepalive = settings.optional_duration("keepalive").filter(|time| !time.is_zero());
        let connect_max = settings.optional_duration("connect_timeout").unwrap_or(CONNECT_MAX);
        Ok(Self { tls, keepalive, connect_max })
    }

    /// Connects.
    ///
    /// # Errors
    /// Why there is no connection.
    pub async fn connect(&self, peer: &Peer) -> Result<Sides, IoError> {
        let connected = tokio::time::timeout(self.connect_max, self.dial(peer)).await;
        connected.unwrap_or_else(|_| {
            Err(IoError::other(format!("no connection within {:?}", self.connect_max)))
        })
    }

    async fn dial(&self, peer: &Peer) -> Result<Sides, IoError> {
        let address = match peer {
            Peer::Unix(path) => return UnixStream::connect(path).await.map(of_unix),
            Peer::Tcp(address) => address,
        };
        // The name is resolved anew each time: it may have moved.
        let stream = TcpStream::connect((address.host.as_str(), address.port)).await?;
        socket::prepare_tcp(&stream, self.keepalive);
        let Some(tls) = &self.tls else { return Ok(of_tcp(stream)) };
        let name = tls.server_name(&address.host).map_err(|wrong| IoError::other(wrong.message))?;
        let (connector, _) = tls.get();
        let secured = connector.connect(name, stream).await;
        secured.map(of_tls).map_err(|error| IoError::other(format!("TLS: {error}")))
    }
}

/// Which of several addresses is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// The first one that works.
    Failover,
    /// Each in turn.
    RoundRobin,
}

/// Addresses, and the connections to them.
pub struct Lines {
    dialer: Dialer,
    strategy: Strategy,
    lines: Vec<Line>,
    /// Where the next turn begins.
    turn: usize,
}

/// One address.
struct Line {
    peer: Peer,
    connection: Option<Sides>,
    retry: Retry,
    /// Before this it is left alone.
    rests_until: Option<Instant>,
    given_up: bool,
    last_error: String,
}

/// Why nothing can be sent now.
pub struct NoLine {
    /// What the addresses say.
    pub reason: String,
    /// When to try again; nothing when the attempts are used up.
    pub again: Option<Instant>,
}

/// Bytes of a peer that nobody wants are read away in pieces of this size.
const AWAY_BYTES: usize = 4096;

impl Lines {
    /// No connections yet.
    #[must_use]
    pub fn new(dialer: Dialer, strategy: Strategy, peers: Vec<Peer>, retry: &Retry) -> Self {
        let line = |peer| Line {
            peer,
            connection: None,
            retry: retry.clone(),
            rests_until: None,
            given_up: false,
            last_error: String::new(),
        };
        let lines = peers.into_iter().map(line).collect();
        Self { dialer, strategy, lines, turn: 0 }
    }

    /// Writes all of `bytes` to one address, or to none as a whole; what a connection that broke had taken
    /// of them is written again. Says where it was written.
    ///
    /// # Errors
    /// No address works now.
    pub async fn write(&mut self, bytes: &[u8]) -> Result<(), NoLine> {
        let count = self.lines.len();
        let first = match self.strategy {
            Strategy::Failover => 0,
            Strategy::RoundRobin => {
                self.turn = (self.turn + 1) % count;
                self.turn
            }
        };
        for step in 0..count {
            let line = &mut self.lines[(first + step) % count];
            // A connection may have been closed since it was used last: then a new one is tried at once.
            for _ in 0..2 {
                let was_open = line.connection.is_some();
                if line.write(&self.dialer, bytes).await {
                    return Ok(());
                }
                if !was_open {
                    break;
                }
            }
        }
        let reasons = self.lines.iter().map(|line| format!("{}: {}", line.peer, line.last_error));
        let reason = reasons.collect::<Vec<_>>().join("; ");
        let again = self.lines.iter().filter(|line| !line.given_up);
        Err(NoLine { reason, again: again.filter_map(|line| line.rests_until).min() })
    }

    /// Ends all connections so that their peers get everything.
    pub async fn close(self) {
        for line in self.lines {
            if let Some((read, write)) = line.connection {
                socket::farewell(read, write).await;
            }
        }
    }
}

impl Line {
    async fn write(&mut self, dialer: &Dialer, bytes: &[u8]) -> bool {
        let written = self.try_write(dialer, bytes).await;
        match written {
            Ok(()) => {
                self.retry.succeed();
                self.rests_until = None;
                true
            }
            Err(None) => false,
            Err(Some((reason, was_open))) => {
                self.connection = None;
                self.last_error = reason;
                if !was_open {
                    match self.retry.fail(retry::chance()) {
                        Some(wait) => self.rests_until = Some(Instant::now() + wait),
                        None => self.given_up = true,
                    }
                }
                false
            }
        }
    }

    /// Nothing when the address is left alone now; else the reason, and whether there was a connection.
    async fn try_write(
        &mut self,
        dialer: &Dialer,
        bytes: &[u8],
    ) -> Result<(), Option<(String, bool)>> {
        let was_open = self.connection.is_some();
        if let Some((read, _)) = &mut self.connection {
            is_open(read).await.map_err(|reason| Some((reason, true)))?;
        } else {
            let rests = self.rests_until.is_some_and(|until| Instant::now() < until);
            if self.given_up || rests {
                return Err(None);
            }
            let connected = dialer.connect(&self.peer).await;
            self.connection = Some(connected.map_err(|error| Some((error.to_string(), false)))?);
        }
        let (_, write): &mut (ReadSide, WriteSide) =
            self.connection.as_mut().expect("it is there, or was made just now");
        let written = async {
            write.write_all(bytes).await?;
            write.flush().await
        };
        written.await.map_err(|error: IoError| Some((error.to_string(), was_open)))
    }
}

/// Reads away what a peer has said, and sees whether it has closed: what is written to a closed connection is
/// lost without an error.
async fn is_open(read: &mut ReadSide) -> Result<(), String> {
    // The system is asked, since tokio may not have heard yet of an end that has come.
    match read {
        ReadSide::Tcp(side) => return drain(side.as_ref()),
        ReadSide::Unix(side) => return drain(side.as_ref()),
        ReadSide::Tls(_) => {}
    }
    let mut away = Vec::with_capacity(AWAY_BYTES);
    loop {
        match read.read_now(&mut away).await {
            Ok(None) => return Ok(()),
            Ok(Some(0)) => return Err("the peer has closed the connection".to_string()),
            Ok(Some(_)) => away.clear(),
            Err(error) => return Err(error.to_string()),
        }
    }
}

fn drain(socket: impl AsFd) -> Result<(), String> {
    let mut away = [0; AWAY_BYTES];
    loop {
        match recv(&socket, &mut away[..], RecvFlags::DONTWAIT) {
            Ok((_, 0)) => return Err("the peer has closed the connection".to_string()),
            Ok(_) | Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => return Ok(()),
            Err(error) => return Err(error.to_string()),
        }
    }
}
