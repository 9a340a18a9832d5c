//! What the parser of the command line refuses, with a word on what may have been meant where the
//! parser itself has none. Its own suggestions and exit codes stay.

use super::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Error};
use std::path::Path;
use temblor_lang::diagnostic::nearest;
use temblor_pipeline::load::Language;

/// The error with a suggestion: the command that a misspelt one is nearest to, or `run` where a
/// program file stands in the place of a command.
pub(crate) fn explained(mut error: Error) -> Error {
    let is_command = error.kind() == ErrorKind::InvalidSubcommand;
    if !is_command || error.get(ContextKind::SuggestedSubcommand).is_some() {
        return error;
    }
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else {
        return error;
    };
    if let Some(meant) = meant(word) {
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(vec![meant]));
    }
    error
}

fn meant(word: &str) -> Option<String> {
    if Language::of(Path::new(word)).is_some() {
        return Some(format!("run {word}"));
    }
    let command = Command::command();
    let known = command.get_subcommands().map(clap::Command::get_name);
    nearest(word, known).map(str::to_string)
}
