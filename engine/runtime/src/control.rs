//! The control of a run: signals, ticks and the progress line, on a small tokio runtime of its own.
//!
//! Invariant: no event passes here; the moving of bytes does not depend on this thread being prompt.

use std::future::pending;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::Notify;
use tokio::time::{MissedTickBehavior, interval};

use crate::clock::system_time;
use crate::console::Console;
use crate::drain::Drain;
use crate::error::Error;
use crate::limits::{MEMORY_INTERVAL, PROGRESS_INTERVAL, TICK_INTERVAL};
use crate::memory;
use crate::outbox::Outbox;
use crate::queue::Queue;
use crate::report::progress_line;
use crate::stats::Stats;
use crate::stop::Stop;

/// The exit code after a second signal.
const EXIT_AT_ONCE: i32 = 130;

/// What is said when a second signal ends the process.
const AT_ONCE: &str = "stopped at once: what was under way is not acknowledged; a run with --state goes on from \
                       its last checkpoint";
/// What is said to SIGHUP where there is no file to read again.
const NO_RELOAD: &str = "note: SIGHUP reads the program file again, and this program is no file";
/// How long workers and writer may take to end what they have in hands once sinks were given up.
const LAST_WORK_MAX: Duration = Duration::from_secs(2);

/// What the control watches and steers.
pub struct Control<'a> {
    /// Gets the ticks.
    pub queue: &'a Queue,
    /// Is given up, like the queue, when the end takes too long.
    pub outbox: &'a Outbox,
    /// How long the end may take.
    pub drain: &'a Drain,
    /// Memory of the process above which sources are held up, in bytes.
    pub memory_max: Option<u64>,
    /// What SIGHUP brings about.
    pub on_reload: Option<&'a (dyn Fn() + Send + Sync)>,
    /// Is asked for by the first signal.
    pub stop: &'a Stop,
    /// Where the progress line is drawn.
    pub console: &'a Console,
    /// What the progress line tells.
    pub stats: &'a Stats,
    /// Signalled when the run is over.
    pub over: &'a Notify,
    /// The signals that ask for a stop, if they are to be caught.
    pub signals: Option<Signals>,
    /// Whether ticks are wanted.
    pub ticks: bool,
    /// Width of the progress line, if there is one.
    pub progress_width: Option<usize>,
}

/// Ctrl-C, SIGTERM and SIGHUP, caught from the moment this value exists.
pub struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
}

impl Signals {
    fn catch(runtime: &Runtime) -> std::io::Result<Self> {
        let _within = runtime.enter();
        let interrupt = signal(SignalKind::interrupt())?;
        let terminate = signal(SignalKind::terminate())?;
        Ok(Signals { interrupt, terminate, hang_up: signal(SignalKind::hangup())? })
    }

    async fn next(&mut self) -> Wish {
        tokio::select! {
            _ = self.interrupt.recv() => Wish::Stop,
            _ = self.terminate.recv() => Wish::Stop,
            _ = self.hang_up.recv() => Wish::Reload,
        }
    }
}

/// Memory of the process that is in use now, in bytes, where the system tells.
fn resident_bytes() -> Option<u64> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = statm.split(' ').nth(1)?.parse().ok()?;
    Some(pages.saturating_mul(u64::try_from(rustix::param::page_size()).ok()?))
}

/// What a signal asks for.
enum Wish {
    Stop,
    Reload,
}

/// The runtime that a control runs on, and the signals when they are to be caught. Both are made before
/// the run begins, so that no signal finds it unprepared.
pub fn prepare(catch_signals: bool) -> Result<(Runtime, Option<Signals>), Error> {
    let failed = |error: std::io::Error| Error::bug("timers and signals", error.to_string());
    let runtime = Builder::new_current_thread().enable_all().build().map_err(failed)?;
    let signals =
        if catch_signals { Some(Signals::catch(&runtime).map_err(failed)?) } else { None };
    Ok((runtime, signals))
}

impl Control<'_> {
    /// Serves until the run is over.
    pub fn run(self, runtime: &Runtime) {
        runtime.block_on(self.serve());
    }

    async fn serve(mut self) {
        let signals = self.signals.take();
        tokio::select! {
            () = self.over.notified() => {}
            () = self.tick() => {}
            () = self.draw_progress() => {}
            () = self.watch(signals) => {}
            () = self.bound_the_end() => {}
            () = self.bound_memory() => {}
        }
    }

    async fn tick(&self) {
        if !self.ticks {
            return pending().await;
        }
        let mut timer = interval(TICK_INTERVAL);
        timer.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            timer.tick().await;
            self.queue.tick(system_time());
        }
    }

    async fn draw_progress(&self) {
        let Some(width) = self.progress_width else { return pending().await };
        let mut timer = interval(PROGRESS_INTERVAL);
        timer.set_missed_tick_behavior(MissedTickBehavior::Delay);
        // The first tick comes at once, when there is nothing to tell.
        timer.tick().await;
        loop {
            timer.tick().await;
            self.console.progress(&progress_line(&self.stats.counts(), width));
        }
    }

    async fn watch(&self, signals: Option<Signals>) {
        let Some(mut signals) = signals else { return pending().await };
        loop {
            match (signals.next().await, self.on_reload) {
                (Wish::Stop, _) if self.stop.is_asked() => {
                    self.console.end_progress();
                    self.console.message(AT_ONCE);
                    std::process::exit(EXIT_AT_ONCE);
                }
                (Wish::Stop, _) => {
                    self.stop.ask();
                    self.console.message("stopping: finishing what was read (again: stop at once)");
                }
                (Wish::Reload, Some(reload)) => reload(),
                (Wish::Reload, None) => self.console.message(NO_RELOAD),
            }
        }
    }

    /// Holds sources up while the process takes nearly all the memory that it may take.
    async fn bound_memory(&self) {
        let Some(most) = self.memory_max else { return pending().await };
        let (high, low) = (most / 10 * 9, most / 10 * 8);
        let mut timer = interval(MEMORY_INTERVAL);
        timer.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (mut is_narrow, mut was_told) = (false, false);
        loop {
            timer.tick().await;
            let Some(bytes) = resident_bytes() else { return pending().await };
            self.stats.note_memory(bytes, if is_narrow { MEMORY_INTERVAL } else { Duration::ZERO });
            let narrows = bytes > if is_narrow { low } else { high };
            if narrows != is_narrow {
                is_narrow = narrows;
                memory::note(is_narrow);
                self.queue.narrow(is_narrow);
            }
            if is_narrow && !was_told {
                was_told = true;
                let (now, most) = (bytes >> 20, most >> 20);
                self.console.message(&format!(
                    "warning: the process takes {now} MiB of {most} (--memory); sources are held up, and tables do not grow, until it is less"
                ));
            }
        }
    }

    /// What the run may take to stop is bounded: then nothing waits for sinks any more.
    async fn bound_the_end(&self) {
        self.stop.asked().await;
        tokio::time::sleep(self.drain.left()).await;
        let limit = self.drain.limit;
        self.console.message(&format!(
            "stopping: not all that was read got where it should within {limit:?} (--drain-timeout); \
             the rest stays unacknowledged"
        ));
        self.drain.give_up();
        tokio::time::sleep(LAST_WORK_MAX).await;
        self.queue.abort();
        self.outbox.abort();
        pending().await
    }
}
