//! `temblor-bench all`: every scenario, counts first, then figures, then a report with plots.
//!
//! Invariant: the report says what machine it was, and how busy with other things.

mod beside;
mod report;
mod sweep;

use crate::core::limit::Limit;
use crate::core::process;
use crate::scenario::{Scenario, Threads, folders};
use crate::{stages, svg};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use sweep::Sweep;
use temblor_generate::inject::{Load, Measurement, Schedule, machine};
use temblor_generate::{Spec, Stream};
use temblor_lang::value::Arena;

/// How the figures are taken.
pub struct Options {
    /// Where the scenarios are.
    pub scenarios: PathBuf,
    /// Where the report goes.
    pub results: PathBuf,
    /// The program that measures the peers.
    pub peers: PathBuf,
    /// How long each case is measured.
    pub measured: Duration,
}

/// The program that measures the peers, once it has been built.
pub const PEERS: &str = "bench/peers/target/release/peers";

impl Default for Options {
    fn default() -> Self {
        Options {
            scenarios: PathBuf::from("bench/scenarios"),
            results: PathBuf::from("bench/results"),
            peers: PathBuf::from(PEERS),
            measured: Duration::from_secs(4),
        }
    }
}

/// The figures of a scenario.
struct Row {
    name: String,
    /// The least that its bytes cost, and what does that.
    limit: Limit,
    /// Closed loop with one worker.
    one: Measurement,
    /// Closed loop with two workers.
    two: Measurement,
    /// Open loop with one worker at half of its throughput.
    half: Measurement,
}

/// Everything that was measured.
struct Figures {
    /// Name and value of what is known about the machine and the build.
    machine: Vec<(String, String)>,
    rows: Vec<Row>,
    sweeps: Vec<Sweep>,
    generators: Vec<Generator>,
    stages: stages::Report,
    /// Milliseconds from the start of a process to its first output.
    starts: Vec<(&'static str, f64)>,
    /// The peers' tables as Markdown.
    peers: String,
}

/// What a generator makes on one core.
struct Generator {
    kind: &'static str,
    events_per_second: f64,
    bytes_per_second: f64,
}

/// Part of the measured time that comes before it.
const WARMUP: u32 = 4;

/// Measures everything; gives the folder of the report.
pub fn run(options: &Options) -> Result<PathBuf, String> {
    let begun = Instant::now();
    let load_before = machine::load_average();
    let (mut rows, mut sweeps) = (Vec::new(), Vec::new());
    for folder in folders(&options.scenarios)? {
        let scenario = Scenario::load(&folder)?;
        scenario.check(1)?;
        let Some(limit) = scenario.limit() else {
            eprintln!("{}: counts are right", scenario.name);
            continue;
        };
        let row = measure(&scenario, limit, options.measured)?;
        eprintln!("{}: {:.0} events/s with one worker", row.name, row.one.events_per_second);
        rows.push(row);
        if scenario.is_swept {
            sweeps.push(sweep::run(&scenario, options.measured)?);
        }
    }
    let generators = generators()?;
    let stages = stages::run(&stages::Options::default())?;
    let starts = process::starts()?;
    let peers = beside::tables(&options.peers)?;
    let machine = machine_lines(load_before, begun.elapsed());
    write(options, &Figures { machine, rows, sweeps, generators, stages, starts, peers })
}

fn measure(scenario: &Scenario, limit: Limit, measured: Duration) -> Result<Row, String> {
    let one = case(scenario, Load::Closed, measured, Threads::of(1))?;
    let two = case(scenario, Load::Closed, measured, Threads::of(2))?;
    let half = Load::Open(one.events_per_second / 2.0);
    let half = case(scenario, half, measured, Threads::of(1))?;
    Ok(Row { name: scenario.name.clone(), limit, one, two, half })
}

/// Measures one case; every event must be accounted for.
fn case(
    scenario: &Scenario,
    load: Load,
    measured: Duration,
    threads: Threads,
) -> Result<Measurement, String> {
    let schedule = Schedule { load, warmup: measured / WARMUP, measured };
    let outcome = scenario.run(schedule, threads)?;
    if !outcome.account().is_one_to_one() {
        return Err(format!("{}: events were lost: {:?}", scenario.name, outcome.account()));
    }
    Ok(outcome.measurement())
}

/// Events and bytes a second of each generator on one core.
fn generators() -> Result<Vec<Generator>, String> {
    const EVENTS: u64 = 3_000_000;
    const BLOCK_BYTES: usize = 128 * 1024;
    let mut figures = Vec::new();
    for kind in ["windbag", "syslog", "weblog", "json-app"] {
        let arena = Arena::new();
        let settings = arena.record_builder(0).finish();
        let spec = Spec::from_settings(kind, settings, None).map_err(|error| error.reason)?;
        let spec = Spec { count: Some(EVENTS), ..spec };
        let mut stream = Stream::open(&spec, 0).map_err(|error| error.to_string())?;
        let (mut block, mut bytes, mut events) = (Vec::new(), 0, 0);
        let before = machine::Usage::now();
        loop {
            block.clear();
            let filled = stream.fill(&mut block, u64::MAX, BLOCK_BYTES)?;
            (events, bytes) = (events + filled.events, bytes + block.len());
            if filled.next.is_none() {
                break;
            }
        }
        let seconds = (machine::Usage::now().cpu_ns - before.cpu_ns) as f64 / 1e9;
        if events != EVENTS {
            return Err(format!("{kind}: {events} events, {EVENTS} expected"));
        }
        figures.push(Generator {
            kind,
            events_per_second: events as f64 / seconds,
            bytes_per_second: bytes as f64 / seconds,
        });
    }
    Ok(figures)
}

fn machine_lines(load_before: Option<f64>, took: Duration) -> Vec<(String, String)> {
    let unknown = || "unknown".to_string();
    let load = |load: Option<f64>| load.map_or_else(unknown, |load| format!("{load:.2}"));
    let pairs = [
        ("processor", machine::processor().unwrap_or_else(unknown)),
        ("cores", machine::cores().to_string()),
        ("system", std::env::consts::OS.to_string()),
        ("temblor", env!("CARGO_PKG_VERSION").to_string()),
        (
            "build",
            if cfg!(debug_assertions) { "debug: no figure counts" } else { "release" }.into(),
        ),
        ("load average before", load(load_before)),
        ("load average after", load(machine::load_average())),
        ("the whole took", format!("{:.0} s", took.as_secs_f64())),
    ];
    pairs.into_iter().map(|(name, value)| (name.to_string(), value)).collect()
}

fn write(options: &Options, figures: &Figures) -> Result<PathBuf, String> {
    let rows = &figures.rows;
    let folder = options.results.join(format!("{}-{}", today(), machine_name()));
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    std::fs::create_dir_all(&folder).map_err(failed)?;
    let throughput: Vec<_> =
        rows.iter().map(|row| (row.name.clone(), row.one.events_per_second)).collect();
    let scaling: Vec<_> = rows
        .iter()
        .map(|row| {
            (row.name.clone(), 100.0 * row.two.events_per_second / row.one.events_per_second)
        })
        .collect();
    let latency: Vec<svg::Line> =
        rows.iter().map(|row| (row.name.clone(), row.half.latency_ns.clone())).collect();
    let files = [
        ("README.md", report::markdown(figures)),
        ("results.json", report::json(figures)),
        ("throughput.svg", svg::bars("Throughput with one worker", &throughput, "events/s")),
        ("scaling.svg", svg::bars("Two workers, in % of one", &scaling, "%")),
        ("latency.svg", svg::latencies("Latency at half the throughput of one worker", &latency)),
    ];
    for (name, text) in files {
        std::fs::write(folder.join(name), text).map_err(failed)?;
    }
    Ok(folder)
}

fn today() -> String {
    let now = temblor_runtime::clock::system_time();
    let civil = temblor_generate::stamp::Civil::of(now);
    format!("{:04}-{:02}-{:02}", civil.year, civil.month, civil.day)
}

/// The processor's name as part of a path.
fn machine_name() -> String {
    let name = machine::processor().unwrap_or_else(|| std::env::consts::ARCH.to_string());
    let words = name.to_lowercase();
    let words = words.split(|letter: char| !letter.is_ascii_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).take(4).collect();
    format!("{}-{}-cores", words.join("-"), machine::cores())
}
