//! `tcp`: messages over streams, with TLS or without. A source listens and a sink connects; `mode` turns
//! that round.
//!
//! Invariant: TCP has no answer. What a peer has sent and this side has not read is lost when the connection
//! breaks; what a sink has written and the peer has not read is lost when the peer dies.

use std::net::SocketAddr;
use std::sync::Arc;

use temblor_codec::interceptor::Preprocessor;
use temblor_declare::{
    Build, Built, BuiltSink, CodecUse, Connector, Ends, Notation, Setting, Settings, Takes, Wrong,
};
use temblor_runtime::batch::Origin;
use temblor_runtime::checkpoint::FileMark;
use temblor_runtime::error::Error;
use temblor_runtime::outlet::{Desk, Outlet};
use temblor_runtime::sink::{OpenSink, Sink};
use temblor_runtime::source::feed::Feed;
use temblor_runtime::source::{OpenSource, Source};
use tokio::net::TcpStream;

use crate::address::Address;
use crate::broadcast::{self, Broadcast};
use crate::connecting::{
    ADDRESSES, CONNECT_TIMEOUT, Dialer, Lines, Peer, QUORUM, STRATEGY, Strategy,
};
use crate::cutter::{Cut, End};
use crate::inbound::{
    self, CONNECTIONS_MAX, Guard, HANDSHAKE, HANDSHAKE_MAX, KEEPALIVE, MAX_CONNECTIONS, Notes,
};
use crate::outbound::{Task, TaskSink};
use crate::retry::{self, RETRY, Retry};
use crate::sending::{self, Frames, SINK_FRAMING};
use crate::socket::{farewell, prepare_tcp};
use crate::stream::{IDLE, MESSAGE_BYTES, Reading, take_messages};
use crate::tls::{self, TLS};

const MODE: Setting = Setting::new(
    "mode",
    Takes::Word(&["listen", "connect"]),
    "Who connects. A source listens and a sink connects when it is not set.",
);
/// Setting of everything that can use TLS.
pub const TLS_RECORD: Setting = Setting::new(
    "tls",
    Takes::Record(TLS),
    "Secures connections. Who listens needs `cert` and `key`; `tls = {}` is enough for who connects. Changed \
     files hold for the next connection.",
);
/// Setting of everything that connects again.
pub const RETRY_RECORD: Setting =
    Setting::new("retry", Takes::Record(RETRY), "The waits between attempts to connect.");

/// Streams of messages.
pub static TCP: Connector = Connector {
    kind: "tcp",
    notation: Notation::Temblor,
    doc: "Messages over TCP. A source listens and takes the lines (or what `framing` says: `lines`, `octet` \
          for RFC 6587, `whole`) of all connections; a sink connects and writes events. TCP has no \
          acknowledgement: what was under way when a connection breaks may be lost.",
    ends: Ends::Both,
    address: Some("\"HOST:PORT\": where to listen, or whom to connect to"),
    source: &[
        MODE,
        TLS_RECORD,
        MAX_CONNECTIONS,
        MESSAGE_BYTES,
        IDLE,
        HANDSHAKE,
        KEEPALIVE,
        CONNECT_TIMEOUT,
        RETRY_RECORD,
    ],
    sink: &[
        MODE,
        TLS_RECORD,
        ADDRESSES,
        STRATEGY,
        QUORUM,
        SINK_FRAMING,
        MAX_CONNECTIONS,
        KEEPALIVE,
        CONNECT_TIMEOUT,
        RETRY_RECORD,
    ],
    codec: CodecUse::Default("json"),
    writes_lines: true,
    gives: &[],
    meta: &["tcp"],
    examples: &[
        r#"source in from tcp "127.0.0.1:5514"; in |> where event.level == "error" |> out"#,
        r#"sink out into tcp "127.0.0.1:5515"; in |> out"#,
        r#"source in from tcp "127.0.0.1:5514" with codec = "string", framing = "octet", max_message_bytes = "64KiB", idle_timeout = "10m" end; in |> out"#,
        r#"sink out into tcp "127.0.0.1:5515" with addresses = ["127.0.0.1:5516"], strategy = "round_robin" end; in |> out"#,
        r#"sink out into tcp "127.0.0.1:5515" with mode = "listen" end; in |> out"#,
    ],
    build,
};

fn build(what: &Build<'_>) -> Result<Built, Wrong> {
    let settings = what.settings;
    let address = Address::parse(settings.text("address"), "address")?;
    let mut built = Built::default();
    if what.ends == Ends::Source {
        let reading = Reading::of_settings(cut(what)?, settings);
        let listens = settings.optional_text("mode") != Some("connect");
        let source =
            StreamSource { shape: shape(settings, address, listens)?, reading, meta: "tcp" };
        built.warnings.extend(source.shape.warnings(settings));
        built.source = Some(Arc::new(source));
    } else {
        let frames = match settings.optional_text("framing") {
            Some("octet") => Frames::Octet,
            Some(_) => Frames::Lines,
            None => Frames::AsEncoded,
        };
        let listens = settings.optional_text("mode") == Some("listen");
        let shape = shape(settings, address, listens)?;
        built.warnings.extend(shape.warnings(settings));
        built.sink = Some(sink_of(settings, shape, frames)?);
    }
    Ok(built)
}

/// How a program wants streams to be cut.
///
/// # Errors
/// `framing` and `preprocessors` do not go together.
pub fn cut(what: &Build<'_>) -> Result<Cut, Wrong> {
    let separates = matches!(
        what.preprocessors,
        [Preprocessor::Separate { .. }]
            | [Preprocessor::Separate { .. }, Preprocessor::RemoveEmpty]
    );
    match (what.framing_is_chosen, what.preprocessors) {
        (true, []) | (false, []) => Ok(Cut::Framed(what.framing)),
        (true, _) if separates => Ok(Cut::Framed(what.framing)),
        (true, _) => {
            let help = "let the last of the preprocessors separate the messages";
            Err(Wrong {
                setting: None,
                ..Wrong::at("address", "`framing` does not go with `preprocessors`", help)
            })
        }
        (false, chain) => Ok(Cut::Chained(chain.to_vec())),
    }
}

/// Who connects to whom, and how.
#[derive(Clone, Debug)]
pub enum Shape {
    /// This side listens.
    Listening {
        /// Where.
        address: Address,
        /// How connections are made safe.
        guard: Guard,
        /// Connections at the same time.
        connections_max: usize,
        /// When silent peers are asked whether they are there.
        keepalive: Option<std::time::Duration>,
    },
    /// This side connects.
    Connecting {
        /// To whom.
        address: Address,
        /// How.
        dialer: Dialer,
        /// And again after which waits.
        retry: Retry,
    },
}

impl Shape {
    fn address(&self) -> &Address {
        match self {
            Self::Listening { address, .. } | Self::Connecting { address, .. } => address,
        }
    }

    /// What is said about settings that weaken.
    #[must_use]
    pub fn warnings(&self, settings: &Settings) -> Vec<String> {
        let exposed = match self {
            Self::Listening { address, guard, .. } => {
                inbound::exposure(address, guard.tls.is_some())
            }
            Self::Connecting { .. } => None,
        };
        let unverified = settings.record("tls").and_then(|tls| tls.optional_flag("verify"));
        let unverified = (unverified == Some(false)).then(|| {
            format!(
                "`verify = false`: nobody checks who answers at {}; who sits in between can read and change \
                 everything",
                self.address()
            )
        });
        exposed.into_iter().chain(unverified).collect()
    }
}

/// Who connects to whom, by the settings.
///
/// # Errors
/// A file of `tls` that cannot be used.
pub fn shape(settings: &Settings, address: Address, listens: bool) -> Result<Shape, Wrong> {
    if !listens {
        let dialer = Dialer::of_settings(settings, false)?;
        let retry = Retry::of_settings(settings.record("retry"));
        return Ok(Shape::Connecting { address, dialer, retry });
    }
    let most = settings.optional_whole("max_connections");
    let most = most.and_then(|most| usize::try_from(most).ok());
    Ok(Shape::Listening {
        address,
        guard: Guard {
            tls: settings.record("tls").map(tls::Server::new).transpose()?,
            handshake_max: settings.optional_duration("handshake_timeout").unwrap_or(HANDSHAKE_MAX),
        },
        connections_max: most.unwrap_or(CONNECTIONS_MAX),
        keepalive: settings.optional_duration("keepalive").filter(|time| !time.is_zero()),
    })
}

/// Messages from streams over TCP.
#[derive(Clone, Debug)]
pub struct StreamSource {
    /// Who connects to whom.
    pub shape: Shape,
    /// How connections are read.
    pub reading: Reading,
    /// What the metadata of events is called.
    pub meta: &'static str,
}

impl OpenSource for StreamSource {
    fn open(&self, _: &[FileMark]) -> Result<Box<dyn Source>, Error> {
        Ok(Box::new(self.clone()))
    }
}

impl Source for StreamSource {
    fn name(&self) -> String {
        self.shape.address().to_string()
    }

    fn listens(&self) -> bool {
        matches!(self.shape, Shape::Listening { .. })
    }

    fn try_listen(&self) -> Result<(), Error> {
        match &self.shape {
            Shape::Listening { address, .. } => inbound::try_listen(address),
            _ => Ok(()),
        }
    }

    fn run(&mut self, feed: &Feed) -> Result<(), Error> {
        let Self { shape, reading, meta } = self.clone();
        feed.network.handle()?.block_on(async move {
            match shape {
                Shape::Listening { address, guard, connections_max, keepalive } => {
                    let listener = inbound::listen(&address).await?;
                    let shared = Arc::new((guard, reading, Notes::default()));
                    inbound::accept(listener, feed, connections_max, |stream, peer| {
                        prepare_tcp(&stream, keepalive);
                        serve(stream, peer, meta, Arc::clone(&shared), feed.clone())
                    })
                    .await;
                    Ok(())
                }
                Shape::Connecting { address, dialer, retry } => {
                    follow(Peer::Tcp(address), &dialer, retry, &reading, meta, feed).await
                }
            }
        })
    }
}

/// Takes the messages of one connection until it ends or the run stops.
async fn serve(
    stream: TcpStream,
    peer: SocketAddr,
    meta: &'static str,
    shared: Arc<(Guard, Reading, Notes)>,
    feed: Feed,
) {
    let (guard, reading, notes) = &*shared;
    let origin = origin(meta, peer, guard.tls.is_some());
    let Some((mut read, write)) = guard.admit(stream, peer, &feed, notes).await else { return };
    if take_messages(&mut read, reading, &origin, &feed, None).await == End::Closed {
        farewell(read, write).await;
    }
}

/// The metadata of a connection: `$tcp.peer.host`, `$tcp.peer.port`, `$tcp.tls`.
#[must_use]
pub fn origin(meta: &str, peer: SocketAddr, tls: bool) -> Arc<Origin> {
    let (host, port) = (peer.ip().to_canonical(), peer.port());
    let text = format!(
        "{{\"{meta}\":{{\"tls\":{tls},\"peer\":{{\"host\":\"{host}\",\"port\":{port}}}}}}}"
    );
    Origin::with_meta(peer.to_string(), text)
}

/// Connects, takes messages until the peer ends, and connects again.
///
/// # Errors
/// The attempts are used up.
pub async fn follow(
    peer: Peer,
    dialer: &Dialer,
    mut retry: Retry,
    reading: &Reading,
    meta: &str,
    feed: &Feed,
) -> Result<(), Error> {
    let (notes, stop) = (Notes::default(), feed.stop.asked());
    tokio::pin!(stop);
    let place = peer.to_string();
    let (host, port) = place.rsplit_once(':').unwrap_or((&place, "0"));
    let port: u16 = port.parse().unwrap_or_default();
    let text = format!(
        "{{\"{meta}\":{{\"tls\":{},\"peer\":{{\"host\":{host:?},\"port\":{port}}}}}}}",
        dialer.tls.is_some()
    );
    let origin = Origin::with_meta(place.clone(), text);
    loop {
        let connected = tokio::select! {
            connected = dialer.connect(&peer) => connected,
            () = &mut stop => return Ok(()),
        };
        let reason = match connected {
            Ok((mut read, write)) => {
                retry.succeed();
                take_messages(&mut read, reading, &origin, feed, None).await;
                if feed.stop.is_asked() || feed.queue.is_aborted() {
                    farewell(read, write).await;
                    return Ok(());
                }
                "the connection has ended".to_string()
            }
            Err(error) => error.to_string(),
        };
        let Some(wait) = retry.fail(retry::chance()) else {
            let help = "raise `attempts` of `retry`, or start the program that listens there";
            return Err(Error::input(place, reason, help));
        };
        notes.note(feed, "connection", &format!("{place}: {reason}; it is tried again"));
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            () = &mut stop => return Ok(()),
        }
    }
}

/// The sink that the settings describe.
///
/// # Errors
/// An address that is none.
pub fn sink_of(settings: &Settings, shape: Shape, frames: Frames) -> Result<BuiltSink, Wrong> {
    let open = match shape {
        Shape::Listening { address, guard, connections_max, .. } => {
            StreamSink::Listening(Broadcast { address, tls: guard.tls, connections_max, frames })
        }
        Shape::Connecting { address, dialer, retry } => {
            let mut peers = vec![Peer::Tcp(address)];
            for text in settings.texts("addresses") {
                peers.push(Peer::Tcp(Address::parse(text, "addresses")?));
            }
            let strategy = Strategy::of_settings(settings, peers.len())?;
            StreamSink::Connecting { dialer, strategy, peers, retry, frames }
        }
    };
    let tells_events_apart = frames.needs_events();
    Ok(BuiltSink { tells_events_apart, ..BuiltSink::of_bytes(open) })
}

/// A sink that writes streams.
#[derive(Clone, Debug)]
pub enum StreamSink {
    /// To all who connect.
    Listening(Broadcast),
    /// To one of the peers.
    Connecting {
        /// How to connect.
        dialer: Dialer,
        /// Which of them.
        strategy: Strategy,
        /// To whom.
        peers: Vec<Peer>,
        /// And again after which waits.
        retry: Retry,
        /// What tells events apart.
        frames: Frames,
    },
}

impl OpenSink for StreamSink {
    fn open(&self, _: bool) -> Result<Box<dyn Sink>, Error> {
        let this = self.clone();
        let work = move |outlet: Arc<Outlet>, desk: Desk| -> Task {
            match this {
                Self::Listening(broadcast) => Box::pin(broadcast::write(broadcast, outlet, desk)),
                Self::Connecting { dialer, strategy, peers, retry, frames } => {
                    let lines = Lines::new(dialer, strategy, peers, &retry);
                    Box::pin(sending::write(lines, frames, outlet, desk))
                }
            }
        };
        Ok(Box::new(TaskSink::new(work)))
    }
}
