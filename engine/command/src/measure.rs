//! A program between injectors and sinks: the same runtime as `temblor run`, with other sources.
//!
//! Invariant: nothing between source and sink differs from a run in production.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use temblor_codec::{Encoding, InputCodec};
use temblor_connect::sink::SinkConfig;
use temblor_connect::source::SourceConfig;
use temblor_connect::source::file::FileConfig;
use temblor_generate::inject::{
    Frames, InjectConfig, Load, Outcome, Recorder, Schedule, SystemTicker, Ticker,
};
use temblor_generate::source::Generated;
use temblor_generate::{Spec, Stream};
use temblor_pipeline::endpoint::{SinkEndpoint, SourceEndpoint, wire_sinks};
use temblor_pipeline::graph::Graph;
use temblor_pipeline::load::Loaded;
use temblor_pipeline::operator::IN;
use temblor_pipeline::pipeline::{Input, Output, Pipeline};
use temblor_runtime::error::Error;
use temblor_runtime::outbox::Order;
use temblor_runtime::run::{NamedSink, RunPlan, Summary};

/// What a program is fed with.
#[derive(Clone, Debug, Default)]
pub enum Feeding {
    /// What its own sources hold, injected.
    #[default]
    Declared,
    /// The lines of a file, injected.
    File(PathBuf),
    /// Lines in memory, injected.
    Frames(Arc<Frames>),
    /// Its own sources as they are; nothing is injected, and no latency is measured.
    Own,
}

/// How a program is measured.
#[derive(Clone, Debug)]
pub struct BenchPlan {
    /// When events are injected; several sources share the rate evenly.
    pub schedule: Schedule,
    /// What is injected.
    pub feeding: Feeding,
    /// How lines are read, when the program names no source.
    pub codec: InputCodec,
    /// Whether events go to the program's own sinks instead of nowhere.
    pub keep_sinks: bool,
    /// Worker threads.
    pub workers: usize,
    /// The order of the output.
    pub order: Order,
    /// Bytes of a batch.
    pub batch_bytes: usize,
    /// Seed of everything random.
    pub seed: u64,
}

impl BenchPlan {
    /// Injects into the program by the system's clock.
    pub fn run(&self, program: Loaded) -> Result<Outcome, Error> {
        self.run_by(Arc::new(SystemTicker::default()), program)
    }

    /// Injects into the program by a clock of the caller's.
    pub(crate) fn run_by(
        &self,
        ticker: Arc<dyn Ticker>,
        program: Loaded,
    ) -> Result<Outcome, Error> {
        let recorder = Recorder::new(ticker);
        let (workers, order, batch_bytes) = (self.workers, self.order, self.batch_bytes);
        let mut plan = RunPlan { workers, order, batch_bytes, ..RunPlan::default() };
        let Loaded { graph, endpoints, sources, .. } = program;
        let inputs = self.inputs(&graph, endpoints.sources, &recorder, &mut plan)?;
        let outputs = self.outputs(&graph, endpoints.sinks, &mut plan);
        let states = Mutex::new(graph.start());
        let sources = Arc::new(sources);
        let (seed, tables) = (self.seed, endpoints.tables.shared());
        let pipeline = Arc::new(Pipeline {
            graph,
            sources,
            inputs,
            outputs,
            errors: None,
            letters: None,
            seed,
            tables,
            states,
        });
        let alone = plan.workers == 1;
        let summary = temblor_runtime::run::run(plan, |_| Ok(pipeline.worker(alone)))?;
        let counts = into_counts(summary)?;
        Ok(Outcome::new(&recorder, counts, self.schedule.load, self.workers))
    }

    /// An injector in the place of every source.
    fn inputs(
        &self,
        graph: &Graph,
        declared: Vec<SourceEndpoint>,
        recorder: &Arc<Recorder>,
        plan: &mut RunPlan,
    ) -> Result<Vec<Input>, Error> {
        let places: Vec<(String, InputCodec, Option<SourceEndpoint>)> = match declared.is_empty() {
            true => vec![(IN.to_string(), self.codec, None)],
            false => declared
                .into_iter()
                .map(|source| (source.port.clone(), source.codec, Some(source)))
                .collect(),
        };
        let schedule = shared(self.schedule, places.len());
        let mut inputs = Vec::with_capacity(places.len());
        for (name, codec, source) in places {
            let node = graph.input(&name).ok_or_else(|| {
                Error::config(name.clone(), "the program has no input port of this name")
            })?;
            inputs.push(Input::new(node, codec));
            let source = match (&self.feeding, source) {
                (Feeding::Own, Some(source)) => {
                    plan.sources.push(source.config);
                    continue;
                }
                (_, source) => source,
            };
            let frames = frames(&self.feeding, source.as_ref())?;
            let recorder = Arc::clone(recorder);
            plan.sources.push(Arc::new(InjectConfig { name, frames, schedule, recorder }));
        }
        Ok(inputs)
    }

    /// The program's own sinks, or nowhere; ports without a sink go nowhere as JSON.
    fn outputs(
        &self,
        graph: &Graph,
        declared: Vec<SinkEndpoint>,
        plan: &mut RunPlan,
    ) -> Vec<Vec<Output>> {
        let nowhere = |port: &String| SinkEndpoint {
            port: port.clone(),
            config: Arc::new(SinkConfig::Null),
            path: None,
            encoding: Encoding::default(),
            each_member: false,
            attributes: None,
            queue: temblor_runtime::outlet::QueuePolicy::default(),
        };
        let is_free = |port: &&String| !declared.iter().any(|sink| sink.port == **port);
        let free: Vec<_> = graph.outputs().iter().filter(is_free).map(nowhere).collect();
        let declared = declared.into_iter().map(|sink| match self.keep_sinks {
            true => sink,
            false => SinkEndpoint { config: Arc::new(SinkConfig::Null), path: None, ..sink },
        });
        let rest = NamedSink::new("nowhere", SinkConfig::Null);
        wire_sinks(graph, declared.chain(free).collect(), (rest, Encoding::default()), plan)
    }
}

/// The part of one of several injectors.
fn shared(schedule: Schedule, injectors: usize) -> Schedule {
    match schedule.load {
        Load::Open(rate) => {
            Schedule { load: Load::Open(rate / injectors.max(1) as f64), ..schedule }
        }
        Load::Closed => schedule,
    }
}

/// What is injected in the place of a source.
fn frames(feeding: &Feeding, source: Option<&SourceEndpoint>) -> Result<Arc<Frames>, Error> {
    match feeding {
        Feeding::Frames(frames) => Ok(Arc::clone(frames)),
        Feeding::File(path) => Frames::read(path).map(Arc::new),
        Feeding::Declared | Feeding::Own => declared(source).map(Arc::new),
    }
}

fn declared(source: Option<&SourceEndpoint>) -> Result<Frames, Error> {
    let source = source.ok_or_else(nothing_to_inject)?;
    if let Some(Generated { name, spec }) = source.config_as() {
        return generated(name, spec);
    }
    let path = match source.config_as() {
        Some(SourceConfig::File(FileConfig { patterns, .. })) => patterns.first(),
        _ => None,
    };
    Frames::read(Path::new(path.ok_or_else(nothing_to_inject)?))
}

/// So many bytes of generated events are repeated; making them is no part of what is measured.
const GENERATED_BYTES: usize = 16 * 1024 * 1024;

fn generated(name: &str, spec: &Spec) -> Result<Frames, Error> {
    let mut text = Vec::new();
    let mut stream = Stream::open(spec, temblor_runtime::clock::system_time())?;
    stream
        .fill(&mut text, u64::MAX, GENERATED_BYTES)
        .map_err(|reason| Error::config(name, reason))?;
    Frames::of(&text).not_empty(name)
}

fn nothing_to_inject() -> Error {
    Error::config("--input", "the program reads no file: say whose lines are to be injected")
}

fn into_counts(summary: Summary) -> Result<temblor_runtime::stats::Counts, Error> {
    match summary.error {
        Some(error) if summary.ended_early => Err(error),
        _ => Ok(summary.counts),
    }
}
