//! Commands that say why: operands and arms of an expression, how far a pattern got, what each step
//! and each assignment changed.

use super::super::evaluate::Evaluator;
use super::super::explain::Explainer;
use super::super::patterns;
use super::super::view;
use super::Session;
use temblor_lang::syntax::tree::{Expr, ExprKind, Item};
use temblor_lang::value::{Arena, Owned};
use temblor_pipeline::load::Directories;

pub(crate) fn explain(session: &mut Session, text: &str) -> Result<String, String> {
    if text.is_empty() {
        return explain_last(session);
    }
    let notation = text.split_whitespace().next().unwrap_or_default();
    let rest = text[notation.len()..].trim_start();
    if patterns::NOTATIONS.contains(&notation) && rest.starts_with(['"', 'r']) {
        return explain_pattern(session, notation, rest);
    }
    let (sample, now_ns, setup) =
        (session.samples.current()?, session.now_ns, session.setup.clone());
    session.with_expression(text, |evaluator, items, _| {
        let Some(Item::Expr(expr)) = items.last() else {
            return Err("error: only an expression can be explained".to_string());
        };
        Explainer { evaluator, sample: &sample, now_ns, setup: &setup }.explain(expr)
    })
}

/// What is on the bench: the pipeline, or else the last expression.
fn explain_last(session: &mut Session) -> Result<String, String> {
    if let Some(pipeline) = &session.pipeline {
        let sample = session.samples.current()?;
        return pipeline.why(&sample);
    }
    match session.last.clone() {
        Some(last) => explain(session, &last),
        None => Err("error: write `:explain EXPR`, or enter something first".to_string()),
    }
}

/// `"PATTERN" [EXPR]`: the text is the sample itself where there is no expression.
fn explain_pattern(session: &mut Session, notation: &str, text: &str) -> Result<String, String> {
    let wrong = || format!("error: write `:explain {notation} \"PATTERN\" EXPR`");
    let end = literal_end(text).ok_or_else(wrong)?;
    let (literal, expr) = (&text[..end], text[end..].trim());
    let expr = if expr.is_empty() { "event" } else { expr };
    let (sample, now_ns, setup) =
        (session.samples.current()?, session.now_ns, session.setup.clone());
    session.with_expression(literal, |evaluator, items, _| {
        let pattern = match items.last() {
            Some(Item::Expr(Expr { kind: ExprKind::String(text), .. })) => text.constant(),
            _ => None,
        };
        let pattern = pattern.ok_or_else(wrong)?.to_string();
        let items = evaluator.parse(expr).map_err(|unreadable| unreadable.text)?;
        let done = evaluator.run(items, &sample, now_ns)?;
        let value = done.value.map_err(|error| evaluator.failure(&error))?;
        let arena = Arena::new();
        let value = value.read(&arena);
        let text = value.as_str().ok_or_else(|| {
            format!("error: a {notation} pattern needs a string, not {}", value.kind().name())
        })?;
        patterns::explain(notation, &pattern, text, &setup)
    })
}

/// Where a string literal at the beginning ends.
fn literal_end(text: &str) -> Option<usize> {
    if let Some(raw) = text.strip_prefix('r') {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        let close = format!("\"{}", "#".repeat(hashes));
        let inside = raw.get(hashes..)?.strip_prefix('"')?;
        return Some(1 + hashes + 1 + inside.find(&close)? + close.len());
    }
    let mut escaped = false;
    for (at, one) in text.char_indices().skip(1) {
        match one {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return Some(at + 1),
            _ => {}
        }
    }
    None
}

pub(crate) fn diff(session: &mut Session, _: &str) -> Result<String, String> {
    let before = session.samples.current()?.event();
    if let Some(pipeline) = &session.pipeline {
        let sample = session.samples.current()?;
        let mut part = pipeline.fresh()?;
        let mut happenings = part.send(&sample);
        happenings.extend(part.flush());
        return Ok(part.tell(&happenings, &before, view::Mode::Changes));
    }
    let live = session.live();
    let after = session.replay(&live)?;
    Ok(view::difference(&before, &after, session.setup.colour))
}

/// The event behind each step of the pipeline, or behind each assignment, as what changed.
pub(crate) fn steps(session: &mut Session, _: &str) -> Result<String, String> {
    let sample = session.samples.current()?;
    if let Some(pipeline) = &session.pipeline {
        return pipeline.show_steps(&sample);
    }
    let mut text = String::new();
    let mut before = sample.event();
    let mut live = Vec::new();
    for (at, kept) in session.kept.clone().into_iter().enumerate() {
        let off = if kept.on { "" } else { " (off)" };
        let head = format!("{}. {}{off}", at + 1, kept.text);
        text.push_str(&format!("{}\n", view::paint(session.setup.colour, "1", &head)));
        if kept.on {
            live.push(kept.text);
            let after = session.replay(&live)?;
            text.push_str(&view::difference(&before, &after, session.setup.colour));
            before = after;
        }
    }
    if text.is_empty() {
        return Err("error: there are no steps: enter a chain or an assignment".to_string());
    }
    Ok(text)
}

impl Session {
    /// The event of the current sample behind some entries.
    fn replay(&mut self, entries: &[String]) -> Result<Owned, String> {
        let sample = self.samples.current()?;
        let directories = Directories::new(&self.setup.path, None);
        let mut evaluator = Evaluator::new(&directories, entries, &self.setup);
        let items = evaluator.parse("event").map_err(|unreadable| unreadable.text)?;
        let done = evaluator.run(items, &sample, self.now_ns)?;
        done.value.map_err(|error| evaluator.failure(&error))?;
        Ok(done.event)
    }
}
