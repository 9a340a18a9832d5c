//! Lines per second of one grok pattern over a log file, beside the general engine.
//!
//! Invariant: both engines must count the same matches, so a wrong answer cannot look fast.
//!
//! `cargo run --release -p temblor-stdlib --example grok_speed -- LOG [PATTERN]`

use std::hint::black_box;
use std::time::{Duration, Instant};

use temblor_stdlib::grok::{Captures, Grok, Library, Options};

/// How long each engine is measured.
const ROUND: Duration = Duration::from_millis(1_500);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("usage: grok_speed LOG [PATTERN]")?;
    let pattern = arguments.next().unwrap_or_else(|| "%{COMBINEDAPACHELOG}".to_string());
    let log = std::fs::read_to_string(path)?;
    let lines: Vec<&str> = log.lines().collect();

    let started = Instant::now();
    let grok = Grok::compile(&pattern, &Library::legacy(), &Options::default())?;
    println!("compiled in {:.2?}, strategy {:?}", started.elapsed(), grok.strategy());
    let mut captures = Captures::new();
    let scanned = measure("grok", &lines, |line| grok.matches(line, &mut captures));

    let general = Grok::compile_general(&pattern, &Library::legacy(), &Options::default())?;
    let name = format!("general engine ({:?})", general.strategy());
    let reference = measure(&name, &lines, |line| general.matches(line, &mut captures));
    if scanned.0 != reference.0 {
        return Err(format!("{} matches against {}", scanned.0, reference.0).into());
    }
    println!("ratio {:.1}", scanned.1 / reference.1);
    Ok(())
}

/// Matches in one pass over the lines, and lines per second over all passes.
fn measure(name: &str, lines: &[&str], mut matches: impl FnMut(&str) -> bool) -> (usize, f64) {
    let count = lines.iter().filter(|line| matches(line)).count();
    let started = Instant::now();
    let busy = processor_time();
    let mut passes = 0;
    while started.elapsed() < ROUND {
        for line in lines {
            black_box(matches(black_box(line)));
        }
        passes += 1;
    }
    let spent = match (busy, processor_time()) {
        (Some(before), Some(after)) => after - before,
        _ => started.elapsed(),
    };
    let rate = (passes * lines.len()) as f64 / spent.as_secs_f64();
    println!("{name}: {count} of {} lines match, {:.3} million lines/s", lines.len(), rate / 1e6);
    (count, rate)
}

/// Time this thread has had the processor, where the system tells; other load on the machine then
/// does not count.
fn processor_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}
