//! The limit: lines that are in memory already are found with memchr, copied behind each other's padding and,
//! when they are JSON, parsed to a tape by simd-json, with buffers that are used again. There is no program, no
//! output and no file: what a whole process takes is never less than this.
//!
//! Invariant: nothing is done here that a reader of lines could leave out, or the limit would flatter.

use super::measure::{Cost, Input};
use memchr::memchr_iter;
use simd_json::{Buffers, INPUT_PADDING, Tape};

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
    for frame in lines(text) {
        line.clear();
        line.extend_from_slice(frame);
        std::hint::black_box(&line);
        copied += 1;
    }
    copied
}

/// The lines that are not empty.
fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let ends = memchr_iter(b'\n', text).chain((text.last() != Some(&b'\n')).then_some(text.len()));
    let mut start = 0;
    ends.map(move |end| &text[std::mem::replace(&mut start, end + 1)..end])
        .filter(|line| !line.is_empty())
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
    for frame in lines(text) {
        line.clear();
        line.extend_from_slice(frame);
        // simd-json reads beyond the text; without room for that it copies the text once more.
        line.resize(frame.len() + INPUT_PADDING, 0);
        let mut tape = kept.take().unwrap_or_else(Tape::null).reset();
        let length = frame.len();
        let done = simd_json::fill_tape_padded(&mut line, length, &mut buffers, &mut tape);
        parsed += u64::from(done.is_ok());
        std::hint::black_box(&tape);
        kept = Some(tape.reset());
    }
    parsed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_found_once() {
        for (text, wanted) in [("", 0), ("1", 1), ("1\n", 1), ("\n1\n\n[2]\n{}", 3)] {
            assert_eq!((parse_all(text.as_bytes()), copy_all(text.as_bytes())), (wanted, wanted));
        }
        assert_eq!(parse_all(b"{\"a\": [1, 2.5]}\nnot json\n"), 1);
    }
}
