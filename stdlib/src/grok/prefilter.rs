//! One search in front of many patterns: of each the literal that is rarest among them is looked for, and
//! only the patterns whose literal is in the text are tried.
//!
//! Invariant: a pattern that matches a text is among the candidates for it, in the order of the list.

use std::collections::HashMap;

use aho_corasick::AhoCorasick;

/// Finds the few of many patterns that can match a text.
#[derive(Debug)]
pub struct Prefilter {
    /// The literals; none when there are none, or too many for it.
    automaton: Option<AhoCorasick>,
    /// For each literal, the patterns that need it.
    needed_by: Vec<Vec<u32>>,
    /// The patterns that are always tried.
    always: Vec<u32>,
}

/// Memory for searches, used again and again.
#[derive(Debug, Default)]
pub struct Hits {
    /// For each literal, the search that found it last.
    seen: Vec<u32>,
    search: u32,
    candidates: Vec<u32>,
}

impl Prefilter {
    /// For patterns that need these literals each; a pattern that needs none is always tried.
    #[must_use]
    pub fn new(patterns: &[Vec<String>]) -> Self {
        let mut shares: HashMap<&str, usize> = HashMap::new();
        for literal in patterns.iter().flatten() {
            *shares.entry(literal).or_default() += 1;
        }
        let mut numbers: HashMap<&str, usize> = HashMap::new();
        let mut needed_by: Vec<Vec<u32>> = Vec::new();
        let mut always = Vec::new();
        for (pattern, literals) in (0_u32..).zip(patterns) {
            let rarest =
                literals.iter().min_by_key(|one| (shares[one.as_str()], usize::MAX - one.len()));
            let Some(rarest) = rarest else {
                always.push(pattern);
                continue;
            };
            let number = *numbers.entry(rarest).or_insert(needed_by.len());
            if number == needed_by.len() {
                needed_by.push(Vec::new());
            }
            needed_by[number].push(pattern);
        }
        let mut literals: Vec<_> = numbers.into_iter().collect();
        literals.sort_unstable_by_key(|(_, number)| *number);
        match AhoCorasick::new(literals.iter().map(|(literal, _)| literal)) {
            Ok(automaton) => Self { automaton: Some(automaton), needed_by, always },
            // Too many literals for an automaton: every pattern is tried.
            Err(_) => {
                let always = (0_u32..).zip(patterns).map(|(pattern, _)| pattern).collect();
                Self { automaton: None, needed_by: Vec::new(), always }
            }
        }
    }

    /// The numbers of the patterns to try on a text, ascending.
    pub fn candidates<'h>(&self, text: &str, hits: &'h mut Hits) -> &'h [u32] {
        hits.candidates.clear();
        hits.candidates.extend(&self.always);
        if let Some(automaton) = &self.automaton {
            hits.begin(self.needed_by.len());
            for found in automaton.find_overlapping_iter(text) {
                let literal = found.pattern().as_usize();
                if hits.is_first(literal) {
                    hits.candidates.extend(&self.needed_by[literal]);
                }
            }
        }
        hits.candidates.sort_unstable();
        &hits.candidates
    }
}

impl Hits {
    /// A new search among so many literals.
    fn begin(&mut self, literals: usize) {
        self.search = self.search.wrapping_add(1);
        if self.search == 0 || self.seen.len() < literals {
            self.seen.clear();
            self.seen.resize(literals, 0);
            self.search = 1;
        }
    }

    fn is_first(&mut self, literal: usize) -> bool {
        std::mem::replace(&mut self.seen[literal], self.search) != self.search
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_are_those_whose_rarest_literal_is_there() {
        let needs = |list: &[&str]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
        let filter = Prefilter::new(&[
            needs(&[" from ", "sshd"]),
            needs(&[]),
            needs(&[" from ", "cron"]),
            needs(&[" from "]),
            needs(&["ssh"]),
        ]);
        let mut hits = Hits::default();
        assert_eq!(filter.candidates("sshd sshd sshd from here", &mut hits), [0, 1, 3, 4]);
        assert_eq!(filter.candidates("cron", &mut hits), [1, 2]);
        assert_eq!(filter.candidates("", &mut hits), [1]);
        hits.search = u32::MAX;
        assert_eq!(filter.candidates("ssh ssh", &mut hits), [1, 4]);
    }

    #[test]
    fn memory_serves_several_filters() {
        let one = Prefilter::new(&[vec!["abc".to_string()]]);
        let two = Prefilter::new(&[vec!["def".to_string()], vec!["ghi".to_string()]]);
        let mut hits = Hits::default();
        for _ in 0..3 {
            assert_eq!(one.candidates("abc", &mut hits), [0]);
            assert_eq!(two.candidates("ghi def", &mut hits), [0, 1]);
            assert!(two.candidates("abc", &mut hits).is_empty());
        }
    }
}
