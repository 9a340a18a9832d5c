//! What the harness asks of every engine under test: one line in, one encoded result out, on one thread.

/// How an engine takes a line before its program runs, and how the result is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Input {
    /// A line is a JSON document.
    Json,
    /// A line is a string event as it stands.
    Text,
}

/// What became of one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The result was appended to the output.
    Emitted,
    /// The program dropped the event.
    Dropped,
    /// The line could not be parsed, or the program failed on it.
    Failed,
}

/// How many lines had which outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
pub struct Counts {
    /// Lines with a result.
    pub emitted: u64,
    /// Lines that the program dropped.
    #[serde(default)]
    pub dropped: u64,
    /// Lines that failed.
    #[serde(default)]
    pub failed: u64,
}

impl Counts {
    /// Counts one more line.
    pub fn add(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Emitted => self.emitted += 1,
            Outcome::Dropped => self.dropped += 1,
            Outcome::Failed => self.failed += 1,
        }
    }
}

/// Encoded results are thrown away when they reach this many bytes, so that every engine writes to memory that is warm in the cache.
const OUTPUT_BYTES_MAX: usize = 64 * 1024;

/// A program of one engine, compiled and ready.
pub trait Engine {
    /// The name in the report.
    fn name(&self) -> &str;

    /// Parses `line`, runs the program and appends the encoded result (without a line end) to `out`. Nothing is appended
    /// unless the outcome is [`Outcome::Emitted`].
    fn run(&mut self, line: &[u8], out: &mut Vec<u8>) -> Outcome;

    /// Runs over all lines. Engines that work on batches do it here in their own way.
    fn run_all(&mut self, lines: &[String], out: &mut Vec<u8>) -> Counts {
        let mut counts = Counts::default();
        for line in lines {
            counts.add(self.run(line.as_bytes(), out));
            out.push(b'\n');
            if out.len() >= OUTPUT_BYTES_MAX {
                std::hint::black_box(&out);
                out.clear();
            }
        }
        counts
    }
}
