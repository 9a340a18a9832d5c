//! The queue on disk between a source and the program: a source's peer has its answer once the bytes are on disk.
//!
//! Invariant: the source hands over into a queue of its own, whose batches are settled when they are on disk;
//! the program gets them from there, and a record is freed when all that stems from it is where it should be.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::scope;
use std::time::{Duration, Instant};

use temblor_runtime::ack::{Ledger, Witness};
use temblor_runtime::batch::Batch;
use temblor_runtime::checkpoint::FileMark;
use temblor_runtime::error::Error;
use temblor_runtime::limits::{QUEUE_BATCHES_MAX, QUEUE_BYTES_PER_WORKER_MAX};
use temblor_runtime::queue::{Bounds, Queue, Work};
use temblor_runtime::source::feed::Feed;
use temblor_runtime::source::{OpenSource, Source};
use xxhash_rust::xxh3::xxh3_64;

use crate::arrival;
use crate::bell::Bell;
use crate::folder::{directory, open_error};
use crate::log::{Log, Refused, Settings};
use crate::reader::{Item, Loss, Reader};

/// Records that the program has and has not settled, at the most.
pub const UNDER_WAY_MAX: u64 = 65_536;
/// How long is waited at a time without looking whether the run ends.
const LOOK: Duration = Duration::from_millis(100);
/// How long room is waited for once the run is to stop.
const STOP_PATIENCE: Duration = Duration::from_secs(5);

/// What a plan says of a source with a queue on disk.
#[derive(Debug)]
pub struct BufferedSource {
    /// What the program calls it.
    pub name: String,
    /// The source itself.
    pub inner: Arc<dyn OpenSource>,
    /// How the queue is kept.
    pub settings: Settings,
}

impl OpenSource for BufferedSource {
    fn open(&self, marks: &[FileMark]) -> Result<Box<dyn Source>, Error> {
        let inner = self.inner.open(marks)?;
        let (name, settings) = (self.name.clone(), self.settings.clone());
        Ok(Box::new(Opened { name, inner, settings }))
    }

    fn needs_state(&self) -> Option<&str> {
        Some(&self.name)
    }
}

struct Opened {
    name: String,
    inner: Box<dyn Source>,
    settings: Settings,
}

impl Source for Opened {
    fn name(&self) -> String {
        self.inner.name()
    }

    fn listens(&self) -> bool {
        self.inner.listens()
    }

    fn try_listen(&self) -> Result<(), Error> {
        self.inner.try_listen()
    }

    fn prepare(&mut self, feed: &Feed) {
        self.inner.prepare(feed);
    }

    fn run(&mut self, feed: &Feed) -> Result<(), Error> {
        let directory = directory(feed.state.as_deref(), &self.name)?;
        let bell = Arc::new(Bell::default());
        let log = Log::open(&directory, self.settings.clone(), bell);
        let log = log.map_err(|error| open_error(&directory, error))?;
        let bounds = Bounds { bytes_max: QUEUE_BYTES_PER_WORKER_MAX, count_max: QUEUE_BATCHES_MAX };
        let own = Feed {
            queue: Arc::new(Queue::new(bounds, 1)),
            ledger: Ledger::new(feed.source + 1),
            ..feed.clone()
        };
        let inner = &mut self.inner;
        let name = &self.name;
        scope(|scope| {
            let taking = scope.spawn(|| {
                let ended = inner.run(&own);
                own.queue.leave();
                ended
            });
            scope.spawn(|| {
                take_in(name, &own, &log);
                log.close();
            });
            give_out(name, feed, &log);
            // The run does not go on: nobody waits for room any more.
            own.queue.abort();
            taking.join().unwrap_or_else(|_| Err(Error::bug(name.as_str(), "the source panicked")))
        })
    }
}

/// Puts what the source hands over on disk.
fn take_in(name: &str, own: &Feed, log: &Log) {
    let (mut body, mut told) = (Vec::new(), false);
    while let Some(work) = own.queue.receive() {
        match work {
            Work::Batch(_, batch) => keep(name, own, log, &batch, (&mut body, &mut told)),
            Work::End(_) => return,
            _ => {}
        }
    }
}

/// Puts a batch on disk, as soon as there is room. Its token says whether that went well.
fn keep(name: &str, own: &Feed, log: &Log, batch: &Batch, (body, told): (&mut Vec<u8>, &mut bool)) {
    body.clear();
    arrival::write(batch, body);
    let events = u32::try_from(batch.frame_count()).unwrap_or(u32::MAX);
    let mut since = None;
    loop {
        let rings = log.bell().rings();
        match log.append(body, events) {
            Ok(_) => {
                *told = false;
                return;
            }
            Err(Refused::TooLong) => {
                batch.token_ref().fail();
                own.trouble(Error::input(
                    name,
                    "a message is longer than a record of a buffer",
                    "",
                ));
                return;
            }
            Err(Refused::Full) => log.bell().wait(rings, LOOK),
            Err(Refused::NoSpace(error)) => {
                if !std::mem::replace(told, true) {
                    let text = format!(
                        "warning: the buffer of `{name}` waits for room on the disk: {error}"
                    );
                    own.console.message(&text);
                }
                std::thread::sleep(LOOK);
            }
        }
        let is_late =
            own.stop.is_asked() && since.get_or_insert_with(Instant::now).elapsed() > STOP_PATIENCE;
        if own.queue.is_aborted() || is_late {
            // Its peer keeps it and sends it again.
            batch.token_ref().fail();
            return;
        }
    }
}

/// Learns what became of a record.
struct OfRecord {
    log: Arc<Log>,
    sequence: u64,
    under_way: Arc<AtomicU64>,
}

impl Witness for OfRecord {
    fn settled(&self, acknowledged: bool) {
        self.under_way.fetch_sub(1, Ordering::AcqRel);
        self.log.settle(self.sequence, acknowledged);
    }
}

/// Hands over to the program what is on disk, until nothing more comes or the run stops.
fn give_out(name: &str, feed: &Feed, log: &Arc<Log>) {
    let mut reader = Reader::new(Arc::clone(log));
    let under_way = Arc::new(AtomicU64::new(0));
    loop {
        let is_closed = log.is_closed();
        if feed.queue.is_aborted() || is_closed && (feed.stop.is_asked() || log.is_read()) {
            return;
        }
        if under_way.load(Ordering::Acquire) >= UNDER_WAY_MAX {
            let rings = log.bell().rings();
            log.bell().wait(rings, LOOK);
            continue;
        }
        let record = match reader.next(LOOK) {
            Item::Nothing => continue,
            Item::End => return,
            Item::Lost(loss) => {
                tell_loss(name, feed, &loss);
                continue;
            }
            Item::Record(record) => record,
        };
        let Some((mut arrival, mut origin)) = arrival::read(&record.body) else {
            feed.stats.add_error("buffer");
            log.settle(record.sequence, true);
            continue;
        };
        // Whatever happens, the same record has the same events under the same numbers.
        origin.identity = Some([xxh3_64(name.as_bytes()), record.sequence]);
        arrival.first_line = arrival.first_line.max(1);
        let origin = Arc::new(origin);
        under_way.fetch_add(1, Ordering::AcqRel);
        let (log, under_way) = (Arc::clone(log), Arc::clone(&under_way));
        let witness = OfRecord { log, sequence: record.sequence, under_way };
        if feed.hand_over_again(arrival, &origin, Box::new(witness)).is_err() {
            return;
        }
    }
}

fn tell_loss(name: &str, feed: &Feed, loss: &Loss) {
    let Loss { segment, offset, bytes, records, reason } = loss;
    feed.stats.add_errors("buffer", (*records).max(1));
    feed.console.message(&format!(
        "warning: the buffer of `{name}`: segment {segment}, byte {offset}: {bytes} bytes passed over: {reason}"
    ));
}
