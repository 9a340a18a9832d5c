//! From the frames of a batch to events at the inputs of the graph. A frame that cannot be read is
//! an event, too, when something is connected to the `err` port of its source.

use super::Frames;
use super::encode::Frame;
use super::metadata::Metadata;
use crate::event::Event;
use temblor_codec::{Decoder, InputCodec};
use temblor_lang::builtin::Facts;
use temblor_lang::value::{Arena, Value};
use temblor_runtime::batch::Batch;

/// What a source of the run leads to.
#[derive(Clone, Debug)]
pub struct Input {
    /// The node that takes its events.
    pub node: usize,
    /// How frames are read.
    pub codec: InputCodec,
    /// What takes the errors of frames that cannot be read.
    pub errors: Option<ErrorInput>,
}

/// The `err` port of a source.
#[derive(Clone, Debug)]
pub struct ErrorInput {
    /// The node that takes the errors.
    pub node: usize,
    /// What the errors call the source.
    pub source: String,
    /// Whether they carry the frame itself (tremor's do not).
    pub with_frame: bool,
}

/// What became of a frame.
pub(super) enum Arrived<'a> {
    /// An event for a node.
    Event(usize, Event<'a>),
    /// An error that is an event for a node.
    Error(usize, Event<'a>),
    /// The frame holds no event.
    Nothing,
    /// An error that nothing takes.
    Unread(String),
}

impl Input {
    /// An input without an `err` port.
    #[must_use]
    pub fn new(node: usize, codec: InputCodec) -> Self {
        Self { node, codec, errors: None }
    }

    /// Reads one frame.
    pub(super) fn arrive<'a>(
        &'a self,
        decoder: &mut Decoder,
        frame: Frame<'a>,
        facts: &Facts,
        metadata: &'a Metadata,
        arena: &'a Arena,
    ) -> Arrived<'a> {
        let decoded = match frame.bad {
            Some(reason) => Err(reason.to_string()),
            None => decoder.decode(self.codec, frame.bytes, facts.ingest_ns, arena),
        };
        let reason = match decoded {
            Ok(None) => return Arrived::Nothing,
            Ok(Some((value, raw))) => {
                // With a line break inside, the bytes as they came would tear the line that they leave as.
                let raw = raw.filter(|raw| frame.is_line || !raw.contains(&b'\n'));
                let meta = metadata.event(frame.meta, arena);
                let event = Event { raw, ..Event::new(value, meta, facts.ingest_ns) };
                return Arrived::Event(self.node, event);
            }
            Err(reason) => reason,
        };
        match &self.errors {
            None => Arrived::Unread(reason),
            Some(errors) => {
                let event = errors.event(&reason, frame, facts.ingest_ns, arena);
                Arrived::Error(errors.node, event)
            }
        }
    }
}

impl Input {
    /// What becomes of a frame that brought out a mistake of Temblor's.
    pub(super) fn failed<'a>(
        &'a self,
        reason: &str,
        frame: Frame<'a>,
        facts: &Facts,
        arena: &'a Arena,
    ) -> Arrived<'a> {
        match &self.errors {
            None => Arrived::Unread(reason.to_string()),
            Some(errors) => {
                Arrived::Error(errors.node, errors.event(reason, frame, facts.ingest_ns, arena))
            }
        }
    }
}

impl ErrorInput {
    fn event<'a>(
        &'a self,
        reason: &str,
        frame: Frame<'a>,
        ingest_ns: u64,
        arena: &'a Arena,
    ) -> Event<'a> {
        let reason = Value::Str(arena.str(reason));
        if self.with_frame {
            let mut record = arena.record_builder(4);
            record.append("error", reason);
            record.append("source", Value::Str(&self.source));
            record.append("line", Value::UInt(frame.line));
            // Bytes that are no text are kept as bytes, which JSON shows as base64.
            let original = std::str::from_utf8(frame.bytes);
            record.append("event", original.map_or(Value::Bytes(frame.bytes), Value::Str));
            return Event::new(record.finish(), arena.record_builder(0).finish(), ingest_ns);
        }
        let mut record = arena.record_builder(4);
        record.append("error", reason);
        record.append("source", Value::Str(&self.source));
        record.append("stream_id", Value::UInt(0));
        record.append("pull_id", Value::UInt(frame.line.saturating_sub(1)));
        let mut meta = arena.record_builder(1);
        meta.append("error", reason);
        Event::new(record.finish(), meta.finish(), ingest_ns)
    }
}

/// Everything in a batch that may become an event: the frames, behind the bad ones when the source
/// has an `err` port for them.
pub(super) fn frames<'b>(batch: &'b Batch, input: &Input) -> impl Iterator<Item = Frame<'b>> {
    let bad = if input.errors.is_some() { &batch.bad[..] } else { &[] };
    let bad = bad.iter().map(|bad| Frame {
        bytes: &bad.head,
        line: bad.line,
        index: 0,
        is_line: false,
        meta: &[],
        bad: Some(&bad.reason),
    });
    let mut frames = Frames::new(batch, input.codec);
    bad.chain(std::iter::from_fn(move || frames.next(batch)))
}
