//! A worker: takes work from the queue, has the processor do it, and hands the outputs on.
//!
//! Invariant: every number taken from the queue is put into the outbox exactly once, even when the
//! processor panics, so that nobody waits for it for ever.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::batch::Batch;
use crate::clock::{Clock, EventTimes, Timestamp, nanoseconds, system_time};
use crate::error::Error;
use crate::framing::FrameCursor;
use crate::limits::{REST_MAX, TICK_INTERVAL};
use crate::outbox::Outbox;
use crate::outputs::Outputs;
use crate::processor::Processor;
use crate::queue::{Queue, Work};
use crate::snapshot::Snapshot;
use crate::stats::Stats;
use crate::stop::Stop;
use crate::turnstile::{Turn, Turnstile};

/// What the workers of a run share.
pub struct Shop {
    /// Where work comes from.
    pub queue: Arc<Queue>,
    /// Where results go.
    pub outbox: Outbox,
    /// Keeps ordered sections in order.
    pub turnstile: Turnstile,
    /// The run's counters, which know how many sinks and ports there are.
    pub stats: Arc<Stats>,
    /// Whether the first event error ends the run.
    pub fail_fast: bool,
    /// The run's clock.
    pub clock: Clock,
    /// Whether what the program remembers is saved.
    pub saves: bool,
    /// The wish to stop.
    pub stop: Arc<Stop>,
}

/// One worker.
pub struct Worker<'a> {
    shop: &'a Shop,
    processor: Box<dyn Processor>,
    /// Events received so far; drives the virtual clock.
    events: u64,
    /// When the virtual clock last ticked.
    last_tick: Timestamp,
    /// By how much sources have put the virtual clock forward.
    ahead: Timestamp,
}

impl<'a> Worker<'a> {
    /// A worker with its copy of the program.
    pub fn new(shop: &'a Shop, processor: Box<dyn Processor>) -> Self {
        Worker { shop, processor, events: 0, last_tick: 0, ahead: 0 }
    }

    /// The same worker, whose clock goes on from where an earlier run stopped.
    pub fn going_on(self, from: &Snapshot) -> Self {
        Worker { events: from.events, last_tick: from.last_tick, ahead: from.ahead, ..self }
    }

    /// Works until the input ends or the run is aborted.
    pub fn run(mut self) {
        while let Some(work) = self.shop.queue.receive() {
            let at_end = matches!(work, Work::End(_));
            let mut outputs = self.fresh_outputs();
            let number = self.perform(work, &mut outputs);
            let stop = at_end || outputs.fatal.is_some();
            self.wait_until(outputs.not_before);
            if self.shop.outbox.put(number, outputs).is_err() || stop {
                break;
            }
        }
        self.shop.outbox.leave();
    }

    /// Waits out what a rate limit asks for. The virtual clock goes on with events alone, so there
    /// is nothing to wait for.
    fn wait_until(&self, time: Timestamp) {
        let now = system_time();
        if self.shop.clock == Clock::System && time > now {
            let rest = Duration::from_nanos(time - now).min(REST_MAX);
            self.shop.outbox.rest(rest);
        }
    }

    fn fresh_outputs(&self) -> Box<Outputs> {
        let shop = self.shop;
        let (sinks, ports) = (shop.stats.sinks.count(), shop.stats.ports.count());
        let spare = shop.outbox.spare().map(|mut spare| {
            spare.fit(sinks, ports);
            spare
        });
        spare.unwrap_or_else(|| Box::new(Outputs::new(sinks, ports, shop.fail_fast)))
    }

    fn perform(&mut self, work: Work, outputs: &mut Outputs) -> u64 {
        let (Work::Batch(number, _)
        | Work::Tick(number, _)
        | Work::Snapshot(number)
        | Work::Exchange(number, _)
        | Work::End(number)) = work;
        if let Work::Batch(_, batch) = &work {
            outputs.attach(batch.token());
            outputs.source = Some(batch.source);
        }
        // The turn lives outside the guarded call: it passes whatever happens inside.
        let mut turn = self.shop.turnstile.turn(number);
        let done = catch_unwind(AssertUnwindSafe(|| self.dispatch(work, &mut turn, outputs)));
        let result = done.unwrap_or_else(|panic| Err(bug(panic.as_ref())));
        if let Err(error) = result {
            outputs.tokens.iter().for_each(|token| token.fail());
            outputs.fatal = Some(error);
        }
        self.events += outputs.received;
        number
    }

    fn dispatch(
        &mut self,
        work: Work,
        turn: &mut Turn<'_>,
        outputs: &mut Outputs,
    ) -> Result<(), Error> {
        match work {
            Work::Batch(_, mut batch) => self.process(&mut batch, turn, outputs),
            Work::Tick(_, now) => {
                turn.wait();
                self.processor.tick(now, outputs)
            }
            Work::Snapshot(_) => {
                turn.wait();
                outputs.snapshot = self.snapshot();
                Ok(())
            }
            Work::Exchange(_, exchange) => {
                // All workers meet: there is nobody whose turn it could be. What is put out needs room for
                // sinks and ports that the old program has, and no more.
                turn.pass();
                exchange.meet(&mut self.processor, &self.shop.queue, outputs)
            }
            Work::End(_) => {
                turn.wait();
                self.end(outputs)
            }
        }
    }

    /// A run that was stopped and will go on keeps what it keeps; else all that is kept goes out.
    fn end(&mut self, outputs: &mut Outputs) -> Result<(), Error> {
        let goes_on = self.shop.saves && self.shop.stop.is_asked();
        let now = self.shop.clock.now(self.events).saturating_add(self.ahead);
        let flushed = if goes_on { Ok(()) } else { self.processor.flush(now, outputs) };
        if self.shop.saves {
            outputs.snapshot = self.snapshot();
        }
        flushed
    }

    fn snapshot(&mut self) -> Option<(Snapshot, Duration)> {
        let began = Instant::now();
        let Self { events, last_tick, ahead, .. } = *self;
        let body = self.processor.snapshot()?;
        Some((Snapshot { events, last_tick, ahead, body }, began.elapsed()))
    }

    fn process(
        &mut self,
        batch: &mut Batch,
        turn: &mut Turn<'_>,
        outputs: &mut Outputs,
    ) -> Result<(), Error> {
        for bad in &batch.bad {
            self.processor.reject(batch, bad, outputs)?;
        }
        match self.shop.clock {
            Clock::System => {
                batch.times = EventTimes::together(batch.ingest.unwrap_or(batch.arrival));
                self.processor.process(batch, turn, outputs)
            }
            Clock::Virtual { .. } => self.process_singly(batch, turn, outputs),
        }
    }

    /// With the virtual clock every frame is a batch of its own, so that timers run between events.
    fn process_singly(
        &mut self,
        batch: &mut Batch,
        turn: &mut Turn<'_>,
        outputs: &mut Outputs,
    ) -> Result<(), Error> {
        turn.wait();
        let whole = batch.range.clone();
        let mut cursor = FrameCursor::new(batch.framing, whole);
        let mut start = cursor.position();
        batch.frames = 1;
        while cursor.next(&batch.buffer).is_some() {
            let seen = self.events + outputs.received;
            let now = self.shop.clock.now(seen).saturating_add(self.ahead);
            self.ahead += batch.due.saturating_sub(now);
            let now = now.max(batch.due);
            if now >= self.last_tick.saturating_add(nanoseconds(TICK_INTERVAL)) {
                self.last_tick = now;
                self.processor.tick(now, outputs)?;
            }
            batch.range = start..cursor.position();
            batch.times = EventTimes::together(batch.ingest.unwrap_or(now));
            self.processor.process(batch, turn, outputs)?;
            batch.bad.clear();
            batch.first_line += 1;
            batch.offset += batch.range.len() as u64;
            start = cursor.position();
        }
        Ok(())
    }
}

fn bug(panic: &(dyn std::any::Any + Send)) -> Error {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    Error::bug("worker", text.unwrap_or_else(|| "a processor panicked".to_string()))
}
