//! The source of the same lines over and over: `{"sequence": n, "line": …}`, as fast as they are taken.
//!
//! Invariant: all lines have the number of the round that they belong to, from 0.

use crate::batch::Origin;
use crate::error::Error;
use crate::framing::Framing;
use crate::limits::BLOCK_BYTES;
use crate::source::Source;
use crate::source::chained::block;
use crate::source::feed::{At, Feed};
use std::sync::Arc;
use temblor_lang::value::push_json_string;

/// What a plan says of such a source.
#[derive(Clone, Debug)]
pub struct RepeatConfig {
    /// The lines of a round.
    pub lines: Vec<String>,
    /// How many rounds; 0 is for ever.
    pub count: u64,
    /// How often every line of a round comes.
    pub times: u64,
}

/// The source.
pub struct RepeatSource {
    config: RepeatConfig,
}

impl RepeatSource {
    /// A source that has not begun.
    pub fn new(config: RepeatConfig) -> Self {
        Self { config }
    }
}

impl Source for RepeatSource {
    fn name(&self) -> String {
        "generator".to_string()
    }

    fn run(&mut self, feed: &Feed) -> Result<(), Error> {
        let at =
            At { origin: Arc::new(Origin { name: self.name() }), file: 0, framing: Framing::Lines };
        feed.ledger.name_file(feed.source, 0, None);
        let RepeatConfig { lines, count, times } = &self.config;
        let (mut bytes, mut frames, mut first, mut offset) = (Vec::new(), 0, 1, 0);
        let mut round = 0_u64;
        let mut open = !lines.is_empty();
        while open && (*count == 0 || round < *count) && !feed.stop.is_asked() {
            for line in lines.iter().flat_map(|line| (0..*times).map(move |_| line)) {
                bytes.extend_from_slice(format!("{{\"sequence\":{round},\"line\":").as_bytes());
                push_json_string(&mut bytes, line);
                bytes.extend_from_slice(b"}\n");
                frames += 1;
            }
            round += 1;
            if bytes.len() >= BLOCK_BYTES || feed.queue.is_hungry() || round == *count {
                let full = block(feed, &bytes, frames, first, offset);
                (first, offset) = (first + frames, offset + bytes.len() as u64);
                bytes.clear();
                frames = 0;
                open = feed.send(Some(full), &at).is_ok();
            }
        }
        Ok(())
    }
}
