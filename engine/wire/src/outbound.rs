//! The writer's side of every sink of this crate: parcels go into an outlet, one task takes them out.
//!
//! Invariant: when a run ends, the task gets time to send what it was handed; what is left then has failed.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use temblor_runtime::ack::Token;
use temblor_runtime::error::Error;
use temblor_runtime::outlet::{Desk, Outlet, Parcel};
use temblor_runtime::outputs::Chunk;
use temblor_runtime::sink::{Delivered, Sink, WriteFailure};
use tokio::task::JoinHandle;

/// How long a task is waited for whose parcels are kept in front of it: it may just be sending one.
const KEPT_PATIENCE: Duration = Duration::from_millis(500);

/// The task of a sink: takes parcels from the outlet until it ends.
pub type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A sink whose work is done by a task.
pub struct TaskSink<F> {
    /// What waits for the task, once the run has begun.
    outlet: Option<Arc<Outlet>>,
    /// Makes the task.
    work: Option<F>,
    running: Option<(Desk, JoinHandle<()>)>,
}

/// A sink whose task is what `run` makes of a copy of a configuration.
pub fn task_sink<C, T>(
    config: &C,
    run: impl FnOnce(C, Arc<Outlet>, Desk) -> T + Send + 'static,
) -> Box<dyn Sink>
where
    C: Clone + Send + 'static,
    T: Future<Output = ()> + Send + 'static,
{
    let config = config.clone();
    let work = move |outlet, desk| -> Task { Box::pin(run(config, outlet, desk)) };
    Box::new(TaskSink::new(work))
}

impl<F: FnOnce(Arc<Outlet>, Desk) -> Task + Send> TaskSink<F> {
    /// A sink that has not begun.
    pub fn new(work: F) -> Self {
        Self { outlet: None, work: Some(work), running: None }
    }
}

impl<F: FnOnce(Arc<Outlet>, Desk) -> Task + Send> Sink for TaskSink<F> {
    fn start(&mut self, desk: &Desk) -> Result<(), Error> {
        let Some(work) = self.work.take() else { return Ok(()) };
        let outlet = Outlet::new(desk.policy);
        desk.drain.watch(&outlet);
        self.outlet = Some(Arc::clone(&outlet));
        let task = work(outlet, desk.clone());
        self.running = Some((desk.clone(), desk.network.handle()?.spawn(task)));
        Ok(())
    }

    fn deliver(
        &mut self,
        place: &str,
        chunk: &mut Chunk,
        tokens: &[Token],
    ) -> Result<Delivered, WriteFailure> {
        if let (Some((desk, _)), Some(outlet)) = (&self.running, &self.outlet) {
            // A task that has ended has said why; the parcel fails.
            let _ = outlet.put(Parcel::new(place, chunk, tokens, desk));
        }
        Ok(Delivered::Later)
    }

    fn write(&mut self, _: &str, _: &[u8]) -> Result<(), WriteFailure> {
        unreachable!("the writer delivers")
    }

    fn finish(&mut self) {
        let Some(outlet) = self.outlet.take() else { return };
        outlet.close();
        let Some((desk, task)) = self.running.take() else { return };
        let abort = task.abort_handle();
        let Ok(handle) = desk.network.handle() else { return };
        let patience = if desk.keeps_rest { KEPT_PATIENCE } else { desk.drain.left() };
        let ended = handle.block_on(async { tokio::time::timeout(patience, task).await });
        if ended.is_err() {
            abort.abort();
        }
        if ended.is_err() && !desk.keeps_rest {
            let reason =
                format!("has not taken everything within {:?} (--drain-timeout)", desk.drain.limit);
            let help = "what is left stays unacknowledged; run again with --state to send it";
            desk.trouble(Error::output(&*desk.name, reason, help));
        }
        outlet.abandon();
    }
}
