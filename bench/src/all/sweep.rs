//! One scenario at maximum throughput over sizes of batches and numbers of workers.

use super::case;
use crate::scenario::{Scenario, Threads};
use std::time::Duration;
use temblor_generate::inject::Load;

/// Sizes of batches, in bytes.
const BATCH_BYTES: [usize; 5] = [4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20];
/// Numbers of workers.
const WORKERS: [usize; 3] = [1, 2, 4];
/// A point of a sweep is measured for this part of the time of a case.
const SHORTER: u32 = 4;

/// A scenario's throughput at each point.
pub(super) struct Sweep {
    /// The scenario.
    pub scenario: String,
    pub points: Vec<Point>,
}

/// One setting.
pub(super) struct Point {
    pub batch_bytes: usize,
    pub workers: usize,
    pub events_per_second: f64,
    pub cpu_ns_per_event: f64,
}

/// Measures every point.
pub(super) fn run(scenario: &Scenario, measured: Duration) -> Result<Sweep, String> {
    let mut points = Vec::new();
    for batch_bytes in BATCH_BYTES {
        for workers in WORKERS {
            let threads = Threads { workers, batch_bytes };
            let figures = case(scenario, Load::Closed, measured / SHORTER, threads)?;
            points.push(Point {
                batch_bytes,
                workers,
                events_per_second: figures.events_per_second,
                cpu_ns_per_event: figures.cpu_ns_per_event,
            });
        }
    }
    Ok(Sweep { scenario: scenario.name.clone(), points })
}
