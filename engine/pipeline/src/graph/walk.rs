//! The way of an event through the graph: depth first, without recursion, until it has been
//! everywhere.

use super::{Graph, Node, States, Step};
use crate::event::Event;
use crate::operator::{AnyOperator, ERR, Emitter, IN, OUT, Surroundings};
use std::any::Any;
use temblor_lang::error::EvalError;
use temblor_lang::run::spent;
use temblor_lang::value::{Excess, Key, RecordBuilder, Value};
use temblor_runtime::ack::Token;

/// Arrivals at nodes that one event may bring about: branches that part and meet again and again double
/// it each time.
const ARRIVALS_MAX: usize = 100_000_000;

/// An event that is about to enter a node.
#[derive(Clone, Copy, Debug)]
pub struct Arrival<'a> {
    pub(super) node: usize,
    pub(super) port: &'a str,
    pub(super) event: Event<'a>,
}

/// The way of one event, as far as it is still to go: the next arrival is the last.
pub type Way<'a> = bumpalo::collections::Vec<'a, Arrival<'a>>;

/// Takes what leaves the graph.
pub trait Receiver<'a> {
    /// An event on the output with this number; `port` is the name of its port.
    fn output(&mut self, output: usize, port: &'a str, event: Event<'a>);
    /// An event whose node failed and whose `err` port leads nowhere.
    fn failed(&mut self, node: &str, event: Event<'a>, error: &EvalError);
    /// Text of an error for the event on the `err` port.
    fn describe(&mut self, error: &EvalError) -> String;
    /// Events that a node left out on purpose.
    fn dropped(&mut self, node: &str, events: u64);
    /// What was emitted must not leave before this time, in nanoseconds since 1970-01-01 UTC.
    fn delayed(&mut self, time_ns: u64);
    /// Batches whose kept events are dealt with.
    fn released(&mut self, tokens: Vec<Token>);
}

/// The states that a traversal may use.
#[derive(Debug)]
pub struct Memory<'m> {
    /// Of the nodes that remember nothing that matters; one set a worker.
    pub local: &'m mut States,
    /// Of the nodes that do. Without it the traversal stops in front of such a node.
    pub shared: Option<&'m mut States>,
}

impl Memory<'_> {
    fn of(&mut self, node: usize, operator: &dyn AnyOperator) -> Option<&mut dyn Any> {
        let states = match &mut self.shared {
            _ if !operator.is_stateful() => &mut *self.local,
            Some(shared) => shared,
            None => return None,
        };
        Some(states.0[node].as_mut())
    }
}

impl Graph {
    /// The way of an event that comes in at `input`.
    #[must_use]
    pub fn enter<'a>(input: usize, event: Event<'a>, around: &Surroundings<'a>) -> Way<'a> {
        let mut way = Way::new_in(around.arena().bump());
        way.push(Arrival { node: input, port: IN, event });
        way
    }

    /// The operator that the events of `input` enter first, and by which port, if it looks ahead.
    #[must_use]
    pub fn looking_ahead(&self, input: usize) -> Option<(&dyn AnyOperator, &str)> {
        let (mut number, mut port) = (input, IN);
        // Of each node at most one is passed on to, so that circles end, too.
        for _ in 0..self.nodes.len() {
            let node = &self.nodes[number];
            if let Step::Operator(operator) = &node.step {
                return operator.looks_ahead().then_some((operator.as_ref(), port));
            }
            match node.leads_to(OUT) {
                [only] => (number, port) = (only.node, &only.port),
                _ => return None,
            }
        }
        None
    }

    /// Goes on until the event has been everywhere, depth first, branches in the order of their
    /// declaration. False when a node needs the shared states and they are not there: call again
    /// with them.
    pub fn advance<'a>(
        &'a self,
        way: &mut Way<'a>,
        memory: &mut Memory<'_>,
        around: &Surroundings<'a>,
        receiver: &mut dyn Receiver<'a>,
    ) -> bool {
        self.advance_within(ARRIVALS_MAX, way, memory, around, receiver)
    }

    fn advance_within<'a>(
        &'a self,
        arrivals_max: usize,
        way: &mut Way<'a>,
        memory: &mut Memory<'_>,
        around: &Surroundings<'a>,
        receiver: &mut dyn Receiver<'a>,
    ) -> bool {
        let mut emitter = Emitter::new(around.arena());
        let mut left = arrivals_max;
        while let Some(arrival) = way.pop() {
            left -= 1;
            if left == 0 {
                receiver.dropped(&self.nodes[arrival.node].name, way.len() as u64);
                way.clear();
                let node = &self.nodes[arrival.node];
                self.fail(node, arrival.event, &spent(Excess::Steps), way, around, receiver);
                left = arrivals_max;
                continue;
            }
            if !self.visit_one(arrival, way, memory, around, &mut emitter, receiver) {
                return false;
            }
        }
        true
    }

    /// What one node does with one event. False when it needs states that are not there: the
    /// arrival is back on the way.
    #[inline]
    pub(super) fn visit_one<'a>(
        &'a self,
        arrival: Arrival<'a>,
        way: &mut Way<'a>,
        memory: &mut Memory<'_>,
        around: &Surroundings<'a>,
        emitter: &mut Emitter<'a>,
        receiver: &mut dyn Receiver<'a>,
    ) -> bool {
        let node = &self.nodes[arrival.node];
        match &node.step {
            Step::Pass => self.follow(node, OUT, arrival.event, way),
            Step::Counted(meter) => {
                meter.add();
                self.follow(node, OUT, arrival.event, way);
            }
            Step::Output(output) => {
                receiver.output(*output, &self.outputs[*output], arrival.event);
            }
            Step::AnyOutput(output) => receiver.output(*output, arrival.port, arrival.event),
            Step::Operator(operator) => {
                let Some(state) = memory.of(arrival.node, operator.as_ref()) else {
                    way.push(arrival);
                    return false;
                };
                let Arrival { port, event, .. } = arrival;
                if let Some(excess) = around.arena().event_excess() {
                    self.fail(node, event, &spent(excess), way, around, receiver);
                    return true;
                }
                let result = operator.process(state, port, event, around, emitter);
                memory.local.1[arrival.node].add(result.is_err(), emitter.losses());
                self.deliver(node, emitter, way, around, receiver);
                if let Err(error) = result {
                    self.fail(node, event, &error, way, around, receiver);
                }
            }
        }
        true
    }

    /// Lets all timers run.
    pub fn tick<'a>(
        &'a self,
        states: &mut States,
        local: &mut States,
        around: &Surroundings<'a>,
        receiver: &mut dyn Receiver<'a>,
    ) {
        for (number, operator) in self.operators().filter(|(_, one)| one.wants_ticks()) {
            let mut emitter = Emitter::new(around.arena());
            let result = operator.tick(states.0[number].as_mut(), around, &mut emitter);
            let end = (number, result, emitter);
            self.finish(end, states, local, around, receiver);
        }
    }

    /// The input has ended: every node gives what it still keeps, those upstream first.
    pub fn flush<'a>(
        &'a self,
        states: &mut States,
        local: &mut States,
        around: &Surroundings<'a>,
        receiver: &mut dyn Receiver<'a>,
    ) {
        for number in self.upstream_first() {
            let Step::Operator(operator) = &self.nodes[number].step else { continue };
            let mut emitter = Emitter::new(around.arena());
            let result = operator.flush(states.0[number].as_mut(), around, &mut emitter);
            self.finish((number, result, emitter), states, local, around, receiver);
        }
    }

    fn finish<'a>(
        &'a self,
        (number, result, mut emitter): (usize, Result<(), EvalError>, Emitter<'a>),
        states: &mut States,
        local: &mut States,
        around: &Surroundings<'a>,
        receiver: &mut dyn Receiver<'a>,
    ) {
        let node = &self.nodes[number];
        let mut way = Way::new_in(around.arena().bump());
        self.deliver(node, &mut emitter, &mut way, around, receiver);
        if let Err(error) = result {
            let empty = around.arena().record_builder(0).finish();
            let nothing = Event::new(Value::Null, empty, around.now_ns);
            self.fail(node, nothing, &error, &mut way, around, receiver);
        }
        let mut memory = Memory { local, shared: Some(states) };
        // Timers may let go of all that is kept.
        self.advance_within(usize::MAX, &mut way, &mut memory, around, receiver);
    }

    /// Puts what a node emitted on the way, the first last.
    fn deliver<'a>(
        &'a self,
        node: &'a Node,
        emitter: &mut Emitter<'a>,
        way: &mut Way<'a>,
        around: &Surroundings<'a>,
        receiver: &mut dyn Receiver<'a>,
    ) {
        for (event, error) in emitter.take_failed() {
            self.fail(node, event, &error, way, around, receiver);
        }
        for (port, event, error) in emitter.take_sorted_out() {
            match self.port_for(node, port) {
                Some(port) => self.follow(node, port, event, way),
                None => self.fail(node, event, &error, way, around, receiver),
            }
        }
        if emitter.len() > 1 && node.is_stateful() {
            around.arena().join_kept(emitter.len() - 1);
        }
        for (port, event) in emitter.take().rev() {
            match self.port_for(node, port) {
                Some(port) => self.follow(node, port, event, way),
                None if node.fallback(port) == Some(ERR) => {
                    told(node, event, receiver);
                }
                None => receiver.dropped(&node.name, 1),
            }
        }
        if let Some(time_ns) = emitter.take_delay() {
            receiver.delayed(time_ns);
        }
        match emitter.take_dropped() {
            0 => {}
            events => receiver.dropped(&node.name, events),
        }
        let released = emitter.take_released();
        if !released.is_empty() {
            receiver.released(released);
        }
    }

    /// The port by which an event for `port` really leaves; `None` when it leads nowhere.
    fn port_for<'a>(&self, node: &'a Node, port: &'a str) -> Option<&'a str> {
        let leads = |port: &str| node.rest.is_some() || !node.leads_to(port).is_empty();
        if leads(port) {
            return Some(port);
        }
        node.fallback(port).filter(|port| leads(port))
    }

    fn follow<'a>(&'a self, node: &'a Node, port: &'a str, event: Event<'a>, way: &mut Way<'a>) {
        let edges = node.leads_to(port);
        for edge in edges.iter().rev() {
            way.push(Arrival { node: edge.node, port: &edge.port, event });
        }
        if let (true, Some(node)) = (edges.is_empty(), node.rest) {
            way.push(Arrival { node, port, event });
        }
    }

    #[cold]
    fn fail<'a>(
        &'a self,
        node: &'a Node,
        event: Event<'a>,
        error: &EvalError,
        way: &mut Way<'a>,
        around: &Surroundings<'a>,
        receiver: &mut dyn Receiver<'a>,
    ) {
        let placed = node.place(error);
        let error = placed.as_ref().unwrap_or(error);
        if node.leads_to(ERR).is_empty() {
            return receiver.failed(&node.name, event, error);
        }
        let arena = around.arena();
        arena.use_reserve();
        let mut record = arena.record_builder(2);
        record.insert("error", Value::Str(arena.str(&receiver.describe(error))));
        record.insert("event", event.value);
        let mut failed = event.with_value(record.finish());
        if self.tells_codes {
            let mut about = arena.record_builder(2);
            about.insert("code", Value::Str(error.code()));
            about.insert("step", Value::Str(arena.str(&node.name)));
            let meta = event.meta.as_record(arena);
            let mut meta = match meta {
                Some(meta) => RecordBuilder::from_record(arena, meta, 1),
                None => arena.record_builder(1),
            };
            meta.insert("error", about.finish());
            failed = failed.with_meta(meta.finish());
        }
        self.follow(node, ERR, failed, way);
    }
}

/// Reports an event that tells of a failure (`{"error", "event"}`) when nothing takes it.
#[cold]
fn told<'a>(node: &Node, event: Event<'a>, receiver: &mut dyn Receiver<'a>) {
    let part = |name| event.value.get(&Key::new(name));
    let reason = part("error").and_then(Value::as_str).unwrap_or("the event failed");
    let original = part("event").unwrap_or(event.value);
    receiver.failed(&node.name, event.with_value(original), &EvalError::new("E0610", reason));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{Directories, Language, LoadOptions};
    use temblor_lang::builtin::{Call, Facts};
    use temblor_lang::value::Arena;

    #[derive(Default)]
    struct Counts {
        out: usize,
        failed: Vec<String>,
        dropped: u64,
    }

    impl<'a> Receiver<'a> for Counts {
        fn output(&mut self, _: usize, _: &'a str, _: Event<'a>) {
            self.out += 1;
        }

        fn failed(&mut self, _: &str, _: Event<'a>, error: &EvalError) {
            self.failed.push(error.code().to_string());
        }

        fn describe(&mut self, error: &EvalError) -> String {
            error.to_string()
        }

        fn dropped(&mut self, _: &str, events: u64) {
            self.dropped += events;
        }

        fn delayed(&mut self, _: u64) {}

        fn released(&mut self, _: Vec<Token>) {}
    }

    /// Ways that part and meet again, ten times.
    #[test]
    fn branches_without_end_are_ended() {
        let mut text = String::new();
        for number in 0..=10 {
            text += &format!("create stream s{number};\n");
        }
        text += "select event from in into s0;\n";
        for number in 0..10 {
            let both = format!("select event from s{number} into s{};\n", number + 1);
            text += &both.repeat(2);
        }
        text += "select event from s10 into out;\n";
        let directories = Directories::new(&[], None);
        let loaded = LoadOptions::new(crate::registry::Registry::of_this_crate()).compile(
            "doubling",
            text,
            Language::Query,
            &directories,
        );
        assert!(!loaded.has_errors(), "{}", loaded.report(true));
        let (arena, facts) = (Arena::new(), Facts::default());
        let call = Call { arena: &arena, facts: &facts };
        let around = Surroundings { call, now_ns: 0, token: None };
        let (mut local, input) = (loaded.graph.start(), loaded.graph.input(IN).unwrap());
        for (arrivals_max, whole) in [(100, false), (100_000, true)] {
            let event = Event::new(Value::Null, Value::EMPTY_RECORD, 0);
            let mut way = Graph::enter(input, event, &around);
            let mut memory = Memory { local: &mut local, shared: None };
            let mut counts = Counts::default();
            let graph = &loaded.graph;
            assert!(graph.advance_within(
                arrivals_max,
                &mut way,
                &mut memory,
                &around,
                &mut counts
            ));
            assert_eq!(counts.out == 1024, whole, "{arrivals_max}");
            assert_eq!(counts.failed, if whole { vec![] } else { vec!["E0443"] });
            assert_eq!(counts.dropped == 0, whole);
        }
    }
}
