//! Here-documents: `<<~END`, `<<-END`, `<<END`, with a quoted or bare name.

use super::quoted::Escapes;
use super::{Problem, Scanner, Token};

/// Ends the lines where a text is read; Ruby code does not hold it.
const LAST: char = '\u{1}';

/// What `<<~END` says.
struct Head<'t> {
    /// Whether blanks in front of all lines are taken off.
    squiggly: bool,
    /// Whether blanks may stand before the name that ends the text.
    indented: bool,
    /// Whether escapes and `#{…}` count.
    open: bool,
    name: &'t str,
    /// Bytes of the whole head.
    length: usize,
}

impl<'t> Scanner<'t> {
    /// Reads a text between lines; false when `<<` is an operator here.
    pub(super) fn heredoc(&mut self, start: usize, space: bool) -> Result<bool, Problem> {
        let Some(head) = head(self.rest()) else { return Ok(false) };
        self.at += head.length;
        let line_end = self.rest().find('\n').map_or(self.text.len(), |at| self.at + at + 1);
        let begin = self.lines_end.unwrap_or(line_end);
        let Some((lines, end)) = lines(&self.text[begin..], &head) else {
            return Err(self.problem("this text is never closed"));
        };
        self.lines_end = Some(begin + end);
        let mut body = if head.squiggly { dedented(lines) } else { lines.to_string() };
        body.push(LAST);
        let pieces = if head.open {
            let mut inner = Scanner::new(&body, self.base + begin);
            inner.pieces(LAST, None, Escapes::Read)?
        } else {
            body.pop();
            vec![super::Piece::Text(body)]
        };
        self.push(Token::Text(pieces), start, space);
        Ok(true)
    }
}

fn head(text: &str) -> Option<Head<'_>> {
    let rest = text.strip_prefix("<<")?;
    let mark = rest.chars().next().filter(|mark| matches!(mark, '~' | '-'));
    let rest = &rest[mark.map_or(0, char::len_utf8)..];
    let quote = rest.chars().next().filter(|quote| matches!(quote, '"' | '\''));
    let rest = &rest[quote.map_or(0, char::len_utf8)..];
    let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
    let name = &rest[..end];
    // A bare name without a mark may be a constant behind an operator.
    let named = name.starts_with(|c: char| c.is_ascii_uppercase() || (mark.is_some() && c != '_'));
    if !named || (mark.is_none() && quote.is_none() && name.len() < 3) {
        return None;
    }
    let closed = quote.map_or(Some(0), |quote| rest[end..].starts_with(quote).then_some(1))?;
    let length = text.len() - rest.len() + end + closed;
    let squiggly = mark == Some('~');
    Some(Head { squiggly, indented: mark.is_some(), open: quote != Some('\''), name, length })
}

/// The lines up to the name, and where the line of the name ends.
fn lines<'t>(text: &'t str, head: &Head<'_>) -> Option<(&'t str, usize)> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let plain = line.trim_end_matches(['\n', '\r']);
        let found = if head.indented { plain.trim_start() } else { plain };
        if found == head.name {
            return Some((&text[..at], at + line.len()));
        }
        at += line.len();
    }
    None
}

/// The lines without the blanks that all of them begin with.
fn dedented(lines: &str) -> String {
    let blanks = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let filled = lines.split_inclusive('\n').filter(|line| !line.trim().is_empty());
    let least = filled.map(blanks).min().unwrap_or(0);
    lines.split_inclusive('\n').map(|line| &line[least.min(blanks(line))..]).collect()
}
