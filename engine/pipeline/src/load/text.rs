//! The tree of a program text, whatever it is written in. One reading serves everything that looks at
//! the same text.

use super::Language;
use temblor_lang::diagnostic::Diagnostic;
use temblor_lang::span::{SourceId, Sources};
use temblor_lang::syntax::tree::{Deploy, Program, Query, Script};
use temblor_lang::syntax::{self, Parsed};

/// Only modules have definitions beside functions: a text without this word is none.
const WORD_OF_MODULES: &str = "define";

/// A text that was read, perhaps with errors.
#[derive(Debug)]
pub enum Text {
    /// `.tremor`
    Script(Parsed<Script>),
    /// `.tremor` with nothing but definitions: it cannot be run, but used
    Module(Parsed<Script>),
    /// `.trickle`
    Query(Parsed<Query>),
    /// `.troy`
    Deploy(Parsed<Deploy>),
    /// `.tmb`
    Program(Parsed<Program>),
}

impl Text {
    /// Reads a text that is to be run.
    #[must_use]
    pub fn of_program(sources: &Sources, source: SourceId, language: Language) -> Self {
        match language {
            Language::Script => Self::Script(syntax::parse_script(sources, source)),
            Language::Query => Self::Query(syntax::parse_query(sources, source)),
            Language::Deploy => Self::Deploy(syntax::parse_deploy(sources, source)),
            Language::Temblor => Self::Program(syntax::parse_program(sources, source)),
        }
    }

    /// Reads a text that is only looked at: a script file may be a module.
    #[must_use]
    pub fn of_file(sources: &Sources, source: SourceId, language: Language) -> Self {
        match Self::of_program(sources, source, language) {
            Self::Script(script) if script.has_errors() => {
                let text = sources.get(source).map_or("", |source| source.text.as_str());
                let module = text
                    .contains(WORD_OF_MODULES)
                    .then(|| syntax::parse_module(sources, source))
                    .filter(|module| reads_more(module, &script));
                module.map_or(Self::Script(script), Self::Module)
            }
            text => text,
        }
    }

    /// Whether it could not be read completely.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        match self {
            Self::Script(parsed) | Self::Module(parsed) => parsed.has_errors(),
            Self::Query(parsed) => parsed.has_errors(),
            Self::Deploy(parsed) => parsed.has_errors(),
            Self::Program(parsed) => parsed.has_errors(),
        }
    }

    /// What is wrong with it as a text.
    #[must_use]
    pub fn diagnostics(&self) -> &[Diagnostic] {
        match self {
            Self::Script(parsed) | Self::Module(parsed) => &parsed.diagnostics,
            Self::Query(parsed) => &parsed.diagnostics,
            Self::Deploy(parsed) => &parsed.diagnostics,
            Self::Program(parsed) => &parsed.diagnostics,
        }
    }
}

/// Whether a text is understood better as a module than as a script.
fn reads_more(module: &Parsed<Script>, script: &Parsed<Script>) -> bool {
    !module.has_errors() || script.tree.items.len() < module.tree.items.len()
}
