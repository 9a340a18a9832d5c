//! A configuration as a program that can be run: each pipeline as one operator, its inputs and outputs
//! as endpoints. What cannot be run is named with its place, and never left out in silence.

use super::complain;
use super::condition::Compiler;
use super::input::{self, Intake, Origin};
use super::link::Links;
use super::load::Pipeline;
use super::network::{self, Sink};
use super::operator::{LogstashPipeline, Way};
use super::output::{self, Destination, Outlet, PLACE};
use super::settings::Settings;
use super::syntax::tree::{Plugin, SectionKind, Statement};
use std::path::Path;
use std::sync::Arc;
use temblor_codec::Format;
use temblor_codec::{Encoding, OutputCodec};
use temblor_lang::coverage::Coverage;
use temblor_lang::diagnostic::Diagnostic;
use temblor_lang::span::{Source, Sources};
use temblor_pipeline::connected;
use temblor_pipeline::dead_letters;
use temblor_pipeline::endpoint::{Endpoints, SinkEndpoint, SourceEndpoint};
use temblor_pipeline::graph::{Graph, Network};
use temblor_pipeline::load::{Language, Loaded};
use temblor_pipeline::operator::{IN, OUT};
use temblor_pipeline::queueing::on_disk;

/// What the command line says about a configuration.
#[derive(Clone, Debug, Default)]
pub struct Wishes {
    /// Field names, escapes and variables.
    pub settings: Settings,
    /// Standard input stands for all inputs.
    pub stdin: bool,
    /// Standard output stands for all outputs.
    pub stdout: bool,
}

/// A configuration that was compiled.
#[derive(Debug)]
pub struct Configuration {
    /// As any other program.
    pub loaded: Loaded,
    /// Plugins that cannot be run, by place.
    pub missing: usize,
}

/// Loads the file or folder at `path`. The error is a sentence about it.
pub fn load(path: &Path, wishes: &Wishes) -> Result<Configuration, String> {
    let pipelines = super::load::pipelines(path, &wishes.settings)?;
    Ok(compile(pipelines, &path.display().to_string(), wishes))
}

/// As [`load`], of one text.
#[must_use]
pub fn of_text(name: &str, text: String, wishes: &Wishes) -> Configuration {
    let pipelines = super::load::of_text(name, text, &wishes.settings);
    compile(pipelines, name, wishes)
}

/// All that is wrong with one text, what nobody would expect of Logstash included; and the text.
#[must_use]
pub fn diagnose(name: &str, text: String) -> (Vec<Diagnostic>, Sources) {
    let mut wishes = Wishes::default();
    wishes.settings.explains = true;
    let Configuration { loaded, .. } = of_text(name, text, &wishes);
    (loaded.diagnostics, loaded.sources)
}

/// Compiles pipelines that were read.
#[must_use]
pub fn compile(read: super::load::Pipelines, name: &str, wishes: &Wishes) -> Configuration {
    let super::load::Pipelines { pipelines, sources, mut diagnostics } = read;
    let mut weaver = Weaver::of(&pipelines, wishes, &sources, &mut diagnostics);
    for pipeline in &pipelines {
        weaver.pipeline(pipeline, pipelines.len() > 1);
    }
    weaver.link();
    let Weaver { network, endpoints, .. } = weaver;
    let graph = match Graph::of_network(network) {
        Ok(graph) => graph,
        Err(names) => {
            diagnostics.push(complain::circle(&names));
            Graph::default()
        }
    };
    let missing = diagnostics.iter().filter(|one| one.code == complain::MISSING).count();
    let keeping = pipelines.iter().map(|one| &one.settings.keeping);
    let letters = keeping.map(|one| (one.letters(), one.drops_older));
    let letters = letters.filter_map(|(folder, drops_older)| Some((folder?, drops_older))).next();
    let mut loaded = Loaded {
        language: Language::Temblor,
        graph,
        endpoints,
        program: Source { name: name.to_string(), text: String::new() },
        sources,
        diagnostics,
        coverage: Coverage::default(),
        risks: Vec::new(),
    };
    if let Some(((folder, bytes_max), drops_older)) = letters {
        dead_letters::keep(&mut loaded, folder, bytes_max, drops_older);
    }
    Configuration { loaded, missing }
}

/// The pipeline that takes the events of standard input: the first that no other sends to.
#[must_use]
pub fn first_pipeline(read: super::load::Pipelines, wishes: &Wishes) -> Option<LogstashPipeline> {
    let super::load::Pipelines { pipelines, sources, mut diagnostics } = read;
    let mut weaver = Weaver::of(&pipelines, wishes, &sources, &mut diagnostics);
    let mut operators = pipelines.iter().map(|pipeline| weaver.operator(pipeline, false));
    operators.find(|operator| operator.intakes.iter().any(|(port, _)| port == IN))
}

/// Puts pipelines, sources and sinks together.
struct Weaver<'w> {
    wishes: &'w Wishes,
    links: Links,
    sources: &'w Sources,
    diagnostics: &'w mut Vec<Diagnostic>,
    network: Network,
    endpoints: Endpoints,
    /// Addresses, the operators that listen to them, and their ports.
    receivers: Vec<(String, usize, String)>,
    /// Addresses that operators send to, by their ports.
    senders: Vec<(String, usize, String)>,
}

impl<'w> Weaver<'w> {
    fn of(
        pipelines: &[Pipeline],
        wishes: &'w Wishes,
        sources: &'w Sources,
        diagnostics: &'w mut Vec<Diagnostic>,
    ) -> Self {
        Self {
            wishes,
            links: Links::of(pipelines),
            sources,
            diagnostics,
            network: Network::default(),
            endpoints: Endpoints::default(),
            receivers: Vec::new(),
            senders: Vec::new(),
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline, several: bool) {
        let operator = self.operator(pipeline, several);
        self.network.operators.push((pipeline.id.clone(), Box::new(operator)));
    }

    fn operator(&mut self, pipeline: &Pipeline, several: bool) -> LogstashPipeline {
        let settings = &pipeline.settings;
        let prefix = if several { format!("{}/", pipeline.id) } else { String::new() };
        let number = self.network.operators.len();
        let mut operator = LogstashPipeline {
            program: pipeline.program(settings, self.diagnostics),
            ..LogstashPipeline::default()
        };
        self.inputs(pipeline, (&prefix, number), &mut operator);
        self.outputs(pipeline, (&prefix, number), &mut operator);
        operator
    }

    /// `prefix/file_12`
    fn name(&self, prefix: &str, plugin: &Plugin) -> String {
        let line = self.sources.position(plugin.span).line;
        let wanted = format!("{prefix}{}_{line}", plugin.name.text);
        let sources = self.endpoints.sources.iter().map(|one| &one.port);
        let sinks = self.endpoints.sinks.iter().map(|one| &one.port);
        let taken: Vec<_> = sources.chain(sinks).collect();
        let mut name = wanted.clone();
        let mut number = 2;
        while taken.contains(&&name) {
            name = format!("{wanted}_{number}");
            number += 1;
        }
        name
    }

    fn inputs(
        &mut self,
        pipeline: &Pipeline,
        (prefix, number): (&str, usize),
        operator: &mut LogstashPipeline,
    ) {
        let plugins = pipeline.plugins(SectionKind::Input);
        let is_link = |plugin: &&Plugin| self.links.is_inside(plugin, &pipeline.settings);
        if plugins.is_empty() || self.wishes.stdin && !plugins.iter().all(is_link) {
            let intake = Intake::of_standard_input(&pipeline.settings);
            operator.intakes.push((IN.to_string(), intake));
            self.network.inputs.push((IN.to_string(), number));
        }
        let kept: Vec<_> =
            plugins.iter().filter(|plugin| !self.wishes.stdin || is_link(plugin)).collect();
        for plugin in kept {
            let name = self.name(prefix, plugin);
            let made = input::compile((&name, plugin), &pipeline.settings, self.diagnostics);
            let Some(input::Input { intake, origin }) = made else { continue };
            match origin {
                Origin::Address(address) => {
                    let port = format!("from {address}");
                    operator.intakes.push((port.clone(), intake));
                    self.receivers.push((address, number, port));
                }
                Origin::Network(network::Sources { open, codec }) => {
                    operator.intakes.push((name.clone(), intake));
                    self.network.inputs.push((name.clone(), number));
                    let keeping = &pipeline.settings.keeping;
                    let kept = |source| match keeping.queue_on_disk {
                        true => on_disk(&name, source, keeping.queue_bytes(), keeping.syncs_each),
                        false => source,
                    };
                    let endpoint = |source| SourceEndpoint::new(name.clone(), kept(source), codec);
                    self.endpoints.sources.extend(open.into_iter().map(endpoint));
                }
                Origin::Source(config, codec) => {
                    let port = name;
                    operator.intakes.push((port.clone(), intake));
                    self.network.inputs.push((port.clone(), number));
                    let endpoint = SourceEndpoint::new(port, Arc::new(*config), codec);
                    self.endpoints.sources.push(endpoint);
                }
            }
        }
    }

    fn outputs(
        &mut self,
        pipeline: &Pipeline,
        place: (&str, usize),
        operator: &mut LogstashPipeline,
    ) {
        let plugins = pipeline.plugins(SectionKind::Output);
        let is_link = |plugin: &&Plugin| self.links.is_inside(plugin, &pipeline.settings);
        if plugins.is_empty() || self.wishes.stdout && !plugins.iter().all(is_link) {
            operator.ways.push(Way::Out(operator.outlets.len()));
            let ports = vec![OUT.to_string()];
            operator.outlets.push(Outlet { ports, ..Outlet::default() });
            self.network.outputs.push((OUT.to_string(), place.1, OUT.to_string()));
        }
        for section in pipeline.sections(SectionKind::Output) {
            let ways = self.ways(&section.body, pipeline, place, operator);
            operator.ways.extend(ways);
        }
    }

    fn ways(
        &mut self,
        body: &[Statement],
        pipeline: &Pipeline,
        place: (&str, usize),
        operator: &mut LogstashPipeline,
    ) -> Vec<Way> {
        let mut ways = Vec::new();
        for statement in body {
            match statement {
                Statement::Plugin(plugin) => {
                    ways.extend(self.output(plugin, pipeline, place, operator).map(Way::Out));
                }
                Statement::Branch(branch) => {
                    let mut arms = Vec::new();
                    for (condition, body) in &branch.arms {
                        let (settings, diagnostics) = (&pipeline.settings, &mut *self.diagnostics);
                        let test = Compiler { settings, diagnostics }.compile(condition);
                        arms.push((test, self.ways(body, pipeline, place, operator)));
                    }
                    let otherwise = branch.otherwise.as_deref().unwrap_or(&[]);
                    let otherwise = self.ways(otherwise, pipeline, place, operator);
                    ways.push(Way::Branch { arms, otherwise });
                }
            }
        }
        ways
    }

    /// The number of the outlet of an output plugin.
    fn output(
        &mut self,
        plugin: &Plugin,
        pipeline: &Pipeline,
        (prefix, number): (&str, usize),
        operator: &mut LogstashPipeline,
    ) -> Option<usize> {
        if self.wishes.stdout && !self.links.is_inside(plugin, &pipeline.settings) {
            return None;
        }
        let name = self.name(prefix, plugin);
        let (mut outlet, destination) =
            output::compile((&name, plugin), &pipeline.settings, self.diagnostics)?;
        match destination {
            Destination::Addresses(addresses) => {
                for address in addresses {
                    let port = format!("to {address}");
                    outlet.ports.push(port.clone());
                    self.senders.push((address, number, port));
                }
            }
            Destination::Network(sink) => {
                let Sink { built, attributes, encoding } = *sink;
                outlet.ports.push(name.clone());
                self.network.outputs.push((name.clone(), number, name.clone()));
                let (port, sources) = ((&*name, &*name), &mut self.endpoints.sources);
                let endpoint = connected::sink_endpoint(port, built, attributes, encoding, sources);
                self.endpoints.sinks.push(endpoint);
            }
            Destination::Sink(config, post) => {
                let port = name;
                outlet.ports.push(port.clone());
                self.network.outputs.push((port.clone(), number, port.clone()));
                let mut encoding = Encoding::default();
                if outlet.encoder.is_some() {
                    // What the encoder gave is written as it is.
                    encoding.codec = OutputCodec::Format(Format::Binary);
                    encoding.post = Some(Box::from([]));
                }
                encoding.post = post.or(encoding.post);
                let path = outlet.place.as_ref().map(|_| network::metadata_formula(PLACE));
                self.endpoints.sinks.push(SinkEndpoint {
                    port,
                    config: std::sync::Arc::new(config),
                    path: path.map(Arc::new),
                    encoding,
                    each_member: false,
                    attributes: None,
                    queue: temblor_runtime::outlet::QueuePolicy::default(),
                });
            }
        }
        operator.outlets.push(outlet);
        Some(operator.outlets.len() - 1)
    }

    /// Connects senders and receivers of the same address.
    fn link(&mut self) {
        let mut missing = Vec::new();
        for (address, from, port) in &self.senders {
            let receivers: Vec<_> =
                self.receivers.iter().filter(|(one, ..)| one == address).collect();
            if receivers.is_empty() && !missing.contains(address) {
                missing.push(address.clone());
            }
            for (_, to, into) in receivers {
                let link = ((*from, port.clone()), (*to, into.clone()));
                if !self.network.links.contains(&link) {
                    self.network.links.push(link);
                }
            }
        }
        for address in missing {
            self.diagnostics.push(complain::nobody_listens(&address));
        }
    }
}
