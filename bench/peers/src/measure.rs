//! Interleaved timing: in every repetition each engine runs once, in turning order, so that a slow moment of the machine hits all of them.

use crate::engine::{Counts, Engine};
use rustix::time::{ClockId, clock_gettime};
use std::time::{Duration, Instant};

/// One engine's repetitions over one set of lines.
pub struct Timing {
    /// The name of the engine.
    pub engine: String,
    /// Outcomes of one pass over the lines.
    pub counts: Counts,
    /// CPU nanoseconds of one pass over the lines, one number per repetition.
    pub cpu_ns: Vec<f64>,
    /// Wall-clock nanoseconds of one pass over the lines, one number per repetition.
    pub wall_ns: Vec<f64>,
}

/// Times `engines` over `lines`: `repetitions` times at least `least` each.
pub fn interleaved(
    engines: &mut [Box<dyn Engine>],
    lines: &[String],
    repetitions: usize,
    least: Duration,
) -> Vec<Timing> {
    let mut out = Vec::with_capacity(1 << 20);
    let passes: Vec<u32> =
        engines.iter_mut().map(|engine| passes(engine.as_mut(), lines, least, &mut out)).collect();
    let mut timings: Vec<Timing> = engines.iter().map(|engine| Timing::of(engine.name())).collect();
    for repetition in 0..repetitions {
        for turn in 0..engines.len() {
            let index = (repetition + turn) % engines.len();
            timings[index].repeat(engines[index].as_mut(), lines, passes[index], &mut out);
        }
    }
    timings
}

/// How many passes over `lines` take `least`; running them warms caches and lazy parts too.
fn passes(engine: &mut dyn Engine, lines: &[String], least: Duration, out: &mut Vec<u8>) -> u32 {
    engine.run_all(lines, out);
    let start = Instant::now();
    engine.run_all(lines, out);
    let pass = start.elapsed().max(Duration::from_nanos(1));
    u32::try_from(least.as_nanos() / pass.as_nanos()).unwrap_or(u32::MAX).max(1)
}

impl Timing {
    fn of(engine: &str) -> Self {
        Self {
            engine: engine.to_string(),
            counts: Counts::default(),
            cpu_ns: Vec::new(),
            wall_ns: Vec::new(),
        }
    }

    fn repeat(
        &mut self,
        engine: &mut dyn Engine,
        lines: &[String],
        passes: u32,
        out: &mut Vec<u8>,
    ) {
        let (wall, cpu) = (Instant::now(), thread_cpu_ns());
        for _ in 0..passes {
            self.counts = engine.run_all(lines, out);
        }
        self.cpu_ns.push((thread_cpu_ns() - cpu) / f64::from(passes));
        self.wall_ns.push(wall.elapsed().as_nanos() as f64 / f64::from(passes));
        out.clear();
    }

    /// Median CPU seconds of one pass.
    pub fn cpu_s(&self) -> f64 {
        median(&self.cpu_ns) / 1e9
    }

    /// Median wall-clock seconds of one pass.
    pub fn wall_s(&self) -> f64 {
        median(&self.wall_ns) / 1e9
    }
}

/// The CPU time that this thread has used, in nanoseconds.
fn thread_cpu_ns() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

/// The middle of `numbers`, or the mean of the two in the middle.
pub fn median(numbers: &[f64]) -> f64 {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        odd if odd % 2 == 1 => sorted[odd / 2],
        even => f64::midpoint(sorted[even / 2 - 1], sorted[even / 2]),
    }
}

#[cfg(test)]
mod tests {
    use super::median;

    #[test]
    fn the_median_is_the_middle() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
    }
}
