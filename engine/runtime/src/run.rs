//! Runs a plan: sources, workers, writer and control, each in threads of their own, from start to end.
//!
//! Invariant: the run ends by its sources ending (input over, or asked to stop), and the end travels
//! with the data: queue, workers, outbox, writer. Only an error takes the short way.
//!
//! Networks take part through two modules: tasks of a source hand batches over and learn when these are
//! settled ([`intake`](crate::intake)); a sink that confirms later takes parcels with their tokens, and lets
//! them go when the other side has confirmed ([`outlet`](crate::outlet)). The writer does not wait for
//! that; the mark does.

use std::path::PathBuf;
use std::sync::Arc;
use std::thread::scope;
use std::time::Instant;

use tokio::runtime::Runtime;
use tokio::sync::Notify;

use crate::ack::{Ledger, SourceId};
use crate::barrier::Barrier;
use crate::buffer::Pool;
use crate::checkpoint::Checkpoint;
use crate::clock::Clock;
use crate::console::Console;
use crate::control::{self, Control, Signals};
use crate::disk::Durability;
use crate::error::{Error, ErrorKind};
use crate::keeper::Keeper;
use crate::limits::{
    BLOCK_BYTES, OUTBOX_BYTES_PER_WORKER_MAX, OUTBOX_ITEMS_MAX, QUEUE_BATCHES_MAX,
    QUEUE_BYTES_PER_WORKER_MAX, WORKER_STACK_BYTES, WORKERS_MAX,
};
use crate::network::Network;
use crate::outbox::{Order, Outbox};
use crate::outlet::{Desk, QueuePolicy};
use crate::outputs::SinkId;
use crate::processor::{Processor, Unmatched};
use crate::queue::{Bounds, Queue};
use crate::sink::repair::{Repaired, repair};
use crate::sink::{OpenSink, Sink};
use crate::snapshot::Snapshot;
use crate::source::completion::Completions;
use crate::source::feed::Feed;
use crate::source::{OpenSource, Source};
use crate::stats::{Counts, PortStats, SourceStats, Stats};
use crate::stop::Stop;
use crate::troubles::Troubles;
use crate::turnstile::Turnstile;
use crate::worker::{Shop, Worker};
use crate::writer::{Ended, Writer};

/// A sink and the name that the summary gives it.
#[derive(Clone, Debug)]
pub struct NamedSink {
    /// What the user calls it.
    pub name: String,
    /// What it is.
    pub config: Arc<dyn OpenSink>,
    /// How much may wait for it, if it is one that confirms later.
    pub queue: QueuePolicy,
}

impl NamedSink {
    /// A sink and its name.
    pub fn new(name: impl Into<String>, config: impl OpenSink + 'static) -> Self {
        Self { name: name.into(), config: Arc::new(config), queue: QueuePolicy::default() }
    }
}

/// What is to be run, apart from the program itself.
pub struct RunPlan {
    /// Where events come from.
    pub sources: Vec<Arc<dyn OpenSource>>,
    /// Where they go; a processor names a sink by its index.
    pub sinks: Vec<NamedSink>,
    /// Names of the program's ports; a processor names a port by its index.
    pub ports: Vec<String>,
    /// Number of worker threads, at least one.
    pub workers: usize,
    /// The order of the output.
    pub order: Order,
    /// Bytes of the blocks that sources read and hand to workers.
    pub batch_bytes: usize,
    /// Where ingest times come from.
    pub clock: Clock,
    /// Where checkpoints are kept.
    pub state: Option<PathBuf>,
    /// Whether what is kept there is given up, to begin anew.
    pub fresh_state: bool,
    /// What a checkpoint survives.
    pub durability: Durability,
    /// What becomes of saved states that no step of the program takes up.
    pub unmatched: Unmatched,
    /// Whether the first event error ends the run.
    pub fail_fast: bool,
    /// Whether Ctrl-C and SIGTERM are caught.
    pub signals: bool,
    /// Width of the progress line, in characters, if there is to be one.
    pub progress_width: Option<usize>,
    /// Where messages go; `None` for standard error.
    pub console: Option<Console>,
    /// When the run began, for the elapsed time.
    pub started: Instant,
}

impl Default for RunPlan {
    fn default() -> Self {
        RunPlan {
            sources: Vec::new(),
            sinks: Vec::new(),
            ports: Vec::new(),
            workers: 1,
            order: Order::default(),
            batch_bytes: BLOCK_BYTES,
            clock: Clock::default(),
            state: None,
            fresh_state: false,
            durability: Durability::Flush,
            unmatched: Unmatched::Refuse,
            fail_fast: false,
            signals: false,
            progress_width: None,
            console: None,
            started: Instant::now(),
        }
    }
}

/// How a run went.
#[derive(Debug)]
pub struct Summary {
    /// All counts.
    pub counts: Counts,
    /// The error that ended the run, or the first that ended a part of it. It has been printed.
    pub error: Option<Error>,
    /// The error ended the run before its input was over.
    pub ended_early: bool,
    /// The exit code that an event asked for.
    pub asked: Option<u8>,
}

impl Summary {
    /// The exit code for the process.
    pub fn exit_code(&self) -> u8 {
        self.asked.unwrap_or_else(|| self.error.as_ref().map_or(0, Error::exit_code))
    }
}

/// Runs a plan to its end. `make_processor` makes the copy of the program for each worker. `Err` when
/// the run could not begin.
pub fn run(
    mut plan: RunPlan,
    mut make_processor: impl FnMut(usize) -> Result<Box<dyn Processor>, Error>,
) -> Result<Summary, Error> {
    check(&plan)?;
    let console = Arc::new(plan.console.take().unwrap_or_else(Console::on_stderr));
    console.attend();
    let (keeper, found, mut sources) = open(&plan)?;
    let mut processors =
        (0..plan.workers).map(&mut make_processor).collect::<Result<Vec<_>, _>>()?;
    let saves = plan.state.is_some() && processors.iter().any(|one| one.keeps_state());
    let saved = go_on(&plan, found.as_ref(), saves, &mut processors, &console)?;
    // Only now is it certain that the run can go on from there: outputs are cut last.
    let mut sinks = open_outputs(&plan, found.as_ref(), &console)?;
    if saves {
        // Only in order does a moment lie between two batches.
        plan.order = Order::Source;
    }
    let stats = stats(&plan, &sources);
    let stop = Stop::new().map_err(|error| Error::bug("stop", error.to_string()))?;
    // With the virtual clock the worker itself sees to the ticks.
    let ticks =
        plan.clock == Clock::System && processors.iter().any(|processor| processor.wants_ticks());
    let is_controlled = ticks || plan.signals || plan.progress_width.is_some();
    let control = if is_controlled { Some(control::prepare(plan.signals)?) } else { None };
    let stop = Arc::new(stop);
    let run = Run {
        ticks,
        saved,
        barrier: saves.then(|| found.and_then(|found| found.state)),
        shop: shop(&plan, saves, &stop),
        ledger: Ledger::new(sources.len()),
        pool: Pool::new(plan.batch_bytes),
        troubles: Arc::default(),
        completions: Arc::default(),
        network: Network::new(),
        over: Notify::new(),
        stats: Arc::new(stats),
        stop,
        console,
        plan,
    };
    run.prepare(&mut sources, &mut sinks)?;
    let ended = run.perform(sources, processors, sinks, keeper, control);
    if matches!(ended, Ended::AtEnd) {
        run.completions.carry_out(&run.ledger, &run.console, &run.troubles);
    }
    Ok(run.summary(ended))
}

fn check(plan: &RunPlan) -> Result<(), Error> {
    if plan.workers == 0 || plan.workers > WORKERS_MAX {
        let reason = format!("must be between 1 and {WORKERS_MAX}, not {}", plan.workers);
        return Err(Error::config("workers", reason));
    }
    if plan.clock != Clock::System && plan.workers > 1 {
        return Err(Error::config("virtual clock", "needs exactly one worker"));
    }
    if plan.sources.is_empty() {
        return Err(Error::config("sources", "there must be at least one"));
    }
    Ok(())
}

type Opened = (Option<Keeper>, Option<Checkpoint>, Vec<Box<dyn Source>>);

/// Opens state and inputs, in this order: nothing is touched when an input is missing.
fn open(plan: &RunPlan) -> Result<Opened, Error> {
    let (keeper, found) = match &plan.state {
        Some(directory) => {
            let (keeper, found) = Keeper::open(directory, plan.fresh_state)?;
            (Some(keeper.with(plan.durability)), found)
        }
        None => (None, None),
    };
    let marks = found.as_ref().map_or(&[][..], |found| &found.files);
    let sources = plan.sources.iter().map(|config| config.open(marks));
    let sources = sources.collect::<Result<Vec<_>, _>>()?;
    Ok((keeper, found, sources))
}

/// Cuts off what the run will write again, and opens the outputs.
fn open_outputs(
    plan: &RunPlan,
    found: Option<&Checkpoint>,
    console: &Console,
) -> Result<Vec<Box<dyn Sink>>, Error> {
    if let Some(checkpoint) = found {
        let Repaired { cut, notes } = repair(checkpoint)?;
        notes.iter().for_each(|note| console.message(&format!("warning: {note}")));
        if cut > 0 {
            console.message(&format!("note: {cut} unfinished bytes of output cut off; going on"));
        }
    }
    let open = |sink: &NamedSink| {
        let mut sink = sink.config.open(found.is_some())?;
        if plan.durability == Durability::Fsync {
            sink.be_durable();
        }
        Ok(sink)
    };
    plan.sinks.iter().map(open).collect()
}

/// Takes up the state that an earlier run saved, if there is one. It must fit the program.
fn go_on(
    plan: &RunPlan,
    found: Option<&Checkpoint>,
    saves: bool,
    processors: &mut [Box<dyn Processor>],
    console: &Console,
) -> Result<Option<Snapshot>, Error> {
    let number = found.and_then(|found| found.state);
    let (Some(directory), Some(number)) = (&plan.state, number) else { return Ok(None) };
    let unfit = |reason: String| {
        let reason = format!("holds the state of another program: {reason}");
        let help = "run the program that it belongs to, drop what does not fit with \
                    --drop-unmatched-state, or begin anew with --fresh-state";
        Error::state(directory.display().to_string(), reason, help)
    };
    let note = |note: &str| console.message(&format!("note: {note}"));
    let mut snapshot = Snapshot::load(directory, number)?;
    let body = std::mem::take(&mut snapshot.body);
    match (saves, plan.unmatched, processors.first_mut()) {
        (true, unmatched, Some(first)) => {
            let notes = first.restore(&body, unmatched).map_err(unfit)?;
            notes.iter().for_each(|one| note(one));
        }
        (false, Unmatched::Drop, _) => {
            note("dropped the saved state: the program remembers nothing")
        }
        (_, _, _) => return Err(unfit("this one remembers nothing".to_string())),
    }
    Ok(Some(snapshot))
}

fn stats(plan: &RunPlan, sources: &[Box<dyn Source>]) -> Stats {
    let sources = sources.iter().map(|source| {
        let stats = SourceStats::named(&source.name());
        let total = source.total_bytes().unwrap_or(0);
        stats.total_bytes.store(total, std::sync::atomic::Ordering::Relaxed);
        stats
    });
    let ports = plan.ports.iter().map(|port| PortStats::named(port)).collect();
    let sinks = plan.sinks.iter().map(|sink| PortStats::named(&sink.name)).collect();
    Stats::new(sources.collect(), ports, sinks, plan.started)
}

fn shop(plan: &RunPlan, saves: bool, stop: &Arc<Stop>) -> Shop {
    let inbound = Bounds {
        bytes_max: QUEUE_BYTES_PER_WORKER_MAX * plan.workers,
        count_max: QUEUE_BATCHES_MAX,
    };
    let outbound = Bounds {
        bytes_max: OUTBOX_BYTES_PER_WORKER_MAX * plan.workers,
        count_max: OUTBOX_ITEMS_MAX,
    };
    let queue = Queue::new(inbound, plan.sources.len());
    if plan.sinks.iter().any(|sink| sink.config.ends_run()) {
        queue.hold_end();
    }
    Shop {
        queue: Arc::new(queue),
        outbox: Outbox::new(outbound, plan.order, plan.workers),
        turnstile: Turnstile::default(),
        sinks: plan.sinks.len(),
        ports: plan.ports.len(),
        fail_fast: plan.fail_fast,
        clock: plan.clock,
        saves,
        stop: stop.clone(),
    }
}

/// A run under way: what its threads share.
struct Run {
    plan: RunPlan,
    shop: Shop,
    ledger: Arc<Ledger>,
    pool: Arc<Pool>,
    stats: Arc<Stats>,
    console: Arc<Console>,
    troubles: Arc<Troubles>,
    completions: Arc<Completions>,
    stop: Arc<Stop>,
    network: Arc<Network>,
    /// What the run goes on from.
    saved: Option<Snapshot>,
    /// When the program's state is saved: the number of the state that the run goes on from.
    barrier: Option<Option<u64>>,
    /// Signalled when the control has nothing more to do.
    over: Notify,
    ticks: bool,
}

impl Run {
    /// Starts the tasks of sinks, and says to sources what will follow them.
    fn prepare(
        &self,
        sources: &mut [Box<dyn Source>],
        sinks: &mut [Box<dyn Sink>],
    ) -> Result<(), Error> {
        for (index, sink) in sinks.iter_mut().enumerate() {
            sink.start(&self.desk(index))?;
        }
        for (index, source) in sources.iter_mut().enumerate() {
            if source.follows() {
                self.shop.queue.follow();
            }
            source.prepare(&self.feed(index));
        }
        Ok(())
    }

    fn perform(
        &self,
        sources: Vec<Box<dyn Source>>,
        processors: Vec<Box<dyn Processor>>,
        sinks: Vec<Box<dyn Sink>>,
        keeper: Option<Keeper>,
        control: Option<(Runtime, Option<Signals>)>,
    ) -> Ended {
        scope(|scope| {
            if let Some((runtime, signals)) = control {
                scope.spawn(move || self.control(signals).run(&runtime));
            }
            for processor in processors {
                let worker = std::thread::Builder::new().stack_size(WORKER_STACK_BYTES);
                worker
                    .spawn_scoped(scope, || self.worker(processor).run())
                    .expect("the system has room for one more thread");
            }
            for (index, source) in sources.into_iter().enumerate() {
                scope.spawn(move || self.run_source(index, source));
            }
            let ended = self.writer(sinks, keeper).run();
            if !matches!(ended, Ended::AtEnd) {
                self.stop.ask();
                self.shop.queue.abort();
                self.shop.outbox.abort();
            }
            self.over.notify_one();
            ended
        })
    }

    fn worker(&self, processor: Box<dyn Processor>) -> Worker<'_> {
        let worker = Worker::new(&self.shop, processor);
        match &self.saved {
            Some(saved) => worker.going_on(saved),
            None => worker,
        }
    }

    fn control(&self, signals: Option<Signals>) -> Control<'_> {
        Control {
            queue: &self.shop.queue,
            stop: &self.stop,
            console: &self.console,
            stats: &self.stats,
            over: &self.over,
            signals,
            ticks: self.ticks,
            progress_width: self.plan.progress_width,
        }
    }

    fn feed(&self, source: SourceId) -> Feed {
        Feed {
            source,
            queue: Arc::clone(&self.shop.queue),
            pool: Arc::clone(&self.pool),
            ledger: Arc::clone(&self.ledger),
            stats: Arc::clone(&self.stats),
            console: Arc::clone(&self.console),
            troubles: Arc::clone(&self.troubles),
            completions: Arc::clone(&self.completions),
            stop: Arc::clone(&self.stop),
            network: Arc::clone(&self.network),
            clock: self.plan.clock,
        }
    }

    fn desk(&self, sink: SinkId) -> Desk {
        Desk {
            sink,
            name: self.plan.sinks[sink].name.as_str().into(),
            policy: self.plan.sinks[sink].queue,
            network: Arc::clone(&self.network),
            stats: Arc::clone(&self.stats),
            console: Arc::clone(&self.console),
            troubles: Arc::clone(&self.troubles),
            stop: Arc::clone(&self.stop),
            ledger: Arc::clone(&self.ledger),
            queue: Arc::clone(&self.shop.queue),
        }
    }

    fn run_source(&self, index: usize, mut source: Box<dyn Source>) {
        let feed = self.feed(index);
        if let Err(error) = source.run(&feed) {
            feed.trouble(error);
        }
        self.shop.queue.leave();
    }

    fn writer(&self, sinks: Vec<Box<dyn Sink>>, keeper: Option<Keeper>) -> Writer<'_> {
        Writer {
            outbox: &self.shop.outbox,
            sinks,
            ledger: &self.ledger,
            keeper,
            barrier: self.barrier.map(Barrier::new),
            queue: &self.shop.queue,
            unrecorded: true,
            stats: &self.stats,
            console: &self.console,
            troubles: &self.troubles,
            stop: &self.stop,
            exit: None,
            ending: None,
            done: 0,
            lost: false,
            pending: None,
        }
    }

    fn summary(&self, ended: Ended) -> Summary {
        let counts = self.stats.counts();
        self.console.end_progress();
        self.console.end_errors();
        match ended {
            Ended::Failed(error) => {
                // The error of an event was printed with the event.
                if error.kind() != ErrorKind::Event {
                    self.console.message(&format!("error: {error}"));
                }
                Summary { counts, error: Some(error), ended_early: true, asked: None }
            }
            Ended::AtEnd | Ended::NobodyReads => {
                let error = self.troubles.first();
                Summary { counts, error, ended_early: false, asked: None }
            }
            Ended::Asked(code) => {
                let error = self.troubles.first();
                Summary { counts, error, ended_early: false, asked: Some(code) }
            }
        }
    }
}
