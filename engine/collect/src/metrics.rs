//! `statsd` and `graphite`: the same lines of text over UDP or TCP, read and written by their codecs.

use std::sync::Arc;

use temblor_declare::{
    Build, Built, BuiltSink, CodecUse, Connector, Ends, Notation, Setting, Takes, Wrong,
};
use temblor_runtime::buffer::Buffer;
use temblor_runtime::framing::Framing;
use temblor_runtime::intake::{Arrival, Messages};
use temblor_runtime::outlet::Feedback;
use temblor_wire::retry::{RETRY, Retry};

use crate::dial::{self, Dial};
use crate::lines::{self, DATAGRAM, Listening, Sending, Transport};
use crate::listen::{self, Listener};

const SOURCE: &[Setting] = &[listen::CONNECTIONS, listen::LONG_IDLE, listen::TLS_SERVER];
const SINK: &[Setting] = &[
    dial::HOSTS,
    dial::TLS_CLIENT,
    dial::CONNECT_TIMEOUT,
    dial::TIMEOUT,
    DATAGRAM,
    Setting::new("retry", Takes::Record(RETRY), "The waits between attempts."),
];

/// StatsD.
pub(crate) static STATSD: Connector = Connector {
    kind: "statsd",
    notation: Notation::Temblor,
    doc: "Metrics of StatsD over UDP (\"udp://HOST:PORT\", the default) or TCP (\"tcp://HOST:PORT\"). A source reads \
          each line with the codec `statsd` (or `dogstatsd`, with tags); a sink writes events of that shape, several in \
          a datagram. There is no answer: datagrams may be lost, and what was under way when a stream breaks is lost. \
          `$statsd.peer` tells who sent a line.",
    ends: Ends::Both,
    address: Some("\"HOST:PORT\", with `udp://` or `tcp://` in front"),
    source: SOURCE,
    sink: SINK,
    codec: CodecUse::Default("statsd"),
    writes_lines: false,
    gives: &[],
    meta: &["statsd"],
    examples: &[
        r#"source metrics from statsd "127.0.0.1:8125"; metrics |> where event.type == "c" |> out"#,
        r#"sink metrics into statsd "udp://127.0.0.1:8125"; in |> metrics"#,
    ],
    build: |what| build(what, "statsd", Transport::Udp),
};

/// Graphite.
pub(crate) static GRAPHITE: Connector = Connector {
    kind: "graphite",
    notation: Notation::Temblor,
    doc: "Metrics in the plain text of Graphite over TCP (\"tcp://HOST:PORT\", the default) or UDP \
          (\"udp://HOST:PORT\"). A source reads each line with the codec `graphite-plaintext`, as `{\"metric\", \"value\", \
          \"timestamp\"}`; a sink writes events of that shape. There is no answer: what was under way when a connection \
          breaks is lost. `$graphite.peer` tells who sent a line.",
    ends: Ends::Both,
    address: Some("\"HOST:PORT\", with `tcp://` or `udp://` in front"),
    source: SOURCE,
    sink: SINK,
    codec: CodecUse::Default("graphite-plaintext"),
    writes_lines: false,
    gives: &[],
    meta: &["graphite"],
    examples: &[
        r#"source metrics from graphite "127.0.0.1:2003"; metrics |> where event.value > 90 |> out"#,
        r#"sink metrics into graphite "tcp://127.0.0.1:2003"; in |> metrics"#,
    ],
    build: |what| build(what, "graphite", Transport::Tcp),
};

fn build(what: &Build<'_>, kind: &'static str, default: Transport) -> Result<Built, Wrong> {
    let settings = what.settings;
    let transport = lines::transport(settings, default)?;
    if what.ends == Ends::Source {
        let (listener, warnings) = Listener::of_settings(settings)?;
        let source = Listening { listener, transport, kind, take };
        return Ok(Built { source: Some(Arc::new(source)), warnings, ..Built::default() });
    }
    let (dial, warnings) = Dial::of_settings(settings)?;
    let errors = Feedback::new();
    let sending = Sending {
        dial,
        transport,
        retry: Retry::of_settings(settings.record("retry")),
        timeout: settings.duration("timeout"),
        datagram_bytes_max: settings.size("max_datagram"),
        errors: Arc::clone(&errors),
    };
    let sink = Some(BuiltSink::of_events(sending, errors));
    Ok(Built { sink, warnings, ..Built::default() })
}

fn take(lines: &[u8]) -> Arrival {
    let (framing, range) = (Framing::Lines, 0..lines.len());
    let frames = framing.count(lines) + u64::from(lines.last() != Some(&b'\n'));
    let buffer = Buffer::of_bytes(lines.to_vec());
    Arrival { buffer, range, framing, frames, ..Messages::default().take() }
}
