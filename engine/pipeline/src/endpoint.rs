//! `source … from …` and `sink … into …` of Temblor files: where the events of an input port come
//! from and where those of an output port go.

use crate::connected::{self, Declared};
use crate::flow::chains;
use crate::flow::settings::Settings;
use crate::graph::Graph;
use crate::lookup::NamedTables;
use crate::metered::MetricsConfig;
use crate::operator::ERR;
use crate::pipeline::Attribute;
use crate::pipeline::{Output, Place};
use crate::registry::Registry;
use std::path::PathBuf;
use std::sync::Arc;
use temblor_codec::interceptor::{Packing, Postprocessor, Preprocessor};
use temblor_codec::names;
use temblor_codec::{Encoding, InputCodec};
use temblor_connect::sink::{Care, FileMode, SinkConfig};
use temblor_connect::source::SourceConfig;
use temblor_connect::source::chained::ChainedConfig;
use temblor_connect::source::command::{CommandConfig, Rhythm};
use temblor_connect::source::file::FileConfig;
use temblor_connect::source::repeat::RepeatConfig;
use temblor_connect::source::tail::TailConfig;
use temblor_declare::{Connector, Notation};
use temblor_generate::Spec;
use temblor_generate::source::Generated;
use temblor_generate::spec::SETTINGS;
use temblor_lang::diagnostic::Diagnostic;
use temblor_lang::lower::{Compiler, Rules, Scope};
use temblor_lang::program::Formula;
use temblor_lang::span::Span;
use temblor_lang::syntax::tree::{
    EndpointDef, EndpointRole, Expr, ExprKind, StringLit, StringPart,
};
use temblor_lang::value::{Arena, Frozen, Value};
use temblor_runtime::disk::Durability;
use temblor_runtime::feedback::FeedbackConfig;
use temblor_runtime::framing::Framing;
use temblor_runtime::outlet::{QueuePolicy, WhenFull};
use temblor_runtime::run::{NamedSink, RunPlan};
use temblor_runtime::sink::OpenSink;
use temblor_runtime::source::OpenSource;

/// What feeds an input port.
#[derive(Debug)]
pub enum EndpointSource {
    /// Files, commands, clocks, standard input.
    Local(SourceConfig),
    /// Events that are made, and the name of the source.
    Generated(String, Box<Spec>),
    /// What the run itself counts.
    Metrics(MetricsConfig),
    /// What another crate brings.
    Other(Arc<dyn OpenSource>),
    /// What a sink gives back.
    Feedback(FeedbackConfig),
}

impl EndpointSource {
    /// The same, as the runtime takes it.
    #[must_use]
    pub fn into_open(self) -> Arc<dyn OpenSource> {
        match self {
            Self::Local(config) => Arc::new(config),
            Self::Generated(name, spec) => Arc::new(Generated { name, spec: *spec }),
            Self::Metrics(config) => Arc::new(config),
            Self::Other(source) => source,
            Self::Feedback(config) => Arc::new(config),
        }
    }
}

impl From<SourceConfig> for EndpointSource {
    fn from(config: SourceConfig) -> Self {
        Self::Local(config)
    }
}

/// A source and the input port that it feeds.
#[derive(Debug)]
pub struct SourceEndpoint {
    /// The input port.
    pub port: String,
    /// Where bytes come from.
    pub config: EndpointSource,
    /// How frames are read.
    pub codec: InputCodec,
    /// The input port for frames that cannot be read, and what they call the source.
    pub errors: Option<(String, String)>,
}

/// A sink and the output port that it serves.
#[derive(Debug)]
pub struct SinkEndpoint {
    /// The output port.
    pub port: String,
    /// Where bytes go.
    pub config: Arc<dyn OpenSink>,
    /// The path, when it depends on the event.
    pub path: Option<Formula>,
    /// How events are written.
    pub encoding: Encoding,
    /// Whether a batched event is written as the events that it consists of.
    pub each_member: bool,
    /// What the sink wants beside each event; nothing when it takes bytes as they come.
    pub attributes: Option<Box<[Attribute]>>,
    /// How much may wait for it, and what happens beyond that.
    pub queue: QueuePolicy,
}

/// All that a file declares.
#[derive(Debug, Default)]
pub struct Endpoints {
    /// In order of writing.
    pub sources: Vec<SourceEndpoint>,
    /// In order of writing.
    pub sinks: Vec<SinkEndpoint>,
    /// What scripts and `enrich` may look things up in.
    pub tables: NamedTables,
}

/// The kinds of sources.
pub const SOURCE_KINDS: [&str; 6] =
    ["command", "file", "generator", "metronome", "repeat", "stdin"];
/// The kinds of sinks.
pub const SINK_KINDS: [&str; 4] = ["command", "file", "null", "stdout"];
const FILE_MODES: &[(&str, FileMode)] = &[
    ("append", FileMode::Append),
    ("overwrite", FileMode::Overwrite),
    ("truncate", FileMode::Truncate),
];

impl Endpoints {
    /// Checks the declarations; what is wrong is reported to the compiler. `given`: the tables of the
    /// command line, if it is known which there are.
    pub fn lower(
        definitions: &[EndpointDef],
        given: Option<&NamedTables>,
        registry: &Registry,
        compiler: &mut Compiler<'_>,
    ) -> Self {
        let tables = NamedTables::lower(definitions, given, compiler);
        let mut endpoints = Self { tables, ..Self::default() };
        for def in definitions {
            match def.role {
                EndpointRole::Source => endpoints.sources.extend(source(def, registry, compiler)),
                EndpointRole::Sink => {
                    let sink = sink(def, registry, &mut endpoints.sources, compiler);
                    endpoints.sinks.extend(sink);
                }
                EndpointRole::Table => {}
            }
        }
        endpoints
    }

    /// Whether the file declares no source and no sink.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty() && self.sinks.is_empty()
    }
}

/// The settings of each kind of source.
fn source_settings(kind: &str) -> &'static [&'static str] {
    match kind {
        "generator" => &SETTINGS,
        "file" => &[
            "codec",
            "patterns",
            "preprocessors",
            "exclude",
            "follow",
            "start",
            "every",
            "separator",
            "framing",
        ],
        "command" => &["codec", "interval", "separator", "framing"],
        "repeat" => &["lines", "count", "times"],
        "metronome" => &["interval", "count"],
        _ => &["codec", "preprocessors", "separator", "framing"],
    }
}

fn source(
    def: &EndpointDef,
    registry: &Registry,
    compiler: &mut Compiler<'_>,
) -> Option<SourceEndpoint> {
    let kind = def.kind.text.as_str();
    if let Some(connector) = registry.connector(kind, Notation::Temblor) {
        return connected_source(connector, def, compiler);
    }
    known_settings(def, source_settings(kind), compiler);
    let settings = Settings::of_endpoint(def, compiler);
    let codec = chains::reader(&settings, compiler);
    let chain = chains::preprocessors(&settings, compiler);
    if kind == "generator" {
        let config = generator(def, compiler)?;
        return Some(SourceEndpoint { port: def.name.text.clone(), config, codec, errors: None });
    }
    let config = match kind {
        "stdin" | "file" if !chain.is_empty() => chained(def, chain, compiler)?,
        "stdin" => SourceConfig::Stdin { framing: framing(def, codec, compiler) },
        "file" => file_source(def, codec, compiler)?,
        "command" => SourceConfig::Command(CommandConfig {
            command: constant_path(def, compiler)?,
            rhythm: Rhythm::Every(duration(def, "interval", compiler)?),
            framing: framing(def, codec, compiler),
            reports: false,
        }),
        "repeat" => SourceConfig::Repeat(RepeatConfig {
            lines: texts(def, "lines", compiler).unwrap_or_default(),
            count: whole(def, "count", compiler).unwrap_or(0),
            times: whole(def, "times", compiler).unwrap_or(1),
            per_second: None,
        }),
        "metronome" => SourceConfig::Metronome {
            interval: duration(def, "interval", compiler)?,
            count: whole(def, "count", compiler),
        },
        other => {
            let message = format!("unknown kind of source `{other}`");
            let complaint = Diagnostic::error("E0519", def.kind.span, message);
            let known = known_kinds(&SOURCE_KINDS, registry);
            compiler.diagnostics.push(complaint.with_known(other, &known));
            return None;
        }
    };
    let config = EndpointSource::Local(config);
    Some(SourceEndpoint { port: def.name.text.clone(), config, codec, errors: None })
}

/// `source log from file "*.log" with follow = true end`
fn file_source(
    def: &EndpointDef,
    codec: InputCodec,
    compiler: &mut Compiler<'_>,
) -> Option<SourceConfig> {
    const STARTS: &[(&str, bool)] = &[("beginning", true), ("end", false)];
    /// How often files that grow are looked at, in nanoseconds, unless `every` says so.
    const EVERY_NS: u64 = 1_000_000_000;
    let patterns = match texts(def, "patterns", compiler) {
        Some(patterns) => patterns,
        None => vec![constant_path(def, compiler)?],
    };
    let exclude = texts(def, "exclude", compiler).unwrap_or_default();
    let framing = framing(def, codec, compiler);
    let follows = setting(def, "follow", compiler);
    if follows.is_some_and(|value| value.get().as_bool() == Some(true)) {
        let has_interval = def.with.iter().any(|binding| binding.name.text == "every");
        let every_ns = if has_interval { duration(def, "every", compiler)? } else { EVERY_NS };
        let from_beginning = choice(def, "start", STARTS, compiler).unwrap_or(false);
        let (discover_ns, age_max) = (every_ns, None);
        let config = TailConfig {
            patterns,
            exclude,
            framing,
            from_beginning,
            every_ns,
            discover_ns,
            age_max,
        };
        return Some(SourceConfig::Tail(config));
    }
    let patterns = if exclude.is_empty() {
        patterns
    } else {
        let files = temblor_connect::source::tail::files(&patterns, &exclude);
        files.iter().map(|path| path.display().to_string()).collect()
    };
    Some(SourceConfig::File(FileConfig::once(patterns, framing)))
}

/// `source in from stdin with preprocessors = ["decompress", "separate"] end`: one input whose
/// messages are what the chain makes of it.
fn chained(
    def: &EndpointDef,
    chain: Vec<Preprocessor>,
    compiler: &mut Compiler<'_>,
) -> Option<SourceConfig> {
    for binding in &def.with {
        if !["codec", "preprocessors"].contains(&binding.name.text.as_str()) {
            let message = format!("`{}` does not go with `preprocessors`", binding.name.text);
            let complaint = Diagnostic::error("E0510", binding.name.span, message)
                .with_help("preprocessors read one input, from its beginning to its end");
            compiler.diagnostics.push(complaint);
        }
    }
    let path = match def.kind.text.as_str() {
        "file" => Some(PathBuf::from(constant_path(def, compiler)?)),
        _ => None,
    };
    Some(SourceConfig::Chained(ChainedConfig::once(path, chain)))
}

fn framing(def: &EndpointDef, codec: InputCodec, compiler: &mut Compiler<'_>) -> Framing {
    chosen_framing(def, &STREAM_FRAMINGS[1..], compiler).unwrap_or_else(|| names::framing(codec))
}

/// The framings of connectors; local sources have all but the first.
const STREAM_FRAMINGS: &[(&str, Framing)] =
    &[("octet", Framing::Counted), ("lines", Framing::Lines), ("whole", Framing::Whole)];

/// The framing that the program chooses, if it does.
fn chosen_framing(
    def: &EndpointDef,
    framings: &[(&str, Framing)],
    compiler: &mut Compiler<'_>,
) -> Option<Framing> {
    let separator = whole(def, "separator", compiler).and_then(|byte| u8::try_from(byte).ok());
    match separator {
        Some(byte) => Some(Framing::Separated(byte)),
        None => choice(def, "framing", framings, compiler),
    }
}

fn setting(
    def: &EndpointDef,
    name: &str,
    compiler: &mut Compiler<'_>,
) -> Option<std::sync::Arc<Frozen>> {
    let binding = def.with.iter().find(|binding| binding.name.text == name)?;
    compiler.constant(&binding.value, &Scope::with_prelude(), compiler.program_args.clone())
}

/// Reports a setting that is not what it should be.
fn wrong(def: &EndpointDef, name: &str, wanted: &str, compiler: &mut Compiler<'_>) {
    let binding = def.with.iter().find(|binding| binding.name.text == name);
    let span = binding.map_or(def.kind.span, |binding| binding.value.span);
    let message = format!("`{name}` must be {wanted}");
    compiler.diagnostics.push(Diagnostic::error("E0510", span, message));
}

fn whole(def: &EndpointDef, name: &str, compiler: &mut Compiler<'_>) -> Option<u64> {
    let value = setting(def, name, compiler)?;
    let number = value.get().as_u64();
    if number.is_none() {
        wrong(def, name, "a whole number from 0", compiler);
    }
    number
}

fn texts(def: &EndpointDef, name: &str, compiler: &mut Compiler<'_>) -> Option<Vec<String>> {
    let value = setting(def, name, compiler)?;
    let arena = Arena::new();
    let value = value.get().copy_into(&arena);
    let items = value.as_array(&arena).map(|items| items.iter().map(|item| item.as_str()));
    let texts = items.and_then(|items| items.map(|item| item.map(str::to_string)).collect());
    if texts.is_none() {
        wrong(def, name, "an array of texts", compiler);
    }
    texts
}

/// Nanoseconds, from 1; must be there.
fn duration(def: &EndpointDef, name: &str, compiler: &mut Compiler<'_>) -> Option<u64> {
    if !def.with.iter().any(|binding| binding.name.text == name) {
        let message = format!("the setting `{name}` is missing");
        let complaint = Diagnostic::error("E0507", def.kind.span, message);
        let kind = &def.kind.text;
        compiler
            .diagnostics
            .push(complaint.with_help(format!("write for example `{kind} with {name} = 10s end`")));
        return None;
    }
    let value = setting(def, name, compiler);
    let nanoseconds = value.as_ref().and_then(|value| match value.get().as_str() {
        Some(text) => temblor_lang::units::parse_duration(text),
        None => value.get().as_u64(),
    });
    let found = nanoseconds.filter(|nanoseconds| *nanoseconds > 0);
    if found.is_none() {
        wrong(def, name, "a duration such as 10s", compiler);
    }
    found
}

/// `source x from generator "weblog" with rate = "200/s" end`
fn generator(def: &EndpointDef, compiler: &mut Compiler<'_>) -> Option<EndpointSource> {
    let name = def.argument.as_ref().and_then(StringLit::constant).unwrap_or_default();
    let arena = Arena::new();
    let mut settings = arena.record_builder(def.with.len());
    let mut template = None;
    for binding in &def.with {
        if binding.name.text == "template" {
            let scope = Scope::with_prelude();
            template = Some(compiler.lower_formula(
                &binding.value,
                &scope,
                Rules::FORMULA,
                compiler.program_args.clone(),
            ));
        } else {
            let value = compiler.constant(
                &binding.value,
                &Scope::with_prelude(),
                compiler.program_args.clone(),
            )?;
            settings.insert(arena.str(&binding.name.text), value.get().copy_into(&arena));
        }
    }
    match Spec::from_settings(name, settings.finish(), template) {
        Ok(spec) => Some(EndpointSource::Generated(def.name.text.clone(), Box::new(spec))),
        Err(error) => {
            let binding = def.with.iter().find(|binding| binding.name.text == error.name);
            let span = binding.map_or(def.span, |binding| binding.value.span);
            let message = format!("generator `{name}`: `{}`: {}", error.name, error.reason);
            compiler.diagnostics.push(Diagnostic::error("E0510", span, message));
            None
        }
    }
}

fn sink(
    def: &EndpointDef,
    registry: &Registry,
    sources: &mut Vec<SourceEndpoint>,
    compiler: &mut Compiler<'_>,
) -> Option<SinkEndpoint> {
    if let Some(connector) = registry.connector(&def.kind.text, Notation::Temblor) {
        return connected_sink(connector, def, sources, compiler);
    }
    let mode = choice(def, "mode", FILE_MODES, compiler).unwrap_or_default();
    let mut known = vec!["codec", "compression", "mode", "postprocessors"];
    // Only what confirms later has a queue of its own.
    known.extend_from_slice(if def.kind.text == "command" { &QUEUE } else { &[] });
    known.extend((def.kind.text == "file").then_some("durability"));
    known_settings(def, &known, compiler);
    let durability = choice(def, "durability", Durability::WORDS, compiler).unwrap_or_default();
    let care = Care { durability, ..Care::default() };
    let queue = queue_policy(def, compiler);
    let settings = Settings::of_endpoint(def, compiler);
    let mut encoding = chains::writer(&settings, compiler);
    let stream;
    (encoding.post, stream) = postprocessors(def, &settings, encoding.post, compiler);
    let (config, path) = match def.kind.text.as_str() {
        "stdout" => (SinkConfig::Stdout, None),
        "null" => (SinkConfig::Null, None),
        "file" => match def.argument.as_ref() {
            Some(text) if text.constant().is_none() => placed(text, mode, care, compiler),
            _ => {
                let path = PathBuf::from(constant_path(def, compiler)?);
                (SinkConfig::File { path, mode, care }, None)
            }
        },
        "command" => match def.argument.as_ref() {
            Some(text) if text.constant().is_none() => {
                let tree = Expr { kind: ExprKind::String(text.clone()), span: text.span };
                let scope = Scope::with_prelude();
                let command = compiler.lower_formula(
                    &tree,
                    &scope,
                    Rules::FORMULA,
                    compiler.program_args.clone(),
                );
                (SinkConfig::Command { command: String::new(), idle_max: None }, Some(command))
            }
            _ => (
                SinkConfig::Command { command: constant_path(def, compiler)?, idle_max: None },
                None,
            ),
        },
        other => {
            let message = format!("unknown kind of sink `{other}`");
            let complaint = Diagnostic::error("E0519", def.kind.span, message);
            let known = known_kinds(&SINK_KINDS, registry);
            compiler.diagnostics.push(complaint.with_known(other, &known));
            return None;
        }
    };
    Some(SinkEndpoint {
        port: def.name.text.clone(),
        config: Arc::new(config.packed(stream)),
        path,
        encoding,
        each_member: false,
        attributes: None,
        queue,
    })
}

/// Settings of every sink that has a queue.
pub const QUEUE: [&str; 2] = ["queue_bytes", "when_full"];

/// `with queue_bytes = "64MiB", when_full = "block"`: how much may wait for a sink, and what happens
/// beyond that.
pub fn queue_policy(def: &EndpointDef, compiler: &mut Compiler<'_>) -> QueuePolicy {
    const WORDS: &[(&str, WhenFull)] = &[
        ("block", WhenFull::Block),
        ("drop_newest", WhenFull::DropNewest),
        ("drop_oldest", WhenFull::DropOldest),
    ];
    let mut policy = QueuePolicy::default();
    if let Some(value) = setting(def, "queue_bytes", compiler) {
        let size = match value.get().as_str() {
            Some(text) => temblor_lang::units::parse_size(text),
            None => value.get().as_u64(),
        };
        match size.and_then(|size| usize::try_from(size).ok()).filter(|size| *size > 0) {
            Some(size) => policy.bytes_max = size,
            None => wrong(def, "queue_bytes", "a size such as 64MiB", compiler),
        }
    }
    policy.when_full = choice(def, "when_full", WORDS, compiler).unwrap_or_default();
    policy
}

/// The names of local kinds and of those of the registry.
fn known_kinds(local: &[&'static str], registry: &Registry) -> Vec<&'static str> {
    let of_registry = registry.connectors().filter(|one| one.notation == Notation::Temblor);
    let mut known: Vec<_> = local.iter().copied().chain(of_registry.map(|one| one.kind)).collect();
    known.sort_unstable();
    known.dedup();
    known
}

fn connected_source(
    connector: &'static Connector,
    def: &EndpointDef,
    compiler: &mut Compiler<'_>,
) -> Option<SourceEndpoint> {
    let chosen = chosen_framing(def, STREAM_FRAMINGS, compiler);
    let reading = connected::reading(connector, def, chosen, compiler);
    let Declared { built, .. } = connected::declared(connector, def, &reading, compiler)?;
    let config = EndpointSource::Other(built.source?);
    let (port, codec) = (def.name.text.clone(), reading.codec);
    Some(SourceEndpoint { port, config, codec, errors: None })
}

fn connected_sink(
    connector: &'static Connector,
    def: &EndpointDef,
    sources: &mut Vec<SourceEndpoint>,
    compiler: &mut Compiler<'_>,
) -> Option<SinkEndpoint> {
    let reading = connected::reading(connector, def, None, compiler);
    let encoding = connected::encoding(connector, def, compiler);
    let declared = connected::declared(connector, def, &reading, compiler)?;
    let attributes = connected::attributes(connector.sink, &declared.settings);
    let name = def.name.text.as_str();
    let sink = declared.built.sink?;
    let queue = queue_policy(def, compiler);
    let endpoint = connected::sink_endpoint((name, name), sink, attributes, encoding, sources);
    Some(SinkEndpoint { queue, ..endpoint })
}

/// How a sink's bytes are compressed as one stream, and with which level.
type Stream = Option<(Packing, Option<i64>)>;

/// What happens to an encoded event, and to all that the sink gets. `ending` is what the codec has
/// behind an event where the program does not say; nothing means a newline.
fn postprocessors(
    def: &EndpointDef,
    settings: &Settings,
    ending: Option<Box<[Postprocessor]>>,
    compiler: &mut Compiler<'_>,
) -> (Option<Box<[Postprocessor]>>, Stream) {
    const COMPRESSIONS: &[(&str, Option<Packing>)] =
        &[("gzip", Some(Packing::Gzip)), ("none", None)];
    let packing = choice(def, "compression", COMPRESSIONS, compiler).flatten();
    let says = def.with.iter().any(|binding| binding.name.text == "postprocessors");
    let after = chains::postprocessors(settings, compiler);
    let each = if says { Some(after.each.into_boxed_slice()) } else { ending };
    let Some(packing) = packing else { return (each, after.stream) };
    let mut each = each.map_or_else(|| vec![Postprocessor::Separate(b'\n')], <[_]>::into_vec);
    each.push(Postprocessor::Compress(packing, None));
    (Some(each.into_boxed_slice()), after.stream)
}

/// A path with event fields in it. No event leads out of the directory that the text begins with.
fn placed(
    text: &StringLit,
    mode: FileMode,
    care: Care,
    compiler: &mut Compiler<'_>,
) -> (SinkConfig, Option<Formula>) {
    let (directory, rest) = directory_of(text);
    let tree = Expr { kind: ExprKind::String(rest), span: text.span };
    let scope = Scope::with_prelude();
    let path = compiler.lower_formula(&tree, &scope, Rules::FORMULA, compiler.program_args.clone());
    (SinkConfig::Files { directory, mode, care }, Some(path))
}

/// The directory that a text begins with, and the rest of the text.
fn directory_of(text: &StringLit) -> (PathBuf, StringLit) {
    let mut rest = text.clone();
    let Some(StringPart::Text(first)) = rest.parts.first_mut() else {
        return (PathBuf::from("."), rest);
    };
    match first.rfind('/') {
        Some(slash) => {
            let file = first.split_off(slash + 1);
            let directory = std::mem::replace(first, file);
            (PathBuf::from(directory), rest)
        }
        None => (PathBuf::from("."), rest),
    }
}

fn constant_path(def: &EndpointDef, compiler: &mut Compiler<'_>) -> Option<String> {
    let path = def.argument.as_ref().and_then(StringLit::constant).filter(|path| !path.is_empty());
    if path.is_none() {
        let message = format!("`{}` needs the path of a file", def.kind.text);
        let complaint = Diagnostic::error("E0520", def.kind.span, message)
            .with_help("such as: source log from file \"access.log\"");
        compiler.diagnostics.push(complaint);
    }
    path.map(str::to_string)
}

fn known_settings(def: &EndpointDef, known: &[&str], compiler: &mut Compiler<'_>) {
    for binding in &def.with {
        let name = &binding.name;
        if !known.contains(&name.text.as_str()) {
            let message = format!("unknown setting `{}`", name.text);
            let complaint = Diagnostic::error("E0506", name.span, message);
            compiler.diagnostics.push(complaint.with_nearest(&name.text, known.iter().copied()));
        }
    }
}

/// Puts the sinks into the plan; the events of ports that have none go to `rest`.
pub fn wire_sinks(
    graph: &Graph,
    sinks: Vec<SinkEndpoint>,
    (rest, encoding): (NamedSink, Encoding),
    plan: &mut RunPlan,
) -> Vec<Vec<Output>> {
    plan.ports = graph.outputs().to_vec();
    let mut outputs: Vec<Vec<Output>> = plan.ports.iter().map(|_| Vec::new()).collect();
    for sink in sinks {
        let Some(port) = plan.ports.iter().position(|port| *port == sink.port) else { continue };
        let place = sink.path.map_or(Place::Only, |path| Place::Path(Box::new(path)));
        let number = plan.sinks.len();
        let errors = graph.input(&format!("{}/{ERR}", sink.port));
        plan.sinks.push(NamedSink { name: sink.port, config: sink.config, queue: sink.queue });
        let SinkEndpoint { encoding, each_member, attributes, .. } = sink;
        outputs[port].push(Output {
            sink: number,
            place,
            encoding,
            port,
            each_member,
            attributes,
            errors,
        });
    }
    if outputs.iter().any(Vec::is_empty) {
        let sink = plan.sinks.len();
        plan.sinks.push(rest);
        for (port, places) in outputs.iter_mut().enumerate().filter(|(_, one)| one.is_empty()) {
            let (place, encoding) = (Place::Only, encoding.clone());
            let (attributes, errors, each_member) = (None, None, false);
            places.push(Output { sink, place, encoding, port, each_member, attributes, errors });
        }
    }
    outputs
}

/// The value of a setting that is one of a few words.
fn choice<T: Copy>(
    def: &EndpointDef,
    name: &str,
    words: &[(&str, T)],
    compiler: &mut Compiler<'_>,
) -> Option<T> {
    let binding = def.with.iter().find(|binding| binding.name.text == name)?;
    let value =
        compiler.constant(&binding.value, &Scope::with_prelude(), compiler.program_args.clone())?;
    let word = value.get().as_str().unwrap_or_default();
    let found = words.iter().find(|(known, _)| *known == word).map(|(_, value)| *value);
    if found.is_none() {
        complain_word(name, value.get(), words, binding.value.span, compiler);
    }
    found
}

#[cold]
fn complain_word<T>(
    name: &str,
    got: Value<'_>,
    words: &[(&str, T)],
    span: Span,
    compiler: &mut Compiler<'_>,
) {
    let known: Vec<_> = words.iter().map(|(word, _)| *word).collect();
    let got = temblor_lang::value::to_json(got);
    let message = format!("`{name}` must be one of {}, got {got}", known.join(", "));
    compiler.diagnostics.push(Diagnostic::error("E0510", span, message));
}
