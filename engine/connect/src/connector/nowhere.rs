//! `null` and `exit`: sinks from which nothing comes out again.

use std::time::Duration;

use temblor_declare::{
    Build, Built, BuiltSink, CodecUse, Connector, Ends, Notation, Setting, Takes, Wrong,
};

use crate::sink::SinkConfig;

/// Nowhere in Temblor programs.
pub(super) static NULL: Connector = Connector {
    kind: "null",
    notation: Notation::Temblor,
    doc: "Takes everything and keeps nothing. Events are encoded and counted all the same.",
    ends: Ends::Sink,
    address: None,
    source: &[],
    sink: &[],
    codec: CodecUse::Default("json"),
    writes_lines: true,
    gives: &[],
    meta: &[],
    examples: &["sink gone into null;\nin |> gone;"],
    build: null,
};

/// Nowhere in flows.
pub(super) static TREMOR_NULL: Connector = Connector {
    notation: Notation::Tremor,
    doc: "Takes everything and keeps nothing. It does not look at its configuration.",
    codec: CodecUse::Structured,
    examples: &[],
    ..NULL
};

fn null(what: &Build<'_>) -> Result<Built, Wrong> {
    let sink = BuiltSink::of_stream(SinkConfig::Null.packed(what.stream));
    Ok(Built { sink: Some(sink), ..Built::default() })
}

/// The end of the run in flows.
pub(super) static TREMOR_EXIT: Connector = Connector {
    kind: "exit",
    notation: Notation::Tremor,
    doc: "Ends the run at the first event. The event may say `exit` (the exit code, 0 unless set), `delay` (nanoseconds) \
          and `graceful`.",
    ends: Ends::Sink,
    address: None,
    source: &[],
    sink: &[
        Setting::new("delay", Takes::Duration, "How long it waits before.").or("0s"),
        Setting::new("graceful", Takes::Flag, "Whether what has been read is dealt with first.")
            .or("true"),
    ],
    codec: CodecUse::Structured,
    writes_lines: false,
    gives: &[],
    meta: &[],
    examples: &[],
    build: |what| {
        let delay = what.settings.optional_duration("delay").unwrap_or(Duration::ZERO);
        let config = SinkConfig::Exit { delay, graceful: what.settings.flag("graceful") };
        let sink = BuiltSink::of_stream(config);
        Ok(Built { sink: Some(sink), ..Built::default() })
    },
};
