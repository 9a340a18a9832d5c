//! `temblor fmt`: rewrites program files in the one style, or says which are not in it.

use super::check::FAULTY;
use clap::Args;
use std::io::Read;
use std::path::{Path, PathBuf};
use temblor_casebook::walk::{PROGRAM_ENDINGS, files_with};
use temblor_lang::diagnostic::{Diagnostic, Severity, render_all};
use temblor_lang::span::Sources;
use temblor_lang::syntax::{TextKind, format};
use temblor_pipeline::load::{Language, colour, read_program};

/// What can be typed behind `temblor fmt`.
#[derive(Debug, Args)]
pub(crate) struct FmtArgs {
    /// Program files, and folders with such; - reads standard input and writes standard output
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// What standard input is, by the ending of this name [default: a Temblor file]
    #[arg(long, value_name = "FILE")]
    stdin_name: Option<PathBuf>,
    /// Change nothing; name the files that are not in style, with exit code 1
    #[arg(long)]
    check: bool,
}

/// Formats all files; gives the exit code.
pub(crate) fn fmt(args: &FmtArgs) -> u8 {
    let mut faulty = false;
    for file in args.files.iter().flat_map(|file| below(file)) {
        let result = match file == Path::new("-") {
            true => pipe(args.stdin_name.as_deref()),
            false => one(&file, args.check),
        };
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

/// The programs below a folder; anything else stands for itself.
fn below(file: &Path) -> Vec<PathBuf> {
    match file.is_dir() {
        true => files_with(file, &PROGRAM_ENDINGS).unwrap_or_else(|_| vec![file.to_path_buf()]),
        false => vec![file.to_path_buf()],
    }
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

fn pipe(name: Option<&Path>) -> Result<bool, String> {
    let language = match name {
        None => Language::Temblor,
        Some(name) => Language::of(name).ok_or_else(|| {
            format!("error: {}: expected .tmb, .tremor, .trickle or .troy", name.display())
        })?,
    };
    let mut text = String::new();
    let read = std::io::stdin().read_to_string(&mut text);
    read.map_err(|error| format!("error: standard input: {error}"))?;
    let formatted =
        format(&text, kind(language)).map_err(|found| told(&"<stdin>", &text, &found))?;
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
