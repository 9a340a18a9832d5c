//! What frames of an input become: events with the fields that the input adds.

use super::declaration::Kind;
use crate::codec::{DecodeState, Decoder, Moment};
use crate::filter::{Name, add, added_texts};
use crate::network::{self, Arrival, Arrives, is_json, note};
use crate::options::Arguments;
use crate::settings::Settings;
use temblor_lang::value::{Arena, Value};
use temblor_logstash_event::datum::{Datum, Map};
use temblor_logstash_event::event::LogEvent;
use temblor_logstash_event::reference::FieldRef;
use temblor_logstash_event::template::Template;
use temblor_pipeline::event::Event;
use temblor_pipeline::operator::Surroundings;
use temblor_runtime::framing::Framing;

/// What the events of an input are made of.
#[derive(Debug)]
pub struct Intake {
    kind: Kind,
    pub(super) decoder: Decoder,
    traces: Traces,
    /// `type`
    class: Option<String>,
    tags: Vec<String>,
    added: Vec<(Name, Vec<Template>)>,
    /// The command of exec and pipe.
    command: Option<String>,
    /// What heartbeats carry.
    beat: Beat,
    /// How many events a heartbeat makes.
    threads: u64,
    host: String,
    /// What an input over the network has besides.
    over_network: Option<OverNetwork>,
}

/// What only inputs over the network have.
#[derive(Debug)]
struct OverNetwork {
    /// Reads bodies that say that they are JSON.
    json: Option<Decoder>,
    /// The tags of events whose message the codec read, and of those without one.
    tags: Option<[String; 2]>,
    /// Paths in the metadata of connectors, and the fields that they become.
    notes: Vec<(&'static str, FieldRef)>,
    /// The field that holds what a poller was answered.
    target: Option<FieldRef>,
}

/// The options by which inputs over the network make their events, besides those that every input has and those
/// that name a field.
const OVER_NETWORK: [&str; 10] = [
    "include_codec_tag",
    "target",
    "metadata_target",
    "grok_pattern",
    "syslog_field",
    "locale",
    "timezone",
    "use_labels",
    "facility_labels",
    "severity_labels",
];

/// Whether an input over the network makes other events with this option.
pub(crate) fn is_of_intake(arrival: &Arrival, option: &str) -> bool {
    OVER_NETWORK.contains(&option) || arrival.notes.iter().any(|note| note.option == option)
}

/// The tag of a poller's event whose request had no answer.
const NOT_ANSWERED: &str = "_http_request_failure";

/// The fields in which events say where they come from.
#[derive(Debug, Default)]
struct Traces {
    /// The machine.
    host: Option<FieldRef>,
    /// The file, the command, the number or the time, whichever there is.
    origin: Option<FieldRef>,
    /// The exit status of a command.
    status: Option<FieldRef>,
    /// How long it ran: nanoseconds in the schema, seconds without.
    elapsed: Option<FieldRef>,
}

/// What is known of where a frame comes from.
#[derive(Clone, Copy, Debug, Default)]
struct Whence<'f> {
    /// The file, or what else the stream is called.
    stream: Option<&'f str>,
    sequence: Option<u64>,
    /// Exit status and nanoseconds of a command.
    ran: Option<(i64, u64)>,
}

impl Traces {
    fn of(kind: Kind, beat: &Beat, ecs: bool) -> Self {
        // Each with its name of today and its name without a schema.
        let host = match kind {
            Kind::Pipeline | Kind::Network(_) => None,
            Kind::Stdin => Some(("[host][hostname]", "host")),
            _ => Some(("[host][name]", "host")),
        };
        let origin = match (kind, beat) {
            (Kind::File, _) => Some(("[log][file][path]", "path")),
            (Kind::Generator, _) => Some(("[event][sequence]", "sequence")),
            (Kind::Heartbeat, Beat::Sequence) => Some(("[event][sequence]", "clock")),
            (Kind::Heartbeat, Beat::Epoch) => Some(("[event][created]", "clock")),
            (Kind::Exec | Kind::Pipe, _) => Some(("[process][command_line]", "command")),
            _ => None,
        };
        let field = |(schema, old): (&str, &str)| {
            let name = if ecs { schema } else { old };
            FieldRef::parse(name).expect("names of this list are references")
        };
        let ran = (kind == Kind::Exec).then_some([
            ("[process][exit_code]", "[@metadata][exit_status]"),
            ("[@metadata][input][exec][process][elapsed_time]", "[@metadata][duration]"),
        ]);
        Self {
            host: host.map(field),
            origin: origin.map(field),
            status: ran.map(|[status, _]| field(status)),
            elapsed: ran.map(|[_, elapsed]| field(elapsed)),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Beat {
    Message(String),
    Epoch,
    Sequence,
}

impl Intake {
    /// Reads the options that say what becomes of frames.
    pub(super) fn of(kind: Kind, arguments: &mut Arguments<'_>) -> Option<Self> {
        let decoder = Decoder::of(arguments);
        Self::with(kind, decoder, arguments)
    }

    /// The same for an input over the network, with its usual codec.
    pub(crate) fn of_network(
        arrival: &'static Arrival,
        codec: &str,
        arguments: &mut Arguments<'_>,
    ) -> Option<Self> {
        let decoder = match arrival.arrives {
            Arrives::Syslog => Decoder::or(arguments, codec)
                .zip(network::syslog(arguments))
                .map(|(codec, program)| codec.then(program)),
            _ => Decoder::or(arguments, codec),
        };
        let over_network = OverNetwork::of(arrival, arguments);
        let intake = Self::with(Kind::Network(arrival), decoder, arguments)?;
        Some(Self { over_network: Some(over_network), ..intake })
    }

    /// How a stream of its frames is cut.
    #[must_use]
    pub(crate) fn framing(&self) -> Framing {
        match self.decoder.delimiter {
            _ if self.decoder.reads_messages() => Framing::Whole,
            Some(byte) => Framing::Separated(byte),
            None => Framing::Lines,
        }
    }

    fn with(kind: Kind, decoder: Option<Decoder>, arguments: &mut Arguments<'_>) -> Option<Self> {
        let mut added = Vec::new();
        for (key, value) in arguments.pairs("add_field") {
            added.push((Name::compile(&key, value.span, arguments), added_texts(&value)));
        }
        let tags = arguments.words("tags").unwrap_or_default();
        let beat = beat(arguments);
        Some(Intake {
            kind,
            decoder: decoder?,
            traces: Traces::of(kind, &beat, arguments.ecs.is_on()),
            class: arguments.text("type"),
            tags,
            added,
            command: arguments.text("command").filter(|_| matches!(kind, Kind::Exec | Kind::Pipe)),
            beat,
            threads: arguments.number("threads").map_or(1, |number| number.max(1.0) as u64),
            host: gethostname::gethostname().to_string_lossy().into_owned(),
            over_network: None,
        })
    }

    /// What takes the events of `--stdin`: nothing is added to them but the text of lines.
    #[must_use]
    pub(crate) fn of_standard_input(settings: &Settings) -> Self {
        Self {
            kind: Kind::Pipeline,
            decoder: Decoder::text(settings.ecs),
            traces: Traces::default(),
            class: None,
            tags: Vec::new(),
            added: Vec::new(),
            command: None,
            beat: Beat::Sequence,
            threads: 1,
            host: String::new(),
            over_network: None,
        }
    }

    /// What its codec remembers, as a value.
    pub(crate) fn save<'a>(&self, state: &DecodeState, arena: &'a Arena) -> Datum<'a> {
        self.decoder.save(state, arena)
    }

    /// The state that [`Intake::save`] gave; `None` when it is not of that shape.
    #[must_use]
    pub(crate) fn restore(&self, saved: &Datum<'_>) -> Option<DecodeState> {
        self.decoder.restore(saved)
    }

    /// Whether frames belong together.
    #[must_use]
    pub(crate) fn is_stateful(&self) -> bool {
        self.decoder.is_stateful()
    }

    /// Whether what waits becomes complete by itself.
    #[must_use]
    pub(crate) fn wants_ticks(&self) -> bool {
        self.decoder.wants_ticks()
    }

    /// The events of what a source read.
    pub(crate) fn receive<'a>(
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
        let mut whence = Whence { stream: origin, ..Whence::default() };
        match (self.kind, event.value) {
            (Kind::Generator | Kind::Heartbeat, record) => {
                let number = |name| record.get(&temblor_lang::value::Key::new(name));
                whence.sequence =
                    number("id").or_else(|| number("sequence")).and_then(Value::as_u64);
                let line = number("line").and_then(Value::as_str).unwrap_or_default();
                let times = if self.kind == Kind::Heartbeat { self.threads } else { 1 };
                for _ in 0..times {
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
            }
            (Kind::Exec, record @ Value::Record(_)) => {
                let field = |name| record.get(&temblor_lang::value::Key::new(name));
                let status = field("status").and_then(Value::as_i64).unwrap_or_default();
                let elapsed = field("elapsed_ns").and_then(Value::as_u64).unwrap_or_default();
                whence.ran = Some((status, elapsed));
                if let Some(Value::Bytes(bytes)) = field("output") {
                    self.decoder.decode_whole(state, stream, bytes, moment, out);
                }
            }
            (Kind::Network(arrival), value) => {
                self.arrive(state, (arrival.arrives, value, event.meta), stream, moment, out);
                if let Some(OverNetwork { notes, .. }) = &self.over_network {
                    for made in &mut out[first..] {
                        for (path, field) in notes {
                            note(made, field, (path, event.meta), moment.arena);
                        }
                    }
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
            self.decorate(event, whence, moment);
        }
    }

    /// The events of what a connector handed over.
    fn arrive<'a>(
        &'a self,
        state: &mut DecodeState,
        (arrives, value, meta): (Arrives, Value<'a>, Value<'a>),
        stream: &str,
        moment: Moment<'a>,
        out: &mut Vec<LogEvent<'a>>,
    ) {
        let own = self.over_network.as_ref();
        match value {
            Value::Bytes(bytes) => match (arrives, own.and_then(|own| own.json.as_ref())) {
                (Arrives::Frames | Arrives::Syslog, _) => {
                    self.decoder.decode(state, stream, bytes, moment, out)
                }
                (Arrives::Bodies, Some(json)) if is_json(meta) => {
                    json.decode_whole(state, stream, bytes, moment, out);
                }
                (Arrives::Polled, _) if network::found(meta, "http_poll.error").is_some() => {
                    let mut event = LogEvent::new(Default::default(), moment.now);
                    event.tag(NOT_ANSWERED);
                    out.push(event);
                }
                (Arrives::Polled, _) => {
                    let first = out.len();
                    self.decoder.decode_whole(state, stream, bytes, moment, out);
                    if let Some(target) = own.and_then(|own| own.target.as_ref()) {
                        out[first..].iter_mut().for_each(|event| enclose(event, target, moment));
                    }
                }
                _ => self.decoder.decode_whole(state, stream, bytes, moment, out),
            },
            Value::Str(text) => self.decoder.decode_text(state, stream, text, moment, out),
            value => {
                let mut sent = LogEvent::from_value(value, moment.arena, moment.now);
                if arrives == Arrives::Forwarded {
                    network::forwarded(&mut sent, meta);
                    return out.push(sent);
                }
                let tags = own.and_then(|own| own.tags.as_ref());
                let Some(message) = sent.data.get("message").and_then(Datum::as_str) else {
                    tags.iter().for_each(|[_, without]| sent.tag(without));
                    return out.push(sent);
                };
                let first = out.len();
                self.decoder.decode_text(state, stream, message, moment, out);
                for made in &mut out[first..] {
                    for (name, value) in sent.data.iter() {
                        // What was sent says when and what it was; the codec says what its message means.
                        if name == "@timestamp" || made.data.get(name).is_none() {
                            made.data.insert(name, value.clone());
                        }
                    }
                    made.metadata = sent.metadata.clone();
                    tags.iter().for_each(|[with, _]| made.tag(with));
                }
            }
        }
    }

    /// What still waits; with `due` only what has waited long enough.
    pub(crate) fn flush<'a>(
        &'a self,
        state: &mut DecodeState,
        moment: Moment<'a>,
        due: bool,
        out: &mut Vec<LogEvent<'a>>,
    ) {
        let mut waited = Vec::new();
        self.decoder.flush(state, moment, due, &mut waited);
        for (stream, mut event) in waited {
            let whence = Whence { stream: Some(&stream), ..Whence::default() };
            self.decorate(&mut event, whence, moment);
            out.push(event);
        }
    }

    fn decorate<'a>(&'a self, event: &mut LogEvent<'a>, whence: Whence<'_>, moment: Moment<'a>) {
        self.trace(event, whence, moment);
        let arena = moment.arena;
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

    /// Says where an event comes from, where it does not say so itself.
    fn trace<'a>(&'a self, event: &mut LogEvent<'a>, whence: Whence<'_>, moment: Moment<'a>) {
        let arena = moment.arena;
        let put = |event: &mut LogEvent<'a>, field: &'a Option<FieldRef>, value: Datum<'a>| {
            if let Some(field) = field
                && !event.includes(field)
            {
                // A scalar in the way keeps its place.
                let _ = event.add(field, value, arena);
            }
        };
        let Traces { host, origin: place, status, elapsed } = &self.traces;
        put(event, host, Datum::Str(&self.host));
        match (self.kind, whence.stream, whence.sequence) {
            (Kind::File, Some(path), _) => {
                let path = Datum::Str(arena.str(path));
                event.metadata.insert("path", path.clone());
                event.metadata.insert("host", Datum::Str(&self.host));
                put(event, place, path);
            }
            (Kind::Generator, _, Some(number)) => put(event, place, Datum::whole(number)),
            (Kind::Heartbeat, _, Some(number)) => match self.beat {
                Beat::Sequence => put(event, place, Datum::whole(number)),
                Beat::Epoch => put(event, place, Datum::Int(moment.now.timestamp())),
                Beat::Message(_) => {}
            },
            (Kind::Exec | Kind::Pipe, ..) => {
                if let Some(command) = &self.command {
                    put(event, place, Datum::Str(command));
                }
            }
            _ => {}
        }
        if let Some((code, nanoseconds)) = whence.ran {
            put(event, status, Datum::Int(code));
            let is_schema = status.as_ref().is_some_and(|field| !field.metadata);
            let seconds = Datum::Float(nanoseconds as f64 / 1e9);
            put(event, elapsed, if is_schema { Datum::whole(nanoseconds) } else { seconds });
        }
    }
}

impl OverNetwork {
    fn of(arrival: &'static Arrival, arguments: &mut Arguments<'_>) -> Self {
        let says_codec = arguments.get("codec").is_some();
        let json = arrival.arrives == Arrives::Bodies && !says_codec;
        let codec = arguments.text("codec").unwrap_or_else(|| "plain".to_string());
        let tagged =
            arrival.arrives == Arrives::Events && arguments.flag("include_codec_tag", true);
        let tags = tagged.then(|| {
            let with = format!("beats_input_codec_{codec}_applied");
            [with, "beats_input_raw_event".to_string()]
        });
        let polls = arrival.arrives == Arrives::Polled;
        let target = arguments.field_or_none("target").filter(|_| polls);
        let elsewhere = arguments.field_or_none("metadata_target").filter(|_| polls);
        let elsewhere = elsewhere.map(|field| field.text()).filter(|_| !arguments.ecs.is_on());
        let elsewhere = elsewhere.map(|text| match text.starts_with('[') {
            true => text,
            false => format!("[{text}]"),
        });
        let mut notes = Vec::new();
        for one in arrival.notes {
            let usual = if arguments.ecs.is_on() { one.schema } else { one.old };
            let moved = usual.strip_prefix("[@metadata]").zip(elsewhere.as_deref());
            let moved = moved.map(|(rest, target)| format!("{target}{rest}"));
            let usual = moved.as_deref().unwrap_or(usual);
            let chosen = Some(one.option).filter(|option| !option.is_empty());
            let field = match chosen.and_then(|option| arguments.field_or_none(option)) {
                Some(field) => field,
                None if usual.is_empty() => continue,
                None => FieldRef::parse(usual).expect("names of the table are references"),
            };
            notes.push((one.from, field));
        }
        Self { json: json.then(|| Decoder::json(arguments.ecs)), tags, notes, target }
    }
}

/// Puts the fields of an event into one field of it.
fn enclose<'a>(event: &mut LogEvent<'a>, target: &FieldRef, moment: Moment<'a>) {
    let mut inner = Map::default();
    for (name, value) in std::mem::take(&mut event.data).into_entries() {
        match name {
            "@timestamp" | "@version" | "tags" => event.data.insert(name, value),
            _ => inner.insert(name, value),
        }
    }
    // Nothing stands in the way any more.
    let _ = event.set(target, Datum::Map(inner), moment.arena);
}

fn beat(arguments: &Arguments<'_>) -> Beat {
    let message = arguments.text("message");
    match (arguments.text("sequence").as_deref(), message.as_deref()) {
        (Some("epoch"), _) | (None, Some("epoch")) => Beat::Epoch,
        (Some("sequence"), _) | (None, Some("sequence")) => Beat::Sequence,
        _ => Beat::Message(message.unwrap_or_else(|| "ok".to_string())),
    }
}
