//! Removes conditions that always hold where they stand, and atomic groups that change nothing.
//!
//! Invariant: with the same symbols before and after, the simplified tree matches the same texts
//! with the same captures.

use crate::onigmo::{Assertion, Greed, Node};

use super::analysis::{first, has_no_captures, is_condition, is_empty_anywhere, is_pure, last};
use super::kept::is_prefix_free;
use super::symbols::SymbolSet;

/// Simplifies `node`, which stands between `before` and `after`.
pub(super) fn simplify(node: Node, before: &SymbolSet, after: &SymbolSet) -> Node {
    match node {
        Node::Assert(assertion) if always_holds(assertion, before, after) => Node::Empty,
        Node::Concat(nodes) => sequence(nodes, before, after),
        Node::Alternate(nodes) => choice(nodes, before, after),
        Node::Repeat { body, min, max, greed } => repeat(*body, (min, max, greed), before, after),
        Node::Capture { label, body } => {
            Node::Capture { label, body: Box::new(simplify(*body, before, after)) }
        }
        Node::Atomic(body) => atomic(*body, before),
        Node::Look { behind, negative, body } => look(behind, negative, *body, before, after),
        leaf => leaf,
    }
}

fn sequence(nodes: Vec<Node>, before: &SymbolSet, after: &SymbolSet) -> Node {
    let mut flat = Vec::with_capacity(nodes.len());
    for node in nodes {
        match node {
            Node::Concat(inner) => flat.extend(inner),
            other => flat.push(other),
        }
    }
    let mut afters = vec![*after; flat.len()];
    for index in (1..flat.len()).rev() {
        afters[index - 1] = first(&flat[index], &afters[index]);
    }
    let mut before = *before;
    let mut result = Vec::with_capacity(flat.len());
    for (node, after) in flat.into_iter().zip(&afters) {
        let node = simplify(node, &before, after);
        before = last(&node, &before);
        match node {
            Node::Empty => {}
            Node::Concat(inner) => result.extend(inner),
            other => result.push(other),
        }
    }
    Node::concat(result)
}

fn choice(nodes: Vec<Node>, before: &SymbolSet, after: &SymbolSet) -> Node {
    let mut result: Vec<Node> = Vec::with_capacity(nodes.len());
    let mut empty_seen = false;
    for node in nodes {
        let node = simplify(node, before, after);
        // Empty has been tried at this very place, so a mere condition adds nothing.
        if empty_seen && is_condition(&node) {
            continue;
        }
        empty_seen |= is_empty_anywhere(&node);
        match node {
            Node::Alternate(inner) => result.extend(inner),
            other => result.push(other),
        }
    }
    Node::alternate(result)
}

fn repeat(
    body: Node,
    (min, max, greed): (u32, Option<u32>, Greed),
    before: &SymbolSet,
    after: &SymbolSet,
) -> Node {
    if max == Some(0) && has_no_captures(&body) {
        return Node::Empty;
    }
    let (body_before, body_after) = if max == Some(1) {
        (*before, *after)
    } else {
        (before.union(&last(&body, before)), after.union(&first(&body, after)))
    };
    let mut body = simplify(body, &body_before, &body_after);
    if max.is_none() && min <= 1 && greed == Greed::Greedy {
        body = loosened(body, after);
    }
    if (min, max) == (1, Some(1)) {
        return body;
    }
    Node::Repeat { body: Box::new(body), min, max, greed }
}

/// Turns the body of `(?>x.|[^x]+)+` into `x.|[^x]`: what follows the loop cannot start with a
/// character of the run, so every way to a match goes through the run's end in either form.
fn loosened(body: Node, exit: &SymbolSet) -> Node {
    let Node::Atomic(inner) = &body else { return body };
    let branches = match &**inner {
        Node::Alternate(branches) => branches.as_slice(),
        single => std::slice::from_ref(single),
    };
    let mut taken = SymbolSet::EMPTY;
    let mut loose = Vec::with_capacity(branches.len());
    for branch in branches {
        let starts = first(branch, &SymbolSet::EMPTY);
        if !is_pure(branch) || !taken.is_disjoint(&starts) {
            return body;
        }
        taken = taken.union(&starts);
        match branch {
            Node::Repeat { body: run, min: 1, max: None, greed: Greed::Greedy }
                if matches!(**run, Node::Class(_) | Node::Char(_)) && starts.is_disjoint(exit) =>
            {
                loose.push((**run).clone());
            }
            fixed if is_prefix_free(fixed) => loose.push(fixed.clone()),
            _ => return body,
        }
    }
    Node::alternate(loose)
}

/// What is inside is decided before what follows is looked at, so nothing is known of it there.
fn atomic(body: Node, before: &SymbolSet) -> Node {
    let body = simplify(body, before, &SymbolSet::any_next());
    if is_pure(&body) && is_prefix_free(&body) { body } else { Node::Atomic(Box::new(body)) }
}

fn look(behind: bool, negative: bool, body: Node, before: &SymbolSet, after: &SymbolSet) -> Node {
    let (next, previous) = (SymbolSet::any_next(), SymbolSet::any_previous());
    let cannot_match = if behind {
        last(&body, &previous).is_disjoint(before)
    } else {
        first(&body, &next).is_disjoint(after)
    };
    if negative && cannot_match && has_no_captures(&body) {
        return Node::Empty;
    }
    let known_before = if behind { &previous } else { before };
    Node::Look { behind, negative, body: Box::new(simplify(body, known_before, &next)) }
}

/// Whether the condition holds wherever a match can go on.
fn always_holds(assertion: Assertion, before: &SymbolSet, after: &SymbolSet) -> bool {
    let word = |set: &SymbolSet| set.is_subset(&ascii_word());
    let other = |set: &SymbolSet| set.is_subset(&ascii_other());
    match assertion {
        Assertion::WordBoundary => (word(before) && other(after)) || (other(before) && word(after)),
        Assertion::NotWordBoundary => {
            (word(before) && word(after)) || (other(before) && other(after))
        }
        Assertion::StartText => before.is_subset(&SymbolSet::EDGE),
        Assertion::EndText => after.is_subset(&SymbolSet::EDGE),
        Assertion::StartLine => before.is_subset(&SymbolSet::line_edge()),
        Assertion::EndLine => after.is_subset(&SymbolSet::line_edge()),
        Assertion::EndTextNewline => false,
    }
}

fn ascii_word() -> SymbolSet {
    let mut set = SymbolSet::EMPTY;
    (0..=0x7F).filter(|byte| is_word(*byte)).for_each(|byte| set.add(byte));
    set
}

fn ascii_other() -> SymbolSet {
    let mut set = SymbolSet::EDGE;
    (0..=0x7F).filter(|byte| !is_word(*byte)).for_each(|byte| set.add(byte));
    set
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
