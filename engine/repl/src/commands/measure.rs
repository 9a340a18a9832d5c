//! Commands that measure: time, kinds, and what the samples reach.

use super::super::coverage::branches;
use super::super::pipeline::SAMPLES_MAX;
use super::super::view::branch_line;
use super::Session;
use std::time::Instant;
use temblor_lang::value::Arena;

/// Runs of `:time` without a number.
const TIMED_RUNS: u32 = 1_000;
/// Runs of `:time`, at the most.
const TIMED_RUNS_MAX: u32 = 10_000_000;

/// An expression, or without one the steps of the pipeline.
pub(super) fn time(session: &mut Session, text: &str) -> Result<String, String> {
    if text.is_empty() {
        let pipeline = super::pipeline(&mut session.pipeline)?;
        return pipeline.show_times(&mut session.samples);
    }
    let (text, runs) = match text.rsplit_once(' ').map(|(head, n)| (head, n.parse::<u32>())) {
        Some((head, Ok(runs)))
            if !head.trim_end().ends_with(['+', '-', '*', '/', '=', '<', '>']) =>
        {
            (head, runs.clamp(1, TIMED_RUNS_MAX))
        }
        _ => (text, TIMED_RUNS),
    };
    let (sample, now_ns) = (session.samples.current()?, session.now_ns);
    session.with_expression(text, |evaluator, items, _| {
        let started = Instant::now();
        let prepared = evaluator.prepare(items)?;
        let compiled = started.elapsed().as_micros();
        let each = evaluator.measure(&prepared, &sample, now_ns, runs)?.as_nanos();
        Ok(format!("{each} ns each of {runs} runs; compiled in {compiled} µs\n"))
    })
}

/// The kind of a value, or without one the kinds of fields behind each step.
pub(crate) fn kinds(session: &mut Session, text: &str) -> Result<String, String> {
    if let (true, Some(pipeline)) = (text.is_empty(), &session.pipeline) {
        return pipeline.show_kinds(&mut session.samples);
    }
    let text = if text.is_empty() { "event" } else { text };
    let (sample, now_ns) = (session.samples.current()?, session.now_ns);
    session.with_expression(text, |evaluator, items, _| {
        let done = evaluator.run(items, &sample, now_ns)?;
        let value = done.value.map_err(|error| evaluator.failure(&error))?;
        let arena = Arena::new();
        let value = value.read(&arena);
        let mut text = format!("{}\n", value.kind().name());
        for (key, field) in value.as_record(&arena).into_iter().flat_map(|record| record.iter()) {
            text.push_str(&format!("  {key}: {}\n", field.kind().name()));
        }
        Ok(text)
    })
}

/// Arms, steps, patterns and ports that no sample reached.
pub(crate) fn coverage(session: &mut Session, _: &str) -> Result<String, String> {
    if session.samples.is_empty() {
        return Err("error: there are no samples: :load FILE, or :sample JSON".to_string());
    }
    if let Some(pipeline) = &session.pipeline {
        return pipeline.coverage(&mut session.samples);
    }
    let last = session.last.clone().unwrap_or_else(|| "event".to_string());
    let now_ns = session.now_ns;
    session.with_expression(&last, |evaluator, items, session| {
        let prepared = evaluator.prepare(items)?;
        let mut count = 0;
        while let Some(sample) = session.samples.read(count)?.filter(|_| count < SAMPLES_MAX) {
            session.setup.check()?;
            drop(evaluator.evaluate(&prepared, &sample, now_ns));
            count += 1;
        }
        let coverage = &prepared.coverage;
        let mut text = branches(coverage, evaluator.sources());
        if coverage.branches().next().is_none() {
            text.push_str("there are no branches in it\n");
        }
        let colour = session.setup.colour;
        Ok(text.lines().map(|line| format!("{}\n", branch_line(line, colour))).collect())
    })
}
