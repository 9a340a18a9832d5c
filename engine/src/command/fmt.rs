//! `temblor fmt`: rewrites program files in the one style, or says which are not in it.

use super::check::FAULTY;
use crate::load::{Language, colour, read_program};
use clap::Args;
use std::io::Read;
use std::path::{Path, PathBuf};
use temblor_lang::diagnostic::{Diagnostic, Severity, render_all};
use temblor_lang::span::Sources;
use temblor_lang::syntax::{TextKind, format};

/// What can be typed behind `temblor fmt`.
#[derive(Debug, Args)]
pub struct FmtArgs {
    /// Program files; - reads a Temblor file from standard input and writes to standard output
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Change nothing; name the files that are not in style, with exit code 1
    #[arg(long)]
    check: bool,
}

/// Formats all files; gives the exit code.
pub fn fmt(args: &FmtArgs) -> u8 {
    let mut faulty = false;
    for file in &args.files {
        let result = if file == Path::new("-") { pipe() } else { one(file, args.check) };
        match result {
            Ok(in_style) => faulty |= args.check && !in_style,
            Err(reason) => {
                eprintln!("{reason}");
                faulty = true;
            }
        }
    }
    if faulty { FAULTY } else { 0 }
}

/// Formats a file; whether it was in style already.
fn one(file: &Path, check: bool) -> Result<bool, String> {
    let name = file.display();
    let (language, text) = read_program(file).map_err(|reason| format!("error: {reason}"))?;
    let formatted = format(&text, kind(language)).map_err(|found| told(&name, &text, &found))?;
    if formatted == text {
        return Ok(true);
    }
    if check {
        println!("{name}");
    } else {
        std::fs::write(file, formatted).map_err(|error| format!("error: {name}: {error}"))?;
    }
    Ok(false)
}

fn pipe() -> Result<bool, String> {
    let mut text = String::new();
    let read = std::io::stdin().read_to_string(&mut text);
    read.map_err(|error| format!("error: standard input: {error}"))?;
    let formatted =
        format(&text, TextKind::Program).map_err(|found| told(&"<stdin>", &text, &found))?;
    print!("{formatted}");
    Ok(formatted == text)
}

fn kind(language: Language) -> TextKind {
    match language {
        Language::Script => TextKind::Script,
        Language::Query => TextKind::Query,
        Language::Deploy => TextKind::Deploy,
        Language::Temblor => TextKind::Program,
    }
}

fn told(name: &impl std::fmt::Display, text: &str, found: &[Diagnostic]) -> String {
    let mut sources = Sources::default();
    sources.add(name.to_string(), text);
    let errors: Vec<_> =
        found.iter().filter(|one| one.severity == Severity::Error).cloned().collect();
    render_all(&errors, &sources, colour())
}
