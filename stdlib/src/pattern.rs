//! Ruby's regular expressions: run in linear time where they can be, else by backtracking with a
//! bound. Finding never fails; a search that gives up finds nothing.

mod simple;

use crate::onigmo;
use simple::{Found, Simple};
use std::sync::{Arc, OnceLock};

/// Steps back after which a search gives up.
const BACKTRACKS_MAX: usize = 200_000;
/// Largest compiled automaton, in bytes.
const PROGRAM_BYTES_MAX: usize = 16 << 20;
/// Trees of so many nodes are sure to have an automaton in linear time: the largest class takes less than a
/// hundredth of `PROGRAM_BYTES_MAX`, and groups nest less deep than `regex` lets them (250).
const SURE_NODES_MAX: usize = 100;

/// A compiled expression, which its copies share. The automaton of one that is sure to have one is made for its
/// first text: configurations hold hundreds of expressions.
#[derive(Clone, Debug)]
pub struct Pattern(Arc<Compiled>);

#[derive(Debug)]
struct Compiled {
    /// The expression in the notation of the engine.
    text: String,
    /// What most searches need no engine for.
    simple: Option<Simple>,
    /// Where groups are called: for each group of the engine the group of the pattern, from 0 on.
    copies: Option<Vec<usize>>,
    engine: OnceLock<Engine>,
}

#[derive(Debug)]
enum Engine {
    /// Takes time in proportion to the text.
    Linear(regex::Regex),
    /// With look-around, back-references or atomic groups.
    Backtracking(Box<fancy_regex::Regex>),
}

/// Where the groups of a match lie; the first is the whole match.
pub type Groups = Vec<Option<(usize, usize)>>;

/// A search that gave up.
#[derive(Clone, Copy, Debug)]
pub struct GaveUp;

impl Pattern {
    /// Compiles an expression. The error is a sentence.
    pub fn compile(text: &str) -> Result<Self, String> {
        Self::compile_with(text, onigmo::Options::default())
    }

    /// As [`Pattern::compile`], with the flags of a pattern of Ruby.
    pub fn compile_with(text: &str, options: onigmo::Options) -> Result<Self, String> {
        let onigmo::Read { tree, shape, copies } =
            onigmo::read(text, options).map_err(|error| error.to_string())?;
        let translated = onigmo::emit(&tree);
        let engine = OnceLock::new();
        if translated.needs_backtracking {
            let _ = engine.set(Engine::backtracking(&translated.pattern)?);
        } else if shape.nodes > SURE_NODES_MAX {
            let _ = engine.set(Engine::linear(&translated.pattern)?);
        }
        let simple = Simple::of(&tree);
        Ok(Self(Arc::new(Compiled { text: translated.pattern, simple, copies, engine })))
    }

    fn engine(&self) -> &Engine {
        let make = || Engine::linear(&self.0.text).expect("an expression of this size is taken");
        self.0.engine.get_or_init(make)
    }

    /// The names of its groups, with their numbers.
    #[must_use]
    pub fn names(&self) -> Vec<(String, usize)> {
        let names: Vec<Option<&str>> = match self.engine() {
            Engine::Linear(regex) => regex.capture_names().collect(),
            Engine::Backtracking(regex) => regex.capture_names().collect(),
        };
        let place = |at: usize| match &self.0.copies {
            Some(copies) if at > 0 => copies[at - 1] + 1,
            _ => at,
        };
        let named = names.into_iter().enumerate();
        named.filter_map(|(at, name)| Some((name?.to_string(), place(at)))).collect()
    }

    /// Whether it is found anywhere in `text`.
    #[must_use]
    pub fn is_in(&self, text: &str) -> bool {
        match self.simply(text, 0) {
            Found::At(..) => return true,
            Found::Nowhere => return false,
            Found::Unknown => {}
        }
        match self.engine() {
            Engine::Linear(regex) => regex.is_match(text),
            Engine::Backtracking(regex) => regex.is_match(text).unwrap_or(false),
        }
    }

    #[inline]
    fn simply(&self, text: &str, start: usize) -> Found {
        self.0.simple.as_ref().map_or(Found::Unknown, |simple| simple.find(text, start))
    }

    /// Where the first match from the byte `start` on lies.
    pub fn span_at(&self, text: &str, start: usize) -> Result<Option<(usize, usize)>, GaveUp> {
        match self.simply(text, start) {
            Found::At(from, to) => return Ok(Some((from, to))),
            Found::Nowhere => return Ok(None),
            Found::Unknown => {}
        }
        match self.engine() {
            Engine::Linear(regex) => {
                Ok(regex.find_at(text, start).map(|found| (found.start(), found.end())))
            }
            Engine::Backtracking(regex) => {
                let found = regex.find_from_pos(text, start).map_err(|_| GaveUp)?;
                Ok(found.map(|found| (found.start(), found.end())))
            }
        }
    }

    /// The groups of the first match from the byte `start` on.
    pub fn find_at(&self, text: &str, start: usize) -> Result<Option<Groups>, GaveUp> {
        match self.simply(text, start) {
            Found::At(from, to) => return Ok(Some(vec![Some((from, to))])),
            Found::Nowhere => return Ok(None),
            Found::Unknown => {}
        }
        let found = self.search(text, start)?;
        Ok(match &self.0.copies {
            Some(copies) => found.map(|groups| merged(&groups, copies)),
            None => found,
        })
    }

    fn search(&self, text: &str, start: usize) -> Result<Option<Groups>, GaveUp> {
        match self.engine() {
            Engine::Linear(regex) => Ok(regex.captures_at(text, start).map(|found| {
                (0..found.len()).map(|at| found.get(at).map(|m| (m.start(), m.end()))).collect()
            })),
            Engine::Backtracking(regex) => {
                let found = regex.captures_from_pos(text, start).map_err(|_| GaveUp)?;
                Ok(found.map(|found| {
                    (0..found.len()).map(|at| found.get(at).map(|m| (m.start(), m.end()))).collect()
                }))
            }
        }
    }

    /// Where all matches lie, none overlapping another.
    pub fn spans(&self, text: &str) -> Result<Vec<(usize, usize)>, GaveUp> {
        let mut all = Vec::new();
        let mut start = 0;
        while start <= text.len() {
            let Some((from, to)) = self.span_at(text, start)? else { break };
            start = if to > from { to } else { next_character(text, to) };
            all.push((from, to));
        }
        Ok(all)
    }

    /// All matches, none overlapping another.
    pub fn find_all(&self, text: &str) -> Result<Vec<Groups>, GaveUp> {
        let mut all = Vec::new();
        let mut start = 0;
        while start <= text.len() {
            let Some(groups) = self.find_at(text, start)? else { break };
            let (from, to) = groups[0].expect("a match has a place");
            start = if to > from { to } else { next_character(text, to) };
            all.push(groups);
        }
        Ok(all)
    }
}

impl Engine {
    fn linear(pattern: &str) -> Result<Self, String> {
        let built = regex::RegexBuilder::new(pattern).size_limit(PROGRAM_BYTES_MAX).build();
        built.map(Self::Linear).map_err(|error| error.to_string())
    }

    fn backtracking(pattern: &str) -> Result<Self, String> {
        let built = fancy_regex::RegexBuilder::new(pattern)
            .backtrack_limit(BACKTRACKS_MAX)
            .delegate_size_limit(PROGRAM_BYTES_MAX)
            .build();
        built.map(|regex| Self::Backtracking(Box::new(regex))).map_err(|error| error.to_string())
    }
}

/// The groups of the pattern: each is what the last of its copies has found.
fn merged(groups: &Groups, copies: &[usize]) -> Groups {
    let count = copies.iter().map(|of| of + 1).max().unwrap_or(0);
    let mut all = vec![None; count + 1];
    all[0] = groups[0];
    for (found, of) in groups[1..].iter().zip(copies) {
        let place: &mut Option<(usize, usize)> = &mut all[of + 1];
        let later = match (&*place, found) {
            (Some((_, old)), Some((_, new))) => new > old,
            (None, Some(_)) => true,
            _ => false,
        };
        if later {
            *place = *found;
        }
    }
    all
}

fn next_character(text: &str, at: usize) -> usize {
    at + text[at..].chars().next().map_or(1, char::len_utf8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sure_to_have_an_automaton_has_one() {
        let repeated = format!("a{}", "{1}".repeat(SURE_NODES_MAX - 1));
        for text in
            [&format!(r"\p{{Any}}{{{}}}", SURE_NODES_MAX - 1), &r"\p{L}".repeat(99), &repeated]
        {
            let pattern = Pattern::compile_with(
                text,
                onigmo::Options { ignore_case: true, unicode_classes: true, ..Default::default() },
            );
            let pattern = pattern.unwrap();
            assert!(pattern.0.engine.get().is_none(), "{text}");
            assert!(!pattern.is_in(""), "{text}");
        }
    }

    #[test]
    fn what_is_too_large_is_refused_at_once() {
        assert!(Pattern::compile(r"(?u)\w{100000}").is_err());
    }
}
