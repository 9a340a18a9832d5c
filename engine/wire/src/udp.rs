//! `udp`: messages in datagrams. A source takes them, a sink sends one for each event.
//!
//! Invariant: UDP has no answer. Datagrams that the kernel has no room for are lost; they are counted as
//! dropped (`udp_kernel`).

use std::io::{Error as IoError, Result as IoResult};
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::sync::Arc;

use rustix::net::sockopt;
use temblor_codec::InputCodec;
use temblor_declare::{
    Build, Built, BuiltSink, CodecUse, Connector, Ends, Notation, Setting, Takes, Wrong,
};
use temblor_runtime::batch::Origin;
use temblor_runtime::checkpoint::FileMark;
use temblor_runtime::error::Error;
use temblor_runtime::framing::Framing;
use temblor_runtime::outlet::{Desk, Outlet, Parcel, Refusal};
use temblor_runtime::sink::{OpenSink, Sink};
use temblor_runtime::source::feed::Feed;
use temblor_runtime::source::{OpenSource, Source};
use tokio::net::{UdpSocket, lookup_host};

use crate::address::Address;
use crate::datagram::{DATAGRAM_BYTES_MAX, Reading, Receives, take_datagrams};
use crate::inbound::exposure;
use crate::outbound::task_sink;
use crate::sending::without_end;
use temblor_runtime::outlet::Feedback;

/// What the kernel is asked to keep until it is read, unless the program sets it; it gives no more than
/// `net.core.rmem_max`.
const RECEIVE_BYTES: usize = 8 << 20;

/// Setting of every source that takes datagrams.
pub const DATAGRAM_BYTES: Setting = Setting::new(
    "max_message_bytes",
    Takes::Bytes,
    "A longer datagram is a bad frame: its head goes to `err`. 64KiB when not set.",
);
/// Setting of every source that takes datagrams over UDP.
pub const RECEIVE_BUFFER: Setting = Setting::new(
    "receive_buffer",
    Takes::Bytes,
    "What the kernel keeps until it is read. It gives no more than `net.core.rmem_max` unless Temblor may \
     administrate the network. 8MiB when not set.",
);
const BIND: Setting = Setting::new(
    "bind",
    Takes::Text,
    "The address that datagrams are sent from. Any port of any address when not set.",
);

/// Messages in datagrams.
pub static UDP: Connector = Connector {
    kind: "udp",
    notation: Notation::Temblor,
    doc: "Messages over UDP, each in a datagram; with `framing = \"lines\"` each line of it. A source listens, a \
          sink sends. UDP has no acknowledgement and no back-pressure: what the kernel has no room for is \
          lost and counted as dropped (`udp_kernel`); what a sink sends may be lost on its way.",
    ends: Ends::Both,
    address: Some("\"HOST:PORT\": where to listen, or whom to send to"),
    source: &[DATAGRAM_BYTES, RECEIVE_BUFFER],
    sink: &[BIND],
    codec: CodecUse::Default("json"),
    writes_lines: true,
    gives: &[],
    meta: &["udp"],
    examples: &[
        r#"source in from udp "127.0.0.1:5514" with codec = "string" end; in |> out"#,
        r#"sink out into udp "127.0.0.1:5515"; in |> out"#,
    ],
    build,
};

fn build(what: &Build<'_>) -> Result<Built, Wrong> {
    let settings = what.settings;
    let address = Address::parse(settings.text("address"), "address")?;
    let mut built = Built::default();
    if what.ends == Ends::Source {
        built
            .warnings
            .extend(exposure(&address, false).map(|text| text.replace("; set `tls`, or", ";")));
        let framing = if what.framing_is_chosen { what.framing } else { Framing::Whole };
        let receive = settings.optional_whole("receive_buffer");
        built.source = Some(Arc::new(DatagramSource {
            address,
            reading: reading(what, framing),
            receive_bytes: receive
                .and_then(|one| usize::try_from(one).ok())
                .unwrap_or(RECEIVE_BYTES),
            meta: "udp",
        }));
    } else {
        let bind = settings.optional_text("bind").map(|text| Address::parse(text, "bind"));
        let errors = Feedback::new();
        let open = DatagramSink {
            address,
            bind: bind.transpose()?,
            trims: true,
            errors: Arc::clone(&errors),
        };
        built.sink = Some(BuiltSink::of_events(open, errors));
    }
    Ok(built)
}

/// How a source reads datagrams, by its settings and codec.
#[must_use]
pub fn reading(what: &Build<'_>, framing: Framing) -> Reading {
    let most = what.settings.optional_whole("max_message_bytes");
    let most = most.and_then(|most| usize::try_from(most).ok()).unwrap_or(DATAGRAM_BYTES_MAX);
    let is_bytes = matches!(what.codec, InputCodec::Format(format) if format.spans_lines());
    Reading {
        framing,
        preprocessors: what.preprocessors.to_vec(),
        message_bytes_max: most,
        trims: !is_bytes,
    }
}

/// Messages from datagrams.
#[derive(Clone, Debug)]
pub struct DatagramSource {
    /// Where to listen.
    pub address: Address,
    /// How datagrams are read.
    pub reading: Reading,
    /// What the kernel is asked to keep.
    pub receive_bytes: usize,
    /// What the metadata of events is called.
    pub meta: &'static str,
}

impl OpenSource for DatagramSource {
    fn open(&self, _: &[FileMark]) -> Result<Box<dyn Source>, Error> {
        Ok(Box::new(self.clone()))
    }
}

impl Source for DatagramSource {
    fn name(&self) -> String {
        self.address.to_string()
    }

    fn listens(&self) -> bool {
        true
    }

    fn try_listen(&self) -> Result<(), Error> {
        let place = (self.address.host.as_str(), self.address.port);
        std::net::UdpSocket::bind(place).map(drop).map_err(|error| {
            let help = "choose a port that is free, and an address of this machine";
            Error::input(self.address.to_string(), format!("cannot be listened on: {error}"), help)
        })
    }

    fn run(&mut self, feed: &Feed) -> Result<(), Error> {
        let failed = |error: IoError| {
            let help = "choose a port that is free, and an address of this machine";
            Error::input(self.address.to_string(), format!("cannot be listened on: {error}"), help)
        };
        feed.network.handle()?.block_on(async {
            let socket = UdpSocket::bind((self.address.host.as_str(), self.address.port)).await;
            let socket = socket.map_err(failed)?;
            // Without the right to it the kernel gives what it gives to everybody.
            let _ = sockopt::set_socket_recv_buffer_size_force(&socket, self.receive_bytes)
                .or_else(|_| sockopt::set_socket_recv_buffer_size(&socket, self.receive_bytes));
            let mut drops = Drops::of(&socket);
            let look = || {
                let lost = drops.since_last();
                if lost > 0 {
                    feed.stats.add_dropped("udp_kernel", lost);
                }
            };
            let receiver = Receiver { socket, meta: self.meta };
            take_datagrams(&receiver, &self.reading, feed, look).await.map_err(failed)
        })
    }
}

struct Receiver {
    socket: UdpSocket,
    meta: &'static str,
}

impl Receives for Receiver {
    type Peer = SocketAddr;

    async fn ready(&self) -> IoResult<()> {
        self.socket.readable().await
    }

    fn try_receive(&self, to: &mut Vec<u8>) -> IoResult<SocketAddr> {
        self.socket.try_recv_buf_from(to).map(|(_, peer)| peer)
    }

    fn origin(&self, peer: &SocketAddr) -> Arc<Origin> {
        let (host, port, meta) = (peer.ip().to_canonical(), peer.port(), self.meta);
        let text = format!("{{\"{meta}\":{{\"peer\":{{\"host\":\"{host}\",\"port\":{port}}}}}}}");
        Origin::with_meta(peer.to_string(), text)
    }
}

/// Where Linux tells what a socket has lost, for both versions of IP.
const TABLES: [&str; 2] = ["/proc/net/udp", "/proc/net/udp6"];

/// What the kernel had no room for, by its own count.
struct Drops {
    /// The socket's number in the tables.
    inode: Option<String>,
    seen: u64,
}

impl Drops {
    fn of(socket: &UdpSocket) -> Self {
        let status = rustix::fs::fstat(socket.as_fd());
        Self { inode: status.ok().map(|status| status.st_ino.to_string()), seen: 0 }
    }

    /// Datagrams that were lost since the last look.
    fn since_last(&mut self) -> u64 {
        let Some(inode) = &self.inode else { return 0 };
        let lost = TABLES.iter().find_map(|path| {
            let table = std::fs::read_to_string(path).ok()?;
            dropped(&table, inode)
        });
        let lost = lost.unwrap_or(self.seen);
        let new = lost.saturating_sub(self.seen);
        self.seen = lost;
        new
    }
}

/// The last column of the row with that inode.
fn dropped(table: &str, inode: &str) -> Option<u64> {
    /// The column of the inode, from 0.
    const INODE: usize = 9;
    let row = table.lines().find(|row| row.split_whitespace().nth(INODE) == Some(inode))?;
    row.split_whitespace().last()?.parse().ok()
}

/// Sends each event in a datagram.
#[derive(Clone, Debug)]
pub struct DatagramSink {
    /// Whom to send to.
    pub address: Address,
    /// Where to send from.
    pub bind: Option<Address>,
    /// Whether the newline behind an event is left out.
    pub trims: bool,
    /// Where events go that are too long.
    pub errors: Arc<Feedback>,
}

impl OpenSink for DatagramSink {
    fn open(&self, _: bool) -> Result<Box<dyn Sink>, Error> {
        Ok(task_sink(self, Self::send_all))
    }
}

impl DatagramSink {
    async fn send_all(self, outlet: Arc<Outlet>, desk: Desk) {
        let mut socket = None;
        while let Some(parcel) = outlet.take().await {
            if socket.is_none() {
                match self.socket().await {
                    Ok(made) => socket = Some(made),
                    Err(error) => {
                        let reason = format!("cannot be sent to: {error}");
                        let help = "check the address, and `bind`";
                        parcel.fail(Error::output(self.address.to_string(), reason, help));
                        continue;
                    }
                }
            }
            let Some(made) = &socket else { continue };
            let refused = send(made, &parcel, self.trims).await;
            parcel.confirm_except(&refused, &self.errors);
        }
        let _ = desk;
    }

    async fn socket(&self) -> IoResult<UdpSocket> {
        let place = lookup_host((self.address.host.as_str(), self.address.port)).await?.next();
        let place = place.ok_or_else(|| IoError::other("the name has no address"))?;
        let socket = match (&self.bind, place.is_ipv4()) {
            (Some(bind), _) => UdpSocket::bind((bind.host.as_str(), bind.port)).await?,
            (None, true) => UdpSocket::bind(("0.0.0.0", 0)).await?,
            (None, false) => UdpSocket::bind(("::", 0)).await?,
        };
        let _ = socket.set_broadcast(true);
        socket.connect(place).await?;
        Ok(socket)
    }
}

/// Sends the events of a parcel; those that no datagram can hold are refused.
async fn send(socket: &UdpSocket, parcel: &Parcel, trims: bool) -> Vec<Refusal> {
    let mut refused = Vec::new();
    for (event, bytes) in parcel.events().enumerate() {
        let message = if trims { without_end(bytes) } else { bytes };
        // A peer that does not listen answers the datagram before: this one is sent all the same.
        let mut sent = socket.send(message).await;
        if sent.as_ref().is_err_and(|error| error.kind() == std::io::ErrorKind::ConnectionRefused) {
            sent = socket.send(message).await;
        }
        match sent {
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => {}
            Err(error) => {
                let reason =
                    format!("a datagram of {} bytes cannot be sent: {error}", message.len());
                refused.push(Refusal { event, reason, details: String::new() });
            }
        }
    }
    refused
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_kernel_lost_stands_in_the_last_column() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops\n\
                     100: 0100007F:15B3 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 4242 2 0000000000000000 17\n";
        assert_eq!(dropped(table, "4242"), Some(17));
        assert_eq!(dropped(table, "1"), None);
    }
}
