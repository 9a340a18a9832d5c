//! The control of a run: signals, ticks and the progress line, on a small tokio runtime of its own.
//!
//! Invariant: no event passes here; the moving of bytes does not depend on this thread being prompt.

use std::future::pending;

use tokio::signal::unix::{SignalKind, signal};
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
    /// Whether Ctrl-C and SIGTERM are caught.
    pub signals: bool,
    /// Whether ticks are wanted.
    pub ticks: bool,
    /// Width of the progress line, if there is one.
    pub progress_width: Option<usize>,
}

impl Control<'_> {
    /// Serves until the run is over.
    pub fn run(self) -> Result<(), Error> {
        let failed = |error: std::io::Error| Error::bug("timers and signals", error.to_string());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.map_err(failed)?.block_on(self.serve()).map_err(failed)
    }

    async fn serve(self) -> std::io::Result<()> {
        tokio::select! {
            () = self.over.notified() => Ok(()),
            () = self.tick() => Ok(()),
            () = self.draw_progress() => Ok(()),
            result = self.watch_signals() => result,
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

    async fn watch_signals(&self) -> std::io::Result<()> {
        if !self.signals {
            return pending().await;
        }
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        loop {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            if self.stop.is_asked() {
                self.console.end_progress();
                std::process::exit(EXIT_AT_ONCE);
            }
            self.stop.ask();
            self.console.message("stopping: finishing what was read (again: stop at once)");
        }
    }
}
