//! Automata that were built already: thousands of patterns have the same parts, such as `%{IP}` in front of
//! a blank, and building one costs more than all else of a pattern.
//!
//! Invariant: an automaton depends on its tree and kind alone; a hash of 128 bits stands for both.

use std::collections::HashMap;
use std::hash::Hash;
use std::mem::discriminant;
use std::sync::{Arc, Mutex, PoisonError};

use xxhash_rust::xxh3::Xxh3;

use crate::onigmo::Node;

use super::dfa::{Dfa, Kind};
use super::symbols::SymbolSet;

/// Automata that are kept; when there are more, all are given up that no pattern uses.
const AUTOMATA_MAX: usize = 4_096;

/// Automata by tree and kind; none for what is too large for one.
static KEPT: Mutex<Option<HashMap<u128, Option<Arc<Dfa>>>>> = Mutex::new(None);

/// As [`Dfa::build`]; what was built before is shared.
pub(super) fn automaton(node: &Node, kind: Kind) -> Option<Arc<Dfa>> {
    let key = key(node, kind);
    {
        let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = kept.get_or_insert_with(HashMap::new).get(&key) {
            return known.clone();
        }
    }
    // Not under the lock: it may take milliseconds. At worst two threads build the same.
    let automaton = Dfa::build(node, kind).map(Arc::new);
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let kept = kept.get_or_insert_with(HashMap::new);
    if kept.len() >= AUTOMATA_MAX {
        kept.retain(|_, one| one.as_ref().is_some_and(|one| Arc::strong_count(one) > 1));
        if kept.len() >= AUTOMATA_MAX {
            kept.clear();
        }
    }
    kept.insert(key, automaton.clone());
    automaton
}

/// Whether no match of the pure `node` continues another.
pub(super) fn is_prefix_free(node: &Node) -> bool {
    automaton(node, Kind::Unique(SymbolSet::any_next())).is_some()
}

fn key(node: &Node, kind: Kind) -> u128 {
    let mut hasher = Xxh3::new();
    discriminant(&kind).hash(&mut hasher);
    if let Kind::Unique(after) = kind {
        after.hash(&mut hasher);
    }
    visit(node, &mut hasher);
    hasher.digest128()
}

/// All that tells trees apart.
fn visit(node: &Node, hasher: &mut Xxh3) {
    discriminant(node).hash(hasher);
    match node {
        Node::Char(character) => character.hash(hasher),
        Node::Class(class) => {
            class.ranges().len().hash(hasher);
            for range in class.ranges() {
                (range.start(), range.end()).hash(hasher);
            }
        }
        Node::Assert(assertion) => assertion.hash(hasher),
        Node::Repeat { min, max, greed, .. } => {
            (min, max, discriminant(greed)).hash(hasher);
        }
        Node::Look { behind, negative, .. } => (behind, negative).hash(hasher),
        Node::Backreference(name) | Node::Call(name) => name.hash(hasher),
        Node::Condition { group, .. } => group.hash(hasher),
        Node::Engine(sign) => sign.hash(hasher),
        // An automaton captures nothing: what a group is called says nothing of it.
        Node::Empty
        | Node::Concat(_)
        | Node::Alternate(_)
        | Node::Capture { .. }
        | Node::Atomic(_)
        | Node::Shared(_) => {}
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
