//! The ratios that the foundation has to keep, each within one run on the same bytes: what goes
//! through the whole runtime beside simd-json's bare tape parse.

pub(crate) mod limit;
pub mod measure;
pub(crate) mod process;
mod report;
pub(crate) mod runtime;

use crate::workload::Workload;
use measure::{Cost, Input};
use report::{Report, Row};
use runtime::{Case, Program, Sink};
use std::path::{Path, PathBuf};

/// What is measured, and how thoroughly.
#[derive(Clone, Debug)]
pub struct Options {
    /// Generated application events.
    pub events: usize,
    /// Runs of each case.
    pub repetitions: usize,
    /// Megabytes of input for the memory case; 0 leaves out the cases that start a process.
    pub memory_mb: usize,
    /// Where real logs are looked for.
    pub data: PathBuf,
}

impl Default for Options {
    fn default() -> Self {
        Self { events: 200_000, repetitions: 5, memory_mb: 1000, data: "../shared/data".into() }
    }
}

/// Seed of the generated lines.
const SEED: u64 = 1;
/// Real files are short: their lines are repeated until the input is about this long.
const REAL_BYTES: usize = 64 << 20;

/// The pass-through: an event is parsed and leaves as it came.
const PASS: Program = Program { text: "emit event", is_json: true };
/// Reading five fields, a ten-arm `match`, setting two fields.
const FIELDS: Program = Program { text: include_str!("fields.tremor"), is_json: true };
/// Raw lines become records; a line of another format is dropped.
const GROK: Program = Program { text: include_str!("grok.tremor"), is_json: false };

const CASES: [Case; 3] = [
    Case { name: "pass-through to /dev/null", program: PASS, sink: Sink::Null, target: 0.65 },
    Case { name: "pass-through to a file", program: PASS, sink: Sink::File, target: 0.65 },
    Case { name: "five fields, match, two sets", program: FIELDS, sink: Sink::Null, target: 0.45 },
];

/// Measures everything and gives the report.
///
/// # Errors
/// When a file cannot be written, a program does not compile, or a count is wrong.
pub fn run(options: &Options) -> Result<Report, String> {
    let directory = measure::Directory::make()?;
    let mut report = Report::default();
    let generated = Workload::AppEvents.lines(SEED, options.events);
    let input = Input::write(&directory.file("app_events.ndjson"), &generated)?;
    json(&mut report, "generated", &input, options, &directory)?;
    // The script of the five fields is made for this kind of event.
    let name = "app_events_100.ndjson";
    if let Some(lines) = real(&options.data, name, options)? {
        let input = Input::write(&directory.file(name), &lines)?;
        json(&mut report, name, &input, options, &directory)?;
    }
    grok(&mut report, options, &directory)?;
    if options.memory_mb > 0 {
        process::memory(&mut report, options.memory_mb, &directory)?;
        process::start(&mut report, options.repetitions)?;
    }
    Ok(report)
}

/// The cases with JSON lines, in turns with the bare parse.
fn json(
    report: &mut Report,
    data: &str,
    input: &Input,
    options: &Options,
    directory: &measure::Directory,
) -> Result<(), String> {
    let mut limits = Vec::new();
    let mut costs: Vec<Vec<Cost>> = CASES.iter().map(|_| Vec::new()).collect();
    let mut pairs = Vec::new();
    for _ in 0..options.repetitions.max(1) {
        limits.push(limit::tape(input)?);
        for (case, costs) in CASES.iter().zip(&mut costs) {
            costs.push(runtime::run(case, input, 1, directory)?);
        }
        pairs.push(runtime::run(&CASES[0], input, 2, directory)?);
    }
    report.add(Row::limit(data, "bare tape parse", input, &limits));
    for (case, costs) in CASES.iter().zip(&costs) {
        report.add(Row::against_limit(data, case, input, &limits, costs));
    }
    report.add(Row::two_workers(data, input, &costs[0], &pairs));
    Ok(())
}

fn grok(
    report: &mut Report,
    options: &Options,
    directory: &measure::Directory,
) -> Result<(), String> {
    let case = Case { name: "grok to JSON", program: GROK, sink: Sink::Null, target: 0.0 };
    let (name, lines) = match real(&options.data, "apache_combined_5k.log", options)? {
        Some(lines) => ("apache_combined_5k.log", lines),
        None => ("generated", Workload::AccessLog.lines(SEED, options.events)),
    };
    let input = Input::write(&directory.file("access.log"), &lines)?;
    let runs = (0..options.repetitions.max(1))
        .map(|_| runtime::run(&case, &input, 1, directory))
        .collect::<Result<Vec<_>, _>>()?;
    report.add(Row::alone(name, &case, &input, &runs));
    Ok(())
}

/// The lines of a real file, repeated; says loudly when there is none.
fn real(data: &Path, name: &str, options: &Options) -> Result<Option<Vec<String>>, String> {
    let path = data.join(name);
    let Ok(bytes) = std::fs::read(&path) else {
        eprintln!("NOT MEASURED: {} is not there", path.display());
        return Ok(None);
    };
    let text = String::from_utf8(bytes).map_err(|error| format!("{}: {error}", path.display()))?;
    let lines: Vec<String> =
        text.lines().filter(|line| !line.trim().is_empty()).map(str::to_string).collect();
    let count = (REAL_BYTES / text.len().max(1))
        .clamp(1, options.events.div_ceil(lines.len().max(1)).max(1));
    Ok(Some(std::iter::repeat_n(lines, count).flatten().collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tiny_run_checks_its_counts_and_gives_every_ratio() {
        let options = Options { events: 300, repetitions: 1, memory_mb: 0, ..Options::default() };
        let report = run(&options).expect("the counts are right");
        let names = report.rows().map(|row| row.name.clone()).collect::<Vec<_>>();
        for case in &CASES {
            assert!(names.iter().any(|name| name == case.name), "{} is missing", case.name);
        }
        let ratios = report.rows().filter_map(|row| row.cpu_ratio);
        assert!(ratios.clone().count() >= CASES.len());
        assert!(ratios.clone().all(|ratio| ratio.is_finite() && ratio > 0.0));
    }

    #[test]
    fn an_output_that_lacks_events_is_an_error() {
        let directory = measure::Directory::make().expect("a directory");
        let lines = ["{\"a\":1}".to_string(), "{\"a\":".to_string()];
        let input = Input::write(&directory.file("bad"), &lines).expect("a file");
        let error = runtime::run(&CASES[0], &input, 1, &directory).expect_err("one is broken");
        assert!(error.contains("1 of 2"), "{error}");
    }
}
