//! The limit: each line is copied and parsed to a tape, with buffers that are used again. There is
//! no program and no output.

use super::measure::{Cost, Input};
use simd_json::{Buffers, Tape};

/// Parses every line of `input`.
pub fn tape(input: &Input) -> Result<Cost, String> {
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
