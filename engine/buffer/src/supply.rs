//! What the writer, who puts events into a queue, and the thread that takes them out share.
//!
//! Invariant: what the sink has under way is counted until it is settled, well or badly.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use temblor_runtime::ack::{Ledger, Witness};
use temblor_runtime::limits::OUTLET_PARCELS_MAX;
use temblor_runtime::outlet::{Desk, QueuePolicy, WhenFull};

use crate::bell::Bell;
use crate::log::Log;
use crate::waiting::{Queue, Waiting};

/// How much a delivery is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Load {
    /// Bytes of its events.
    pub bytes: usize,
    /// How many they are.
    pub events: u64,
}

/// How much of what waits the sink may have at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Share {
    /// Bytes, at the most.
    pub bytes_max: usize,
    /// Events, at the most.
    pub events_max: u64,
}

/// What is shared by those who put events in and the thread that takes them out.
pub struct Supply {
    /// The part on disk.
    pub log: Option<Arc<Log>>,
    /// Rung at every change.
    pub bell: Arc<Bell>,
    /// What the sink itself is told of the run: its tokens are ours.
    pub desk: Desk,
    /// Events in memory.
    queue: Mutex<Queue>,
    /// Bytes that the sink has and has not settled.
    under_way_bytes: AtomicU64,
    /// Deliveries of that kind.
    under_way: AtomicU64,
    /// Events of those deliveries.
    under_way_events: AtomicU64,
    /// Events that the sink may have, at the most.
    under_way_events_max: u64,
    /// No more will come.
    closed: AtomicBool,
    /// Standard output has no reader any more.
    nobody_reads: AtomicBool,
    /// When something was settled last, or the first came after a quiet time.
    progress: Mutex<Option<Instant>>,
}

impl Supply {
    /// A queue in front of the sink of that desk.
    pub(crate) fn new(
        log: Option<Arc<Log>>,
        bell: Arc<Bell>,
        desk: &Desk,
        share: Share,
    ) -> Arc<Self> {
        let desk = Desk {
            ledger: Ledger::new(1),
            policy: QueuePolicy { bytes_max: share.bytes_max, when_full: WhenFull::Block },
            keeps_rest: log.is_some(),
            ..desk.clone()
        };
        Arc::new(Self {
            log,
            bell,
            desk,
            queue: Mutex::default(),
            under_way_bytes: AtomicU64::new(0),
            under_way: AtomicU64::new(0),
            under_way_events: AtomicU64::new(0),
            under_way_events_max: share.events_max,
            closed: AtomicBool::new(false),
            nobody_reads: AtomicBool::new(false),
            progress: Mutex::default(),
        })
    }

    pub(crate) fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether nothing on disk still has to be given out.
    #[must_use]
    pub fn is_read(&self) -> bool {
        self.log.as_ref().is_none_or(|log| log.is_read())
    }

    /// Whether the sink has found out that nobody reads what it writes.
    #[must_use]
    pub fn nobody_reads(&self) -> bool {
        self.nobody_reads.load(Ordering::Acquire)
    }

    /// Nobody reads what the sink writes.
    pub(crate) fn nobody_will_read(&self) {
        self.nobody_reads.store(true, Ordering::Release);
    }

    /// Whether no more will come.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Whether the sink has nothing that it has not settled.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.under_way.load(Ordering::Acquire) == 0
    }

    /// Nothing waits: the next that comes begins a new time.
    pub(crate) fn rest(&self) {
        *self.progress() = None;
    }

    fn progress(&self) -> MutexGuard<'_, Option<Instant>> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// No more will come.
    pub fn close(&self) {
        self.closed.store(true, Ordering::Release);
        *self.progress() = Some(Instant::now());
        if let Some(log) = &self.log {
            log.close();
        }
        self.bell.ring();
    }

    /// Whether all that came has been dealt with.
    pub(crate) fn is_done(&self) -> bool {
        let on_disk = self.log.as_ref().is_some_and(|log| !log.is_drained());
        !on_disk && self.is_idle() && self.queue().is_empty()
    }

    /// Whether the sink's own queue takes so much more.
    pub(crate) fn has_room(&self, load: Load) -> bool {
        let under_way = self.under_way.load(Ordering::Acquire);
        let bytes = self.under_way_bytes.load(Ordering::Acquire) + load.bytes as u64;
        let events = self.under_way_events.load(Ordering::Acquire) + load.events;
        let fits =
            bytes <= self.desk.policy.bytes_max as u64 && events <= self.under_way_events_max;
        under_way == 0 || fits && under_way < OUTLET_PARCELS_MAX as u64
    }

    pub(crate) fn begin(&self, load: Load) {
        self.under_way.fetch_add(1, Ordering::AcqRel);
        self.under_way_bytes.fetch_add(load.bytes as u64, Ordering::AcqRel);
        self.under_way_events.fetch_add(load.events, Ordering::AcqRel);
    }

    fn end(&self, load: Load, good: bool) {
        self.under_way.fetch_sub(1, Ordering::AcqRel);
        self.under_way_bytes.fetch_sub(load.bytes as u64, Ordering::AcqRel);
        self.under_way_events.fetch_sub(load.events, Ordering::AcqRel);
        if good {
            *self.progress() = Some(Instant::now());
        }
        self.bell.ring();
    }

    /// How long nothing has been settled although something waits.
    pub(crate) fn stuck_for(&self) -> Duration {
        self.progress().get_or_insert_with(Instant::now).elapsed()
    }
}

/// Learns what became of a record.
pub(crate) struct OfRecord {
    pub supply: Arc<Supply>,
    pub sequence: u64,
    pub load: Load,
}

impl Witness for OfRecord {
    fn settled(&self, acknowledged: bool) {
        if let Some(log) = &self.supply.log {
            log.settle(self.sequence, acknowledged);
        }
        self.supply.end(self.load, acknowledged);
    }
}

/// Learns what became of events that waited in memory.
pub(crate) struct OfWaiting {
    pub supply: Arc<Supply>,
    pub load: Load,
    /// Their tokens fail when they are dropped.
    pub waiting: Mutex<Option<Waiting>>,
}

impl Witness for OfWaiting {
    fn settled(&self, acknowledged: bool) {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(waiting) = waiting.filter(|_| acknowledged) {
            waiting.shed();
        }
        self.supply.end(self.load, acknowledged);
    }
}
