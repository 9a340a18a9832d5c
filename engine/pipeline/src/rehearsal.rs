//! A graph that is run by hand: one event at a time, with a clock that the caller sets. Tests and
//! the REPL use it. It runs the same graph as production, only without threads, files and batches.

use crate::event::Event;
use crate::graph::{Graph, Memory, Receiver, Restored, States, Visit};
use crate::operator::{IN, Surroundings, Usage};
use crate::row::Row;
use std::fmt;
use std::sync::Arc;
use temblor_codec::{Decoder, InputCodec};
use temblor_lang::budget::Budget;
use temblor_lang::builtin::{Call, CallError, Facts, Tables};
use temblor_lang::error::EvalError;
use temblor_lang::span::Sources;
use temblor_lang::value::{Arena, EventBudget, JsonStyle, Owned, Value, push_json};
use temblor_runtime::ack::Token;
use temblor_runtime::processor::Unmatched;

/// A graph with its memory and its clock.
pub struct Rehearsal {
    graph: Graph,
    sources: Sources,
    /// Of the nodes that remember something.
    shared: States,
    /// Of the others.
    local: States,
    facts: Facts,
    decoder: Decoder,
    style: JsonStyle,
    /// What the last event took of its budget.
    spent: (usize, usize),
    /// The time of the next event, in nanoseconds since 1970-01-01 UTC.
    now_ns: u64,
}

/// What an event, a tick or the end of the input caused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Happening {
    /// An event left the graph.
    Output {
        /// The port.
        port: String,
        /// Its data as JSON.
        data: String,
        /// Its metadata as JSON.
        meta: String,
    },
    /// A step failed for an event and nothing takes its failures.
    Failed {
        /// The step.
        node: String,
        /// What is wrong.
        error: EvalError,
        /// The event's data at that time, as JSON.
        data: String,
    },
    /// The input could not be read as an event.
    Undecodable(String),
    /// A step left events out on purpose.
    Dropped {
        /// The step.
        node: String,
        /// How many.
        events: u64,
    },
}

impl fmt::Debug for Rehearsal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rehearsal").field("now_ns", &self.now_ns).finish_non_exhaustive()
    }
}

impl Rehearsal {
    /// Starts a graph; its clock stands at 1970-01-01 UTC. `sources` are the program's texts, `style`
    /// is how events are shown.
    #[must_use]
    pub fn new(graph: Graph, sources: Sources, style: JsonStyle) -> Self {
        Self {
            style,
            shared: graph.rehearse(),
            local: graph.rehearse(),
            graph,
            sources,
            facts: Facts::default(),
            decoder: Decoder::default(),
            spent: (0, 0),
            now_ns: 0,
        }
    }

    /// The graph.
    #[must_use]
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// What each step keeps, by its name.
    #[must_use]
    pub fn usage(&self) -> Vec<(String, Usage)> {
        let usage = self.graph.usage(&self.shared);
        usage.into_iter().map(|(node, usage)| (node.to_string(), usage)).collect()
    }

    /// What each step remembers that can tell it.
    #[must_use]
    pub fn memories(&self) -> Vec<(String, Owned)> {
        let memories = self.graph.memories(&self.shared).into_iter();
        memories.map(|(node, value)| (node.to_string(), value)).collect()
    }

    /// What a step remembers by key, if it keeps a table.
    #[must_use]
    pub fn rows<'a>(&self, node: &str, arena: &'a Arena) -> Option<Vec<Row<'a>>> {
        self.graph.rows(&self.shared, node, arena)
    }

    /// Puts other columns into the row of a key; `None` when there is no such step.
    ///
    /// # Errors
    /// When the columns are not those of a row.
    pub fn amend(
        &mut self,
        node: &str,
        hash: u128,
        columns: Value<'_>,
    ) -> Option<Result<(), CallError>> {
        self.graph.amend(&mut self.shared, node, (hash, columns))
    }

    /// Lets a step forget a key; whether there was one.
    pub fn forget(&mut self, node: &str, hash: u128) -> bool {
        self.graph.forget(&mut self.shared, node, hash)
    }

    /// Gives a step another memory; `None` when there is no such step.
    ///
    /// # Errors
    /// When the step cannot read the value as its memory.
    pub fn replace_memory(
        &mut self,
        node: &str,
        value: Value<'_>,
    ) -> Option<Result<(), CallError>> {
        self.graph.replace_memory(&mut self.shared, node, value)
    }

    /// Lets evaluations end when `budget` says so.
    #[must_use]
    pub fn bounded_by(mut self, budget: Arc<Budget>) -> Self {
        self.facts.budget = Some(budget);
        self
    }

    /// Gives programs lookup tables.
    #[must_use]
    pub fn with_tables(mut self, tables: Option<Arc<dyn Tables>>) -> Self {
        self.facts.tables = tables;
        self
    }

    /// The program's texts.
    #[must_use]
    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    /// What the last event took of its budget: bytes of memory, and steps of work.
    #[must_use]
    pub fn spent(&self) -> (usize, usize) {
        self.spent
    }

    /// The time of the next event.
    #[must_use]
    pub fn now_ns(&self) -> u64 {
        self.now_ns
    }

    /// Puts the clock to a time; timers that are due run.
    pub fn set_clock(&mut self, now_ns: u64) -> Vec<Happening> {
        self.now_ns = now_ns;
        if !self.graph.wants_ticks() {
            return Vec::new();
        }
        self.outside(Outside::Tick)
    }

    /// The input has ended: whatever the graph still keeps comes out.
    pub fn flush(&mut self) -> Vec<Happening> {
        self.outside(Outside::End)
    }

    /// What [`Rehearsal::flush`] would give; the memory stays as it is.
    pub fn foretell_end(&mut self) -> Vec<Happening> {
        let arena = Arena::new();
        let saved = self.graph.save(&self.shared, &self.sources, &arena);
        let now_ns = self.now_ns;
        let happenings = self.flush();
        // What cannot be restored has been let go by the flush.
        let restored = self.graph.restore(saved, &self.sources, Unmatched::Drop);
        if let Ok(Restored { states, .. }) = restored {
            self.shared = states;
        }
        self.now_ns = now_ns;
        happenings
    }

    /// Sends what `bytes` say to an input port of the graph. `None` when there is no such port. A flow
    /// has no port `in`: its first connector stands for it.
    pub fn send(&mut self, port: &str, codec: InputCodec, bytes: &[u8]) -> Option<Vec<Happening>> {
        self.take_in(port, codec, bytes, None)
    }

    /// As [`Rehearsal::send`]; also tells what each node made of the event.
    pub fn follow(
        &mut self,
        port: &str,
        codec: InputCodec,
        bytes: &[u8],
    ) -> Option<(Vec<Happening>, Vec<Visit>)> {
        let mut visits = Vec::new();
        let happenings = self.take_in(port, codec, bytes, Some(&mut visits))?;
        Some((happenings, visits))
    }

    fn take_in(
        &mut self,
        port: &str,
        codec: InputCodec,
        bytes: &[u8],
        visits: Option<&mut Vec<Visit>>,
    ) -> Option<Vec<Happening>> {
        let first = self.graph.inputs().next().filter(|_| port == IN);
        let input = self.graph.input(port).or_else(|| self.graph.input(first?))?;
        let arena = Arena::new();
        self.facts.arrive(self.now_ns);
        let Self { graph, sources, shared, local, facts, decoder, style, .. } = self;
        let mut log = Log { sources, style: *style, happenings: Vec::new(), not_before_ns: 0 };
        match decoder.decode(codec, bytes, facts.ingest_ns, &arena) {
            Err(reason) => log.happenings.push(Happening::Undecodable(reason)),
            Ok(None) => {}
            Ok(Some((value, _))) => {
                let around = surroundings(&arena, facts);
                arena.begin_event(EventBudget::WHOLE);
                let meta = arena.record_builder(0).finish();
                let event = Event::new(value, meta, facts.ingest_ns);
                let mut way = Graph::enter(input, event, &around);
                let mut memory = Memory { local, shared: Some(shared) };
                match visits {
                    None => drop(graph.advance(&mut way, &mut memory, &around, &mut log)),
                    Some(to) => *to = graph.trace(&mut way, &mut memory, &around, &mut log),
                }
            }
        }
        self.spent = EventBudget::WHOLE.less(arena.event_budget());
        self.now_ns = self.now_ns.max(log.not_before_ns);
        Some(log.happenings)
    }

    fn outside(&mut self, what: Outside) -> Vec<Happening> {
        let arena = Arena::new();
        self.facts.arrive(self.now_ns);
        let Self { graph, sources, shared, local, facts, style, .. } = self;
        let mut log = Log { sources, style: *style, happenings: Vec::new(), not_before_ns: 0 };
        let around = surroundings(&arena, facts);
        match what {
            Outside::Tick => graph.tick(shared, local, &around, &mut log),
            Outside::End => graph.flush(shared, local, &around, &mut log),
        }
        self.now_ns = self.now_ns.max(log.not_before_ns);
        log.happenings
    }
}

/// What happens without an event.
#[derive(Clone, Copy)]
enum Outside {
    Tick,
    End,
}

fn surroundings<'a>(arena: &'a Arena, facts: &'a Facts) -> Surroundings<'a> {
    Surroundings { call: Call { arena, facts }, now_ns: facts.now_ns, token: None }
}

/// Writes down what happens.
struct Log<'s> {
    sources: &'s Sources,
    style: JsonStyle,
    happenings: Vec<Happening>,
    /// A step asked to wait until then.
    not_before_ns: u64,
}

impl Log<'_> {
    fn json(&self, value: Value<'_>) -> String {
        let mut bytes = Vec::new();
        push_json(&mut bytes, value, self.style);
        String::from_utf8(bytes).expect("JSON output is UTF-8")
    }
}

impl<'a> Receiver<'a> for Log<'_> {
    fn output(&mut self, _: usize, port: &'a str, event: Event<'a>) {
        let (port, data, meta) = (port.to_string(), self.json(event.value), self.json(event.meta));
        self.happenings.push(Happening::Output { port, data, meta });
    }

    fn failed(&mut self, node: &str, event: Event<'a>, error: &EvalError) {
        let data = self.json(event.value);
        let (node, error) = (node.to_string(), error.clone());
        self.happenings.push(Happening::Failed { node, error, data });
    }

    fn describe(&mut self, error: &EvalError) -> String {
        crate::pipeline::describe(self.sources, error)
    }

    fn dropped(&mut self, node: &str, events: u64) {
        self.happenings.push(Happening::Dropped { node: node.to_string(), events });
    }

    fn delayed(&mut self, time_ns: u64) {
        self.not_before_ns = self.not_before_ns.max(time_ns);
    }

    fn released(&mut self, _: Vec<Token>) {}
}
