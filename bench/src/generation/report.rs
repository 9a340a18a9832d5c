//! The figures as a table.

use std::fmt;

/// All rows.
#[derive(Default)]
pub struct Report {
    pub(super) rows: Vec<Row>,
}

/// A job.
#[derive(Default)]
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) bytes_per_event: f64,
    pub(super) one: Figure,
    pub(super) two: Figure,
    pub(super) published: &'static [(f64, &'static str)],
}

/// Events a second of wall time.
#[derive(Clone, Copy, Default)]
pub(super) struct Figure {
    pub(super) memory: f64,
    pub(super) files: f64,
    pub(super) pipeline: f64,
}

/// Cores of the larger machine that Eventgen's authors measured on.
const CORES: f64 = 24.0;

impl fmt::Display for Report {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "| job | bytes an event | into memory | into files | through a pipeline |")?;
        writeln!(out, "|---|---:|---:|---:|---:|")?;
        for row in &self.rows {
            for (cores, figure) in [(1, row.one), (2, row.two)] {
                writeln!(
                    out,
                    "| {}, {cores} | {:.0} | {:.0} | {:.0} | {:.0} |",
                    row.name, row.bytes_per_event, figure.memory, figure.files, figure.pipeline
                )?;
            }
        }
        writeln!(
            out,
            "\n| job | Eventgen on two cores | ours on one | × | 24 × one, events/s | GB/s |"
        )?;
        writeln!(out, "|---|---:|---:|---:|---:|---:|")?;
        for row in &self.rows {
            for (rate, how) in row.published {
                let ours = row.one.memory;
                writeln!(
                    out,
                    "| {} ({how}) | {rate:.0} | {ours:.0} | {:.1} | {:.0} | {:.1} |",
                    row.name,
                    ours / rate,
                    ours * CORES,
                    ours * CORES * row.bytes_per_event / 1e9,
                )?;
            }
        }
        Ok(())
    }
}
