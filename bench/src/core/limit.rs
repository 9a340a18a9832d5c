//! The limit: each line is copied and, when it is JSON, parsed to a tape, with buffers that are used
//! again. There is no program and no output.

use super::measure::{Cost, Input};
use simd_json::{Buffers, Tape};

/// What the bytes of a scenario cost at the very least.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// What was done to them.
    pub name: &'static str,
    /// Processor time.
    pub ns_per_event: f64,
}

/// Bytes that are gone through for one figure, at least.
const LIMIT_BYTES: usize = 64 << 20;
/// Figures that the least is taken of: a limit is what nothing gets below, and what disturbs a run
/// only makes it longer.
const REPETITIONS: usize = 15;

/// Measures the limit of the lines of `text`.
pub(crate) fn measure(text: &[u8], is_json: bool) -> Limit {
    let passes = (LIMIT_BYTES / text.len().max(1)).max(1);
    let work = if is_json { parse_all } else { copy_all };
    let one = || {
        let all = || Ok((0..passes).map(|_| work(text)).sum::<u64>());
        Cost::of(all).map_or(f64::NAN, |(lines, cost)| cost.cpu_s * 1e9 / lines as f64)
    };
    let figures = std::iter::repeat_with(one).take(REPETITIONS);
    let ns_per_event = figures.fold(f64::INFINITY, f64::min);
    Limit { name: if is_json { "tape" } else { "copy" }, ns_per_event }
}

fn copy_all(text: &[u8]) -> u64 {
    let mut line = Vec::new();
    let mut copied = 0;
    for frame in text.split(|byte| *byte == b'\n').filter(|frame| !frame.is_empty()) {
        line.clear();
        line.extend_from_slice(frame);
        std::hint::black_box(&line);
        copied += 1;
    }
    copied
}

/// Parses every line of `input`.
pub(crate) fn tape(input: &Input) -> Result<Cost, String> {
    let (parsed, cost) = Cost::of(|| Ok(parse_all(&input.text)))?;
    if parsed == input.lines {
        Ok(cost)
    } else {
        Err(format!("bare tape parse: {parsed} of {} lines are JSON", input.lines))
    }
}

fn parse_all(text: &[u8]) -> u64 {
    let mut buffers = Buffers::default();
    let mut line = Vec::new();
    let mut kept = Some(Tape::null());
    let mut parsed = 0;
    for frame in text.split(|byte| *byte == b'\n').filter(|frame| !frame.is_empty()) {
        line.clear();
        line.extend_from_slice(frame);
        let mut tape = kept.take().unwrap_or_else(Tape::null).reset();
        parsed += u64::from(simd_json::fill_tape(&mut line, &mut buffers, &mut tape).is_ok());
        std::hint::black_box(&tape);
        kept = Some(tape.reset());
    }
    parsed
}
