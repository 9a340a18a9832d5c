//! `stdin`, `stdout`, and `stdio` of flows: the streams that the process was started with.

use std::sync::Arc;

use temblor_declare::{Build, Built, BuiltSink, CodecUse, Connector, Ends, Notation, Wrong};

use super::file::reading;
use super::{beside_preprocessors, framing};
use crate::sink::SinkConfig;
use crate::source::SourceConfig;
use crate::source::chained::ChainedConfig;

/// Standard input in Temblor programs.
pub(super) static STDIN: Connector = Connector {
    kind: "stdin",
    notation: Notation::Temblor,
    doc: "Standard input. What is packed with gzip, zstd or xz is unpacked.",
    ends: Ends::Source,
    address: None,
    source: &[],
    sink: &[],
    codec: CodecUse::Default("json"),
    writes_lines: true,
    gives: &[],
    meta: &[],
    examples: &["source lines from stdin with codec = \"string\" end;\nlines |> out;"],
    build: |what| {
        let source = Some(Arc::new(stdin(what)?) as _);
        Ok(Built { source, ..Built::default() })
    },
};

fn stdin(what: &Build<'_>) -> Result<SourceConfig, Wrong> {
    if what.preprocessors.is_empty() {
        return Ok(SourceConfig::Stdin { framing: framing(what)? });
    }
    beside_preprocessors(what, &["framing", "separator"])?;
    Ok(SourceConfig::Chained(ChainedConfig::once(None, what.preprocessors.to_vec())))
}

/// Standard output in Temblor programs.
pub(super) static STDOUT: Connector = Connector {
    kind: "stdout",
    notation: Notation::Temblor,
    doc: "Standard output.",
    ends: Ends::Sink,
    address: None,
    source: &[],
    sink: &[],
    codec: CodecUse::Default("json"),
    writes_lines: true,
    gives: &[],
    meta: &[],
    examples: &["sink shown into stdout with codec = \"pretty-json\" end;\nin |> shown;"],
    build: |what| {
        let sink = BuiltSink::of_stream(SinkConfig::Stdout.packed(what.stream));
        Ok(Built { sink: Some(sink), ..Built::default() })
    },
};

/// Standard streams in flows.
pub(super) static TREMOR_STDIO: Connector = Connector {
    kind: "stdio",
    notation: Notation::Tremor,
    doc: "Standard input, and standard output (`in` or `stdout`) and standard error (`stderr`). It does not look at its \
          configuration.",
    ends: Ends::Both,
    address: None,
    source: &[],
    sink: &[],
    codec: CodecUse::Required,
    writes_lines: false,
    gives: &[],
    meta: &[],
    examples: &[],
    build: |what| {
        let sink = |config: SinkConfig| BuiltSink::of_stream(config.packed(what.stream));
        let beside =
            vec![("stdout", sink(SinkConfig::Stdout)), ("stderr", sink(SinkConfig::Stderr))];
        let sink = BuiltSink { beside, ..sink(SinkConfig::Stdout) };
        let (source, sink) = (Some(reading(None, what)), Some(sink));
        Ok(Built { source, sink, ..Built::default() })
    },
};
