//! What `from` and `into` of a select, a chain or a connection name: a node and one of its ports.

use super::build::{Builder, Instance, Level, Notation};
use super::{Node, Step, complain};
use crate::operator::{ERR, FULL, IN, LATE, OUT};
use temblor_lang::span::Span;
use temblor_lang::syntax::tree::{Ident, StreamRef};

impl Builder<'_, '_> {
    /// Node and port that events of `from` come out of.
    pub(super) fn source(
        &mut self,
        from: &StreamRef,
        level: &mut Level,
    ) -> Option<(usize, String)> {
        let port = from.port.as_ref().map(|port| port.text.as_str());
        match level.instance(&from.node.text).cloned() {
            Some(Instance::Node(_))
                if port == Some(LATE) && level.streams.contains(&from.node.text) =>
            {
                level.late.push((from.node.text.clone(), from.span));
                Some((self.late_events(level, &from.node.text), OUT.to_string()))
            }
            Some(Instance::Node(node)) => Some((node, port.unwrap_or(OUT).to_string())),
            Some(Instance::Input(node)) => match port {
                None => Some((node, OUT.to_string())),
                Some(port) if level.prefix.is_empty() => {
                    Some((self.extra_input(level, &from.node.text, port), OUT.to_string()))
                }
                Some(port) => self.no_port(&from.node, port, &[], from.span),
            },
            Some(Instance::Pipeline(_, outputs)) => {
                let port = port.unwrap_or(OUT);
                match outputs.iter().find(|(name, _)| name == port) {
                    Some((_, node)) => Some((*node, OUT.to_string())),
                    None => self.no_port(&from.node, port, &outputs, from.span),
                }
            }
            Some(Instance::Output(_))
                if port.is_some_and(|port| [ERR, OUT, FULL].contains(&port))
                    && level.prefix.is_empty()
                    && from.node.text != port.unwrap_or_default() =>
            {
                Some((self.way_back(level, &from.node.text, port.unwrap_or(OUT)), OUT.to_string()))
            }
            Some(Instance::Output(_)) => {
                self.complain(complain::wrong_way(&from.node.text, false, from.span));
                None
            }
            None => self.no_stream(from, port.unwrap_or(OUT), level),
        }
    }

    /// Node and port that events for `into` go to.
    pub(super) fn sink(&mut self, into: &StreamRef, level: &mut Level) -> Option<(usize, String)> {
        let port = into.port.as_ref().map(|port| port.text.as_str());
        match level.instance(&into.node.text).cloned() {
            Some(Instance::Node(node)) => Some((node, port.unwrap_or(IN).to_string())),
            Some(Instance::Output(node)) => match port {
                None => Some((node, IN.to_string())),
                Some(port) if level.prefix.is_empty() => {
                    Some((self.extra_output(level, port), IN.to_string()))
                }
                Some(port) => self.no_port(&into.node, port, &[], into.span),
            },
            Some(Instance::Pipeline(inputs, _)) => {
                let port = port.unwrap_or(IN);
                match inputs.iter().find(|(name, _)| name == port) {
                    Some((_, node)) => Some((*node, IN.to_string())),
                    None => self.no_port(&into.node, port, &inputs, into.span),
                }
            }
            Some(Instance::Input(_)) => {
                self.complain(complain::wrong_way(&into.node.text, true, into.span));
                None
            }
            None if self.notation == Notation::Short && port.is_none() => {
                Some((self.file_output(level, &into.node.text), IN.to_string()))
            }
            None => self.no_stream(into, port.unwrap_or(IN), level),
        }
    }

    /// `sink/err`, `sink/out` or `sink/full` at the level of the file: what a sink gives back, and what its
    /// queue has no room for.
    fn way_back(&mut self, level: &mut Level, sink: &str, port: &str) -> usize {
        let name = format!("{sink}/{port}");
        match level.instance(&name) {
            Some(Instance::Input(node)) => *node,
            _ => {
                let number = self.add_node(Node::new(&name, Step::Pass));
                self.graph.inputs.push((name.clone(), number));
                level.instances.push((name, Instance::Input(number)));
                number
            }
        }
    }

    /// `in/name` at the level of the file: an input of its own.
    fn extra_input(&mut self, level: &mut Level, node: &str, port: &str) -> usize {
        let name = format!("{node}/{port}");
        match level.instance(&name) {
            Some(Instance::Input(node)) => *node,
            _ => {
                let number = self.add_node(Node::new(port, Step::Pass));
                self.graph.inputs.push((port.to_string(), number));
                level.instances.push((name, Instance::Input(number)));
                number
            }
        }
    }

    /// `out/name` at the level of the file: an output of its own.
    fn extra_output(&mut self, level: &mut Level, port: &str) -> usize {
        let name = format!("{OUT}/{port}");
        if let Some(Instance::Output(node)) = level.instance(&name) {
            return *node;
        }
        let number = match self.graph.outputs.iter().position(|output| output == port) {
            Some(number) => number,
            None => {
                self.graph.outputs.push(port.to_string());
                self.graph.outputs.len() - 1
            }
        };
        let node = self.add_node(Node::new(port, Step::Output(number)));
        level.instances.push((name, Instance::Output(node)));
        node
    }

    fn no_port<T>(
        &mut self,
        node: &Ident,
        port: &str,
        known: &[(String, usize)],
        span: Span,
    ) -> Option<T> {
        let known = known.iter().map(|(name, _)| name.as_str());
        self.complain(complain::unknown_port(&node.text, port, span, known));
        None
    }

    fn no_stream<T>(&mut self, stream: &StreamRef, port: &str, level: &Level) -> Option<T> {
        let known = level.instances.iter().map(|(name, _)| name.as_str());
        let complaint = complain::stream_not_defined(&stream.node.text, port, stream.span, known);
        self.complain(complaint);
        None
    }
}
