//! The formatter over every program of the specification, the examples, the standard modules and the
//! scenarios: the same tree, the same comments, once as good as twice, and lines that are not too long.

mod generated;

use std::path::{Path, PathBuf};
use temblor_casebook::file::CaseFile;
use temblor_lang::diagnostic::Severity;
use temblor_lang::span::Sources;
use temblor_lang::syntax::{self, LINE_CHARS_MAX, TextKind, TokenClass, classes, format};
use temblor_pipeline::load::Language;

/// All files below a folder.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("it is in the repository").flatten() {
        let path = entry.path();
        if path.is_dir() { files(&path, found) } else { found.push(path) }
    }
}

fn kind(language: Language) -> TextKind {
    match language {
        Language::Script => TextKind::Script,
        Language::Query => TextKind::Query,
        Language::Deploy => TextKind::Deploy,
        Language::Temblor => TextKind::Program,
    }
}

/// Every program with what it is and where it was found.
fn programs() -> Vec<(String, TextKind, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut paths = Vec::new();
    for folder in ["spec", "examples", "stdlib/src/modules", "bench/scenarios"] {
        files(&root.join(folder), &mut paths);
    }
    paths.sort();
    let mut found = Vec::new();
    for path in paths {
        let name = path.display().to_string();
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        if let Some(language) = Language::of(&path) {
            found.push((name, kind(language), text));
        } else if path.extension().is_some_and(|ending| ending == "txt") {
            for case in CaseFile::read(&text).cases {
                let kind = match case.kind.trim_start_matches("parse ") {
                    "script" | "module" => TextKind::Script,
                    "query" => TextKind::Query,
                    "deploy" => TextKind::Deploy,
                    "program" | "chain" => TextKind::Program,
                    _ => continue,
                };
                found.push((format!("{name}:{}", case.line), kind, case.program));
            }
        }
    }
    found
}

/// The tree as text; `None` of a text with errors.
fn meaning(text: &str, kind: TextKind) -> Option<String> {
    let mut sources = Sources::default();
    let source = sources.add("", text);
    let (printed, diagnostics) = match kind {
        TextKind::Script => {
            let script = syntax::parse_script(&sources, source);
            let module = syntax::parse_module(&sources, source);
            let parsed = if script.has_errors() { module } else { script };
            (syntax::print_script(&parsed.tree), parsed.diagnostics)
        }
        TextKind::Query => {
            let parsed = syntax::parse_query(&sources, source);
            (syntax::print_query(&parsed.tree), parsed.diagnostics)
        }
        TextKind::Deploy => {
            let parsed = syntax::parse_deploy(&sources, source);
            (syntax::print_deploy(&parsed.tree), parsed.diagnostics)
        }
        TextKind::Program => {
            let parsed = syntax::parse_program(&sources, source);
            (syntax::print_program(&parsed.tree), parsed.diagnostics)
        }
    };
    diagnostics.iter().all(|one| one.severity != Severity::Error).then_some(printed)
}

/// All comments, without their layout.
fn comments(text: &str) -> Vec<String> {
    let pieces = classes(text).into_iter().filter(|piece| piece.2 == TokenClass::Comment);
    let lines = pieces.flat_map(|(start, end, _)| text[start..end].lines().collect::<Vec<_>>());
    lines.map(|line| line.trim().to_string()).filter(|line| !line.is_empty()).collect()
}

/// Whether a line is longer than it should be. What is nested so deep that its indentation takes half
/// of the line does not count.
fn is_too_long(line: &str) -> bool {
    let indentation = line.chars().take_while(|letter| *letter == ' ').count();
    indentation < LINE_CHARS_MAX / 2 && line.chars().count() > LINE_CHARS_MAX
}

#[test]
fn every_program_keeps_its_meaning() {
    let (mut formatted_count, mut long, mut lines) = (0, 0, 0);
    for (name, kind, text) in programs() {
        let Some(before) = meaning(&text, kind) else {
            assert!(format(&text, kind).is_err(), "{name}");
            continue;
        };
        let formatted = format(&text, kind).expect("the text is good");
        assert_eq!(meaning(&formatted, kind), Some(before), "{name}");
        assert_eq!(comments(&formatted), comments(&text), "{name}");
        let again = format(&formatted, kind).expect("the text is good");
        assert_eq!(again, formatted, "{name}");
        formatted_count += 1;
        lines += formatted.lines().count();
        long += formatted.lines().filter(|line| is_too_long(line)).count();
    }
    assert!(formatted_count > 350, "only {formatted_count} programs were found");
    // Comments, long strings and long names cannot be broken.
    assert!(long * 100 < lines, "{long} of {lines} lines are too long");
}
