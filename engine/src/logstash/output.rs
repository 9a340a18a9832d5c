//! Outputs: how an output plugin writes events, and where. An output that is not here is checked as far
//! as its options are known, and named with its place.

use super::catalog::Stock;
use super::codec::Encoder;
use super::complain;
use super::event::LogEvent;
use super::options::{Arguments, OptionSpec, Takes, option, required};
use super::settings::Settings;
use super::syntax::tree::Plugin;
use super::template::Template;
use crate::interceptor::{Packing, Postprocessor};
use crate::sink::{FileMode, SinkConfig};
use chrono::{DateTime, Utc};
use std::path::PathBuf;
use temblor_lang::diagnostic::Diagnostic;
use temblor_lang::value::{Arena, Value};

/// The options that every output has.
pub const COMMON: &[OptionSpec] = &[
    option("codec", Takes::Codec, "How events are written."),
    option("enable_metric", Takes::Flag, "Accepted; counts are always kept."),
    option("id", Takes::Text, "The name of the output in reports."),
    option("workers", Takes::Number, "Accepted; see --workers."),
    option("ecs_compatibility", Takes::OneOf(&["disabled", "v1", "v8"]), "Which field names."),
];

/// An output that is here.
#[derive(Debug)]
pub struct OutputDeclaration {
    /// Its name.
    pub name: &'static str,
    /// Its own options.
    pub options: &'static [OptionSpec],
}

/// All outputs that are here.
pub static OUTPUTS: &[OutputDeclaration] = &[
    OutputDeclaration { name: "stdout", options: &[] },
    OutputDeclaration {
        name: "file",
        options: &[
            required("path", Takes::Text, "The file; may depend on the event."),
            option("gzip", Takes::Flag, "Whether it is compressed."),
            option("write_behavior", Takes::OneOf(&["append", "overwrite"]), "What stays."),
            option("create_if_deleted", Takes::Flag, "Accepted; it always is."),
            option("filename_failure", Takes::Text, "The file of events with impossible paths."),
            option("flush_interval", Takes::Number, "Accepted; writes are not held back."),
            option("stale_cleanup_interval", Takes::Number, "Accepted; few files stay open."),
            option("dir_mode", Takes::Number, "Accepted; the mask of the process counts."),
            option("file_mode", Takes::Number, "Accepted; the mask of the process counts."),
        ],
    },
    OutputDeclaration { name: "null", options: &[] },
    OutputDeclaration { name: "sink", options: &[] },
    OutputDeclaration {
        name: "pipe",
        options: &[
            required("command", Takes::Text, "What the shell runs; may depend on the event."),
            option("message_format", Takes::Text, "The text of an event (JSON)."),
            option("ttl", Takes::Number, "Accepted; commands run to the end."),
        ],
    },
    OutputDeclaration {
        name: "exec",
        options: &[
            required("command", Takes::Text, "What the shell runs for each event."),
            option("quiet", Takes::Flag, "Accepted."),
        ],
    },
    OutputDeclaration {
        name: "pipeline",
        options: &[
            required("send_to", Takes::List, "Addresses of other pipelines."),
            option("ensure_delivery", Takes::Flag, "Accepted; nothing is lost on the way."),
        ],
    },
];

/// How an event leaves.
#[derive(Debug, Default)]
pub struct Outlet {
    /// Ports of the operator, for each of which the event is copied.
    pub ports: Vec<String>,
    /// How it is written; nothing leaves that to the sink.
    pub encoder: Option<Encoder>,
    /// The place that the event chooses.
    pub place: Option<Template>,
    /// The place of events whose own would be elsewhere.
    pub otherwise: String,
}

/// Where an output's events go.
#[derive(Debug)]
pub enum Destination {
    /// To a sink of the engine.
    Sink(SinkConfig, Option<Box<[Postprocessor]>>),
    /// To the pipelines that listen to these addresses.
    Addresses(Vec<String>),
}

/// The metadata field that names the place of an event.
pub const PLACE: &str = "place";

/// Reads an output plugin; `None` when it cannot be run, which has been said.
pub fn compile(
    plugin: &Plugin,
    settings: &Settings,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<(Outlet, Destination)> {
    let name = &*plugin.name.text;
    let Some(declaration) = OUTPUTS.iter().find(|one| one.name == name) else {
        absent(plugin, settings, diagnostics);
        return None;
    };
    let declared = (declaration.options, COMMON);
    Arguments::build(plugin, declared, settings, diagnostics, |arguments| make(name, arguments))
}

/// What is wrong with an output that is not here.
fn absent(plugin: &Plugin, settings: &Settings, diagnostics: &mut Vec<Diagnostic>) {
    let here: Vec<_> = OUTPUTS.iter().map(|one| one.name).collect();
    let help = "run it with --stdout, which writes all events to standard output instead";
    let stock = Stock { kind: "output", here: &here, common: COMMON, help };
    stock.absent(plugin, settings, diagnostics, |arguments| {
        Encoder::of(arguments, "plain");
    });
}

fn make(name: &str, arguments: &mut Arguments<'_>) -> Option<(Outlet, Destination)> {
    let sink = |outlet, config| Some((outlet, Destination::Sink(config, None)));
    match name {
        "stdout" => sink(outlet(stream_encoder(arguments, "rubydebug")?), SinkConfig::Stdout),
        "file" => file(arguments),
        "null" | "sink" => sink(Outlet::default(), SinkConfig::Null),
        "pipe" => {
            let command = Template::parse(&arguments.text("command")?);
            let encoder = arguments
                .text("message_format")
                .map(|format| Encoder::Text(Template::parse(&format), "\n".to_string()));
            let place = (!command.is_constant()).then(|| command.clone());
            let outlet = Outlet { encoder, place, ..Outlet::default() };
            sink(outlet, SinkConfig::Command { command: command.source().to_string() })
        }
        "exec" => {
            let command = Template::parse(&arguments.text("command")?);
            let encoder = Some(Encoder::Text(command, "\n".to_string()));
            let outlet = Outlet { encoder, ..Outlet::default() };
            // Each line that the shell reads is a command.
            sink(outlet, SinkConfig::Command { command: "sh".to_string() })
        }
        _ => {
            let addresses = arguments.texts("send_to")?;
            let addresses = addresses.into_iter().map(|(text, _)| text).collect();
            Some((Outlet::default(), Destination::Addresses(addresses)))
        }
    }
}

/// The encoder of an output that writes events one behind the other.
fn stream_encoder(arguments: &mut Arguments<'_>, usual: &str) -> Option<Encoder> {
    let encoder = Encoder::of(arguments, usual)?;
    if arguments.text("codec").as_deref() == Some("json") {
        let message = "Logstash writes nothing between the events of `json`; here each is a line";
        let help = "write `json_lines`, which ends each event with a newline in both";
        arguments.explain(complain::odd(arguments.place("codec"), message, help));
    }
    Some(encoder)
}

/// JSON is what sinks write by themselves, an event a line.
fn outlet(encoder: Encoder) -> Outlet {
    let encoder = (!encoder.is_plain_json()).then_some(encoder);
    Outlet { encoder, ..Outlet::default() }
}

fn file(arguments: &mut Arguments<'_>) -> Option<(Outlet, Destination)> {
    let encoder = stream_encoder(arguments, "json_lines")?;
    let mut outlet = outlet(encoder);
    let path = arguments.text("path")?;
    let mode = match arguments.text("write_behavior").as_deref() {
        Some("overwrite") => FileMode::Truncate,
        _ => FileMode::Append,
    };
    let config = if Template::parse(&path).is_constant() {
        SinkConfig::File { path: PathBuf::from(path), mode }
    } else {
        let (directory, rest) = fixed_root(&path);
        outlet.place = Some(Template::parse(rest));
        outlet.otherwise =
            arguments.text("filename_failure").unwrap_or_else(|| "_filepath_failures".to_string());
        SinkConfig::Files { directory: PathBuf::from(directory), mode }
    };
    let gzip = arguments.flag("gzip", false);
    // A file of members that follow each other is a gzip file (RFC 1952, 2.2).
    let packed = Postprocessor::Compress(Packing::Gzip, None);
    let post: Option<Box<[Postprocessor]>> = gzip.then(|| match outlet.encoder {
        Some(_) => Box::from([packed]),
        None => Box::from([Postprocessor::Separate(b'\n'), packed]),
    });
    Some((outlet, Destination::Sink(config, post)))
}

/// The folder that a path begins with, whatever the event, and the rest.
#[must_use]
pub fn fixed_root(path: &str) -> (&str, &str) {
    let fixed = path.find("%{").unwrap_or(path.len());
    match path[..fixed].rfind('/') {
        Some(slash) => path.split_at(slash + 1),
        None => (".", path),
    }
}

impl Outlet {
    /// What the settings of a converted output say.
    #[must_use]
    pub fn of_settings(
        plugin: &Plugin,
        settings: &Settings,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Self {
        const OWN: &[OptionSpec] =
            &[option("place", Takes::Text, ""), option("otherwise", Takes::Text, "")];
        let mut arguments = Arguments::new(plugin, OWN, COMMON, settings, diagnostics);
        let encoder = arguments.get("codec").is_some().then(|| Encoder::of(&mut arguments, "json"));
        Self {
            ports: Vec::new(),
            encoder: encoder.flatten(),
            place: arguments.text("place").map(|text| Template::parse(&text)),
            otherwise: arguments.text("otherwise").unwrap_or_default(),
        }
    }

    /// What leaves, and its metadata.
    pub fn write<'a>(
        &'a self,
        event: &LogEvent<'a>,
        arena: &'a Arena,
        now: DateTime<Utc>,
    ) -> (Value<'a>, Value<'a>) {
        let value = match &self.encoder {
            Some(encoder) => encoder.encode(event, arena, now),
            None => event.data.to_value(arena),
        };
        let Some(place) = &self.place else { return (value, event.metadata.to_value(arena)) };
        let place = place.render(event, arena, now);
        let leaves = place.split('/').any(|part| part == "..");
        let place = if leaves && !self.otherwise.is_empty() { &self.otherwise } else { place };
        let mut meta = arena.record_builder(1);
        meta.append(PLACE, Value::Str(place));
        (value, meta.finish())
    }
}
