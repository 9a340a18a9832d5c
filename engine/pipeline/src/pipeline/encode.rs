//! From what leaves the graph to bytes in the outputs of the batch. An event that nobody changed
//! leaves as the bytes that it came in as.

use super::{Pipeline, letter};
use crate::event::Event;
use crate::graph::Receiver;
use crate::operator::ERR;
use std::collections::VecDeque;
use std::sync::Arc;
use temblor_codec::{Encoding, OutputCodec};
use temblor_connect::sink::is_place;
use temblor_lang::error::EvalError;
use temblor_lang::program::Formula;
use temblor_lang::run::Context;
use temblor_lang::span::Sources;
use temblor_lang::value::{JsonStyle, Owned, Value, push_json, push_text};
use temblor_lang::{builtin::Facts, value::Arena};
use temblor_runtime::ack::Token;
use temblor_runtime::batch::Batch;
use temblor_runtime::error::Error;
use temblor_runtime::outputs::{Chunk, ErrorRecord, Outputs, PortId, SinkId};
use xxhash_rust::xxh3::Xxh3;

/// Where the events of a port go.
#[derive(Debug)]
pub struct Output {
    /// The sink.
    pub sink: SinkId,
    /// Which place of the sink.
    pub place: Place,
    /// How they are written.
    pub encoding: Encoding,
    /// The port as the run's plan numbers it.
    pub port: PortId,
    /// Whether a batched event is written as the events that it consists of.
    pub each_member: bool,
    /// What the sink wants beside each event; nothing when it takes bytes as they come.
    pub attributes: Option<Box<[Attribute]>>,
    /// The node that takes what cannot be written, where the program reads `NAME/err`.
    pub errors: Option<usize>,
}

/// A value that a sink wants beside each event, such as its key.
#[derive(Clone, Debug)]
pub struct Attribute {
    /// How it is found; an event for which that fails has none. Nothing when the program does not say.
    pub formula: Option<Arc<Formula>>,
    /// Whether the sink takes it as JSON; else as text, and `null` as none.
    pub as_json: bool,
    /// Whether it is the place of the event in its input instead: the same whenever it is read again.
    pub is_position: bool,
}

/// A place of a sink.
#[derive(Debug)]
pub enum Place {
    /// The sink has only one.
    Only,
    /// A path that depends on the event.
    Path(Arc<Formula>),
}

/// A frame that is being processed.
#[derive(Clone, Copy)]
pub(super) struct Frame<'b> {
    pub bytes: &'b [u8],
    /// Its number in its input, from 1.
    pub line: u64,
    /// Its number among the events of the batch, from 0.
    pub index: u64,
    /// Its own metadata as JSON; empty for none.
    pub meta: &'b [u8],
    /// Whether it was a line, so that no line break can be inside.
    pub is_line: bool,
    /// What the source found wrong with it; `bytes` is then its beginning only.
    pub bad: Option<&'b str>,
}

/// Encodes what leaves the graph while one event goes through it.
pub(super) struct Encoder<'p, 'o> {
    pipeline: &'p Pipeline,
    out: &'o mut Outputs,
    arena: &'p Arena,
    /// What could not be written and goes back into the graph, at these nodes.
    returned: VecDeque<(usize, Event<'p>)>,
    /// What is written now had been given back: it does not go round again.
    is_returning: bool,
    /// The frame that is the cause; none for ticks.
    pub frame: Option<(&'p Batch, Frame<'p>)>,
    /// The frame whose places were given last, and how many were.
    placed: (u64, u64),
    /// The run ends with this.
    stopped: Option<Error>,
}

impl<'p, 'o> Encoder<'p, 'o> {
    pub(super) fn new(pipeline: &'p Pipeline, out: &'o mut Outputs, arena: &'p Arena) -> Self {
        let returned = VecDeque::new();
        Self {
            pipeline,
            out,
            arena,
            returned,
            is_returning: false,
            frame: None,
            placed: (u64::MAX, 0),
            stopped: None,
        }
    }

    /// Takes the next event that could not be written, and the node that takes it.
    pub(super) fn next_returned(&mut self) -> Option<(usize, Event<'p>)> {
        self.is_returning = !self.returned.is_empty();
        self.returned.pop_front()
    }

    pub(super) fn finish(self) -> Result<(), Error> {
        self.stopped.map_or(Ok(()), Err)
    }

    /// A frame that is no event.
    #[cold]
    pub(super) fn undecodable(&mut self, reason: &str) {
        self.report("decode", reason.to_string(), None, None);
    }

    /// An event that brought out a mistake of Temblor's.
    #[cold]
    pub(super) fn bug(&mut self, reason: &str) {
        self.report("bug", reason.to_string(), None, None);
    }

    /// An error that went to a port.
    pub(super) fn routed(&mut self, kind: &'static str) {
        self.out.routed_error(kind);
    }

    #[cold]
    fn report(
        &mut self,
        kind: &'static str,
        reason: String,
        event: Option<Value<'_>>,
        about: Option<(&str, &str)>,
    ) {
        let (origin, line, mut bytes) = match self.frame {
            Some((batch, frame)) => (batch.origin.name.clone(), frame.line, frame.bytes.to_vec()),
            None => ("a timer".to_string(), 0, Vec::new()),
        };
        if let Some(event) = event
            && bytes.is_empty()
        {
            push_json(&mut bytes, event, JsonStyle::Compact);
        }
        if let Some(sink) = self.pipeline.letters {
            return self.bury(sink, (kind, &reason), about, event);
        }
        let record = ErrorRecord { kind, origin, line, reason, bytes };
        if let Err(error) = self.out.error(record) {
            self.stopped.get_or_insert(error);
        }
    }

    /// Keeps an event whose failure no port takes as a dead letter; `about` are code and step.
    #[cold]
    fn bury(
        &mut self,
        sink: SinkId,
        (kind, reason): (&'static str, &str),
        about: Option<(&str, &str)>,
        event: Option<Value<'_>>,
    ) {
        let arena = Arena::new();
        let mut told = arena.record_builder(2);
        told.insert("error", Value::Str(reason));
        told.insert("event", event.unwrap_or(Value::Null));
        let mut meta = arena.record_builder(1);
        if let Some((code, step)) = about {
            let mut error = arena.record_builder(2);
            error.insert("code", Value::Str(code));
            error.insert("step", Value::Str(step));
            meta.insert("error", error.finish());
        }
        let arrival = self.frame.map_or(0, |(batch, frame)| batch.ingest(frame.index));
        let event = Event::new(told.finish(), meta.finish(), arrival);
        let program = letter::Program::of(self.pipeline, self.frame);
        let chunk = self.out.sink(sink);
        letter::write(&mut chunk.bytes, event, self.frame, program, &arena);
        chunk.events += 1;
        chunk.end_event();
        self.out.routed_error(kind);
    }

    fn write(&mut self, output: &'p Output, port: &str, event: Event<'p>) {
        let chunk = match &output.place {
            Place::Only => self.out.sink(output.sink),
            Place::Path(path) => match place(path, event) {
                Ok(path) => self.out.sink_at(output.sink, &path),
                Err(reason) => return self.refuse("path", reason, output, event),
            },
        };
        let before = chunk.bytes.len();
        if output.encoding.codec == OutputCodec::Letter {
            let program = letter::Program::of(self.pipeline, self.frame);
            letter::write(&mut chunk.bytes, event, self.frame, program, &Arena::new());
        } else if let Err(reason) =
            output.encoding.encode(&mut chunk.bytes, port, event.value, event.raw, event.ingest_ns)
        {
            chunk.bytes.truncate(before);
            return self.refuse("encode", reason, output, event);
        }
        chunk.events += 1;
        let bytes = (chunk.bytes.len() - before) as u64;
        if let Some(attributes) = &output.attributes {
            chunk.end_event();
            for attribute in attributes {
                match (attribute.is_position, self.frame) {
                    (true, Some((batch, frame))) => {
                        let position = position(batch, frame, &mut self.placed);
                        chunk.add_attribute(position.as_ref().map(String::as_bytes));
                    }
                    _ => attribute.add(event, chunk),
                }
            }
        }
        self.out.count(output.port, 1, bytes);
    }

    /// An event that cannot be written: it goes to `err` of its sink, or else of the program, as it is.
    #[cold]
    fn refuse(&mut self, kind: &'static str, reason: String, output: &'p Output, event: Event<'p>) {
        let pipeline = self.pipeline;
        let errors = pipeline.errors.filter(|port| *port != output.port);
        if output.errors.is_none() && errors.is_none() {
            return self.report(kind, reason, Some(event.value), None);
        }
        let mut record = self.arena.record_builder(3);
        record.append("error", Value::Str(self.arena.str(&reason)));
        record.append("sink", Value::Str(&pipeline.graph.outputs()[output.port]));
        record.append("event", event.value);
        let refusal = event.with_value(record.finish());
        match (output.errors.filter(|_| !self.is_returning), errors) {
            (Some(node), _) => {
                self.out.routed_error(kind);
                self.returned.push_back((node, refusal));
            }
            (None, Some(port)) => {
                self.out.routed_error(kind);
                self.output(port, ERR, refusal);
            }
            (None, None) => self.report(kind, reason, Some(event.value), None),
        }
    }
}

impl Attribute {
    fn add(&self, event: Event<'_>, chunk: &mut Chunk) {
        let Some(formula) = &self.formula else { return chunk.add_attribute(None) };
        let found = evaluated(formula, event, |value| {
            if value == Value::Null && !self.as_json {
                return None;
            }
            let mut text = Vec::new();
            match self.as_json {
                true => push_json(&mut text, value, JsonStyle::Compact),
                false => push_text(&mut text, value),
            }
            Some(text)
        });
        chunk.add_attribute(found.ok().flatten().as_deref());
    }
}

/// What names an event by its place in its input, and by what stands there: a file may be cut and written anew. `placed`
/// counts the events of one frame. Nothing for inputs that cannot be read again.
fn position(batch: &Batch, frame: Frame<'_>, placed: &mut (u64, u64)) -> Option<String> {
    let [first, second] = batch.origin.identity?;
    if placed.0 != frame.index {
        *placed = (frame.index, 0);
    }
    let mut hash = Xxh3::new();
    for number in [first, second, frame.line, placed.1] {
        hash.update(&number.to_le_bytes());
    }
    hash.update(frame.bytes);
    placed.1 += 1;
    Some(format!("{:032x}", hash.digest128()))
}

/// The path of an event's place.
fn place(path: &Formula, event: Event<'_>) -> Result<String, String> {
    let path = evaluated(path, event, |value| {
        let mut text = Vec::new();
        push_text(&mut text, value);
        String::from_utf8_lossy(&text).into_owned()
    });
    let path = path.map_err(|error| error.to_string())?;
    if !is_place(&path) {
        return Err(format!(
            "{path:?} is no path of a file below the directory of the sink: fields in it must not be empty, \
             hold `..` or begin it with `/`"
        ));
    }
    Ok(path)
}

/// What a formula gives for an event.
fn evaluated<T>(
    formula: &Formula,
    event: Event<'_>,
    take: impl FnOnce(Value<'_>) -> T,
) -> Result<T, EvalError> {
    let arena = Arena::new();
    let facts = Facts { ingest_ns: event.ingest_ns, ..Facts::default() };
    let mut nothing = Owned::Null;
    let mut context = Context::new(&arena, &facts, event.value, event.meta, &mut nothing);
    formula.eval(&mut context).map(take)
}

/// What is wrong and where in the program.
pub fn describe(sources: &Sources, error: &EvalError) -> String {
    match error.span().and_then(|span| Some((sources.get(span.source)?, span))) {
        Some((source, span)) => {
            let position = sources.position(span);
            let (line, column) = (position.line, position.column);
            format!("{} at {}:{line}:{column}", error.message(), source.name)
        }
        None => error.message().to_string(),
    }
}

impl<'p> Receiver<'p> for Encoder<'p, '_> {
    fn output(&mut self, output: usize, port: &'p str, event: Event<'p>) {
        let pipeline = self.pipeline;
        for output in &pipeline.outputs[output] {
            match event.members {
                Some(members) if output.each_member => {
                    for event in members.events {
                        self.write(output, port, *event);
                    }
                }
                _ => self.write(output, port, event),
            }
        }
    }

    fn failed(&mut self, node: &str, event: Event<'p>, error: &EvalError) {
        let mut reason = self.describe(error);
        if let Some(help) = error.help() {
            reason = format!("{reason} ({help})");
        }
        self.report("script", reason, Some(event.value), Some((error.code(), node)));
    }

    fn describe(&mut self, error: &EvalError) -> String {
        describe(&self.pipeline.sources, error)
    }

    fn dropped(&mut self, _: &str, events: u64) {
        self.out.dropped("dropped", events);
    }

    fn delayed(&mut self, time_ns: u64) {
        self.out.delay_until(time_ns);
    }

    fn released(&mut self, tokens: Vec<Token>) {
        tokens.into_iter().for_each(|token| self.out.attach(token));
    }
}
