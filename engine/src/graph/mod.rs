//! The operator graph of a pipeline and the way of an event through it. The graph itself never
//! changes while it runs; what its nodes remember stands beside it in [`States`].

mod arguments;
mod build;
mod chain;
mod circles;
mod complain;
mod definitions;
mod draw;
mod ends;
mod inline;
mod meter;
mod flow;
mod operator;
mod rehearse;
mod saving;
mod script;
mod select;
mod statements;
mod trace;
mod window;

pub use build::{Builder, Notation};
pub use chain::{Expansion, expand};
pub use complain::connector_setting;
pub use draw::Picture;
pub use flow::{FlowConnector, FlowPort, Flows};
pub use meter::{Meter, MeterPlace};
pub use trace::Visit;

use crate::ack::Token;
use crate::event::Event;
use crate::operator::{AnyOperator, ERR, Emitter, IN, OUT, Surroundings, Usage};
use std::any::Any;
use std::sync::Arc;
use temblor_lang::error::EvalError;
use temblor_lang::span::Span;
use temblor_lang::value::{Key, Value};

/// What `with` of a connector may set.
pub const CONNECTOR_KEYS: [&str; 6] =
    ["codec", "config", "metrics_interval_s", "postprocessors", "preprocessors", "reconnect"];

/// A pipeline that is ready to run.
#[derive(Debug, Default)]
pub struct Graph {
    nodes: Vec<Node>,
    /// Input ports by name: the node that takes their events.
    inputs: Vec<(String, usize)>,
    /// Output ports by name, in the order of their numbers.
    outputs: Vec<String>,
}

/// A node and what its ports lead to.
#[derive(Debug)]
pub struct Node {
    /// Its name, for messages and drawings.
    pub name: String,
    /// What it does.
    pub step: Step,
    /// The statement or step of a chain that it was made of.
    pub span: Option<Span>,
    /// Output ports in use.
    edges: Vec<(Box<str>, Vec<Edge>)>,
    /// The [`Step::AnyOutput`] that takes the events of all other ports.
    rest: Option<usize>,
    /// Where the events of a port go that leads nowhere: see `OperatorKind::fallbacks`.
    fallbacks: &'static [(&'static str, &'static str)],
}

/// What a node does with an event.
#[derive(Debug)]
pub enum Step {
    /// Hands it on unchanged: streams, inputs, ports of nested pipelines.
    Pass,
    /// As `Pass`, and counts.
    Counted(Arc<Meter>),
    /// It leaves the graph on the output with this number.
    Output(usize),
    /// As `Output`, for all ports of the node in front: the port is part of what leaves.
    AnyOutput(usize),
    /// An operator, script or select.
    Operator(Box<dyn AnyOperator>),
}

/// Where a port leads: a node and one of its input ports.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Edge {
    node: usize,
    port: Box<str>,
}

/// What all nodes remember, by node.
#[derive(Debug)]
pub struct States(Vec<Box<dyn Any + Send>>);

/// An event that is about to enter a node.
#[derive(Clone, Copy, Debug)]
pub struct Arrival<'a> {
    node: usize,
    port: &'a str,
    event: Event<'a>,
}

/// The way of one event, as far as it is still to go: the next arrival is the last.
pub type Way<'a> = bumpalo::collections::Vec<'a, Arrival<'a>>;

/// Operators and what leads from one to another, before they are a graph.
#[derive(Debug, Default)]
pub struct Network {
    /// Names and operators.
    pub operators: Vec<(String, Box<dyn AnyOperator>)>,
    /// Input ports of the graph, and the operators that they lead to, which know them by name.
    pub inputs: Vec<(String, usize)>,
    /// From an operator and its port to another and its port.
    pub links: Vec<((usize, String), (usize, String))>,
    /// Output ports of the graph, and the operator and port that lead there.
    pub outputs: Vec<(String, usize, String)>,
}

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

impl Graph {
    /// The graph of one operator whose ports all lead out: what a script file is.
    #[must_use]
    pub fn of_operator(operator: Box<dyn AnyOperator>) -> Self {
        let mut input = Node::new(IN, Step::Pass);
        input.edges.push((OUT.into(), vec![Edge { node: 1, port: IN.into() }]));
        let mut script = Node::new("script", Step::Operator(operator));
        script.rest = Some(2);
        Self {
            nodes: vec![input, script, Node::new(OUT, Step::AnyOutput(0))],
            inputs: vec![(IN.to_string(), 0)],
            outputs: vec![OUT.to_string()],
        }
    }

    /// The graph of operators that are linked by their ports.
    ///
    /// # Errors
    /// The names of operators that lead to each other in a circle.
    pub fn of_network(network: Network) -> Result<Self, Vec<String>> {
        let mut graph = Self::default();
        let names: Vec<_> = network.operators.iter().map(|(name, _)| name.clone()).collect();
        for (name, operator) in network.operators {
            graph.nodes.push(Node::new(name, Step::Operator(operator)));
        }
        for ((from, port), (to, into)) in network.links {
            graph.add_edge((from, &port), (to, &into));
        }
        let order = graph.upstream_first();
        let place = |number: usize| order.iter().position(|one| *one == number);
        for (number, node) in graph.nodes.iter().enumerate() {
            let mut next = node.edges.iter().flat_map(|(_, edges)| edges).map(|edge| edge.node);
            if let Some(next) = next.find(|next| place(*next) <= place(number)) {
                return Err(vec![names[number].clone(), names[next].clone()]);
            }
        }
        for (name, operator) in network.inputs {
            let node = match graph.input(&name) {
                Some(node) => node,
                None => {
                    graph.nodes.push(Node::new(&name, Step::Pass));
                    graph.inputs.push((name.clone(), graph.nodes.len() - 1));
                    graph.nodes.len() - 1
                }
            };
            graph.add_edge((node, OUT), (operator, &name));
        }
        for (name, operator, port) in network.outputs {
            let node = match graph.output(&name) {
                Some(node) => node,
                None => {
                    let number = graph.outputs.len();
                    graph.outputs.push(name.clone());
                    graph.nodes.push(Node::new(name, Step::Output(number)));
                    graph.nodes.len() - 1
                }
            };
            graph.add_edge((operator, &port), (node, IN));
        }
        Ok(graph)
    }

    fn add_edge(&mut self, from: (usize, &str), to: (usize, &str)) {
        let edge = Edge { node: to.0, port: to.1.into() };
        let edges = &mut self.nodes[from.0].edges;
        match edges.iter_mut().find(|(port, _)| &**port == from.1) {
            Some((_, edges)) => edges.push(edge),
            None => edges.push((from.1.into(), vec![edge])),
        }
    }

    /// Fresh states for all nodes.
    #[must_use]
    pub fn start(&self) -> States {
        let start = |node: &Node| match &node.step {
            Step::Operator(operator) => operator.start(),
            _ => Box::new(()) as Box<dyn Any + Send>,
        };
        States(self.nodes.iter().map(start).collect())
    }

    /// The nodes, for reports and drawings.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Names of the output ports; their places are the numbers that a [`Receiver`] gets.
    #[must_use]
    pub fn outputs(&self) -> &[String] {
        &self.outputs
    }

    /// The node of an input port.
    #[must_use]
    pub fn input(&self, name: &str) -> Option<usize> {
        self.inputs.iter().find(|(input, _)| input == name).map(|(_, node)| *node)
    }

    /// The node of an output port.
    #[must_use]
    pub fn output(&self, name: &str) -> Option<usize> {
        let number = self.outputs.iter().position(|output| output == name)?;
        self.nodes.iter().position(|node| matches!(node.step, Step::Output(one) if one == number))
    }

    /// Names of the output ports that some node can send events to: `out` and `err` are always
    /// there, connected or not.
    pub fn connected_outputs(&self) -> impl Iterator<Item = &str> {
        self.outputs.iter().enumerate().filter_map(|(number, name)| {
            let is_it = |node: &Node| match node.step {
                Step::Output(one) | Step::AnyOutput(one) => one == number,
                _ => false,
            };
            let at = self.nodes.iter().position(is_it)?;
            let leads_here = |node: &Node| {
                let edges = node.edges.iter().flat_map(|(_, edges)| edges);
                node.rest == Some(at) || edges.into_iter().any(|edge| edge.node == at)
            };
            self.nodes.iter().any(leads_here).then_some(name.as_str())
        })
    }

    /// Names of the input ports.
    pub fn inputs(&self) -> impl Iterator<Item = &str> {
        self.inputs.iter().map(|(name, _)| name.as_str())
    }

    /// Whether some node remembers what can change later results.
    #[must_use]
    pub fn is_stateful(&self) -> bool {
        self.nodes.iter().any(Node::is_stateful)
    }

    /// Whether some node has timers.
    #[must_use]
    pub fn wants_ticks(&self) -> bool {
        self.operators().any(|(_, operator)| operator.wants_ticks())
    }

    fn operators(&self) -> impl Iterator<Item = (usize, &dyn AnyOperator)> {
        self.nodes.iter().enumerate().filter_map(|(number, node)| match &node.step {
            Step::Operator(operator) => Some((number, operator.as_ref())),
            _ => None,
        })
    }

    /// The way of an event that comes in at `input`.
    #[must_use]
    pub fn enter<'a>(input: usize, event: Event<'a>, around: &Surroundings<'a>) -> Way<'a> {
        let mut way = Way::new_in(around.arena().bump());
        way.push(Arrival { node: input, port: IN, event });
        way
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
        let mut emitter = Emitter::new(around.arena());
        while let Some(arrival) = way.pop() {
            if !self.visit_one(arrival, way, memory, around, &mut emitter, receiver) {
                return false;
            }
        }
        true
    }

    /// What one node does with one event. False when it needs states that are not there: the
    /// arrival is back on the way.
    #[inline]
    fn visit_one<'a>(
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
                let result = operator.process(state, port, event, around, emitter);
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
        self.advance(&mut way, &mut memory, around, receiver);
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
        let mut record = arena.record_builder(2);
        record.insert("error", Value::Str(arena.str(&receiver.describe(error))));
        record.insert("event", event.value);
        self.follow(node, ERR, event.with_value(record.finish()), way);
    }

    /// All nodes, each behind those that lead to it.
    fn upstream_first(&self) -> Vec<usize> {
        let mut order = Vec::with_capacity(self.nodes.len());
        let mut seen = vec![false; self.nodes.len()];
        for start in 0..self.nodes.len() {
            self.visit(start, &mut seen, &mut order);
        }
        order.reverse();
        order
    }

    /// Depth first without recursion: a node is listed when all that it leads to is.
    fn visit(&self, start: usize, seen: &mut [bool], order: &mut Vec<usize>) {
        let mut stack = vec![(start, false)];
        while let Some((number, done)) = stack.pop() {
            if done {
                order.push(number);
                continue;
            }
            if std::mem::replace(&mut seen[number], true) {
                continue;
            }
            stack.push((number, true));
            let next = self.nodes[number].edges.iter().flat_map(|(_, edges)| edges);
            stack.extend(next.map(|edge| (edge.node, false)));
        }
    }

    /// What each node keeps, for reports.
    #[must_use]
    pub fn usage(&self, states: &States) -> Vec<(&str, Usage)> {
        self.operators()
            .filter_map(|(number, operator)| {
                let usage = operator.usage(states.0[number].as_ref())?;
                Some((self.nodes[number].name.as_str(), usage))
            })
            .collect()
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

impl Node {
    fn new(name: impl Into<String>, step: Step) -> Self {
        Self { name: name.into(), step, span: None, edges: Vec::new(), rest: None, fallbacks: &[] }
    }

    fn made_of(mut self, span: Span) -> Self {
        self.span = Some(span);
        self
    }

    /// Whether it remembers what can change later results.
    #[must_use]
    pub fn is_stateful(&self) -> bool {
        matches!(&self.step, Step::Operator(operator) if operator.is_stateful())
    }

    /// The error at this node's place, when it has none and the node has one.
    fn place(&self, error: &EvalError) -> Option<EvalError> {
        let span = self.span.filter(|_| error.span().is_none())?;
        Some(error.clone().at(span))
    }

    fn fallback(&self, port: &str) -> Option<&'static str> {
        self.fallbacks.iter().find(|(from, _)| *from == port).map(|(_, to)| *to)
    }

    fn leads_to(&self, port: &str) -> &[Edge] {
        let found = self.edges.iter().find(|(name, _)| &**name == port);
        found.map_or(&[], |(_, edges)| edges.as_slice())
    }
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
