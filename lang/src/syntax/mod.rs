//! From text to the syntax tree. A tree comes back also when there are errors, so that later stages
//! can report more; no type of the parser generator leaves this module.

pub mod tree;
mod grammar;
mod build;
mod failure;

use crate::diagnostic::{Diagnostic, Severity};
use crate::span::{SourceId, Sources};
use build::Builder;
use grammar::{Grammar, Pair, Rule};
use pest::Parser;
use tree::{Deploy, Program, Query, Script};

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

/// Parses the text of `-e`: the same as a Temblor file.
#[must_use]
pub fn parse_chain_text(sources: &Sources, source: SourceId) -> Parsed<Program> {
    parse_program(sources, source)
}

fn parse<T: Default>(
    sources: &Sources,
    source: SourceId,
    rule: Rule,
    build: impl FnOnce(&mut Builder, Pair) -> T,
) -> Parsed<T> {
    let text = sources.get(source).map_or("", |source| source.text.as_str());
    match Grammar::parse(rule, text) {
        Ok(mut pairs) => {
            let mut builder = Builder::new(source);
            let file = pairs.next().expect("a file rule makes one pair");
            let tree = build(&mut builder, file);
            Parsed { tree, diagnostics: builder.diagnostics }
        }
        Err(error) => {
            Parsed { tree: T::default(), diagnostics: vec![failure::diagnostic(&error, source)] }
        }
    }
}

#[cfg(test)]
mod tests;
