//! What operators with a memory cost, and how that grows with the number of keys: each beside the
//! pass-through of the same events, with one worker and with two.
//!
//! Invariant: a figure is given only when no event failed and as many keys are kept as there were.

use crate::core::measure::{Cost, Directory, Input, median};
use crate::core::runtime;
use std::fmt;
use std::sync::PoisonError;
use temblor_pipeline::operator::Usage;

/// What is measured, and how thoroughly.
#[derive(Clone, Debug)]
pub struct Options {
    /// Events of each run; at least as many as keys.
    pub events: usize,
    /// Numbers of keys.
    pub keys: Vec<usize>,
    /// Runs of each case.
    pub repetitions: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { events: 500_000, keys: vec![10, 10_000, 1_000_000], repetitions: 3 }
    }
}

/// A query and its name in the report.
struct Case {
    name: &'static str,
    text: &'static str,
}

const PASS: Case = Case { name: "pass-through", text: "select event from in into out" };

const DEDUP: &str = "dedup";
/// Bytes that dedup may take for a key.
const DEDUP_BYTES_MAX: f64 = 64.0;
/// With fewer keys what is fixed is most of the memory.
const KEYS_COUNTED_MIN: usize = 10_000;

/// Windows do not close within a run, so that all keys stay.
const CASES: [Case; 4] = [
    Case {
        name: "group by",
        text: r#"define window all from tumbling with size = 1000000000 end;
select {"k": group[0], "n": aggr::stats::count(), "sum": aggr::stats::sum(event.v)}
from in[all] group by event.k into out"#,
    },
    Case {
        name: "tilt frames",
        text: r#"define window few from tumbling with size = 2 end;
define window all from tumbling with size = 1000000000 end;
select {"k": group[0], "n": aggr::stats::count(), "sum": aggr::stats::sum(event.v)}
from in[few, all] group by event.k into out"#,
    },
    Case {
        name: DEDUP,
        text: r#"define operator once from stream::dedup with by = event.k end;
create operator once;
select event from in into once; select event from once into out"#,
    },
    Case {
        name: "rate limit",
        text: r#"define operator limit from stream::rate_limit
with rate = 10, per = "1h", by = event.k end;
create operator limit;
select event from in into limit; select event from limit into out"#,
    },
];

/// One line of the report.
#[derive(Clone, Debug)]
pub struct Row {
    /// The case.
    pub name: &'static str,
    /// How many keys there were.
    pub keys: usize,
    /// Worker threads.
    pub workers: usize,
    /// Processor time as a multiple of that of the pass-through with as many workers.
    pub times: f64,
    /// Millions of events a second of processor time.
    pub millions: f64,
    /// Bytes that the operators count for a key.
    pub bytes: f64,
}

/// All figures.
#[derive(Clone, Debug, Default)]
pub struct Report(pub Vec<Row>);

impl fmt::Display for Report {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            out,
            "| case | keys | workers | × pass-through | M events a CPU s | bytes a key |"
        )?;
        writeln!(out, "|---|---|---|---|---|---|")?;
        for Row { name, keys, workers, times, millions, bytes } in &self.0 {
            let figures = format!("{times:.2} | {millions:.2} | {bytes:.0}");
            writeln!(out, "| {name} | {keys} | {workers} | {figures} |")?;
        }
        Ok(())
    }
}

/// Measures all cases and gives the report.
///
/// # Errors
/// When a file cannot be written, an event failed, or keys are missing.
pub fn run(options: &Options) -> Result<Report, String> {
    let directory = Directory::make()?;
    let mut report = Report::default();
    for keys in &options.keys {
        let lines = lines(options.events.max(*keys), *keys);
        let input = Input::write(&directory.file("keys.ndjson"), &lines)?;
        drop(lines);
        for workers in [1, 2] {
            measure(options, *keys, workers, &input, &mut report)?;
        }
    }
    Ok(report)
}

/// Events whose keys come in a scattered order, each as often as the others.
fn lines(events: usize, keys: usize) -> Vec<String> {
    /// Prime, so that it has no factor in common with the numbers of keys.
    const STRIDE: usize = 2_654_435_761;
    let line = |n: usize| {
        let key = n.wrapping_mul(STRIDE) % keys;
        format!("{{\"n\":{n},\"k\":\"user-{key:07}\",\"v\":{}}}", n % 1000)
    };
    (0..events).map(line).collect()
}

fn measure(
    options: &Options,
    keys: usize,
    workers: usize,
    input: &Input,
    report: &mut Report,
) -> Result<(), String> {
    let mut costs = vec![Vec::new(); CASES.len()];
    let mut bytes = [0.0; CASES.len()];
    let mut plain = Vec::new();
    // In turns, so that a slow minute of the machine meets all of them.
    for _ in 0..options.repetitions.max(1) {
        plain.push(once(&PASS, input, workers)?.0.cpu_s);
        for ((case, costs), bytes) in CASES.iter().zip(&mut costs).zip(&mut bytes) {
            let (cost, usage) = once(case, input, workers)?;
            if usage.entries != keys as u64 {
                return Err(format!("{}: {} of {keys} keys are kept", case.name, usage.entries));
            }
            costs.push(cost.cpu_s);
            *bytes = usage.bytes as f64 / keys as f64;
            if case.name == DEDUP && keys >= KEYS_COUNTED_MIN && *bytes > DEDUP_BYTES_MAX {
                return Err(format!("{DEDUP}: {bytes:.0} bytes a key, over {DEDUP_BYTES_MAX}"));
            }
        }
    }
    for ((case, costs), bytes) in CASES.iter().zip(&costs).zip(bytes) {
        let times = median(costs.iter().zip(&plain).map(|(cost, plain)| cost / plain));
        let millions = median(costs.iter().map(|cost| input.lines as f64 / cost / 1e6));
        report.0.push(Row { name: case.name, keys, workers, times, millions, bytes });
    }
    Ok(())
}

/// The cost of one run, and what its operators kept at its end.
fn once(case: &Case, input: &Input, workers: usize) -> Result<(Cost, Usage), String> {
    let (pipeline, plan) = runtime::query(case.name, case.text, input, workers)?;
    let worker = |_| Ok(pipeline.worker(workers == 1));
    let run = || temblor_runtime::run::run(plan, worker).map_err(|error| error.to_string());
    let (summary, cost) = Cost::of(run)?;
    let (events, errors) = (summary.counts.events(), summary.counts.error_count());
    if events != input.lines || errors > 0 {
        return Err(format!("{}: {events} of {} events, {errors} errors", case.name, input.lines));
    }
    let states = pipeline.states.lock().unwrap_or_else(PoisonError::into_inner);
    let usage = pipeline.graph.usage(&states);
    Ok((cost, usage.first().map(|(_, usage)| *usage).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_keeps_its_keys_and_dedup_takes_little_memory() {
        let options = Options { events: 40_000, keys: vec![10, 20_000], repetitions: 1 };
        let report = run(&options).expect("the counts are right");
        assert_eq!(report.0.len(), CASES.len() * 2 * 2);
        assert!(report.0.iter().all(|row| row.times.is_finite() && row.bytes > 0.0));
        let dedup = report.0.iter().find(|row| row.name == "dedup" && row.keys == 20_000);
        assert!(dedup.is_some_and(|row| row.bytes <= 64.0), "{report}");
    }
}
