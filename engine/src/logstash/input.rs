//! Inputs: where the frames of an input plugin come from, and what they become. An input that is not
//! here is checked as far as its options are known, and named with its place.

use super::catalog::Stock;
use super::codec::{DecodeState, Decoder, Moment};
use super::complain;
use super::datum::Datum;
use super::event::LogEvent;
use super::filter::{Name, add, added_texts};
use super::options::{Arguments, OptionSpec, Takes, option, required};
use super::reference::FieldRef;
use super::settings::Settings;
use super::syntax::tree::Plugin;
use super::template::Template;
use crate::codec::Format;
use crate::event::Event;
use crate::framing::Framing;
use crate::operator::Surroundings;
use crate::pipeline::InputCodec;
use crate::source::SourceConfig;
use crate::source::command::CommandConfig;
use crate::source::file::FileConfig;
use crate::source::repeat::RepeatConfig;
use crate::source::tail::TailConfig;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};
use temblor_lang::diagnostic::Diagnostic;
use temblor_lang::value::{Arena, Value};

/// The options that every input has.
pub const COMMON: &[OptionSpec] = &[
    option("add_field", Takes::Hash, "Fields of every event."),
    option("codec", Takes::Codec, "How frames are read."),
    option("enable_metric", Takes::Flag, "Accepted; counts are always kept."),
    option("id", Takes::Text, "The name of the input in reports."),
    option("tags", Takes::List, "Tags of every event."),
    option("type", Takes::Text, "The field `type` of events that have none."),
    option("ecs_compatibility", Takes::OneOf(&["disabled", "v1", "v8"]), "Which field names."),
];

/// An input that is here.
#[derive(Debug)]
pub struct InputDeclaration {
    /// Its name.
    pub name: &'static str,
    /// Its own options.
    pub options: &'static [OptionSpec],
    kind: Kind,
}

/// What an input adds to its events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Stdin,
    File,
    Generator,
    Heartbeat,
    Command,
    Pipeline,
}

/// All inputs that are here.
pub static INPUTS: &[InputDeclaration] = &[
    InputDeclaration { name: "stdin", options: &[], kind: Kind::Stdin },
    InputDeclaration { name: "java_stdin", options: &[], kind: Kind::Stdin },
    InputDeclaration {
        name: "file",
        options: &[
            required("path", Takes::List, "Files, or patterns of files."),
            option("exclude", Takes::List, "Patterns of file names that are left out."),
            option("start_position", Takes::OneOf(&["beginning", "end"]), "Where reading begins."),
            option("mode", Takes::OneOf(&["tail", "read"]), "Whether files are followed."),
            option("delimiter", Takes::Text, "What ends a frame (a newline)."),
            option("stat_interval", Takes::Anything, "How often files are looked at."),
            option("discover_interval", Takes::Number, "How often new files are looked for."),
            option("sincedb_path", Takes::Text, "Accepted; see --state."),
            option("sincedb_write_interval", Takes::Anything, "Accepted; see --state."),
            option("sincedb_clean_after", Takes::Anything, "Accepted; see --state."),
            option("close_older", Takes::Anything, "Accepted; idle files take no descriptor."),
            option(
                "ignore_older",
                Takes::Anything,
                "In mode `read`: files older than this are left out.",
            ),
            option("max_open_files", Takes::Number, "Accepted."),
            option("file_chunk_count", Takes::Number, "Accepted."),
            option("file_chunk_size", Takes::Number, "Accepted."),
            option(
                "file_sort_by",
                Takes::OneOf(&["last_modified", "path"]),
                "The order in mode `read`.",
            ),
            option("file_sort_direction", Takes::OneOf(&["asc", "desc"]), "The same."),
            option("file_completed_action", Takes::Text, "Accepted; files are never deleted."),
            option("file_completed_log_path", Takes::Text, "Accepted."),
            option("check_archive_validity", Takes::Flag, "Accepted; archives are checked."),
            option("exit_after_read", Takes::Flag, "Whether the run ends with the files."),
        ],
        kind: Kind::File,
    },
    InputDeclaration { name: "generator", options: GENERATOR, kind: Kind::Generator },
    InputDeclaration { name: "java_generator", options: GENERATOR, kind: Kind::Generator },
    InputDeclaration {
        name: "heartbeat",
        options: &[
            option("interval", Takes::Number, "Seconds between two events (60)."),
            option("count", Takes::Number, "How many events; -1 is for ever."),
            option("message", Takes::Text, "The message (ok), or epoch, or sequence."),
            option("sequence", Takes::OneOf(&["none", "epoch", "sequence"]), "What is counted."),
            option("threads", Takes::Number, "Accepted."),
        ],
        kind: Kind::Heartbeat,
    },
    InputDeclaration {
        name: "exec",
        options: &[
            required("command", Takes::Text, "What the shell runs."),
            option("interval", Takes::Number, "Seconds from run to run."),
            option("schedule", Takes::Text, "Not here: use `interval`."),
        ],
        kind: Kind::Command,
    },
    InputDeclaration {
        name: "pipe",
        options: &[required("command", Takes::Text, "What the shell runs, over and over.")],
        kind: Kind::Command,
    },
    InputDeclaration {
        name: "pipeline",
        options: &[required("address", Takes::Text, "Where other pipelines send to.")],
        kind: Kind::Pipeline,
    },
];

const GENERATOR: &[OptionSpec] = &[
    option("message", Takes::Text, "The message (Hello world!)."),
    option("lines", Takes::List, "Messages, in turn."),
    option("count", Takes::Number, "How often; 0 is for ever."),
    option("threads", Takes::Number, "How many times all of that."),
    option("eps", Takes::Number, "Accepted; events come as fast as they are taken."),
];

/// What the events of an input are made of.
#[derive(Debug)]
pub struct Intake {
    kind: Kind,
    decoder: Decoder,
    traces: Traces,
    /// `type`
    class: Option<String>,
    tags: Vec<String>,
    added: Vec<(Name, Vec<Template>)>,
    /// The command of exec and pipe.
    command: Option<String>,
    /// What heartbeats carry.
    beat: Beat,
    host: String,
}

/// The fields in which events say where they come from.
#[derive(Debug, Default)]
struct Traces {
    /// The machine.
    host: Option<FieldRef>,
    /// The file, the command, the number or the time, whichever there is.
    origin: Option<FieldRef>,
}

impl Traces {
    fn of(kind: Kind, beat: &Beat, ecs: bool) -> Self {
        // Each with its name of today and its name without a schema.
        let host = match kind {
            Kind::Pipeline => None,
            Kind::Stdin => Some(("[host][hostname]", "host")),
            _ => Some(("[host][name]", "host")),
        };
        let origin = match (kind, beat) {
            (Kind::File, _) => Some(("[log][file][path]", "path")),
            (Kind::Generator, _) => Some(("[event][sequence]", "sequence")),
            (Kind::Heartbeat, Beat::Sequence) => Some(("[event][sequence]", "clock")),
            (Kind::Heartbeat, Beat::Epoch) => Some(("[event][created]", "clock")),
            (Kind::Command, _) => Some(("[process][command_line]", "command")),
            _ => None,
        };
        let field = |(schema, old): (&str, &str)| {
            let name = if ecs { schema } else { old };
            FieldRef::parse(name).expect("names of this list are references")
        };
        Self { host: host.map(field), origin: origin.map(field) }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Beat {
    Message(String),
    Epoch,
    Sequence,
}

/// Where an input's frames come from.
#[derive(Debug)]
pub enum Origin {
    /// From a source of the engine.
    Source(Box<SourceConfig>, InputCodec),
    /// From the pipelines that send to this address.
    Address(String),
}

/// An input that can be run.
#[derive(Debug)]
pub struct Input {
    /// What its events are made of.
    pub intake: Intake,
    /// Where its frames come from.
    pub origin: Origin,
}

/// Reads an input plugin; `None` when it cannot be run, which has been said.
pub fn compile(
    plugin: &Plugin,
    settings: &Settings,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Input> {
    let name = &*plugin.name.text;
    let Some(declaration) = INPUTS.iter().find(|one| one.name == name) else {
        absent(plugin, settings, diagnostics);
        return None;
    };
    let before = diagnostics.len();
    let mut arguments = Arguments::new(plugin, declaration.options, COMMON, settings, diagnostics);
    let intake = intake(declaration.kind, &mut arguments);
    let origin = origin(declaration.kind, name, &mut arguments, intake.as_ref());
    drop(arguments);
    let is_error = |one: &Diagnostic| one.severity == temblor_lang::diagnostic::Severity::Error;
    if diagnostics[before..].iter().any(is_error) {
        return None;
    }
    Some(Input { intake: intake?, origin: origin? })
}

/// What an input makes of frames that come from elsewhere: only the options that say so count.
pub fn intake_of(
    plugin: &Plugin,
    settings: &Settings,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Intake> {
    let name = &*plugin.name.text;
    let Some(declaration) = INPUTS.iter().find(|one| one.name == name) else {
        let known = INPUTS.iter().map(|one| one.name);
        diagnostics.push(complain::unknown_plugin("input", name, plugin.name.span, known));
        return None;
    };
    const OWN: &[OptionSpec] = &[
        option("command", Takes::Text, "The command of exec and pipe."),
        option("message", Takes::Text, "The message of heartbeat."),
        option("sequence", Takes::OneOf(&["none", "epoch", "sequence"]), "What is counted."),
    ];
    intake(declaration.kind, &mut Arguments::new(plugin, OWN, COMMON, settings, diagnostics))
}

/// What is wrong with an input that is not here.
fn absent(plugin: &Plugin, settings: &Settings, diagnostics: &mut Vec<Diagnostic>) {
    let here: Vec<_> = INPUTS.iter().map(|one| one.name).collect();
    let help = "run it with --stdin, which takes events from standard input instead";
    let stock = Stock { kind: "input", here: &here, common: COMMON, help };
    stock.absent(plugin, settings, diagnostics, |arguments| {
        codec(arguments);
    });
}

/// The decoder that the options name; nothing when it is wrong or not here, which has been said.
fn codec(arguments: &mut Arguments<'_>) -> Option<Decoder> {
    let settings = Settings { ecs: arguments.ecs, ..arguments.settings.clone() };
    match arguments.get("codec").cloned() {
        None => Some(Decoder::text(&settings)),
        Some(setting) => {
            arguments.with_diagnostics(|diagnostics| Decoder::of(&setting, &settings, diagnostics))
        }
    }
}

fn intake(kind: Kind, arguments: &mut Arguments<'_>) -> Option<Intake> {
    let decoder = codec(arguments);
    let mut added = Vec::new();
    for (key, value) in arguments.pairs("add_field") {
        added.push((Name::compile(&key, value.span, arguments), added_texts(&value)));
    }
    let tags = arguments.texts("tags").unwrap_or_default();
    let beat = beat(arguments);
    Some(Intake {
        kind,
        decoder: decoder?,
        traces: Traces::of(kind, &beat, arguments.ecs.is_on()),
        class: arguments.text("type"),
        tags: tags.into_iter().map(|(tag, _)| tag).collect(),
        added,
        command: arguments.text("command").filter(|_| kind == Kind::Command),
        beat,
        host: gethostname::gethostname().to_string_lossy().into_owned(),
    })
}

fn beat(arguments: &Arguments<'_>) -> Beat {
    let message = arguments.text("message");
    match (arguments.text("sequence").as_deref(), message.as_deref()) {
        (Some("epoch"), _) | (None, Some("epoch")) => Beat::Epoch,
        (Some("sequence"), _) | (None, Some("sequence")) => Beat::Sequence,
        _ => Beat::Message(message.unwrap_or_else(|| "ok".to_string())),
    }
}

fn origin(
    kind: Kind,
    name: &str,
    arguments: &mut Arguments<'_>,
    intake: Option<&Intake>,
) -> Option<Origin> {
    let bytes = InputCodec::Format(Format::Binary);
    let framing = match intake {
        Some(intake) if intake.decoder.reads_messages() => Framing::Whole,
        Some(Intake { decoder: Decoder { delimiter: Some(byte), .. }, .. }) => {
            Framing::Separated(*byte)
        }
        _ => Framing::Lines,
    };
    let source = match kind {
        Kind::Pipeline => return Some(Origin::Address(arguments.text("address")?)),
        Kind::Stdin => (SourceConfig::Stdin { framing }, bytes),
        Kind::File => (file(arguments, framing)?, bytes),
        Kind::Generator => (SourceConfig::Repeat(generator(arguments)), InputCodec::Json),
        Kind::Heartbeat => {
            let seconds = arguments.number("interval").unwrap_or(60.0).max(0.001);
            let count = arguments.number("count").filter(|count| *count >= 0.0);
            let config = SourceConfig::Metronome {
                interval: nanoseconds(seconds),
                count: count.map(|count| count as u64),
            };
            (config, InputCodec::Json)
        }
        Kind::Command => {
            let is_pipe = name == "pipe";
            let every = arguments.number("interval").map(nanoseconds);
            if !is_pipe && every.is_none() {
                let span = arguments.span;
                arguments.complain(match arguments.get("schedule") {
                    None => complain::missing_option("exec", "interval", span),
                    Some(schedule) => {
                        let help = "say `interval`, in seconds, instead of `schedule`";
                        complain::missing_plugin(
                            "input",
                            "exec (its schedule)",
                            schedule.span,
                            help,
                        )
                    }
                });
                return None;
            }
            let config = CommandConfig {
                command: arguments.text("command")?,
                every_ns: every.unwrap_or(PIPE_PAUSE_NS),
                framing: if is_pipe { framing } else { Framing::Whole },
            };
            (SourceConfig::Command(config), bytes)
        }
    };
    Some(Origin::Source(Box::new(source.0), source.1))
}

/// A pipe's command that has ended is run again after ten seconds.
const PIPE_PAUSE_NS: u64 = 10_000_000_000;

fn nanoseconds(seconds: f64) -> u64 {
    (seconds * 1e9) as u64
}

fn generator(arguments: &mut Arguments<'_>) -> RepeatConfig {
    let lines: Vec<String> = match arguments.texts("lines") {
        Some(lines) if !lines.is_empty() => lines.into_iter().map(|(line, _)| line).collect(),
        _ => vec![arguments.text("message").unwrap_or_else(|| "Hello world!".to_string())],
    };
    let count = |name: &str| arguments.number(name).map_or(0, |number| number.max(0.0) as u64);
    RepeatConfig { lines, count: count("count"), times: count("threads").max(1) }
}

fn file(arguments: &mut Arguments<'_>, framing: Framing) -> Option<SourceConfig> {
    let texts = |arguments: &mut Arguments<'_>, name: &str| -> Vec<String> {
        let texts = arguments.texts(name).unwrap_or_default();
        texts.into_iter().map(|(text, _)| text).collect()
    };
    let (patterns, exclude) = (texts(arguments, "path"), texts(arguments, "exclude"));
    let framing = match arguments.text("delimiter").as_deref() {
        None | Some("\n" | "\\n") => framing,
        Some(text) if text.len() == 1 => Framing::Separated(text.as_bytes()[0]),
        Some(_) => {
            let place = arguments.place("delimiter");
            arguments.complain(complain::bad_value("delimiter", place, "a single byte"));
            return None;
        }
    };
    if arguments.text("mode").as_deref() == Some("read") {
        // Files that are not there are no error in Logstash, which would wait for them.
        let mut files = crate::source::tail::files(&patterns, &exclude);
        sort(&mut files, arguments);
        let patterns = files.iter().map(|path| path.display().to_string()).collect();
        return Some(SourceConfig::File(FileConfig { patterns, framing, skip_bytes: 0 }));
    }
    let from_beginning = arguments.text("start_position").as_deref() == Some("beginning");
    let interval = arguments.text("stat_interval").and_then(|text| seconds(&text));
    let interval = interval.map_or(1.0, |interval| interval.as_secs_f64());
    Some(SourceConfig::Tail(TailConfig {
        patterns,
        exclude,
        framing,
        from_beginning,
        every_ns: nanoseconds(interval.max(0.01)),
    }))
}

/// Leaves out files that are too old, and brings the others into the order that the options say.
fn sort(files: &mut Vec<PathBuf>, arguments: &Arguments<'_>) {
    let changed = |path: &PathBuf| std::fs::metadata(path).and_then(|file| file.modified()).ok();
    let oldest = arguments.text("ignore_older").and_then(|text| seconds(&text));
    if let Some(limit) = oldest.and_then(|age| SystemTime::now().checked_sub(age)) {
        files.retain(|path| changed(path).is_none_or(|time| time >= limit));
    }
    match arguments.text("file_sort_by").as_deref() {
        Some("path") => files.sort(),
        // Files of one time stay in the order of the patterns.
        _ => files.sort_by_key(changed),
    }
    if arguments.text("file_sort_direction").as_deref() == Some("desc") {
        files.reverse();
    }
}

/// `3600`, `"1 hour"`, `"2 weeks"`, as the input `file` writes a time; 0 is none.
fn seconds(text: &str) -> Option<Duration> {
    let text = text.trim();
    let digits = text.find(|one: char| !one.is_ascii_digit() && one != '.').unwrap_or(text.len());
    let number: f64 = text[..digits].parse().ok()?;
    let unit = match text[digits..].trim() {
        "" | "s" | "sec" | "second" | "seconds" => 1.0,
        "m" | "min" | "minute" | "minutes" => 60.0,
        "h" | "hour" | "hours" => 3600.0,
        "d" | "day" | "days" => 86_400.0,
        "w" | "week" | "weeks" => 604_800.0,
        "ms" | "msec" | "msecs" => 0.001,
        "us" | "usec" | "usecs" => 0.000_001,
        _ => return None,
    };
    let length = number * unit;
    (length > 0.0).then(|| Duration::try_from_secs_f64(length).ok()).flatten()
}

impl Intake {
    /// What takes the events of `--stdin`: nothing is added to them but the text of lines.
    #[must_use]
    pub fn of_standard_input(settings: &Settings) -> Self {
        Self {
            kind: Kind::Pipeline,
            decoder: Decoder::text(settings),
            traces: Traces::default(),
            class: None,
            tags: Vec::new(),
            added: Vec::new(),
            command: None,
            beat: Beat::Sequence,
            host: String::new(),
        }
    }

    /// What its codec remembers, as a value.
    pub fn save<'a>(&self, state: &DecodeState, arena: &'a Arena) -> Datum<'a> {
        self.decoder.save(state, arena)
    }

    /// The state that [`Intake::save`] gave; `None` when it is not of that shape.
    #[must_use]
    pub fn restore(&self, saved: &Datum<'_>) -> Option<DecodeState> {
        self.decoder.restore(saved)
    }

    /// Whether frames belong together.
    #[must_use]
    pub fn is_stateful(&self) -> bool {
        self.decoder.is_stateful()
    }

    /// Whether what waits becomes complete by itself.
    #[must_use]
    pub fn wants_ticks(&self) -> bool {
        self.decoder.wants_ticks()
    }

    /// The events of what a source read.
    pub fn receive<'a>(
        &'a self,
        state: &mut DecodeState,
        event: Event<'a>,
        around: &Surroundings<'a>,
        moment: Moment<'a>,
        out: &mut Vec<LogEvent<'a>>,
    ) {
        let first = out.len();
        let origin = around.call.facts.origin.as_deref();
        let stream = origin.unwrap_or_default();
        let mut sequence = None;
        match (self.kind, event.value) {
            (Kind::Generator | Kind::Heartbeat, record) => {
                let number = |name| record.get(&temblor_lang::value::Key::new(name));
                sequence = number("id").or_else(|| number("sequence")).and_then(Value::as_u64);
                let line = number("line").and_then(Value::as_str).unwrap_or_default();
                match (self.kind, &self.beat) {
                    (Kind::Heartbeat, Beat::Message(text)) => {
                        self.decoder.decode(state, stream, text.as_bytes(), moment, out);
                    }
                    (Kind::Heartbeat, _) => {
                        out.push(LogEvent::new(Default::default(), moment.now));
                    }
                    _ => self.decoder.decode(state, stream, line.as_bytes(), moment, out),
                }
            }
            (_, Value::Bytes(bytes)) => self.decoder.decode(state, stream, bytes, moment, out),
            (_, Value::Str(text)) => self.decoder.decode_text(state, stream, text, moment, out),
            (_, value) => {
                let mut made = LogEvent::from_value(value, moment.arena, moment.now);
                if let (true, Datum::Map(meta)) =
                    (made.metadata.is_empty(), Datum::from_value(event.meta, moment.arena))
                {
                    made.metadata = meta;
                }
                out.push(made);
            }
        }
        for event in &mut out[first..] {
            self.decorate(event, origin, sequence, moment);
        }
    }

    /// What still waits; with `due` only what has waited long enough.
    pub fn flush<'a>(
        &'a self,
        state: &mut DecodeState,
        moment: Moment<'a>,
        due: bool,
        out: &mut Vec<LogEvent<'a>>,
    ) {
        let mut waited = Vec::new();
        self.decoder.flush(state, moment, due, &mut waited);
        for (stream, mut event) in waited {
            self.decorate(&mut event, Some(&stream), None, moment);
            out.push(event);
        }
    }

    fn decorate<'a>(
        &'a self,
        event: &mut LogEvent<'a>,
        origin: Option<&str>,
        sequence: Option<u64>,
        moment: Moment<'a>,
    ) {
        let arena = moment.arena;
        let put = |event: &mut LogEvent<'a>, field: &'a Option<FieldRef>, value: Datum<'a>| {
            if let Some(field) = field
                && !event.includes(field)
            {
                // A scalar in the way keeps its place.
                let _ = event.add(field, value, arena);
            }
        };
        let Traces { host, origin: place } = &self.traces;
        put(event, host, Datum::Str(&self.host));
        match (self.kind, origin, sequence) {
            (Kind::File, Some(path), _) => put(event, place, Datum::Str(arena.str(path))),
            (Kind::Generator, _, Some(number)) => put(event, place, Datum::whole(number)),
            (Kind::Heartbeat, _, Some(number)) => match self.beat {
                Beat::Sequence => put(event, place, Datum::whole(number)),
                Beat::Epoch => put(event, place, Datum::Int(moment.now.timestamp())),
                Beat::Message(_) => {}
            },
            (Kind::Command, ..) => {
                if let Some(command) = &self.command {
                    put(event, place, Datum::Str(command));
                }
            }
            _ => {}
        }
        for (name, value) in &self.added {
            if let Some(field) = name.of(event, arena, moment.now) {
                for text in value {
                    let value = Datum::Str(text.render(event, arena, moment.now));
                    // What stands in the way stays.
                    let _ = add(event, &field, value, arena);
                }
            }
        }
        if let Some(class) = &self.class
            && event.data.get("type").is_none()
        {
            event.data.insert("type", Datum::Str(class));
        }
        self.tags.iter().for_each(|tag| event.tag(tag));
    }
}
