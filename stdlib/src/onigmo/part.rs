//! A part that several patterns have in common: parsed once, with what patterns ask of it.
//!
//! Invariant: what is said of a tree that shares parts is what would be said of its copy without sharing.

use super::syntax::{Label, Node};

/// A tree that is shared.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub tree: Node,
    pub shape: Shape,
    /// The characters of every match, if they are always as many.
    pub chars: Option<u32>,
    /// How deep groups nest in it.
    pub depth: usize,
}

impl Part {
    /// The part that a tree is, in which groups nest so deep.
    pub(crate) fn new(tree: Node, depth: usize) -> Self {
        let (shape, chars) = (Shape::of(&tree), fixed_chars(&tree));
        Self { tree, shape, chars, depth }
    }
}

/// What is known of a tree without running it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    /// What its groups are called, in the order of their opening places.
    pub groups: Vec<Label>,
    /// The number of nodes, each as often as a repetition asks for it.
    pub nodes: usize,
    /// Whether nothing in it depends on what was matched before, or looks back over an unknown distance.
    pub is_plain: bool,
}

impl Shape {
    /// The shape of a tree.
    pub(crate) fn of(tree: &Node) -> Self {
        let mut shape = Self { groups: Vec::new(), nodes: 0, is_plain: true };
        shape.nodes = shape.visit(tree);
        shape
    }

    /// Whether a group has a name; it decides what `( )` means in Ruby.
    pub(crate) fn has_named_group(&self) -> bool {
        self.groups.iter().any(|label| *label != Label::Unnamed)
    }

    /// Notes the groups of a node; gives the number of its nodes.
    fn visit(&mut self, node: &Node) -> usize {
        match node {
            Node::Shared(part) => {
                self.groups.extend_from_slice(&part.shape.groups);
                self.is_plain &= part.shape.is_plain;
                return part.shape.nodes;
            }
            Node::Capture { label, .. } => self.groups.push(label.clone()),
            Node::Backreference(_) | Node::Engine(_) | Node::Call(_) | Node::Condition { .. } => {
                self.is_plain = false
            }
            Node::Look { behind: true, body, .. } => self.is_plain &= fixed_chars(body).is_some(),
            _ => {}
        }
        let times = match node {
            Node::Repeat { min, max, .. } => max.unwrap_or(*min).max(1) as usize,
            _ => 1,
        };
        let inside = node.children().iter().map(|child| self.visit(child));
        let inside = inside.fold(0, usize::saturating_add);
        inside.saturating_mul(times).saturating_add(1)
    }
}

/// The number of characters in every match, if it is always the same.
pub(crate) fn fixed_chars(node: &Node) -> Option<u32> {
    match node {
        Node::Empty | Node::Assert(_) | Node::Look { .. } => Some(0),
        Node::Char(_) | Node::Class(_) => Some(1),
        Node::Concat(nodes) => {
            nodes.iter().try_fold(0u32, |sum, node| sum.checked_add(fixed_chars(node)?))
        }
        Node::Alternate(nodes) => {
            let mut lengths = nodes.iter().map(fixed_chars);
            let length = lengths.next()??;
            lengths.all(|other| other == Some(length)).then_some(length)
        }
        Node::Repeat { body, min, max, .. } if Some(*min) == *max => {
            fixed_chars(body)?.checked_mul(*min)
        }
        Node::Capture { body, .. } | Node::Atomic(body) => fixed_chars(body),
        Node::Shared(part) => part.chars,
        _ => None,
    }
}
