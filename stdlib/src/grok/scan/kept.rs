//! Automata that were built already: thousands of patterns have the same parts, such as `%{IP}` in front of
//! a blank, and building one costs more than all else of a pattern.
//!
//! Invariant: an automaton depends on its tree and kind alone, and both are compared whole.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::mem::discriminant;
use std::sync::{Arc, Mutex, PoisonError};

use crate::onigmo::Node;

use super::dfa::{Dfa, Kind};
use super::symbols::SymbolSet;

/// Automata that are kept; when there are more, all are given up that no pattern uses.
const AUTOMATA_MAX: usize = 4_096;

struct Entry {
    node: Node,
    kind: Kind,
    automaton: Option<Arc<Dfa>>,
}

/// Automata by the hash of tree and kind.
static KEPT: Mutex<Option<HashMap<u64, Vec<Entry>>>> = Mutex::new(None);

/// As [`Dfa::build`]; what was built before is shared.
pub(super) fn automaton(node: &Node, kind: Kind) -> Option<Arc<Dfa>> {
    let hash = hash(node, kind);
    {
        let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
        let entries = kept.get_or_insert_with(HashMap::new).get(&hash);
        let is_it = |entry: &&Entry| entry.kind == kind && entry.node == *node;
        if let Some(entry) = entries.and_then(|entries| entries.iter().find(is_it)) {
            return entry.automaton.clone();
        }
    }
    // Not under the lock: it may take milliseconds. At worst two threads build the same.
    let automaton = Dfa::build(node, kind).map(Arc::new);
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let kept = kept.get_or_insert_with(HashMap::new);
    if kept.len() >= AUTOMATA_MAX {
        let is_used = |entry: &Entry| {
            entry.automaton.as_ref().is_some_and(|automaton| Arc::strong_count(automaton) > 1)
        };
        kept.retain(|_, entries| {
            entries.retain(is_used);
            !entries.is_empty()
        });
        if kept.len() >= AUTOMATA_MAX {
            kept.clear();
        }
    }
    let entry = Entry { node: node.clone(), kind, automaton: automaton.clone() };
    kept.entry(hash).or_default().push(entry);
    automaton
}

/// Whether no match of the pure `node` continues another.
pub(super) fn is_prefix_free(node: &Node) -> bool {
    automaton(node, Kind::Unique(SymbolSet::any_next())).is_some()
}

fn hash(node: &Node, kind: Kind) -> u64 {
    let mut hasher = DefaultHasher::new();
    discriminant(&kind).hash(&mut hasher);
    if let Kind::Unique(after) = kind {
        after.hash(&mut hasher);
    }
    visit(node, &mut hasher);
    hasher.finish()
}

/// What tells trees apart well enough; they are compared behind it.
fn visit(node: &Node, hasher: &mut DefaultHasher) {
    discriminant(node).hash(hasher);
    match node {
        Node::Char(character) => character.hash(hasher),
        Node::Class(class) => {
            for range in class.ranges() {
                (range.start(), range.end()).hash(hasher);
            }
        }
        Node::Assert(assertion) => assertion.hash(hasher),
        Node::Repeat { min, max, .. } => (min, max).hash(hasher),
        _ => {}
    }
    let children = node.children();
    children.len().hash(hasher);
    children.iter().for_each(|child| visit(child, hasher));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_alike_is_built_once() {
        let word = |text: &str| Node::Concat(text.chars().map(Node::Char).collect());
        let first = automaton(&word("kept"), Kind::First).expect("it is small");
        let again = automaton(&word("kept"), Kind::First).expect("it is small");
        let other = automaton(&word("keep"), Kind::First).expect("it is small");
        assert!(Arc::ptr_eq(&first, &again));
        assert!(!Arc::ptr_eq(&first, &other));
        for number in 0..2 * AUTOMATA_MAX {
            automaton(&word(&number.to_string()), Kind::First);
        }
        let kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
        assert!(kept.as_ref().is_some_and(|kept| kept.len() <= AUTOMATA_MAX));
    }
}
