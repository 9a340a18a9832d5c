//! The operator graph of a pipeline. It never changes while it runs; what its nodes remember stands
//! beside it in [`States`].

mod arguments;
mod branches;
mod build;
mod chain;
mod circles;
mod complain;
mod counts;
mod definitions;
mod draw;
mod ends;
mod inline;
mod flow;
mod handing;
mod identity;
mod meter;
mod names;
mod network;
mod operator;
mod rehearse;
mod saving;
mod script;
mod select;
mod statements;
mod timed;
mod trace;
mod walk;
mod window;

pub use build::{Builder, Notation};
pub use chain::{Expansion, expand};
pub use complain::connector_setting;
pub use counts::{StepCounts, Tally};
pub use draw::Picture;
pub use flow::{FlowConnector, FlowPort, Flows};
pub use handing::{Lost, without_places};
pub use meter::{Meter, MeterPlace};
pub use names::{Declared, Meaning, Names};
pub use network::Network;
pub use saving::Restored;
pub use trace::Visit;
pub use walk::{Arrival, Memory, Receiver, Way};
pub use window::{WINDOW, WINDOW_KINDS};

use crate::operator::{AnyOperator, IN, OUT, Usage};
use counts::Counts;
use identity::Identity;
use std::any::Any;
use std::sync::Arc;
use temblor_lang::error::EvalError;
use temblor_lang::span::Span;

/// The word of a step that is a process: `through "command"`. Such a step is taken apart before the graph is built.
pub(crate) const THROUGH: &str = "through";
/// The word of a step that sends events through a topic by key. It is taken apart before the graph is built, too.
pub(crate) const PARTITION: &str = "partition";
/// What the names of sources begin with that such steps declare.
pub(crate) const PARTITION_SOURCE: &str = "partition_from";

/// Whether a source of this name is one that a step `partition` declares, not the file: the command line feeds `in` beside
/// it.
#[must_use]
pub fn is_of_partition(source: &str) -> bool {
    let number = source.strip_prefix(PARTITION_SOURCE).and_then(|rest| rest.strip_prefix('_'));
    number.is_some_and(|number| number.parse::<u32>().is_ok())
}

/// A pipeline that is ready to run.
#[derive(Debug, Default)]
pub struct Graph {
    nodes: Vec<Node>,
    /// Input ports by name: the node that takes their events.
    inputs: Vec<(String, usize)>,
    /// Output ports by name, in the order of their numbers.
    outputs: Vec<String>,
    /// Whether events that tell of a failure say its code and step, too.
    tells_codes: bool,
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
    /// By what its state is found again.
    identity: Identity,
    /// Output ports in use.
    edges: Vec<(Box<str>, Vec<Edge>)>,
    /// The [`Step::AnyOutput`] that takes the events of all other ports.
    rest: Option<usize>,
    /// Where the events of a port go that leads nowhere: see `OperatorKind::fallbacks`.
    fallbacks: &'static [(&'static str, &'static str)],
    /// What all workers have counted at it.
    counts: Counts,
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
pub struct States(Vec<Box<dyn Any + Send>>, Vec<Tally>);

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
            tells_codes: false,
        }
    }

    /// Fresh states for all nodes.
    #[must_use]
    pub fn start(&self) -> States {
        self.begin(|operator| operator.start())
    }

    /// Fresh states for trying a program on samples; see [`Operator::rehearse`](crate::operator::Operator::rehearse).
    #[must_use]
    pub fn rehearse(&self) -> States {
        self.begin(|operator| operator.rehearse())
    }

    fn begin(&self, state: impl Fn(&dyn AnyOperator) -> Box<dyn Any + Send>) -> States {
        let start = |node: &Node| match &node.step {
            Step::Operator(operator) => state(operator.as_ref()),
            _ => Box::new(()) as Box<dyn Any + Send>,
        };
        let tallies = vec![Tally::default(); self.nodes.len()];
        States(self.nodes.iter().map(start).collect(), tallies)
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

    /// Adds an output port that no node leads to yet, unless it is there: events may go in there from outside.
    pub fn add_output(&mut self, name: &str) {
        if self.output(name).is_none() {
            self.outputs.push(name.to_string());
            self.nodes.push(Node::new(name, Step::Output(self.outputs.len() - 1)));
        }
    }

    /// The node of an input port.
    #[must_use]
    pub fn input(&self, name: &str) -> Option<usize> {
        self.inputs.iter().find(|(input, _)| input == name).map(|(_, node)| *node)
    }

    /// The name of the input port of a node.
    #[must_use]
    pub fn input_name(&self, node: usize) -> Option<&str> {
        self.inputs.iter().find(|(_, input)| *input == node).map(|(name, _)| name.as_str())
    }

    /// Says code and step of a failure in the metadata of the event that tells of it, as `$error`: what dead
    /// letters want to know.
    pub fn tell_codes(&mut self) {
        self.tells_codes = true;
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

    fn add_edge(&mut self, from: (usize, &str), to: (usize, &str)) {
        let edge = Edge { node: to.0, port: to.1.into() };
        let edges = &mut self.nodes[from.0].edges;
        match edges.iter_mut().find(|(port, _)| &**port == from.1) {
            Some((_, edges)) => edges.push(edge),
            None => edges.push((from.1.into(), vec![edge])),
        }
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

impl Node {
    fn new(name: impl Into<String>, step: Step) -> Self {
        let name = name.into();
        let identity = Identity { kind: name.clone(), ..Identity::default() };
        Self {
            name,
            step,
            span: None,
            identity,
            edges: Vec::new(),
            rest: None,
            fallbacks: &[],
            counts: Counts::default(),
        }
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
