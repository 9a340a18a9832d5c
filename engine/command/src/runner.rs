//! The program that runs, and how another takes its place: what the control socket, SIGHUP and `--watch` ask for.
//!
//! Invariant: a program is read, checked and built before the one that runs is touched.

use super::RunArgs;
use super::layout::{Difference, Layout};
use super::run::{Planned, errors_leave, keeping_letters, planned};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};
use temblor_operate::log::Log;
use temblor_operate::operations::{Change, Kept, Operations, Reloads, StepSeen};
use temblor_pipeline::graph::{Lost, StepCounts};
use temblor_pipeline::pipeline::Pipeline;
use temblor_runtime::clock::system_time;
use temblor_runtime::outputs::Outputs;
use temblor_runtime::overseer::{Overseer, Replacement, View};
use temblor_runtime::processor::Processor;

/// Time between two looks at the files of the program, with `--watch`.
const LOOK: Duration = Duration::from_millis(500);

/// The program that runs.
pub(crate) struct Runner {
    args: RunArgs,
    overseer: Arc<Overseer>,
    log: Option<Arc<Log>>,
    current: Mutex<Current>,
    /// The pipeline that runs, for those who look while a reload is under way.
    shown: Mutex<Arc<Pipeline>>,
    reloads: Mutex<Reloads>,
    /// A reload that SIGHUP has asked for has not begun yet.
    is_asked: AtomicBool,
}

/// What runs now.
struct Current {
    pipeline: Arc<Pipeline>,
    layout: Layout,
    /// The file that was given last; nothing for that of the command line.
    file: Option<PathBuf>,
}

impl Runner {
    /// The runner of a program that is about to run.
    pub(crate) fn new(
        args: RunArgs,
        overseer: Arc<Overseer>,
        log: Option<Arc<Log>>,
        (pipeline, layout): (Arc<Pipeline>, Layout),
    ) -> Arc<Self> {
        let shown = Mutex::new(Arc::clone(&pipeline));
        let current = Mutex::new(Current { pipeline, layout, file: None });
        let (reloads, is_asked) = (Mutex::default(), AtomicBool::new(false));
        Arc::new(Self { args, overseer, log, current, shown, reloads, is_asked })
    }

    /// Reads the program again in a thread of its own, and says how that went. Wishes that come before that has
    /// begun are one.
    pub(crate) fn reload_soon(self: &Arc<Self>) {
        if self.is_asked.swap(true, Ordering::AcqRel) {
            return;
        }
        let runner = Arc::clone(self);
        std::thread::spawn(move || {
            let mut current = runner.lock();
            runner.is_asked.store(false, Ordering::Release);
            let _ = runner.reload_current(&mut current, None);
        });
    }

    /// Looks at the files of the program until the run is over, and reads them again when they have changed.
    pub(crate) fn watch(self: &Arc<Self>) {
        let runner = Arc::downgrade(self);
        std::thread::spawn(move || {
            let mut seen = Vec::new();
            loop {
                let Some(runner) = runner.upgrade() else { return };
                let now = runner.stamps();
                let has_changed = !seen.is_empty() && seen != now;
                // Whoever writes a file may be in the middle of it: it has to look the same twice.
                if has_changed {
                    std::thread::sleep(LOOK / 5);
                    if runner.stamps() == now {
                        runner.reload_soon();
                        seen = now;
                    }
                } else {
                    seen = now;
                }
                drop(runner);
                std::thread::sleep(LOOK);
            }
        });
    }

    /// When each file of the program has changed last.
    fn stamps(&self) -> Vec<Option<(SystemTime, u64)>> {
        let files: Vec<PathBuf> = {
            let current = self.lock();
            let texts = current.pipeline.sources.names().map(PathBuf::from);
            let own = current.file.clone().or_else(|| self.args.program.file.clone());
            texts.chain(own).collect()
        };
        let stamp = |path: &PathBuf| {
            let metadata = std::fs::metadata(path).ok()?;
            Some((metadata.modified().ok()?, metadata.len()))
        };
        files.iter().map(stamp).collect()
    }

    /// Puts the program as it is on disk now into the place of the one that runs.
    fn reload_current(
        &self,
        current: &mut Current,
        file: Option<PathBuf>,
    ) -> Result<Change, String> {
        let began = Instant::now();
        let file = file.or_else(|| current.file.clone());
        let result = self.exchange(current, file);
        let mut reloads = self.reloads.lock().unwrap_or_else(PoisonError::into_inner);
        match &result {
            Ok(change) => {
                reloads.done += 1;
                reloads.last_error = None;
                self.tell(&format!("note: reloaded in {:?}{}", began.elapsed(), told(change)));
            }
            Err(reason) => {
                reloads.failed += 1;
                reloads.last_error = Some(reason.clone());
                self.tell(&format!(
                    "error: the program was not reloaded, the old one goes on: {reason}"
                ));
            }
        }
        result
    }

    fn exchange(&self, current: &mut Current, file: Option<PathBuf>) -> Result<Change, String> {
        let view = self.overseer.view().ok_or("the run has not begun")?;
        let planned = self.read(file.as_deref())?;
        current.layout.catch_up(view);
        // An attempt that fails leaves the numbers as they were.
        let mut layout = current.layout.clone();
        let Planned { mut pipeline, plan, sources } = planned;
        let Difference {
            sources,
            closed_sources,
            sinks,
            closed_sinks,
            ports,
            places,
            begins,
            ends,
        } = layout.change_to(&plan, &sources, &mut pipeline.inputs, &mut pipeline.outputs);
        let (new, old) = (Arc::new(pipeline), Arc::clone(&current.pipeline));
        let alone = view.workers == 1;
        let mut sinks_of_plan: Vec<_> = plan.sinks.into_iter().map(Some).collect();
        let mut taken = |at: usize| sinks_of_plan[at].take().expect("each sink is named once");
        let lost = Arc::new(Mutex::new(Vec::new()));
        let replacement = Replacement {
            processors: (0..view.workers).map(|_| new.worker(alone)).collect(),
            hand_over: hand_over(Arc::clone(&new), old, Arc::clone(&lost)),
            closed_sources,
            sources,
            closed_sinks,
            sinks: sinks.into_iter().map(|(at, goes_on)| (taken(at), goes_on)).collect(),
            ports,
            places,
            limit: self.args.operate.drain_max(),
        };
        self.overseer.replace(replacement).map_err(|error| error.to_string())?;
        *self.shown() = Arc::clone(&new);
        (current.pipeline, current.layout, current.file) = (new, layout, file);
        let lost = std::mem::take(&mut *lost.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(Change { begins, ends, loses: lost.iter().map(sentence).collect() })
    }

    /// What a reload would do.
    fn rehearse(&self, current: &Current, file: Option<PathBuf>) -> Result<Change, String> {
        let view = self.overseer.view().ok_or("the run has not begun")?;
        let file = file.or_else(|| current.file.clone());
        let Planned { mut pipeline, plan, sources } = self.read(file.as_deref())?;
        let mut layout = current.layout.clone();
        layout.catch_up(view);
        let difference =
            layout.change_to(&plan, &sources, &mut pipeline.inputs, &mut pipeline.outputs);
        let lost = pipeline.would_lose(&current.pipeline);
        let Difference { begins, ends, sources, closed_sources, .. } = difference;
        sources.iter().try_for_each(|source| {
            source.try_opening(&view.stats, &closed_sources).map_err(|error| error.to_string())
        })?;
        Ok(Change { begins, ends, loses: lost.iter().map(sentence).collect() })
    }

    /// Reads, checks and builds the program.
    fn read(&self, file: Option<&std::path::Path>) -> Result<Planned, String> {
        let loaded = self.args.program.load_again(file, errors_leave(&self.args))?;
        let loaded = keeping_letters(loaded, &self.args);
        if loaded.has_errors() {
            return Err(loaded.report(false).trim_end().to_string());
        }
        planned(loaded, &self.args, Instant::now()).map_err(|error| error.to_string())
    }

    fn shown(&self) -> MutexGuard<'_, Arc<Pipeline>> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, text: &str) {
        match self.overseer.view() {
            Some(view) => view.console.message(text),
            None => eprintln!("{text}"),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Current> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Moves what is remembered; what nobody takes over is put out by the old program as at the end of its input.
fn hand_over(
    new: Arc<Pipeline>,
    old: Arc<Pipeline>,
    lost: Arc<Mutex<Vec<Lost>>>,
) -> temblor_runtime::exchange::HandOver {
    Box::new(move |processor: &mut dyn Processor, outputs: &mut Outputs| {
        let left = new.take_over(&old);
        let is_whole = left.is_empty();
        *lost.lock().unwrap_or_else(PoisonError::into_inner) = left;
        if is_whole { Ok(()) } else { processor.flush(system_time(), outputs) }
    })
}

fn sentence(lost: &Lost) -> String {
    let Lost { step, reason, entries } = lost;
    let entries = entries.map(|count| format!(" ({count} kept)")).unwrap_or_default();
    format!("{step}{entries}: {reason}")
}

fn told(change: &Change) -> String {
    let Change { begins, ends, loses } = change;
    let mut text = String::new();
    for (what, names) in [("begins", begins), ("ends", ends), ("forgets", loses)] {
        if !names.is_empty() {
            text.push_str(&format!("; {what} {}", names.join(", ")));
        }
    }
    text
}

impl Operations for Runner {
    fn view(&self) -> Option<View> {
        self.overseer.view().cloned()
    }

    fn steps(&self) -> Vec<StepSeen> {
        let pipeline = Arc::clone(&self.shown());
        pipeline.step_counts().into_iter().map(seen).collect()
    }

    fn reloads(&self) -> Reloads {
        self.reloads.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn reload(&self, program: Option<&str>, dry_run: bool) -> Result<Change, String> {
        let mut current = self.lock();
        let file = program.map(PathBuf::from);
        if dry_run {
            return self.rehearse(&current, file);
        }
        self.reload_current(&mut current, file)
    }

    fn set_log_level(&self, level: &str) -> Result<(), String> {
        let log = self.log.as_ref();
        log.ok_or("there is no log: start the run with --log or --log-format")?.set_level(level)
    }
}

fn seen(step: StepCounts) -> StepSeen {
    let StepCounts { name, events, failed, dropped, usage } = step;
    let kept = usage.map(|usage| Kept {
        entries: usage.entries,
        bytes: usage.bytes,
        evicted: usage.evicted,
    });
    StepSeen { name, events, failed, dropped, kept }
}
