//! The end of a `wal` that events go into.
//!
//! Invariant: parcels go in in their order, and are confirmed once they are on disk.

use std::sync::Arc;
use std::time::{Duration, Instant};

use temblor_buffer::log::{Log, Refused};
use temblor_runtime::error::Error;
use temblor_runtime::outlet::{Desk, Feedback, Outlet, Parcel, Refusal};
use temblor_runtime::sink::{OpenSink, Sink};
use temblor_wire::outbound::task_sink;

use super::events;
use super::ring::Ring;

/// How long nothing may have been delivered while there is no room, before events are refused.
pub(crate) const STUCK_MAX: Duration = Duration::from_secs(10);
/// Time between two looks at whether there is room.
const LOOK: Duration = Duration::from_millis(5);
/// A record has room for so many times itself in the log, so that what is delivered is soon freed.
const RECORDS_WANTED: u64 = 8;
/// Bytes of a record at the most, but for one with a single longer event.
const RECORD_BYTES_MAX: u64 = 1 << 20;

/// Puts events into a log.
#[derive(Debug)]
pub(super) struct Puts {
    pub ring: Arc<Ring>,
    pub errors: Arc<Feedback>,
}

impl OpenSink for Puts {
    fn open(&self, _: bool) -> Result<Box<dyn Sink>, Error> {
        let log = self.ring.log()?;
        let (ring, errors) = (Arc::clone(&self.ring), Arc::clone(&self.errors));
        let putting = Putting { ring, log, errors };
        Ok(task_sink(&putting, |putting, outlet, desk| putting.run(outlet, desk)))
    }
}

#[derive(Clone)]
struct Putting {
    ring: Arc<Ring>,
    log: Arc<Log>,
    errors: Arc<Feedback>,
}

impl Putting {
    async fn run(self, outlet: Arc<Outlet>, desk: Desk) {
        let mut full_since = None;
        while let Some(parcel) = outlet.take().await {
            let count = parcel.events().len();
            let (mut first, mut refused) = (0, Vec::new());
            while first < count {
                let end = self.portion(&parcel, first);
                let mut body = Vec::new();
                events::write(events::of_parcel(&parcel, first..end), &mut body);
                if let Err(reason) = self.put(&body, end - first, &mut full_since, &desk).await {
                    let refusal =
                        |event| Refusal { event, reason: reason.clone(), details: String::new() };
                    refused.extend((first..end).map(refusal));
                }
                first = end;
            }
            parcel.confirm_except(&refused, &self.errors);
        }
        self.log.close();
    }

    /// The first event behind those of one record that begins with `first`.
    fn portion(&self, parcel: &Parcel, first: usize) -> usize {
        let bytes_max = (self.ring.bytes_max() / RECORDS_WANTED).clamp(1, RECORD_BYTES_MAX);
        let mut bytes = 0;
        let fits = |event: &usize| {
            bytes += parcel.event(*event).len() as u64;
            bytes <= bytes_max
        };
        let more = (first + 1..parcel.events().len()).take_while(fits).count();
        first + 1 + more
    }

    /// Puts a record in, as soon as there is room; `full_since` is when there was none first.
    async fn put(
        &self,
        body: &[u8],
        events: usize,
        full_since: &mut Option<Instant>,
        desk: &Desk,
    ) -> Result<(), String> {
        let events = u32::try_from(events).unwrap_or(u32::MAX);
        loop {
            let reason = match self.ring.put(&self.log, body, events, &desk.ledger) {
                Ok(_) => {
                    *full_since = None;
                    return Ok(());
                }
                Err(Refused::TooLong) => return Err("the event is too long for a log".to_string()),
                Err(Refused::Full) => {
                    let bytes = self.ring.bytes_max();
                    format!("the log is full ({bytes} bytes) and nothing of it is delivered")
                }
                Err(Refused::NoSpace(error)) => format!("the log cannot be written: {error}"),
            };
            let full_for = full_since.get_or_insert_with(Instant::now).elapsed();
            if full_for.min(self.log.stuck_for()) > STUCK_MAX {
                return Err(format!("{}: {reason}", self.ring.place()));
            }
            tokio::time::sleep(LOOK).await;
        }
    }
}
