//! From frames to events. A decoder never loses a frame: what it cannot read is a `message` with a tag.

use super::cef;
use super::multiline::{Buffer, Multiline};
use crate::charset::Charset;
use crate::complain;
use crate::filter;
use crate::options::Arguments;
use crate::program::{Program, ProgramState};
use crate::saved;
use crate::settings::Ecs;
use chrono::{DateTime, Utc};
use temblor_codec::Format;
use temblor_lang::value::Arena;
use temblor_logstash_event::datum::{Datum, Map};
use temblor_logstash_event::event::LogEvent;
use temblor_logstash_event::reference::FieldRef;
use temblor_logstash_event::template::Template;

/// How an input reads frames.
#[derive(Debug)]
pub struct Decoder {
    kind: Kind,
    charset: Charset,
    target: Option<FieldRef>,
    /// The field that keeps the text of a line.
    original: Option<FieldRef>,
    /// What stands between frames, if that is said.
    pub delimiter: Option<u8>,
    /// Whether each line of a message is an event, or part of one.
    splits: bool,
    /// Where the action of a document goes.
    pub(super) action: Option<FieldRef>,
    /// The message of an event that has none: `format` of msgpack.
    format: Option<Template>,
    /// Longer lines are refused: `decode_size_limit_bytes`.
    line_bytes_max: Option<u64>,
}

#[derive(Debug)]
enum Kind {
    /// `plain`, `line`, `gzip_lines`: a frame is a message.
    Text,
    /// `json`, `json_lines`
    Json,
    Multiline(Box<Multiline>),
    /// A filter that reads the message: `csv`.
    Filter(Box<Program>),
    Cef(Box<cef::Cef>),
    MessagePack,
    /// An action a line, and the document behind it.
    Bulk,
}

/// What a decoder remembers from frame to frame.
#[derive(Default)]
pub struct DecodeState {
    /// Lines that wait, by the stream that they came on; streams without any are not here.
    lines: Vec<(String, Buffer)>,
    program: Option<ProgramState>,
    /// The action whose document comes next.
    pub(super) action: Option<String>,
}

impl std::fmt::Debug for DecodeState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DecodeState").finish_non_exhaustive()
    }
}

/// Where and when a frame is read.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// Where texts live.
    pub arena: &'a Arena,
    /// The time of events without one.
    pub now: DateTime<Utc>,
    /// The same in nanoseconds.
    pub now_ns: u64,
}

impl DecodeState {
    /// The number of a stream's buffer.
    fn stream(&mut self, name: &str) -> usize {
        match self.lines.iter().position(|(one, _)| one == name) {
            Some(at) => at,
            None => {
                self.lines.push((name.to_string(), Buffer::default()));
                self.lines.len() - 1
            }
        }
    }
}

impl Decoder {
    /// The decoder of frames that are messages.
    #[must_use]
    pub fn text(ecs: Ecs) -> Self {
        let original = ecs.is_on().then(original);
        Self {
            kind: Kind::Text,
            charset: Charset::Utf8,
            target: None,
            original,
            delimiter: None,
            splits: false,
            action: None,
            format: None,
            line_bytes_max: None,
        }
    }

    /// The decoder that a plugin's option `codec` names, or the usual one; `None` when it is wrong or not
    /// here, which has been said.
    pub fn of(arguments: &mut Arguments<'_>) -> Option<Self> {
        Self::or(arguments, "plain")
    }

    /// The same, of a plugin with another usual one.
    pub fn or(arguments: &mut Arguments<'_>, usual: &str) -> Option<Self> {
        super::with_codec(arguments, usual, Self::compile)
    }

    /// The same, with filters behind it that read the message.
    #[must_use]
    pub fn then(self, program: Program) -> Self {
        match self.kind {
            Kind::Text => Self { kind: Kind::Filter(Box::new(program)), ..self },
            // What has fields of its own has no header to be read.
            _ => self,
        }
    }

    /// The decoder of bodies that are JSON.
    #[must_use]
    pub fn json(ecs: Ecs) -> Self {
        Self { kind: Kind::Json, original: None, ..Self::text(ecs) }
    }

    fn compile(name: &str, arguments: &mut Arguments<'_>) -> Option<Self> {
        let is_text = matches!(
            name.trim_start_matches("java_"),
            "plain" | "line" | "multiline" | "gzip_lines"
        );
        let original = (is_text && arguments.ecs.is_on()).then(original);
        let kind = match name {
            "json" | "json_lines" => Kind::Json,
            "multiline" => Kind::Multiline(Box::new(Multiline::compile(arguments)?)),
            "csv" => Kind::Filter(Box::new(super::csv::reader(arguments)?)),
            "cef" => Kind::Cef(Box::new(cef::Cef::compile(arguments)?)),
            "msgpack" => Kind::MessagePack,
            "es_bulk" => Kind::Bulk,
            // What only writes reads as plain.
            _ => Kind::Text,
        };
        let charset = match arguments.text("charset") {
            None => Charset::Utf8,
            Some(name) => match Charset::named(&name) {
                Some(charset) => charset,
                None => {
                    let place = arguments.place("charset");
                    arguments.complain(complain::bad_value("charset", place, Charset::NAMES));
                    return None;
                }
            },
        };
        let delimiter = match arguments.text("delimiter").as_deref() {
            None | Some("\n" | "\\n") => None,
            Some(text) if text.len() == 1 => Some(text.as_bytes()[0]),
            Some(_) => {
                let place = arguments.place("delimiter");
                let reason = "on what is read: only a single byte stands between events";
                arguments.complain(complain::without_effect("delimiter", place, reason));
                None
            }
        };
        let action = arguments.ecs.is_on().then(super::bulk::place);
        let target = arguments.field_or_none("target");
        let format = (name == "msgpack").then(|| arguments.text("format")).flatten();
        let format = format.map(|text| Template::parse(&text));
        let line_bytes_max = arguments.number("decode_size_limit_bytes").map(|most| most as u64);
        let splits = !matches!(name, "plain" | "java_plain" | "json" | "msgpack");
        Some(Self {
            kind,
            charset,
            target,
            original,
            delimiter,
            splits,
            action,
            format,
            line_bytes_max,
        })
    }

    /// What waits, as a value.
    pub fn save<'a>(&self, state: &DecodeState, arena: &'a Arena) -> Datum<'a> {
        let lines = state.lines.iter().map(|(stream, buffer)| {
            Datum::List(vec![Datum::Str(arena.str(stream)), buffer.save(arena)])
        });
        let action = state.action.as_ref().map(|action| Datum::Str(arena.str(action)));
        let program = match (&self.kind, &state.program) {
            (Kind::Filter(program), Some(state)) => program.save(state, arena),
            _ => Datum::Null,
        };
        Datum::List(vec![Datum::List(lines.collect()), action.unwrap_or_default(), program])
    }

    /// The state that [`Decoder::save`] gave; `None` when it is not of that shape.
    pub fn restore(&self, saved: &Datum<'_>) -> Option<DecodeState> {
        let parts = saved::list(Some(saved))?;
        let stream = |one: &Datum<'_>| {
            let parts = saved::list(Some(one))?;
            Some((saved::text(parts.first())?, Buffer::restore(parts.get(1)?)?))
        };
        Some(DecodeState {
            lines: saved::list(parts.first())?.iter().map(stream).collect::<Option<_>>()?,
            action: saved::text(parts.get(1)),
            program: match (&self.kind, parts.get(2)?) {
                (Kind::Filter(program), Datum::List(_)) => Some(program.restore(parts.get(2)?)?),
                _ => None,
            },
        })
    }

    /// Whether frames belong together.
    #[must_use]
    pub fn is_stateful(&self) -> bool {
        matches!(self.kind, Kind::Multiline(_) | Kind::Filter(_) | Kind::Bulk)
    }

    /// Whether what waits becomes complete by itself.
    #[must_use]
    pub fn wants_ticks(&self) -> bool {
        matches!(&self.kind, Kind::Multiline(codec) if codec.flush_after_ns.is_some())
    }

    /// Whether one frame may hold a whole input.
    #[must_use]
    pub(crate) fn reads_messages(&self) -> bool {
        matches!(self.kind, Kind::MessagePack)
    }

    /// The events of a frame, which came on a stream of this name, such as a file.
    pub fn decode<'a>(
        &'a self,
        state: &mut DecodeState,
        stream: &str,
        frame: &'a [u8],
        moment: Moment<'a>,
        out: &mut Vec<LogEvent<'a>>,
    ) {
        let arena = moment.arena;
        if let Kind::MessagePack = self.kind {
            return match Format::MessagePack.decode(frame, moment.now_ns, arena) {
                Ok(value) => {
                    let value = value.unwrap_or(temblor_lang::value::Value::Null);
                    self.emit(Datum::from_value(value, arena), "", moment, out);
                }
                Err(_) => out.push(self.failed(
                    arena.str(&Charset::Utf8.decode(frame)),
                    "_msgpackparsefailure",
                    moment,
                )),
            };
        }
        let text = match self.charset.decode(frame) {
            std::borrow::Cow::Borrowed(text) => text,
            std::borrow::Cow::Owned(text) => arena.str(&text),
        };
        self.read(state, stream, text, moment, out);
    }

    /// As [`Decoder::decode`], of a message that may hold several frames.
    pub(crate) fn decode_whole<'a>(
        &'a self,
        state: &mut DecodeState,
        stream: &str,
        message: &'a [u8],
        moment: Moment<'a>,
        out: &mut Vec<LogEvent<'a>>,
    ) {
        let end = self.delimiter.unwrap_or(b'\n');
        let mut rest = message;
        while self.splits && !rest.is_empty() {
            let (frame, behind) = match memchr::memchr(end, rest) {
                Some(at) => (&rest[..at], &rest[at + 1..]),
                None => (rest, &rest[rest.len()..]),
            };
            let frame =
                if end == b'\n' { frame.strip_suffix(b"\r").unwrap_or(frame) } else { frame };
            self.decode(state, stream, frame, moment, out);
            rest = behind;
        }
        if !self.splits {
            self.decode(state, stream, message, moment, out);
        }
    }

    /// As [`Decoder::decode`], of a frame that is known to be text.
    pub(crate) fn decode_text<'a>(
        &'a self,
        state: &mut DecodeState,
        stream: &str,
        text: &'a str,
        moment: Moment<'a>,
        out: &mut Vec<LogEvent<'a>>,
    ) {
        let is_read = self.charset == Charset::Utf8 && !matches!(self.kind, Kind::MessagePack);
        match is_read {
            true => self.read(state, stream, text, moment, out),
            false => self.decode(state, stream, text.as_bytes(), moment, out),
        }
    }

    fn read<'a>(
        &'a self,
        state: &mut DecodeState,
        stream: &str,
        text: &'a str,
        moment: Moment<'a>,
        out: &mut Vec<LogEvent<'a>>,
    ) {
        let arena = moment.arena;
        match &self.kind {
            Kind::Text => out.push(self.message(text, moment)),
            Kind::Json if self.line_bytes_max.is_some_and(|most| text.len() as u64 > most) => {
                let most = self.line_bytes_max.unwrap_or_default();
                let message = format!("Payload bigger than {most} bytes");
                out.push(self.failed(arena.str(&message), "_jsonparsetoobigfailure", moment));
            }
            Kind::Json => match filter::read_json(text, arena) {
                Some(datum) => self.emit(datum, text, moment, out),
                None if text.trim().is_empty() => {}
                None => out.push(self.failed(text, "_jsonparsefailure", moment)),
            },
            Kind::Multiline(codec) => {
                let at = state.stream(stream);
                let joined = codec.line(&mut state.lines[at].1, text, moment.now_ns);
                out.extend(joined.into_iter().map(|one| self.joined(codec, &one, moment)));
            }
            Kind::Filter(program) => {
                let state = state.program.get_or_insert_with(|| program.start());
                let mut events = vec![self.message(text, moment)];
                program.run(&mut events, state, arena, moment.now);
                out.append(&mut events);
            }
            Kind::Cef(codec) => match codec.decode(text, moment) {
                Some(map) => out.push(LogEvent::new(map, moment.now)),
                None => out.push(self.failed(text, "_cefparsefailure", moment)),
            },
            Kind::Bulk => self.bulk(state, text, moment, out),
            Kind::MessagePack => {}
        }
    }

    /// What still waits, and its streams; with `due` only what has waited long enough.
    pub fn flush<'a>(
        &'a self,
        state: &mut DecodeState,
        moment: Moment<'a>,
        due: bool,
        out: &mut Vec<(String, LogEvent<'a>)>,
    ) {
        let Kind::Multiline(codec) = &self.kind else { return };
        state.lines.retain_mut(|(stream, buffer)| {
            let waited = moment.now_ns.saturating_sub(buffer.changed_ns);
            let is_due = codec.flush_after_ns.is_some_and(|after| waited >= after);
            if due && !is_due {
                return true;
            }
            let joined = codec.flush(buffer);
            out.extend(joined.map(|one| (stream.clone(), self.joined(codec, &one, moment))));
            false
        });
    }

    fn message<'a>(&'a self, text: &'a str, moment: Moment<'a>) -> LogEvent<'a> {
        LogEvent::of_message(text, self.original.as_ref(), moment.now)
    }

    fn joined<'a>(
        &'a self,
        codec: &'a Multiline,
        joined: &super::multiline::Joined,
        moment: Moment<'a>,
    ) -> LogEvent<'a> {
        let began_ns = i64::try_from(joined.began_ns).unwrap_or(i64::MAX);
        let now = DateTime::<Utc>::from_timestamp_nanos(began_ns);
        let mut event = self.message(moment.arena.str(&joined.text), Moment { now, ..moment });
        if joined.several && !codec.tag.is_empty() {
            event.tag(&codec.tag);
        }
        joined.tags.iter().for_each(|tag| event.tag(tag));
        event
    }

    pub(super) fn failed<'a>(
        &self,
        text: &'a str,
        tag: &'a str,
        moment: Moment<'a>,
    ) -> LogEvent<'a> {
        let mut event = LogEvent::of_message(text, None, moment.now);
        event.tag(tag);
        event
    }

    /// An event of these fields, or with them in its target.
    pub(super) fn event<'a>(&'a self, fields: Map<'a>, moment: Moment<'a>) -> LogEvent<'a> {
        let Some(target) = &self.target else { return LogEvent::new(fields, moment.now) };
        let mut event = LogEvent::new(Map::default(), moment.now);
        // A new event has nothing in the way; what may not be there is left out.
        let _ = event.set(target, Datum::Map(fields), moment.arena);
        event
    }

    /// An object is an event, a list one for each element.
    fn emit<'a>(
        &'a self,
        datum: Datum<'a>,
        text: &'a str,
        moment: Moment<'a>,
        out: &mut Vec<LogEvent<'a>>,
    ) {
        match datum {
            Datum::List(items) => {
                items.into_iter().for_each(|item| self.emit(item, text, moment, out));
            }
            Datum::Map(map) => {
                let mut event = self.event(map, moment);
                if let Some(format) = &self.format
                    && event.data.get("message").is_none()
                {
                    let text = format.render(&event, moment.arena, moment.now);
                    event.data.insert("message", Datum::Str(text));
                }
                out.push(event);
            }
            _ => out.push(self.failed(text, "_jsonparsefailure", moment)),
        }
    }
}

/// `[event][original]`
fn original() -> FieldRef {
    FieldRef::parse("[event][original]").expect("it is a field reference")
}
