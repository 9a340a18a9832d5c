//! A program in the real runtime: file source, queue, workers, encoder, writer, sink.

use super::measure::{Cost, Directory, Input};
use std::sync::{Arc, Mutex};
use temblor_catalog::registry;
use temblor_codec::{Encoding, InputCodec};
use temblor_connect::sink::{Care, FileMode, SinkConfig};
use temblor_connect::source::SourceConfig;
use temblor_connect::source::file::FileConfig;
use temblor_pipeline::load::{Directories, Language, LoadOptions};
use temblor_pipeline::operator::{IN, OUT};
use temblor_pipeline::pipeline::{self, Output, Pipeline, Place};
use temblor_runtime::framing::Framing;
use temblor_runtime::run::{NamedSink, RunPlan, Summary, run as run_plan};

/// A program's text.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// A script.
    pub text: &'static str,
    /// Whether it takes JSON; else each line is a string.
    pub is_json: bool,
}

/// Where events go.
#[derive(Clone, Copy, Debug)]
pub enum Sink {
    /// Encoded, and thrown away.
    Null,
    /// A new file.
    File,
}

/// Something to measure.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Its name in the report.
    pub name: &'static str,
    /// What is run.
    pub program: Program,
    /// Where the events go.
    pub sink: Sink,
    /// The share of the limit's speed that is asked for.
    pub target: f64,
}

/// One run of `case` over `input`; every line must come out.
pub(crate) fn run(
    case: &Case,
    input: &Input,
    workers: usize,
    to: &Directory,
) -> Result<Cost, String> {
    let (summary, cost) = Cost::of(|| once(case, input, workers, to))?;
    let out = summary.counts.ports.iter().map(|row| row.events).sum::<u64>();
    let unparsed = summary.counts.dropped.iter().map(|(_, count)| count).sum::<u64>();
    let complete =
        if case.program.is_json { out == input.lines } else { out + unparsed == input.lines };
    if complete && summary.counts.error_count() == 0 {
        Ok(cost)
    } else {
        Err(format!("{}: {out} of {} events came out", case.name, input.lines))
    }
}

fn once(case: &Case, input: &Input, workers: usize, to: &Directory) -> Result<Summary, String> {
    let (pipeline, plan) = prepare(case, input, workers, to)?;
    run_plan(plan, |_| Ok(pipeline.worker(workers == 1))).map_err(|error| error.to_string())
}

fn prepare(
    case: &Case,
    input: &Input,
    workers: usize,
    to: &Directory,
) -> Result<(Arc<Pipeline>, RunPlan), String> {
    let codec = if case.program.is_json { InputCodec::Json } else { InputCodec::String };
    let sink = match case.sink {
        Sink::Null => SinkConfig::Null,
        Sink::File => SinkConfig::File {
            path: to.file("out"),
            mode: FileMode::Truncate,
            care: Care::default(),
        },
    };
    wire((case.name, case.program.text, Language::Script), (codec, sink), input, workers)
}

/// A query over lines of JSON, whose results are encoded and thrown away.
pub(crate) fn query(
    name: &str,
    text: &str,
    input: &Input,
    workers: usize,
) -> Result<(Arc<Pipeline>, RunPlan), String> {
    wire((name, text, Language::Query), (InputCodec::Json, SinkConfig::Null), input, workers)
}

fn wire(
    (name, text, language): (&str, &str, Language),
    (codec, sink): (InputCodec, SinkConfig),
    input: &Input,
    workers: usize,
) -> Result<(Arc<Pipeline>, RunPlan), String> {
    let options = LoadOptions::new(registry());
    let loaded = options.compile(name, text.to_string(), language, &Directories::new(&[], None));
    if loaded.has_errors() {
        return Err(loaded.report(false));
    }
    let graph = loaded.graph;
    let node = graph.input(IN).ok_or("scripts and queries have an input")?;
    let ports = graph.outputs().to_vec();
    let plan = RunPlan {
        sources: vec![Arc::new(SourceConfig::File(FileConfig::once(
            vec![input.path.display().to_string()],
            Framing::Lines,
        )))],
        sinks: vec![NamedSink::new(OUT, sink)],
        ports: ports.clone(),
        workers,
        ..RunPlan::default()
    };
    let output = |port| {
        let encoding = Encoding::default();
        vec![Output {
            sink: 0,
            place: Place::Only,
            encoding,
            port,
            each_member: false,
            attributes: None,
            errors: None,
        }]
    };
    let pipeline = Pipeline {
        states: Mutex::new(graph.start()),
        graph,
        sources: Arc::new(loaded.sources),
        inputs: vec![pipeline::Input { node, codec, errors: None }],
        outputs: (0..ports.len()).map(output).collect(),
        errors: None,
        seed: 0,
        letters: None,
        tables: None,
    };
    Ok((Arc::new(pipeline), plan))
}
