//! `temblor-bench buffer`: what a buffer on disk costs: the same file to a file without one, with one in front of the
//! sink, and through one when the sink has been away.
//!
//! Invariant: a figure stands only beside an output that is equal to the input.

use crate::core::measure::{Directory, Input, median};
use crate::core::process::command;
use crate::workload::Workload;
use std::fmt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// What is measured, and how thoroughly.
pub struct Options {
    /// Events of each run.
    pub events: usize,
    /// Runs of each case; figures are medians.
    pub repetitions: usize,
}

/// Settings of the sink in each case.
const CASES: [(&str, &str); 4] = [
    ("file", ""),
    ("buffer", "buffer = \"disk\", buffer_bytes = \"4GiB\""),
    ("buffer, lz4", "buffer = \"disk\", buffer_bytes = \"4GiB\", buffer_compression = \"lz4\""),
    (
        "spill, 1 MiB in memory",
        "when_full = \"spill\", queue_bytes = \"1MiB\", buffer_bytes = \"4GiB\"",
    ),
];

/// The figures of the cases.
#[derive(Debug, Default)]
pub struct Report {
    /// Name, and megabytes a second by the wall's clock: from the start of the process to its end.
    rows: Vec<(&'static str, f64)>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| from a file to a file through | MB/s | of the first |\n|---|---|---|")?;
        let first = self.rows.first().map_or(1.0, |row| row.1);
        for (name, speed) in &self.rows {
            writeln!(f, "| {name} | {speed:.0} | {:.2} |", speed / first)?;
        }
        Ok(())
    }
}

/// Measures each case.
///
/// # Errors
/// A run fails, or its output is not its input.
pub fn run(options: &Options) -> Result<Report, String> {
    let to = Directory::make()?;
    let input = Input::write(&to.file("in.log"), &Workload::AppEvents.lines(0, options.events))?;
    let mut report = Report::default();
    for (name, settings) in CASES {
        let mut times = Vec::new();
        for _ in 0..options.repetitions {
            times.push(once(&to, &input, settings)?);
        }
        report.rows.push((name, input.megabytes() / median(times.into_iter())));
    }
    Ok(report)
}

fn once(to: &Directory, input: &Input, settings: &str) -> Result<f64, String> {
    let (program, state) = (to.file("program.tmb"), to.file("state"));
    let settings = if settings.is_empty() { String::new() } else { format!(", {settings}") };
    let text = format!(
        "source in from file \"in.log\";\nsink out into file \"out.log\" with mode = \"truncate\"{settings} end;\nin |> out"
    );
    std::fs::write(&program, text).map_err(|error| error.to_string())?;
    // Nothing is left of the run before.
    let _ = std::fs::remove_dir_all(&state);
    let mut run = Command::new(command()?);
    run.args(["run", "-q", "program.tmb", "--state", "state"]).current_dir(to.path());
    run.stdin(Stdio::null()).stdout(Stdio::null());
    let began = Instant::now();
    let status = run.status().map_err(|error| error.to_string())?;
    let seconds = began.elapsed().as_secs_f64();
    if !status.success() {
        return Err(format!("the run ended with {status}"));
    }
    is_equal(&to.file("out.log"), &input.text).map(|()| seconds)
}

fn is_equal(path: &Path, wanted: &[u8]) -> Result<(), String> {
    let written = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    if written == wanted { Ok(()) } else { Err("the output is not the input".to_string()) }
}
