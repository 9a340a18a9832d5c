//! A network source's way into the run: tasks hand over messages, and learn when these have got where
//! they should.
//!
//! Invariant: a task that hands over waits for room, so that a peer that sends more than the program takes
//! is held up by its own connection.

use std::ops::Range;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::oneshot;

use crate::ack::{Position, Token, Witness};
use crate::batch::{BadFrame, Batch, Origin};
use crate::buffer::Buffer;
use crate::clock::{EventTimes, Timestamp, system_time};
use crate::framing::{Framing, PREFIX_BYTES};
use crate::queue::Closed;
use crate::source::feed::Feed;

/// Messages that arrive together and become one batch. Each may have metadata of its own.
#[derive(Debug, Default)]
pub struct Messages {
    bytes: Vec<u8>,
    count: u64,
}

impl Messages {
    /// Adds a message. `meta` is the text of a JSON record that becomes the event's metadata, over that of
    /// the [`Origin`]; empty for none.
    pub fn push(&mut self, meta: &str, message: &[u8]) {
        self.bytes.extend_from_slice(&prefix(meta.len()));
        self.bytes.extend_from_slice(&prefix(message.len()));
        self.bytes.extend_from_slice(meta.as_bytes());
        self.bytes.extend_from_slice(message);
        self.count += 1;
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The memory that they take, in bytes.
    #[must_use]
    pub fn held_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// All of them, on their way; none are left here.
    #[must_use]
    pub fn take(&mut self) -> Arrival {
        let Self { bytes, count } = std::mem::take(self);
        let range = 0..bytes.len();
        Arrival {
            buffer: Buffer::of_bytes(bytes),
            range,
            framing: Framing::Annotated,
            frames: count,
            first_line: 0,
            bad: Vec::new(),
            ingest: None,
        }
    }
}

/// A length in front of a frame. Messages are bounded far below 4 GiB by every source.
fn prefix(length: usize) -> [u8; PREFIX_BYTES] {
    u32::try_from(length).expect("messages are bounded").to_le_bytes()
}

/// A block of whole frames that has arrived.
pub struct Arrival {
    /// Holds the frames.
    pub buffer: Buffer,
    /// Where in the buffer they are.
    pub range: Range<usize>,
    /// How they are told apart.
    pub framing: Framing,
    /// How many there are.
    pub frames: u64,
    /// Number of the first frame in its connection, counted from 1; 0 when nobody counts.
    pub first_line: u64,
    /// Frames in front of these that could not be read.
    pub bad: Vec<BadFrame>,
    /// When the first event was taken in, if the source knows it better than the clock.
    pub ingest: Option<Timestamp>,
}

/// The answer to a batch that was handed over.
#[derive(Debug)]
pub struct Receipt(oneshot::Receiver<bool>);

impl Receipt {
    /// Waits until all that stems from the batch has got where it should (`true`), or something of it could
    /// not get there (`false`): then the peer should keep it and send it again.
    pub async fn settled(self) -> bool {
        self.0.await.unwrap_or(false)
    }
}

/// Tells a task.
struct Teller(Mutex<Option<oneshot::Sender<bool>>>);

impl Witness for Teller {
    fn settled(&self, acknowledged: bool) {
        if let Some(sender) = self.0.lock().unwrap_or_else(PoisonError::into_inner).take() {
            // Nobody listens when the peer has gone.
            let _ = sender.send(acknowledged);
        }
    }
}

/// Holds the tokens that a batch answers for.
struct Holder(Mutex<Vec<Token>>);

impl Witness for Holder {
    fn settled(&self, acknowledged: bool) {
        let tokens = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        if !acknowledged {
            tokens.iter().for_each(Token::fail);
        }
    }
}

impl Feed {
    /// Hands frames over, waiting for room.
    ///
    /// # Errors
    /// The run is over: nothing was taken.
    pub async fn hand_over(
        &self,
        arrival: Arrival,
        origin: &Arc<Origin>,
    ) -> Result<Receipt, Closed> {
        let (sender, receiver) = oneshot::channel();
        let witness = Box::new(Teller(Mutex::new(Some(sender))));
        self.hand_over_to(arrival, origin, Some(witness)).await?;
        Ok(Receipt(receiver))
    }

    /// Hands frames over that nobody waits for, waiting for room.
    ///
    /// # Errors
    /// The run is over: nothing was taken.
    pub async fn hand_over_unwatched(
        &self,
        arrival: Arrival,
        origin: &Arc<Origin>,
    ) -> Result<(), Closed> {
        self.hand_over_to(arrival, origin, None).await
    }

    /// Hands frames over that stem from other batches: the tokens of those are let go when these frames
    /// have got where they should. It never waits for room: the workers may wait for who gives back.
    ///
    /// # Errors
    /// The run is over: nothing was taken, and the tokens have failed.
    pub fn give_back(
        &self,
        arrival: Arrival,
        origin: &Arc<Origin>,
        tokens: Vec<Token>,
    ) -> Result<(), Closed> {
        self.give_back_to(arrival, origin, Box::new(Holder(Mutex::new(tokens))))
    }

    /// The same for frames that stem from no batch that is under way; the witness is told when they are settled.
    ///
    /// # Errors
    /// The run is over: nothing was taken.
    pub fn give_back_to(
        &self,
        arrival: Arrival,
        origin: &Arc<Origin>,
        witness: Box<dyn Witness>,
    ) -> Result<(), Closed> {
        self.counters().bytes.fetch_add(arrival.range.len() as u64, Ordering::Relaxed);
        self.queue.send_back(Box::new(self.arrived(arrival, origin, Some(witness))))
    }

    /// Hands frames over that were counted when they came, waiting for room; the witness is told when they
    /// are settled.
    ///
    /// # Errors
    /// The run is over: nothing was taken.
    pub fn hand_over_again(
        &self,
        arrival: Arrival,
        origin: &Arc<Origin>,
        witness: Box<dyn Witness>,
    ) -> Result<(), Closed> {
        self.queue.send(Box::new(self.arrived(arrival, origin, Some(witness))))
    }

    async fn hand_over_to(
        &self,
        arrival: Arrival,
        origin: &Arc<Origin>,
        witness: Option<Box<dyn Witness>>,
    ) -> Result<(), Closed> {
        self.counters().bytes.fetch_add(arrival.range.len() as u64, Ordering::Relaxed);
        let batch = Box::new(self.arrived(arrival, origin, witness));
        if self.gives_back {
            return self.queue.send_back(batch);
        }
        self.queue.send_async(batch).await
    }

    /// The batch of what has arrived.
    fn arrived(
        &self,
        arrival: Arrival,
        origin: &Arc<Origin>,
        witness: Option<Box<dyn Witness>>,
    ) -> Batch {
        let Arrival { buffer, range, framing, frames, first_line, bad, ingest } = arrival;
        let position = Position { file: 0, offset: 0, line: first_line + frames };
        let arrival = system_time();
        self.counters().succeed();
        Batch {
            source: self.source,
            origin: Arc::clone(origin),
            bad,
            times: EventTimes::together(arrival),
            arrival,
            due: 0,
            ingest,
            buffer,
            range,
            framing,
            frames,
            first_line,
            offset: 0,
            token: self.ledger.open_watched(self.source, position, witness),
        }
    }
}
