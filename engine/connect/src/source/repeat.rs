//! The source of the same lines over and over: `{"sequence": n, "line": …}`, as fast as they are taken, or
//! at a rate.
//!
//! Invariant: all lines have the number of the round that they belong to, from 0.

use crate::source::chained::block;
use crate::source::metronome::wait_until;
use temblor_lang::value::push_json_string;
use temblor_runtime::batch::Origin;
use temblor_runtime::clock::{Clock, system_time};
use temblor_runtime::error::Error;
use temblor_runtime::framing::Framing;
use temblor_runtime::limits::BLOCK_BYTES;
use temblor_runtime::queue::Closed;
use temblor_runtime::source::Source;
use temblor_runtime::source::feed::{At, Feed};

/// What a plan says of such a source.
#[derive(Clone, Debug)]
pub struct RepeatConfig {
    /// The lines of a round.
    pub lines: Vec<String>,
    /// How many rounds; 0 is for ever.
    pub count: u64,
    /// How often every line of a round comes.
    pub times: u64,
    /// How many lines come in a second, above 0, each `times` times; nothing is as fast as they are taken.
    pub per_second: Option<f64>,
}

/// The source.
pub(crate) struct RepeatSource {
    config: RepeatConfig,
}

impl RepeatSource {
    /// A source that has not begun.
    pub(crate) fn new(config: RepeatConfig) -> Self {
        Self { config }
    }

    /// When the line behind so many is due, in nanoseconds behind the start.
    fn due(&self, lines: u64) -> Option<u64> {
        let rate = self.config.per_second?;
        Some(((lines / self.config.times) as f64 / rate * 1e9) as u64)
    }
}

impl Source for RepeatSource {
    fn name(&self) -> String {
        "generator".to_string()
    }

    fn run(&mut self, feed: &Feed) -> Result<(), Error> {
        let at = At { origin: Origin::named(self.name()), file: 0, framing: Framing::Lines };
        feed.ledger.name_file(feed.source, 0, None);
        let RepeatConfig { lines, count, times, .. } = &self.config;
        let start = system_time();
        // A virtual clock waits for nothing.
        let is_timed = feed.clock == Clock::System;
        let mut made = Made { bytes: Vec::new(), frames: 0, first: 1, offset: 0 };
        let mut round = 0_u64;
        let mut open = !lines.is_empty();
        while open && (*count == 0 || round < *count) && !feed.stop.is_asked() {
            for line in lines.iter().flat_map(|line| (0..*times).map(move |_| line)) {
                let due = self.due(made.lines()).map(|since| start.saturating_add(since));
                if let Some(due) = due.filter(|due| is_timed && *due > system_time()) {
                    open = made.send(feed, &at).is_ok();
                    if !open || !wait_until(due, feed)? {
                        return Ok(());
                    }
                }
                made.push(round, line);
            }
            round += 1;
            if made.bytes.len() >= BLOCK_BYTES || feed.queue.is_hungry() || round == *count {
                open = made.send(feed, &at).is_ok();
            }
        }
        Ok(())
    }
}

/// Lines that were made.
struct Made {
    /// Those that are not sent yet.
    bytes: Vec<u8>,
    frames: u64,
    /// The number of the first of them, and where it begins.
    first: u64,
    offset: u64,
}

impl Made {
    /// How many there were so far.
    fn lines(&self) -> u64 {
        self.first - 1 + self.frames
    }

    fn push(&mut self, round: u64, line: &str) {
        self.bytes.extend_from_slice(format!("{{\"sequence\":{round},\"line\":").as_bytes());
        push_json_string(&mut self.bytes, line);
        self.bytes.extend_from_slice(b"}\n");
        self.frames += 1;
    }

    fn send(&mut self, feed: &Feed, at: &At) -> Result<(), Closed> {
        if self.frames == 0 {
            return Ok(());
        }
        let full = block(feed, &self.bytes, self.frames, self.first, self.offset);
        (self.first, self.offset) =
            (self.first + self.frames, self.offset + self.bytes.len() as u64);
        self.bytes.clear();
        self.frames = 0;
        feed.send(Some(full), at)
    }
}

#[cfg(test)]
mod tests {
    use super::{RepeatConfig, RepeatSource};

    #[test]
    fn lines_are_due_at_the_rate_that_is_said() {
        let due = |per_second, times, lines| {
            let config = RepeatConfig { lines: Vec::new(), count: 0, times, per_second };
            RepeatSource::new(config).due(lines)
        };
        assert_eq!(due(Some(2.0), 1, 3), Some(1_500_000_000));
        assert_eq!(due(Some(0.5), 1, 1), Some(2_000_000_000));
        assert_eq!(due(Some(2.0), 3, 3), Some(500_000_000));
        assert_eq!(due(None, 1, 3), None);
    }
}
