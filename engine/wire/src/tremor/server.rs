//! `tcp_server` and `unix_socket_server`: events come from all who connect, and events whose metadata name a
//! connection go back to it.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use temblor_declare::{
    Build, Built, BuiltSink, CodecUse, Connector, Ends, Notation, Setting, Takes, Wrong,
};
use temblor_runtime::batch::Origin;
use temblor_runtime::checkpoint::FileMark;
use temblor_runtime::error::Error;
use temblor_runtime::outlet::Feedback;
use temblor_runtime::sink::{OpenSink, Sink};
use temblor_runtime::source::feed::Feed;
use temblor_runtime::source::{OpenSource, Source};
use tokio::net::{UnixListener, UnixStream};

use super::duplex::{self, Connections};
use super::{BUF_SIZE, PATH, SOCKET_OPTIONS, URL, reading};
use crate::address::Address;
use crate::inbound::{self, CONNECTIONS_MAX, Guard, HANDSHAKE_MAX, Notes, exposure};
use crate::outbound::{Task, TaskSink};
use crate::socket::{of_unix, prepare_tcp};
use crate::stream::Reading;
use crate::tcp::origin;
use crate::tls;
use crate::unix::{SocketFile, permissions};

/// Silent peers are asked after this time whether they are there.
const KEEPALIVE: std::time::Duration = std::time::Duration::from_secs(60);

const TLS: Setting = Setting::new(
    "tls",
    Takes::Record(&[
        Setting::new("cert", Takes::Text, "A file with the certificate chain (PEM).").required(),
        Setting::new("key", Takes::Text, "A file with the private key (PEM).").required(),
    ]),
    "Secures connections.",
);
const TCP_PEER: Setting = Setting::new(
    "connection",
    Takes::Hidden("$tcp_server"),
    "The connection that an event goes to.",
);
const UNIX_PEER: Setting = Setting::new(
    "connection",
    Takes::Hidden("$unix_socket_server"),
    "The connection that an event goes to.",
);

/// tremor's server of TCP.
pub static TCP_SERVER: Connector = Connector {
    kind: "tcp_server",
    notation: Notation::Tremor,
    doc: "Listens for TCP connections. Each has its own preprocessors; an event whose `$tcp_server.peer` names a \
          connection is written to it.",
    ends: Ends::Both,
    address: None,
    source: &[
        URL,
        TLS,
        BUF_SIZE,
        SOCKET_OPTIONS,
        Setting::new(
            "backlog",
            Takes::Whole { least: 1, most: 1 << 20 },
            "Connections that wait to be accepted.",
        )
        .or("128"),
        TCP_PEER,
    ],
    sink: &[TCP_PEER],
    codec: CodecUse::Required,
    writes_lines: false,
    gives: &[],
    meta: &["tcp_server"],
    examples: &[],
    build: build_tcp,
};

/// tremor's server of sockets of the Unix domain.
pub static UNIX_SOCKET_SERVER: Connector = Connector {
    kind: "unix_socket_server",
    notation: Notation::Tremor,
    doc: "Listens at a socket of the Unix domain. An event whose `$unix_socket_server.peer` names a connection is \
          written to it.",
    ends: Ends::Both,
    address: None,
    source: &[
        PATH,
        BUF_SIZE,
        Setting::new("permissions", Takes::Text, "Who may use the socket, such as `=600`."),
        UNIX_PEER,
    ],
    sink: &[UNIX_PEER],
    codec: CodecUse::Required,
    writes_lines: false,
    gives: &[],
    meta: &["unix_socket_server"],
    examples: &[],
    build: build_unix,
};

fn build_tcp(what: &Build<'_>) -> Result<Built, Wrong> {
    let settings = what.settings;
    let address = Address::parse(settings.text("url"), "url")?;
    let tls = settings.record("tls").map(tls::Server::new).transpose()?;
    let warnings = exposure(&address, tls.is_some()).into_iter().collect();
    let options = settings.record("socket_options");
    let place = Place::Tcp {
        address,
        guard: Guard { tls, handshake_max: HANDSHAKE_MAX },
        backlog: u32::try_from(settings.whole("backlog")).unwrap_or(u32::MAX),
        shares_port: options.is_some_and(|options| options.flag("SO_REUSEPORT")),
    };
    Ok(built(place, reading(what), tcp_key, warnings))
}

fn build_unix(what: &Build<'_>) -> Result<Built, Wrong> {
    let settings = what.settings;
    let mode = settings.optional_text("permissions").map(permissions).transpose()?;
    let path = PathBuf::from(settings.text("path"));
    Ok(built(Place::Unix(SocketFile { path, mode }), reading(what), unix_key, Vec::new()))
}

fn built(
    place: Place,
    reading: Reading,
    key: fn(&str) -> Option<String>,
    warnings: Vec<String>,
) -> Built {
    let connections = Arc::new(Connections::default());
    let errors = Feedback::new();
    let sink = Answers { connections: Arc::clone(&connections), errors: Arc::clone(&errors), key };
    let source = Server { place, reading, connections };
    Built {
        source: Some(Arc::new(source)),
        sink: Some(BuiltSink::of_events(sink, errors)),
        warnings,
    }
}

/// `{"peer": {"host": …, "port": …}}`
fn tcp_key(meta: &str) -> Option<String> {
    let meta: serde_json::Value = serde_json::from_str(meta).ok()?;
    let peer = meta.get("peer")?;
    let host = peer.get("host")?.as_str()?;
    Some(peer_key(host, peer.get("port")?.as_u64()?))
}

fn peer_key(host: &str, port: u64) -> String {
    format!("{host}:{port}")
}

/// `{"peer": 7}`
fn unix_key(meta: &str) -> Option<String> {
    let meta: serde_json::Value = serde_json::from_str(meta).ok()?;
    Some(meta.get("peer")?.as_u64()?.to_string())
}

#[derive(Clone, Debug)]
enum Place {
    Tcp { address: Address, guard: Guard, backlog: u32, shares_port: bool },
    Unix(SocketFile),
}

#[derive(Clone, Debug)]
struct Server {
    place: Place,
    reading: Reading,
    connections: Arc<Connections>,
}

impl OpenSource for Server {
    fn open(&self, _: &[FileMark]) -> Result<Box<dyn Source>, Error> {
        Ok(Box::new(self.clone()))
    }
}

impl Source for Server {
    fn name(&self) -> String {
        match &self.place {
            Place::Tcp { address, .. } => address.to_string(),
            Place::Unix(file) => file.path.display().to_string(),
        }
    }

    fn listens(&self) -> bool {
        true
    }

    fn run(&mut self, feed: &Feed) -> Result<(), Error> {
        let this = Arc::new(self.clone());
        feed.network.handle()?.block_on(async move {
            match &this.place {
                Place::Tcp { address, backlog, shares_port, .. } => {
                    let listener = inbound::listen_with(address, *backlog, *shares_port).await?;
                    let notes = Arc::new(Notes::default());
                    inbound::accept(listener, feed, CONNECTIONS_MAX, |stream, peer| {
                        prepare_tcp(&stream, Some(KEEPALIVE));
                        let (this, notes) = (Arc::clone(&this), Arc::clone(&notes));
                        this.serve_tcp(stream, peer, notes, feed.clone())
                    })
                    .await;
                }
                Place::Unix(file) => {
                    let (listener, _bound) = file.bind(|path| UnixListener::bind(path))?;
                    let numbers = AtomicU64::new(0);
                    inbound::accept_from(listener, feed, CONNECTIONS_MAX, |stream, ()| {
                        let number = numbers.fetch_add(1, Ordering::Relaxed);
                        Arc::clone(&this).serve_unix(stream, number, feed.clone())
                    })
                    .await;
                }
            }
            Ok(())
        })
    }
}

impl Server {
    async fn serve_tcp(
        self: Arc<Self>,
        stream: tokio::net::TcpStream,
        peer: SocketAddr,
        notes: Arc<Notes>,
        feed: Feed,
    ) {
        let Place::Tcp { guard, .. } = &self.place else { return };
        let origin = origin("tcp_server", peer, guard.tls.is_some());
        let Some(sides) = guard.admit(stream, peer, &feed, &notes).await else { return };
        let key = peer_key(&peer.ip().to_canonical().to_string(), peer.port().into());
        duplex::serve(sides, &key, &self.connections, &self.reading, &origin, &feed).await;
    }

    async fn serve_unix(self: Arc<Self>, stream: UnixStream, number: u64, feed: Feed) {
        let Place::Unix(file) = &self.place else { return };
        let path = file.path.display().to_string();
        let meta = format!("{{\"unix_socket_server\":{{\"path\":{path:?},\"peer\":{number}}}}}");
        let origin = Origin::with_meta(path, meta);
        let (sides, key) = (of_unix(stream), number.to_string());
        duplex::serve(sides, &key, &self.connections, &self.reading, &origin, &feed).await;
    }
}

/// Writes events to the connections that they name.
#[derive(Clone, Debug)]
struct Answers {
    connections: Arc<Connections>,
    errors: Arc<Feedback>,
    key: fn(&str) -> Option<String>,
}

impl OpenSink for Answers {
    fn open(&self, _: bool) -> Result<Box<dyn Sink>, Error> {
        let Self { connections, errors, key } = self.clone();
        let work =
            move |outlet, _| -> Task { Box::pin(duplex::answer(outlet, connections, errors, key)) };
        Ok(Box::new(TaskSink::new(work)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_name_a_connection() {
        let meta = r#"{"tls":false,"peer":{"host":"::1","port":7}}"#;
        assert_eq!(tcp_key(meta).as_deref(), Some("::1:7"));
        assert_eq!(unix_key(r#"{"peer":3}"#).as_deref(), Some("3"));
        for meta in ["null", "{}", r#"{"peer":{"host":"h"}}"#, "", r#"{"peer":-1}"#] {
            assert_eq!((tcp_key(meta), unix_key(meta)), (None, None), "{meta}");
        }
    }
}
