//! The connectors of this build: what each is made into.

use super::absent;
use super::chains::{self, After};
use super::settings::{Config, Settings, complain};
use crate::connected::{self, Reading};
use crate::endpoint::{EndpointSource, Endpoints, SinkEndpoint, SourceEndpoint};
use crate::graph::{FlowConnector, FlowPort, Graph};
use crate::metered::MetricsConfig;
use crate::operator::{ERR, IN, OUT};
use crate::registry::Registry;
use std::path::PathBuf;
use std::time::Duration;
use temblor_codec::interceptor::{MESSAGE_BYTES_MAX, Postprocessor, Preprocessor};
use temblor_codec::{Encoding, InputCodec, OutputCodec};
use temblor_connect::sink::bench::BenchConfig;
use temblor_connect::sink::{Care, FileMode, SinkConfig};
use temblor_connect::source::SourceConfig;
use temblor_connect::source::chained::ChainedConfig;
use temblor_connect::source::crononome::{Entry, Expression};
use temblor_connect::source::file::FileConfig;
use temblor_declare::{CodecUse, Connector, Ends, Notation, Setting, read};
use temblor_lang::diagnostic::{Diagnostic, Severity};
use temblor_lang::lower::Compiler;
use temblor_lang::value::Arena;
use temblor_runtime::framing::Framing;

/// The connectors that this build has.
pub const KINDS: [&str; 8] =
    ["bench", "crononome", "exit", "file", "metrics", "metronome", "null", "stdio"];
/// Bytes that can be read at once, at the most.
const CHUNK_BYTES_MAX: u64 = 16 << 20;

/// Adds the sources and sinks that a connector stands for.
pub(super) fn lower(
    connector: &FlowConnector,
    registry: &Registry,
    graph: &mut Graph,
    endpoints: &mut Endpoints,
    compiler: &mut Compiler<'_>,
) {
    let Some(def) = connector.def().filter(|_| !connector.faulty) else { return };
    let kind = def.kind.text.as_str();
    if let Some(row) = registry.connector(kind, Notation::Tremor) {
        return connected(connector, row, graph, endpoints, compiler);
    }
    if !KINDS.contains(&kind) {
        let span = def.kind.span;
        let unknown = || {
            Diagnostic::error("E0519", span, format!("unknown connector `{kind}`"))
                .with_nearest(kind, KINDS.into_iter().chain(absent::names()))
        };
        return compiler.diagnostics.push(absent::diagnostic(kind, span).unwrap_or_else(unknown));
    }
    let settings = Settings::of(connector, compiler);
    let arena = Arena::new();
    let (codec_in, codec_out) = chains::codec(&settings, compiler);
    let before = chains::preprocessors(&settings, compiler);
    let after = chains::postprocessors(&settings, compiler);
    let config = configuration(kind, &settings, &arena, compiler);
    let needs_codec = matches!(kind, "file" | "stdio" | "bench");
    let codec_use = if needs_codec { CodecUse::Required } else { CodecUse::Structured };
    check_codec(kind, codec_use, &settings, compiler);
    let file = if kind == "file" { file_of(&config, compiler) } else { None };
    check_ports(connector, kind, file.as_ref().map(|file| file.reads), compiler);
    let shape =
        Shape { kind, file, config, arena: &arena, codec: (codec_in, codec_out), before, after };
    if connector.gives.iter().any(|port| [OUT, ERR].contains(&port.name.as_str())) {
        let source = shape.source(compiler);
        let errors = connector.gives.iter().find(|port| port.name == ERR);
        endpoints.sources.extend(source.map(|config| SourceEndpoint {
            port: format!("{}/{OUT}", connector.name),
            config,
            codec: if needs_codec { codec_in } else { InputCodec::Json },
            errors: errors.map(|port| (port.end.clone(), connector.name.clone())),
        }));
    }
    for port in &connector.takes {
        endpoints.sinks.extend(shape.sink(port, compiler));
    }
    if let Some(interval_s) = settings.whole("metrics_interval_s", 1, compiler) {
        for port in connector.gives.iter().chain(&connector.takes) {
            graph.meter_connector(&connector.name, &port.name, &port.end, interval_s);
        }
    }
}

/// The settings of a connector's own.
fn configuration<'a>(
    kind: &str,
    settings: &'a Settings,
    arena: &'a Arena,
    compiler: &mut Compiler<'_>,
) -> Config<'a> {
    let known: &[&str] = match kind {
        "file" => &["path", "mode", "chunk_size"],
        "crononome" => &["entries"],
        "metronome" => &["interval"],
        "exit" => &["delay", "graceful"],
        "bench" => &BENCH_KEYS,
        _ => &[],
    };
    let said = compiler.diagnostics.len();
    let config = settings.config(known, arena, compiler);
    if matches!(kind, "stdio" | "null" | "metrics") {
        // They do not look at their configuration, whatever it is.
        for one in &mut compiler.diagnostics[said..] {
            one.severity = Severity::Warning;
        }
    }
    config
}

fn check_codec(kind: &str, codec: CodecUse, settings: &Settings, compiler: &mut Compiler<'_>) {
    let has = settings.codec(&Arena::new(), compiler).is_some();
    if codec == CodecUse::Required && !has {
        let message = format!("the connector `{kind}` needs a codec");
        let complaint = Diagnostic::error("E0507", settings.span, message)
            .with_help("such as: codec = \"json\"");
        compiler.diagnostics.push(complaint);
    } else if codec == CodecUse::Structured && has {
        let message = format!("the connector `{kind}` gives and takes values; it has no codec");
        complain(compiler, settings.span_of("codec"), message);
    }
}

/// A connector whose settings have been read.
struct Shape<'a> {
    kind: &'a str,
    file: Option<FileSettings>,
    config: Config<'a>,
    /// Where the values of `config` are.
    arena: &'a Arena,
    codec: (InputCodec, OutputCodec),
    before: Vec<Preprocessor>,
    after: After,
}

impl Shape<'_> {
    fn source(&self, compiler: &mut Compiler<'_>) -> Option<EndpointSource> {
        let codec = self.codec.0;
        match (self.kind, &self.file) {
            ("file", Some(file)) if file.reads => {
                Some(read(Some(file), &self.before, codec).into())
            }
            ("stdio", _) => Some(read(None, &self.before, codec).into()),
            ("crononome", _) => crononome(&self.config, self.arena, compiler).map(Into::into),
            ("metrics", _) => {
                // What it counts is known when all connectors are.
                let config = MetricsConfig { meters: Vec::new(), peers: 0, has_others: false };
                Some(EndpointSource::Metrics(config))
            }
            ("metronome", _) => metronome(&self.config, compiler).map(Into::into),
            ("bench", _) => bench(&self.config, &self.before, compiler).map(Into::into),
            _ => None,
        }
    }

    fn sink(&self, port: &FlowPort, compiler: &mut Compiler<'_>) -> Option<SinkEndpoint> {
        let config = match (self.kind, &self.file, port.name.as_str()) {
            ("file", Some(file), IN) if !file.reads => {
                SinkConfig::File { path: file.path.clone(), mode: file.mode, care: Care::default() }
            }
            ("stdio", _, IN | "stdout") => SinkConfig::Stdout,
            ("stdio", _, "stderr") => SinkConfig::Stderr,
            ("bench", _, IN) => SinkConfig::Bench(measured(&self.config, compiler)),
            ("null" | "metrics", _, IN) => SinkConfig::Null,
            ("exit", _, IN) => SinkConfig::Exit {
                delay: Duration::from_nanos(self.config.whole("delay", 0, compiler).unwrap_or(0)),
                graceful: self.config.flag("graceful", compiler).unwrap_or(true),
            },
            _ => return None,
        };
        let plain = matches!(self.kind, "null" | "exit" | "metrics");
        let config = config.packed(self.after.stream.filter(|_| !plain));
        Some(SinkEndpoint {
            port: port.end.clone(),
            config: std::sync::Arc::new(config),
            path: None,
            encoding: if plain { Encoding::default() } else { self.encoding() },
            each_member: true,
            attributes: None,
            queue: temblor_runtime::outlet::QueuePolicy::default(),
        })
    }
}

impl Shape<'_> {
    /// How each event is written. The bench sink wants to know when it was taken in.
    fn encoding(&self) -> Encoding {
        let mut each = self.after.each.clone();
        if self.kind == "bench" {
            each.extend([Postprocessor::LengthPrefixed, Postprocessor::IngestNs]);
        }
        Encoding { codec: self.codec.1, post: Some(each.into_boxed_slice()) }
    }
}

/// What the bench sink measures.
fn measured(config: &Config<'_>, compiler: &mut Compiler<'_>) -> BenchConfig {
    let figures = config.within("significant_figures", 1, 5, compiler).unwrap_or(2);
    BenchConfig {
        significant_figures: u8::try_from(figures).unwrap_or(2),
        warmup: Duration::from_secs(config.whole("warmup_secs", 0, compiler).unwrap_or(0)),
        structured: config.flag("structured", compiler).unwrap_or(false),
    }
}

/// Reports ports that the connector does not have.
fn check_ports(
    connector: &FlowConnector,
    kind: &str,
    reads: Option<bool>,
    compiler: &mut Compiler<'_>,
) {
    let gives: &[&str] = match (kind, reads) {
        ("stdio" | "crononome" | "metrics" | "metronome" | "bench", _)
        | ("file", Some(true) | None) => &[OUT, ERR],
        _ => &[],
    };
    let takes: &[&str] = match (kind, reads) {
        ("stdio", _) => &[IN, "stdout", "stderr"],
        ("crononome" | "metronome", _) | ("file", Some(true)) => &[],
        _ => &[IN],
    };
    let ports = connector.gives.iter().map(|port| (port, gives, "gives"));
    let ports = ports.chain(connector.takes.iter().map(|port| (port, takes, "takes")));
    for (port, known, verb) in ports {
        if known.contains(&port.name.as_str()) {
            continue;
        }
        let name = &connector.definition.name.text;
        let message = match (known.is_empty(), verb) {
            (true, "gives") => format!("no events come out of the connector `{name}`"),
            (true, _) => format!("no events go into the connector `{name}`"),
            (false, _) => format!("`{name}` has no port `{}`", port.name),
        };
        let mode = if kind == "file" { " with this `mode`" } else { "" };
        let complaint = Diagnostic::error("E0515", port.span, message)
            .with_label(format!("a `{kind}` connector{mode}"))
            .with_nearest(&port.name, known.iter().copied());
        compiler.diagnostics.push(complaint);
    }
}

struct FileSettings {
    path: PathBuf,
    reads: bool,
    mode: FileMode,
    chunk_bytes: usize,
}

fn file_of(config: &Config<'_>, compiler: &mut Compiler<'_>) -> Option<FileSettings> {
    let path = config.text("path", compiler);
    let mode = config.text("mode", compiler);
    if path.is_none() {
        config.missing("path", "the path of the file", compiler);
    }
    let mode = match mode {
        Some("read") => None,
        Some("write" | "truncate") => Some(FileMode::Truncate),
        Some("append") => Some(FileMode::Append),
        Some("overwrite") => Some(FileMode::Overwrite),
        Some(other) => {
            let known = "read, truncate, append, overwrite";
            let message = format!("`mode` must be one of {known}, got {other}");
            complain(compiler, config.span, message);
            return None;
        }
        None => {
            config.missing("mode", "one of read, truncate, append, overwrite", compiler);
            return None;
        }
    };
    Some(FileSettings {
        path: PathBuf::from(path?),
        reads: mode.is_none(),
        mode: mode.unwrap_or_default(),
        chunk_bytes: chunk_bytes(config, compiler),
    })
}

fn chunk_bytes(config: &Config<'_>, compiler: &mut Compiler<'_>) -> usize {
    let bytes =
        config.whole("chunk_size", 1, compiler).unwrap_or(ChainedConfig::CHUNK_BYTES as u64);
    bytes.min(CHUNK_BYTES_MAX) as usize
}

/// The source of a file or of standard input.
fn read(file: Option<&FileSettings>, chain: &[Preprocessor], codec: InputCodec) -> SourceConfig {
    let path = file.map(|file| file.path.clone());
    match (chains::framing(chain, codec), path) {
        (Some(framing), Some(path)) => {
            SourceConfig::File(FileConfig::once(vec![path.display().to_string()], framing))
        }
        (Some(framing), None) => SourceConfig::Stdin { framing },
        (None, path) => {
            let once = ChainedConfig::once(path, chain.to_vec());
            let chunk_bytes = file.map_or(once.chunk_bytes, |file| file.chunk_bytes);
            SourceConfig::Chained(ChainedConfig { chunk_bytes, ..once })
        }
    }
}

fn metronome(config: &Config<'_>, compiler: &mut Compiler<'_>) -> Option<SourceConfig> {
    let interval = config.whole("interval", 1, compiler);
    if interval.is_none() {
        config.missing("interval", "nanoseconds between two events", compiler);
    }
    Some(SourceConfig::Metronome { interval: interval?, count: None })
}

/// The time table of `{"entries": [{"name": …, "expr": …, "payload": …}]}`.
fn crononome<'a>(
    config: &Config<'a>,
    arena: &'a Arena,
    compiler: &mut Compiler<'_>,
) -> Option<SourceConfig> {
    let Some(records) = config.records("entries", &["name", "expr", "payload"], arena, compiler)
    else {
        config.missing("entries", "an array of {\"name\", \"expr\", \"payload\"}", compiler);
        return None;
    };
    let mut entries = Vec::with_capacity(records.len());
    for record in records {
        let name = record.text("name", compiler);
        let expression = record.text("expr", compiler);
        if name.is_none() {
            record.missing("name", "what the events of an entry are called", compiler);
        }
        let Some(expression) = expression else {
            record.missing("expr", "second minute hour day month weekday [year]", compiler);
            continue;
        };
        match Expression::parse(expression) {
            Ok(expression) => entries.push(Entry {
                name: name?.to_string(),
                expression,
                payload: record.json("payload"),
            }),
            Err(reason) => complain(compiler, record.span, format!("`expr`: {reason}")),
        }
    }
    Some(SourceConfig::Crononome(entries))
}

const BENCH_KEYS: [&str; 10] = [
    "path",
    "interval",
    "chunk_size",
    "iters",
    "base64",
    "is_transactional",
    "structured",
    "stop_after_secs",
    "significant_figures",
    "warmup_secs",
];

/// Replays a file; its messages are lines, or chunks when a size is set.
fn bench(
    config: &Config<'_>,
    chain: &[Preprocessor],
    compiler: &mut Compiler<'_>,
) -> Option<SourceConfig> {
    let path = config.text("path", compiler);
    if path.is_none() {
        config.missing("path", "the file to replay", compiler);
    }
    let chunked = config.whole("chunk_size", 1, compiler).is_some();
    let mut stages = Vec::new();
    if !chunked && !chain.iter().any(|one| matches!(one, Preprocessor::Separate { .. })) {
        let length_max = MESSAGE_BYTES_MAX;
        stages.push(Preprocessor::Separate { separator: b'\n', length_max, buffered: true });
        stages.push(Preprocessor::RemoveEmpty);
    }
    if config.flag("base64", compiler).unwrap_or(false) {
        stages.push(Preprocessor::Base64);
    }
    stages.extend_from_slice(chain);
    let _transactional = config.flag("is_transactional", compiler);
    // The time of warming up comes in front.
    let warmup_s = config.whole("warmup_secs", 0, compiler).unwrap_or(0);
    let stop_after = config.whole("stop_after_secs", 1, compiler);
    let stop_after = stop_after.map(|time_s| Duration::from_secs(time_s.saturating_add(warmup_s)));
    let default_iterations = if stop_after.is_some() { u64::MAX } else { 1 };
    Some(SourceConfig::Chained(ChainedConfig {
        path: Some(PathBuf::from(path?)),
        chain: stages,
        chunk_bytes: chunk_bytes(config, compiler),
        iterations: config.whole("iters", 1, compiler).unwrap_or(default_iterations),
        interval_ns: config.whole("interval", 0, compiler).unwrap_or(0),
        stop_after,
    }))
}

/// A connector of the registry: its source, its sink, or both, by the ports that the flow connects.
fn connected(
    connector: &FlowConnector,
    row: &'static Connector,
    graph: &mut Graph,
    endpoints: &mut Endpoints,
    compiler: &mut Compiler<'_>,
) {
    let settings = Settings::of(connector, compiler);
    let arena = Arena::new();
    let (codec_in, codec_out) = chains::codec(&settings, compiler);
    check_codec(row.kind, row.codec, &settings, compiler);
    let preprocessors = chains::preprocessors(&settings, compiler);
    let after = chains::postprocessors(&settings, compiler);
    let framing = chains::framing(&preprocessors, codec_in);
    let reading = Reading {
        codec: codec_in,
        framing: framing.unwrap_or(Framing::Whole),
        framing_is_chosen: framing.is_some() && !preprocessors.is_empty(),
        preprocessors,
    };
    let rows: &'static [Setting] = if row.ends == Ends::Sink { row.sink } else { row.source };
    let (span, value) = settings.config_value();
    let config = read::record(rows, value.copy_into(&arena), span, &arena, compiler);
    if compiler.diagnostics.iter().any(|one| one.severity == Severity::Error) {
        return;
    }
    let Some(built) = connected::build(row, &connector.name, row.ends, &config, &reading, compiler)
    else {
        return;
    };
    check_connected_ports(connector, row, compiler);
    let errors = connector.gives.iter().find(|port| port.name == ERR);
    if let Some(source) = built.source
        && connector.gives.iter().any(|port| [OUT, ERR].contains(&port.name.as_str()))
    {
        endpoints.sources.push(SourceEndpoint {
            port: format!("{}/{OUT}", connector.name),
            config: EndpointSource::Other(source),
            codec: codec_in,
            errors: errors.map(|port| (port.end.clone(), connector.name.clone())),
        });
    }
    if let Some(sink) = built.sink
        && let Some(port) = connector.takes.iter().find(|port| port.name == IN)
    {
        let post = Some(after.each.into_boxed_slice());
        let encoding = Encoding { codec: codec_out, post };
        let attributes = connected::attributes(row.sink, &config);
        let end = (connector.name.as_str(), port.end.as_str());
        let endpoint =
            connected::sink_endpoint(end, sink, attributes, encoding, &mut endpoints.sources);
        endpoints.sinks.push(endpoint);
    }
    if let Some(interval_s) = settings.whole("metrics_interval_s", 1, compiler) {
        for port in connector.gives.iter().chain(&connector.takes) {
            graph.meter_connector(&connector.name, &port.name, &port.end, interval_s);
        }
    }
}

/// Reports ports that a connector of the registry does not have.
fn check_connected_ports(connector: &FlowConnector, row: &Connector, compiler: &mut Compiler<'_>) {
    let gives: Vec<&str> = match row.ends {
        Ends::Source | Ends::Both => vec![OUT, ERR],
        Ends::Sink => row.gives.iter().copied().chain([ERR]).collect(),
    };
    let takes: &[&str] = if row.ends == Ends::Source { &[] } else { &[IN] };
    let ports = connector.gives.iter().map(|port| (port, &gives[..]));
    for (port, known) in ports.chain(connector.takes.iter().map(|port| (port, takes))) {
        if !known.contains(&port.name.as_str()) {
            let name = &connector.definition.name.text;
            let message = format!("`{name}` has no port `{}`", port.name);
            let complaint = Diagnostic::error("E0515", port.span, message)
                .with_label(format!("a `{}` connector", row.kind))
                .with_nearest(&port.name, known.iter().copied());
            compiler.diagnostics.push(complaint);
        }
    }
}
