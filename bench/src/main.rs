//! `temblor-bench`: measures Temblor against the limit of its design. Counts are checked before
//! any figure is printed.

use clap::{Parser, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;
use temblor_bench::{all, buffer, core, generation, keys, logstash, processes, stages};

/// Measures Temblor against the limit of its design.
#[derive(Debug, Parser)]
#[command(name = "temblor-bench", version)]
struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// The whole runtime beside the bare tape parse of the same lines
    Core {
        /// Generated events (200,000 are about 126 MB)
        #[arg(long, default_value_t = 200_000)]
        events: usize,
        /// Runs of each case; figures are medians
        #[arg(long, default_value_t = 5)]
        repetitions: usize,
        /// Input for the memory case, which needs the temblor command beside this one; 0 leaves it out
        #[arg(long, default_value_t = 1000)]
        memory_mb: usize,
        /// Where real logs are looked for
        #[arg(long, default_value = "../shared/data")]
        data: PathBuf,
    },
    /// Where the time of a scenario goes: each stage alone, their sum, and the whole
    Stages {
        /// Generated events of each scenario
        #[arg(long, default_value_t = 200_000)]
        events: usize,
        /// Runs of each stage; figures are medians
        #[arg(long, default_value_t = 5)]
        repetitions: usize,
    },
    /// Operators that remember: their cost beside the pass-through, and how it grows with keys
    Keys {
        /// Events of each run; with more keys, one for each key
        #[arg(long, default_value_t = 500_000)]
        events: usize,
        /// Numbers of keys
        #[arg(long, value_delimiter = ',', default_value = "10,10000,1000000")]
        keys: Vec<usize>,
        /// Runs of each case; figures are medians
        #[arg(long, default_value_t = 3)]
        repetitions: usize,
    },
    /// Buffers on disk in front of a sink, beside the same without one; needs the temblor command beside this one
    Buffer {
        /// Generated events of each run (200,000 are about 126 MB)
        #[arg(long, default_value_t = 800_000)]
        events: usize,
        /// Runs of each case; figures are medians
        #[arg(long, default_value_t = 5)]
        repetitions: usize,
    },
    /// Whole programs of other projects, where installed: jq, jaq, rsyslogd, syslog-ng
    Processes {
        /// Folders of scenarios; peer.jq, rsyslog.conf or syslog-ng.conf in one makes it a case
        #[arg(long, default_value = "bench/scenarios")]
        scenarios: PathBuf,
        /// Input of each case
        #[arg(long, default_value_t = 100)]
        megabytes: usize,
        /// Runs of each program; figures are medians
        #[arg(long, default_value_t = 3)]
        repetitions: usize,
    },
    /// Logstash configurations beside the same written by hand: equal outputs, and the ratio of speeds; and the
    /// check of 10,000 lines, which needs the temblor command beside this one
    Logstash {
        /// Folders of scenarios; pipeline.conf and pipeline.tmb in one make it a pair
        #[arg(long, default_value = "bench/scenarios")]
        scenarios: PathBuf,
        /// Measured time of each run, in seconds
        #[arg(long, default_value = "4", value_parser = seconds)]
        seconds: Duration,
        /// Runs of each program; figures are medians
        #[arg(long, default_value_t = 5)]
        repetitions: usize,
    },
    /// The jobs that Splunk Eventgen publishes figures of; needs the temblor command beside this one
    Generation {
        /// The folder of the configuration
        #[arg(long, default_value = "bench/scenarios/eventgen/weblog")]
        folder: PathBuf,
        /// Events of each run and core
        #[arg(long, default_value_t = 5_000_000)]
        events: u64,
        /// Runs of each case; figures are medians
        #[arg(long, default_value_t = 3)]
        repetitions: usize,
    },
    /// Every scenario: counts first, then throughput, latency and scaling, then a report with plots
    All {
        /// Measured time of each case, in seconds
        #[arg(long, default_value = "4", value_parser = seconds)]
        seconds: Duration,
        /// Folders with a pipeline.json
        #[arg(long, default_value = "bench/scenarios")]
        scenarios: PathBuf,
        /// Where the report goes
        #[arg(long, default_value = "bench/results")]
        results: PathBuf,
        /// The program that measures the peers; without it the report says how to build it
        #[arg(long, default_value = all::PEERS)]
        peers: PathBuf,
    },
}

fn main() -> ExitCode {
    match run(Arguments::parse().what) {
        Ok(text) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Err(reason) => {
            eprintln!("error: {reason}");
            ExitCode::FAILURE
        }
    }
}

fn run(what: What) -> Result<String, String> {
    match what {
        What::Core { events, repetitions, memory_mb, data } => {
            let options = core::Options { events, repetitions, memory_mb, data };
            core::run(&options).map(|report| report.to_string())
        }
        What::Stages { events, repetitions } => {
            let report = stages::run(&stages::Options { events, repetitions })?;
            for subject in report.unexplained() {
                eprintln!("NOT EXPLAINED: the stages of `{subject}` do not add up to the whole");
            }
            Ok(report.to_string())
        }
        What::Keys { events, keys, repetitions } => {
            if keys.contains(&0) {
                return Err("there must be at least one key".to_string());
            }
            let options = keys::Options { events, keys, repetitions };
            keys::run(&options).map(|report| report.to_string())
        }
        What::Buffer { events, repetitions } => {
            let options = buffer::Options { events, repetitions };
            buffer::run(&options).map(|report| report.to_string())
        }
        What::Processes { scenarios, megabytes, repetitions } => {
            let options = processes::Options { scenarios, megabytes, repetitions };
            processes::run(&options).map(|report| report.to_string())
        }
        What::Logstash { scenarios, seconds, repetitions } => {
            let options =
                logstash::Options { scenarios, measured: seconds, repetitions, checks: true };
            logstash::run(&options).map(|report| report.to_string())
        }
        What::Generation { folder, events, repetitions } => {
            let options = generation::Options { folder, events, repetitions };
            generation::run(&options).map(|report| report.to_string())
        }
        What::All { seconds, scenarios, results, peers } => {
            let options = all::Options { scenarios, results, peers, measured: seconds };
            all::run(&options).map(|folder| folder.join("README.md").display().to_string())
        }
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let duration = text.parse().ok().and_then(|s| Duration::try_from_secs_f64(s).ok());
    let positive = duration.filter(|duration| !duration.is_zero());
    positive.ok_or_else(|| "a positive number of seconds is needed".to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_well_formed_and_no_time_is_refused() {
        use clap::CommandFactory;
        Arguments::command().debug_assert();
        assert!(Arguments::try_parse_from(["temblor-bench", "all", "--seconds", "0"]).is_err());
        assert!(seconds("0.5").is_ok() && seconds("x").is_err() && seconds("-1").is_err());
    }
}
