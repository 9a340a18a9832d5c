//! `beats`: the Lumberjack protocol of Beats and Logstash, both ways.
//!
//! Invariant: an event is acknowledged when all that stems from it is where it should be, and never before;
//! what is not acknowledged is sent again, so that events may come twice but none is lost.

mod frame;
mod assembly;
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
use assembly::Bounds;

/// Lumberjack.
pub(crate) static BEATS: Connector = Connector {
    kind: "beats",
    notation: Notation::Temblor,
    doc: "The Lumberjack protocol of Beats, Elastic Agent and Logstash. A source listens (versions 1 and 2, \
          compressed or not) and acknowledges events when all that stems from them is where it should be; \
          while they are under way it tells the peer every few seconds that it is alive. A sink sends windows \
          of version 2, waits for their acknowledgement, and sends again over a new connection what was not \
          acknowledged. Nothing is lost; after a broken connection events may come twice. Events are records: \
          a sink gives others back on its port `err`. `$beats.peer` tells who sent an event.",
    ends: Ends::Both,
    address: Some("\"HOST:PORT\": where to listen, or whom to connect to"),
    source: &[
        listen::CONNECTIONS,
        listen::IDLE,
        listen::TLS_SERVER,
        Setting::new(
            "max_window",
            Takes::Whole { least: 1, most: 10_000_000 },
            "Events of a window.",
        )
        .or("1000000"),
        Setting::new("max_frame", Takes::Bytes, "The longest frame, compressed or not.")
            .or("16MiB"),
        Setting::new("max_unpacked", Takes::Bytes, "What a compressed frame may become.")
            .or("64MiB"),
        Setting::new(
            "keep_alive",
            Takes::Duration,
            "Time between two signs of life while events are under way.",
        )
        .or("3s"),
    ],
    sink: &[
        dial::HOSTS,
        dial::TLS_CLIENT,
        dial::CONNECT_TIMEOUT,
        dial::TIMEOUT,
        Setting::new(
            "window",
            Takes::Whole { least: 1, most: 65_536 },
            "Events that are sent before an \
            acknowledgement is waited for.",
        )
        .or("2048"),
        Setting::new(
            "compression",
            Takes::Whole { least: 0, most: 9 },
            "How hard windows are compressed; 0 for \
            not at all.",
        )
        .or("3"),
        Setting::new("retry", Takes::Record(RETRY), "The waits between attempts."),
    ],
    codec: CodecUse::Default("json"),
    writes_lines: false,
    gives: &[],
    meta: &["beats"],
    examples: &[
        r#"source shippers from beats "127.0.0.1:5044"; shippers |> where event.level == "error" |> out"#,
        r#"sink onward into beats "127.0.0.1:5044" with hosts = ["127.0.0.1:5045"], compression = 0 end; in |> onward"#,
    ],
    build,
};

fn build(what: &Build<'_>) -> Result<Built, Wrong> {
    let settings = what.settings;
    let mut built = Built::default();
    if what.ends == Ends::Source {
        let (listener, warnings) = Listener::of_settings(settings)?;
        let bounds = Bounds {
            window_events_max: u32::try_from(settings.whole("max_window")).unwrap_or(u32::MAX),
            frame_bytes_max: settings.size("max_frame"),
            unpacked_bytes_max: settings.size("max_unpacked"),
        };
        let keep_alive = settings.duration("keep_alive");
        built.source = Some(Arc::new(inbound::Listening { listener, bounds, keep_alive }));
        built.warnings = warnings;
    } else {
        let (dial, warnings) = Dial::of_settings(settings)?;
        let errors = Feedback::new();
        let sending = outbound::Sending {
            dial,
            retry: Retry::of_settings(settings.record("retry")),
            timeout: settings.duration("timeout"),
            window_events_max: settings.size("window"),
            compression: u32::try_from(settings.whole("compression")).unwrap_or(3),
            errors: Arc::clone(&errors),
        };
        built.sink = Some(BuiltSink::of_events(sending, errors));
        built.warnings = warnings;
    }
    Ok(built)
}
