//! Going on after an error: what the grammar could not read is covered by a mark that it accepts
//! as an expression or a statement, and the text is read again. Covering keeps all places right.

use super::failure::{self, Failure};
use super::grammar::{Grammar, Rule};
use super::scan::{Kind, Scan, Token};
use crate::diagnostic::Diagnostic;
use crate::span::SourceId;
use pest::Parser;
use pest::error::Error;
use pest::iterators::Pairs;

/// After so many errors the rest is not worth reading.
const ERRORS_MAX: usize = 20;
/// The text is read again after each error; all readings together cost at most this many bytes,
/// but for the first few.
const BYTES_REREAD_MAX: usize = 2 << 20;
/// Readings that are always made.
const READINGS_MIN: usize = 4;
/// What covers a place. It is a control character, so the text itself cannot hold it unnoticed.
pub(super) const MARK: char = '\u{1A}';

/// Covers what cannot be read until the grammar accepts the text, and reports each place. What is
/// left of the text is given to `accept`; nothing is when nothing can be saved. `error` is that of the
/// text as it is.
pub(super) fn recover(
    scan: &Scan,
    (source, rule): (SourceId, Rule),
    mut error: Error<Rule>,
    diagnostics: &mut Vec<Diagnostic>,
    accept: impl FnOnce(Pairs<'_, Rule>),
) {
    let text = scan.source();
    let mut covered = text.to_string();
    let mut last: Option<(usize, usize)> = None;
    for reading in 0..ERRORS_MAX * 2 {
        if reading > 0 {
            match Grammar::parse(rule, &covered) {
                Ok(pairs) => return accept(pairs),
                Err(next) => error = next,
            }
        }
        let failure = Failure::new(&error);
        let inside = last.filter(|(start, end)| (*start..=*end).contains(&failure.at));
        let repeated = inside.is_some()
            || last.is_some_and(|(_, end)| nothing_between(&covered, end, failure.at));
        if !repeated && !is_known(diagnostics, scan, failure.at) {
            diagnostics.push(failure::diagnostic(&failure, text, source, scan));
        }
        let spent = reading * text.len() > BYTES_REREAD_MAX && reading >= READINGS_MIN;
        if spent || diagnostics.len() >= ERRORS_MAX {
            return;
        }
        let region = match last.filter(|_| repeated) {
            Some(last) => widen(scan, last, text.len()),
            None => region(scan, failure.at, text.len()),
        };
        let Some((start, end)) = region else { return };
        cover(&mut covered, start, end);
        last = Some((start, end));
    }
}

fn nothing_between(text: &str, from: usize, to: usize) -> bool {
    text.get(from..to).is_some_and(|between| between.trim().is_empty())
}

/// Whether a lexical error tells about this place already.
fn is_known(diagnostics: &[Diagnostic], scan: &Scan, at: usize) -> bool {
    let token = scan.tokens.iter().find(|token| token.end > at);
    let (start, end) = token.map_or((at, at), |token| (token.start.min(at), token.end));
    diagnostics.iter().any(|one| {
        let range = one.span.range();
        range.start <= end && start <= range.end
    })
}

fn cover(text: &mut String, start: usize, end: usize) {
    text.replace_range(start..end, &MARK.to_string().repeat(end - start));
}

/// The smallest piece around a place that a mark can stand for.
fn region(scan: &Scan, at: usize, len: usize) -> Option<(usize, usize)> {
    let index = scan.tokens.iter().position(|token| token.end > at);
    let index = index.or_else(|| scan.tokens.len().checked_sub(1))?;
    let at_end = at >= len || scan.tokens[index].end <= at;
    let mut frame = scan.tokens[index].frame;
    let mut anchor = index;
    while scan.frames[frame].bracket || (at_end && frame != 0) {
        anchor = scan.frames[frame].opener?;
        frame = scan.frames[frame].parent;
    }
    pieces(scan, anchor, frame).into_iter().next()
}

/// The next larger piece around one that did not help.
fn widen(scan: &Scan, covered: (usize, usize), len: usize) -> Option<(usize, usize)> {
    let (start, end) = covered;
    let first = scan.tokens.iter().position(|token| token.start >= start)?;
    let larger =
        |(from, to): &(usize, usize)| (*from < start || *to > end) && *from <= start && *to >= end;
    let wider = pieces(scan, first, scan.tokens[first].frame).into_iter().find(larger);
    wider.or_else(|| ((start, end) != (0, len)).then_some((0, len)))
}

/// The pieces around a token, from small to large: in its own form between any separators and
/// between `;`, then the same for the forms around it.
fn pieces(scan: &Scan, anchor: usize, frame: usize) -> Vec<(usize, usize)> {
    let (mut anchor, mut frame) = (anchor, frame);
    let mut found = Vec::new();
    loop {
        if !scan.frames[frame].bracket {
            found.extend(piece(scan, anchor, frame, |scan, token| scan.separates(token)));
            found.extend(piece(scan, anchor, frame, |scan, token| scan.ends_statement(token)));
        }
        let Some(opener) = scan.frames[frame].opener else { return found };
        anchor = opener;
        frame = scan.frames[frame].parent;
    }
}

/// From the separator before a token to the one after it, in the same form.
fn piece(
    scan: &Scan,
    anchor: usize,
    frame: usize,
    separates: impl Fn(&Scan, &Token) -> bool,
) -> Option<(usize, usize)> {
    let tokens = &scan.tokens;
    let inside = |token: &Token| token.frame == frame;
    let from = tokens[..anchor].iter().rposition(|token| inside(token) && separates(scan, token));
    let first = from.or(scan.frames[frame].opener).map_or(0, |at| at + 1);
    let to = (anchor..tokens.len()).find(|&at| {
        let token = &tokens[at];
        inside(token) && (separates(scan, token) || scan.ends(token, frame))
    });
    let last = to.unwrap_or(tokens.len());
    (first < last).then(|| (tokens[first].start, tokens[last - 1].end))
}

impl Scan<'_> {
    /// Whether a token stands between two pieces that can each be covered.
    fn separates(&self, token: &Token) -> bool {
        let words =
            ["case", "of", "when", "with", "then", "elif", "else", "pipeline", "flow", "script"];
        match token.kind {
            Kind::Sign => matches!(self.text(token), ";" | "=>" | "|>"),
            Kind::Word => words.contains(&self.text(token)),
            _ => false,
        }
    }

    fn ends_statement(&self, token: &Token) -> bool {
        token.kind == Kind::Sign && self.text(token) == ";"
    }

    fn ends(&self, token: &Token, frame: usize) -> bool {
        frame != 0 && token.kind == Kind::Word && self.text(token) == "end"
    }
}
