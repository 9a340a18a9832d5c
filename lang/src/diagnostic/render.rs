//! Diagnostics as text: the line, a caret under the place, the reason and what to try. The caret
//! stands under its place on a terminal, whatever the width of what is in front of it.

use super::{Class, Diagnostic, Severity};
use crate::span::{Sources, Span};
use std::collections::HashMap;
use std::fmt::Write;
use unicode_width::UnicodeWidthChar;

/// Whether the text carries ANSI colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// For terminals.
    On,
    /// For files and pipes.
    Off,
}

/// Lines longer than this, in bytes, are cut around the place that matters.
const EXCERPT_BYTES_MAX: usize = 160;
/// What is left of a cut line in front of the place and behind its beginning, in characters.
const BEFORE_CHARS: usize = 60;
const BEHIND_CHARS: usize = 100;
/// Tabs go on to the next multiple of so many columns.
const TAB_COLUMNS: usize = 4;

impl Colour {
    fn paint(self, code: &str, text: &str) -> String {
        match self {
            Colour::On => format!("\x1b[{code}m{text}\x1b[0m"),
            Colour::Off => text.to_string(),
        }
    }
}

/// Diagnostics of one code and message that are shown; the others are counted.
pub(crate) const ALIKE_SHOWN_MAX: usize = 5;
/// Diagnostics that are shown at all; the others are counted.
pub(super) const SHOWN_MAX: usize = 200;

/// All diagnostics, one after the other, with an empty line between; of many alike the first few, and
/// how many more there are.
#[must_use]
pub fn render_all(diagnostics: &[Diagnostic], sources: &Sources, colour: Colour) -> String {
    let mut alike: HashMap<(&str, &str), usize> = HashMap::new();
    let mut texts = Vec::new();
    for one in diagnostics {
        let count = alike.entry((one.code, &one.message)).or_default();
        *count += 1;
        if *count <= ALIKE_SHOWN_MAX && texts.len() < SHOWN_MAX {
            texts.push(render(one, sources, colour));
        }
    }
    let hidden = diagnostics.len() - texts.len();
    if hidden > 0 {
        let word = if alike.len() == 1 { "more of this" } else { "more of these" };
        texts.push(format!("… and {hidden} {word}\n"));
    }
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
    let mut excerpt = Excerpt { text: &mut text, sources, colour };
    excerpt.place(diagnostic.span, &diagnostic.label, code);
    for label in &diagnostic.labels {
        excerpt.place(label.span, &label.text, "1;34");
    }
    if let Some(help) = &diagnostic.help {
        let _ = writeln!(text, "  {} {help}", colour.paint("1;36", "help:"));
    }
    text
}

struct Excerpt<'t> {
    text: &'t mut String,
    sources: &'t Sources,
    colour: Colour,
}

impl Excerpt<'_> {
    /// The first line of a place and, when it goes on, its last.
    fn place(&mut self, span: Span, label: &str, code: &str) {
        let Some(source) = self.sources.get(span.source) else { return };
        let position = self.sources.position(span);
        let last = self.sources.last_line(span);
        let margin = " ".repeat(last.to_string().len());
        let at = format!("{}:{}:{}", source.name, position.line, position.column);
        let _ = writeln!(self.text, "{margin}--> {at}");
        if last == position.line {
            return self.line(span, last, &margin, label, code);
        }
        self.line(span, position.line, &margin, "", code);
        if last > position.line + 1 {
            let _ = writeln!(self.text, "{margin} {}", self.colour.paint("1;34", "..."));
        }
        self.line(span, last, &margin, label, code);
    }

    /// One line, and carets under that part of it which is in the span.
    fn line(&mut self, span: Span, number: usize, margin: &str, label: &str, code: &str) {
        let (start, line) = self.sources.line(span.source, number);
        let inside = |at: u32| (at as usize).saturating_sub(start).min(line.len());
        let mut from = inside(span.start);
        if (span.start as usize) < start {
            from = line.len() - line.trim_start().len();
        }
        let shown = Shown::new(line, from, inside(span.end));
        let bar = self.colour.paint("1;34", "|");
        let number = format!("{number:>width$}", width = margin.len());
        let _ = writeln!(self.text, "{}", format!("{number} {bar} {}", shown.text).trim_end());
        let carets = format!("{} {label}", "^".repeat(shown.width));
        let marked = self.colour.paint(code, carets.trim_end());
        let _ = writeln!(self.text, "{margin} {bar} {}{marked}", " ".repeat(shown.column));
    }
}

/// A line as a terminal shows it, cut if it is long.
struct Shown {
    text: String,
    /// Columns in front of the place.
    column: usize,
    /// Columns of the place, at least one.
    width: usize,
}

impl Shown {
    /// Shows the bytes from `from` up to `to` of a line, with what is around them.
    fn new(line: &str, from: usize, to: usize) -> Self {
        let from = line.floor_char_boundary(from);
        let (first, end) = window(line, from);
        let mut text = String::from(if first > 0 { "…" } else { "" });
        let mut columns = text.chars().count();
        let (mut column, mut until) = (None, None);
        for (at, character) in line[first..end].char_indices() {
            let at = first + at;
            if at >= from {
                column.get_or_insert(columns);
            }
            if at >= to {
                until.get_or_insert(columns);
            }
            columns += push(&mut text, character, columns);
        }
        let column = column.unwrap_or(columns);
        let width = until.unwrap_or(columns).saturating_sub(column).max(1);
        if end < line.len() {
            text.push('…');
        }
        Self { text, column, width }
    }
}

/// The part of a line that is shown, in bytes.
fn window(line: &str, from: usize) -> (usize, usize) {
    if line.len() <= EXCERPT_BYTES_MAX {
        return (0, line.len());
    }
    let before = line[..from].char_indices().rev().take(BEFORE_CHARS).last();
    let behind = line[from..].char_indices().nth(BEHIND_CHARS);
    (before.map_or(from, |(at, _)| at), behind.map_or(line.len(), |(at, _)| from + at))
}

/// Appends a character; gives the columns that it takes.
fn push(text: &mut String, character: char, columns: usize) -> usize {
    if character == '\t' {
        let width = TAB_COLUMNS - columns % TAB_COLUMNS;
        text.extend(std::iter::repeat_n(' ', width));
        return width;
    }
    match character.width() {
        Some(width) => {
            text.push(character);
            width
        }
        // A control character could move the cursor.
        None => {
            text.push('\u{FFFD}');
            1
        }
    }
}

#[cfg(test)]
mod tests;
