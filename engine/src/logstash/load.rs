//! From files to a program: a file, or all files of a folder in alphabetical order, read as one
//! configuration. What is wrong in one file does not hide what is wrong in the next.

use super::program::{Program, ProgramBuilder};
use super::settings::Settings;
use super::syntax::tree::{Config, Section, SectionKind};
use super::syntax::{Parsed, parse};
use std::path::{Path, PathBuf};
use temblor_lang::diagnostic::{Diagnostic, Severity};
use temblor_lang::span::Sources;

/// Files larger than this are refused.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// A configuration that was read.
#[derive(Debug, Default)]
pub struct Loaded {
    /// All texts.
    pub sources: Sources,
    /// One tree for each file, in their order.
    pub files: Vec<Config>,
    /// All that is wrong, so far.
    pub diagnostics: Vec<Diagnostic>,
}

impl Loaded {
    /// Reads one text.
    pub fn add(&mut self, name: &str, text: String) {
        let source = self.sources.add(name, text);
        let text = self.sources.get(source).map_or("", |source| source.text.as_str());
        let Parsed { config, diagnostics } = parse(text, source);
        self.files.push(config);
        self.diagnostics.extend(diagnostics);
    }

    /// Reads a file, or a folder. The error is a sentence about the file.
    pub fn read(path: &Path) -> Result<Self, String> {
        let mut loaded = Self::default();
        for file in files(path)? {
            let name = file.display().to_string();
            loaded.add(&name, read(&file)?);
        }
        Ok(loaded)
    }

    /// The sections of one kind, in the order of the text.
    pub fn sections(&self, kind: SectionKind) -> impl Iterator<Item = &Section> {
        let sections = self.files.iter().flat_map(|file| &file.sections);
        sections.filter(move |section| section.kind == kind)
    }

    /// The program of all filter sections. Adds to the diagnostics.
    pub fn program(&mut self, settings: &Settings) -> Program {
        let mut diagnostics = std::mem::take(&mut self.diagnostics);
        let mut builder = ProgramBuilder::new(settings, &mut diagnostics);
        self.sections(SectionKind::Filter).for_each(|section| builder.section(&section.body));
        let program = builder.finish();
        self.diagnostics = diagnostics;
        program
    }

    /// Whether it cannot be run.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|one| one.severity == Severity::Error)
    }
}

/// The files of a path, in alphabetical order.
fn files(path: &Path) -> Result<Vec<PathBuf>, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    if !std::fs::metadata(path).map_err(failed)?.is_dir() {
        return Ok(vec![path.to_path_buf()]);
    }
    let mut files = Vec::new();
    for entry in std::fs::read_dir(path).map_err(failed)? {
        let file = entry.map_err(failed)?.path();
        let hidden = file.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if file.is_file() && !hidden && !file.to_string_lossy().ends_with('~') {
            files.push(file);
        }
    }
    files.sort();
    if files.is_empty() {
        return Err(format!("{}: there is no file in this folder", path.display()));
    }
    Ok(files)
}

fn read(file: &Path) -> Result<String, String> {
    let name = file.display();
    let size = std::fs::metadata(file).map_err(|error| format!("{name}: {error}"))?.len();
    if size > FILE_BYTES_MAX {
        return Err(format!("{name}: larger than {FILE_BYTES_MAX} bytes"));
    }
    let bytes = std::fs::read(file).map_err(|error| format!("{name}: {error}"))?;
    String::from_utf8(bytes).map_err(|error| {
        format!("{name}: not UTF-8: byte {} is invalid", error.utf8_error().valid_up_to())
    })
}
