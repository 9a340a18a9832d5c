//! `temblor-bench`: measures Temblor against the limit of its design. Counts are checked before
//! any figure is printed.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;
use temblor_bench::all;
use temblor_bench::core::{self, Options};

const USAGE: &str =
    "usage: temblor-bench core [--events N] [--repetitions N] [--memory-mb N] [--data DIR]

  --events N       generated events (default 200000, about 126 MB)
  --repetitions N  runs of each case; figures are medians (default 5)
  --memory-mb N    input for the memory case, which needs the temblor command beside this one
                   (default 1000; 0 leaves it out)
  --data DIR       where real logs are looked for (default ../shared/data)

       temblor-bench all [--seconds N] [--scenarios DIR] [--results DIR]

  --seconds N      measured time of each case (default 4)
  --scenarios DIR  folders with a pipeline.json (default bench/scenarios)
  --results DIR    where the report goes (default bench/results)";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let verb = arguments.next();
    if verb.as_deref() == Some("all") {
        return report(all_options(arguments).and_then(|options| all::run(&options)));
    }
    if verb.as_deref() != Some("core") {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    }
    match options(arguments).and_then(|options| core::run(&options)) {
        Ok(report) => {
            println!("{report}");
            ExitCode::SUCCESS
        }
        Err(reason) => {
            eprintln!("error: {reason}");
            ExitCode::FAILURE
        }
    }
}

fn report(folder: Result<PathBuf, String>) -> ExitCode {
    match folder {
        Ok(folder) => {
            println!("{}", folder.join("README.md").display());
            ExitCode::SUCCESS
        }
        Err(reason) => {
            eprintln!("error: {reason}");
            ExitCode::FAILURE
        }
    }
}

fn all_options(mut arguments: impl Iterator<Item = String>) -> Result<all::Options, String> {
    let mut options = all::Options::default();
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{name} needs a value\n{USAGE}"))?;
        match name.as_str() {
            "--scenarios" => options.scenarios = value.into(),
            "--results" => options.results = value.into(),
            "--seconds" => {
                let seconds = value.parse().ok().and_then(|s| Duration::try_from_secs_f64(s).ok());
                let seconds = seconds.filter(|seconds| !seconds.is_zero());
                options.measured =
                    seconds.ok_or_else(|| format!("{name}: `{value}` is no time"))?;
            }
            _ => return Err(format!("unknown option {name}\n{USAGE}")),
        }
    }
    Ok(options)
}

fn options(mut arguments: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options::default();
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{name} needs a value\n{USAGE}"))?;
        let number = || value.parse().map_err(|_| format!("{name}: `{value}` is no number"));
        match name.as_str() {
            "--events" => options.events = number()?,
            "--repetitions" => options.repetitions = number()?,
            "--memory-mb" => options.memory_mb = number()?,
            "--data" => options.data = value.into(),
            _ => return Err(format!("unknown option {name}\n{USAGE}")),
        }
    }
    Ok(options)
}
