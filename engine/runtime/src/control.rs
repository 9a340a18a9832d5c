//! The control of a run: signals, ticks and the progress line, on a small tokio runtime of its own.
//!
//! Invariant: no event passes here; the moving of bytes does not depend on this thread being prompt.

use std::future::pending;

use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::Notify;
use tokio::time::{MissedTickBehavior, interval};

use crate::clock::system_time;
use crate::console::Console;
use crate::error::Error;
use crate::limits::{PROGRESS_INTERVAL, TICK_INTERVAL};
use crate::queue::Queue;
use crate::report::progress_line;
use crate::stats::Stats;
use crate::stop::Stop;

/// The exit code after a second signal.
const EXIT_AT_ONCE: i32 = 130;

/// What the control watches and steers.
pub struct Control<'a> {
    /// Gets the ticks.
    pub queue: &'a Queue,
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

/// Ctrl-C and SIGTERM, caught from the moment this value exists.
pub struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    fn catch(runtime: &Runtime) -> std::io::Result<Self> {
        let _within = runtime.enter();
        let interrupt = signal(SignalKind::interrupt())?;
        Ok(Signals { interrupt, terminate: signal(SignalKind::terminate())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
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
            signals.next().await;
            if self.stop.is_asked() {
                self.console.end_progress();
                std::process::exit(EXIT_AT_ONCE);
            }
            self.stop.ask();
            self.console.message("stopping: finishing what was read (again: stop at once)");
        }
    }
}
