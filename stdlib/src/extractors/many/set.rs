//! Many `re|…|` literals: one automaton of all expressions goes over the text once and notes which
//! of them it has seen.

use crate::formats::regex::SIZE_MAX_BYTES;
use regex_automata::meta::{Config, Regex};
use regex_automata::{Input, PatternSet};
use std::cell::RefCell;
use temblor_lang::builtin::ManyTests;

/// Fewer tests are asked one by one: a single expression has better ways to skip ahead.
const TESTS_MIN: usize = 4;
/// States of the automaton are built as texts need them and kept up to this size in each thread;
/// the engine's own limit is made for one expression.
const CACHE_MAX_BYTES: usize = 8 << 20;

#[derive(Debug)]
pub(super) struct Set(Regex);

impl Set {
    pub(super) fn build(patterns: &[&str]) -> Option<Self> {
        if patterns.len() < TESTS_MIN { None } else { Self::of_any_number(patterns) }
    }

    /// `None` when the expressions together are too large.
    pub(super) fn of_any_number(patterns: &[&str]) -> Option<Self> {
        let config = Config::new()
            .match_kind(regex_automata::MatchKind::All)
            .which_captures(regex_automata::nfa::thompson::WhichCaptures::None)
            .nfa_size_limit(Some(SIZE_MAX_BYTES))
            .hybrid_cache_capacity(CACHE_MAX_BYTES);
        Regex::builder().configure(config).build_many(patterns).ok().map(Self)
    }
}

impl ManyTests for Set {
    fn first(&self, text: &str, from: usize) -> Option<usize> {
        thread_local! {
            static FOUND: RefCell<PatternSet> = RefCell::new(PatternSet::new(0));
        }
        FOUND.with_borrow_mut(|found| {
            if found.capacity() < self.0.pattern_len() {
                *found = PatternSet::new(self.0.pattern_len());
            }
            found.clear();
            self.0.which_overlapping_matches(&Input::new(text), found);
            found.iter().map(|pattern| pattern.as_usize()).find(|number| *number >= from)
        })
    }
}
