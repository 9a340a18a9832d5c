//! Several workers with a common memory. Each decodes its batch and goes as far as no memory is
//! needed; then, in the order of the batches, one after the other uses the memory; what comes out
//! is encoded at the same time again. The results are those of one worker, to the byte.

use super::PipelineWorker;
use super::arrival::{self, Arrived, Input};
use super::bug;
use super::encode::{Encoder, Frame};
use crate::event::Event;
use crate::graph::{Graph, Memory, Receiver, Way};
use crate::operator::Surroundings;
use temblor_lang::builtin::{Call, Facts};
use temblor_lang::error::EvalError;
use temblor_runtime::ack::Token;
use temblor_runtime::batch::Batch;
use temblor_runtime::error::Error;
use temblor_runtime::outputs::Outputs;
use temblor_runtime::turnstile::Turn;

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
}

impl PipelineWorker {
    pub(super) fn process_ordered(
        &mut self,
        batch: &Batch,
        turn: &mut Turn<'_>,
        out: &mut Outputs,
    ) -> Result<(), Error> {
        let result = self.in_three_parts(batch, turn, out);
        self.arena.reset();
        result
    }

    fn in_three_parts(
        &mut self,
        batch: &Batch,
        turn: &mut Turn<'_>,
        out: &mut Outputs,
    ) -> Result<(), Error> {
        let Self { pipeline, arena, decoder, local, facts, metadata, .. } = self;
        let pipeline = &**pipeline;
        let arena = &*arena;
        let input = &pipeline.inputs[batch.source];
        let around = |facts| Surroundings {
            call: Call { arena, facts },
            now_ns: facts.now_ns,
            token: Some(batch.token_ref()),
        };
        let frames = arrivals(batch, input, facts);
        let mut travellers = Vec::with_capacity(frames.len());
        for (frame, facts) in &frames {
            let mut keeper = Keeper { kept: Vec::new(), sources: &pipeline.sources };
            let mut way = None;
            let arrived = bug::caught(|| input.arrive(decoder, *frame, facts, metadata, arena))
                .unwrap_or_else(|reason| input.failed(&reason, *frame, facts, arena));
            if let Arrived::Error(..) = arrived {
                keeper.kept.push(Kept::Routed);
            }
            match arrived {
                Arrived::Nothing => {}
                Arrived::Unread(reason) => keeper.kept.push(Kept::Undecodable(reason)),
                Arrived::Event(node, event) | Arrived::Error(node, event) => {
                    let around = around(facts);
                    let start = way.insert(Graph::enter(node, event, &around));
                    let mut memory = Memory { local, shared: None };
                    let done = bug::caught(|| {
                        pipeline.graph.advance(start, &mut memory, &around, &mut keeper);
                    });
                    if let Err(reason) = done {
                        keeper.kept.push(Kept::Undecodable(reason));
                        way = None;
                    }
                }
            }
            travellers.push(Traveller { frame: *frame, facts, way, keeper });
        }
        turn.wait();
        let mut shared = pipeline.lock();
        for traveller in &mut travellers {
            if let Some(way) = &mut traveller.way {
                let mut memory = Memory { local, shared: Some(&mut shared) };
                let around = around(traveller.facts);
                let keeper = &mut traveller.keeper;
                let done =
                    bug::caught(|| pipeline.graph.advance(way, &mut memory, &around, keeper));
                if let Err(reason) = done {
                    traveller.keeper.kept.push(Kept::Undecodable(reason));
                }
            }
        }
        drop(shared);
        turn.pass();
        let events = travellers.iter().filter(|one| one.frame.bad.is_none()).count();
        out.received(events as u64);
        let mut encoder = Encoder::new(pipeline, out);
        for traveller in travellers {
            encoder.frame = Some((batch, traveller.frame));
            traveller.keeper.kept.into_iter().for_each(|kept| hand_over(kept, &mut encoder));
        }
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
