//! The shape of a graph as a whole: that no event can run in a circle, and that nothing is done whose
//! result cannot be seen.

use super::build::{Builder, Notation};
use super::{Graph, Node, Step, complain};
use crate::operator::ERR;
use std::collections::HashSet;
use temblor_lang::diagnostic::{Diagnostic, Severity};

impl Builder<'_, '_> {
    /// Reports one cycle, if there is one.
    pub(super) fn find_cycles(&mut self) {
        let order = self.graph.upstream_first();
        let mut place = vec![0; order.len()];
        order.iter().enumerate().for_each(|(at, number)| place[*number] = at);
        let back = self.graph.nodes.iter().enumerate().find_map(|(number, node)| {
            let edges = node.edges.iter().flat_map(|(_, edges)| edges);
            let back = edges.map(|edge| edge.node).find(|next| place[*next] <= place[number]);
            back.map(|next| (number, next))
        });
        if let Some((from, to)) = back {
            let names = [self.graph.nodes[to].name.clone(), self.graph.nodes[from].name.clone()];
            let span = self.spans.get(&(from, to)).copied().unwrap_or_default();
            self.complain(complain::cycle(&[&names[0], "…", &names[1], &names[0]], span));
        }
    }
}

impl Builder<'_, '_> {
    /// Warns of created streams and nodes that events go into and nothing comes out of.
    pub(super) fn find_dead_ends(&mut self) {
        let is_error = |one: &Diagnostic| one.severity == Severity::Error;
        // What an error left out may be what would have read them.
        if self.compiler.diagnostics.iter().any(is_error) {
            return;
        }
        self.find_dead_ports();
        if self.notation == Notation::Long {
            return;
        }
        let nodes = &self.graph.nodes;
        let edges = nodes.iter().flat_map(|node| node.edges.iter().flat_map(|(_, edges)| edges));
        let entered: HashSet<usize> = edges.map(|edge| edge.node).collect();
        let is_dead =
            |node: &Node| node.edges.iter().all(|(port, edges)| &**port == ERR || edges.is_empty());
        let dead = self.created.iter().filter(|at| entered.contains(at) && is_dead(&nodes[**at]));
        let complaints: Vec<_> = dead
            .filter_map(|at| Some(complain::dead_end(&nodes[*at].name, nodes[*at].span?)))
            .collect();
        complaints.into_iter().for_each(|one| self.complain(one));
    }

    /// Warns of ports of pipelines that events go to and nothing is connected to.
    fn find_dead_ports(&mut self) {
        let nodes = &self.graph.nodes;
        let edges = nodes.iter().flat_map(|node| node.edges.iter().flat_map(|(_, edges)| edges));
        let entered: HashSet<usize> = edges.map(|edge| edge.node).collect();
        let is_dead = |at: usize| {
            let leads_on = nodes.get(at).is_none_or(|node| {
                !matches!(node.step, Step::Pass)
                    || node.edges.iter().any(|(_, edges)| !edges.is_empty())
            });
            entered.contains(&at) && !leads_on
        };
        let dead = self.pipeline_ends.iter().filter(|(at, _)| is_dead(*at));
        let complaints: Vec<_> =
            dead.map(|(at, span)| complain::dead_port(&nodes[*at].name, *span)).collect();
        complaints.into_iter().for_each(|one| self.complain(one));
    }
}

impl Graph {
    /// Cuts off what leads to no output: it could not be seen.
    pub(super) fn prune(&mut self) {
        let mut useful: Vec<_> =
            self.nodes.iter().map(|node| matches!(node.step, Step::Output(_))).collect();
        for number in self.upstream_first().into_iter().rev() {
            let edges = self.nodes[number].edges.iter().flat_map(|(_, edges)| edges);
            let leads_out = edges.map(|edge| edge.node).any(|next| useful[next]);
            useful[number] |= leads_out;
        }
        for node in &mut self.nodes {
            for (_, edges) in &mut node.edges {
                edges.retain(|edge| useful[edge.node]);
            }
        }
    }
}
