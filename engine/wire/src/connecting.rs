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

/// How long one of several addresses that all get everything may take to take it.
pub const WRITE_MAX: Duration = Duration::from_secs(10);

/// Setting of every sink that connects.
pub const ADDRESSES: Setting = Setting::new(
    "addresses",
    Takes::Texts,
    "Further addresses. `strategy` says what they are for.",
);
/// Setting of every sink that connects.
pub const STRATEGY: Setting = Setting::new(
    "strategy",
    Takes::Word(&["failover", "round_robin", "all"]),
    "With several addresses: `failover` sends to the first one that works, `round_robin` to each in turn, `all` to \
     every one of them.",
)
.or("failover");
/// Setting of every sink that connects.
pub const QUORUM: Setting = Setting::new(
    "quorum",
    Takes::Whole { least: 1, most: 1000 },
    "With `strategy = \"all\"`: to how many addresses an event must have been written. The others get what they can \
     take. All of them when it is not set.",
);
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
    /// To all, of which so many must have taken it; all when there is no number.
    All(Option<usize>),
}

impl Strategy {
    /// As the settings say, for so many addresses.
    ///
    /// # Errors
    /// A quorum that cannot be reached, or that has no meaning.
    pub fn of_settings(settings: &Settings, addresses: usize) -> Result<Self, Wrong> {
        let quorum = settings.optional_whole("quorum").and_then(|one| usize::try_from(one).ok());
        match (settings.optional_text("strategy"), quorum) {
            (Some("all"), Some(quorum)) if quorum > addresses => {
                let message = format!("{quorum} of {addresses} addresses can never be reached");
                Err(Wrong::at("quorum", message, "name further `addresses`"))
            }
            (Some("all"), quorum) => Ok(Self::All(quorum)),
            (_, Some(_)) => {
                Err(Wrong::at("quorum", "`quorum` belongs to `strategy = \"all\"`", "leave it out"))
            }
            (Some("round_robin"), None) => Ok(Self::RoundRobin),
            _ => Ok(Self::Failover),
        }
    }
}

/// Addresses, and the connections to them.
pub struct Lines {
    dialer: Dialer,
    strategy: Strategy,
    lines: Vec<Line>,
    /// Where the next turn begins.
    turn: usize,
    /// With [`Strategy::All`]: which addresses have what is being written.
    have: Vec<bool>,
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
        let lines: Vec<_> = peers.into_iter().map(line).collect();
        let have = vec![false; lines.len()];
        Self { dialer, strategy, lines, turn: 0, have }
    }

    /// Writes all of `bytes` to one address, or to none as a whole; what a connection that broke had taken
    /// of them is written again. Says where it was written.
    ///
    /// # Errors
    /// No address works now.
    pub async fn write(&mut self, bytes: &[u8]) -> Result<(), NoLine> {
        let count = self.lines.len();
        let first = match self.strategy {
            Strategy::All(quorum) => {
                return self.write_to_all(bytes, quorum.unwrap_or(count)).await;
            }
            Strategy::Failover => 0,
            Strategy::RoundRobin => {
                self.turn = (self.turn + 1) % count;
                self.turn
            }
        };
        for step in 0..count {
            if self.lines[(first + step) % count].write_twice(&self.dialer, bytes).await {
                return Ok(());
            }
        }
        Err(self.none())
    }

    /// Writes to all addresses at the same time. Those that have taken `bytes` are not written to again when the
    /// others were too few.
    async fn write_to_all(&mut self, bytes: &[u8], quorum: usize) -> Result<(), NoLine> {
        let dialer = &self.dialer;
        let lines = self.lines.iter_mut().zip(&self.have).enumerate();
        let missing = lines.filter(|(_, (_, has))| !**has);
        let writing = missing.map(|(at, (line, _))| async move {
            let within = tokio::time::timeout(WRITE_MAX, line.write_twice(dialer, bytes)).await;
            if within.is_err() {
                // What was written of it nobody knows: the connection is of no use any more.
                line.give_up(format!("did not take what was written within {WRITE_MAX:?}"));
            }
            (at, within.unwrap_or(false))
        });
        for (at, written) in futures_util::future::join_all(writing).await {
            self.have[at] |= written;
        }
        let reached = self.have.iter().filter(|has| **has).count() >= quorum;
        let none = self.none();
        if reached || none.again.is_none() {
            self.have.fill(false);
        }
        if reached { Ok(()) } else { Err(none) }
    }

    /// Why nothing could be written.
    fn none(&self) -> NoLine {
        let reasons = self.lines.iter().map(|line| format!("{}: {}", line.peer, line.last_error));
        let reason = reasons.collect::<Vec<_>>().join("; ");
        let again = self.lines.iter().filter(|line| !line.given_up);
        NoLine { reason, again: again.filter_map(|line| line.rests_until).min() }
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
    /// Writes; over a new connection when the old one has been closed since it was used last.
    async fn write_twice(&mut self, dialer: &Dialer, bytes: &[u8]) -> bool {
        for _ in 0..2 {
            let was_open = self.connection.is_some();
            if self.write(dialer, bytes).await {
                return true;
            }
            if !was_open {
                break;
            }
        }
        false
    }

    /// Closes the connection; the address is left alone for a while.
    fn give_up(&mut self, reason: String) {
        self.connection = None;
        self.last_error = reason;
        match self.retry.fail(retry::chance()) {
            Some(wait) => self.rests_until = Some(Instant::now() + wait),
            None => self.given_up = true,
        }
    }

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
