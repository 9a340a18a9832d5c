//! Resolves variables when code is loaded: each gets a slot in the scope of its method, lambda
//! or block, and the number of scopes to go up. A block sees the variables around it; a method
//! or class sees only its own.

use super::tree::{Block, Call, Kind, Node, Part, Rescue, Target, Variable};
use std::sync::Arc;

/// Places the variables of code. Those that it finds set come first; the names of all are given back.
pub(crate) fn resolve(body: &mut Node, given: &[&str]) -> Vec<Arc<str>> {
    let names = given.iter().map(|name| Arc::from(*name)).collect();
    let mut resolver = Resolver { scopes: vec![Names { names, closed: true }] };
    resolver.node(body);
    resolver.scopes.pop().map(|scope| scope.names).unwrap_or_default()
}

/// The variables of a method, a lambda or a block.
struct Names {
    names: Vec<Arc<str>>,
    /// Whether it does not see the variables around.
    closed: bool,
}

struct Resolver {
    /// From the outermost to the one that is read.
    scopes: Vec<Names>,
}

impl Resolver {
    fn find(&self, name: &str) -> Option<(u16, u16)> {
        for (up, scope) in self.scopes.iter().rev().enumerate() {
            if let Some(slot) = scope.names.iter().position(|known| &**known == name) {
                return Some((up as u16, slot as u16));
            }
            if scope.closed {
                break;
            }
        }
        None
    }

    /// A variable that is assigned to: it is made where it is not known.
    fn assigned(&mut self, variable: &mut Variable) {
        match self.find(&variable.name) {
            Some((up, slot)) => (variable.up, variable.slot) = (up, slot),
            None => self.made(variable),
        }
    }

    /// A variable of the innermost scope, whatever there is outside.
    fn made(&mut self, variable: &mut Variable) {
        let Some(scope) = self.scopes.last_mut() else { return };
        let known = scope.names.iter().position(|known| *known == variable.name);
        let slot = known.unwrap_or_else(|| {
            scope.names.push(variable.name.clone());
            scope.names.len() - 1
        });
        (variable.up, variable.slot) = (0, slot as u16);
    }

    fn block(&mut self, block: &mut Arc<Block>, closed: bool) {
        let Some(block) = Arc::get_mut(block) else { return };
        self.scopes.push(Names { names: Vec::new(), closed });
        for parameter in &mut block.parameters {
            self.parameter(&mut parameter.target);
            parameter.default.iter_mut().for_each(|default| self.node(default));
        }
        self.node(&mut block.body);
        block.slots = self.scopes.pop().map_or(0, |scope| scope.names.len() as u16);
    }

    fn parameter(&mut self, target: &mut Target) {
        match target {
            Target::Local(variable) => self.made(variable),
            Target::Rest(inner) => self.parameter(inner),
            Target::Group(targets) => targets.iter_mut().for_each(|one| self.parameter(one)),
            Target::Kept(_) | Target::Index(..) | Target::Attribute(..) => self.target(target),
        }
    }

    fn target(&mut self, target: &mut Target) {
        match target {
            Target::Local(variable) => self.assigned(variable),
            Target::Kept(_) => {}
            Target::Index(receiver, keys) => {
                self.node(receiver);
                self.nodes(keys);
            }
            Target::Attribute(receiver, _) => self.node(receiver),
            Target::Rest(inner) => self.target(inner),
            Target::Group(targets) => targets.iter_mut().for_each(|one| self.target(one)),
        }
    }

    fn nodes(&mut self, nodes: &mut [Node]) {
        nodes.iter_mut().for_each(|node| self.node(node));
    }

    fn maybe(&mut self, node: &mut Option<Box<Node>>) {
        node.iter_mut().for_each(|node| self.node(node));
    }

    /// In the order in which they are written: `a = 1 if a` knows `a`.
    fn as_written(&mut self, mut nodes: Vec<&mut Node>) {
        nodes.sort_by_key(|node| node.at);
        nodes.into_iter().for_each(|node| self.node(node));
    }

    fn parts(&mut self, parts: &mut [Part]) {
        for part in parts {
            match part {
                Part::Text(_) | Part::Bytes(_) => {}
                Part::Code(node) => self.node(node),
            }
        }
    }

    fn node(&mut self, node: &mut Node) {
        match &mut node.kind {
            Kind::Nil
            | Kind::Bool(_)
            | Kind::Int(_)
            | Kind::Float(_)
            | Kind::Symbol(_)
            | Kind::Regex(..)
            | Kind::Kept(_)
            | Kind::Constant(_)
            | Kind::Itself
            | Kind::Retry
            | Kind::Number(_) => {}
            Kind::Local(variable) => match self.find(&variable.name) {
                Some((up, slot)) => (variable.up, variable.slot) = (up, slot),
                // The block that it belonged to has ended: it is a call, as in Ruby.
                None => node.kind = Kind::Call(Box::new(Call::of(variable.name.clone()))),
            },
            Kind::Get(variable, _) => self.assigned(variable),
            Kind::Text(parts) | Kind::OpenRegex(parts, _) => self.parts(parts),
            Kind::List(nodes) | Kind::Sequence(nodes) => self.nodes(nodes),
            Kind::Hash(pairs) => pairs.iter_mut().for_each(|(key, value)| {
                self.node(key);
                self.node(value);
            }),
            Kind::Range(left, right, _) | Kind::And(left, right) | Kind::Or(left, right) => {
                self.node(left);
                self.node(right);
            }
            Kind::Splat(inner)
            | Kind::Not(inner)
            | Kind::Defined(inner)
            | Kind::Return(inner)
            | Kind::Next(inner)
            | Kind::Break(inner) => self.node(inner),
            Kind::Assign(target, value) | Kind::Change(target, _, value) => {
                self.target(target);
                self.node(value);
            }
            Kind::AssignAll(targets, value) => {
                targets.iter_mut().for_each(|target| self.target(target));
                self.node(value);
            }
            Kind::Lambda(block) => self.block(block, false),
            Kind::Define(_, block, _) => self.block(block, true),
            Kind::Class(_, above, body) => {
                self.maybe(above);
                self.block(body, true);
            }
            Kind::Super(arguments) => arguments.iter_mut().for_each(|nodes| self.nodes(nodes)),
            Kind::Call(call) => self.call(call),
            Kind::If(condition, then, otherwise) => {
                self.as_written(vec![condition, then, otherwise]);
            }
            Kind::While(condition, body, _) => self.as_written(vec![condition, body]),
            Kind::For(target, list, body) => {
                self.target(target);
                self.node(list);
                self.node(body);
            }
            Kind::Case(subject, arms, otherwise) => {
                self.maybe(subject);
                for (values, body) in arms {
                    self.nodes(values);
                    self.node(body);
                }
                self.node(otherwise);
            }
            Kind::Begin(body, rescues, otherwise, ensure) => {
                self.node(body);
                rescues.iter_mut().for_each(|rescue| self.rescue(rescue));
                self.maybe(otherwise);
                self.maybe(ensure);
            }
        }
    }

    fn rescue(&mut self, rescue: &mut Rescue) {
        self.nodes(&mut rescue.classes);
        rescue.name.iter_mut().for_each(|name| self.assigned(name));
        self.node(&mut rescue.body);
    }

    fn call(&mut self, call: &mut Call) {
        call.receiver.iter_mut().for_each(|receiver| self.node(receiver));
        self.nodes(&mut call.arguments);
        call.block.iter_mut().for_each(|block| self.block(block, false));
        call.passed.iter_mut().for_each(|passed| self.node(passed));
    }
}
