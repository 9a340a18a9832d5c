//! The source's side of one stream: from its bytes to batches, until it ends or the run stops.
//!
//! Invariant: a busy connection makes large batches by itself, a quiet one waits for nobody, and one that
//! says nothing holds no memory but that of its message.

use std::io::Error as IoError;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use temblor_declare::{Setting, Settings, Takes};
use temblor_runtime::batch::Origin;
use temblor_runtime::intake::{Arrival, Receipt};
use temblor_runtime::limits::LINE_BYTES_MAX;
use temblor_runtime::source::feed::Feed;

use crate::cutter::{Cut, Cutter, End};
use crate::socket::ReadSide;

/// The least that is asked of a connection at a time, in bytes.
const READ_BYTES_MIN: usize = 4 << 10;
/// The most that is asked of a connection at a time, in bytes; a batch is hardly larger.
pub const READ_BYTES_MAX: usize = 256 << 10;
/// A message that has not come whole counts against [`PARTIAL_BYTES_MAX`] once it is longer than this.
const PARTIAL_BYTES_FREE: usize = 16 << 10;
/// Bytes of messages that have not come whole, over all connections of a source.
pub const PARTIAL_BYTES_MAX: usize = 256 << 20;
/// What is still read of each connection when the run stops, in bytes.
const LAST_BYTES_MAX: usize = 16 << 20;

/// Setting of every source that reads streams.
pub const MESSAGE_BYTES: Setting = Setting::new(
    "max_message_bytes",
    Takes::Bytes,
    "A longer message is a bad frame: its head goes to `err`, and the rest is skipped. 16MiB when not set.",
);
/// Setting of every source that reads streams.
pub const IDLE: Setting = Setting::new(
    "idle_timeout",
    Takes::Duration,
    "A connection that sends nothing for so long is closed. Without it a connection may be silent for ever.",
);

/// How the connections of a source are read.
#[derive(Clone, Debug)]
pub struct Reading {
    /// How they are cut into messages.
    pub cut: Cut,
    /// The longest message.
    pub message_bytes_max: usize,
    /// How long a connection may say nothing.
    pub idle_max: Option<Duration>,
    /// The most that is read at a time, in bytes.
    pub read_bytes_max: usize,
    /// Whether what several reads bring may be one batch. Not where each read is a message.
    pub collects: bool,
    /// Memory of messages that have not come whole.
    pub room: Arc<Room>,
}

impl Reading {
    /// As the settings say.
    #[must_use]
    pub fn of_settings(cut: Cut, settings: &Settings) -> Self {
        let bytes_max = settings.optional_whole("max_message_bytes");
        let bytes_max = bytes_max.and_then(|most| usize::try_from(most).ok());
        Self {
            collects: cut != Cut::Chained(Vec::new()),
            cut,
            read_bytes_max: READ_BYTES_MAX,
            message_bytes_max: bytes_max.unwrap_or(LINE_BYTES_MAX).clamp(1, LINE_BYTES_MAX),
            idle_max: settings.optional_duration("idle_timeout"),
            room: Arc::new(Room { free: AtomicUsize::new(PARTIAL_BYTES_MAX) }),
        }
    }
}

impl Reading {
    /// What a connection that begins has taken of the room.
    pub(crate) fn share(&self) -> Share {
        Share { room: Arc::clone(&self.room), bytes: 0 }
    }
}

/// Memory that the connections of a source share for messages that have not come whole.
#[derive(Debug)]
pub struct Room {
    free: AtomicUsize,
}

impl Room {
    /// Takes so many bytes, if there are so many.
    fn take(&self, bytes: usize) -> bool {
        let take = |free: usize| free.checked_sub(bytes);
        self.free.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok()
    }

    fn give_back(&self, bytes: usize) {
        self.free.fetch_add(bytes, Ordering::Relaxed);
    }
}

/// What one connection has taken of the room.
pub(crate) struct Share {
    room: Arc<Room>,
    bytes: usize,
}

impl Share {
    /// Makes the share fit what is held; whether there is room for it.
    pub(crate) fn fit(&mut self, held: usize) -> bool {
        let wanted = if held <= PARTIAL_BYTES_FREE { 0 } else { held };
        if wanted > self.bytes {
            if !self.room.take(wanted - self.bytes) {
                return false;
            }
        } else {
            self.room.give_back(self.bytes - wanted);
        }
        self.bytes = wanted;
        true
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.room.give_back(self.bytes);
    }
}

/// Takes the messages of a connection until it ends or the run stops, and says how it ended. With
/// `receipts`, those of all batches are kept there.
pub async fn take_messages(
    read: &mut ReadSide,
    reading: &Reading,
    origin: &Arc<Origin>,
    feed: &Feed,
    receipts: Option<&mut Vec<Receipt>>,
) -> End {
    let mut taking = Taking {
        cutter: Cutter::new(&reading.cut, reading.message_bytes_max),
        share: reading.share(),
        origin,
        feed,
        receipts,
    };
    let end = match taking.read_all(read, reading).await {
        Ok(end) => end,
        Err(OverForGood) => return End::Closed,
    };
    let last = taking.cutter.finish(&end);
    // Nobody takes it any more when the run is over.
    let _ = taking.hand_over(last).await;
    end
}

/// The run takes nothing any more.
struct OverForGood;

struct Taking<'a> {
    cutter: Cutter,
    share: Share,
    origin: &'a Arc<Origin>,
    feed: &'a Feed,
    receipts: Option<&'a mut Vec<Receipt>>,
}

impl Taking<'_> {
    async fn read_all(
        &mut self,
        read: &mut ReadSide,
        reading: &Reading,
    ) -> Result<End, OverForGood> {
        let feed = self.feed;
        let stop = feed.stop.asked();
        tokio::pin!(stop);
        let mut wanted = READ_BYTES_MIN.min(reading.read_bytes_max);
        loop {
            let bytes = self.cutter.bytes();
            let came = tokio::select! {
                came = within(reading.idle_max, read.read_some(bytes, wanted)) => came,
                () = &mut stop => return self.read_last(read).await,
            };
            let count = match came {
                Ok(0) => return Ok(End::Closed),
                Ok(count) => count,
                Err(error) => {
                    feed.stats.add_error("connection");
                    return Ok(End::Broken(format!("the connection broke off: {error}")));
                }
            };
            wanted = next_wanted(wanted, count).min(reading.read_bytes_max);
            let ended = match reading.collects {
                true => self.read_while_workers_are_busy(read).await,
                false => None,
            };
            self.cut().await?;
            if let Some(end) = ended {
                return Ok(end);
            }
            if self.cutter.is_lost() {
                feed.stats.add_error("connection");
                return Ok(End::Closed);
            }
        }
    }

    /// As long as the workers have other things to do, there is no reason to make small batches.
    async fn read_while_workers_are_busy(&mut self, read: &mut ReadSide) -> Option<End> {
        let mut patience = 1;
        while self.cutter.held_bytes() < READ_BYTES_MAX && !self.feed.queue.is_hungry() {
            let bytes = self.cutter.bytes();
            bytes.reserve(READ_BYTES_MIN);
            match read.read_now(bytes).await {
                Ok(Some(0)) => return Some(End::Closed),
                Ok(Some(_)) => {}
                Ok(None) if patience == 0 => return None,
                Ok(None) => {
                    patience -= 1;
                    tokio::task::yield_now().await;
                }
                Err(error) => {
                    self.feed.stats.add_error("connection");
                    return Some(End::Broken(format!("the connection broke off: {error}")));
                }
            }
        }
        None
    }

    /// The run stops: what the peer has sent by now is still taken.
    async fn read_last(&mut self, read: &mut ReadSide) -> Result<End, OverForGood> {
        let mut taken = 0;
        while taken < LAST_BYTES_MAX {
            let bytes = self.cutter.bytes();
            bytes.reserve(READ_BYTES_MAX);
            match read.read_now(bytes).await {
                Ok(Some(0)) => return Ok(End::Closed),
                Ok(Some(count)) => taken += count,
                Ok(None) | Err(_) => break,
            }
            self.cut().await?;
        }
        self.cut().await?;
        Ok(End::Broken("the run was stopped before the message had come whole".to_string()))
    }

    async fn cut(&mut self) -> Result<(), OverForGood> {
        let blocks = self.cutter.added();
        self.hand_over(blocks).await?;
        if !self.share.fit(self.cutter.held_bytes()) {
            self.feed.stats.add_error("memory");
            let reason = format!(
                "messages that have not come whole take {} MiB already; this one is not kept",
                PARTIAL_BYTES_MAX >> 20
            );
            self.cutter.give_up(&reason);
            self.share.fit(0);
        }
        self.cutter.release();
        Ok(())
    }

    async fn hand_over(&mut self, blocks: Vec<Arrival>) -> Result<(), OverForGood> {
        for block in blocks {
            match &mut self.receipts {
                None => {
                    let handed = self.feed.hand_over_unwatched(block, self.origin).await;
                    handed.map_err(|_| OverForGood)?;
                }
                Some(receipts) => {
                    let receipt = self.feed.hand_over(block, self.origin).await;
                    receipts.push(receipt.map_err(|_| OverForGood)?);
                    forget_settled(receipts);
                }
            }
        }
        Ok(())
    }
}

/// Receipts that are kept before those that are settled are looked for.
const RECEIPTS_MAX: usize = 1024;

/// A connection that lives long does not collect the receipts of all that it ever sent.
fn forget_settled(receipts: &mut Vec<Receipt>) {
    if receipts.len() >= RECEIPTS_MAX {
        receipts.drain(..RECEIPTS_MAX / 2);
    }
}

/// What is asked next of a connection that gave `count` bytes when it was asked for `wanted`.
fn next_wanted(wanted: usize, count: usize) -> usize {
    if count >= wanted {
        (wanted * 2).min(READ_BYTES_MAX)
    } else if count < wanted / 4 {
        (wanted / 2).max(READ_BYTES_MIN)
    } else {
        wanted
    }
}

async fn within(
    idle_max: Option<Duration>,
    read: impl Future<Output = Result<usize, IoError>>,
) -> Result<usize, IoError> {
    let Some(idle_max) = idle_max else { return read.await };
    let timely = tokio::time::timeout(idle_max, read).await;
    timely.unwrap_or_else(|_| {
        Err(IoError::other(format!("nothing came for {idle_max:?} (`idle_timeout`)")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_follows_what_comes_within_bounds() {
        assert_eq!(next_wanted(READ_BYTES_MIN, READ_BYTES_MIN), 2 * READ_BYTES_MIN);
        assert_eq!(next_wanted(READ_BYTES_MAX, READ_BYTES_MAX), READ_BYTES_MAX);
        assert_eq!(next_wanted(READ_BYTES_MAX, 10), READ_BYTES_MAX / 2);
        assert_eq!(next_wanted(READ_BYTES_MIN, 10), READ_BYTES_MIN);
        assert_eq!(next_wanted(READ_BYTES_MAX, READ_BYTES_MAX / 2), READ_BYTES_MAX);
    }

    #[test]
    fn connections_share_the_room_for_what_is_not_whole() {
        let room = Arc::new(Room { free: AtomicUsize::new(100 << 10) });
        let share = || Share { room: Arc::clone(&room), bytes: 0 };
        let (mut first, mut second) = (share(), share());
        assert!(first.fit(60 << 10));
        assert!(!second.fit(60 << 10));
        assert!(second.fit(PARTIAL_BYTES_FREE));
        assert!(first.fit(30 << 10) && second.fit(60 << 10));
        drop(first);
        assert!(second.fit(100 << 10));
        drop(second);
        assert_eq!(room.free.load(Ordering::Relaxed), 100 << 10);
    }
}
