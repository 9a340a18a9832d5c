//! The writer: takes results in order, writes them, acknowledges them, and keeps the checkpoints.
//!
//! Invariant: tokens are let go only after all bytes that stem from them are with the operating
//! system; one thread does all this, so lengths and marks in a checkpoint belong together.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::ack::Ledger;
use crate::barrier::Barrier;
use crate::checkpoint::{FileMark, OutputMark};
use crate::console::Console;
use crate::error::Error;
use crate::keeper::Keeper;
use crate::limits::{CHECKPOINT_INTERVAL, END_INTERVAL, REST_MAX};
use crate::outbox::{Outbox, Taken};
use crate::outputs::{Chunk, Count, Outputs, SinkId};
use crate::queue::Queue;
use crate::sink::{Delivered, Sink, WriteFailure};
use crate::snapshot::Snapshot;
use crate::stats::{Health, Stats};
use crate::stop::Stop;
use crate::troubles::Troubles;

/// The writer.
pub struct Writer<'a> {
    /// Where results come from.
    pub outbox: &'a Outbox,
    /// By their index in the plan; those that came later behind them.
    pub sinks: Vec<Box<dyn Sink>>,
    /// Sinks that have come since.
    pub newcomers: &'a Mutex<VecDeque<Box<dyn Sink>>>,
    /// Closed sinks that still deliver what they were given.
    pub closing: Vec<JoinHandle<()>>,
    /// The batches under way.
    pub ledger: &'a Arc<Ledger>,
    /// Keeps checkpoints, when the run has a state directory.
    pub keeper: Option<Keeper>,
    /// The last moment that was saved, when the program remembers something that is kept.
    pub barrier: Option<Barrier>,
    /// Where a saved state is asked for.
    pub queue: &'a Queue,
    /// Whether some source cannot read again what it has handed over: then outputs hold more than the marks
    /// say, and are not cut back to them.
    pub forgets: &'a AtomicBool,
    /// Files have been opened that no checkpoint records; at first, those with a fixed path.
    pub unrecorded: bool,
    /// The run's counters.
    pub stats: &'a Stats,
    /// Where event errors are printed.
    pub console: &'a Console,
    /// Where errors go that do not end the run.
    pub troubles: &'a Troubles,
    /// Asked for when an event ends the run.
    pub stop: &'a Stop,
    /// The exit code that an event asked for.
    pub exit: Option<u8>,
    /// The end that an event asked for, but for later.
    pub ending: Option<Ending>,
    /// Results that have been written.
    pub done: u64,
    /// Bytes that were to be on the disk may not be.
    pub lost: bool,
    /// A moment whose outputs are written, while sinks that confirm later still have some of it under way.
    pub pending: Option<Moment>,
}

/// An end that is due.
pub struct Ending {
    at: Instant,
    code: u8,
    graceful: bool,
}

/// What belongs to one saved moment.
pub struct Moment {
    snapshot: Snapshot,
    took: Duration,
    /// How far each input had been dealt with.
    files: Vec<FileMark>,
    /// The lengths of the output files.
    outputs: Vec<OutputMark>,
    /// Deliveries with smaller numbers belong to it.
    deliveries: u64,
    /// Whether more may have been written since.
    waited: bool,
}

/// How the writing ended.
#[derive(Debug)]
pub enum Ended {
    /// All is written.
    AtEnd,
    /// Standard output has no reader any more.
    NobodyReads,
    /// An event asked for it, with this exit code.
    Asked(u8),
    /// An error ended the run.
    Failed(Error),
}

impl Writer<'_> {
    /// Writes until the workers have left.
    pub fn run(mut self) -> Ended {
        let ended = self.write_all();
        // What sinks confirm last still belongs to the checkpoint.
        self.take_newcomers();
        self.sinks.iter_mut().for_each(|sink| sink.finish());
        self.closing.drain(..).for_each(|one| drop(one.join()));
        self.pass_pending();
        self.store_checkpoint(matches!(ended, Ended::AtEnd));
        ended
    }

    fn write_all(&mut self) -> Ended {
        loop {
            self.pass_pending();
            if let Some(ended) = self.pass_ending() {
                return ended;
            }
            match self.outbox.take(self.patience()) {
                Taken::Item(outputs) => {
                    self.done += 1;
                    if let Some(ended) = self.handle(outputs) {
                        return ended;
                    }
                }
                Taken::Nothing => self.rest(),
                Taken::End if self.queue.is_aborted() => return Ended::Failed(not_all_done()),
                Taken::End => return self.exit.map_or(Ended::AtEnd, Ended::Asked),
            }
        }
    }

    /// How long to wait for a result before something else is looked at.
    fn patience(&self) -> Option<Duration> {
        let checkpoint = self.keeper.as_ref().map(|_| CHECKPOINT_INTERVAL);
        let end = self.queue.holds_end().then_some(END_INTERVAL);
        [checkpoint, end].into_iter().flatten().min()
    }

    /// No result has come for a while.
    fn rest(&mut self) {
        if self.keeper.as_ref().is_some_and(|keeper| keeper.is_late()) {
            self.checkpoint();
        }
        let is_wanted = self.ending.is_none() || self.stop.is_asked();
        if is_wanted && self.queue.only_end_is_left(self.done) {
            self.queue.release_end();
        }
    }

    /// Ends the run when it is time.
    fn pass_ending(&mut self) -> Option<Ended> {
        let Ending { code, graceful, .. } =
            self.ending.take_if(|ending| Instant::now() >= ending.at)?;
        self.exit.get_or_insert(code);
        self.stop.ask();
        self.queue.release_end();
        (!graceful).then_some(Ended::Asked(code))
    }

    /// Deals with one result; says when it ends the run.
    fn handle(&mut self, mut outputs: Box<Outputs>) -> Option<Ended> {
        self.take_newcomers();
        self.stats.add_outputs(&outputs);
        self.console.event_errors(&outputs.errors, outputs.unrouted);
        self.record_new_files(&outputs);
        let bytes = outputs.held_bytes() as u64;
        if let Some(barrier) = &mut self.barrier
            && (outputs.source.is_some() || bytes > 0)
        {
            barrier.soil();
        }
        let written = self.write(&mut outputs);
        if let Err(Cut::NobodyReads) = written {
            outputs.tokens.iter().for_each(|token| token.fail());
        }
        if let (Some(source), Some(token)) = (outputs.source, outputs.tokens.first()) {
            self.ledger.written(source, token.position());
        }
        let fatal = outputs.fatal.take();
        self.close_sinks(&std::mem::take(&mut outputs.closed_sinks));
        if let (Some((snapshot, took)), Ok(())) = (outputs.snapshot.take(), &written) {
            self.reach_barrier(snapshot, took);
        }
        outputs.clear();
        self.outbox.keep_spare(outputs);
        match written {
            Err(Cut::NobodyReads) => return Some(Ended::NobodyReads),
            Err(Cut::Asked(code)) => return Some(Ended::Asked(code)),
            Ok(()) => {}
        }
        if let Some(error) = fatal {
            return Some(Ended::Failed(error));
        }
        if self.keeper.as_mut().is_some_and(|keeper| keeper.is_due(bytes)) {
            self.checkpoint();
        }
        None
    }

    fn take_newcomers(&mut self) {
        if self.sinks.len() < self.stats.sinks.count() {
            let mut newcomers = self.newcomers.lock().unwrap_or_else(PoisonError::into_inner);
            self.unrecorded |= !newcomers.is_empty();
            self.sinks.extend(newcomers.drain(..));
        }
    }

    /// Sinks that the program has no more deliver what they were given, and hold up nobody meanwhile.
    fn close_sinks(&mut self, closed: &[SinkId]) {
        if !closed.is_empty() {
            // Once they are closed, no checkpoint can force what they wrote to the disk.
            self.sync_outputs();
        }
        for sink in closed {
            let mut closing = std::mem::replace(&mut self.sinks[*sink], Box::new(Closed));
            self.closing.push(std::thread::spawn(move || closing.finish()));
            self.stats.sinks[*sink].condition.set(Health::Ended);
        }
        if !closed.is_empty() {
            self.closing.retain(|one| !one.is_finished());
            self.checkpoint();
        }
    }

    /// It is time for a checkpoint. A program that remembers is asked for its state first.
    fn checkpoint(&mut self) {
        match &mut self.barrier {
            None => self.store_checkpoint(false),
            Some(barrier) => {
                if barrier.ask() {
                    self.queue.snapshot();
                }
            }
        }
    }

    /// All before a snapshot has been written: state, marks and lengths belong together now.
    fn reach_barrier(&mut self, snapshot: Snapshot, took: Duration) {
        if self.keeper.is_none() || self.barrier.is_none() {
            return;
        }
        let (files, deliveries) = (self.ledger.done(), self.ledger.next_delivery());
        let outputs = self.open_files();
        self.pending = Some(Moment { snapshot, took, files, outputs, deliveries, waited: false });
        self.pass_pending();
    }

    /// Saves the moment that is pending, once all its deliveries have been confirmed. After a delivery that
    /// failed no later moment is saved: what came before the failure is to be repeated.
    fn pass_pending(&mut self) {
        let Some(moment) = &mut self.pending else { return };
        let (all_ended, none_failed) = self.ledger.delivered_before(moment.deliveries);
        if !all_ended && none_failed {
            moment.waited = true;
            return;
        }
        let Some(moment) = self.pending.take() else { return };
        if !none_failed {
            self.barrier.iter_mut().for_each(Barrier::give_up);
        }
        if !self.barrier.as_ref().is_some_and(Barrier::takes) || !self.sync_outputs() {
            return;
        }
        let (Some(keeper), Some(barrier)) = (&mut self.keeper, &mut self.barrier) else { return };
        let forgets = self.forgets.load(Ordering::Acquire);
        let began = Instant::now();
        match keeper.store_state(&moment.snapshot) {
            Ok(number) => {
                barrier.pass(moment.files, number, moment.took + began.elapsed());
                let mut marks = barrier.marks();
                marks.exact &= !forgets;
                let stored = keeper.store(marks, moment.outputs, false);
                if moment.waited {
                    barrier.soil();
                }
                if let Err(error) = stored {
                    self.stats.add_error("checkpoint");
                    self.troubles.report(self.console, error);
                }
            }
            Err(error) => {
                barrier.give_up();
                self.stats.add_error("checkpoint");
                self.troubles.report(self.console, error);
            }
        }
    }

    fn write(&mut self, outputs: &mut Outputs) -> Result<(), Cut> {
        let mut cut = Ok(());
        let Outputs { chunks, placed, tokens, .. } = outputs;
        for (sink, place, chunk) in filled(chunks, placed) {
            let began = Instant::now();
            let delivered = self.sinks[sink].deliver(place, chunk, tokens);
            self.stats.sinks[sink].add_busy(began.elapsed());
            let error = match delivered {
                Ok(Delivered::Later) => continue,
                Ok(Delivered::Written) => {
                    let (events, bytes) = (chunk.events, chunk.bytes.len() as u64);
                    self.stats.sinks[sink].add(Count { events, bytes });
                    self.stats.sinks[sink].succeed();
                    continue;
                }
                Err(WriteFailure::NobodyReads) => return Err(Cut::NobodyReads),
                Err(WriteFailure::EndRun { code, graceful, delay }) if !delay.is_zero() => {
                    self.stats.sinks[sink].add(Count { events: chunk.events, bytes: 0 });
                    let at = Instant::now() + delay.min(REST_MAX);
                    self.ending.get_or_insert(Ending { at, code, graceful });
                    continue;
                }
                Err(WriteFailure::EndRun { code, graceful, .. }) => {
                    self.stats.sinks[sink].add(Count { events: chunk.events, bytes: 0 });
                    self.exit.get_or_insert(code);
                    self.stop.ask();
                    self.queue.release_end();
                    if !graceful {
                        cut = Err(Cut::Asked(code));
                    }
                    continue;
                }
                Err(WriteFailure::Impossible(error)) => error,
                Err(WriteFailure::Refused(error)) => {
                    tokens.iter().for_each(|token| token.fail());
                    self.barrier.iter_mut().for_each(Barrier::give_up);
                    self.stats.sinks[sink].fail_attempt(&error.to_string());
                    error
                }
            };
            self.stats.sinks[sink].add_failed(chunk.events);
            self.stats.add_error("sink");
            self.troubles.report(self.console, error);
        }
        cut
    }

    /// Opens the files that the outputs go to, and records those that are new before they are written.
    fn record_new_files(&mut self, outputs: &Outputs) {
        if self.keeper.is_none() {
            return;
        }
        for (sink, place, _) in chunks(outputs) {
            // What fails here fails again in the write, which reports it.
            self.unrecorded |= self.sinks[sink].prepare(place).unwrap_or(false);
        }
        if std::mem::take(&mut self.unrecorded) {
            self.store_checkpoint(false);
        }
    }

    fn open_files(&self) -> Vec<OutputMark> {
        self.sinks.iter().flat_map(|sink| sink.open_files()).collect()
    }

    /// Forces the outputs to the disk, where a checkpoint must not tell of more than is there. Whether that
    /// is so now.
    fn sync_outputs(&mut self) -> bool {
        if !self.keeper.as_ref().is_some_and(Keeper::is_durable) {
            return true;
        }
        let synced = self.sinks.iter_mut().try_for_each(|sink| sink.sync());
        if let Err(error) = synced {
            self.stats.add_error("checkpoint");
            self.barrier.iter_mut().for_each(Barrier::give_up);
            self.lost = true;
            self.troubles.report(self.console, error);
        }
        // What may be lost is not written again by this run: no later checkpoint may pass it.
        !self.lost
    }

    fn store_checkpoint(&mut self, finished: bool) {
        if !self.sync_outputs() {
            return;
        }
        let open = self.open_files();
        let Some(keeper) = &mut self.keeper else { return };
        let mut marks = self.barrier.as_ref().map_or_else(|| self.ledger.marks(), Barrier::marks);
        marks.exact &= !self.forgets.load(Ordering::Acquire);
        if let Err(error) = keeper.store(marks, open, finished) {
            self.stats.add_error("checkpoint");
            self.troubles.report(self.console, error);
        }
    }
}

/// The place of a sink that was closed. No program writes to it any more.
struct Closed;

impl Sink for Closed {
    fn write(&mut self, _: &str, _: &[u8]) -> Result<(), WriteFailure> {
        let error = Error::bug("closed sink", "something was written to it");
        Err(WriteFailure::Refused(error))
    }
}

fn not_all_done() -> Error {
    let reason = "the run was stopped before all that was read got where it should";
    Error::output(
        "sinks",
        reason,
        "run again with the same --state: it goes on where this run stopped",
    )
}

/// Why the writing stops before its end.
enum Cut {
    NobodyReads,
    Asked(u8),
}

/// All chunks with something in them, and where they go, to be taken.
fn filled<'o>(
    chunks: &'o mut [Chunk],
    placed: &'o mut [(SinkId, String, Chunk)],
) -> impl Iterator<Item = (SinkId, &'o str, &'o mut Chunk)> {
    let fixed = chunks.iter_mut().enumerate().map(|(sink, chunk)| (sink, "", chunk));
    let placed = placed.iter_mut().map(|(sink, place, chunk)| (*sink, place.as_str(), chunk));
    fixed.chain(placed).filter(|(_, _, chunk)| !chunk.bytes.is_empty())
}

/// All chunks with something in them, and where they go.
fn chunks(outputs: &Outputs) -> impl Iterator<Item = (SinkId, &str, &Chunk)> {
    let fixed = outputs.chunks.iter().enumerate().map(|(sink, chunk)| (sink, "", chunk));
    let placed = outputs.placed.iter().map(|(sink, place, chunk)| (*sink, place.as_str(), chunk));
    fixed.chain(placed).filter(|(_, _, chunk)| !chunk.bytes.is_empty())
}
