//! The source that injects frames at a fixed frequency.
//!
//! Invariant: it never waits for an answer; only a queue without room holds it up, and then the
//! events that it could not send are late, and counted as late.

use crate::inject::InjectConfig;
use crate::inject::recorder::Sending;
use crate::inject::schedule::Load;
use temblor_runtime::batch::Origin;
use temblor_runtime::checkpoint::FileMark;
use temblor_runtime::error::Error;
use temblor_runtime::framing::Framing;
use temblor_runtime::source::assembler::Block;
use temblor_runtime::source::feed::{At, Feed};
use temblor_runtime::source::{OpenSource, Source};

impl OpenSource for InjectConfig {
    fn forgets(&self) -> bool {
        false
    }

    fn open(&self, _: &[FileMark]) -> Result<Box<dyn Source>, Error> {
        Ok(Box::new(InjectSource::new(self.clone())))
    }
}

/// The injector.
pub(crate) struct InjectSource {
    config: InjectConfig,
}

impl InjectSource {
    /// An injector that has not begun.
    pub(crate) fn new(config: InjectConfig) -> Self {
        InjectSource { config }
    }

    /// How many events are to be sent by now, and whether there are more to come.
    fn wanted(&self, sent: u64, elapsed_ns: u64) -> Option<u64> {
        let schedule = &self.config.schedule;
        match schedule.load {
            Load::Open(_) => (Some(sent) != schedule.total()).then(|| schedule.due(elapsed_ns)),
            Load::Closed => {
                (u128::from(elapsed_ns) < schedule.whole().as_nanos()).then_some(u64::MAX)
            }
        }
    }
}

impl Source for InjectSource {
    fn name(&self) -> String {
        self.config.name.clone()
    }

    fn run(&mut self, feed: &Feed) -> Result<(), Error> {
        let InjectConfig { name, frames, schedule, recorder } = &self.config;
        let ticker = recorder.ticker();
        let origin = Origin::named(name.clone());
        let at = At { origin, file: 0, framing: Framing::Lines };
        let start = ticker.now();
        let (mut sent, mut offset) = (0, 0);
        let unmeasured = schedule.unmeasured();
        while !feed.stop.is_asked() {
            let now = ticker.now();
            let Some(wanted) = self.wanted(sent, now - start) else { break };
            // No batch is partly measured.
            let wanted = if sent < unmeasured { wanted.min(unmeasured) } else { wanted };
            if wanted <= sent {
                ticker.wait_until(start + schedule.offset(sent));
                continue;
            }
            let mut buffer = feed.pool.take();
            let (count, bytes) = frames.fill(&mut buffer, sent, wanted - sent);
            let sending = Sending {
                schedule: *schedule,
                start,
                first: sent,
                count,
                bytes: bytes as u64,
                now,
            };
            let block = Block {
                buffer,
                range: 0..bytes,
                frames: count,
                first_line: sent + 1,
                offset,
                bad: Vec::new(),
            };
            if feed.send_watched(block, &at, recorder.send(&sending)).is_err() {
                break;
            }
            sent += count;
            offset += bytes as u64;
        }
        Ok(())
    }
}
