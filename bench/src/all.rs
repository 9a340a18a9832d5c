//! `temblor-bench all`: every scenario, counts first, then figures, then a report with plots.
//!
//! Invariant: the report says what machine it was, and how busy with other things.

use crate::scenario::{Scenario, folders};
use crate::svg;
use std::fmt::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use temblor_engine::generate::{Spec, Stream};
use temblor_engine::inject::outcome::duration;
use temblor_engine::inject::{Load, Measurement, Schedule, machine};
use temblor_lang::value::Arena;

/// How the figures are taken.
pub struct Options {
    /// Where the scenarios are.
    pub scenarios: PathBuf,
    /// Where the report goes.
    pub results: PathBuf,
    /// How long each case is measured.
    pub measured: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            scenarios: PathBuf::from("bench/scenarios"),
            results: PathBuf::from("bench/results"),
            measured: Duration::from_secs(4),
        }
    }
}

/// The figures of a scenario.
struct Row {
    name: String,
    /// Closed loop with one worker.
    one: Measurement,
    /// Closed loop with two workers.
    two: Measurement,
    /// Open loop with one worker at half of its throughput.
    half: Measurement,
}

/// Part of the measured time that comes before it.
const WARMUP: u32 = 4;

/// Measures everything; gives the folder of the report.
pub fn run(options: &Options) -> Result<PathBuf, String> {
    let begun = Instant::now();
    let load_before = machine::load_average();
    let mut rows = Vec::new();
    for folder in folders(&options.scenarios)? {
        let scenario = Scenario::load(&folder)?;
        scenario.check(1)?;
        if scenario.makes_its_own_events() {
            eprintln!("{}: counts are right", scenario.name);
            continue;
        }
        let row = measure(&scenario, options.measured)?;
        eprintln!("{}: {:.0} events/s with one worker", row.name, row.one.events_per_second);
        rows.push(row);
    }
    let generators = generators()?;
    let machine_lines = machine_lines(load_before, begun.elapsed());
    write(options, &rows, &generators, &machine_lines)
}

fn measure(scenario: &Scenario, measured: Duration) -> Result<Row, String> {
    let warmup = measured / WARMUP;
    let case = |load: Load, workers: usize| {
        let outcome = scenario.run(Schedule { load, warmup, measured }, workers)?;
        if !outcome.account().is_one_to_one() {
            return Err(format!("{}: events were lost: {:?}", scenario.name, outcome.account()));
        }
        Ok(outcome.measurement())
    };
    let one = case(Load::Closed, 1)?;
    let two = case(Load::Closed, 2)?;
    let half = case(Load::Open(one.events_per_second / 2.0), 1)?;
    Ok(Row { name: scenario.name.clone(), one, two, half })
}

/// Events and bytes a second of each generator on one core.
fn generators() -> Result<Vec<(&'static str, f64, f64)>, String> {
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
        figures.push((kind, events as f64 / seconds, bytes as f64 / seconds));
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

type Generators<'a> = &'a [(&'static str, f64, f64)];

fn write(
    options: &Options,
    rows: &[Row],
    generators: Generators<'_>,
    machine_lines: &[(String, String)],
) -> Result<PathBuf, String> {
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
        ("README.md", markdown(rows, generators, machine_lines)),
        ("results.json", json(rows, generators, machine_lines)),
        ("throughput.svg", svg::bars("Throughput with one worker", &throughput, "events/s")),
        ("scaling.svg", svg::bars("Two workers, in % of one", &scaling, "%")),
        ("latency.svg", svg::latencies("Latency at half the throughput of one worker", &latency)),
    ];
    for (name, text) in files {
        std::fs::write(folder.join(name), text).map_err(failed)?;
    }
    Ok(folder)
}

fn markdown(
    rows: &[Row],
    generators: Generators<'_>,
    machine_lines: &[(String, String)],
) -> String {
    let mut text = "# Results of `temblor-bench all`\n\n| | |\n|---|---|\n".to_string();
    for (name, value) in machine_lines {
        let _ = writeln!(text, "| {name} | {value} |");
    }
    text.push_str(
        "\nThe injector and the writer run on the same cores as the workers. With a load average well above \
         the number of busy threads, wall-clock figures say less than CPU time per event.\n\n\
         | scenario | 1 worker, events/s | MB/s | CPU, ns/event | 2 workers, events/s | p50 at half load | p99 | p99.99 | max |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    for row in rows {
        let at = |percentile: f64| {
            let found = row.half.latency_ns.iter().find(|(known, _)| *known == percentile);
            found.map_or_else(String::new, |(_, ns)| duration(*ns))
        };
        let _ = writeln!(
            text,
            "| {} | {:.0} | {:.0} | {:.0} | {:.0} | {} | {} | {} | {} |",
            row.name,
            row.one.events_per_second,
            row.one.bytes_per_second / 1e6,
            row.one.cpu_ns_per_event,
            row.two.events_per_second,
            at(50.0),
            at(99.0),
            at(99.99),
            at(100.0)
        );
    }
    text.push_str("\n| generator | events/s of a core | MB/s |\n|---|---:|---:|\n");
    for (kind, events, bytes) in generators {
        let _ = writeln!(text, "| {kind} | {events:.0} | {:.0} |", bytes / 1e6);
    }
    text.push_str(
        "\n![throughput](throughput.svg)\n![scaling](scaling.svg)\n![latency](latency.svg)\n",
    );
    text
}

fn json(rows: &[Row], generators: Generators<'_>, machine_lines: &[(String, String)]) -> String {
    let quoted = |text: &str| format!("{text:?}");
    let machine: Vec<String> = machine_lines
        .iter()
        .map(|(name, value)| format!("{}:{}", quoted(name), quoted(value)))
        .collect();
    let case = |figures: &Measurement| {
        let latency: Vec<String> =
            figures.latency_ns.iter().map(|(one, ns)| format!("\"{one}\":{ns}")).collect();
        format!(
            r#"{{"events_per_second":{:.1},"bytes_per_second":{:.1},"cpu_ns_per_event":{:.1},"cores":{:.3},"latency_ns":{{{}}}}}"#,
            figures.events_per_second,
            figures.bytes_per_second,
            figures.cpu_ns_per_event,
            figures.cores,
            latency.join(",")
        )
    };
    let rows: Vec<String> = rows
        .iter()
        .map(|row| {
            let (one, two, half) = (case(&row.one), case(&row.two), case(&row.half));
            let name = quoted(&row.name);
            format!(r#"{name}:{{"closed_1":{one},"closed_2":{two},"open_half_1":{half}}}"#)
        })
        .collect();
    let generators: Vec<String> = generators
        .iter()
        .map(|(kind, events, bytes)| {
            format!(r#""{kind}":{{"events_per_second":{events:.0},"bytes_per_second":{bytes:.0}}}"#)
        })
        .collect();
    format!(
        "{{\"machine\":{{{}}},\n\"scenarios\":{{{}}},\n\"generators\":{{{}}}}}\n",
        machine.join(","),
        rows.join(",\n"),
        generators.join(",")
    )
}

fn today() -> String {
    let now = temblor_engine::clock::system_time();
    let civil = temblor_engine::generate::stamp::Civil::of(now);
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
