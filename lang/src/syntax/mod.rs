//! From text to the syntax tree. A tree comes back also when there are errors, so that later stages
//! can report more; no type of the parser generator leaves this module.

pub mod tree;
mod grammar;
mod build;
mod words;
mod scan;
mod failure;
mod recover;
mod print;
mod format;
mod classes;
mod keywords;

use crate::diagnostic::{Diagnostic, Severity};
use crate::span::{SourceId, Sources};
use build::Builder;
pub use classes::{TokenClass, classes, forms, is_open};
pub use format::{LINE_CHARS_MAX, TextKind, format};
use grammar::{Grammar, Pair, Rule};
pub use keywords::KEYWORDS;
use pest::Parser;
use pest::iterators::Pairs;
pub use print::{print_deploy, print_expr, print_program, print_query, print_script};
pub(crate) use scan::NESTING_MAX;
use tree::{Deploy, Program, Query, Script};
pub use words::{CLAUSE_WORDS, RESERVED};

/// A tree together with everything that is wrong with its text.
#[derive(Clone, Debug)]
pub struct Parsed<T> {
    /// What could be read; the rest is missing or an error node.
    pub tree: T,
    /// In order of their places.
    pub diagnostics: Vec<Diagnostic>,
}

impl<T> Parsed<T> {
    /// Whether the tree may not be used to run anything.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|one| one.severity == Severity::Error)
    }
}

/// Parses a script (`.tremor`).
#[must_use]
pub fn parse_script(sources: &Sources, source: SourceId) -> Parsed<Script> {
    parse(sources, source, Rule::script_file, Builder::script_file)
}

/// Parses a module file: `use`, `const`, `fn`, `intrinsic` and `define` only.
#[must_use]
pub fn parse_module(sources: &Sources, source: SourceId) -> Parsed<Script> {
    parse(sources, source, Rule::module_file, Builder::script_file)
}

/// Parses a query (`.trickle`), which may hold chains.
#[must_use]
pub fn parse_query(sources: &Sources, source: SourceId) -> Parsed<Query> {
    parse(sources, source, Rule::query_file, Builder::query)
}

/// Parses a deploy file (`.troy`).
#[must_use]
pub fn parse_deploy(sources: &Sources, source: SourceId) -> Parsed<Deploy> {
    parse(sources, source, Rule::deploy_file, Builder::deploy)
}

/// Parses a Temblor file (`.tmb`).
#[must_use]
pub fn parse_program(sources: &Sources, source: SourceId) -> Parsed<Program> {
    parse(sources, source, Rule::program_file, Builder::program)
}

fn parse<T: Default>(
    sources: &Sources,
    source: SourceId,
    rule: Rule,
    build: impl FnOnce(&mut Builder, Pair) -> T,
) -> Parsed<T> {
    let text = sources.get(source).map_or("", |source| source.text.as_str());
    let mut scan = scan::scan(text, source);
    let mut diagnostics = std::mem::take(&mut scan.lexical);
    if let Some(at) = scan.too_deep {
        diagnostics.push(failure::too_deep(at, source, &scan.tokens));
        return Parsed { tree: T::default(), diagnostics };
    }
    let (mut builder, mut tree) = (Builder::new(source), T::default());
    let accept = |mut pairs: Pairs<'_, Rule>| {
        tree = pairs.next().map_or_else(T::default, |file| build(&mut builder, file));
    };
    match Grammar::parse(rule, text) {
        Ok(pairs) => {
            // The grammar knows better, but it takes the mark of the recovery for an expression.
            diagnostics.retain(|one| text[one.span.range()].starts_with(recover::MARK));
            accept(pairs);
        }
        Err(error) => {
            recover::recover(&scan, (source, rule), error, &mut diagnostics, accept);
        }
    }
    diagnostics.append(&mut builder.diagnostics);
    diagnostics.sort_by_key(|one| (one.span.start, one.span.end));
    Parsed { tree, diagnostics }
}

#[cfg(test)]
mod tests;
