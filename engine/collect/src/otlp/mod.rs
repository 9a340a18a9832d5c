//! `otlp`: logs, metrics and traces of OpenTelemetry, both ways, over gRPC and HTTP.
//!
//! Invariant: an event is one export request in the shape that tremor gives it; a request is answered when all
//! that stems from its event is where it should be.

mod signal;
mod schema;
mod shape;
mod grpc;
mod answer;
mod inbound;
mod outbound;

use std::sync::Arc;
use std::time::Duration;

use temblor_declare::order::{OF_REQUESTS, Order};
use temblor_declare::{
    Build, Built, BuiltSink, CodecUse, Connector, Ends, Notation, Setting, Settings, Takes, Wrong,
};
use temblor_runtime::outlet::Feedback;
use temblor_wire::address::Address;
use temblor_wire::retry::{RETRY, Retry};

use crate::client;
use crate::dial;
use crate::listen::{self, Listener};
use crate::unpack::UNPACKED_BYTES_MAX;
use outbound::{Encoding, Protocol};
use signal::Signals;

const LOGS: Setting = Setting::new("logs", Takes::Flag, "Whether logs are taken.").or("true");
const METRICS: Setting =
    Setting::new("metrics", Takes::Flag, "Whether metrics are taken.").or("true");
const TRACE: Setting = Setting::new("trace", Takes::Flag, "Whether traces are taken.").or("true");
const BODY_BYTES: Setting =
    Setting::new("max_body", Takes::Bytes, "The longest request, compressed or not.").or("16MiB");
const CONCURRENCY: Setting = Setting::new(
    "concurrency",
    Takes::Whole { least: 1, most: 256 },
    "Requests at the same time, at the most; within that as many as the peer bears.",
)
.or("16");

/// The longest request, unless the program sets it.
const BODY_BYTES_MAX: usize = 16 << 20;
/// How long an answer is waited for, unless the program sets it.
const TIMEOUT_MAX: Duration = Duration::from_secs(60);

/// OpenTelemetry in `.tmb` files.
pub(crate) static OTLP: Connector = Connector {
    kind: "otlp",
    notation: Notation::Temblor,
    doc: "Logs, metrics and traces of OpenTelemetry (OTLP 1). A source listens on one port for gRPC and for HTTP \
          (protobuf and JSON; gzip or plain); each request is one event: `{\"logs\": […]}`, `{\"metrics\": […]}` or \
          `{\"trace\": […]}`, with attributes as records, identities in hexadecimal digits and names as in the \
          protocol's definition (`scope_logs`, `log_records`, `time_unix_nano`). The request is answered when all \
          that stems from it is where it should be; a peer gets 503 (`UNAVAILABLE`) where that fails, and sends it \
          again. A sink takes events of the same shape; what the peer refuses for good, wholly or in part, comes \
          back on `err`. Binary values are texts in base64. `$otlp` tells `peer`, `tls` and `protocol`.",
    ends: Ends::Both,
    address: Some(
        "\"HOST:PORT\": where to listen; or \"http://HOST:PORT\" or \"https://HOST:PORT\": whom to send to",
    ),
    source: &[
        LOGS,
        METRICS,
        TRACE,
        BODY_BYTES,
        Setting::new("max_unpacked", Takes::Bytes, "What a compressed request may become.")
            .or("64MiB"),
        listen::CONNECTIONS,
        listen::IDLE,
        listen::TLS_SERVER,
    ],
    sink: &[
        LOGS,
        METRICS,
        TRACE,
        CONCURRENCY,
        OF_REQUESTS,
        Setting::new("protocol", Takes::Word(&["grpc", "http"]), "How requests go over the wire.")
            .or("grpc"),
        Setting::new("encoding", Takes::Word(&["protobuf", "json"]), "What bodies of `http` are.")
            .or("protobuf"),
        Setting::new(
            "compression",
            Takes::Word(&["none", "gzip"]),
            "Whether requests are compressed.",
        )
        .or("none"),
        Setting::new("headers", Takes::Map, "Further headers of each request."),
        dial::TIMEOUT,
        dial::TLS_CLIENT,
        Setting::new("retry", Takes::Record(RETRY), "The waits between attempts."),
    ],
    codec: CodecUse::Structured,
    writes_lines: false,
    gives: &[],
    meta: &["otlp"],
    examples: &[
        r#"source telemetry from otlp "127.0.0.1:4317"; telemetry |> where present event.logs |> out"#,
        r#"sink collector into otlp "http://127.0.0.1:4318" with protocol = "http", compression = "gzip" end; in |> collector"#,
    ],
    build,
};

fn build(what: &Build<'_>) -> Result<Built, Wrong> {
    let settings = what.settings;
    match what.ends {
        Ends::Source => source(settings, "otlp", settings.text("address")),
        _ => sink(settings, settings.text("address")),
    }
}

/// Where tremor's connectors are unless `url` says otherwise.
const URL: Setting = Setting::new("url", Takes::Text, "The address.").or("127.0.0.1:4317");
/// The port of an address that has none.
const PORT: u16 = 4317;

/// tremor's source.
pub(crate) static OTEL_SERVER: Connector = Connector {
    kind: "otel_server",
    notation: Notation::Tremor,
    doc: "tremor's source of OpenTelemetry: the same as `otlp`, with metadata under `$otel_server`.",
    ends: Ends::Source,
    address: None,
    source: &[URL, LOGS, METRICS, TRACE, listen::TLS_SERVER],
    sink: &[],
    codec: CodecUse::Structured,
    writes_lines: false,
    gives: &[],
    meta: &["otel_server"],
    examples: &[],
    build: |what| source(what.settings, "otel_server", what.settings.text("url")),
};

/// tremor's sink.
pub(crate) static OTEL_CLIENT: Connector = Connector {
    kind: "otel_client",
    notation: Notation::Tremor,
    doc: "tremor's sink of OpenTelemetry over gRPC: the same as `otlp`.",
    ends: Ends::Sink,
    address: None,
    source: &[],
    sink: &[URL, LOGS, METRICS, TRACE, CONCURRENCY, dial::TLS_CLIENT],
    codec: CodecUse::Structured,
    writes_lines: false,
    gives: &[],
    meta: &["otel_client"],
    examples: &[],
    build: |what| sink(what.settings, what.settings.text("url")),
};

fn source(settings: &Settings, kind: &'static str, address: &str) -> Result<Built, Wrong> {
    let setting = if kind == "otlp" { "address" } else { "url" };
    let address = Address::parse_with_port(address, Some(PORT), setting)?;
    let (listener, warnings) = Listener::at(address, settings)?;
    let size = |name, default| match settings.has(name) {
        true => settings.size(name),
        false => default,
    };
    let listening = inbound::Listening {
        listener,
        kind,
        signals: Signals::of_settings(settings),
        body_bytes_max: size("max_body", BODY_BYTES_MAX),
        unpacked_bytes_max: size("max_unpacked", UNPACKED_BYTES_MAX),
    };
    Ok(Built { source: Some(Arc::new(listening)), warnings, ..Built::default() })
}

fn sink(settings: &Settings, address: &str) -> Result<Built, Wrong> {
    let protocol = match settings.optional_text("protocol") {
        Some("http") => Protocol::Http,
        _ => Protocol::Grpc,
    };
    let encoding = match settings.optional_text("encoding") {
        Some("json") if protocol == Protocol::Grpc => {
            let help = "set protocol = \"http\", or leave `encoding` out";
            return Err(Wrong::at("encoding", "gRPC carries protobuf, not JSON", help));
        }
        Some("json") => Encoding::Json,
        _ => Encoding::Protobuf,
    };
    let (base, warnings) = client::base(address, settings)?;
    let errors = Feedback::new();
    let sending = outbound::Sending {
        client: client::of_settings(settings, protocol == Protocol::Grpc)?,
        base,
        protocol,
        encoding,
        is_packed: settings.optional_text("compression") == Some("gzip"),
        headers: client::headers(settings)?,
        signals: Signals::of_settings(settings),
        concurrency: settings.optional_whole("concurrency").map_or(4, |most| most as usize),
        order: Order::of_settings(settings, OTLP.sink)?,
        timeout: settings.optional_duration("timeout").unwrap_or(TIMEOUT_MAX),
        retry: Retry::of_settings(settings.record("retry")),
        errors: Arc::clone(&errors),
    };
    let sink = Some(BuiltSink::of_events(sending, errors));
    Ok(Built { sink, warnings, ..Built::default() })
}
