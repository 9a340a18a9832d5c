//! Runs the scenarios side by side through Temblor and its peers: equal outputs and counts first, then interleaved timing.

mod engine;
mod tape;
mod temblor;
mod tremor;
mod vrl_engine;
mod scenario;
mod compare;
mod measure;
mod report;

use report::Section;
use scenario::{Data, Scenario};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const USAGE: &str = "peers [--scenario NAME]... [--repetitions N] [--milliseconds N] [--json FILE] [--data DIR] [--check]
  --scenario NAME    only these (default: every folder of bench/scenarios)
  --repetitions N    interleaved repetitions, at least 5 for a figure to quote (default 7)
  --milliseconds N   how long one repetition of one engine takes at least (default 200)
  --json FILE        writes the figures as JSON too
  --data DIR         real data (default: shared/data beside the checkout)
  --check            compares outputs and counts, times nothing";

struct Options {
    scenarios: Vec<String>,
    repetitions: usize,
    least: Duration,
    json: Option<PathBuf>,
    real_data: PathBuf,
    check: bool,
}

impl Options {
    fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let bench = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut options = Self {
            scenarios: Vec::new(),
            repetitions: 7,
            least: Duration::from_millis(200),
            json: None,
            real_data: bench.join("../../shared/data"),
            check: false,
        };
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or(format!("{argument} needs a value\n{USAGE}"));
            match argument.as_str() {
                "--scenario" => options.scenarios.push(value()?),
                "--repetitions" => options.repetitions = number(&value()?)?.max(1) as usize,
                "--milliseconds" => options.least = Duration::from_millis(number(&value()?)?),
                "--json" => options.json = Some(value()?.into()),
                "--data" => options.real_data = value()?.into(),
                "--check" => options.check = true,
                _ => return Err(format!("unknown argument {argument}\n{USAGE}")),
            }
        }
        Ok(options)
    }
}

fn number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("{text} is not a number\n{USAGE}"))
}

fn main() -> ExitCode {
    match Options::parse(std::env::args().skip(1)).and_then(|options| run(&options)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}

/// Runs all that is asked for; false when engines disagree anywhere.
fn run(options: &Options) -> Result<bool, String> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../scenarios");
    let mut sections = Vec::new();
    let mut agreed = true;
    for folder in scenario::folders(&root)? {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !options.scenarios.is_empty() && !options.scenarios.contains(&name) {
            continue;
        }
        // One scenario that cannot run does not take the others' figures away.
        agreed &= run_scenario(&folder, options, &mut sections).unwrap_or_else(|message| {
            eprintln!("{name}: {message}");
            false
        });
    }
    if let Some(file) = &options.json {
        let text = serde_json::to_string_pretty(&sections).map_err(|error| error.to_string())?;
        std::fs::write(file, text).map_err(|error| format!("{}: {error}", file.display()))?;
    }
    Ok(agreed)
}

/// Compares and, unless only that is asked for, times one scenario; false when engines disagree.
fn run_scenario(
    folder: &Path,
    options: &Options,
    sections: &mut Vec<Section>,
) -> Result<bool, String> {
    let scenario = Scenario::load(folder, &options.real_data)?;
    let mut agreed = true;
    for data in &scenario.data {
        if !verify(&scenario, data)? {
            agreed = false;
        } else if !options.check {
            let section = section(&scenario, data, options)?;
            print!("{}", section.markdown());
            sections.push(section);
        }
    }
    Ok(agreed)
}

/// Times all engines over one set of lines.
fn section(scenario: &Scenario, data: &Data, options: &Options) -> Result<Section, String> {
    let mut engines = scenario.engines()?;
    let timings =
        measure::interleaved(&mut engines, &data.lines, options.repetitions, options.least);
    Ok(Section::of(&scenario.name, data, &timings))
}

/// Whether all engines give the expected counts and equal results on every line; says on standard error what differs.
fn verify(scenario: &Scenario, data: &Data) -> Result<bool, String> {
    let mut engines = scenario.engines()?;
    let results: Vec<compare::Results> = engines
        .iter_mut()
        .skip(1)
        .map(|engine| compare::collect(engine.as_mut(), &data.lines))
        .collect();
    let mut agreed = true;
    for result in &results {
        let wrong = data.expect.filter(|expect| *expect != result.counts);
        if let Some(expect) = wrong {
            agreed = false;
            eprintln!(
                "{} ({}): {} counted {:?}, expected {expect:?}",
                scenario.name, data.name, result.engine, result.counts
            );
        }
        let (count, first) = compare::differences(&results[0], result);
        if let Some(first) = first {
            agreed = false;
            eprintln!(
                "{} ({}): {count} of {} results of {} differ from {}; {first}",
                scenario.name,
                data.name,
                data.lines.len(),
                result.engine,
                results[0].engine
            );
        }
    }
    Ok(agreed)
}
