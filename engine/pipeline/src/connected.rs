//! From the declaration of a connector and what a program says of it to sources and sinks.
//!
//! Invariant: nothing here knows a single connector; settings are read by the rows of its declaration.

use crate::endpoint::{EndpointSource, SinkEndpoint, SourceEndpoint};
use crate::flow::chains;
use crate::flow::settings::Settings as Shared;
use crate::pipeline::Attribute;
use crate::queueing;
use temblor_codec::interceptor::Preprocessor;
use temblor_codec::{Encoding, InputCodec, OutputCodec, names};
use temblor_declare::setting::POSITION;
use temblor_declare::{
    Build, Built, BuiltSink, CodecUse, Connector, Ends, Given, Setting, Settings, Takes, Wrong,
    queue, read,
};
use temblor_lang::diagnostic::{Class, Diagnostic};
use temblor_lang::lower::Compiler;
use temblor_lang::span::Span;
use temblor_lang::syntax::tree::{Binding, EndpointDef, EndpointRole, StringLit};
use temblor_runtime::feedback::FeedbackConfig;
use temblor_runtime::framing::Framing;
use temblor_runtime::outlet::QueuePolicy;

/// Settings of every connector that is a source in a `.tmb` file.
const READING: [&str; 4] = ["codec", "framing", "preprocessors", "separator"];
/// Settings of every connector that is a sink in a `.tmb` file.
const WRITING: [&str; 2] = ["codec", "postprocessors"];
/// The setting that the text behind the kind stands for.
const ADDRESS: &str = "address";

/// How bytes become messages.
pub struct Reading {
    /// The codec.
    pub codec: InputCodec,
    /// How a stream is cut.
    pub framing: Framing,
    /// Whether the program chose that.
    pub framing_is_chosen: bool,
    /// What is done to bytes before.
    pub preprocessors: Vec<Preprocessor>,
}

/// `source NAME from KIND "ADDRESS" with … end`, or the same for a sink, as the declaration reads it.
pub struct Declared {
    /// The declaration.
    pub connector: &'static Connector,
    /// What was made of it.
    pub built: Built,
    /// Its settings, for the attributes of a sink.
    pub settings: Settings,
}

/// Reads and builds what a `.tmb` file declares; what is wrong is reported to the compiler.
pub fn declared(
    connector: &'static Connector,
    def: &EndpointDef,
    reading: &Reading,
    compiler: &mut Compiler<'_>,
) -> Option<Declared> {
    let (ends, rows) = match def.role {
        EndpointRole::Source => (Ends::Source, connector.source),
        _ => (Ends::Sink, connector.sink),
    };
    if connector.ends != Ends::Both && connector.ends != ends {
        let (is, can) = match ends {
            Ends::Source => ("source", "sink … into"),
            _ => ("sink", "source … from"),
        };
        let message = format!("`{}` cannot be a {is}", connector.kind);
        let complaint = Diagnostic::error("E0519", def.kind.span, message)
            .with_help(format!("it can only be declared with `{can} {}`", connector.kind));
        compiler.diagnostics.push(complaint);
        return None;
    }
    let (shared, queue): (&[&str], &'static [Setting]) = match ends {
        Ends::Source => (&READING, &queue::SOURCE),
        _ => (&WRITING, &queue::SINK),
    };
    let shared = [shared, &queueing::names(queue, rows)].concat();
    let is_own = |binding: &&Binding| {
        let name = binding.name.text.as_str();
        !shared.contains(&name) || rows.iter().any(|row| row.name == name)
    };
    let own: Vec<&Binding> = def.with.iter().filter(is_own).collect();
    let before = compiler.diagnostics.len();
    let mut settings = read::bindings(rows, &own, def.kind.span, compiler);
    read_address(connector, def, &mut settings, compiler);
    if compiler.diagnostics[before..].iter().any(is_error) {
        return None;
    }
    let built = build(connector, &def.name.text, ends, &settings, reading, compiler)?;
    Some(Declared { connector, built, settings })
}

fn is_error(one: &Diagnostic) -> bool {
    one.severity == temblor_lang::diagnostic::Severity::Error
}

/// The text behind the kind.
fn read_address(
    connector: &Connector,
    def: &EndpointDef,
    settings: &mut Settings,
    compiler: &mut Compiler<'_>,
) {
    let text = def.argument.as_ref().and_then(StringLit::constant);
    match (connector.address, &def.argument, text) {
        (Some(_), Some(argument), Some(text)) if !text.is_empty() => {
            settings.insert(ADDRESS, argument.span, Given::Text(text.to_string()));
        }
        (Some(what), Some(argument), None) => {
            let message = format!("the address of `{}` must be known at load", connector.kind);
            let complaint = Diagnostic::error("E0520", argument.span, message).with_help(what);
            compiler.diagnostics.push(complaint);
        }
        (Some(what), _, _) => {
            let message = format!("`{}` needs an address", connector.kind);
            let complaint = Diagnostic::error("E0520", def.kind.span, message).with_help(what);
            compiler.diagnostics.push(complaint);
        }
        (None, Some(argument), _) => {
            let message = format!("`{}` has no address", connector.kind);
            compiler.diagnostics.push(Diagnostic::error("E0520", argument.span, message));
        }
        (None, None, _) => {}
    }
}

/// Makes what a declaration stands for; what is wrong is reported to the compiler.
pub fn build(
    connector: &'static Connector,
    name: &str,
    ends: Ends,
    settings: &Settings,
    reading: &Reading,
    compiler: &mut Compiler<'_>,
) -> Option<Built> {
    let what = Build {
        name,
        ends,
        settings,
        codec: reading.codec,
        framing: reading.framing,
        framing_is_chosen: reading.framing_is_chosen,
        preprocessors: &reading.preprocessors,
    };
    match (connector.build)(&what) {
        Ok(built) => {
            for warning in &built.warnings {
                let warning =
                    Diagnostic::warning("W0527", Class::Behaviour, settings.span, warning.clone());
                compiler.diagnostics.push(warning);
            }
            Some(built)
        }
        Err(Wrong { setting, message, help }) => {
            let span = setting.map_or(settings.span, |setting| settings.span_of(setting));
            let complaint = Diagnostic::error("E0510", span, message);
            let complaint = if help.is_empty() { complaint } else { complaint.with_help(help) };
            compiler.diagnostics.push(complaint);
            None
        }
    }
}

/// How a connector of a `.tmb` file reads messages.
pub fn reading(
    connector: &Connector,
    def: &EndpointDef,
    chosen: Option<Framing>,
    compiler: &mut Compiler<'_>,
) -> Reading {
    let shared = Shared::of_endpoint(def, compiler);
    let says = def.with.iter().any(|one| one.name.text == "codec");
    let codec = match connector.codec {
        CodecUse::Structured | CodecUse::Letters => InputCodec::Json,
        CodecUse::Default(name) if !says => names::reader(name).unwrap_or_default(),
        CodecUse::Default(_) | CodecUse::Required => chains::reader(&shared, compiler),
    };
    if connector.codec == CodecUse::Structured && says {
        refuse_codec(connector, shared.span_of("codec"), compiler);
    }
    Reading {
        codec,
        framing: chosen.unwrap_or_else(|| names::framing(codec)),
        framing_is_chosen: chosen.is_some(),
        preprocessors: chains::preprocessors(&shared, compiler),
    }
}

fn refuse_codec(connector: &Connector, span: Span, compiler: &mut Compiler<'_>) {
    let message = format!("`{}` gives and takes values; it has no codec", connector.kind);
    compiler.diagnostics.push(Diagnostic::error("E0510", span, message));
}

/// How a connector of a `.tmb` file writes events.
pub fn encoding(connector: &Connector, def: &EndpointDef, compiler: &mut Compiler<'_>) -> Encoding {
    let shared = Shared::of_endpoint(def, compiler);
    let says = |name: &str| def.with.iter().any(|one| one.name.text == name);
    let mut encoding = match connector.codec {
        CodecUse::Structured => Encoding { codec: OutputCodec::Json, post: None },
        CodecUse::Letters => Encoding { codec: OutputCodec::Letter, post: None },
        CodecUse::Default(name) if !says("codec") => names::writer(name).unwrap_or_default(),
        CodecUse::Default(_) | CodecUse::Required => chains::writer(&shared, compiler),
    };
    let has_none = matches!(connector.codec, CodecUse::Structured | CodecUse::Letters);
    if has_none && says("codec") {
        refuse_codec(connector, shared.span_of("codec"), compiler);
    }
    if says("postprocessors") {
        let after = chains::postprocessors(&shared, compiler);
        encoding.post = Some(after.each.into_boxed_slice());
    } else if !connector.writes_lines {
        encoding.post = Some(Box::from([]));
    }
    encoding
}

/// The attributes of the events of a sink: the settings that are evaluated for each event, in the order
/// of their declaration.
#[must_use]
pub fn attributes(rows: &[Setting], settings: &Settings) -> Box<[Attribute]> {
    let wanted = rows.iter().filter(|row| row.takes.is_per_event());
    let attribute = |row: &Setting| {
        let given = settings.per_event(row.name);
        let formula = given.map(|one| std::sync::Arc::clone(&one.formula));
        let as_json = !matches!(row.takes, Takes::PerEvent);
        Attribute { formula, as_json, is_position: row.name == POSITION }
    };
    wanted.map(attribute).collect()
}

/// What a built sink needs in the plan: the sink itself, and the ways back into the program.
pub fn sink_endpoint(
    (name, port): (&str, &str),
    sink: BuiltSink,
    attributes: Box<[Attribute]>,
    encoding: Encoding,
    sources: &mut Vec<SourceEndpoint>,
) -> SinkEndpoint {
    let back = [("err", sink.errors), ("out", sink.answers)];
    for (back, feedback) in back {
        let Some(feedback) = feedback else { continue };
        let port = format!("{name}/{back}");
        let config = FeedbackConfig { name: port.clone(), feedback };
        let (config, codec) = (EndpointSource::Feedback(config), InputCodec::Json);
        sources.push(SourceEndpoint { port, config, codec, errors: None });
    }
    SinkEndpoint {
        port: port.to_string(),
        config: sink.open,
        path: None,
        encoding,
        each_member: true,
        attributes: sink.tells_events_apart.then_some(attributes),
        queue: QueuePolicy::default(),
    }
}
