//! Metrics as lines of text, over UDP and TCP: what StatsD and Graphite share.
//!
//! Invariant: neither has an answer. Datagrams may be lost anywhere, and what was under way when a stream breaks
//! is lost.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use temblor_declare::{Setting, Settings, Takes, Wrong};
use temblor_runtime::batch::Origin;
use temblor_runtime::checkpoint::FileMark;
use temblor_runtime::error::Error;
use temblor_runtime::intake::Arrival;
use temblor_runtime::outlet::{Desk, Feedback, Outlet};
use temblor_runtime::sink::{OpenSink, Sink};
use temblor_runtime::source::feed::Feed;
use temblor_runtime::source::{OpenSource, Source};
use temblor_wire::outbound::task_sink;
use temblor_wire::retry::Retry;
use tokio::io::AsyncWriteExt;
use tokio::net::UdpSocket;

use crate::dial::Dial;
use crate::listen::{self, Listener};
use crate::parcels::{self, Parcels};
use crate::stream::{Stream, Waited, read_within};

/// The longest line.
pub(crate) const LINE_BYTES_MAX: usize = 64 << 10;
/// The longest datagram that IP carries.
const DATAGRAM_BYTES_MAX: usize = 64 << 10;
/// Events that are sent together.
const EVENTS_MAX: u64 = 4096;
/// Bytes of events that are sent together.
const BYTES_MAX: usize = 1 << 20;

/// The setting of the length of datagrams that are sent.
pub(crate) const DATAGRAM: Setting = Setting::new(
    "max_datagram",
    Takes::Bytes,
    "Lines are sent together in datagrams up to this size; a longer line goes alone.",
)
.or("1432");

/// How lines travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transport {
    Tcp,
    Udp,
}

/// The transport that an address names, or the default.
///
/// # Errors
/// Another scheme.
pub(crate) fn transport(settings: &Settings, default: Transport) -> Result<Transport, Wrong> {
    match settings.text("address").split_once("://").map(|(scheme, _)| scheme) {
        None => Ok(default),
        Some("tcp") => Ok(Transport::Tcp),
        Some("udp") => Ok(Transport::Udp),
        Some(other) => {
            let help = "write \"udp://HOST:PORT\" or \"tcp://HOST:PORT\"";
            Err(Wrong::at("address", format!("`{other}` carries no lines here"), help))
        }
    }
}

/// From whole lines to an arrival.
pub(crate) type Take = fn(&[u8]) -> Arrival;

/// A source of lines.
#[derive(Clone, Debug)]
pub(crate) struct Listening {
    pub listener: Listener,
    pub transport: Transport,
    /// The name of the metadata.
    pub kind: &'static str,
    pub take: Take,
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

    fn run(&mut self, feed: &Feed) -> Result<(), Error> {
        let config = Arc::new(self.clone());
        feed.network.handle()?.block_on(async {
            if self.transport == Transport::Udp {
                return self.datagrams(feed).await;
            }
            let serve = move |stream, peer, feed| Arc::clone(&config).stream(stream, peer, feed);
            self.listener.serve(feed, serve).await
        })
    }
}

impl Listening {
    async fn datagrams(&self, feed: &Feed) -> Result<(), Error> {
        let address = &self.listener.address;
        let failed = |error: std::io::Error| {
            let help = "choose a port that is free, and an address of this machine";
            Error::input(address.to_string(), format!("cannot be listened on: {error}"), help)
        };
        let socket =
            UdpSocket::bind((address.host.as_str(), address.port)).await.map_err(failed)?;
        feed.opened();
        let mut bytes = vec![0; DATAGRAM_BYTES_MAX];
        let mut last: Option<(SocketAddr, Arc<Origin>)> = None;
        loop {
            let received = tokio::select! {
                received = socket.recv_from(&mut bytes) => received,
                () = feed.stop.asked() => return Ok(()),
            };
            // An error is about a datagram that was sent before, to a port that nobody has.
            let Ok((count, peer)) = received else { continue };
            if count == 0 {
                continue;
            }
            let origin = match &last {
                Some((known, origin)) if *known == peer => Arc::clone(origin),
                _ => self.listener.origin(self.kind, peer),
            };
            last = Some((peer, Arc::clone(&origin)));
            if feed.hand_over_unwatched((self.take)(&bytes[..count]), &origin).await.is_err() {
                return Ok(());
            }
        }
    }

    async fn stream(self: Arc<Self>, mut stream: Stream, peer: SocketAddr, feed: Feed) {
        let origin = self.listener.origin(self.kind, peer);
        let mut bytes = Vec::new();
        loop {
            let waited = tokio::select! {
                waited = read_within(&mut stream, &mut bytes, self.listener.idle) => waited,
                () = feed.stop.asked() => Waited::Ended,
            };
            let is_last = !matches!(waited, Waited::Bytes(_));
            let end = match is_last {
                true => bytes.len(),
                false => bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1),
            };
            if end > 0 {
                let arrival = (self.take)(&bytes[..end]);
                if feed.hand_over_unwatched(arrival, &origin).await.is_err() {
                    return;
                }
                bytes.drain(..end);
            }
            if bytes.len() > LINE_BYTES_MAX {
                let reason = format!("a line is longer than {LINE_BYTES_MAX} bytes");
                let _ = feed.hand_over_unwatched(listen::bad(&bytes, reason), &origin).await;
                return;
            }
            if is_last {
                return;
            }
        }
    }
}

/// A sink of lines.
#[derive(Clone, Debug)]
pub(crate) struct Sending {
    pub dial: Dial,
    pub transport: Transport,
    pub retry: Retry,
    pub timeout: Duration,
    pub(crate) datagram_bytes_max: usize,
    pub errors: Arc<Feedback>,
}

impl OpenSink for Sending {
    fn open(&self, _: bool) -> Result<Box<dyn Sink>, Error> {
        Ok(task_sink(self, Self::run))
    }
}

/// Where lines go, while it is there.
enum Way {
    Stream(Stream),
    Socket(UdpSocket),
}

impl Sending {
    async fn run(mut self, outlet: Arc<Outlet>, desk: Desk) {
        let mut way = None;
        while let Some(parcels) = Parcels::take(&outlet, EVENTS_MAX, BYTES_MAX).await {
            let line = |index| [parcels.event(index), b"\n"].concat();
            let lines: Vec<Vec<u8>> = parcels.indices().map(line).collect();
            let sent = loop {
                let Err(error) = self.send(&lines, &mut way).await else { break Ok(()) };
                way = None;
                self.dial.turn();
                if !parcels::wait(&mut self.retry, &desk, &error).await {
                    break Err(error);
                }
            };
            self.retry.succeed();
            match sent {
                Ok(()) => parcels.confirm(&self.errors).await,
                Err(error) => parcels.fail(&error),
            }
        }
    }

    async fn send(&self, lines: &[Vec<u8>], way: &mut Option<Way>) -> Result<(), Error> {
        let failed = |error: std::io::Error| {
            let reason = format!("cannot be written to: {error}");
            Error::output(self.dial.place(), reason, "check that a server listens there")
        };
        let way = match way {
            Some(way) => way,
            None => way.insert(match self.transport {
                Transport::Tcp => Way::Stream(self.dial.connect().await?),
                Transport::Udp => Way::Socket(self.socket().await.map_err(failed)?),
            }),
        };
        match way {
            Way::Stream(stream) => {
                let bytes = lines.concat();
                let writing = async {
                    stream.write_all(&bytes).await?;
                    stream.flush().await
                };
                let late = |_| Err(std::io::Error::from(std::io::ErrorKind::TimedOut));
                tokio::time::timeout(self.timeout, writing)
                    .await
                    .unwrap_or_else(late)
                    .map_err(failed)
            }
            Way::Socket(socket) => {
                for datagram in datagrams(lines, self.datagram_bytes_max) {
                    // A port that nobody has is told by an error of the next datagram: all are lost alike.
                    if let Err(error) = socket.send(&datagram).await
                        && error.kind() != std::io::ErrorKind::ConnectionRefused
                    {
                        return Err(failed(error));
                    }
                }
                Ok(())
            }
        }
    }

    async fn socket(&self) -> std::io::Result<UdpSocket> {
        let address = self.dial.address();
        let mut places = tokio::net::lookup_host((address.host.as_str(), address.port)).await?;
        let place =
            places.next().ok_or_else(|| std::io::Error::other("the name has no address"))?;
        let any = if place.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
        let socket = UdpSocket::bind(any).await?;
        socket.connect(place).await?;
        Ok(socket)
    }
}

/// Lines together in datagrams, without the last line end of each.
fn datagrams(lines: &[Vec<u8>], bytes_max: usize) -> Vec<Vec<u8>> {
    let mut datagrams: Vec<Vec<u8>> = Vec::new();
    for line in lines {
        match datagrams.last_mut() {
            Some(last) if last.len() + line.len() <= bytes_max + 1 => last.extend_from_slice(line),
            _ => datagrams.push(line.clone()),
        }
    }
    for one in &mut datagrams {
        one.pop();
    }
    datagrams
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_share_datagrams_up_to_a_size() {
        let lines = ["aa\n", "bb\n", "cccccccc\n", "d\n"].map(|line| line.as_bytes().to_vec());
        let all = datagrams(&lines, 5);
        assert_eq!(all, [b"aa\nbb".to_vec(), b"cccccccc".to_vec(), b"d".to_vec()]);
    }
}
