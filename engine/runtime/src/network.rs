//! The one tokio runtime of a run: sockets, timers, TLS and the clients of brokers live on it; and where the
//! ends of one run that belong together find each other.
//!
//! Invariant: it exists only once somebody has asked for it, and no event is decoded, changed or encoded on
//! its threads.

use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tokio::runtime::{Builder, Handle, Runtime};

use crate::error::Error;
use crate::limits::NETWORK_THREADS_MAX;

/// Starts the runtime when it is needed first.
#[derive(Default)]
pub struct Network {
    runtime: OnceLock<Runtime>,
    /// What sources and sinks of the run share, by name.
    shared: Mutex<HashMap<&'static str, Arc<dyn Any + Send + Sync>>>,
}

impl Network {
    /// A network that nobody has used yet.
    #[must_use]
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// What several ends of the run share under a name; the first to ask makes it.
    ///
    /// # Panics
    /// When a name stands for things of two types.
    pub fn shared<T: Default + Send + Sync + 'static>(&self, name: &'static str) -> Arc<T> {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let one = shared.entry(name).or_insert_with(|| Arc::<T>::default());
        Arc::clone(one).downcast().expect("a name stands for one type")
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
