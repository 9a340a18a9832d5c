//! Diagnostics as text: the line, a caret under the place, the reason and what to try.

use super::{Class, Diagnostic, Severity};
use crate::span::{Sources, Span};
use std::fmt::Write;

/// Whether the text carries ANSI colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// For terminals.
    On,
    /// For files and pipes.
    Off,
}

/// Lines longer than this are cut around the place that matters.
const EXCERPT_CHARS_MAX: usize = 160;

impl Colour {
    fn paint(self, code: &str, text: &str) -> String {
        match self {
            Colour::On => format!("\x1b[{code}m{text}\x1b[0m"),
            Colour::Off => text.to_string(),
        }
    }
}

/// All diagnostics, one after the other, with an empty line between.
#[must_use]
pub fn render_all(diagnostics: &[Diagnostic], sources: &Sources, colour: Colour) -> String {
    let texts: Vec<_> = diagnostics.iter().map(|one| render(one, sources, colour)).collect();
    texts.join("\n")
}

/// One diagnostic; ends in a newline.
#[must_use]
pub fn render(diagnostic: &Diagnostic, sources: &Sources, colour: Colour) -> String {
    let mut text = String::new();
    let (word, code) = match diagnostic.severity {
        Severity::Error => ("error", "1;31"),
        Severity::Warning => ("warning", "1;33"),
    };
    let head = format!("{word}[{}]", diagnostic.code);
    let class = match (diagnostic.severity, diagnostic.class) {
        (Severity::Error, _) | (_, Class::General) => "",
        (_, Class::Performance) => " (performance)",
        (_, Class::Consistency) => " (consistency)",
        (_, Class::Behaviour) => " (behaviour)",
    };
    // Writing into a String does not fail.
    let _ = writeln!(text, "{}{class}: {}", colour.paint(code, &head), diagnostic.message);
    excerpt(&mut text, sources, diagnostic.span, &diagnostic.label, colour, code);
    for label in &diagnostic.labels {
        excerpt(&mut text, sources, label.span, &label.text, colour, "1;34");
    }
    if let Some(help) = &diagnostic.help {
        let _ = writeln!(text, "  {} {help}", colour.paint("1;36", "help:"));
    }
    text
}

fn excerpt(
    text: &mut String,
    sources: &Sources,
    span: Span,
    label: &str,
    colour: Colour,
    code: &str,
) {
    let Some(source) = sources.get(span.source) else { return };
    let position = sources.position(span);
    let line = source.text.lines().nth(position.line - 1).unwrap_or("");
    let width = sources.text(span).lines().next().unwrap_or("").chars().count().max(1);
    let (shown, column) = cut(line, position.column);
    let margin = " ".repeat(position.line.to_string().len());
    let bar = colour.paint("1;34", "|");
    let caret = "^".repeat(width.min(EXCERPT_CHARS_MAX));
    let _ = writeln!(text, "{margin}--> {}:{}:{}", source.name, position.line, position.column);
    let _ = writeln!(text, "{} {bar} {shown}", position.line);
    let pad = " ".repeat(column - 1);
    let marked = colour.paint(code, format!("{caret} {label}").trim_end());
    let _ = writeln!(text, "{margin} {bar} {pad}{marked}");
}

/// The part of a line around `column` and the column inside that part; tabs become blanks so
/// that the caret stands right.
fn cut(line: &str, column: usize) -> (String, usize) {
    let characters: Vec<char> = line.chars().map(|c| if c == '\t' { ' ' } else { c }).collect();
    if characters.len() <= EXCERPT_CHARS_MAX {
        return (characters.into_iter().collect(), column);
    }
    let start = column.saturating_sub(EXCERPT_CHARS_MAX / 2);
    let shown = characters.iter().skip(start).take(EXCERPT_CHARS_MAX).collect();
    (shown, column - start)
}
