//! `temblor-bench`: measures Temblor against the limit of its design. Counts are checked before
//! any figure is printed.

use std::process::ExitCode;
use temblor_bench::core::{self, Options};

const USAGE: &str =
    "usage: temblor-bench core [--events N] [--repetitions N] [--memory-mb N] [--data DIR]

  --events N       generated events (default 200000, about 126 MB)
  --repetitions N  runs of each case; figures are medians (default 5)
  --memory-mb N    input for the memory case, which needs the temblor command beside this one
                   (default 1000; 0 leaves it out)
  --data DIR       where real logs are looked for (default ../shared/data)";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    if arguments.next().as_deref() != Some("core") {
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
