//! Names, strings, numbers and test literals as they are written in source text.

use super::super::tree::{Ident, ModPath, Test};
use super::super::words::RESERVED;

/// Words of Temblor that are names elsewhere; quoted, they are names everywhere.
const CONTEXTUAL: [&str; 4] = ["if", "then", "elif", "else"];

/// A name, in backticks when it needs them.
pub(super) fn ident(name: &Ident) -> String {
    let text = name.text.as_str();
    let plain = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if plain && !RESERVED.contains(&text) && !CONTEXTUAL.contains(&text) {
        return text.to_string();
    }
    format!("`{text}`")
}

/// The path of a module.
pub(super) fn mod_path(path: &ModPath) -> String {
    let segments: Vec<_> = path.segments.iter().map(ident).collect();
    segments.join("::")
}

/// Text between the quotes of a string.
pub(super) fn quoted(text: &str) -> String {
    let mut out = escaped(text);
    for (from, to) in [("\n", "\\n"), ("\t", "\\t")] {
        out = out.replace(from, to);
    }
    out
}

/// Text of a heredoc: like that of a string, but lines stay lines.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '#' if characters.peek() == Some(&'{') => out.push_str("\\#"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\r' => out.push_str("\\r"),
            other => out.push(other),
        }
    }
    out
}

/// A raw string, with as many hashes as it takes.
pub(super) fn raw(text: &str) -> String {
    let fits = |hashes: &usize| !text.contains(&format!("\"{}", "#".repeat(*hashes)));
    let hashes = "#".repeat((0..).find(fits).unwrap_or(0));
    format!("r{hashes}\"{text}\"{hashes}")
}

/// A float with its dot, which the language asks for.
pub(super) fn float(value: f64) -> String {
    if value.is_infinite() {
        return "1.0e999".to_string();
    }
    let text = format!("{value:?}");
    match text.split_once('e') {
        Some((digits, exponent)) if !digits.contains('.') => format!("{digits}.0e{exponent}"),
        _ => text,
    }
}

/// `re|…|`. Blanks at the start are kept by a continuation: alone they would be indentation.
pub(super) fn test(test: &Test) -> String {
    let name = ident(&test.name);
    let filled = test.pattern.trim_start();
    let pattern = filled.replace('\\', "\\\\").replace('|', "\\|");
    let blanks = &test.pattern[..test.pattern.len() - filled.len()];
    match (blanks.is_empty(), filled.is_empty()) {
        (true, _) => format!("{name}|{pattern}|"),
        (false, false) => format!("{name}|{blanks}\\\n{pattern}|"),
        (false, true) => format!("{name}|{blanks} \\\n |"),
    }
}
