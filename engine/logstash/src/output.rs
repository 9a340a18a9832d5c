//! Outputs: how an output plugin writes events, and where. An output that is not here is checked as far
//! as its options are known, and named with its place.

use super::catalog::Stock;
use super::codec::Encoder;
use super::complain;
use super::network::{self, PerEvent};
use super::options::{Arguments, OptionSpec, Setting, SettingKind, Takes, option, required};
use super::settings::Settings;
use super::syntax::tree::Plugin;
use chrono::{DateTime, Utc};
use std::path::PathBuf;
use std::time::Duration;
use temblor_codec::interceptor::{Packing, Postprocessor};
use temblor_connect::sink::{Absent, Care, FileMode, SinkConfig};
use temblor_declare::Ends;
use temblor_lang::diagnostic::Diagnostic;
use temblor_lang::value::{Arena, Value};
use temblor_logstash_event::event::LogEvent;
use temblor_logstash_event::template::Template;

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
            option("create_if_deleted", Takes::Flag, "Whether a deleted file is made anew."),
            option("filename_failure", Takes::Text, "The file of events with impossible paths."),
            option(
                "flush_interval",
                Takes::Number,
                "Accepted; what is written is in the file at once.",
            ),
            option(
                "stale_cleanup_interval",
                Takes::Number,
                "Accepted; files that were not used for long are closed when others are opened.",
            ),
            option("dir_mode", Takes::Number, "Permissions of new folders: 0750; -1 is the usual."),
            option("file_mode", Takes::Number, "Permissions of new files: 0640; -1 is the usual."),
        ],
    },
    OutputDeclaration { name: "null", options: &[] },
    OutputDeclaration { name: "sink", options: &[] },
    OutputDeclaration {
        name: "pipe",
        options: &[
            required("command", Takes::Text, "What the shell runs; may depend on the event."),
            option("message_format", Takes::Text, "The text of an event (JSON)."),
            option("ttl", Takes::Number, "Seconds without an event until a command is ended (10)."),
        ],
    },
    OutputDeclaration {
        name: "exec",
        options: &[
            required("command", Takes::Text, "What the shell runs for each event."),
            option("quiet", Takes::Flag, "Whether what the commands write is thrown away."),
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
    /// What a connector gets to know of each event, by name.
    pub told: Vec<(String, PerEvent)>,
}

/// Where an output's events go.
#[derive(Debug)]
pub enum Destination {
    /// To a sink of the engine.
    Sink(SinkConfig, Option<Box<[Postprocessor]>>),
    /// To a connector.
    Network(Box<network::Sink>),
    /// To the pipelines that listen to these addresses.
    Addresses(Vec<String>),
}

/// Seconds without an event after which the command of a pipe is ended.
const PIPE_TTL_S: f64 = 10.0;
/// All bits that permissions have.
const PERMISSIONS_MAX: u32 = 0o7777;

/// The metadata field that names the place of an event.
pub(crate) const PLACE: &str = "place";

/// Reads an output plugin, whose sink is called so; `None` when it cannot be run, which has been said.
pub fn compile(
    (called, plugin): (&str, &Plugin),
    settings: &Settings,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<(Outlet, Destination)> {
    let name = &*plugin.name.text;
    if let Some(row) = network::here(plugin, Ends::Sink, settings) {
        return network::output(row, (called, plugin), settings, diagnostics);
    }
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
            let ttl = arguments.number("ttl").unwrap_or(PIPE_TTL_S).max(0.0);
            let ttl = Duration::try_from_secs_f64(ttl).ok();
            let idle_max = ttl.filter(|ttl| !ttl.is_zero());
            sink(outlet, SinkConfig::Command { command: command.source().to_string(), idle_max })
        }
        "exec" => {
            let command = Template::parse(&arguments.text("command")?);
            let encoder = Some(Encoder::Shell(command));
            let outlet = Outlet { encoder, ..Outlet::default() };
            // Each line that the shell reads is a command.
            let shell = if arguments.flag("quiet", false) { "sh > /dev/null 2>&1" } else { "sh" };
            sink(outlet, SinkConfig::Command { command: shell.to_string(), idle_max: None })
        }
        _ => {
            let addresses = arguments.words("send_to")?;
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
    let astray =
        arguments.text("filename_failure").unwrap_or_else(|| "_filepath_failures".to_string());
    let remakes = arguments.flag("create_if_deleted", true);
    let absent = if remakes { Absent::Made } else { Absent::Elsewhere(astray.clone()) };
    let (file_mode, directory_mode) =
        (permissions(arguments, "file_mode"), permissions(arguments, "dir_mode"));
    let care = Care { file_mode, directory_mode, absent, ..Care::default() };
    let config = if remakes && Template::parse(&path).is_constant() {
        SinkConfig::File { path: PathBuf::from(path), mode, care }
    } else {
        let (directory, rest) = fixed_root(&path);
        outlet.place = Some(Template::parse(rest));
        outlet.otherwise = astray;
        SinkConfig::Files { directory: PathBuf::from(directory), mode, care }
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

/// What a sink wants to know, as a converted output says it.
fn told((name, value): (String, Setting)) -> Option<(String, PerEvent)> {
    let text = |setting: &Setting| setting.text().map(Template::parse);
    let per_event = match &value.kind {
        SettingKind::Text(word) if word == "true" => PerEvent::Time,
        SettingKind::List(names) => PerEvent::Labels(
            names.iter().filter_map(|one| one.text().map(str::to_string)).collect(),
        ),
        SettingKind::Hash(entries) => {
            let texts = entries.iter().map(|(name, value)| Some((name.clone(), text(value)?)));
            PerEvent::Texts(texts.collect::<Option<_>>()?)
        }
        _ => PerEvent::Text(text(&value)?),
    };
    Some((format!("{}{name}", network::TO), per_event))
}

/// The permissions that an option says, whose digits are octal; -1 leaves them to the system.
fn permissions(arguments: &mut Arguments<'_>, name: &str) -> Option<u32> {
    let text = arguments.text(name).filter(|text| text != "-1")?;
    let mode = u32::from_str_radix(&text, 8).ok().filter(|mode| *mode <= PERMISSIONS_MAX);
    if mode.is_none() {
        let place = arguments.place(name);
        let wanted = "octal digits, such as 0640, or -1";
        arguments.complain(complain::bad_value(name, place, wanted));
    }
    mode
}

/// The folder that a path begins with, whatever the event, and the rest.
#[must_use]
pub(crate) fn fixed_root(path: &str) -> (&str, &str) {
    let fixed = path.find("%{").unwrap_or(path.len());
    match path[..fixed].rfind('/') {
        Some(slash) => path.split_at(slash + 1),
        None => (".", path),
    }
}

impl Outlet {
    /// What the settings of a converted output say.
    #[must_use]
    pub(crate) fn of_settings(
        plugin: &Plugin,
        settings: &Settings,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Self {
        const OWN: &[OptionSpec] = &[
            option("command", Takes::Text, ""),
            option("place", Takes::Text, ""),
            option("otherwise", Takes::Text, ""),
            option("tell", Takes::Hash, ""),
        ];
        let writes = network::find(&plugin.name.text, Ends::Sink).and_then(|row| {
            let writes = row.writes?;
            Some((network::declared(row), writes))
        });
        let declared: Vec<_> =
            writes.map_or(&[][..], |(own, _)| own).iter().chain(OWN).copied().collect();
        let mut said = Vec::new();
        let mut arguments = Arguments::new(plugin, &declared, COMMON, settings, &mut said);
        let command = arguments.text("command").map(|text| Encoder::Shell(Template::parse(&text)));
        let encoder = match (writes, arguments.get("codec")) {
            (Some((_, writes)), _) => writes(&mut arguments).flatten(),
            (None, Some(_)) => Encoder::of(&mut arguments, "json"),
            (None, None) => command,
        };
        let outlet = Self {
            ports: Vec::new(),
            encoder: encoder.filter(|encoder| !encoder.is_plain_json()),
            place: arguments.text("place").map(|text| Template::parse(&text)),
            otherwise: arguments.text("otherwise").unwrap_or_default(),
            told: arguments.pairs("tell").into_iter().filter_map(told).collect(),
        };
        // Where events go is said elsewhere.
        diagnostics.extend(said.into_iter().filter(|one| one.code != complain::NEEDED));
        outlet
    }

    /// What leaves, and its metadata.
    pub(crate) fn write<'a>(
        &'a self,
        event: &LogEvent<'a>,
        arena: &'a Arena,
        now: DateTime<Utc>,
    ) -> (Value<'a>, Value<'a>) {
        let value = match &self.encoder {
            Some(encoder) => encoder.encode(event, arena, now),
            None => event.data.to_value(arena),
        };
        if !self.told.is_empty() {
            let mut meta = arena.record_builder(self.told.len());
            for (name, told) in &self.told {
                meta.append(name, told.value(event, arena, now));
            }
            return (value, meta.finish());
        }
        let Some(place) = &self.place else { return (value, event.metadata.to_value(arena)) };
        let place = place.render(event, arena, now);
        let leaves = place.split('/').any(|part| part == "..");
        let place = if leaves && !self.otherwise.is_empty() { &self.otherwise } else { place };
        // Behind the folder's own slash more of them change nothing; a command may begin with one.
        let place = if self.otherwise.is_empty() { place } else { place.trim_start_matches('/') };
        let mut meta = arena.record_builder(1);
        meta.append(PLACE, Value::Str(place));
        (value, meta.finish())
    }
}
