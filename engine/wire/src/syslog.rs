//! `syslog`: messages of RFC 3164 and RFC 5424 over TCP, TLS (RFC 5425), UDP (RFC 5426) and sockets of the
//! Unix domain.
//!
//! Invariant: what a sender frames is seen from how its connection begins; nobody has to say it.

use std::sync::Arc;

use temblor_declare::{
    Build, Built, BuiltSink, CodecUse, Connector, Ends, Notation, Setting, Takes, Wrong,
};
use temblor_runtime::framing::Framing;
use temblor_runtime::outlet::Feedback;

use crate::address::Address;
use crate::connecting::{ADDRESSES, CONNECT_TIMEOUT, Dialer, QUORUM, STRATEGY};
use crate::cutter::Cut;
use crate::inbound::{HANDSHAKE, KEEPALIVE, MAX_CONNECTIONS, exposure};
use crate::retry::Retry;
use crate::sending::Frames;
use crate::stream::{IDLE, MESSAGE_BYTES, Reading};
use crate::tcp::{self, RETRY_RECORD, Shape, StreamSource, TLS_RECORD};
use crate::udp::{self, DatagramSink, DatagramSource, RECEIVE_BUFFER};
use crate::unix::{self, PERMISSIONS};

/// The port of syslog over TCP and UDP.
const PORT: u16 = 514;
/// The port of syslog over TLS (RFC 5425, section 4.1).
const PORT_TLS: u16 = 6514;
/// What the kernel is asked to keep of datagrams, unless the program sets it.
const RECEIVE_BYTES: usize = 8 << 20;

const FRAMING: Setting = Setting::new(
    "framing",
    Takes::Word(&["lines", "octet"]),
    "What tells messages of a stream apart: a newline, or the length in front (RFC 6587). TLS has the length \
     when it is not set (RFC 5425), TCP and Unix sockets have newlines.",
);

/// Messages of syslog.
pub static SYSLOG: Connector = Connector {
    kind: "syslog",
    notation: Notation::Temblor,
    doc: "Messages of syslog. A source takes RFC 3164, RFC 5424 and what devices send instead of them; over \
          streams it sees for each connection whether messages are counted (RFC 6587) or lines. A sink writes \
          RFC 5424, or RFC 3164 when the event's `protocol` says so. Syslog has no acknowledgement: what was \
          under way when a connection breaks may be lost; over UDP what the kernel has no room for is counted \
          as dropped (`udp_kernel`). `relp` is acknowledged.",
    ends: Ends::Both,
    address: Some(
        "\"tcp://HOST:PORT\", \"tls://…\", \"udp://…\", \"unix://PATH\" or \"unix-dgram://PATH\"",
    ),
    source: &[
        TLS_RECORD,
        MAX_CONNECTIONS,
        MESSAGE_BYTES,
        IDLE,
        HANDSHAKE,
        KEEPALIVE,
        RECEIVE_BUFFER,
        PERMISSIONS,
    ],
    sink: &[
        TLS_RECORD,
        FRAMING,
        ADDRESSES,
        STRATEGY,
        QUORUM,
        KEEPALIVE,
        CONNECT_TIMEOUT,
        RETRY_RECORD,
    ],
    codec: CodecUse::Default("syslog-devices"),
    writes_lines: true,
    gives: &[],
    meta: &["syslog"],
    examples: &[
        r#"source in from syslog "udp://127.0.0.1:5514"; in |> where event.severity == "err" |> out"#,
        r#"source in from syslog "tcp://127.0.0.1:5514" with max_message_bytes = "64KiB" end; in |> out"#,
        r#"sink out into syslog "tcp://127.0.0.1:5515" with framing = "octet" end; in |> out"#,
    ],
    build,
};

/// What carries the messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Carrier {
    Tcp,
    Tls,
    Udp,
    Unix,
    UnixDatagram,
}

/// The scheme of an address, and what stands behind it.
fn carrier(text: &str) -> Result<(Carrier, &str), Wrong> {
    const SCHEMES: [(&str, Carrier); 5] = [
        ("tcp", Carrier::Tcp),
        ("tls", Carrier::Tls),
        ("udp", Carrier::Udp),
        ("unix", Carrier::Unix),
        ("unix-dgram", Carrier::UnixDatagram),
    ];
    let found = text.split_once("://").and_then(|(scheme, rest)| {
        let known = SCHEMES.iter().find(|(name, _)| *name == scheme)?;
        Some((known.1, rest))
    });
    found.ok_or_else(|| {
        let message = format!("`{text}` does not say what carries the messages");
        let help = "write tcp://HOST:PORT, tls://HOST:PORT, udp://HOST:PORT, unix://PATH or unix-dgram://PATH";
        Wrong::at("address", message, help)
    })
}

fn build(what: &Build<'_>) -> Result<Built, Wrong> {
    let (carrier, rest) = carrier(what.settings.text("address"))?;
    if what.settings.has("tls") && !matches!(carrier, Carrier::Tcp | Carrier::Tls) {
        return Err(Wrong::at("tls", "only streams over TCP are secured", "use tls://HOST:PORT"));
    }
    match what.ends {
        Ends::Source => source(what, carrier, rest),
        _ => sink(what, carrier, rest),
    }
}

fn address(carrier: Carrier, rest: &str) -> Result<Address, Wrong> {
    let port = if carrier == Carrier::Tls { PORT_TLS } else { PORT };
    Address::parse_with_port(rest, Some(port), "address")
}

fn source(what: &Build<'_>, carrier: Carrier, rest: &str) -> Result<Built, Wrong> {
    let settings = what.settings;
    let cut = match tcp::cut(what)? {
        Cut::Framed(_) if !what.framing_is_chosen => Cut::Detected,
        chosen => chosen,
    };
    let mut built = Built::default();
    built.source = Some(match carrier {
        Carrier::Tcp | Carrier::Tls => {
            if carrier == Carrier::Tls && !settings.has("tls") {
                let help = "write tls = {\"cert\": \"server.pem\", \"key\": \"server.key\"}";
                return Err(Wrong::at("address", "listening with TLS needs `tls`", help));
            }
            let shape = tcp::shape(settings, address(carrier, rest)?, true)?;
            built.warnings.extend(shape.warnings(settings));
            let reading = Reading::of_settings(cut, settings);
            Arc::new(StreamSource { shape, reading, meta: "syslog" })
        }
        Carrier::Udp => {
            let address = address(carrier, rest)?;
            let warning = exposure(&address, false);
            built.warnings.extend(warning.map(|text| text.replace("; set `tls`, or", ";")));
            let framing = if what.framing_is_chosen { what.framing } else { Framing::Whole };
            let receive = settings.optional_whole("receive_buffer");
            let receive = receive.and_then(|one| usize::try_from(one).ok());
            Arc::new(DatagramSource {
                address,
                reading: udp::reading(what, framing),
                receive_bytes: receive.unwrap_or(RECEIVE_BYTES),
                meta: "syslog",
            })
        }
        Carrier::Unix => unix::source(what, rest.to_string(), false, cut, "syslog")?,
        Carrier::UnixDatagram => unix::source(what, rest.to_string(), true, cut, "syslog")?,
    });
    Ok(built)
}

fn sink(what: &Build<'_>, carrier: Carrier, rest: &str) -> Result<Built, Wrong> {
    let settings = what.settings;
    let frames = match (settings.optional_text("framing"), carrier) {
        (Some("octet"), _) | (None, Carrier::Tls) => Frames::Octet,
        _ => Frames::Lines,
    };
    let mut built = Built::default();
    built.sink = Some(match carrier {
        Carrier::Tcp | Carrier::Tls => {
            let shape = Shape::Connecting {
                address: address(carrier, rest)?,
                dialer: Dialer::of_settings(settings, carrier == Carrier::Tls)?,
                retry: Retry::of_settings(settings.record("retry")),
            };
            built.warnings.extend(shape.warnings(settings));
            tcp::sink_of(settings, shape, frames)?
        }
        Carrier::Udp => {
            let errors = Feedback::new();
            let address = address(carrier, rest)?;
            let open =
                DatagramSink { address, bind: None, trims: true, errors: Arc::clone(&errors) };
            BuiltSink::of_events(open, errors)
        }
        Carrier::Unix => unix::sink(settings, rest.to_string(), false, frames)?,
        Carrier::UnixDatagram => unix::sink(settings, rest.to_string(), true, frames)?,
    });
    Ok(built)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scheme_tells_what_carries_messages() {
        assert_eq!(carrier("udp://h:1"), Ok((Carrier::Udp, "h:1")));
        assert_eq!(carrier("unix:///dev/log"), Ok((Carrier::Unix, "/dev/log")));
        assert!(carrier("127.0.0.1:514").is_err() && carrier("http://h").is_err());
        assert_eq!(address(Carrier::Tls, "h").unwrap().port, 6514);
    }
}
