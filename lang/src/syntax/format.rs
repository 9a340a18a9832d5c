//! The formatter: the same tokens and comments in one style of blanks, line breaks and indentation.
//! It never drops, adds or changes a token or a comment, and a text that it would change the
//! meaning of comes back as it was.

mod indent;
mod spacing;
mod wrap;

use super::scan::{Kind, Scan, Token, scan};
use super::{parse_deploy, parse_program, parse_query, parse_script, print_deploy, print_program};
use super::{parse_module, print_query, print_script};
use crate::diagnostic::{Diagnostic, Severity};
use crate::span::{SourceId, Sources};
use indent::Indents;
pub use wrap::LINE_CHARS_MAX;
use wrap::TokenPosition;

/// Blanks for each level of nesting.
const INDENT: &str = "  ";

/// What a text is, for [`format`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextKind {
    /// `.tremor`: a script, or else a module.
    Script,
    /// `.trickle`
    Query,
    /// `.troy`
    Deploy,
    /// `.tmb`
    Program,
}

/// The text in the one style.
///
/// # Errors
/// The diagnostics of a text that cannot be parsed.
pub fn format(text: &str, kind: TextKind) -> Result<String, Vec<Diagnostic>> {
    let before = meaning(text, kind)?;
    let formatted = wrap::wrapped(&scan(text, SourceId::default()), LINE_CHARS_MAX);
    match meaning(&formatted, kind) {
        Ok(after) if after == before => Ok(formatted),
        // A bug of the formatter must not become one of the program.
        _ => Ok(text.to_string()),
    }
}

/// The tree as text, without places and layout.
fn meaning(text: &str, kind: TextKind) -> Result<String, Vec<Diagnostic>> {
    let mut sources = Sources::default();
    let source = sources.add("", text);
    let (printed, diagnostics) = match kind {
        TextKind::Script => {
            let mut parsed = parse_script(&sources, source);
            if parsed.has_errors() {
                let module = parse_module(&sources, source);
                if !module.has_errors() {
                    parsed = module;
                }
            }
            (print_script(&parsed.tree), parsed.diagnostics)
        }
        TextKind::Query => {
            let parsed = parse_query(&sources, source);
            (print_query(&parsed.tree), parsed.diagnostics)
        }
        TextKind::Deploy => {
            let parsed = parse_deploy(&sources, source);
            (print_deploy(&parsed.tree), parsed.diagnostics)
        }
        TextKind::Program => {
            let parsed = parse_program(&sources, source);
            (print_program(&parsed.tree), parsed.diagnostics)
        }
    };
    let is_good = diagnostics.iter().all(|one| one.severity != Severity::Error);
    if is_good { Ok(printed) } else { Err(diagnostics) }
}

/// What stands between two tokens.
#[derive(Debug, Default)]
struct Gap<'t> {
    /// Comments on lines of their own, each with whether an empty line stands before it; and first
    /// the one behind the token, if there is any.
    trailing: Option<&'t str>,
    comments: Vec<(bool, &'t str)>,
    /// Whether the next token stands on a new line.
    breaks: bool,
    /// Whether an empty line stands in front of the next token.
    blank: bool,
    /// Whether there is anything at all.
    any: bool,
}

impl<'t> Gap<'t> {
    fn read(text: &'t str) -> Self {
        let mut gap = Gap { any: !text.is_empty(), ..Gap::default() };
        let mut newlines = 0;
        for (at, line) in text.split('\n').enumerate() {
            newlines += usize::from(at > 0);
            let line = line.trim().trim_start_matches('\u{feff}');
            if line.is_empty() {
                continue;
            }
            if at == 0 {
                gap.trailing = Some(line);
            } else {
                gap.comments.push((newlines > 1, line));
            }
            newlines = 0;
        }
        gap.breaks = newlines > 0;
        gap.blank = newlines > 1;
        gap
    }
}

/// Writes the tokens of one text.
struct Formatter<'s, 't> {
    scan: &'s Scan<'t>,
    indents: Indents<'s, 't>,
    /// For each token, whether it starts a line although the text does not ask for it.
    wraps: &'s [bool],
    out: String,
    places: Vec<TokenPosition>,
    /// Lines so far, and where the current one begins.
    line: (usize, usize),
}

/// A text that was written.
struct Written {
    text: String,
    /// Where its tokens are, in order.
    places: Vec<TokenPosition>,
}

impl<'s, 't> Formatter<'s, 't> {
    fn new(scan: &'s Scan<'t>, wraps: &'s [bool]) -> Self {
        Self {
            scan,
            indents: Indents::new(scan, wraps),
            wraps,
            out: String::with_capacity(scan.source().len()),
            places: Vec::with_capacity(scan.tokens.len()),
            line: (0, 0),
        }
    }

    fn run(mut self) -> Written {
        let tokens = &self.scan.tokens;
        let mut end = 0;
        for (index, token) in tokens.iter().enumerate() {
            let gap = Gap::read(&self.scan.source()[end..token.start]);
            self.separate(index, &gap);
            let text = self.scan.text(token);
            let line_only = token.kind == Kind::Doc;
            self.out.push_str(if line_only { text.trim_end() } else { text });
            self.note(index, text);
            end = token.end;
        }
        let rest = Gap::read(&self.scan.source()[end..]);
        self.comments(&rest, 0, tokens.is_empty());
        let kept = self.out.trim_end().len();
        self.out.truncate(kept);
        if !self.out.is_empty() {
            self.out.push('\n');
        }
        Written { text: self.out, places: self.places }
    }

    /// Notes where a token was written; of one with several lines the first counts.
    fn note(&mut self, token: usize, text: &str) {
        let start = self.out.len() - text.len().min(self.out.len());
        let fresh = &self.out[self.line.1..start];
        if let Some(at) = fresh.rfind('\n') {
            self.line = (self.line.0 + fresh.matches('\n').count(), self.line.1 + at + 1);
        }
        let first = text.lines().next().unwrap_or("");
        let column = self.out[self.line.1..start].chars().count();
        let end = column + first.chars().count();
        // A doc comment is a line of its own and cannot be broken.
        let end = if self.scan.tokens[token].kind == Kind::Doc { 0 } else { end };
        self.places.push(TokenPosition { token, line: self.line.0, start: column, end });
    }

    /// Writes what stands in front of a token.
    fn separate(&mut self, index: usize, gap: &Gap<'_>) {
        let is_first = index == 0;
        let breaks = !is_first && self.breaks(index, gap);
        let has_comments = gap.trailing.is_some() || !gap.comments.is_empty();
        if !breaks && !has_comments {
            if !is_first && spacing::is_spaced(self.scan, index, gap.any) {
                self.out.push(' ');
            }
            self.indents.go_on(index);
            return;
        }
        let (level, inner) = self.indents.start_line(index);
        self.comments(gap, inner, is_first);
        if is_first && !has_comments {
            return;
        }
        let opens = index > 0 && self.indents.is_opener(index - 1);
        if gap.blank && !self.indents.is_closer(index) && !(opens && gap.comments.is_empty()) {
            self.empty_line();
        }
        self.line(level);
    }

    /// Whether a token stands on a new line.
    fn breaks(&self, index: usize, gap: &Gap<'_>) -> bool {
        let tokens = &self.scan.tokens;
        let text = self.scan.text(&tokens[index]);
        let is_doc = |token: &Token| token.kind == Kind::Doc;
        if is_doc(&tokens[index]) || is_doc(&tokens[index - 1]) {
            return true;
        }
        if matches!(text, ";" | ",") && tokens[index].kind == Kind::Sign {
            return false;
        }
        gap.breaks || self.wraps[index] || self.indents.must_break(index)
    }

    fn comments(&mut self, gap: &Gap<'_>, level: usize, is_first: bool) {
        if let Some(comment) = gap.trailing {
            if !is_first {
                self.out.push(' ');
            }
            self.out.push_str(comment);
        }
        for (at, (blank, comment)) in gap.comments.iter().enumerate() {
            let starts_file = is_first && at == 0 && gap.trailing.is_none();
            if *blank && !starts_file {
                self.empty_line();
            }
            if !starts_file {
                self.line(level);
            }
            self.out.push_str(comment);
        }
    }

    fn empty_line(&mut self) {
        if !self.out.is_empty() {
            self.out.push('\n');
        }
    }

    fn line(&mut self, level: usize) {
        self.out.push('\n');
        self.out.push_str(&INDENT.repeat(level));
    }
}

#[cfg(test)]
mod tests;
