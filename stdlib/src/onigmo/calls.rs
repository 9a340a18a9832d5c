//! Calls of groups, `\g<name>`: each is replaced by a copy of the group that it names. Neither engine calls
//! groups, so a group that calls itself is copied into itself, down to a bounded depth.
//!
//! Invariant: for every group of the result it is known of which group of the pattern it is a copy.

use super::class;
use super::error::OnigmoError;
use super::syntax::{Label, Node};

/// How deep a group may call itself; the first depth is taken with which the pattern is small enough. What nests
/// deeper in a text is not found.
const DEPTHS: [usize; 4] = [24, 12, 6, 3];
/// Nodes of a pattern with all copies.
const COPIED_NODES_MAX: usize = 10_000;

/// A tree without calls, and for each of its groups the number of the group of the pattern, from 0 on.
pub(super) fn expand(tree: &Node) -> Result<(Node, Vec<usize>), OnigmoError> {
    let mut groups = Vec::new();
    collect(tree, &mut groups);
    for depth_max in DEPTHS {
        let mut copies = Copies { groups: &groups, depth_max, nodes: 0, of: Vec::new() };
        if let Some(tree) = copies.visit(tree, &mut 0, 0)? {
            return Ok((tree, copies.of));
        }
    }
    let message = "the calls of groups by `\\g` make this pattern too large";
    Err(OnigmoError::new(0, message))
}

/// The groups with names, in the order of their opening places.
fn collect<'t>(node: &'t Node, groups: &mut Vec<(&'t str, &'t Node)>) {
    if let Node::Capture { label: Label::Named(name), body } = node {
        groups.push((name, body));
    }
    node.children().iter().for_each(|child| collect(child, groups));
}

struct Copies<'t> {
    groups: &'t [(&'t str, &'t Node)],
    depth_max: usize,
    nodes: usize,
    /// Of which group each group of the result is a copy.
    of: Vec<usize>,
}

impl Copies<'_> {
    /// A copy of a node; `next` is the number of the next group in it. Nothing when there are too many nodes.
    fn visit(
        &mut self,
        node: &Node,
        next: &mut usize,
        depth: usize,
    ) -> Result<Option<Node>, OnigmoError> {
        self.nodes += 1;
        if self.nodes > COPIED_NODES_MAX {
            return Ok(None);
        }
        match node {
            Node::Call(name) => self.call(name, depth),
            Node::Capture { label, body } => {
                self.of.push(*next);
                *next += 1;
                let body = self.visit(body, next, depth)?;
                let label = label.clone();
                Ok(body.map(|body| Node::Capture { label, body: Box::new(body) }))
            }
            node => {
                let mut children = Vec::with_capacity(node.children().len());
                for child in node.children() {
                    let Some(child) = self.visit(child, next, depth)? else { return Ok(None) };
                    children.push(child);
                }
                let mut children = children.into_iter();
                let change = |old| children.next().unwrap_or(old);
                Ok(Some(node.clone().map_children(change)))
            }
        }
    }

    fn call(&mut self, name: &str, depth: usize) -> Result<Option<Node>, OnigmoError> {
        let mut found = (0..self.groups.len()).filter(|at| self.groups[*at].0 == name);
        let at = match (found.next(), found.next()) {
            (Some(at), None) => at,
            (None, _) => {
                let message = format!("`\\g<{name}>` calls a group that there is not");
                return Err(OnigmoError::new(0, message));
            }
            _ => {
                let message = format!("`\\g<{name}>` could call several groups of this name");
                return Err(OnigmoError::new(0, message));
            }
        };
        if depth >= self.depth_max {
            return Ok(Some(Node::Class(class::ranges(&[]))));
        }
        self.of.push(at);
        let body = self.visit(self.groups[at].1, &mut (at + 1), depth + 1)?;
        let label = Label::Named(name.to_string());
        Ok(body.map(|body| Node::Capture { label, body: Box::new(body) }))
    }
}
