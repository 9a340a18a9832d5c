//! The source whose events are made, not read.
//!
//! Invariant: an event is sent when its time has come, and never before; those of the past come at once.

use crate::{Spec, Stream};
use std::time::Duration;
use temblor_runtime::batch::Origin;
use temblor_runtime::checkpoint::FileMark;
use temblor_runtime::clock::{Clock, system_time};
use temblor_runtime::error::Error;
use temblor_runtime::framing::Framing;
use temblor_runtime::limits::BLOCK_BYTES;
use temblor_runtime::source::assembler::Block;
use temblor_runtime::source::feed::{At, Feed};
use temblor_runtime::source::{OpenSource, Source};

/// A generator and what the user calls it.
#[derive(Clone, Debug)]
pub struct Generated {
    /// The name of the source.
    pub name: String,
    /// What it makes.
    pub spec: Spec,
}

impl OpenSource for Generated {
    fn forgets(&self) -> bool {
        false
    }

    fn open(&self, _: &[FileMark]) -> Result<Box<dyn Source>, Error> {
        Ok(Box::new(GenerateSource::new(self.name.clone(), self.spec.clone())))
    }
}

/// The source.
pub(crate) struct GenerateSource {
    name: String,
    spec: Spec,
}

/// The longest single wait, so that a wish to stop is seen in time.
const WAIT_MAX: Duration = Duration::from_millis(50);

/// A block is sent when it holds so much.
const BLOCK_WANTED: usize = BLOCK_BYTES / 2;

impl GenerateSource {
    /// A source that has not begun.
    pub(crate) fn new(name: String, spec: Spec) -> Self {
        GenerateSource { name, spec }
    }
}

impl Source for GenerateSource {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn run(&mut self, feed: &Feed) -> Result<(), Error> {
        // Under a virtual clock nothing waits, and the events' own time begins with it.
        let is_virtual = feed.clock != Clock::System;
        let begin = if is_virtual { 0 } else { system_time() };
        let separator = self.spec.separator();
        let mut stream = Stream::open(&self.spec, begin)?.separated_by(separator);
        let is_paced = self.spec.is_paced() && !is_virtual;
        let start = self.spec.start.unwrap_or(begin);
        let origin = Origin::named(self.name.clone());
        let framing = match separator {
            b'\n' => Framing::Lines,
            other => Framing::Separated(other),
        };
        let at = At { origin, file: 0, framing };
        let (mut bytes, mut line, mut offset) = (Vec::with_capacity(BLOCK_BYTES), 1, 0);
        while !feed.stop.is_asked() {
            let now = system_time();
            let until = if is_paced { start + now.saturating_sub(begin) } else { u64::MAX };
            bytes.clear();
            let filled = stream.fill(&mut bytes, until, BLOCK_WANTED);
            let filled = filled.map_err(|reason| Error::config("generator", reason))?;
            if !bytes.is_empty() {
                let frames = memchr::memchr_iter(separator, &bytes).count() as u64;
                let block = block(feed, &bytes, frames, line, offset);
                (line, offset) = (line + block.frames, offset + bytes.len() as u64);
                if feed.send(Some(block), &at).is_err() {
                    break;
                }
            }
            match filled.next {
                None => break,
                Some(next) if next > until => {
                    std::thread::sleep(Duration::from_nanos(next - until).min(WAIT_MAX));
                }
                Some(_) => {}
            }
        }
        Ok(())
    }
}

fn block(feed: &Feed, bytes: &[u8], frames: u64, first_line: u64, offset: u64) -> Block {
    let mut buffer = feed.pool.take();
    buffer.grow(bytes.len());
    buffer[..bytes.len()].copy_from_slice(bytes);
    Block { buffer, range: 0..bytes.len(), frames, first_line, offset, bad: Vec::new() }
}
