//! `websocket` of `.tmb` files, and tremor's `ws_server` and `ws_client`.
//!
//! Invariant: WebSocket has no acknowledgement: what was under way when a connection breaks may be lost, and
//! what a sink has written counts as delivered.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use temblor_declare::{
    Build, Built, BuiltSink, CodecUse, Connector, Ends, Notation, Setting, Takes, Wrong,
};
use temblor_runtime::batch::Origin;
use temblor_runtime::checkpoint::FileMark;
use temblor_runtime::error::Error;
use temblor_runtime::outlet::{Desk, Feedback, Outlet, Refusal};
use temblor_runtime::sink::{OpenSink, Sink};
use temblor_runtime::source::feed::Feed;
use temblor_runtime::source::{OpenSource, Source};
use temblor_wire::address::Address;
use temblor_wire::inbound::{CONNECTIONS_MAX, accept, listen};
use temblor_wire::outbound::{Task, TaskSink};
use temblor_wire::retry::{self, RETRY, Retry};
use temblor_wire::tls::{self, TLS};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{accept_hdr_async_with_config, client_async_with_config};

use crate::bounds::MAX_CONNECTIONS;
use crate::json::{push_entry, push_key};
use crate::server::{acceptor, warning};
use crate::talk::{self, Io, Origins, Socket, enter, talk};
use crate::target::Target;

/// How long a handshake may take.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

const MAX_MESSAGE: Setting =
    Setting::new("max_message", Takes::Bytes, "Bytes of a message; a bigger one ends its connection.").or("16MiB");
const IDLE: Setting = Setting::new(
    "idle_timeout",
    Takes::Duration,
    "A peer that sends nothing for so long, and answers no ping, is gone.",
)
.or("60s");

/// Messages over WebSocket.
pub static WEBSOCKET: Connector = Connector {
    kind: "websocket",
    notation: Notation::Temblor,
    doc: "Messages over WebSocket; each is one event. A source listens, or connects when its address begins with \
          ws:// or wss://. A sink connects; with the name of a source of this kind as its address (`reply:NAME`) it \
          writes to the connection that an event came by, or to all. WebSocket has no acknowledgement: what was \
          under way when a connection breaks may be lost.",
    ends: Ends::Both,
    address: Some("\"HOST:PORT\" to listen; \"ws://HOST:PORT/PATH\" to connect; \"reply:SOURCE\" to answer"),
    source: &[
        Setting::new("tls", Takes::Record(TLS), "Makes it safe: a listener needs `cert` and `key`."),
        MAX_CONNECTIONS,
        MAX_MESSAGE,
        IDLE,
        Setting::new("retry", Takes::Record(RETRY), "The waits between attempts to connect."),
    ],
    sink: &[
        Setting::new("binary", Takes::PerEvent, "`true` for a binary message."),
        Setting::new("stream", Takes::Hidden("$websocket.stream"), "The connection of an answer."),
        Setting::new("tls", Takes::Record(TLS), "How the server is checked."),
        Setting::new("retry", Takes::Record(RETRY), "The waits between attempts to connect."),
    ],
    codec: CodecUse::Default("json"),
    writes_lines: false,
    gives: &[],
    meta: &["websocket"],
    examples: &[
        r#"source in from websocket "127.0.0.1:8081"; in |> out"#,
        r#"source in from websocket "127.0.0.1:8081";
sink back into websocket "reply:in";
in |> set event.seen = true |> back"#,
    ],
    build,
};

/// A server of messages.
pub static WS_SERVER: Connector = Connector {
    kind: "ws_server",
    notation: Notation::Tremor,
    doc: "Messages over WebSocket. An event that goes to it is sent to the connection that it came by \
          (`$ws_server.stream`, else `$ws_server.peer`), else to all.",
    ends: Ends::Both,
    address: None,
    source: &[
        Setting::new("url", Takes::Text, "Where to listen.").required(),
        Setting::new("tls", Takes::Any, "A record with `cert` and `key`."),
        Setting::new("socket_options", Takes::Any, "Taken and not used."),
        Setting::new("backlog", Takes::Any, "Taken and not used."),
        Setting::new("ws_server", Takes::Hidden("$ws_server"), "The connection of an answer."),
    ],
    sink: &[Setting::new("ws_server", Takes::Hidden("$ws_server"), "The connection of an answer.")],
    codec: CodecUse::Required,
    writes_lines: false,
    gives: &[],
    meta: &["ws_server"],
    examples: &[],
    build: build_server,
};

/// A client of messages.
pub static WS_CLIENT: Connector = Connector {
    kind: "ws_client",
    notation: Notation::Tremor,
    doc: "Messages over WebSocket, both ways on one connection.",
    ends: Ends::Both,
    address: None,
    source: &[
        Setting::new("url", Takes::Text, "Whom to connect to.").required(),
        Setting::new("tls", Takes::Any, "`true`, or a record with `cafile`, `domain`, `cert`, `key`."),
        Setting::new("socket_options", Takes::Any, "Taken and not used."),
        Setting::new("ws_client", Takes::Hidden("$ws_client"), "The form of a message."),
    ],
    sink: &[Setting::new("ws_client", Takes::Hidden("$ws_client"), "The form of a message.")],
    codec: CodecUse::Required,
    writes_lines: false,
    gives: &[],
    meta: &["ws_client"],
    examples: &[],
    build: build_client,
};

fn build(what: &Build<'_>) -> Result<Built, Wrong> {
    let (settings, address) = (what.settings, what.settings.text("address"));
    let connects = address.starts_with("ws://") || address.starts_with("wss://");
    let retry = Retry::of_settings(settings.record("retry"));
    if what.ends == Ends::Sink {
        let errors = Feedback::new();
        let (place, form) = match address.strip_prefix("reply:") {
            Some(source) => (Place::Reply(Arc::from(source)), Form::Own),
            None => (Place::Connection(Whom::parse(address, settings.record("tls"))?), Form::Own),
        };
        let writing = Writing { place, form, retry, errors: Arc::clone(&errors) };
        return Ok(Built { sink: Some(BuiltSink::of_events(writing, errors)), ..Built::default() });
    }
    let most = settings.optional_whole("max_connections");
    let common = Common {
        name: Arc::from(what.name),
        meta: "websocket",
        message_bytes_max: settings.size("max_message").min(u32::MAX as usize),
        idle_max: settings.duration("idle_timeout"),
    };
    if connects {
        let whom = Whom::parse(address, settings.record("tls"))?;
        let source = Arc::new(Connecting { common, whom, retry });
        return Ok(Built { source: Some(source), ..Built::default() });
    }
    let address = Address::parse(address, "address")?;
    let tls = acceptor(settings.record("tls"), &["http/1.1"])?;
    let warnings = warning(&address, tls.is_some(), false).into_iter().collect();
    let connections_max = most.map_or(CONNECTIONS_MAX, |most| most as usize);
    let source = Arc::new(Listening { common, address, tls, connections_max });
    Ok(Built { source: Some(source), sink: None, warnings })
}

fn common_of_tremor(what: &Build<'_>, meta: &'static str) -> Common {
    let (message_bytes_max, idle_max) = (16 << 20, Duration::from_secs(60));
    Common { name: Arc::from(what.name), meta, message_bytes_max, idle_max }
}

fn tremor_sink(what: &Build<'_>) -> BuiltSink {
    let errors = Feedback::new();
    let writing = Writing {
        place: Place::Reply(Arc::from(what.name)),
        form: Form::Tremor,
        retry: Retry::default(),
        errors: Arc::clone(&errors),
    };
    BuiltSink::of_events(writing, errors)
}

fn build_server(what: &Build<'_>) -> Result<Built, Wrong> {
    let target = Target::parse(what.settings.text("url"), None, "url")?;
    let tls = crate::tremor::tls(what.settings)?;
    let tls = acceptor(tls.as_ref(), &["http/1.1"])?;
    let warnings = warning(&target.address, tls.is_some(), false).into_iter().collect();
    let common = common_of_tremor(what, "ws_server");
    let (address, connections_max) = (target.address, CONNECTIONS_MAX);
    let source = Arc::new(Listening { common, address, tls, connections_max });
    Ok(Built { source: Some(source), sink: Some(tremor_sink(what)), warnings })
}

fn build_client(what: &Build<'_>) -> Result<Built, Wrong> {
    let tls = crate::tremor::tls(what.settings)?;
    let whom = Whom::parse(what.settings.text("url"), tls.as_ref())?;
    let common = common_of_tremor(what, "ws_client");
    let source = Arc::new(Connecting { common, whom, retry: Retry::default() });
    Ok(Built { source: Some(source), sink: Some(tremor_sink(what)), warnings: Vec::new() })
}

/// What both kinds of sources have.
#[derive(Clone, Debug)]
struct Common {
    name: Arc<str>,
    /// The field of the metadata.
    meta: &'static str,
    message_bytes_max: usize,
    idle_max: Duration,
}

impl Common {
    /// Serves a connection until it ends.
    async fn serve(&self, socket: Socket, peer: SocketAddr, path: &str, safe: bool, feed: &Feed) {
        let mut place = enter(&self.name, peer.to_string());
        let origin = |binary: bool| {
            let mut meta = "{".to_string();
            push_key(self.meta, &mut meta);
            meta.push('{');
            push_entry("path", path, &mut meta);
            meta.push_str(&format!(
                ",\"stream\":{},\"binary\":{binary},\"tls\":{safe},\"peer\":{{\"host\":\"{}\",\"port\":{}}}}}}}",
                place.stream,
                peer.ip(),
                peer.port()
            ));
            Origin::with_meta(peer.to_string(), meta)
        };
        let origins = Origins { text: origin(false), binary: origin(true) };
        talk(socket, &mut place, &origins, self.idle_max, feed).await;
    }
}

#[derive(Clone)]
struct Listening {
    common: Common,
    address: Address,
    tls: Option<TlsAcceptor>,
    connections_max: usize,
}

impl std::fmt::Debug for Listening {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Listening({})", self.address)
    }
}

impl OpenSource for Listening {
    fn open(&self, _: &[FileMark]) -> Result<Box<dyn Source>, Error> {
        Ok(Box::new(self.clone()))
    }
}

impl Source for Listening {
    fn name(&self) -> String {
        self.address.to_string()
    }

    fn run(&mut self, feed: &Feed) -> Result<(), Error> {
        feed.network.handle()?.block_on(async {
            let listener = listen(&self.address).await?;
            accept(listener, feed, self.connections_max, |stream, peer| {
                admit(stream, peer, self.clone(), feed.clone())
            })
            .await;
            Ok(())
        })
    }
}

/// Shakes hands with a client, and serves it.
async fn admit(stream: TcpStream, peer: SocketAddr, listening: Listening, feed: Feed) {
    let mut path = String::new();
    let shaking = async {
        let _ = stream.set_nodelay(true);
        let stream: Box<dyn Io> = match &listening.tls {
            Some(acceptor) => Box::new(acceptor.accept(stream).await.map_err(|error| error.to_string())?),
            None => Box::new(stream),
        };
        let config = talk::config(listening.common.message_bytes_max);
        #[expect(clippy::result_large_err, reason = "the library wants its own kind of answer")]
        let look = |request: &tokio_tungstenite::tungstenite::handshake::server::Request,
                    response: tokio_tungstenite::tungstenite::handshake::server::Response| {
            path = request.uri().path().to_string();
            Ok(response)
        };
        let shaken = accept_hdr_async_with_config(stream, look, Some(config)).await;
        shaken.map_err(|error| error.to_string())
    };
    let shaken = tokio::select! {
        shaken = tokio::time::timeout(HANDSHAKE_TIMEOUT, shaking) => shaken,
        () = feed.stop.asked() => return,
    };
    match shaken {
        Ok(Ok(socket)) => {
            let safe = listening.tls.is_some();
            listening.common.serve(socket, peer, &path, safe, &feed).await;
        }
        Ok(Err(reason)) => {
            feed.stats.add_dropped("websocket_handshake_failed", 1);
            let reason = format!("{peer} does not speak WebSocket: {reason}");
            let help = "the client must ask for an upgrade (RFC 6455)";
            feed.trouble(Error::input(listening.address.to_string(), reason, help));
        }
        Err(_) => feed.stats.add_dropped("websocket_handshake_too_slow", 1),
    }
}

/// Whom to connect to.
#[derive(Clone)]
struct Whom {
    target: Target,
    tls: Option<(tokio_rustls::TlsConnector, ServerName<'static>)>,
}

impl std::fmt::Debug for Whom {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Whom({})", self.target)
    }
}

impl Whom {
    fn parse(text: &str, settings: Option<&temblor_declare::Settings>) -> Result<Self, Wrong> {
        let target = Target::parse(text, None, "address")?;
        let none = temblor_declare::Settings::default();
        let given = settings.unwrap_or(&none);
        let tls = match target.scheme {
            "https" => Some((tls::connector(given)?, tls::server_name(given, &target.address.host)?)),
            _ => None,
        };
        Ok(Self { target, tls })
    }

    /// Connects, and shakes hands.
    async fn connect(&self, message_bytes_max: usize) -> Result<(Socket, SocketAddr), String> {
        let connecting = async {
            let address = &self.target.address;
            let stream = TcpStream::connect((address.host.as_str(), address.port)).await;
            let stream = stream.map_err(|error| error.to_string())?;
            let peer = stream.peer_addr().map_err(|error| error.to_string())?;
            let _ = stream.set_nodelay(true);
            let stream: Box<dyn Io> = match &self.tls {
                Some((connector, name)) => {
                    let safe = connector.connect(name.clone(), stream).await;
                    Box::new(safe.map_err(|error| error.to_string())?)
                }
                None => Box::new(stream),
            };
            let scheme = if self.tls.is_some() { "wss" } else { "ws" };
            let url = format!("{scheme}://{address}{}", self.target.path);
            let config = talk::config(message_bytes_max);
            let shaken = client_async_with_config(url, stream, Some(config)).await;
            shaken.map(|(socket, _)| (socket, peer)).map_err(|error| error.to_string())
        };
        let connected = tokio::time::timeout(HANDSHAKE_TIMEOUT, connecting).await;
        connected.unwrap_or_else(|_| Err(format!("no answer within {HANDSHAKE_TIMEOUT:?}")))
    }
}

/// A source that connects.
#[derive(Clone, Debug)]
struct Connecting {
    common: Common,
    whom: Whom,
    retry: Retry,
}

impl OpenSource for Connecting {
    fn open(&self, _: &[FileMark]) -> Result<Box<dyn Source>, Error> {
        Ok(Box::new(self.clone()))
    }
}

impl Source for Connecting {
    fn name(&self) -> String {
        self.whom.target.to_string()
    }

    fn run(&mut self, feed: &Feed) -> Result<(), Error> {
        feed.network.handle()?.block_on(async {
            while !feed.stop.is_asked() {
                let reason = match self.whom.connect(self.common.message_bytes_max).await {
                    Ok((socket, peer)) => {
                        self.retry.succeed();
                        let (path, safe) = (&self.whom.target.path, self.whom.tls.is_some());
                        self.common.serve(socket, peer, path, safe, feed).await;
                        "the connection has ended".to_string()
                    }
                    Err(reason) => reason,
                };
                if feed.stop.is_asked() {
                    break;
                }
                let help = "start the server that listens there";
                let error = Error::input(self.name(), reason, help);
                let Some(wait) = self.retry.fail(retry::chance()) else { return Err(error) };
                feed.trouble(error);
                tokio::select! {
                    () = tokio::time::sleep(wait) => {}
                    () = feed.stop.asked() => break,
                }
            }
            Ok(())
        })
    }
}

/// Where messages go.
#[derive(Clone, Debug)]
enum Place {
    /// To connections of this source.
    Reply(Arc<str>),
    /// To a connection of our own.
    Connection(Whom),
}

/// How an event says what kind of message it is, and for whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// Attributes `binary`, `$websocket.stream`.
    Own,
    /// One attribute: the record of the connector's own metadata.
    Tremor,
}

/// A sink of messages.
#[derive(Clone, Debug)]
struct Writing {
    place: Place,
    form: Form,
    retry: Retry,
    errors: Arc<Feedback>,
}

impl OpenSink for Writing {
    fn open(&self, _: bool) -> Result<Box<dyn Sink>, Error> {
        let writing = self.clone();
        let work = move |outlet, desk| -> Task {
            match &writing.place {
                Place::Reply(source) => {
                    let source = Arc::clone(source);
                    Box::pin(writing.reply(source, outlet))
                }
                Place::Connection(whom) => {
                    let whom = whom.clone();
                    Box::pin(writing.write(whom, outlet, desk))
                }
            }
        };
        Ok(Box::new(TaskSink::new(work)))
    }
}

/// What an event says of its message.
#[derive(Default)]
struct Says {
    binary: bool,
    stream: Option<u64>,
    peer: Option<String>,
}

impl Writing {
    fn says(&self, parcel: &temblor_runtime::outlet::Parcel, event: usize) -> Says {
        if self.form == Form::Own {
            let binary = parcel.attribute(event, 0) == Some("true");
            let stream = parcel.attribute(event, 1).and_then(|text| text.parse().ok());
            return Says { binary, stream, peer: None };
        }
        let meta = parcel.attribute(event, 0).and_then(|json| serde_json::from_str(json).ok());
        let meta: serde_json::Value = meta.unwrap_or_default();
        let peer = meta.get("peer").and_then(|peer| {
            let address = Address {
                host: peer.get("host")?.as_str()?.to_string(),
                port: u16::try_from(peer.get("port")?.as_u64()?).ok()?,
            };
            Some(address.to_string())
        });
        Says {
            binary: meta.get("binary").and_then(serde_json::Value::as_bool).unwrap_or(false),
            stream: meta.get("stream").and_then(serde_json::Value::as_u64),
            peer,
        }
    }

    async fn reply(self, source: Arc<str>, outlet: Arc<Outlet>) {
        while let Some(parcel) = outlet.take().await {
            let mut refused = Vec::new();
            for event in 0..parcel.events().len() {
                let says = self.says(&parcel, event);
                let message = talk::message(parcel.event(event), says.binary);
                let sent = talk::send(&source, says.stream, says.peer.as_deref(), message).await;
                if let Err(reason) = sent {
                    refused.push(Refusal { event, reason, details: String::new() });
                }
            }
            parcel.confirm_except(&refused, &self.errors).await;
        }
    }

    /// Writes parcels, and connects anew when the connection has broken: the parcel that was being written
    /// is written again.
    async fn write(mut self, whom: Whom, outlet: Arc<Outlet>, desk: Desk) {
        use futures_util::{SinkExt, StreamExt};
        let mut socket: Option<Socket> = None;
        loop {
            // What the server sends is read, so that its pings are answered, and left out.
            let parcel = tokio::select! {
                parcel = outlet.take() => parcel,
                came = next(&mut socket) => {
                    if !came {
                        socket = None;
                    }
                    continue;
                }
            };
            let Some(parcel) = parcel else { break };
            while let Err(reason) = self.write_one(&whom, &mut socket, &parcel).await {
                socket = None;
                let error = Error::output(whom.target.to_string(), reason, "start the server that listens there");
                match self.retry.fail(retry::chance()) {
                    Some(wait) => {
                        desk.trouble(error);
                        tokio::time::sleep(wait).await;
                    }
                    None => return parcel.fail(error),
                }
            }
            self.retry.succeed();
            parcel.confirm();
        }
        if let Some(mut socket) = socket {
            let _ = socket.send(Message::Close(None)).await;
            let drained = async { while let Some(Ok(_)) = socket.next().await {} };
            let _ = tokio::time::timeout(HANDSHAKE_TIMEOUT, drained).await;
        }
    }

    async fn write_one(
        &self,
        whom: &Whom,
        socket: &mut Option<Socket>,
        parcel: &temblor_runtime::outlet::Parcel,
    ) -> Result<(), String> {
        use futures_util::SinkExt;
        if socket.is_none() {
            *socket = Some(whom.connect(16 << 20).await?.0);
        }
        let socket = socket.as_mut().expect("it was connected just now");
        for event in 0..parcel.events().len() {
            let binary = self.says(parcel, event).binary;
            let message = talk::message(parcel.event(event), binary);
            socket.feed(message).await.map_err(|error| error.to_string())?;
        }
        socket.flush().await.map_err(|error| error.to_string())
    }
}

/// Reads one message; false when the connection has ended. Never, when there is none.
async fn next(socket: &mut Option<Socket>) -> bool {
    use futures_util::StreamExt;
    match socket {
        Some(socket) => matches!(socket.next().await, Some(Ok(_))),
        None => std::future::pending().await,
    }
}
