//! What is known about one text: its names, what is wrong with it, and where its lines are. It is
//! made anew when the text changes, and never changes itself.

use super::DOCUMENT_BYTES_MAX;
use super::place::Lines;
use std::path::Path;
use std::sync::Arc;
use temblor_catalog::registry;
use temblor_lang::budget::Budget;
use temblor_lang::diagnostic::Diagnostic;
use temblor_lang::index::Index;
use temblor_lang::lower::Loader;
use temblor_lang::span::{Sources, Span};
use temblor_pipeline::load::{Language, LoadOptions, Text};

/// Steps that the folding of constants may take: a text that is being written must not hold up the
/// editor.
const FOLDING_STEPS_MAX: u64 = 1_000_000;

/// What a text is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// One of our languages.
    Program(Language),
    /// A Logstash configuration.
    Logstash,
}

impl Dialect {
    /// The dialect of a file; `hint` is what the editor calls it.
    #[must_use]
    pub(crate) fn of(file: &Path, hint: &str) -> Self {
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
pub(crate) struct Analysis {
    /// The text.
    pub text: String,
    /// Its lines.
    pub lines: Lines,
    /// Its names.
    pub index: Index,
    /// Whether it could not be read completely: names may be missing.
    pub is_partial: bool,
    /// Its tree, while the text is open: it is checked after it was shown.
    tree: Option<Text>,
}

impl Analysis {
    /// The names of a text.
    #[must_use]
    pub(crate) fn new(text: String, dialect: Dialect) -> Self {
        let lines = Lines::of(&text);
        if text.len() > DOCUMENT_BYTES_MAX {
            return Self { text, lines, is_partial: true, ..Self::default() };
        }
        let Dialect::Program(language) = dialect else {
            return Self { text, lines, ..Self::default() };
        };
        let mut sources = Sources::default();
        let source = sources.add("", text.as_str());
        let tree = Text::of_file(&sources, source, language);
        let index = names(&tree, Span::new(source, 0, text.len() + 1));
        Self { text, lines, index, is_partial: tree.has_errors(), tree: Some(tree) }
    }

    /// The same without what only a check needs.
    #[must_use]
    pub(crate) fn names_only(self) -> Self {
        Self { tree: None, ..self }
    }
}

fn names(tree: &Text, whole: Span) -> Index {
    match tree {
        Text::Script(parsed) | Text::Module(parsed) => Index::of_script(&parsed.tree, whole),
        Text::Query(parsed) => Index::of_query(&parsed.tree, whole),
        Text::Deploy(parsed) => Index::of_deploy(&parsed.tree, whole),
        Text::Program(parsed) => Index::of_program(&parsed.tree, whole),
    }
}

/// Everything that `temblor check` says about a text, and the texts that it is about; number 0 is
/// the text itself. Nothing about a text that is too large.
#[must_use]
pub(crate) fn diagnose(
    name: &str,
    analysis: &Analysis,
    dialect: Dialect,
    loader: &dyn Loader,
) -> (Vec<Diagnostic>, Sources) {
    let text = analysis.text.clone();
    match (dialect, &analysis.tree) {
        _ if text.len() > DOCUMENT_BYTES_MAX => (Vec::new(), Sources::default()),
        (Dialect::Logstash, _) => temblor_logstash::configuration::diagnose(name, text),
        (Dialect::Program(_), None) => (Vec::new(), Sources::default()),
        (Dialect::Program(language), Some(tree)) => {
            let budget = Arc::new(Budget::default());
            budget.fill(FOLDING_STEPS_MAX);
            let budget = Some(budget);
            let options = LoadOptions { budget, ..LoadOptions::new(registry()) };
            let loaded = options.check_read(name, text, (language, tree), loader);
            (loaded.diagnostics, loaded.sources)
        }
    }
}
