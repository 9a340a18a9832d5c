//! The limit: the bytes are parsed to a tape (JSON) or copied (text), and nothing else is done. There is no program and no result.

use crate::engine::{Engine, Input, Outcome};
use simd_json::{Buffers, Tape};

/// Bare simd-json tape parsing with reused buffers, or a bare copy.
pub struct Bare {
    input: Input,
    line: Vec<u8>,
    buffers: Buffers,
    tape: Option<Tape<'static>>,
}

impl Bare {
    /// The limit for this kind of input.
    pub fn new(input: Input) -> Self {
        Self { input, line: Vec::new(), buffers: Buffers::default(), tape: Some(Tape::null()) }
    }

    fn parse(&mut self) -> Outcome {
        let mut tape = self.tape.take().unwrap_or_else(Tape::null).reset();
        let parsed = simd_json::fill_tape(&mut self.line, &mut self.buffers, &mut tape);
        let outcome = if parsed.is_ok() { Outcome::Emitted } else { Outcome::Failed };
        std::hint::black_box(&tape);
        self.tape = Some(tape.reset());
        outcome
    }
}

impl Engine for Bare {
    fn name(&self) -> &str {
        match self.input {
            Input::Json => "bare tape parse",
            Input::Text => "bare copy",
        }
    }

    fn run(&mut self, line: &[u8], _out: &mut Vec<u8>) -> Outcome {
        self.line.clear();
        self.line.extend_from_slice(line);
        match self.input {
            Input::Json => self.parse(),
            Input::Text => {
                std::hint::black_box(&self.line);
                Outcome::Emitted
            }
        }
    }
}
