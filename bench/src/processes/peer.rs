//! The programs that a scenario can be set beside, each found by the file that it runs.

use super::cost::Cost;
use super::outputs::Comparison;
use super::{Job, daemon};
use std::path::Path;
use std::process::{Command, Stdio};

/// A program of another project.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer {
    /// Its command.
    pub command: &'static str,
    /// The file in the scenario's folder that it runs.
    pub file: &'static str,
    /// How it is run.
    kind: Kind,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    /// Standard input to standard output; the results are JSON.
    Filter,
    /// Runs until it is stopped, and writes files; the arguments are made from a place to work in.
    Daemon(daemon::Arguments),
}

const PEERS: &[Peer] = &[
    Peer { command: "jq", file: "peer.jq", kind: Kind::Filter },
    Peer { command: "jaq", file: "peer.jq", kind: Kind::Filter },
    Peer { command: "rsyslogd", file: "rsyslog.conf", kind: Kind::Daemon(daemon::rsyslogd) },
    Peer { command: "syslog-ng", file: "syslog-ng.conf", kind: Kind::Daemon(daemon::syslog_ng) },
];

/// The peers that have a file in `folder`, installed or not.
pub(crate) fn of(folder: &Path) -> Vec<Peer> {
    PEERS.iter().copied().filter(|peer| folder.join(peer.file).is_file()).collect()
}

impl Peer {
    /// The first line of what it says of itself; nothing when it is not installed.
    pub(crate) fn version(&self) -> Option<String> {
        let asked = match self.command {
            "rsyslogd" => "-v",
            _ => "--version",
        };
        let output = Command::new(self.command).arg(asked).stderr(Stdio::null()).output().ok()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let line = text.lines().next().unwrap_or(self.command);
        let words: Vec<&str> = line.split_whitespace().take(3).collect();
        output.status.success().then(|| words.join(" "))
    }

    /// Runs it once over the job's input.
    pub(crate) fn run(&self, job: &Job) -> Result<Cost, String> {
        let file = job.folder.join(self.file);
        match self.kind {
            Kind::Filter => {
                let mut command = Command::new(self.command);
                command.args(["-c", "-f"]).arg(file);
                job.filter(command, &self.output())
            }
            Kind::Daemon(arguments) => daemon::run(job, self.command, &file, arguments),
        }
    }

    /// Where a filter's results go.
    pub(crate) fn output(&self) -> String {
        format!("{}.out", self.command)
    }

    /// How its outputs are held against Temblor's.
    pub(crate) fn comparison(&self) -> Comparison {
        match self.kind {
            Kind::Filter => Comparison::Json,
            Kind::Daemon(_) => Comparison::Files,
        }
    }
}
