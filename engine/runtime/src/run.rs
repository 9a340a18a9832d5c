//! Runs a plan: sources, workers, writer and control, each in threads of their own, from start to end.
//!
//! Invariant: the run ends by its sources ending (input over, or asked to stop), and the end travels
//! with the data: queue, workers, outbox, writer. Only an error takes the short way.
//!
//! Networks take part through two modules: tasks of a source hand batches over and learn when these are
//! settled ([`intake`](crate::intake)); a sink that confirms later takes parcels with their tokens, and lets
//! them go when the other side has confirmed ([`outlet`](crate::outlet)). The writer does not wait for
//! that; the mark does.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::scope;
use std::time::{Duration, Instant};

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
use crate::drain::Drain;
use crate::error::{Error, ErrorKind};
use crate::keeper::Keeper;
use crate::limits::{
    BLOCK_BYTES, BLOCK_BYTES_MIN, DRAIN_MAX, OUTBOX_BYTES_PER_WORKER_MAX, OUTBOX_ITEMS_MAX,
    QUEUE_BATCHES_MAX, QUEUE_BYTES_PER_WORKER_MAX, WORKER_STACK_BYTES, WORKERS_MAX,
};
use crate::network::Network;
use crate::outbox::{Order, Outbox};
use crate::outlet::{Desk, QueuePolicy};
use crate::outputs::SinkId;
use crate::overseer::{Overseer, View};
use crate::processor::{Processor, Unmatched};
use crate::queue::{Bounds, Queue};
use crate::sink::repair::{Repaired, repair};
use crate::sink::{OpenSink, Sink};
use crate::snapshot::Snapshot;
use crate::source::completion::Completions;
use crate::source::feed::Feed;
use crate::source::{OpenSource, Source};
use crate::stats::{Counts, Health, PortStats, SourceStats, Stats};
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
    /// Whether Ctrl-C, SIGTERM and SIGHUP are caught.
    pub signals: bool,
    /// How long the run may take to stop.
    pub drain_max: Duration,
    /// Memory of the process above which sources are held up, in bytes.
    pub memory_max: Option<u64>,
    /// Who looks at the run and steers it while it goes on.
    pub overseer: Option<Arc<Overseer>>,
    /// What SIGHUP brings about.
    pub on_reload: Option<Arc<dyn Fn() + Send + Sync>>,
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
            drain_max: DRAIN_MAX,
            memory_max: None,
            overseer: None,
            on_reload: None,
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
    // A program that comes later may want them.
    let wants_ticks = processors.iter().any(|processor| processor.wants_ticks());
    let ticks = plan.clock == Clock::System && (wants_ticks || plan.overseer.is_some());
    let is_controlled =
        plan.memory_max.is_some() || ticks || plan.signals || plan.progress_width.is_some();
    let control = if is_controlled { Some(control::prepare(plan.signals)?) } else { None };
    let (stop, stats) = (Arc::new(stop), Arc::new(stats));
    let run = Run {
        ticks,
        saved,
        barrier: saves.then(|| found.and_then(|found| found.state)),
        shop: shop(&plan, saves, &stop, &stats),
        drain: Drain::new(plan.drain_max, Arc::clone(&stop)),
        stops: Mutex::default(),
        forgets: AtomicBool::new(plan.sources.iter().any(|source| source.forgets())),
        configs: Mutex::new(plan.sources.clone()),
        newcomers: Mutex::default(),
        ledger: Ledger::new(sources.len()),
        pool: Pool::new(plan.batch_bytes),
        troubles: Arc::default(),
        completions: Arc::default(),
        network: Network::new(),
        over: Notify::new(),
        stats,
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
    let sinks = plan.sinks.iter().filter(|sink| sink.config.needs_state());
    let mut wanting = sinks.map(|sink| sink.name.clone());
    let sources = plan.sources.iter().filter_map(|source| source.needs_state());
    if plan.state.is_none()
        && let Some(name) = wanting.next().or_else(|| sources.map(str::to_string).next())
    {
        let help = "run with --state DIR, below which buffers are kept";
        let reason = "has a buffer on disk, and nothing says where it is kept";
        return Err(Error::new(ErrorKind::Config, name, reason, help));
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

/// How much may wait in a queue of the run: what it holds anyway, or its part of the memory.
fn share(usual: usize, memory_max: Option<u64>, part: u64) -> usize {
    let part = memory_max.map(|most| usize::try_from(most / part).unwrap_or(usize::MAX));
    usual.min(part.unwrap_or(usize::MAX)).max(BLOCK_BYTES_MIN)
}

fn shop(plan: &RunPlan, saves: bool, stop: &Arc<Stop>, stats: &Arc<Stats>) -> Shop {
    let inbound = Bounds {
        bytes_max: share(QUEUE_BYTES_PER_WORKER_MAX * plan.workers, plan.memory_max, 8),
        count_max: QUEUE_BATCHES_MAX,
    };
    let outbound = Bounds {
        bytes_max: share(OUTBOX_BYTES_PER_WORKER_MAX * plan.workers, plan.memory_max, 8),
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
        stats: Arc::clone(stats),
        fail_fast: plan.fail_fast,
        clock: plan.clock,
        saves,
        stop: stop.clone(),
    }
}

/// A run under way: what its threads share.
pub(crate) struct Run {
    pub(crate) plan: RunPlan,
    pub(crate) shop: Shop,
    pub(crate) ledger: Arc<Ledger>,
    pool: Arc<Pool>,
    pub(crate) stats: Arc<Stats>,
    drain: Arc<Drain>,
    /// The wishes to stop of single sources, by their numbers.
    stops: Mutex<Vec<Arc<Stop>>>,
    /// Whether some source cannot read again what it has handed over.
    pub(crate) forgets: AtomicBool,
    /// What the sources were opened from, by their numbers.
    pub(crate) configs: Mutex<Vec<Arc<dyn OpenSource>>>,
    /// Sinks that have come since the run began, on their way to the writer.
    pub(crate) newcomers: Mutex<VecDeque<Box<dyn Sink>>>,
    pub(crate) console: Arc<Console>,
    troubles: Arc<Troubles>,
    completions: Arc<Completions>,
    pub(crate) stop: Arc<Stop>,
    network: Arc<Network>,
    /// What the run goes on from.
    saved: Option<Snapshot>,
    /// When the program's state is saved: the number of the state that the run goes on from.
    pub(crate) barrier: Option<Option<u64>>,
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
            let NamedSink { name, queue, .. } = &self.plan.sinks[index];
            sink.start(&self.desk(index, name, *queue))?;
        }
        for (index, source) in sources.iter_mut().enumerate() {
            if source.follows() {
                self.shop.queue.follow();
            }
            let feed = self.feed(index, self.stop_of(index)?);
            if source.listens() {
                feed.counters().condition.set(Health::Opening);
            }
            source.prepare(&feed);
        }
        if let Some(overseer) = &self.plan.overseer {
            overseer.begin(self.view());
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
            if let Some(overseer) = &self.plan.overseer {
                scope.spawn(move || {
                    while let Some(request) = overseer.next() {
                        self.serve(request, scope);
                    }
                });
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
            if let Some(overseer) = &self.plan.overseer {
                overseer.end();
            }
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
            outbox: &self.shop.outbox,
            drain: &self.drain,
            on_reload: self.plan.on_reload.as_deref(),
            memory_max: self.plan.memory_max,
            stop: &self.stop,
            console: &self.console,
            stats: &self.stats,
            over: &self.over,
            signals,
            ticks: self.ticks,
            progress_width: self.plan.progress_width,
        }
    }

    fn view(&self) -> View {
        View {
            stats: Arc::clone(&self.stats),
            queue: Arc::clone(&self.shop.queue),
            ledger: Arc::clone(&self.ledger),
            stop: Arc::clone(&self.stop),
            console: Arc::clone(&self.console),
            workers: self.plan.workers,
            started: self.plan.started,
        }
    }

    /// The wish to stop of one source, which is made when it is asked for first.
    pub(crate) fn stop_of(&self, source: SourceId) -> Result<Arc<Stop>, Error> {
        let mut stops = self.stops.lock().unwrap_or_else(PoisonError::into_inner);
        while stops.len() <= source {
            let part = self.stop.part();
            stops.push(part.map_err(|error| Error::bug("stop", error.to_string()))?);
        }
        Ok(Arc::clone(&stops[source]))
    }

    /// A new wish to stop for a source that begins once more.
    pub(crate) fn renew_stop(&self, source: SourceId) -> Result<Arc<Stop>, Error> {
        self.stop_of(source)?;
        let part = self.stop.part().map_err(|error| Error::bug("stop", error.to_string()))?;
        self.stops.lock().unwrap_or_else(PoisonError::into_inner)[source] = Arc::clone(&part);
        Ok(part)
    }

    pub(crate) fn feed(&self, source: SourceId, stop: Arc<Stop>) -> Feed {
        Feed {
            source,
            queue: Arc::clone(&self.shop.queue),
            pool: Arc::clone(&self.pool),
            ledger: Arc::clone(&self.ledger),
            stats: Arc::clone(&self.stats),
            console: Arc::clone(&self.console),
            troubles: Arc::clone(&self.troubles),
            completions: Arc::clone(&self.completions),
            stop,
            network: Arc::clone(&self.network),
            gives_back: false,
            clock: self.plan.clock,
            state: self.plan.state.clone(),
        }
    }

    pub(crate) fn desk(&self, sink: SinkId, name: &str, policy: QueuePolicy) -> Desk {
        // All sinks together get a quarter of the memory.
        let sinks = u64::try_from(self.stats.sinks.count().max(1)).unwrap_or(u64::MAX);
        let bytes_max = share(policy.bytes_max, self.plan.memory_max, sinks.saturating_mul(4));
        let policy = QueuePolicy { bytes_max, ..policy };
        Desk {
            sink,
            name: name.into(),
            policy,
            drain: Arc::clone(&self.drain),
            network: Arc::clone(&self.network),
            stats: Arc::clone(&self.stats),
            console: Arc::clone(&self.console),
            troubles: Arc::clone(&self.troubles),
            stop: Arc::clone(&self.stop),
            ledger: Arc::clone(&self.ledger),
            queue: Arc::clone(&self.shop.queue),
            state: self.plan.state.clone(),
            keeps_rest: false,
        }
    }

    fn run_source(&self, index: usize, mut source: Box<dyn Source>) {
        let feed = match self.stop_of(index) {
            Ok(stop) => self.feed(index, stop),
            Err(error) => {
                self.troubles.report(&self.console, error);
                return self.shop.queue.leave();
            }
        };
        self.run_fed(source.as_mut(), &feed);
    }

    /// Runs a source to its end, and says how it ended.
    pub(crate) fn run_fed(&self, source: &mut dyn Source, feed: &Feed) {
        let health = match source.run(feed) {
            Ok(()) => Health::Ended,
            Err(error) => {
                let reason = error.to_string();
                feed.trouble(error);
                Health::Failed(reason)
            }
        };
        feed.counters().condition.set(health);
        self.shop.queue.leave();
    }

    fn writer(&self, sinks: Vec<Box<dyn Sink>>, keeper: Option<Keeper>) -> Writer<'_> {
        Writer {
            outbox: &self.shop.outbox,
            sinks,
            newcomers: &self.newcomers,
            forgets: &self.forgets,
            closing: Vec::new(),
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
