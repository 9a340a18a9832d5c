//! Ruby's regular expressions: run in linear time where they can be, else by backtracking with a
//! bound. Finding never fails; a search that gives up finds nothing.

use crate::onigmo;

/// Steps back after which a search gives up.
const BACKTRACKS_MAX: usize = 200_000;
/// Largest compiled automaton, in bytes.
const PROGRAM_BYTES_MAX: usize = 16 << 20;

/// A compiled expression.
#[derive(Clone, Debug)]
pub enum Pattern {
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
        let translated = onigmo::translate(text, options).map_err(|error| error.to_string())?;
        if translated.needs_backtracking {
            let built = fancy_regex::RegexBuilder::new(&translated.pattern)
                .backtrack_limit(BACKTRACKS_MAX)
                .delegate_size_limit(PROGRAM_BYTES_MAX)
                .build();
            return built
                .map(|regex| Self::Backtracking(Box::new(regex)))
                .map_err(|e| e.to_string());
        }
        regex::RegexBuilder::new(&translated.pattern)
            .size_limit(PROGRAM_BYTES_MAX)
            .build()
            .map(Self::Linear)
            .map_err(|error| error.to_string())
    }

    /// The names of its groups, with their numbers.
    #[must_use]
    pub fn names(&self) -> Vec<(String, usize)> {
        let names: Vec<Option<&str>> = match self {
            Self::Linear(regex) => regex.capture_names().collect(),
            Self::Backtracking(regex) => regex.capture_names().collect(),
        };
        let named = names.into_iter().enumerate();
        named.filter_map(|(at, name)| Some((name?.to_string(), at))).collect()
    }

    /// Whether it is found anywhere in `text`.
    #[must_use]
    pub fn is_in(&self, text: &str) -> bool {
        match self {
            Self::Linear(regex) => regex.is_match(text),
            Self::Backtracking(regex) => regex.is_match(text).unwrap_or(false),
        }
    }

    /// The first match from the byte `start` on.
    pub fn find_at(&self, text: &str, start: usize) -> Result<Option<Groups>, GaveUp> {
        match self {
            Self::Linear(regex) => Ok(regex.captures_at(text, start).map(|found| {
                (0..found.len()).map(|at| found.get(at).map(|m| (m.start(), m.end()))).collect()
            })),
            Self::Backtracking(regex) => {
                let found = regex.captures_from_pos(text, start).map_err(|_| GaveUp)?;
                Ok(found.map(|found| {
                    (0..found.len()).map(|at| found.get(at).map(|m| (m.start(), m.end()))).collect()
                }))
            }
        }
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

fn next_character(text: &str, at: usize) -> usize {
    at + text[at..].chars().next().map_or(1, char::len_utf8)
}
