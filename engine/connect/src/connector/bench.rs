//! `bench` of flows: replays a file and measures what comes out.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use temblor_codec::interceptor::{MESSAGE_BYTES_MAX, Postprocessor, Preprocessor};
use temblor_declare::{
    Build, Built, BuiltSink, CodecUse, Connector, Ends, Notation, Setting, Takes,
};

use super::file::{CHUNK_SIZE, chunk_bytes};
use crate::sink::SinkConfig;
use crate::sink::bench::BenchConfig;
use crate::source::SourceConfig;
use crate::source::chained::ChainedConfig;

const FROM_ONE: Takes = Takes::Whole { least: 1, most: u64::MAX };

/// A bench in flows.
pub(super) static TREMOR_BENCH: Connector = Connector {
    kind: "bench",
    notation: Notation::Tremor,
    doc: "Replays a file, and measures the events that come back. Messages are lines, or chunks when `chunk_size` is set. \
          The times and rates are printed on standard output when the run ends.",
    ends: Ends::Both,
    address: None,
    source: &[
        Setting::new("path", Takes::Text, "The file to replay.").required(),
        Setting::new("interval", Takes::Duration, "The time between two messages.").or("0s"),
        CHUNK_SIZE,
        Setting::new(
            "iters",
            FROM_ONE,
            "How often the file is replayed; once unless `stop_after_secs` is set.",
        ),
        Setting::new("base64", Takes::Flag, "Whether messages are in base64."),
        Setting::new(
            "is_transactional",
            Takes::Flag,
            "Has no effect: events are acknowledged in any case.",
        ),
        Setting::new("structured", Takes::Flag, "Whether the report is JSON."),
        Setting::new(
            "stop_after_secs",
            FROM_ONE,
            "Seconds after which the replay ends, behind those of warming up.",
        ),
        Setting::new(
            "significant_figures",
            Takes::Whole { least: 1, most: 5 },
            "Digits of a time that are kept.",
        )
        .or("2"),
        Setting::new(
            "warmup_secs",
            Takes::Whole { least: 0, most: u64::MAX },
            "Seconds at the beginning that do not count.",
        )
        .or("0"),
    ],
    sink: &[],
    codec: CodecUse::Required,
    writes_lines: false,
    gives: &[],
    meta: &[],
    examples: &[],
    build: |what| {
        let sink = BuiltSink {
            // The sink wants to know when an event was taken in, and where it ends.
            finishing: &[Postprocessor::LengthPrefixed, Postprocessor::IngestNs],
            ..BuiltSink::of_stream(SinkConfig::Bench(measured(what)).packed(what.stream))
        };
        let source = SourceConfig::Chained(replayed(what));
        Ok(Built { source: Some(Arc::new(source)), sink: Some(sink), ..Built::default() })
    },
};

fn replayed(what: &Build<'_>) -> ChainedConfig {
    let settings = what.settings;
    let chain = what.preprocessors;
    let mut stages = Vec::new();
    let is_cut = settings.says("chunk_size")
        || chain.iter().any(|one| matches!(one, Preprocessor::Separate { .. }));
    if !is_cut {
        let length_max = MESSAGE_BYTES_MAX;
        stages.push(Preprocessor::Separate { separator: b'\n', length_max, buffered: true });
        stages.push(Preprocessor::RemoveEmpty);
    }
    if settings.flag("base64") {
        stages.push(Preprocessor::Base64);
    }
    stages.extend_from_slice(chain);
    let warmup_s = settings.whole("warmup_secs");
    // The time of warming up comes in front.
    let stop_after = settings.optional_whole("stop_after_secs");
    let stop_after = stop_after.map(|time_s| Duration::from_secs(time_s.saturating_add(warmup_s)));
    let iterations = if stop_after.is_some() { u64::MAX } else { 1 };
    ChainedConfig {
        path: Some(PathBuf::from(settings.text("path"))),
        chain: stages,
        chunk_bytes: chunk_bytes(what),
        iterations: settings.optional_whole("iters").unwrap_or(iterations),
        interval_ns: u64::try_from(settings.duration("interval").as_nanos()).unwrap_or(u64::MAX),
        stop_after,
    }
}

fn measured(what: &Build<'_>) -> BenchConfig {
    let figures = what.settings.whole("significant_figures");
    BenchConfig {
        significant_figures: u8::try_from(figures).expect("it is from 1 to 5"),
        warmup: Duration::from_secs(what.settings.whole("warmup_secs")),
        structured: what.settings.flag("structured"),
    }
}
