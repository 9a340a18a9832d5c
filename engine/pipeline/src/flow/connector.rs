//! The connectors of flows: what each is made into, by its row and the ports that the flow connects.

use super::absent;
use crate::connected::{self, Reading, has_errors};
use crate::endpoint::{Endpoints, SourceEndpoint};
use crate::graph::{FlowConnector, Graph, connector_setting};
use crate::operator::{ERR, IN, OUT};
use crate::queueing;
use crate::registry::Registry;
use std::time::Duration;
use temblor_codec::{Encoding, OutputCodec};
use temblor_declare::interceptor::after::After;
use temblor_declare::interceptor::{after, before};
use temblor_declare::queue::SEVERITY;
use temblor_declare::read::{self, Reader};
use temblor_declare::shared::{FLOW, QUEUE};
use temblor_declare::{
    Built, BuiltSink, CodecUse, Connector, Ends, Given, Notation, Setting, Settings, codec,
};
use temblor_lang::diagnostic::{Diagnostic, Severity};
use temblor_lang::lower::Compiler;
use temblor_lang::syntax::tree::ConnectorDef;
use temblor_lang::value::{Arena, Value};
use temblor_runtime::framing::Framing;
use temblor_stdlib::formats::json;

/// Adds the sources and sinks that a connector stands for.
pub(super) fn lower(
    connector: &FlowConnector,
    registry: &Registry,
    graph: &mut Graph,
    endpoints: &mut Endpoints,
    compiler: &mut Compiler<'_>,
) {
    let Some(def) = connector.def().filter(|_| !connector.faulty) else { return };
    let Some(row) = registry.connector(&def.kind.text, Notation::Tremor) else {
        let complaint = unknown(def, registry);
        return compiler.diagnostics.push(complaint);
    };
    let before = compiler.diagnostics.len();
    let settings = shared(connector, def, compiler);
    let shape = shape(row, &settings, compiler);
    let mut config = configuration(row, &settings, compiler);
    if let Some(retry) = reconnect(&settings) {
        config.insert("reconnect", settings.span_of("reconnect"), Given::Record(retry));
    }
    if has_errors(&compiler.diagnostics[before..]) {
        return;
    }
    let name = &connector.name;
    let built = connected::build(row, name, row.ends, &config, &shape.reading, compiler);
    let Some(built) = built else { return };
    check_ports(connector, row, &built, compiler);
    let Built { source, sink, .. } = built;
    check_policy(&settings, compiler);
    // With both ends in use, what is said of a queue is said of the sink.
    let is_source_alone = sink.is_none() || connector.takes.is_empty();
    let source = source.map(|source| match is_source_alone {
        true => queueing::source(row, name, source, &settings, compiler),
        false => source,
    });
    if let Some(config) = source
        && connector.gives.iter().any(|port| [OUT, ERR].contains(&port.name.as_str()))
    {
        let port = format!("{name}/{OUT}");
        let mut source = SourceEndpoint::new(port, config, shape.reading.codec);
        let errors = connector.gives.iter().find(|port| port.name == ERR);
        source.errors = errors.map(|port| (port.end.clone(), name.clone()));
        endpoints.sources.push(source);
    }
    if let Some(sink) = sink {
        shape.sinks(connector, row, (sink, &config, &settings), endpoints, compiler);
    }
    if let Some(interval_s) = settings.optional_whole("metrics_interval_s") {
        for port in connector.gives.iter().chain(&connector.takes) {
            graph.meter_connector(name, &port.name, &port.end, interval_s);
        }
    }
}

fn unknown(def: &ConnectorDef, registry: &Registry) -> Diagnostic {
    let (kind, span) = (def.kind.text.as_str(), def.kind.span);
    let unknown = || {
        let known = registry.kinds(Notation::Tremor, Ends::Both);
        Diagnostic::error("E0519", span, format!("unknown connector `{kind}`"))
            .with_nearest(kind, known.into_iter().chain(absent::names()))
    };
    absent::diagnostic(kind, span).unwrap_or_else(unknown)
}

/// What `with` says of every connector.
fn shared(connector: &FlowConnector, def: &ConnectorDef, compiler: &mut Compiler<'_>) -> Settings {
    let is_known = |name: &str| FLOW.iter().chain(QUEUE).any(|row| row.name == name);
    let (known, others): (Vec<_>, Vec<_>) =
        def.with.iter().cloned().partition(|one| is_known(&one.name.text));
    for binding in others {
        compiler.diagnostics.push(connector_setting(&binding.name.text, binding.name.span));
    }
    let span = connector.definition.name.span;
    let args = Some(connector.args.clone());
    let rows = [FLOW, QUEUE, &SEVERITY];
    let reader = Reader { rows: &rows, span, scope: &connector.scope, args, wants_units: false };
    reader.bindings(&known, Settings::new(span), compiler)
}

/// No wait between two attempts to connect is longer, but for the first.
const WAIT_MAX: Duration = Duration::from_secs(30);

/// What `reconnect` says, in the terms of the record `retry` that our own connectors have.
fn reconnect(settings: &Settings) -> Option<Settings> {
    let said = settings.record("reconnect")?.record("retry")?;
    let (span, mut retry) = (settings.span_of("reconnect"), Settings::new(settings.span));
    let first = Duration::from_millis(said.whole("interval_ms"));
    retry.insert("first", span, Given::Duration(first));
    retry.insert("longest", span, Given::Duration(first.max(WAIT_MAX)));
    retry.insert("growth", span, Given::Number(said.number("growth_rate")));
    if let Some(retries) = said.optional_whole("max_retries") {
        retry.insert("attempts", span, Given::Whole(retries.saturating_add(1)));
    }
    Some(retry)
}

/// How a connector reads messages and writes events.
struct Shape {
    reading: Reading,
    writes: OutputCodec,
    after: After,
}

fn shape(row: &Connector, settings: &Settings, compiler: &mut Compiler<'_>) -> Shape {
    check_codec(row, settings, compiler);
    let diagnostics = &mut compiler.diagnostics;
    let named = settings.named("codec").first();
    let (reads, writes) = codec::both(named, settings.span_of("codec"), diagnostics);
    let (first, last) = ("preprocessors", "postprocessors");
    let chain = before::chain(settings.named(first), settings.span_of(first), diagnostics);
    let after = after::chain(settings.named(last), settings.span_of(last), diagnostics);
    let framing = before::framing(&chain, reads);
    let reading = Reading {
        codec: reads,
        framing: framing.unwrap_or(Framing::Whole),
        framing_is_chosen: framing.is_some(),
        preprocessors: chain,
        stream: after.stream,
    };
    Shape { reading, writes, after }
}

fn check_codec(row: &Connector, settings: &Settings, compiler: &mut Compiler<'_>) {
    let (has, kind) = (settings.says("codec"), row.kind);
    if row.codec == CodecUse::Required && !has {
        let message = format!("the connector `{kind}` needs a codec");
        let complaint = Diagnostic::error("E0507", settings.span, message)
            .with_help("such as: codec = \"json\"");
        compiler.diagnostics.push(complaint);
    } else if row.codec == CodecUse::Structured && has {
        let message = format!("the connector `{kind}` gives and takes values; it has no codec");
        let span = settings.span_of("codec");
        compiler.diagnostics.push(Diagnostic::error("E0510", span, message));
    }
}

/// The connector's own settings.
fn configuration(
    row: &'static Connector,
    settings: &Settings,
    compiler: &mut Compiler<'_>,
) -> Settings {
    let rows: &'static [Setting] = if row.ends == Ends::Sink { row.sink } else { row.source };
    let arena = Arena::new();
    let value = json::parse(settings.json("config").unwrap_or("null"), &arena);
    let value = value.unwrap_or(Value::Null);
    let said = compiler.diagnostics.len();
    let config = read::record(rows, value, settings.span_of("config"), &arena, compiler);
    if row.source.is_empty() && row.sink.is_empty() {
        // It does not look at its configuration, whatever that is.
        for one in &mut compiler.diagnostics[said..] {
            one.severity = Severity::Warning;
        }
    }
    config
}

impl Shape {
    /// The sinks behind the ports that the flow connects.
    fn sinks(
        self,
        connector: &FlowConnector,
        row: &Connector,
        (mut sink, config, queue): (BuiltSink, &Settings, &Settings),
        endpoints: &mut Endpoints,
        compiler: &mut Compiler<'_>,
    ) {
        if self.reading.stream.is_some() && !sink.is_stream {
            let message =
                format!("`streaming-compress` does not go with the connector `{}`", row.kind);
            let span = connector.definition.name.span;
            compiler.diagnostics.push(Diagnostic::error("E0510", span, message));
        }
        let post = Some(self.after.each.into_boxed_slice());
        let encoding = Encoding { codec: self.writes, post };
        let mut sinks = std::mem::take(&mut sink.beside);
        sinks.push((IN, sink));
        for (name, sink) in sinks {
            let Some(port) = connector.takes.iter().find(|port| port.name == name) else {
                continue;
            };
            let attributes = connected::attributes(row.sink, config);
            let has_queue = sink.has_queue;
            let end = (connector.name.as_str(), port.end.as_str());
            let (encoding, sources) = (encoding.clone(), &mut endpoints.sources);
            let endpoint = connected::sink_endpoint(end, sink, attributes, encoding, sources);
            let endpoint = queueing::sink(endpoint, queue, (has_queue, &[]), sources, compiler);
            endpoints.sinks.push(endpoint);
        }
    }
}

/// Refuses what flows have no port for.
fn check_policy(settings: &Settings, compiler: &mut Compiler<'_>) {
    if settings.optional_text("when_full") == Some("divert") {
        let message = "`when_full = \"divert\"` does not go with connectors of flows";
        let help = "they have no port `full`; choose `spill`, `shed` or `drop_oldest`, or write the sink in a `.tmb` file";
        let span = settings.span_of("when_full");
        compiler.diagnostics.push(Diagnostic::error("E0510", span, message).with_help(help));
    }
}

/// Reports ports that the connector, as it is set, does not have.
fn check_ports(
    connector: &FlowConnector,
    row: &Connector,
    built: &Built,
    compiler: &mut Compiler<'_>,
) {
    let (gives, takes) = ports(row, built);
    let is_one_way = row.ends == Ends::Both && (built.source.is_none() || built.sink.is_none());
    let set = if is_one_way { " with these settings" } else { "" };
    let given = connector.gives.iter().map(|port| (port, &gives, "come out of"));
    let taken = connector.takes.iter().map(|port| (port, &takes, "go into"));
    for (port, known, verb) in given.chain(taken) {
        if known.contains(&port.name.as_str()) {
            continue;
        }
        let name = &connector.definition.name.text;
        let message = match known.is_empty() {
            true => format!("no events {verb} the connector `{name}`"),
            false => format!("`{name}` has no port `{}`", port.name),
        };
        let complaint = Diagnostic::error("E0515", port.span, message)
            .with_label(format!("a `{}` connector{set}", row.kind))
            .with_nearest(&port.name, known.iter().copied());
        compiler.diagnostics.push(complaint);
    }
}

/// The ports by which events come from a connector, and those by which they go to it.
fn ports(row: &Connector, built: &Built) -> (Vec<&'static str>, Vec<&'static str>) {
    let gives = match (&built.source, &built.sink) {
        (Some(_), _) => vec![OUT, ERR],
        (None, Some(sink)) if sink.is_stream => Vec::new(),
        _ => row.gives.iter().copied().chain([ERR]).collect(),
    };
    let beside = |sink: &BuiltSink| sink.beside.iter().map(|(name, _)| *name).collect::<Vec<_>>();
    let takes = built.sink.as_ref().map_or(Vec::new(), |sink| [vec![IN], beside(sink)].concat());
    (gives, takes)
}
