//! `temblor-bench processes`: whole programs of other projects beside the `temblor` command, on the
//! same file.
//!
//! A file in a scenario's folder is a peer: `peer.jq` runs with jq and jaq, `rsyslog.conf` with
//! rsyslogd, `syslog-ng.conf` with syslog-ng. Invariant: a figure stands only beside outputs that
//! were equal, and a program that is not installed is named, never guessed.

pub(crate) mod cost;
mod daemon;
mod outputs;
mod peer;
mod report;

use crate::core::measure::{Directory, median};
use crate::core::process::command;
use crate::scenario::{Scenario, folders};
use cost::Cost;
use peer::Peer;
pub use report::Report;
use report::Row;
use std::path::{Path, PathBuf};

/// What is measured, and how thoroughly.
pub struct Options {
    /// Folders of scenarios.
    pub scenarios: PathBuf,
    /// Input of each scenario, in megabytes: its events, repeated.
    pub megabytes: usize,
    /// Runs of each program; figures are medians.
    pub repetitions: usize,
}

/// One scenario, ready to be run by any program.
pub(crate) struct Job {
    /// The folder of the scenario.
    folder: PathBuf,
    /// What Temblor runs.
    program: PathBuf,
    /// The events.
    input: PathBuf,
    /// Bytes of the input.
    bytes: usize,
    /// Where everything is written.
    directory: Directory,
}

/// Measures every scenario that has a peer.
pub fn run(options: &Options) -> Result<Report, String> {
    let mut report = Report::default();
    for folder in folders(&options.scenarios)? {
        let peers = peer::of(&folder);
        if peers.is_empty() {
            continue;
        }
        let scenario = Scenario::load(&folder)?;
        let job = Job::prepare(&scenario, &folder, options.megabytes * 1_000_000)?;
        let (installed, missing): (Vec<_>, Vec<_>) =
            peers.into_iter().partition(|peer| peer.version().is_some());
        report.missing.extend(missing.iter().map(|peer| peer.command.to_string()));
        if !installed.is_empty() {
            measure(&scenario.name, &job, &installed, options.repetitions, &mut report)?;
        }
    }
    Ok(report)
}

/// Runs Temblor and each peer in turns.
fn measure(
    name: &str,
    job: &Job,
    peers: &[Peer],
    repetitions: usize,
    report: &mut Report,
) -> Result<(), String> {
    let mut own = Vec::new();
    let mut others = vec![Vec::new(); peers.len()];
    for repetition in 0..repetitions.max(1) {
        own.push(job.temblor()?);
        for (peer, costs) in peers.iter().zip(&mut others) {
            costs.push(peer.run(job)?);
            if repetition == 0 {
                peer.comparison().check(job, peer)?;
            }
        }
    }
    let version = format!("temblor {}", env!("CARGO_PKG_VERSION"));
    report.rows.push(Row::of(name, version, job.bytes, &own, &own));
    for (peer, costs) in peers.iter().zip(&others) {
        let version = peer.version().unwrap_or_default();
        report.rows.push(Row::of(name, version, job.bytes, &own, costs));
    }
    Ok(())
}

impl Job {
    /// Writes the scenario's events, repeated until they are about `bytes`.
    fn prepare(scenario: &Scenario, folder: &Path, bytes: usize) -> Result<Self, String> {
        let events = scenario.text().ok_or("a scenario with sources of its own has no peers")?;
        let directory = Directory::make()?;
        let input = directory.file("input");
        let text = events.repeat((bytes / events.len().max(1)).max(1));
        std::fs::write(&input, &text).map_err(|error| format!("{}: {error}", input.display()))?;
        let absolute = |path: &Path| {
            std::path::absolute(path).map_err(|error| format!("{}: {error}", path.display()))
        };
        Ok(Self {
            folder: absolute(folder)?,
            program: absolute(scenario.program())?,
            input,
            bytes: text.len(),
            directory,
        })
    }

    /// The command of this project, with one worker.
    fn temblor(&self) -> Result<Cost, String> {
        let target = self.directory.file("target");
        // Sinks of a scenario append below `target`; there may be nothing from the run before.
        let _ = std::fs::remove_dir_all(&target);
        let mut temblor = std::process::Command::new(command()?);
        temblor.args(["run", "--workers", "1", "--quiet"]).arg(&self.program);
        self.filter(temblor, "temblor.out")
    }

    /// Runs a program that reads standard input and writes standard output, into a file of that name.
    fn filter(&self, mut program: std::process::Command, output: &str) -> Result<Cost, String> {
        let failed = |error: std::io::Error| format!("{program:?}: {error}");
        let input = std::fs::File::open(&self.input).map_err(failed)?;
        let out = std::fs::File::create(self.directory.file(output)).map_err(failed)?;
        program.current_dir(self.directory.path()).stdin(input).stdout(out);
        cost::of(|| {
            let status = program.status().map_err(|error| format!("{program:?}: {error}"))?;
            if status.success() { Ok(()) } else { Err(format!("{program:?}: {status}")) }
        })
    }
}

/// The median of a part of the costs.
fn median_of(costs: &[Cost], part: impl Fn(&Cost) -> f64) -> f64 {
    median(costs.iter().map(part))
}
