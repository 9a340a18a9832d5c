//! Several workers with a common memory. Each decodes its batch and goes as far as no memory is
//! needed; then, in the order of the batches, one after the other uses the memory; what comes out
//! is encoded at the same time again. The results are those of one worker, to the byte.
//!
//! Invariant: values of a batch take no more than [`PIECE_BYTES_MAX`] together, and what one event may take
//! besides: a batch that needs more goes through in pieces.

use super::PipelineWorker;
use super::arrival::{self, Arrived, Input};
use super::encode::{Encoder, Frame};
use super::{Pipeline, bug, give_back};
use crate::event::Event;
use crate::graph::{Graph, Memory, Receiver, States, Way};
use crate::operator::Surroundings;
use temblor_lang::builtin::{Call, Facts};
use temblor_lang::error::EvalError;
use temblor_lang::value::{Arena, EventBudget};
use temblor_runtime::ack::Token;
use temblor_runtime::batch::Batch;
use temblor_runtime::error::Error;
use temblor_runtime::outputs::Outputs;
use temblor_runtime::turnstile::Turn;

/// Bytes of values after which no more events are taken in before those that are under way have left.
const PIECE_BYTES_MAX: usize = 64 << 20;

/// Something that left the graph, kept until its turn to be encoded.
enum Kept<'a> {
    Output(usize, &'a str, Event<'a>),
    Failed(Event<'a>, EvalError),
    Undecodable(String),
    /// An error that is an event.
    Routed,
    Dropped(u64),
    Delayed(u64),
    Released(Vec<Token>),
}

/// Keeps what leaves the graph.
struct Keeper<'a> {
    kept: Vec<Kept<'a>>,
    sources: &'a temblor_lang::span::Sources,
}

impl<'a> Receiver<'a> for Keeper<'a> {
    fn output(&mut self, output: usize, port: &'a str, event: Event<'a>) {
        self.kept.push(Kept::Output(output, port, event));
    }

    fn failed(&mut self, _: &str, event: Event<'a>, error: &EvalError) {
        self.kept.push(Kept::Failed(event, error.clone()));
    }

    fn describe(&mut self, error: &EvalError) -> String {
        super::encode::describe(self.sources, error)
    }

    fn dropped(&mut self, _: &str, events: u64) {
        self.kept.push(Kept::Dropped(events));
    }

    fn delayed(&mut self, time_ns: u64) {
        self.kept.push(Kept::Delayed(time_ns));
    }

    fn released(&mut self, tokens: Vec<Token>) {
        self.kept.push(Kept::Released(tokens));
    }
}

/// One event on its way.
struct Traveller<'a> {
    frame: Frame<'a>,
    facts: &'a Facts,
    /// What is still to go; `None` when the frame is no event.
    way: Option<Way<'a>>,
    keeper: Keeper<'a>,
    /// What is left of its budget.
    budget: EventBudget,
}

impl PipelineWorker {
    pub(super) fn process_ordered(
        &mut self,
        batch: &Batch,
        turn: &mut Turn<'_>,
        out: &mut Outputs,
    ) -> Result<(), Error> {
        let pipeline = self.pipeline.clone();
        let frames = arrivals(batch, &pipeline.inputs[batch.source], &self.facts);
        let events = frames.iter().filter(|(frame, _)| frame.bad.is_none()).count();
        out.received(events as u64);
        let (mut rest, mut result) = (&frames[..], Ok(()));
        loop {
            let stage = Stage { pipeline: &pipeline, batch };
            let (count, done) = self.piece(stage, rest, turn, out);
            self.arena.reset();
            result = result.and(done);
            rest = &rest[count..];
            if rest.is_empty() {
                return result;
            }
        }
    }

    /// Takes as many events as there is room for through all three parts; gives their number. The turn
    /// passes with the last piece.
    fn piece(
        &mut self,
        stage: Stage<'_>,
        frames: &[(Frame<'_>, Facts)],
        turn: &mut Turn<'_>,
        out: &mut Outputs,
    ) -> (usize, Result<(), Error>) {
        let Self { arena, decoder, local, metadata, .. } = self;
        let arena = &*arena;
        let mut travellers = Vec::with_capacity(frames.len());
        for (frame, facts) in frames {
            let input = stage.input();
            let arrived = bug::caught(|| input.arrive(decoder, *frame, facts, metadata, arena));
            travellers.push(stage.set_out(arrived, (*frame, facts), arena, local));
            if arena.charged_bytes() > PIECE_BYTES_MAX {
                break;
            }
        }
        let (count, is_last) = (travellers.len(), travellers.len() == frames.len());
        turn.wait();
        let mut shared = stage.pipeline.lock();
        // What the program gives back to itself needs the memory again.
        let in_turn = stage.pipeline.gives_back() || !is_last;
        let (mut waiting, mut result) = (Vec::new(), Ok(()));
        for mut traveller in travellers {
            let memory = &mut Memory { local, shared: Some(&mut shared) };
            if arena.charged_bytes() > 2 * PIECE_BYTES_MAX {
                // Those in front leave first; what this one takes goes with it.
                result = result.and(stage.encode_all(&mut waiting, arena, out));
                result = result.and(stage.apart(traveller, memory, out, &Arena::new()));
                continue;
            }
            stage.go_on(&mut traveller, memory, arena);
            if in_turn {
                result = result.and(stage.encode(traveller, Some(memory), arena, out));
            } else {
                waiting.push(traveller);
            }
        }
        drop(shared);
        if is_last {
            turn.pass();
        }
        (count, result.and(stage.encode_all(&mut waiting, arena, out)))
    }
}

/// What all parts of the work on a batch share.
#[derive(Clone, Copy)]
struct Stage<'a> {
    pipeline: &'a Pipeline,
    batch: &'a Batch,
}

impl<'a> Stage<'a> {
    fn input(self) -> &'a Input {
        &self.pipeline.inputs[self.batch.source]
    }

    fn around(self, facts: &'a Facts, arena: &'a Arena) -> Surroundings<'a> {
        let token = Some(self.batch.token_ref());
        Surroundings { call: Call { arena, facts }, now_ns: facts.now_ns, token }
    }

    /// Reads an event and goes as far as no memory is needed.
    fn set_out(
        self,
        arrived: Result<Arrived<'a>, String>,
        (frame, facts): (Frame<'a>, &'a Facts),
        arena: &'a Arena,
        local: &mut States,
    ) -> Traveller<'a> {
        arena.begin_event(EventBudget::WHOLE);
        let keeper = Keeper { kept: Vec::new(), sources: &self.pipeline.sources };
        let budget = EventBudget::WHOLE;
        let mut traveller = Traveller { frame, facts, way: None, keeper, budget };
        let arrived =
            arrived.unwrap_or_else(|reason| self.input().failed(&reason, frame, facts, arena));
        self.enter(&mut traveller, arrived, arena);
        self.advance(&mut traveller, &mut Memory { local, shared: None }, arena);
        traveller
    }

    fn enter(self, traveller: &mut Traveller<'a>, arrived: Arrived<'a>, arena: &'a Arena) {
        let kept = &mut traveller.keeper.kept;
        if let Arrived::Error(..) = arrived {
            kept.push(Kept::Routed);
        }
        traveller.way = match arrived {
            Arrived::Nothing => None,
            Arrived::Unread(reason) => {
                kept.push(Kept::Undecodable(reason));
                None
            }
            Arrived::Event(node, event) | Arrived::Error(node, event) => {
                Some(Graph::enter(node, event, &self.around(traveller.facts, arena)))
            }
        };
    }

    /// Goes on as far as there is memory; a mistake of Temblor's makes an error of the event.
    fn advance(self, traveller: &mut Traveller<'a>, memory: &mut Memory<'_>, arena: &'a Arena) {
        let around = self.around(traveller.facts, arena);
        for attempt in 0..2 {
            let Traveller { way, keeper, .. } = &mut *traveller;
            let Some(way) = way else { break };
            let graph = &self.pipeline.graph;
            let Err(reason) = bug::caught(|| graph.advance(way, memory, &around, keeper)) else {
                break;
            };
            arena.begin_event(EventBudget::WHOLE);
            let arrived = match attempt {
                0 => self.input().failed(&reason, traveller.frame, traveller.facts, arena),
                _ => Arrived::Unread(reason),
            };
            self.enter(traveller, arrived, arena);
        }
        traveller.budget = arena.event_budget();
    }

    /// The way through the nodes with a memory.
    fn go_on(self, traveller: &mut Traveller<'a>, memory: &mut Memory<'_>, arena: &'a Arena) {
        arena.begin_event(traveller.budget);
        self.advance(traveller, memory, arena);
    }

    /// The rest of the way of one event, with memory of its own that goes at once.
    fn apart(
        self,
        traveller: Traveller<'a>,
        memory: &mut Memory<'_>,
        out: &mut Outputs,
        arena: &'a Arena,
    ) -> Result<(), Error> {
        let mut traveller = traveller;
        self.go_on(&mut traveller, memory, arena);
        self.encode(traveller, Some(memory), arena, out)
    }

    fn encode_all(
        self,
        travellers: &mut Vec<Traveller<'a>>,
        arena: &'a Arena,
        out: &mut Outputs,
    ) -> Result<(), Error> {
        let mut result = Ok(());
        for traveller in travellers.drain(..) {
            result = result.and(self.encode(traveller, None, arena, out));
        }
        result
    }

    /// Writes what came of an event. Without memory nothing can be given back to the program.
    fn encode(
        self,
        traveller: Traveller<'a>,
        memory: Option<&mut Memory<'_>>,
        arena: &'a Arena,
        out: &mut Outputs,
    ) -> Result<(), Error> {
        let Traveller { frame, facts, keeper, .. } = traveller;
        let mut encoder = Encoder::new(self.pipeline, out, arena);
        encoder.frame = Some((self.batch, frame));
        let done = bug::caught(|| {
            keeper.kept.into_iter().for_each(|kept| hand_over(kept, &mut encoder));
            if let Some(memory) = memory {
                give_back(self.pipeline, memory, &self.around(facts, arena), &mut encoder);
            }
        });
        done.unwrap_or_else(|reason| encoder.bug(&reason));
        encoder.finish()
    }
}

/// The events of a batch with what is known of each.
fn arrivals<'b>(batch: &'b Batch, input: &Input, facts: &Facts) -> Vec<(Frame<'b>, Facts)> {
    let known = |frame: Frame<'b>| {
        let mut facts = facts.clone();
        facts.arrive(batch.ingest(frame.index));
        (frame, facts)
    };
    arrival::frames(batch, input).map(known).collect()
}

fn hand_over<'a>(kept: Kept<'a>, encoder: &mut Encoder<'a, '_>) {
    match kept {
        Kept::Output(output, port, event) => encoder.output(output, port, event),
        Kept::Failed(event, error) => encoder.failed("", event, &error),
        Kept::Routed => encoder.routed("decode"),
        Kept::Undecodable(reason) => encoder.undecodable(&reason),
        Kept::Dropped(events) => encoder.dropped("", events),
        Kept::Delayed(time_ns) => encoder.delayed(time_ns),
        Kept::Released(tokens) => encoder.released(tokens),
    }
}
