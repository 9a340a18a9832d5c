//! `websocket` of `.tmb` files, and tremor's `ws_server` and `ws_client`.
//!
//! Invariant: WebSocket has no acknowledgement: what was under way when a connection breaks may be lost, and
//! what a sink has written counts as delivered.

use std::sync::Arc;
use std::time::Duration;

use temblor_declare::{
    Build, Built, BuiltSink, CodecUse, Connector, Ends, Notation, Setting, Takes, Wrong,
};
use temblor_runtime::outlet::Feedback;
use temblor_wire::address::Address;
use temblor_wire::inbound::CONNECTIONS_MAX;
use temblor_wire::retry::{RETRY, Retry};
use temblor_wire::tls::TLS;

use crate::audience::Audience;
use crate::bounds::MAX_CONNECTIONS;
use crate::hearing::{Common, Connecting, Listening};
use crate::safe::Safe;
use crate::server::warning;
use crate::target::Target;
use crate::telling::{Form, Place, Writing};
use crate::whom::Whom;

const MAX_MESSAGE: Setting = Setting::new(
    "max_message",
    Takes::Bytes,
    "Bytes of a message; a bigger one ends its connection.",
)
.or("16MiB");
const IDLE: Setting = Setting::new(
    "idle_timeout",
    Takes::Duration,
    "A peer that sends nothing for so long, and answers no ping, is gone.",
)
.or("60s");

/// Messages over WebSocket.
pub(crate) static WEBSOCKET: Connector = Connector {
    kind: "websocket",
    notation: Notation::Temblor,
    doc: "Messages over WebSocket; each is one event. A source listens, or connects when its address begins with \
          ws:// or wss://. A sink connects, or listens without a scheme and sends each message to all who have \
          connected, or to nobody; with the name of a source of this kind as its address (`reply:NAME`) it writes \
          to the connection that an event came by, or to all. WebSocket has no acknowledgement: what was \
          under way when a connection breaks may be lost.",
    ends: Ends::Both,
    address: Some(
        "\"HOST:PORT\" to listen; \"ws://HOST:PORT/PATH\" to connect; \"reply:SOURCE\" to answer",
    ),
    source: &[
        Setting::new(
            "tls",
            Takes::Record(TLS),
            "Makes it safe: a listener needs `cert` and `key`.",
        ),
        MAX_CONNECTIONS,
        MAX_MESSAGE,
        IDLE,
        Setting::new("retry", Takes::Record(RETRY), "The waits between attempts to connect."),
    ],
    sink: &[
        Setting::new("binary", Takes::PerEvent, "`true` for a binary message."),
        Setting::new(
            "connection",
            Takes::Hidden("$websocket.connection"),
            "The connection of an answer.",
        ),
        Setting::new(
            "tls",
            Takes::Record(TLS),
            "How the server is checked; a sink that listens needs `cert` and `key`.",
        ),
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
        r#"sink dashboards into websocket "127.0.0.1:8082"; in |> dashboards"#,
    ],
    build,
};

/// A server of messages.
pub(crate) static WS_SERVER: Connector = Connector {
    kind: "ws_server",
    notation: Notation::Tremor,
    doc: "Messages over WebSocket. An event that goes to it is sent to the connection that it came by \
          (`$ws_server.connection`, else `$ws_server.peer`), else to all.",
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
pub(crate) static WS_CLIENT: Connector = Connector {
    kind: "ws_client",
    notation: Notation::Tremor,
    doc: "Messages over WebSocket, both ways on one connection.",
    ends: Ends::Both,
    address: None,
    source: &[
        Setting::new("url", Takes::Text, "Whom to connect to.").required(),
        Setting::new(
            "tls",
            Takes::Any,
            "`true`, or a record with `cafile`, `domain`, `cert`, `key`.",
        ),
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
        let mut warnings = Vec::new();
        let place = match address.strip_prefix("reply:") {
            Some(source) => Place::Reply(Arc::from(source)),
            None if address.contains("://") => {
                Place::Connection(Whom::parse(address, settings.record("tls"))?)
            }
            None => {
                let address = Address::parse(address, "address")?;
                let tls = Safe::of_settings(settings.record("tls"), &["http/1.1"])?;
                warnings.extend(warning(&address, tls.is_some(), false));
                let connections_max = CONNECTIONS_MAX;
                Place::Audience(Audience { address, tls, connections_max })
            }
        };
        let writing = Writing { place, form: Form::Own, retry, errors: Arc::clone(&errors) };
        let sink = Some(BuiltSink::of_events(writing, errors));
        return Ok(Built { sink, source: None, warnings });
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
    let tls = Safe::of_settings(settings.record("tls"), &["http/1.1"])?;
    let warnings = warning(&address, tls.is_some(), false).into_iter().collect();
    let connections_max = most.map_or(CONNECTIONS_MAX, |most| most as usize);
    let source =
        Arc::new(Listening { common, address, tls, connections_max, notes: Arc::default() });
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
    let tls = Safe::of_settings(tls.as_ref(), &["http/1.1"])?;
    let warnings = warning(&target.address, tls.is_some(), false).into_iter().collect();
    let common = common_of_tremor(what, "ws_server");
    let (address, connections_max) = (target.address, CONNECTIONS_MAX);
    let source =
        Arc::new(Listening { common, address, tls, connections_max, notes: Arc::default() });
    Ok(Built { source: Some(source), sink: Some(tremor_sink(what)), warnings })
}

fn build_client(what: &Build<'_>) -> Result<Built, Wrong> {
    let tls = crate::tremor::tls(what.settings)?;
    let whom = Whom::parse(what.settings.text("url"), tls.as_ref())?;
    let common = common_of_tremor(what, "ws_client");
    let retry = Retry::of_settings(what.settings.record("reconnect"));
    let source = Arc::new(Connecting { common, whom, retry });
    Ok(Built { source: Some(source), sink: Some(tremor_sink(what)), warnings: Vec::new() })
}
