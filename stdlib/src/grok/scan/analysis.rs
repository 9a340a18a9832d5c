//! What can be said of a tree without running it: next and previous symbols, emptiness, purity.
//!
//! Invariant: answers err on the safe side: more symbols, "may be empty", "not pure".

use crate::onigmo::{Assertion, Node, Shape};

use super::symbols::{SymbolSet, first_bytes, last_bytes};

/// The symbols that a match of `node`, followed by `after`, can start with.
pub(super) fn first(node: &Node, after: &SymbolSet) -> SymbolSet {
    match node {
        Node::Empty => *after,
        Node::Char(c) => {
            let mut buffer = [0; 4];
            let lead = c.encode_utf8(&mut buffer).as_bytes()[0];
            SymbolSet::range(lead, lead)
        }
        Node::Class(class) => first_bytes(class),
        Node::Assert(assertion) => match assertion {
            Assertion::EndText => after.intersection(&SymbolSet::EDGE),
            Assertion::EndLine | Assertion::EndTextNewline => {
                after.intersection(&SymbolSet::line_edge())
            }
            _ => *after,
        },
        Node::Concat(nodes) => nodes.iter().rev().fold(*after, |after, node| first(node, &after)),
        Node::Alternate(nodes) => {
            nodes.iter().fold(SymbolSet::EMPTY, |set, node| set.union(&first(node, after)))
        }
        Node::Repeat { max: Some(0), .. } => *after,
        Node::Repeat { body, min, .. } => {
            let body = first(body, after);
            if *min == 0 { body.union(after) } else { body }
        }
        Node::Capture { body, .. } | Node::Atomic(body) => first(body, after),
        Node::Look { behind: false, negative: false, body } => {
            after.intersection(&first(body, &SymbolSet::any_next()))
        }
        Node::Look { .. } => *after,
        Node::Shared(part) => first(&part.tree, after),
        Node::Backreference(_) | Node::Engine(_) | Node::Call(_) | Node::Condition { .. } => {
            SymbolSet::any_next()
        }
    }
}

/// The symbols that can stand just before the end of a match of `node` preceded by `before`.
pub(super) fn last(node: &Node, before: &SymbolSet) -> SymbolSet {
    match node {
        Node::Char(c) => {
            let mut buffer = [0; 4];
            let text = c.encode_utf8(&mut buffer).as_bytes();
            let tail = text[text.len() - 1];
            SymbolSet::range(tail, tail)
        }
        Node::Class(class) => last_bytes(class),
        Node::Assert(Assertion::StartText) => before.intersection(&SymbolSet::EDGE),
        Node::Assert(Assertion::StartLine) => before.intersection(&SymbolSet::line_edge()),
        Node::Empty | Node::Assert(_) | Node::Look { .. } => *before,
        Node::Concat(nodes) => nodes.iter().fold(*before, |before, node| last(node, &before)),
        Node::Alternate(nodes) => {
            nodes.iter().fold(SymbolSet::EMPTY, |set, node| set.union(&last(node, before)))
        }
        Node::Repeat { max: Some(0), .. } => *before,
        Node::Repeat { body, min, .. } => {
            let body = last(body, before);
            if *min == 0 { body.union(before) } else { body }
        }
        Node::Capture { body, .. } | Node::Atomic(body) => last(body, before),
        Node::Shared(part) => last(&part.tree, before),
        Node::Backreference(_) | Node::Engine(_) | Node::Call(_) | Node::Condition { .. } => {
            SymbolSet::any_previous()
        }
    }
}

/// Whether the node may match the empty text.
pub(super) fn may_be_empty(node: &Node) -> bool {
    match node {
        Node::Char(_) | Node::Class(_) => false,
        Node::Concat(nodes) => nodes.iter().all(may_be_empty),
        Node::Alternate(nodes) => nodes.iter().any(may_be_empty),
        Node::Repeat { body, min, .. } => *min == 0 || may_be_empty(body),
        Node::Capture { body, .. } | Node::Atomic(body) => may_be_empty(body),
        Node::Shared(part) => may_be_empty(&part.tree),
        _ => true,
    }
}

/// Whether the node matches the empty text anywhere.
pub(super) fn is_empty_anywhere(node: &Node) -> bool {
    match node {
        Node::Empty => true,
        Node::Concat(nodes) => nodes.iter().all(is_empty_anywhere),
        Node::Alternate(nodes) => nodes.iter().any(is_empty_anywhere),
        Node::Repeat { body, min, .. } => *min == 0 || is_empty_anywhere(body),
        _ => false,
    }
}

/// Whether the node is only a condition on the position.
pub(super) fn is_condition(node: &Node) -> bool {
    match node {
        Node::Empty | Node::Assert(_) => true,
        Node::Look { .. } => has_no_captures(node),
        Node::Concat(nodes) | Node::Alternate(nodes) => nodes.iter().all(is_condition),
        _ => false,
    }
}

/// Whether nothing inside is captured.
pub(super) fn has_no_captures(node: &Node) -> bool {
    !matches!(node, Node::Capture { .. }) && node.children().iter().all(has_no_captures)
}

/// Whether the node is a regular expression in the strict sense: characters, sequence, choice and
/// repetition.
pub(super) fn is_pure(node: &Node) -> bool {
    match node {
        Node::Empty | Node::Char(_) | Node::Class(_) => true,
        Node::Concat(_) | Node::Alternate(_) | Node::Repeat { .. } => {
            node.children().iter().all(is_pure)
        }
        _ => false,
    }
}

/// Larger trees, with what they repeat counted as often as it may be, are tried before they are called sure.
const SURE_NODES_MAX: usize = 20_000;

/// Whether one engine or another is sure to take a tree: nothing in it depends on what was matched
/// before, looks back over an unknown distance, or is very large.
pub(in crate::grok) fn is_sure(shape: &Shape) -> bool {
    shape.is_plain && shape.nodes <= SURE_NODES_MAX
}
