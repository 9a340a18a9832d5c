//! Connections that are read and written at the same time: who is connected, and how an event finds its
//! connection.
//!
//! Invariant: a connection that its peer has closed for writing stays open for answers until all that came
//! from it has settled.

use std::collections::HashMap;
use std::sync::{Arc, Mutex as StdMutex, PoisonError};
use std::time::Duration;

use temblor_runtime::batch::Origin;
use temblor_runtime::outlet::{Feedback, Outlet, Parcel, Refusal};
use temblor_runtime::source::feed::Feed;
use tokio::io::AsyncWriteExt;
use tokio::sync::Mutex;

use crate::socket::{Sides, WriteSide, farewell};
use crate::stream::{Reading, take_messages};

/// How long a peer may take to read an answer.
const SLOW_MAX: Duration = Duration::from_secs(30);
/// How long answers are waited for after the peer has ended, or the run stops.
const LAST_ANSWERS_MAX: Duration = Duration::from_secs(5);

/// The writing side of a connection, which source and sink share.
pub(super) type Shared = Arc<Mutex<Option<WriteSide>>>;

/// The connections of a server by the name of their peer.
#[derive(Default)]
pub(super) struct Connections(StdMutex<HashMap<String, Shared>>);

impl std::fmt::Debug for Connections {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Connections")
    }
}

impl Connections {
    fn insert(&self, key: &str, write: &Shared) {
        self.lock().insert(key.to_string(), Arc::clone(write));
    }

    fn remove(&self, key: &str, write: &Shared) {
        let mut all = self.lock();
        // A later connection may have taken the name.
        if all.get(key).is_some_and(|known| Arc::ptr_eq(known, write)) {
            all.remove(key);
        }
    }

    fn get(&self, key: &str) -> Option<Shared> {
        self.lock().get(key).cloned()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Shared>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Serves a connection until its peer has ended and its answers are written.
pub(super) async fn serve(
    (mut read, write): Sides,
    key: &str,
    connections: &Connections,
    reading: &Reading,
    origin: &Arc<Origin>,
    feed: &Feed,
) {
    let write = Arc::new(Mutex::new(Some(write)));
    connections.insert(key, &write);
    let mut receipts = Vec::new();
    take_messages(&mut read, reading, origin, feed, Some(&mut receipts)).await;
    let settling = async {
        for receipt in receipts {
            // Whether it went well or not: there will be no answer any more.
            receipt.settled().await;
        }
    };
    // What is held by an operator may give answers much later; nobody waits for those.
    let _ = tokio::time::timeout(LAST_ANSWERS_MAX, settling).await;
    connections.remove(key, &write);
    let write = write.lock().await.take();
    if let Some(write) = write {
        farewell(read, write).await;
    }
}

/// Writes events to the connections that their metadata name; `key` reads the name from it.
pub(super) async fn answer(
    outlet: Arc<Outlet>,
    connections: Arc<Connections>,
    errors: Arc<Feedback>,
    key: fn(&str) -> Option<String>,
) {
    while let Some(parcel) = outlet.take().await {
        let mut refused = Vec::new();
        let mut at = 0;
        while at < parcel.events().len() {
            at = write_run(&parcel, at, &connections, key, &mut refused).await;
        }
        parcel.confirm_except(&refused, &errors);
    }
}

/// Writes the events from `first` on that go to the same connection; returns the first that does not.
async fn write_run(
    parcel: &Parcel,
    first: usize,
    connections: &Connections,
    key: fn(&str) -> Option<String>,
    refused: &mut Vec<Refusal>,
) -> usize {
    let meta = parcel.attribute(first, 0);
    let count = parcel.events().len();
    let same = (first..count).take_while(|event| parcel.attribute(*event, 0) == meta).count();
    let end = first + same;
    let name = meta.and_then(key);
    let reason = match &name {
        None => Some("its metadata do not say which connection it goes to".to_string()),
        Some(name) => match connections.get(name) {
            None => Some(format!("the connection of {name} is closed")),
            Some(write) => {
                let bytes: Vec<u8> =
                    (first..end).flat_map(|one| parcel.event(one)).copied().collect();
                let written = write_to(&write, &bytes).await;
                written.err().map(|reason| format!("{name}: {reason}"))
            }
        },
    };
    let refusal =
        |event| reason.clone().map(|reason| Refusal { event, reason, details: String::new() });
    refused.extend((first..end).filter_map(refusal));
    end
}

/// Writes to a connection; one that fails is closed.
async fn write_to(write: &Shared, bytes: &[u8]) -> Result<(), String> {
    let mut write = write.lock().await;
    let Some(side) = write.as_mut() else { return Err("the connection is closed".to_string()) };
    let written = async {
        side.write_all(bytes).await?;
        side.flush().await
    };
    let reason = match tokio::time::timeout(SLOW_MAX, written).await {
        Ok(Ok(())) => return Ok(()),
        Ok(Err(error)) => error.to_string(),
        Err(_) => format!("it took nothing for {SLOW_MAX:?}"),
    };
    write.take();
    Err(reason)
}
