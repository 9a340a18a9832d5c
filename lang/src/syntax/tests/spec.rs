//! The cases under `spec/syntax`, found by a walk; `TEMBLOR_BLESS=1` rewrites what they expect.

use super::{parse_deploy, parse_program, parse_query, parse_script};
use crate::diagnostic::Diagnostic;
use crate::span::Sources;
use crate::syntax::parse_module;
use std::fs;
use std::path::{Path, PathBuf};

/// The line in front of a case: `=== parse kind: name`.
const HEAD: &str = "=== parse ";
/// The line between the source and what is expected.
const EXPECTED: &str = "---";

fn diagnostics(kind: &str, text: &str) -> String {
    let mut sources = Sources::default();
    let source = sources.add("case", text);
    let found = match kind {
        "script" => parse_script(&sources, source).diagnostics,
        "module" => parse_module(&sources, source).diagnostics,
        "query" => parse_query(&sources, source).diagnostics,
        "deploy" => parse_deploy(&sources, source).diagnostics,
        "program" => parse_program(&sources, source).diagnostics,
        other => panic!("`{other}` is no kind of case"),
    };
    found.iter().map(|one| line(one, &sources)).collect()
}

fn line(one: &Diagnostic, sources: &Sources) -> String {
    let at = sources.position(one.span);
    let label = if one.label.is_empty() { String::new() } else { format!(" ({})", one.label) };
    let help = one.help.as_ref().map_or(String::new(), |help| format!("\n    help: {help}"));
    format!("{}:{} {} {}{label}{help}\n", at.line, at.column, one.code, one.message)
}

/// The file as it should be.
fn expected(text: &str) -> String {
    let mut out = String::new();
    let mut pieces = format!("\n{text}");
    pieces = pieces.replace(&format!("\n{HEAD}"), "\u{0}");
    let mut pieces = pieces.split('\u{0}');
    out.push_str(pieces.next().unwrap_or("").trim_start_matches('\n'));
    for case in pieces {
        let (head, rest) = case.split_once('\n').expect("a case has a source");
        let kind = head.split(':').next().unwrap_or("");
        let source = rest.split(&format!("\n{EXPECTED}\n")).next().unwrap_or(rest);
        if !out.is_empty() && !out.ends_with("\n\n") {
            out.push('\n');
        }
        let found = diagnostics(kind, source);
        out.push_str(&format!("{HEAD}{head}\n{source}\n{EXPECTED}\n{found}"));
    }
    out
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder of cases is in the repository");
    let mut files: Vec<_> = entries.filter_map(|entry| entry.ok().map(|one| one.path())).collect();
    files.sort();
    files
}

#[test]
fn cases_say_what_they_expect() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../spec/syntax");
    let files = files(&folder);
    assert!(!files.is_empty());
    for file in files {
        let text = fs::read_to_string(&file).expect("a case is text");
        let expected = expected(&text);
        if std::env::var_os("TEMBLOR_BLESS").is_some() {
            fs::write(&file, &expected).expect("the case can be written");
        } else {
            assert_eq!(text, expected, "{}: run with TEMBLOR_BLESS=1 to accept", file.display());
        }
    }
}
