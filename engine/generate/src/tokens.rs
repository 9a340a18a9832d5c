//! Tokens: parts of an event that a pattern finds, and what takes their place.
//!
//! Invariant: tokens are applied one after the other, each to what those before it left; all places of a
//! token in one event get the same value, but times that are moved, which each keep their own distance.

use super::finder::{Finder, Spot};
use super::replacement::{Draw, Memory, Replacement, replace};

/// A token: what it finds, and what it puts there.
#[derive(Clone, Debug)]
pub struct Token {
    /// Finds it.
    pub finder: Finder,
    /// Takes its place.
    pub replacement: Replacement,
}

/// The tokens of a generator, with what they remember.
#[derive(Clone, Debug)]
pub(crate) struct Tokens {
    list: Vec<Token>,
    memory: Memory,
    spots: Vec<Spot>,
    value: Vec<u8>,
    spare: Vec<u8>,
}

impl Tokens {
    /// Tokens in the order in which they are applied.
    #[must_use]
    pub(crate) fn new(list: Vec<Token>, memory: Memory) -> Self {
        Tokens { list, memory, spots: Vec::new(), value: Vec::new(), spare: Vec::new() }
    }

    /// In the order in which they are applied.
    #[must_use]
    pub(crate) fn list(&self) -> &[Token] {
        &self.list
    }

    /// Applies the tokens from number `first` on.
    pub(crate) fn apply(&mut self, first: usize, draw: Draw, event: &mut Vec<u8>) {
        for number in first..self.list.len() {
            self.list[number].finder.all(event, &mut self.spots);
            if !self.spots.is_empty() {
                self.put(number, draw, event);
            }
        }
    }

    /// The value of a token for one event; `false` when the old text stays.
    pub(crate) fn value(
        &mut self,
        number: usize,
        draw: Draw,
        old: &[u8],
        out: &mut Vec<u8>,
    ) -> bool {
        replace(&mut self.list[number].replacement, draw, old, &mut self.memory, out)
    }

    fn put(&mut self, number: usize, draw: Draw, event: &mut Vec<u8>) {
        let Self { list, memory, spots, value, spare } = self;
        let replacement = &mut list[number].replacement;
        let is_each = matches!(replacement, Replacement::Moved(..));
        value.clear();
        if !is_each {
            let old = &event[spots[0].target.clone()];
            if !replace(replacement, draw, old, memory, value) {
                return;
            }
        }
        spare.clear();
        let mut at = 0;
        for spot in spots.iter() {
            let target = spot.target.clone();
            spare.extend_from_slice(&event[at..target.start]);
            if is_each {
                let old = &event[target.clone()];
                if !replace(replacement, draw, old, memory, spare) {
                    spare.extend_from_slice(old);
                }
            } else {
                spare.extend_from_slice(value);
            }
            at = target.end;
        }
        spare.extend_from_slice(&event[at..]);
        std::mem::swap(event, spare);
    }
}
