//! A graph made of operators that name each other's ports, without a program's text.

use super::{Graph, Node, Step};
use crate::operator::{AnyOperator, IN, OUT};

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

impl Graph {
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
}
