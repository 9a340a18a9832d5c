//! Commands that run what is on the bench: over all samples, one more time, with steps off, at
//! another time, with another memory, beside another program.

use super::super::compare::compare as beside;
use super::super::evaluate::Evaluator;
use super::super::outcome::{Class, Outcomes};
use super::super::pipeline::{Pipeline, SAMPLES_MAX};
use super::super::program::{Notation, Program};
use super::super::view::one_line;
use super::{Session, number, pipeline};
use temblor_lang::units::parse_duration;
use temblor_pipeline::load::Language;

/// The program on the bench, and the one that was there before, in `:compare`.
const PRESENT: &str = ".";
const BEFORE: &str = "-";

pub(crate) fn run(session: &mut Session, _: &str) -> Result<String, String> {
    let (samples, mode) = (&mut session.samples, session.mode);
    match &mut session.pipeline {
        Some(pipeline) => pipeline.overview(samples, mode),
        None => run_entries(session),
    }
}

/// What was entered, over all samples.
fn run_entries(session: &mut Session) -> Result<String, String> {
    if session.kept.is_empty() {
        return Err("error: there is nothing to run: enter a chain or an assignment".to_string());
    }
    let now_ns = session.now_ns;
    session.with_expression("event", |evaluator, items, session| {
        let prepared = evaluator.prepare(items)?;
        let mut outcomes = Outcomes::default();
        for index in 0..SAMPLES_MAX {
            session.setup.check()?;
            let Some(sample) = session.samples.read(index)? else { break };
            let (class, key, label) = match sample.problem.filter(|_| sample.is_json) {
                Some(problem) => (Class::Broken, String::new(), format!("broken: {problem}")),
                None => {
                    let sample = session.samples.read(index)?.unwrap_or_default();
                    outcome(evaluator, &evaluator.evaluate(&prepared, &sample, now_ns))
                }
            };
            outcomes.add(index + 1, class, key, label);
        }
        Ok(outcomes.show(session.setup.colour))
    })
}

fn outcome(
    evaluator: &Evaluator<'_>,
    done: &super::super::evaluate::Done,
) -> (Class, String, String) {
    match &done.value {
        _ if done.dropped => (Class::Dropped, String::new(), "dropped".to_string()),
        Ok(_) => {
            let port = done.port.clone().unwrap_or_else(|| "out".to_string());
            (Class::Through, port.clone(), port)
        }
        Err(error) => {
            let place = error.span().map_or("", |span| evaluator.text(span));
            let key = format!("{} {place}", error.code());
            let label = format!("failed in {}: {}", one_line(place), error.message());
            (Class::Failed, key, label)
        }
    }
}

pub(crate) fn send(session: &mut Session, _: &str) -> Result<String, String> {
    let (sample, mode) = (session.samples.current()?, session.mode);
    Ok(pipeline(&mut session.pipeline)?.send_one(&sample, mode))
}

/// Puts a step, or without a pipeline an entry, on or off.
pub(crate) fn switch(session: &mut Session, text: &str, on: bool) -> Result<String, String> {
    let number = number(text)?;
    let Some(pipeline) = &mut session.pipeline else {
        let count = session.kept.len();
        let wrong = || match count {
            0 => "error: there are no steps".to_string(),
            _ => format!("error: there is no step {number}; the steps are 1 to {count}"),
        };
        let kept = number.checked_sub(1).and_then(|at| session.kept.get_mut(at));
        kept.ok_or_else(wrong)?.on = on;
        return super::reasons::diff(session, "");
    };
    pipeline.steps.switch(number, on)?;
    match pipeline.overview(&mut session.samples, session.mode) {
        Ok(text) => Ok(text),
        Err(reason) => {
            pipeline.steps.switch(number, !on)?;
            Err(reason)
        }
    }
}

/// Two programs over the same samples.
pub(crate) fn compare(session: &mut Session, text: &str) -> Result<String, String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let (old, new) = match words.as_slice() {
        [] => (BEFORE, PRESENT),
        [old] => (*old, PRESENT),
        [old, new] => (*old, *new),
        _ => return Err("error: write `:compare OLD NEW`".to_string()),
    };
    let old = session.compared(old)?;
    let new = session.compared(new)?;
    beside(old, new, &mut session.samples)
}

impl Session {
    /// A program by its file, or `.` or `-`.
    fn compared(&mut self, name: &str) -> Result<Pipeline, String> {
        let program = match name {
            PRESENT => self.present()?,
            BEFORE => self
                .before
                .clone()
                .ok_or("error: there was no program before this one; write `:compare OLD NEW`")?,
            file => super::files::program_of(file, &self.wishes)?,
        };
        Pipeline::compile(program, &self.setup).map_err(|unreadable| unreadable.text)
    }

    /// What is on the bench as a program.
    pub(in super::super) fn present(&self) -> Result<Program, String> {
        if let Some(pipeline) = &self.pipeline {
            let text = pipeline.steps.text_without_off(&pipeline.program.text);
            return Ok(Program { text, ..pipeline.program.clone() });
        }
        if self.kept.is_empty() {
            return Err(
                "error: there is nothing on the bench: enter a chain or an assignment".to_string()
            );
        }
        Ok(Program {
            name: "<entries>".to_string(),
            prelude: String::new(),
            text: self.script_text(),
            notation: Notation::Of(Language::Script),
            file: None,
        })
    }

    /// The entries as a script; standard modules that they name are taken into use.
    pub(in super::super) fn script_text(&self) -> String {
        let body: String = self.live().iter().map(|text| format!("{text};\n")).collect();
        let modules = temblor_stdlib::registry().module_paths();
        let mut uses = String::new();
        for module in modules.iter().filter_map(|path| path.strip_prefix("std::")) {
            let is_named = !module.contains("::") && body.contains(&format!("{module}::"));
            if is_named && !body.contains(&format!("use std::{module}")) {
                uses.push_str(&format!("use std::{module};\n"));
            }
        }
        format!("{uses}{body}event\n")
    }
}

pub(crate) fn clock(session: &mut Session, text: &str) -> Result<String, String> {
    if !text.is_empty() {
        return move_clock(session, 0, text);
    }
    let now_ns = session.clock_ns();
    let seconds = i64::try_from(now_ns / 1_000_000_000).unwrap_or(i64::MAX);
    let nanos = u32::try_from(now_ns % 1_000_000_000).unwrap_or_default();
    let date = chrono::DateTime::from_timestamp(seconds, nanos)
        .map_or(String::new(), |date| date.format("%Y-%m-%d %H:%M:%S%.9f UTC").to_string());
    Ok(format!("{date} ({now_ns} ns since 1970)\n"))
}

pub(crate) fn advance(session: &mut Session, text: &str) -> Result<String, String> {
    move_clock(session, session.clock_ns(), text)
}

/// Puts the clock a time behind another; `text` is a duration, or a date of RFC 3339.
fn move_clock(session: &mut Session, from_ns: u64, text: &str) -> Result<String, String> {
    let date = chrono::DateTime::parse_from_rfc3339(text).ok();
    let date_ns = date.and_then(|date| u64::try_from(date.timestamp_nanos_opt()?).ok());
    let step_ns = || parse_duration(text).map(|step_ns| from_ns.saturating_add(step_ns));
    let wrong =
        || format!("error: `{text}` is no time: write it like 250ms, 10s or 2026-01-31T12:00:00Z");
    session.now_ns = date_ns.or_else(step_ns).ok_or_else(wrong)?;
    match &mut session.pipeline {
        Some(pipeline) => Ok(pipeline.set_clock(session.now_ns, session.mode)),
        None => Ok(String::new()),
    }
}
