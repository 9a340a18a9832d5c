//! Counting what passes: a pipeline that asks for metrics gets counting nodes in front of its nodes
//! and behind them. A graph without them does no work for it.

use super::{Edge, Graph, Node, Step};
use crate::operator::{IN, OUT};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a counting node counts for.
#[derive(Debug)]
pub struct Meter {
    /// Seconds between two reports of the count.
    pub interval_s: u64,
    /// Where it counts.
    pub place: MeterPlace,
    count: AtomicU64,
}

/// Where a counting node stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MeterPlace {
    /// At a port of a node of a pipeline.
    Node {
        /// `flow::pipeline`
        pipeline: String,
        /// The node's own name.
        node: String,
        /// Whether events leave the node.
        leaves: bool,
        /// The port.
        port: String,
    },
    /// At a port of a connector.
    Connector {
        /// `flow::connector`
        connector: String,
        /// The port.
        port: String,
    },
}

impl Meter {
    fn new(interval_s: u64, place: MeterPlace) -> Arc<Self> {
        Arc::new(Self { interval_s, place, count: AtomicU64::new(0) })
    }

    pub(super) fn add(&self) {
        self.count.fetch_add(1, Ordering::Relaxed);
    }

    /// The events so far.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }
}

/// A pipeline whose nodes are to be counted.
#[derive(Debug)]
pub(super) struct Metered {
    /// In front of the names of its nodes: `flow/pipeline/`.
    pub prefix: String,
    /// Seconds between two reports.
    pub interval_s: u64,
}

impl Graph {
    /// Counts at the ports of the nodes of a pipeline, not of those inside of it.
    pub(super) fn meter_pipeline(&mut self, metered: &Metered) {
        let pipeline = metered.prefix.trim_end_matches('/').replacen('/', "::", 1);
        let own = self.nodes.iter().enumerate().filter_map(|(number, node)| {
            let name = node.name.strip_prefix(&metered.prefix)?;
            (!name.contains('/')).then(|| (number, name.to_string()))
        });
        let own: Vec<_> = own.collect();
        for (number, node) in own {
            let place = |leaves, port: &str| MeterPlace::Node {
                pipeline: pipeline.clone(),
                node: node.clone(),
                leaves,
                port: port.to_string(),
            };
            self.count_leaving(number, |port| Meter::new(metered.interval_s, place(true, port)));
            self.count_entering(number, |port| Meter::new(metered.interval_s, place(false, port)));
        }
    }

    /// Counts at an end of the graph that a connector is connected to.
    pub fn meter_connector(&mut self, connector: &str, port: &str, end: &str, interval_s: u64) {
        let place = |_: &str| {
            let (connector, port) = (connector.to_string(), port.to_string());
            Meter::new(interval_s, MeterPlace::Connector { connector, port })
        };
        if let Some(node) = self.input(end) {
            self.count_leaving(node, place);
        }
        if let Some(node) = self.output(end) {
            self.count_entering(node, place);
        }
    }

    /// All counting nodes.
    #[must_use]
    pub fn meters(&self) -> Vec<Arc<Meter>> {
        let meters = self.nodes.iter().filter_map(|node| match &node.step {
            Step::Counted(meter) => Some(meter.clone()),
            _ => None,
        });
        meters.collect()
    }

    fn count_leaving(&mut self, number: usize, meter: impl Fn(&str) -> Arc<Meter>) {
        for at in 0..self.nodes[number].edges.len() {
            let counting = self.nodes.len();
            let (port, edges) = &mut self.nodes[number].edges[at];
            let counted = Edge { node: counting, port: IN.into() };
            let next = std::mem::replace(edges, vec![counted]);
            let step = Step::Counted(meter(port));
            let name = self.nodes[number].name.clone();
            let mut node = Node::new(name, step);
            node.edges.push((OUT.into(), next));
            self.nodes.push(node);
        }
    }

    fn count_entering(&mut self, number: usize, meter: impl Fn(&str) -> Arc<Meter>) {
        let first = self.nodes.len();
        let mut ports: Vec<Box<str>> = Vec::new();
        for node in &mut self.nodes {
            let edges = node.edges.iter_mut().flat_map(|(_, edges)| edges);
            for edge in edges.filter(|edge| edge.node == number) {
                let known = ports.iter().position(|port| *port == edge.port);
                let at = known.unwrap_or_else(|| {
                    ports.push(edge.port.clone());
                    ports.len() - 1
                });
                *edge = Edge { node: first + at, port: IN.into() };
            }
        }
        for port in ports {
            let mut node = Node::new(&self.nodes[number].name, Step::Counted(meter(&port)));
            node.edges.push((OUT.into(), vec![Edge { node: number, port }]));
            self.nodes.push(node);
        }
    }
}
