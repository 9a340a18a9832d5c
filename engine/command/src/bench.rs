//! `temblor bench`: a program between an injector and sinks, and what it came to.

use super::BenchArgs;
use super::check::FAULTY;
use crate::measure::{BenchPlan, Feeding};
use std::path::Path;
use std::time::Duration;
use temblor_generate::inject::{Load, Outcome, Schedule, search};
use temblor_runtime::error::Error;

/// Exit code when events were lost.
const LOST: u8 = 4;

/// How long a trial of a search is measured, and warmed up before.
const TRIAL: (Duration, Duration) = (Duration::from_secs(3), Duration::from_secs(1));

/// Measures a program; gives the exit code.
pub(crate) fn bench(args: &BenchArgs) -> u8 {
    match measure(args) {
        Ok(outcome) => finish(&outcome, args),
        Err(Refusal::Faulty(report)) => {
            eprint!("{report}");
            FAULTY
        }
        Err(Refusal::Failed(error)) => {
            eprintln!("error: {error}");
            error.exit_code()
        }
    }
}

/// Why nothing was measured.
enum Refusal {
    /// The program has errors; this is their report.
    Faulty(String),
    Failed(Error),
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Refusal::Failed(error)
    }
}

fn measure(args: &BenchArgs) -> Result<Outcome, Refusal> {
    let load = args.rate.map_or(Load::Closed, Load::Open);
    let schedule = Schedule { load, warmup: args.warmup, measured: args.measured };
    let Some(limit) = args.find_max else { return run(args, schedule) };
    let (measured, warmup) = TRIAL;
    let ceiling = run(args, Schedule { load: Load::Closed, warmup, measured })?;
    let ceiling = ceiling.measurement().events_per_second;
    eprintln!("closed loop: {ceiling:.0} events/s");
    let found = search::find_max(ceiling, |rate| {
        let outcome = run(args, Schedule { load: Load::Open(rate), warmup, measured })?;
        let latency = outcome.recorded.latency.value_at_percentile(limit.percentile);
        let is_kept = latency < limit.below_ns;
        let verdict = if is_kept { "kept" } else { "broken" };
        let shown = temblor_generate::inject::outcome::duration(latency);
        eprintln!("{rate:.0} events/s: p{} is {shown}, {verdict}", limit.percentile);
        Ok::<_, Refusal>(is_kept)
    })?;
    match found {
        Some(rate) => {
            println!("highest rate that keeps the promise: {rate:.0} events/s");
            run(args, Schedule { load: Load::Open(rate), ..schedule })
        }
        None => {
            let reason = "no rate keeps it, not even the lowest one tried";
            Err(Error::config("--find-max", reason).into())
        }
    }
}

fn run(args: &BenchArgs, schedule: Schedule) -> Result<Outcome, Refusal> {
    let loaded = args.program.load().map_err(|reason| Error::config("program", reason))?;
    if loaded.has_errors() {
        return Err(Refusal::Faulty(loaded.report(false)));
    }
    let plan = BenchPlan {
        schedule,
        feeding: args.input.clone().map_or(Feeding::Declared, Feeding::File),
        codec: args.codec,
        keep_sinks: args.keep_sinks,
        workers: args.threads.workers(),
        order: args.threads.order(),
        batch_bytes: args.threads.batch_bytes(),
        seed: args.seed,
    };
    Ok(plan.run(loaded)?)
}

fn finish(outcome: &Outcome, args: &BenchArgs) -> u8 {
    println!("{}", outcome.table());
    let files = [(&args.json, outcome.json()), (&args.hgrm, outcome.hgrm())];
    for (path, text) in files.iter().filter_map(|(path, text)| Some((path.as_ref()?, text))) {
        if let Err(error) = write(path, text) {
            eprintln!("error: {error}");
            return error.exit_code();
        }
    }
    if outcome.account().is_quiescent() { 0 } else { LOST }
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    std::fs::write(path, format!("{}\n", text.trim_end())).map_err(|error| {
        let help = "give a path in a directory that exists and can be written";
        Error::output(path.display().to_string(), format!("cannot be written: {error}"), help)
    })
}
