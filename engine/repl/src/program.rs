//! The program that is tried out: its text, its language, and where it comes from.
//!
//! Invariant: nothing is compiled here; a configuration of Logstash that names further files is read when it is compiled.

use std::path::{Path, PathBuf};
use temblor_logstash::configuration::Wishes;
use temblor_logstash::load::{self, Pipelines};
use temblor_pipeline::load::Language;

/// What a program is written in.
#[derive(Clone, Debug)]
pub(crate) enum Notation {
    /// A language of Temblor or tremor.
    Of(Language),
    /// A configuration of Logstash, which is read from its file or folder.
    Logstash(Wishes),
}

/// The text of a program and what it is written in.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    /// What it is called in messages.
    pub name: String,
    /// Definitions that stand in front of it; empty, or a line.
    pub prelude: String,
    /// As it was entered or stands in the file.
    pub text: String,
    pub notation: Notation,
    /// The file that it comes from; modules are searched beside it.
    pub file: Option<PathBuf>,
}

/// Whether a file or folder is a configuration, by its name.
pub(crate) fn is_configuration(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    matches!(ending, Some("conf" | "yml" | "yaml")) || path.is_dir()
}

/// The configuration at a path as a program.
pub(crate) fn configuration_at(path: &Path, wishes: &Wishes) -> Result<Program, String> {
    let name = path.display().to_string();
    let is_yaml = matches!(path.extension().and_then(|one| one.to_str()), Some("yml" | "yaml"));
    // What names further files is read when it is compiled.
    let text = if path.is_dir() || is_yaml { Ok(String::new()) } else { load::read(path) };
    let text = text.map_err(|error| format!("error: {error}"))?;
    // Samples come in, and answers go out, whatever the configuration says.
    let wishes = Wishes { stdin: true, stdout: true, ..wishes.clone() };
    let (notation, file) = (Notation::Logstash(wishes), Some(path.to_path_buf()));
    Ok(Program { name, prelude: String::new(), text, notation, file })
}

/// The pipelines of a program that is a configuration. The error is a sentence.
pub(crate) fn read_configuration(program: &Program, wishes: &Wishes) -> Result<Pipelines, String> {
    match &program.file {
        Some(path) if program.text.is_empty() => load::pipelines(path, &wishes.settings),
        _ => Ok(load::of_text(&program.name, program.text.clone(), &wishes.settings)),
    }
}
