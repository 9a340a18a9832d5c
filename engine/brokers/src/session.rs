//! The life of a source at a broker: sessions that begin anew, with back-off, until the run stops.
//!
//! Invariant: what a session has not acknowledged when it breaks, the broker gives to a later one.

use std::future::Future;
use std::time::Duration;

use temblor_runtime::error::Error;
use temblor_runtime::source::feed::Feed;
use temblor_wire::retry::{self, Retry};
use tokio::task::JoinHandle;

/// How long a source that stops waits for what it has handed over. Operators that keep events for longer let
/// them go when all sources have ended: those are delivered again by the broker.
pub const SETTLE_MAX: Duration = Duration::from_secs(5);
/// How long a connection may take, with TLS and authentication.
pub const CONNECT_MAX: Duration = Duration::from_secs(10);
/// A session that lasted so long was a good one: the next failure waits for the shortest time again.
const GOOD_SESSION: Duration = Duration::from_secs(10);

/// How a session ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Ended {
    /// The run stops.
    Stopped,
    /// Something did not get where it should: it has to be delivered again.
    Failed,
}

/// Runs sessions until one ends because the run stops.
pub async fn repeat<F, S>(feed: &Feed, mut retry: Retry, mut session: F) -> Result<(), Error>
where
    F: FnMut() -> S,
    S: Future<Output = Result<Ended, Error>>,
{
    loop {
        let began = tokio::time::Instant::now();
        let error = match session().await {
            Ok(Ended::Stopped) => return Ok(()),
            Ok(Ended::Failed) => None,
            Err(_) if feed.stop.is_asked() => return Ok(()),
            Err(error) => Some(error),
        };
        if began.elapsed() >= GOOD_SESSION {
            retry.succeed();
        }
        let Some(wait) = retry.fail(retry::chance()) else {
            let given_up = || Error::input("source", "was given up after its last attempt", "");
            return Err(error.unwrap_or_else(given_up));
        };
        error.into_iter().for_each(|error| feed.trouble(error));
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            () = feed.stop.asked() => return Ok(()),
        }
    }
}

/// A task that ends with its owner.
#[derive(Debug)]
pub struct Guard(JoinHandle<()>);

impl Guard {
    /// Spawns a task.
    pub fn spawn(task: impl Future<Output = ()> + Send + 'static) -> Self {
        Self(tokio::spawn(task))
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Appends a text as JSON.
pub fn push_json(text: &str, out: &mut String) {
    // A text can always be written.
    out.push_str(&serde_json::to_string(text).unwrap_or_default());
}
