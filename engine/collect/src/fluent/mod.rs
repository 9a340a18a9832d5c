//! `fluent`: the Forward protocol of Fluentd and Fluent Bit, both ways.
//!
//! Invariant: a chunk is acknowledged when all that stems from its events is where it should be, and never
//! before.

mod scan;
mod pack;
mod message;
mod handshake;
mod inbound;
mod outbound;

use std::sync::Arc;

use temblor_declare::{
    Build, Built, BuiltSink, CodecUse, Connector, Ends, Notation, Setting, Takes, Wrong,
};
use temblor_runtime::outlet::Feedback;
use temblor_wire::retry::{RETRY, Retry};

use crate::dial::{self, Dial};
use crate::listen::{self, Listener};
use handshake::Credentials;

const SHARED_KEY: Setting = Setting::new(
    "shared_key",
    Takes::Secret,
    "A key that both sides know and prove to each other in a handshake.",
);
const USERNAME: Setting =
    Setting::new("username", Takes::Text, "The user of the handshake; needs `shared_key`.");
const PASSWORD: Setting = Setting::new("password", Takes::Secret, "The user's password.");

/// Forward.
pub(crate) static FLUENT: Connector = Connector {
    kind: "fluent",
    notation: Notation::Temblor,
    doc: "The Forward protocol of Fluentd and Fluent Bit. A source listens and takes all its modes (message, \
          forward, packed forward, compressed packed forward); a chunk is acknowledged when all that stems from \
          its events is where it should be. A peer that asks for no acknowledgement (no `require_ack_response`) \
          may lose what was under way when the connection breaks. A sink sends packed chunks, waits for their \
          acknowledgement, and sends again over a new connection what was not acknowledged. `$fluent` tells \
          `tag`, `time` (nanoseconds) and `peer` of an event, and a sink takes tag and time from there where \
          its settings do not say otherwise. Binary values that are no UTF-8 become texts in base64.",
    ends: Ends::Both,
    address: Some("\"HOST:PORT\": where to listen, or whom to connect to"),
    source: &[
        listen::CONNECTIONS,
        listen::LONG_IDLE,
        listen::TLS_SERVER,
        SHARED_KEY,
        USERNAME,
        PASSWORD,
        Setting::new("max_message", Takes::Bytes, "The longest message, compressed or not.")
            .or("16MiB"),
        Setting::new("max_unpacked", Takes::Bytes, "What a compressed chunk may become.")
            .or("64MiB"),
    ],
    sink: &[
        dial::HOSTS,
        dial::TLS_CLIENT,
        dial::CONNECT_TIMEOUT,
        dial::TIMEOUT,
        SHARED_KEY,
        USERNAME,
        PASSWORD,
        Setting::new(
            "tag",
            Takes::PerEvent,
            "The tag of an event. Without it `$fluent.tag`, and without that \
            `temblor`.",
        ),
        Setting::new(
            "time",
            Takes::PerEventJson,
            "The time of an event in nanoseconds. Without it \
            `$fluent.time`, and without that the time of sending.",
        ),
        Setting::new("metadata", Takes::Hidden("$fluent"), ""),
        Setting::new(
            "chunk",
            Takes::Whole { least: 1, most: 65_536 },
            "Events that are sent before \
            acknowledgements are waited for.",
        )
        .or("2048"),
        Setting::new(
            "compression",
            Takes::Word(&["none", "gzip"]),
            "Whether chunks are compressed.",
        )
        .or("none"),
        Setting::new(
            "acknowledge",
            Takes::Flag,
            "Whether the peer is to acknowledge chunks. Without that, what \
            was under way when a connection breaks is lost.",
        )
        .or("true"),
        Setting::new("retry", Takes::Record(RETRY), "The waits between attempts."),
    ],
    codec: CodecUse::Structured,
    writes_lines: false,
    gives: &[],
    meta: &["fluent"],
    examples: &[
        r#"source agents from fluent "127.0.0.1:24224"; agents |> where $fluent.tag == "app.web" |> out"#,
        r#"sink onward into fluent "127.0.0.1:24224" with tag = event.service, compression = "gzip" end; in |> onward"#,
    ],
    build,
};

fn build(what: &Build<'_>) -> Result<Built, Wrong> {
    let settings = what.settings;
    let credentials = Credentials::of_settings(settings)?;
    let mut built = Built::default();
    if what.ends == Ends::Source {
        let (listener, mut warnings) = Listener::of_settings(settings)?;
        if credentials.is_some() && listener.is_safe() {
            warnings.clear();
        }
        built.warnings = warnings;
        built.source = Some(Arc::new(inbound::Listening {
            listener,
            credentials,
            message_bytes_max: settings.size("max_message"),
            unpacked_bytes_max: settings.size("max_unpacked"),
        }));
    } else {
        let (dial, warnings) = Dial::of_settings(settings)?;
        let errors = Feedback::new();
        built.warnings = warnings;
        if credentials.as_ref().is_some_and(|one| one.username.is_some()) && !dial.is_safe() {
            let text = "the name of the user goes over the network without `tls`";
            built.warnings.push(text.to_string());
        }
        let sending = outbound::Sending {
            dial,
            credentials,
            retry: Retry::of_settings(settings.record("retry")),
            timeout: settings.duration("timeout"),
            chunk_events_max: settings.whole("chunk"),
            is_packed: settings.text("compression") == "gzip",
            acknowledges: settings.flag("acknowledge"),
            errors: Arc::clone(&errors),
        };
        built.sink = Some(BuiltSink::of_events(sending, errors));
    }
    Ok(built)
}
