//! The table of whole programs. Every figure is a median; ratios are taken run by run before it is.

use super::cost::Cost;
use super::median_of;
use crate::core::measure::median;
use std::collections::BTreeSet;
use std::fmt;

/// One program on one scenario.
#[derive(Debug)]
pub(crate) struct Row {
    scenario: String,
    version: String,
    cpu_s: f64,
    wall_s: f64,
    megabytes: f64,
    /// Its processor time as a multiple of Temblor's.
    cpu_ratio: f64,
    /// Its time on the wall as a multiple of Temblor's.
    wall_ratio: f64,
}

impl Row {
    /// A program's costs beside Temblor's of the same repetitions.
    pub(crate) fn of(
        scenario: &str,
        version: String,
        bytes: usize,
        own: &[Cost],
        costs: &[Cost],
    ) -> Self {
        let pairs = || own.iter().zip(costs);
        Self {
            scenario: scenario.to_string(),
            version,
            cpu_s: median_of(costs, |cost| cost.cpu_s),
            wall_s: median_of(costs, |cost| cost.wall_s),
            megabytes: bytes as f64 / 1e6,
            cpu_ratio: median(pairs().map(|(own, cost)| cost.cpu_s / own.cpu_s)),
            wall_ratio: median(pairs().map(|(own, cost)| cost.wall_s / own.wall_s)),
        }
    }
}

/// All figures.
#[derive(Debug, Default)]
pub struct Report {
    /// One line for each program and scenario.
    pub(crate) rows: Vec<Row>,
    /// Commands that are not installed.
    pub(crate) missing: BTreeSet<String>,
}

impl fmt::Display for Report {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            out,
            "| scenario | program | CPU s | wall s | MB per CPU s | × Temblor's CPU | × wall |"
        )?;
        writeln!(out, "|---|---|---:|---:|---:|---:|---:|")?;
        for row in &self.rows {
            let Row { scenario, version, cpu_s, wall_s, megabytes, cpu_ratio, wall_ratio } = row;
            let speed = megabytes / cpu_s;
            writeln!(
                out,
                "| {scenario} | {version} | {cpu_s:.2} | {wall_s:.2} | {speed:.0} | {cpu_ratio:.1} | {wall_ratio:.1} |"
            )?;
        }
        if !self.missing.is_empty() {
            let names: Vec<_> = self.missing.iter().map(String::as_str).collect();
            writeln!(out, "\nNot installed, so not measured: {}.", names.join(", "))?;
        }
        Ok(())
    }
}
