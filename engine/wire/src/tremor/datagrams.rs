//! `udp_server` and `udp_client`.

use std::sync::Arc;

use temblor_declare::{
    Build, Built, BuiltSink, CodecUse, Connector, Ends, Notation, Setting, Takes, Wrong,
};
use temblor_runtime::framing::Framing;
use temblor_runtime::outlet::Feedback;

use super::{BUF_SIZE, SOCKET_OPTIONS, URL};
use crate::address::Address;
use crate::datagram::{DATAGRAM_BYTES_MAX, Reading};
use crate::inbound::exposure;
use crate::udp::{DatagramSink, DatagramSource};

/// What the kernel is asked to keep until it is read.
const RECEIVE_BYTES: usize = 8 << 20;

/// tremor's receiver of datagrams.
pub static UDP_SERVER: Connector = Connector {
    kind: "udp_server",
    notation: Notation::Tremor,
    doc: "Takes datagrams; preprocessors begin anew with each.",
    ends: Ends::Source,
    address: None,
    source: &[URL, BUF_SIZE, SOCKET_OPTIONS],
    sink: &[],
    codec: CodecUse::Required,
    writes_lines: false,
    gives: &[],
    meta: &["udp_server"],
    examples: &[],
    build: build_server,
};

/// tremor's sender of datagrams.
pub static UDP_CLIENT: Connector = Connector {
    kind: "udp_client",
    notation: Notation::Tremor,
    doc: "Sends each event in a datagram.",
    ends: Ends::Sink,
    address: None,
    source: &[],
    sink: &[
        URL,
        Setting::new("bind", Takes::Text, "The address that datagrams are sent from."),
        SOCKET_OPTIONS,
    ],
    codec: CodecUse::Required,
    writes_lines: false,
    gives: &[],
    meta: &[],
    examples: &[],
    build: build_client,
};

fn build_server(what: &Build<'_>) -> Result<Built, Wrong> {
    let address = Address::parse(what.settings.text("url"), "url")?;
    let warnings = exposure(&address, false).map(|text| text.replace("; set `tls`, or", ";"));
    let framing = if what.framing_is_chosen { what.framing } else { Framing::Whole };
    let reading = Reading {
        framing,
        preprocessors: if what.framing_is_chosen {
            Vec::new()
        } else {
            what.preprocessors.to_vec()
        },
        message_bytes_max: DATAGRAM_BYTES_MAX,
        trims: false,
    };
    let source =
        DatagramSource { address, reading, receive_bytes: RECEIVE_BYTES, meta: "udp_server" };
    Ok(Built {
        source: Some(Arc::new(source)),
        sink: None,
        warnings: warnings.into_iter().collect(),
    })
}

fn build_client(what: &Build<'_>) -> Result<Built, Wrong> {
    let address = Address::parse(what.settings.text("url"), "url")?;
    let bind = what.settings.optional_text("bind").map(|text| Address::parse(text, "bind"));
    let errors = Feedback::new();
    let bind = bind.transpose()?;
    let open = DatagramSink { address, bind, trims: false, errors: Arc::clone(&errors) };
    Ok(Built { sink: Some(BuiltSink::of_events(open, errors)), ..Built::default() })
}
