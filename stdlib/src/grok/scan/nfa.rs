//! The byte automaton of a pure tree, by Thompson's construction.
//!
//! Invariant: choices keep their order of preference.

use std::collections::HashMap;

use regex_syntax::hir::ClassUnicode;
use regex_syntax::utf8::Utf8Sequences;

use crate::onigmo::{Greed, Node};

use super::analysis::may_be_empty;
use super::symbols::{SymbolSet, ascii_members, has_all_non_ascii};

/// Most states of one byte automaton.
const STATES_MAX: usize = 4_000;

/// A state.
#[derive(Debug)]
pub(super) enum State {
    /// One byte of the set with this number.
    Byte { set: usize, next: usize },
    /// Several ways on, the preferred one first.
    Split(Vec<usize>),
    /// The end.
    Match,
}

/// The automaton.
#[derive(Debug)]
pub(super) struct Nfa {
    pub states: Vec<State>,
    /// The different byte sets.
    pub sets: Vec<SymbolSet>,
    /// The number of each.
    numbers: HashMap<SymbolSet, usize>,
    pub start: usize,
}

impl Nfa {
    /// Builds the automaton of a pure tree; `None` when it would be too large.
    pub(super) fn build(node: &Node) -> Option<Self> {
        let mut nfa = Self {
            states: vec![State::Match],
            sets: Vec::new(),
            numbers: HashMap::new(),
            start: 0,
        };
        nfa.start = nfa.node(node, 0)?;
        Some(nfa)
    }

    fn push(&mut self, state: State) -> Option<usize> {
        if self.states.len() >= STATES_MAX {
            return None;
        }
        self.states.push(state);
        Some(self.states.len() - 1)
    }

    fn bytes(&mut self, set: SymbolSet, next: usize) -> Option<usize> {
        let sets = &mut self.sets;
        let set = *self.numbers.entry(set).or_insert_with(|| {
            sets.push(set);
            sets.len() - 1
        });
        self.push(State::Byte { set, next })
    }

    fn node(&mut self, node: &Node, next: usize) -> Option<usize> {
        match node {
            Node::Empty => Some(next),
            Node::Char(c) => {
                let mut buffer = [0; 4];
                let text = c.encode_utf8(&mut buffer).as_bytes();
                text.iter()
                    .rev()
                    .try_fold(next, |next, &byte| self.bytes(SymbolSet::range(byte, byte), next))
            }
            Node::Class(class) => self.class(class, next),
            Node::Concat(nodes) => {
                nodes.iter().rev().try_fold(next, |next, node| self.node(node, next))
            }
            Node::Alternate(nodes) => {
                let ways = nodes.iter().map(|node| self.node(node, next)).collect::<Option<_>>()?;
                self.push(State::Split(ways))
            }
            Node::Repeat { body, min, max, greed } => self.repeat(body, (*min, *max), *greed, next),
            _ => None,
        }
    }

    fn class(&mut self, class: &ClassUnicode, next: usize) -> Option<usize> {
        let mut ways = Vec::new();
        let ascii = ascii_members(class);
        if ascii != SymbolSet::EMPTY {
            ways.push(self.bytes(ascii, next)?);
        }
        for range in class.ranges().iter().filter(|range| !range.end().is_ascii()) {
            let start = range.start().max('\u{80}');
            for sequence in Utf8Sequences::new(start, range.end()) {
                let way = sequence.as_slice().iter().rev().try_fold(next, |next, part| {
                    self.bytes(SymbolSet::range(part.start, part.end), next)
                })?;
                ways.push(way);
            }
        }
        if ways.len() == 1 { ways.pop() } else { self.push(State::Split(ways)) }
    }

    fn repeat(
        &mut self,
        body: &Node,
        (min, max): (u32, Option<u32>),
        greed: Greed,
        next: usize,
    ) -> Option<usize> {
        let mut way = next;
        match max {
            None => way = self.star(body, greed, next)?,
            Some(max) => {
                for _ in min..max {
                    let taken = self.node(body, way)?;
                    way = self.split(taken, next, greed)?;
                }
            }
        }
        for _ in 0..min {
            way = self.node(body, way)?;
        }
        Some(way)
    }

    fn star(&mut self, body: &Node, greed: Greed, next: usize) -> Option<usize> {
        // Engines differ on what an empty turn of a loop means; leave it to them.
        if may_be_empty(body) {
            return None;
        }
        let split = self.push(State::Split(Vec::new()))?;
        let taken = match greed {
            Greed::Greedy => self.loop_body(body, split)?,
            Greed::Lazy => self.node(body, split)?,
        };
        let ways = match greed {
            Greed::Greedy => vec![taken, next],
            Greed::Lazy => vec![next, taken],
        };
        self.states[split] = State::Split(ways);
        Some(split)
    }

    /// Within a greedy loop a class with all of Unicode beyond ASCII goes byte by byte: the rest
    /// of a character cannot be anything but more of the loop, and nothing else starts inside a
    /// character, so the ends are the same and long runs stay in one state.
    fn loop_body(&mut self, body: &Node, split: usize) -> Option<usize> {
        match body {
            Node::Class(class) if has_all_non_ascii(class) => {
                let mut set = ascii_members(class);
                set.add_range(0x80, 0xFF);
                self.bytes(set, split)
            }
            Node::Alternate(nodes) => {
                let ways =
                    nodes.iter().map(|node| self.loop_body(node, split)).collect::<Option<_>>()?;
                self.push(State::Split(ways))
            }
            other => self.node(other, split),
        }
    }

    fn split(&mut self, taken: usize, next: usize, greed: Greed) -> Option<usize> {
        self.push(State::Split(match greed {
            Greed::Greedy => vec![taken, next],
            Greed::Lazy => vec![next, taken],
        }))
    }
}
