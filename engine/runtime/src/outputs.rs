//! What processing one batch puts out: encoded bytes per sink, counts per port, errors.
//!
//! Invariant: outputs leave the worker whole, with the tokens of all batches that they stem from.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use crate::ack::{SourceId, Token};
use crate::batch::{BadFrame, Batch};
use crate::clock::Timestamp;
use crate::error::Error;
use crate::limits::{BAD_FRAME_BYTES_KEPT, ERRORS_PRINTED_MAX, OUTPUT_BYTES_KEPT};
use crate::snapshot::Snapshot;

/// Index of a sink in the plan.
pub type SinkId = usize;
/// Index of a port in the plan.
pub type PortId = usize;

/// A number of events and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// How many events.
    pub events: u64,
    /// How many bytes.
    pub bytes: u64,
}

/// Encoded events for one sink.
#[derive(Debug, Default)]
pub struct Chunk {
    /// Whole encoded events, with whatever ends each of them.
    pub bytes: Vec<u8>,
    /// How many there are.
    pub events: u64,
    /// Where each event ends, for sinks that tell events apart; else empty.
    pub ends: Vec<usize>,
    /// Values that a sink wants beside each event (a key, a topic): where each stands among the bytes, the
    /// same number for each event.
    pub attributes: Vec<Option<(u32, u32)>>,
    /// The bytes of the attributes.
    pub attribute_bytes: Vec<u8>,
}

impl Chunk {
    /// Notes that an event ends here, for sinks that tell events apart.
    pub fn end_event(&mut self) {
        self.ends.push(self.bytes.len());
    }

    /// Adds the next attribute of the event that has just ended.
    pub fn add_attribute(&mut self, value: Option<&[u8]>) {
        let place = value.and_then(|value| {
            let start = u32::try_from(self.attribute_bytes.len()).ok()?;
            self.attribute_bytes.extend_from_slice(value);
            Some((start, u32::try_from(self.attribute_bytes.len()).ok()?))
        });
        self.attributes.push(place);
    }

    fn clear(&mut self) {
        self.events = 0;
        self.bytes.clear();
        self.bytes.shrink_to(OUTPUT_BYTES_KEPT);
        self.ends.clear();
        self.attributes.clear();
        self.attribute_bytes.clear();
    }
}

/// An event that failed and whose error nobody routed: it is printed and counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorRecord {
    /// What kind of error, for the counts: `decode`, `script`, `frame` …
    pub kind: &'static str,
    /// The input's name.
    pub origin: String,
    /// The frame's number in its input, counted from 1; 0 when there is none.
    pub line: u64,
    /// What is wrong; may have several lines.
    pub reason: String,
    /// The original bytes, or their beginning.
    pub bytes: Vec<u8>,
}

/// Everything that one batch, tick or flush puts out.
#[derive(Default)]
pub struct Outputs {
    /// By sink, for sinks with one place.
    pub(crate) chunks: Vec<Chunk>,
    /// For sinks whose place is chosen per event; in the order of first use.
    pub(crate) placed: Vec<(SinkId, String, Chunk)>,
    place_index: HashMap<(SinkId, String), usize>,
    /// Index into `placed` of the place used last.
    last_place: usize,
    pub(crate) ports: Vec<Count>,
    pub(crate) received: u64,
    /// The first of the errors that no port takes.
    pub(crate) errors: Vec<ErrorRecord>,
    /// How many errors no port takes, those in `errors` among them.
    pub(crate) unrouted: u64,
    pub(crate) error_counts: BTreeMap<&'static str, u64>,
    pub(crate) dropped: BTreeMap<&'static str, u64>,
    /// What the outputs stem from.
    pub(crate) tokens: Vec<Token>,
    /// The source of the batch, when these are the outputs of a batch.
    pub(crate) source: Option<SourceId>,
    /// Nothing of this may be written before this time; 0 for at once.
    pub(crate) not_before: Timestamp,
    /// What the program remembered when this was put out, if that was asked for, and how long it
    /// took to say.
    pub(crate) snapshot: Option<(Snapshot, Duration)>,
    /// Sinks that get nothing any more after this.
    pub(crate) closed_sinks: Vec<SinkId>,
    /// The run ends with this, after everything before it has been written.
    pub(crate) fatal: Option<Error>,
    fail_fast: bool,
}

impl Outputs {
    /// Empty outputs for a plan of the given shape; with `fail_fast` the first error ends the run.
    pub fn new(sinks: usize, ports: usize, fail_fast: bool) -> Self {
        let mut outputs = Outputs { fail_fast, ..Outputs::default() };
        outputs.chunks.resize_with(sinks, Chunk::default);
        outputs.ports.resize(ports, Count::default());
        outputs
    }

    /// Makes room for sinks and ports that have come since.
    pub fn fit(&mut self, sinks: usize, ports: usize) {
        if self.chunks.len() < sinks {
            self.chunks.resize_with(sinks, Chunk::default);
        }
        if self.ports.len() < ports {
            self.ports.resize(ports, Count::default());
        }
    }

    /// The chunk of a sink, to append to.
    #[inline]
    pub fn sink(&mut self, sink: SinkId) -> &mut Chunk {
        &mut self.chunks[sink]
    }

    /// The chunk of a sink for the given path below the sink's directory.
    pub fn sink_at(&mut self, sink: SinkId, path: &str) -> &mut Chunk {
        let same = |(id, place, _): &(SinkId, String, Chunk)| *id == sink && place == path;
        if !self.placed.get(self.last_place).is_some_and(same) {
            self.last_place = self.find_place(sink, path);
        }
        &mut self.placed[self.last_place].2
    }

    fn find_place(&mut self, sink: SinkId, path: &str) -> usize {
        let key = (sink, path.to_string());
        if let Some(&index) = self.place_index.get(&key) {
            return index;
        }
        self.placed.push((sink, path.to_string(), Chunk::default()));
        self.place_index.insert(key, self.placed.len() - 1);
        self.placed.len() - 1
    }

    /// Counts events that went to a port.
    #[inline]
    pub fn count(&mut self, port: PortId, events: u64, bytes: u64) {
        let count = &mut self.ports[port];
        count.events += events;
        count.bytes += bytes;
    }

    /// Counts events that were decoded, or tried to be. Blank lines that are no events don't count.
    #[inline]
    pub fn received(&mut self, events: u64) {
        self.received += events;
    }

    /// Counts events that were left out on purpose, by the name of what left them out.
    pub fn dropped(&mut self, reason: &'static str, events: u64) {
        *self.dropped.entry(reason).or_default() += events;
    }

    /// Says that nothing of this may be written before a time. The latest of several counts.
    pub fn delay_until(&mut self, time: Timestamp) {
        self.not_before = self.not_before.max(time);
    }

    /// Counts an error whose event went to a port of the program.
    pub fn routed_error(&mut self, kind: &'static str) {
        *self.error_counts.entry(kind).or_default() += 1;
    }

    /// Reports an event that failed and that no port takes. `Err` when the run stops at the first
    /// error: hand it on with `?`.
    pub fn error(&mut self, mut record: ErrorRecord) -> Result<(), Error> {
        self.routed_error(record.kind);
        self.unrouted += 1;
        record.bytes.truncate(BAD_FRAME_BYTES_KEPT);
        let stop = self.fail_fast.then(|| {
            let place = place_of(&record.origin, record.line);
            Error::event(place, record.reason.clone())
        });
        if self.errors.len() < ERRORS_PRINTED_MAX as usize {
            self.errors.push(record);
        }
        stop.map_or(Ok(()), Err)
    }

    /// Reports a frame that could not be read, as [`error`](Self::error) does.
    pub fn bad_frame(&mut self, batch: &Batch, bad: &BadFrame) -> Result<(), Error> {
        self.error(ErrorRecord {
            kind: "frame",
            origin: batch.origin.name.clone(),
            line: bad.line,
            reason: bad.reason.clone(),
            bytes: bad.head.clone(),
        })
    }

    /// Adds the token of an earlier batch that the outputs stem from, too (an event that an operator
    /// had kept).
    pub fn attach(&mut self, token: Token) {
        self.tokens.push(token);
    }

    /// Bytes of encoded events.
    pub fn held_bytes(&self) -> usize {
        let placed = self.placed.iter().map(|(_, _, chunk)| chunk.bytes.len()).sum::<usize>();
        self.chunks.iter().map(|chunk| chunk.bytes.len()).sum::<usize>() + placed
    }

    /// Makes the outputs as good as new, keeping memory that is worth keeping.
    pub(crate) fn clear(&mut self) {
        for chunk in &mut self.chunks {
            chunk.clear();
        }
        self.placed.clear();
        self.place_index.clear();
        self.last_place = 0;
        self.ports.fill(Count::default());
        self.received = 0;
        self.errors.clear();
        self.unrouted = 0;
        self.error_counts.clear();
        self.dropped.clear();
        self.tokens.clear();
        self.source = None;
        self.not_before = 0;
        self.closed_sinks.clear();
        self.fatal = None;
    }
}

/// How a line of an input is named in messages.
pub(crate) fn place_of(origin: &str, line: u64) -> String {
    if line == 0 { origin.to_string() } else { format!("{origin}:{line}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> ErrorRecord {
        let (origin, reason) = ("<stdin>".to_string(), "broken".to_string());
        ErrorRecord { kind: "decode", origin, line: 2, reason, bytes: vec![b'x'; 1000] }
    }

    #[test]
    fn chunks_are_found_again_by_their_path() {
        let mut outputs = Outputs::new(2, 1, false);
        for path in ["a", "b", "a", "a", "b"] {
            outputs.sink_at(1, path).events += 1;
        }
        outputs.sink(0).bytes.extend_from_slice(b"xy");
        let counts: Vec<_> =
            outputs.placed.iter().map(|(_, p, c)| (p.as_str(), c.events)).collect();
        assert_eq!(counts, [("a", 3), ("b", 2)]);
        assert_eq!(outputs.held_bytes(), 2);
    }

    #[test]
    fn errors_are_all_counted_but_only_the_first_are_kept() {
        let mut outputs = Outputs::new(0, 0, false);
        for _ in 0..100 {
            outputs.error(record()).unwrap();
        }
        assert_eq!(outputs.error_counts["decode"], 100);
        assert_eq!(outputs.errors.len() as u64, ERRORS_PRINTED_MAX);
        assert_eq!(outputs.errors[0].bytes.len(), BAD_FRAME_BYTES_KEPT);
    }

    #[test]
    fn fail_fast_makes_the_first_error_the_last() {
        let error = Outputs::new(0, 0, true).error(record()).unwrap_err();
        assert_eq!((error.exit_code(), error.place()), (3, "<stdin>:2"));
    }
}
