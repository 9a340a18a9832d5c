//! What is known about one text: its names, what is wrong with it, and where its lines are. It is
//! made anew when the text changes, and never changes itself.

use super::DOCUMENT_BYTES_MAX;
use super::place::Lines;
use crate::load::{Given, Language, check};
use crate::logstash;
use std::path::Path;
use std::sync::Arc;
use temblor_lang::budget::Budget;
use temblor_lang::diagnostic::Diagnostic;
use temblor_lang::index::Index;
use temblor_lang::lower::Loader;
use temblor_lang::span::{Sources, Span};
use temblor_lang::syntax;

/// Steps that the folding of constants may take: a text that is being written must not hold up the
/// editor.
const FOLDING_STEPS_MAX: u64 = 1_000_000;

/// What a text is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// One of our languages.
    Program(Language),
    /// A Logstash configuration.
    Logstash,
}

impl Dialect {
    /// The dialect of a file; `hint` is what the editor calls it.
    #[must_use]
    pub fn of(file: &Path, hint: &str) -> Self {
        if let Some(language) = Language::of(file) {
            return Dialect::Program(language);
        }
        let is_logstash = file.extension().is_some_and(|ending| ending == "conf");
        match hint {
            "logstash" => Dialect::Logstash,
            _ if is_logstash => Dialect::Logstash,
            "tremor" => Dialect::Program(Language::Script),
            "trickle" => Dialect::Program(Language::Query),
            "troy" => Dialect::Program(Language::Deploy),
            _ => Dialect::Program(Language::Temblor),
        }
    }
}

/// A text and what is known about it.
#[derive(Debug, Default)]
pub struct Analysis {
    /// The text.
    pub text: String,
    /// Its lines.
    pub lines: Lines,
    /// Its names.
    pub index: Index,
    /// Whether it could not be read completely: names may be missing.
    pub is_partial: bool,
}

impl Analysis {
    /// The names of a text.
    #[must_use]
    pub fn new(text: String, dialect: Dialect) -> Self {
        let lines = Lines::of(&text);
        if text.len() > DOCUMENT_BYTES_MAX {
            return Self { text, lines, index: Index::default(), is_partial: true };
        }
        let (index, is_partial) = match dialect {
            Dialect::Program(language) => names(&text, language),
            Dialect::Logstash => (Index::default(), false),
        };
        Self { text, lines, index, is_partial }
    }
}

fn names(text: &str, language: Language) -> (Index, bool) {
    let mut sources = Sources::default();
    let source = sources.add("", text);
    let whole = Span::new(source, 0, text.len() + 1);
    match language {
        Language::Script => {
            let mut parsed = syntax::parse_script(&sources, source);
            if parsed.has_errors() {
                let module = syntax::parse_module(&sources, source);
                if !module.has_errors() || parsed.tree.items.len() < module.tree.items.len() {
                    parsed = module;
                }
            }
            (Index::of_script(&parsed.tree, whole), parsed.has_errors())
        }
        Language::Query => {
            let parsed = syntax::parse_query(&sources, source);
            (Index::of_query(&parsed.tree, whole), parsed.has_errors())
        }
        Language::Deploy => {
            let parsed = syntax::parse_deploy(&sources, source);
            (Index::of_deploy(&parsed.tree, whole), parsed.has_errors())
        }
        Language::Temblor => {
            let parsed = syntax::parse_program(&sources, source);
            (Index::of_program(&parsed.tree, whole), parsed.has_errors())
        }
    }
}

/// Everything that `temblor check` says about a text, and the texts that it is about; number 0 is
/// the text itself. Nothing about a text that is too large.
#[must_use]
pub fn diagnose(
    name: &str,
    text: &str,
    dialect: Dialect,
    loader: &dyn Loader,
) -> (Vec<Diagnostic>, Sources) {
    if text.len() > DOCUMENT_BYTES_MAX {
        return (Vec::new(), Sources::default());
    }
    match dialect {
        Dialect::Program(language) => {
            let budget = Arc::new(Budget::default());
            budget.fill(FOLDING_STEPS_MAX);
            let loaded =
                check(name, text.to_string(), language, loader, (Some(budget), &Given::default()));
            (loaded.diagnostics, loaded.sources)
        }
        Dialect::Logstash => logstash::configuration::diagnose(name, text.to_string()),
    }
}
