//! From messages of a broker to one batch: each message goes through the preprocessors, and is cut where the
//! program says so.
//!
//! Invariant: a message of a broker ends where it ends; nothing of it runs into the next one.

use temblor_codec::interceptor::{Chain, MESSAGE_BYTES_MAX, Preprocessor};
use temblor_declare::Build;
use temblor_runtime::batch::BadFrame;
use temblor_runtime::framing::{FrameCursor, Framing};
use temblor_runtime::intake::{Arrival, Messages};
use temblor_runtime::limits::BAD_FRAME_BYTES_KEPT;

/// Messages of a broker that become one batch, at the most.
pub const BATCH_MESSAGES_MAX: usize = 1_000;
/// Bytes of messages after which a batch is handed over.
pub const BATCH_BYTES_MAX: usize = 1 << 20;

/// How a message of the broker becomes events.
#[derive(Clone, Debug)]
pub struct Unpacking {
    preprocessors: Vec<Preprocessor>,
    /// How a message is cut, where the program says so.
    framing: Option<Framing>,
}

impl Unpacking {
    /// As the program says.
    #[must_use]
    pub fn of(what: &Build<'_>) -> Self {
        let framing = what.framing_is_chosen.then_some(what.framing);
        Self { preprocessors: what.preprocessors.to_vec(), framing }
    }
}

/// Messages on their way into one batch.
#[derive(Debug)]
pub struct Packing {
    unpacking: Unpacking,
    messages: Messages,
    bad: Vec<BadFrame>,
    /// Messages of the broker that are in it.
    taken: usize,
}

impl Packing {
    /// Nothing yet.
    #[must_use]
    pub fn new(unpacking: &Unpacking) -> Self {
        let (messages, bad) = (Messages::default(), Vec::new());
        Self { unpacking: unpacking.clone(), messages, bad, taken: 0 }
    }

    /// Adds a message of the broker with the metadata (the text of a JSON record) of its events.
    pub fn push(&mut self, meta: &str, message: &[u8]) {
        self.taken += 1;
        if self.unpacking.preprocessors.is_empty() {
            return self.add(meta, message);
        }
        let mut chain = Chain::new(&self.unpacking.preprocessors);
        let mut parts = chain.feed(message);
        parts.extend(chain.finish());
        for part in parts {
            match part {
                Ok(part) => self.add(meta, &part.bytes),
                Err(reason) => self.refuse(message, reason),
            }
        }
    }

    fn add(&mut self, meta: &str, message: &[u8]) {
        if message.len() > MESSAGE_BYTES_MAX {
            let reason = format!("the message is longer than {MESSAGE_BYTES_MAX} bytes");
            return self.refuse(message, reason);
        }
        let Some(framing) = self.unpacking.framing else {
            return self.messages.push(meta, message);
        };
        let mut cursor = FrameCursor::new(framing, 0..message.len());
        while let Some(range) = cursor.next(message) {
            self.messages.push(meta, &message[range]);
        }
    }

    fn refuse(&mut self, message: &[u8], reason: String) {
        let head = message[..message.len().min(BAD_FRAME_BYTES_KEPT)].to_vec();
        let length = message.len() as u64;
        self.bad.push(BadFrame { line: self.taken as u64, length, reason, head });
    }

    /// How many messages of the broker are in it.
    #[must_use]
    pub fn taken(&self) -> usize {
        self.taken
    }

    /// Whether it should be handed over before more is added.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.taken >= BATCH_MESSAGES_MAX || self.messages.held_bytes() >= BATCH_BYTES_MAX
    }

    /// The batch; nothing is left here.
    #[must_use]
    pub fn take(&mut self) -> Arrival {
        self.taken = 0;
        let mut arrival = self.messages.take();
        arrival.bad = std::mem::take(&mut self.bad);
        arrival
    }
}
