//! Many `glob|…|` literals: plain texts, prefixes and suffixes are found by their hash, one probe
//! for each length that occurs; what remains is one set of regular expressions.

use super::set::Set;
use crate::formats::glob::Glob;
use halfbrown::HashMap;
use temblor_lang::builtin::ManyTests;

/// Fewer tests are asked one by one.
const TESTS_MIN: usize = 4;

#[derive(Debug, Default)]
pub(super) struct Globs {
    literals: Texts,
    prefixes: Lengths,
    suffixes: Lengths,
    /// The globs that are nothing simpler, and the number of each.
    others: Option<(Set, Vec<usize>)>,
}

/// Texts and the numbers of the tests that have them, ascending.
#[derive(Debug, Default)]
struct Texts(HashMap<Box<[u8]>, Vec<usize>>);

impl Texts {
    fn insert(&mut self, text: &str, number: usize) {
        self.0.entry(text.as_bytes().into()).or_default().push(number);
    }

    fn first(&self, text: &[u8], from: usize) -> Option<usize> {
        let numbers = self.0.get(text)?;
        numbers.get(numbers.partition_point(|number| *number < from)).copied()
    }
}

/// Texts, and the lengths that occur among them, ascending.
#[derive(Debug, Default)]
struct Lengths {
    texts: Texts,
    bytes: Vec<usize>,
}

impl Lengths {
    fn insert(&mut self, text: &str, number: usize) {
        self.texts.insert(text, number);
        if let Err(at) = self.bytes.binary_search(&text.len()) {
            self.bytes.insert(at, text.len());
        }
    }

    /// The first test whose text is one of the parts that `part` cuts out.
    fn first<'t>(&self, from: usize, part: impl Fn(usize) -> Option<&'t [u8]>) -> Option<usize> {
        let parts = self.bytes.iter().map_while(|bytes| part(*bytes));
        parts.filter_map(|part| self.texts.first(part, from)).min()
    }
}

impl Globs {
    pub(super) fn build(patterns: &[&str]) -> Option<Self> {
        if patterns.len() < TESTS_MIN {
            return None;
        }
        let mut globs = Self::default();
        let (mut expressions, mut numbers) = (Vec::new(), Vec::new());
        for (number, pattern) in patterns.iter().enumerate() {
            match Glob::compile(pattern).ok()? {
                Glob::Literal(text) => globs.literals.insert(&text, number),
                Glob::Prefix(text) => globs.prefixes.insert(&text, number),
                Glob::Suffix(text) => globs.suffixes.insert(&text, number),
                Glob::Regex(_) => {
                    expressions.push(Glob::to_regex(pattern)?);
                    numbers.push(number);
                }
            }
        }
        if !numbers.is_empty() {
            let expressions: Vec<_> = expressions.iter().map(String::as_str).collect();
            globs.others = Some((Set::of_any_number(&expressions)?, numbers));
        }
        Some(globs)
    }
}

impl ManyTests for Globs {
    fn first(&self, text: &str, from: usize) -> Option<usize> {
        let text_bytes = text.as_bytes();
        let literal = self.literals.first(text_bytes, from);
        let prefix = self.prefixes.first(from, |bytes| text_bytes.get(..bytes));
        let suffix = self
            .suffixes
            .first(from, |bytes| text_bytes.get(text_bytes.len().checked_sub(bytes)?..));
        let other = self.others.as_ref().and_then(|(set, numbers)| {
            let from = numbers.partition_point(|number| *number < from);
            (from < numbers.len()).then(|| set.first(text, from)).flatten().map(|at| numbers[at])
        });
        [literal, prefix, suffix, other].into_iter().flatten().min()
    }
}
