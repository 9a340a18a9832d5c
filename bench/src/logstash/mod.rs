//! `temblor-bench logstash`: scenarios that are written twice, as a Logstash configuration and by hand. The
//! outputs are compared line for line before anything is measured; then both run in turns. And the check of a
//! folder of many configurations.

mod folder;

use crate::core::measure::median;
use crate::scenario::{Scenario, Threads, folders};
pub use folder::Check;
use folder::{CHECK_S_MAX, check};
use std::fmt::{Display, Formatter};
use std::path::{Path, PathBuf};
use std::time::Duration;
use temblor_generate::inject::{Load, Schedule};

/// How the figures are taken.
#[derive(Debug)]
pub struct Options {
    /// Where the scenarios are.
    pub scenarios: PathBuf,
    /// How long each run is measured.
    pub measured: Duration,
    /// Runs of each program; figures are medians.
    pub repetitions: usize,
    /// Whether a folder is checked, too, with the temblor command beside this one.
    pub checks: bool,
}

/// The share of the hand-written program's speed that a configuration is to reach.
const TARGET: f64 = 0.9;
/// Part of the measured time that comes before it.
const WARMUP: u32 = 4;
/// The programs of a pair.
const CONFIGURATION: &str = "pipeline.conf";
const BY_HAND: &str = "pipeline.tmb";

/// A pair, measured.
#[derive(Debug)]
pub struct Row {
    name: String,
    /// Processor time of an event in the configuration, in nanoseconds.
    configuration_ns: f64,
    /// The same, by hand.
    by_hand_ns: f64,
}

impl Row {
    /// The speed of the configuration as a share of that by hand.
    pub fn ratio(&self) -> f64 {
        self.by_hand_ns / self.configuration_ns
    }
}

/// All pairs.
#[derive(Debug)]
pub struct Report {
    /// In the order of their names.
    pub rows: Vec<Row>,
    /// What the check of a large folder took.
    pub check: Option<Check>,
}

/// Measures every pair, and the check of a folder if it is asked for.
pub fn run(options: &Options) -> Result<Report, String> {
    let mut rows = Vec::new();
    for folder in folders(&options.scenarios)? {
        if folder.join(CONFIGURATION).is_file() && folder.join(BY_HAND).is_file() {
            rows.push(pair(&folder, options)?);
        }
    }
    let check = if options.checks { Some(check(options.repetitions)?) } else { None };
    Ok(Report { rows, check })
}

fn pair(folder: &Path, options: &Options) -> Result<Row, String> {
    let written = Scenario::load(folder)?.with_program(CONFIGURATION);
    let by_hand = Scenario::load(folder)?.with_program(BY_HAND);
    let (one, other) = (written.outputs()?, by_hand.outputs()?);
    if let Some(at) = (0..one.len().max(other.len())).find(|at| one.get(*at) != other.get(*at)) {
        let (one, other) = (one.get(at), other.get(at));
        return Err(format!("{}: line {} is {one:?} and {other:?}", written.name, at + 1));
    }
    let schedule = Schedule {
        load: Load::Closed,
        warmup: options.measured / WARMUP,
        measured: options.measured,
    };
    let cost = |scenario: &Scenario| {
        let outcome = scenario.run(schedule, Threads::of(1))?;
        Ok::<f64, String>(outcome.measurement().cpu_ns_per_event)
    };
    let (mut configuration, mut hand) = (Vec::new(), Vec::new());
    for _ in 0..options.repetitions.max(1) {
        configuration.push(cost(&written)?);
        hand.push(cost(&by_hand)?);
    }
    Ok(Row {
        name: written.name.clone(),
        configuration_ns: median(configuration.into_iter()),
        by_hand_ns: median(hand.into_iter()),
    })
}

impl Display for Report {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "| scenario | configuration, ns/event | by hand, ns/event | ratio | target |")?;
        writeln!(f, "|---|---|---|---|---|")?;
        for row in &self.rows {
            let Row { name, configuration_ns, by_hand_ns } = row;
            let ratio = row.ratio();
            let met = if ratio >= TARGET { "" } else { " (missed)" };
            writeln!(
                f,
                "| {name} | {configuration_ns:.0} | {by_hand_ns:.0} | {ratio:.2} | {TARGET}{met} |"
            )?;
        }
        if let Some(Check { files, lines, cpu_s }) = &self.check {
            let met = if *cpu_s <= CHECK_S_MAX { "" } else { " (missed)" };
            writeln!(
                f,
                "\n`temblor check` of {lines} lines in {files} files: {cpu_s:.3} s (at most {CHECK_S_MAX}{met})"
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_give_the_same_and_a_ratio() {
        let scenarios = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
        let measured = Duration::from_millis(50);
        let report = run(&Options { scenarios, measured, repetitions: 1, checks: false }).unwrap();
        assert!(!report.rows.is_empty());
        assert!(report.rows.iter().all(|row| row.ratio().is_finite() && row.ratio() > 0.0));
    }
}
