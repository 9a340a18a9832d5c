//! `wal` of tremor's flows: events go into a log on disk and come out of it again, until they are delivered.
//!
//! Invariant: an event that goes in is acknowledged once it is on disk, and leaves the disk once all that stems
//! from it is where it should be.

mod events;
mod ring;
mod sink;
mod source;

use std::sync::Arc;

use temblor_declare::{
    Build, Built, BuiltSink, CodecUse, Connector, Ends, Notation, Setting, Takes, Wrong,
};
use temblor_runtime::outlet::Feedback;

use crate::place;
use ring::Ring;

/// The most that both settings together may come to, in bytes.
const BYTES_MAX: u64 = 1 << 44;

const METADATA: Setting =
    Setting::new("metadata", Takes::Hidden("$"), "Comes out again with the event.");

/// A log of events.
pub(crate) static WAL: Connector = Connector {
    kind: "wal",
    notation: Notation::Tremor,
    doc: "A log on disk between two pipelines. Events that go in are acknowledged once they are there; they come out in \
          the same order, with their metadata, and stay until all that stems from them is where it should be. What \
          was not delivered when a run ended or was killed comes again in the next one, some of it for the second time. \
          It holds `chunk_size` times `max_chunks` bytes. Without room it waits; when nothing has been delivered for \
          10 seconds either, the event goes to `err`.",
    ends: Ends::Both,
    address: None,
    source: &[
        place::PATH,
        Setting::new(
            "chunk_size",
            Takes::Whole { least: 1, most: BYTES_MAX },
            "Bytes of a part of the log.",
        )
        .or("10485760"),
        Setting::new(
            "max_chunks",
            Takes::Whole { least: 1, most: BYTES_MAX },
            "How many parts there may be.",
        )
        .or("10"),
        METADATA,
    ],
    sink: &[METADATA],
    codec: CodecUse::Structured,
    writes_lines: true,
    gives: &[],
    meta: &[],
    examples: &[r#"define flow main
flow
  use tremor::{connectors, pipelines};
  define connector log from wal with
    config = {"path": "/var/lib/log", "chunk_size": 1048576, "max_chunks": 100}
  end;
  create connector console from connectors::console;
  create connector log;
  create pipeline put from pipelines::passthrough;
  create pipeline take from pipelines::passthrough;
  connect /connector/console to /pipeline/put;
  connect /pipeline/put to /connector/log;
  connect /connector/log to /pipeline/take;
  connect /pipeline/take to /connector/console;
end;
deploy flow main;"#],
    build,
};

fn build(what: &Build<'_>) -> Result<Built, Wrong> {
    let (size, count) = (what.settings.whole("chunk_size"), what.settings.whole("max_chunks"));
    let bytes_max = size.saturating_mul(count);
    if bytes_max > BYTES_MAX {
        let message = format!("`chunk_size` times `max_chunks` is {bytes_max} bytes");
        return Err(Wrong::at(
            "max_chunks",
            message,
            format!("{BYTES_MAX} are possible at the most"),
        ));
    }
    let (ring, errors) = (Ring::new(place::of_settings(what), bytes_max), Feedback::new());
    let name: Arc<str> = Arc::from(what.name);
    let sink = sink::Puts { ring: Arc::clone(&ring), errors: Arc::clone(&errors) };
    let source = source::Takes { ring, name };
    let sink = Some(BuiltSink::of_events(sink, errors));
    Ok(Built { source: Some(Arc::new(source)), sink, ..Built::default() })
}
