//! Trees from what the grammar has read. Every builder takes a pair of the one rule in its name and
//! reports what the grammar cannot say (a number too large, a bad escape) without stopping.

mod chain;
mod expr;
mod flow;
mod module;
mod number;
mod operators;
mod pattern;
mod query;
mod statement;
mod string;

use super::grammar::{Pair, Rule, is_token};
use super::tree::{Ident, ModPath};
use crate::diagnostic::Diagnostic;
use crate::span::{SourceId, Span};

/// The depth that operators in a row, and those in the expressions around them, give to a tree; long
/// rows of `or` and `and` give next to none. It bounds the recursion of everything that walks trees.
pub(crate) const OPERATORS_MAX: usize = 512;

/// Builds the trees of one source and collects what is wrong with them.
pub(super) struct Builder {
    source: SourceId,
    /// Depth of the operators in a row, summed over the expressions around the current one.
    depth: usize,
    /// What was found so far, in order of finding.
    pub(super) diagnostics: Vec<Diagnostic>,
}

impl Builder {
    /// A builder for pairs of this source.
    pub(super) fn new(source: SourceId) -> Self {
        Self { source, depth: 0, diagnostics: Vec::new() }
    }

    fn span(&self, pair: &Pair) -> Span {
        let span = pair.as_span();
        let trimmed = span.as_str().trim_end();
        Span::new(self.source, span.start(), span.start() + trimmed.len())
    }

    /// The span of the characters `from..to`, counted from the start of the pair.
    fn part(&self, pair: &Pair, from: usize, to: usize) -> Span {
        let start = pair.as_span().start();
        Span::new(self.source, start + from, start + to)
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    fn ident(&self, pair: &Pair) -> Ident {
        Ident { text: pair.as_str().trim_matches('`').to_string(), span: self.span(pair) }
    }

    fn idents(&self, pair: Pair) -> Vec<Ident> {
        only(pair, Rule::ident).map(|ident| self.ident(&ident)).collect()
    }

    fn mod_path(&self, pair: Pair) -> ModPath {
        ModPath { span: self.span(&pair), segments: self.idents(pair) }
    }
}

/// What a pair is made of, without punctuation and structural words.
fn parts(pair: Pair<'_>) -> impl Iterator<Item = Pair<'_>> {
    pair.into_inner().filter(|inner| !is_token(inner.as_rule()))
}

/// The direct parts of a pair that a rule has read.
fn only(pair: Pair<'_>, rule: Rule) -> impl Iterator<Item = Pair<'_>> {
    pair.into_inner().filter(move |inner| inner.as_rule() == rule)
}

/// The one part of a pair whose rule always has one.
fn sole(pair: Pair<'_>) -> Pair<'_> {
    parts(pair).next().expect("the grammar gives this rule a part")
}

/// The next part, where the grammar promises one.
fn take<'t>(parts: &mut impl Iterator<Item = Pair<'t>>) -> Pair<'t> {
    parts.next().expect("the grammar gives this rule one more part")
}
