//! The one tokio runtime of a run: sockets, timers, TLS and the clients of brokers live on it.
//!
//! Invariant: it exists only once somebody has asked for it, and no event is decoded, changed or encoded on
//! its threads.

use std::sync::{Arc, OnceLock};

use tokio::runtime::{Builder, Handle, Runtime};

use crate::error::Error;
use crate::limits::NETWORK_THREADS_MAX;

/// Starts the runtime when it is needed first.
#[derive(Default)]
pub struct Network {
    runtime: OnceLock<Runtime>,
}

impl Network {
    /// A network that nobody has used yet.
    #[must_use]
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Where tasks are spawned.
    ///
    /// # Errors
    /// When the system gives no threads or no descriptors.
    pub fn handle(&self) -> Result<&Handle, Error> {
        if let Some(runtime) = self.runtime.get() {
            return Ok(runtime.handle());
        }
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let runtime = Builder::new_multi_thread()
            .worker_threads(cores.min(NETWORK_THREADS_MAX))
            .thread_name("network")
            .enable_all()
            .build()
            .map_err(|error| Error::bug("network", error.to_string()))?;
        Ok(self.runtime.get_or_init(|| runtime).handle())
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        // Tasks that are left belong to connections that nobody waits for any more.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
