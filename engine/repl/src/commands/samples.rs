//! Commands about samples: adding, walking, finding, and patterns that would read them.

use super::super::samples::Sample;
use super::super::suggest::{LINES_MAX, propose};
use super::super::view::{self, Mode, paint};
use super::{Session, number};
use temblor_lang::value::Arena;

/// Samples that `:find` looks at, at the most.
const FIND_MAX: usize = 100_000_000;
/// Odd lines of a paste that are listed.
const ODD_SHOWN: usize = 5;
/// Characters of a broken line that are shown.
const BROKEN_CHARS_MAX: usize = 200;

pub(crate) fn add(session: &mut Session, text: &str) -> Result<String, String> {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    if lines.is_empty() {
        return Err(
            "error: write the sample behind the command, such as `:sample {\"a\": 1}`".to_string()
        );
    }
    take(session, &lines)
}

/// Adds lines as samples; says which are odd.
pub(crate) fn take(session: &mut Session, lines: &[&str]) -> Result<String, String> {
    let mut odd = Vec::new();
    for line in lines {
        // Text keeps its blanks in front: they tell that a line continues the one before it.
        let trimmed = line.trim();
        let line = if trimmed.starts_with(['{', '[', '"']) { trimmed } else { line.trim_end() };
        if let Some(problem) = session.samples.add(line)? {
            odd.push(format!("sample {} is taken as text: {problem}\n", session.samples.number()));
        }
    }
    let hidden = odd.len().saturating_sub(ODD_SHOWN);
    odd.truncate(ODD_SHOWN);
    let mut shown = odd.concat();
    if hidden > 0 {
        shown.push_str(&format!("and {hidden} more\n"));
    }
    if lines.len() > 1 {
        shown.push_str(&format!("{} samples added\n", lines.len()));
    }
    Ok(shown)
}

/// The entries that follow are samples, until `:end`.
pub(crate) fn paste(session: &mut Session, _: &str) -> Result<String, String> {
    session.pasted = Some(Vec::new());
    Ok("paste lines; `:end` ends\n".to_string())
}

pub(crate) fn show(session: &mut Session, _: &str) -> Result<String, String> {
    let sample = session.samples.current()?;
    let colour = session.setup.colour;
    let mut text = String::new();
    if let Some(error) = &sample.error {
        text.push_str(&format!("{}: {error}\n", paint(colour, "31", "failed before")));
    }
    if let (Some(problem), true) = (&sample.problem, sample.is_json) {
        let number = session.samples.number();
        text.push_str(&format!("sample {number} is broken: {problem}\n"));
        let line = sample.line.unwrap_or_default();
        let cut: String = line.chars().take(BROKEN_CHARS_MAX).collect();
        return Ok(format!("{text}{cut}\n"));
    }
    let event = sample.event();
    let mode = match session.mode {
        Mode::Changes => Mode::Pretty,
        mode => mode,
    };
    Ok(text + &view::value(&event, &event, mode, colour))
}

fn move_to(session: &mut Session, number: usize) -> Result<String, String> {
    session.samples.go_to(number)?;
    show(session, "")
}

pub(crate) fn next(session: &mut Session, _: &str) -> Result<String, String> {
    move_to(session, session.samples.number() + 1)
}

pub(crate) fn previous(session: &mut Session, _: &str) -> Result<String, String> {
    move_to(session, session.samples.number() - 1)
}

pub(crate) fn go_to(session: &mut Session, text: &str) -> Result<String, String> {
    move_to(session, number(text)?)
}

pub(crate) fn find(session: &mut Session, text: &str) -> Result<String, String> {
    let now_ns = session.now_ns;
    let from = session.samples.number();
    let found = session.with_expression(text, |evaluator, items, session| {
        let prepared = evaluator.prepare(items)?;
        for index in from..from.saturating_add(FIND_MAX) {
            session.setup.check()?;
            let Some(sample) = session.samples.read(index)? else { return Ok(None) };
            // A sample for which the expression fails is not the one that is looked for.
            let value = evaluator.evaluate(&prepared, &sample, now_ns).value;
            if value.is_ok_and(|value| value.read(&Arena::new()).as_bool() == Some(true)) {
                return Ok(Some(index + 1));
            }
        }
        Ok(None)
    })?;
    match found {
        Some(number) => Ok(format!("sample {number}\n{}", move_to(session, number)?)),
        None => Err("error: no sample behind this one is like that".to_string()),
    }
}

/// Proposes patterns for the samples, or for an expression of each.
pub(crate) fn suggest(session: &mut Session, text: &str) -> Result<String, String> {
    let expression = if text.is_empty() { "event" } else { text };
    let now_ns = session.now_ns;
    let lines = session.with_expression(expression, |evaluator, items, session| {
        let prepared = evaluator.prepare(items)?;
        let mut lines = Vec::new();
        for index in 0..LINES_MAX {
            session.setup.check()?;
            let Some(sample) = session.samples.read(index)? else { break };
            let value = evaluator.evaluate(&prepared, &sample, now_ns).value;
            let arena = Arena::new();
            if let Some(text) =
                value.ok().and_then(|value| value.read(&arena).as_str().map(str::to_string))
            {
                lines.push((index + 1, text));
            }
        }
        Ok(lines)
    })?;
    if lines.is_empty() {
        return Err(match text {
            "" => "error: the samples are no text; name a field, such as `:suggest event.message`",
            _ => "error: that is text in no sample",
        }
        .to_string());
    }
    let mut shown = String::new();
    for proposal in propose(&lines, &session.setup) {
        let step = with_source(&proposal.step, text);
        let step = paint(session.setup.colour, "1", &step);
        let missed = match proposal.missed.first() {
            Some(first) => format!("; the first that it does not: {first}"),
            None => String::new(),
        };
        let (all, noun) = match proposal.events {
            Some(events) => (events, "joined events"),
            None => (lines.len(), "lines"),
        };
        let matched = all - proposal.missed.len();
        shown.push_str(&format!("{step}\n  matches {matched} of {all} {noun}{missed}\n"));
    }
    if shown.is_empty() {
        return Err("error: the lines have nothing in common".to_string());
    }
    Ok(shown)
}

/// A proposal that reads from where the text stands.
fn with_source(step: &str, from: &str) -> String {
    if from.is_empty() {
        return step.to_string();
    }
    // Settings stand behind all clauses.
    let reads = |step: &str| match step.split_once(" with ") {
        Some((head, settings)) => format!("{head} from {from} with {settings}"),
        None => format!("{step} from {from}"),
    };
    step.split(" |> ").map(reads).collect::<Vec<_>>().join(" |> ")
}

impl Session {
    /// All samples, up to a number of them.
    pub(in super::super) fn first_samples(&mut self, max: usize) -> Result<Vec<Sample>, String> {
        let mut samples = Vec::new();
        for index in 0..max {
            let Some(sample) = self.samples.read(index)? else { break };
            samples.push(sample);
        }
        Ok(samples)
    }
}
