//! `relp`: syslog messages that are acknowledged one by one (RELP 1, as rsyslog's `imrelp` and `omrelp`
//! speak it).
//!
//! Invariant: a message is acknowledged when all that stems from it is where it should be, and a sink's event
//! is confirmed when the peer has acknowledged it.

mod frame;
mod client;
mod server;

use std::sync::Arc;

use temblor_declare::{
    Build, Built, BuiltSink, CodecUse, Connector, Ends, Notation, Setting, Takes, Wrong,
};
use temblor_runtime::outlet::Feedback;

use crate::address::Address;
use crate::connecting::{ADDRESSES, CONNECT_TIMEOUT, Dialer, Peer};
use crate::cutter::Cut;
use crate::inbound::{HANDSHAKE, KEEPALIVE, MAX_CONNECTIONS};
use crate::retry::Retry;
use crate::stream::{IDLE, MESSAGE_BYTES, Reading};
use crate::tcp::{self, RETRY_RECORD, Shape, TLS_RECORD};
use temblor_runtime::framing::Framing;

/// The port that rsyslog's documentation uses.
const PORT: u16 = 2514;
/// Messages that a sink has under way without an answer, unless the program sets it.
const WINDOW: usize = 128;

/// Acknowledged syslog.
pub static RELP: Connector = Connector {
    kind: "relp",
    notation: Notation::Temblor,
    doc: "Syslog messages over RELP, the acknowledged protocol of rsyslog. A source acknowledges a message \
          when all that stems from it has got where it should; a sink sends again what was not acknowledged. \
          Nothing is lost; after a broken connection messages may come twice.",
    ends: Ends::Both,
    address: Some("\"HOST:PORT\": where to listen, or whom to connect to"),
    source: &[TLS_RECORD, MAX_CONNECTIONS, MESSAGE_BYTES, IDLE, HANDSHAKE, KEEPALIVE],
    sink: &[
        TLS_RECORD,
        ADDRESSES,
        Setting::new(
            "window",
            Takes::Whole { least: 1, most: 100_000 },
            "Messages that may be under way without an answer.",
        )
        .or("128"),
        KEEPALIVE,
        CONNECT_TIMEOUT,
        RETRY_RECORD,
    ],
    codec: CodecUse::Default("syslog-devices"),
    writes_lines: true,
    gives: &[],
    meta: &["relp"],
    examples: &[
        r#"source in from relp "127.0.0.1:2514"; in |> out"#,
        r#"sink out into relp "127.0.0.1:2515" with window = 1000 end; in |> out"#,
    ],
    build,
};

fn build(what: &Build<'_>) -> Result<Built, Wrong> {
    let settings = what.settings;
    let parse = |text: &str, setting| Address::parse_with_port(text, Some(PORT), setting);
    let address = parse(settings.text("address"), "address")?;
    let mut built = Built::default();
    if what.ends == Ends::Source {
        let shape = tcp::shape(settings, address.clone(), true)?;
        built.warnings.extend(shape.warnings(settings));
        let Shape::Listening { guard, connections_max, keepalive, .. } = shape else {
            return Err(Wrong::at("address", "a source of RELP listens", ""));
        };
        let reading = Reading::of_settings(Cut::Framed(Framing::Lines), settings);
        let source = server::Server { address, guard, connections_max, keepalive, reading };
        built.source = Some(Arc::new(source));
    } else {
        let mut peers = vec![Peer::Tcp(address.clone())];
        for text in settings.texts("addresses") {
            peers.push(Peer::Tcp(parse(text, "addresses")?));
        }
        let dialer = Dialer::of_settings(settings, false)?;
        let retry = Retry::of_settings(settings.record("retry"));
        let shape = Shape::Connecting { address, dialer: dialer.clone(), retry: retry.clone() };
        built.warnings.extend(shape.warnings(settings));
        let window = settings.optional_whole("window").and_then(|one| usize::try_from(one).ok());
        let errors = Feedback::new();
        let open = client::Client {
            peers,
            dialer,
            retry,
            window: window.unwrap_or(WINDOW),
            errors: Arc::clone(&errors),
        };
        built.sink = Some(BuiltSink::of_events(open, errors));
    }
    Ok(built)
}
