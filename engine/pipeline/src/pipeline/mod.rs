//! The processor that runs a graph: decodes the frames of a batch, sends the events through the
//! graph and encodes what comes out, all in one worker and without a value that outlives its event.

mod bug;
mod metadata;
mod arrival;
mod encode;
mod letter;
mod ordered;

pub use arrival::{ErrorInput, Input};
pub use encode::describe;
pub use encode::{Attribute, Output, Place};

use crate::graph::{Graph, Lost, Memory, Restored, States, StepCounts};
use crate::operator::Surroundings;
use arrival::Arrived;
use encode::{Encoder, Frame};
use metadata::Metadata;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use temblor_codec::{Decoder, Format, InputCodec};
use temblor_lang::builtin::{Call, Facts, Tables};
use temblor_lang::span::Sources;
use temblor_lang::value::{Arena, EventBudget, Value};
use temblor_runtime::batch::{BadFrame, Batch};
use temblor_runtime::clock::Timestamp;
use temblor_runtime::error::Error;
use temblor_runtime::framing::{FrameCursor, Framing};
use temblor_runtime::outputs::{Outputs, SinkId};
use temblor_runtime::processor::{Processor, Unmatched};
use temblor_runtime::turnstile::Turn;

/// Everything about a program that its workers share.
#[derive(Debug)]
pub struct Pipeline {
    /// The operators.
    pub graph: Graph,
    /// The program's texts, for messages.
    pub sources: Arc<Sources>,
    /// For each source of the run: what takes its events, and how they are read.
    pub inputs: Vec<Input>,
    /// For each output port of the graph: where its events go. May be several places, or none.
    pub outputs: Vec<Vec<Output>>,
    /// The output port `err`, if it leads somewhere on purpose: it takes what cannot be written.
    pub errors: Option<usize>,
    /// Seed of everything random.
    pub seed: u64,
    /// The sink that keeps events as dead letters whose failures no port takes.
    pub letters: Option<SinkId>,
    /// The lookup tables that scripts may ask.
    pub tables: Option<Arc<dyn Tables>>,
    /// What the nodes with a memory remember.
    pub states: Mutex<States>,
}

impl Pipeline {
    /// The states, for the one worker whose turn it is.
    fn lock(&self) -> MutexGuard<'_, States> {
        self.states.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether what a sink cannot take goes back into the graph.
    fn gives_back(&self) -> bool {
        self.outputs.iter().flatten().any(|output| output.errors.is_some())
    }

    /// What was counted at each step, and what each keeps.
    #[must_use]
    pub fn step_counts(&self) -> Vec<StepCounts> {
        self.graph.step_counts(&self.lock())
    }

    /// Takes what another pipeline remembers into this one, as far as there is a place for it; says what is
    /// lost.
    pub fn take_over(&self, old: &Self) -> Vec<Lost> {
        Graph::take_over(&self.graph, &mut self.lock(), &old.graph, &mut old.lock())
    }

    /// What would be lost if this pipeline took the place of another.
    #[must_use]
    pub fn would_lose(&self, old: &Self) -> Vec<Lost> {
        Graph::would_lose(&self.graph, &old.graph, &old.lock())
    }

    /// A processor for one worker; `alone` says that it is the only one.
    #[must_use]
    pub fn worker(self: &Arc<Self>, alone: bool) -> Box<dyn Processor> {
        Box::new(PipelineWorker {
            local: self.graph.start(),
            pipeline: self.clone(),
            arena: Arena::new(),
            decoder: Decoder::default(),
            metadata: Metadata::default(),
            facts: Facts { seed: self.seed, tables: self.tables.clone(), ..Facts::default() },
            alone: alone || !self.graph.is_stateful(),
        })
    }
}

/// One worker's part of a pipeline.
struct PipelineWorker {
    pipeline: Arc<Pipeline>,
    /// Memory of one event (alone) or of one batch; reset behind it.
    arena: Arena,
    decoder: Decoder,
    /// What is known of the connection that the batch came from.
    metadata: Metadata,
    /// States of the nodes that remember nothing that matters.
    local: States,
    facts: Facts,
    /// Whether events need not wait for other workers.
    alone: bool,
}

impl PipelineWorker {
    /// Sends each event through the whole graph before the next one is looked at.
    fn process_alone(&mut self, batch: &Batch, out: &mut Outputs) -> Result<(), Error> {
        let Self { pipeline, arena, decoder, local, facts, metadata, .. } = self;
        let pipeline = &**pipeline;
        // A graph without memory needs no lock: its workers must not wait for each other.
        let mut shared = pipeline.graph.is_stateful().then(|| pipeline.lock());
        let input = &pipeline.inputs[batch.source];
        let mut events = 0;
        for frame in arrival::frames(batch, input) {
            events += u64::from(frame.bad.is_none());
            facts.arrive(batch.ingest(frame.index));
            let mut memory = Memory { local, shared: shared.as_deref_mut() };
            let mut encoder = Encoder::new(pipeline, out, arena);
            encoder.frame = Some((batch, frame));
            let call = Call { arena, facts };
            let token = batch.token_ref();
            let around = Surroundings { call, now_ns: facts.now_ns, token: Some(token) };
            let done = bug::caught(|| {
                let arrived = input.arrive(decoder, frame, facts, metadata, arena);
                arena.begin_event(EventBudget::WHOLE);
                travel(arrived, pipeline, &mut memory, &around, &mut encoder);
            });
            if let Err(reason) = done {
                // The event is lost to the program, but not to the user; the others go on.
                arena.begin_event(EventBudget::WHOLE);
                let failed = input.failed(&reason, frame, facts, arena);
                let told =
                    bug::caught(|| travel(failed, pipeline, &mut memory, &around, &mut encoder));
                told.unwrap_or_else(|_| encoder.bug(&reason));
            }
            let stopped = encoder.finish();
            arena.reset();
            stopped?;
        }
        out.received(events);
        Ok(())
    }

    /// Shows the events of a batch to the step that takes them, if it wants to see them ahead.
    fn look_ahead(&mut self, batch: &Batch) {
        let Self { pipeline, arena, decoder, facts, metadata, .. } = self;
        let input = &pipeline.inputs[batch.source];
        let Some((operator, port)) = pipeline.graph.looking_ahead(input.node) else { return };
        facts.arrive(batch.ingest(0));
        // What goes wrong here does so again in its turn, and is told then.
        let _ = bug::caught(|| {
            let arrived = arrival::frames(batch, input)
                .map(|frame| input.arrive(decoder, frame, facts, metadata, arena))
                .filter_map(|arrived| match arrived {
                    Arrived::Event(_, event) => Some(event),
                    _ => None,
                });
            let events = arrived.collect();
            let around =
                Surroundings { call: Call { arena, facts }, now_ns: facts.now_ns, token: None };
            operator.look_ahead(port, events, &around);
        });
        arena.reset();
    }

    fn set_origin(&mut self, batch: &Batch) {
        let name = batch.origin.name.as_str();
        if self.facts.origin.as_deref() != Some(name) {
            self.facts.origin = Some(name.into());
        }
    }

    /// Runs something that no event causes: a tick, or the end.
    fn outside(&mut self, now: Timestamp, out: &mut Outputs, what: Outside) -> Result<(), Error> {
        let Self { pipeline, arena, local, facts, .. } = self;
        let pipeline = &**pipeline;
        facts.arrive(now);
        let mut shared = pipeline.lock();
        let mut encoder = Encoder::new(pipeline, out, arena);
        let around = Surroundings { call: Call { arena, facts }, now_ns: now, token: None };
        match what {
            Outside::Tick => pipeline.graph.tick(&mut shared, local, &around, &mut encoder),
            Outside::End => pipeline.graph.flush(&mut shared, local, &around, &mut encoder),
        }
        let mut memory = Memory { local, shared: Some(&mut shared) };
        give_back(pipeline, &mut memory, &around, &mut encoder);
        let stopped = encoder.finish();
        arena.reset();
        stopped
    }
}

/// Sends what became of a frame through the whole graph.
fn travel<'p>(
    arrived: Arrived<'p>,
    pipeline: &'p Pipeline,
    memory: &mut Memory<'_>,
    around: &Surroundings<'p>,
    encoder: &mut Encoder<'p, '_>,
) {
    if let Arrived::Error(..) = arrived {
        encoder.routed("decode");
    }
    match arrived {
        Arrived::Event(node, event) | Arrived::Error(node, event) => {
            let mut way = Graph::enter(node, event, around);
            pipeline.graph.advance(&mut way, memory, around, encoder);
        }
        Arrived::Nothing => {}
        Arrived::Unread(reason) => encoder.undecodable(&reason),
    }
    give_back(pipeline, memory, around, encoder);
}

/// Sends what could not be written through the graph, where the program reads that.
fn give_back<'p>(
    pipeline: &'p Pipeline,
    memory: &mut Memory<'_>,
    around: &Surroundings<'p>,
    encoder: &mut Encoder<'p, '_>,
) {
    while let Some((node, event)) = encoder.next_returned() {
        let mut way = Graph::enter(node, event, around);
        pipeline.graph.advance(&mut way, memory, around, encoder);
    }
}

/// What happens without an event.
#[derive(Clone, Copy)]
enum Outside {
    Tick,
    End,
}

/// A walk over the frames of a batch that are events.
struct Frames {
    cursor: FrameCursor,
    /// Number of the current frame in its input.
    line: u64,
    /// Events so far.
    events: u64,
    /// Whether a blank frame is an event.
    takes_blank: bool,
    /// Whether frames are lines.
    are_lines: bool,
}

impl Frames {
    fn new(batch: &Batch, codec: InputCodec) -> Self {
        Self {
            cursor: batch.cursor(),
            line: batch.first_line().saturating_sub(1),
            events: 0,
            takes_blank: codec != InputCodec::Json,
            are_lines: batch.framing() == Framing::Lines,
        }
    }

    fn next<'b>(&mut self, batch: &'b Batch) -> Option<Frame<'b>> {
        loop {
            let range = self.cursor.next(batch.bytes())?;
            self.line += 1;
            let meta = &batch.bytes()[self.cursor.meta()];
            let bytes = &batch.bytes()[range];
            if self.takes_blank || !bytes.trim_ascii().is_empty() {
                self.events += 1;
                let (line, index, is_line) = (self.line, self.events - 1, self.are_lines);
                return Some(Frame { bytes, line, index, meta, is_line, bad: None });
            }
        }
    }
}

impl Processor for PipelineWorker {
    fn process(
        &mut self,
        batch: &mut Batch,
        turn: &mut Turn<'_>,
        out: &mut Outputs,
    ) -> Result<(), Error> {
        self.set_origin(batch);
        self.metadata.of(&batch.origin);
        self.look_ahead(batch);
        let result = if self.alone {
            self.process_alone(batch, out)
        } else {
            self.process_ordered(batch, turn, out)
        };
        self.pipeline.graph.absorb(&mut self.local);
        result
    }

    fn reject(&mut self, batch: &Batch, bad: &BadFrame, out: &mut Outputs) -> Result<(), Error> {
        // With an `err` port it goes through the graph, in its turn.
        match self.pipeline.inputs[batch.source].errors {
            Some(_) => Ok(()),
            None => out.bad_frame(batch, bad),
        }
    }

    fn wants_ticks(&self) -> bool {
        self.pipeline.graph.wants_ticks()
    }

    fn tick(&mut self, now: Timestamp, out: &mut Outputs) -> Result<(), Error> {
        self.outside(now, out, Outside::Tick)
    }

    fn keeps_state(&self) -> bool {
        self.pipeline.graph.is_stateful()
    }

    fn snapshot(&mut self) -> Option<Vec<u8>> {
        let Self { pipeline, arena, .. } = self;
        let saved = pipeline.graph.save(&pipeline.lock(), &pipeline.sources, arena);
        let mut bytes = Vec::new();
        let encoded = Format::Tremor.encode(saved, 0, &mut bytes);
        arena.reset();
        encoded.ok().map(|()| bytes)
    }

    fn restore(&mut self, saved: &[u8], unmatched: Unmatched) -> Result<Vec<String>, String> {
        let Self { pipeline, arena, .. } = self;
        let value = Format::Tremor.decode(saved, 0, arena)?.unwrap_or(Value::Null);
        let restored = pipeline.graph.restore(value, &pipeline.sources, unmatched);
        arena.reset();
        let Restored { states, notes } = restored?;
        *pipeline.lock() = states;
        Ok(notes)
    }

    fn flush(&mut self, now: Timestamp, out: &mut Outputs) -> Result<(), Error> {
        self.outside(now, out, Outside::End)
    }
}
