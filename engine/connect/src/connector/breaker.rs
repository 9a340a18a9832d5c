//! `cb` of flows: reads files, and learns of each event whether it was acknowledged; its sink acknowledges,
//! fails and stops as events say.
//!
//! Invariant: no event of it is unaccounted for when the run ends well.

use std::path::PathBuf;
use std::sync::Arc;

use temblor_declare::{
    Build, Built, BuiltSink, CodecUse, Connector, Ends, Notation, Setting, Takes, Wrong,
};
use temblor_runtime::outlet::Feedback;

use crate::sink::breaker::BreakerSink;
use crate::source::breaker::{BreakerSource, Circuit};

const COMMAND: Setting =
    Setting::new("cb", Takes::Hidden("$cb"), "What the sink does with an event.");

/// A test of acknowledgements in flows.
pub(super) static TREMOR_CB: Connector = Connector {
    kind: "cb",
    notation: Notation::Tremor,
    doc: "Tests that events are acknowledged. Each line of the files is an event; the run ends with an error when one of \
          them is neither acknowledged nor failed within `timeout` of the one before. As a sink it does with an event \
          what its `$cb` says, a word or an array of them: `ack` (what it does without), \
          `fail`, `trigger` or `close` (the source reads no more) and `restore` or `open` (it goes on). It says at the \
          end how many events were acknowledged and how many failed.",
    ends: Ends::Both,
    address: None,
    source: &[
        Setting::new("path", Takes::Text, "A file to read."),
        Setting::new("paths", Takes::Texts, "Files to read, one after the other."),
        Setting::new("timeout", Takes::Duration, "How long the next answer is waited for.")
            .or("10s"),
        Setting::new(
            "expect_batched",
            Takes::Flag,
            "Has no effect: the events of a batch are acknowledged one by one in any case.",
        ),
        COMMAND,
    ],
    sink: &[COMMAND],
    codec: CodecUse::Default("json"),
    writes_lines: false,
    gives: &[],
    meta: &["cb"],
    examples: &[],
    build,
};

fn build(what: &Build<'_>) -> Result<Built, Wrong> {
    let settings = what.settings;
    let one = settings.optional_text("path").map(PathBuf::from);
    let many = settings.texts("paths").iter().map(PathBuf::from);
    let circuit = Arc::new(Circuit::default());
    let source = BreakerSource {
        name: Arc::from(what.name),
        paths: one.into_iter().chain(many).collect(),
        timeout: settings.duration("timeout"),
        circuit: Arc::clone(&circuit),
    };
    let errors = Feedback::new();
    let sink =
        BuiltSink { has_queue: false, ..BuiltSink::of_events(BreakerSink { circuit }, errors) };
    Ok(Built { source: Some(Arc::new(source)), sink: Some(sink), ..Built::default() })
}
