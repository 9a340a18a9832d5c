//! The batch: a block of whole frames on its way from a source to a worker.
//!
//! Invariant: a batch knows where each of its frames stands in the input, and carries the token by
//! which its source learns that it has been dealt with.

use std::ops::Range;
use std::sync::Arc;

use crate::ack::{SourceId, Token};
use crate::buffer::Buffer;
use crate::clock::{EventTimes, Timestamp};
use crate::framing::{FrameCursor, Framing};
use crate::identity::Identity;

/// What is said about an input in messages, and what events can ask of it.
#[derive(Debug, PartialEq, Eq)]
pub struct Origin {
    /// The path as the user would write it, or `<stdin>`.
    pub name: String,
    /// The metadata of every event from here (`$` in programs), as the text of a JSON record.
    pub meta: Option<Box<str>>,
    /// What tells it from all others, where its frames can be read again and then have the same numbers.
    pub identity: Option<[u64; 2]>,
}

impl Origin {
    /// An origin whose events have no metadata.
    pub fn named(name: impl Into<String>) -> Arc<Self> {
        Arc::new(Origin { name: name.into(), meta: None, identity: None })
    }

    /// An origin with the metadata of its events, as the text of a JSON record.
    pub fn with_meta(name: impl Into<String>, meta: impl Into<Box<str>>) -> Arc<Self> {
        Arc::new(Origin { name: name.into(), meta: Some(meta.into()), identity: None })
    }

    /// An origin whose frames can be read again, by their numbers.
    pub fn of_file(name: impl Into<String>, identity: &Identity) -> Arc<Self> {
        let identity = Some([identity.device, identity.inode]);
        Arc::new(Origin { name: name.into(), meta: None, identity })
    }
}

/// A frame that could not be read as one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadFrame {
    /// Its number in its input, counted from 1.
    pub line: u64,
    /// Its length in bytes, as far as it is known.
    pub length: u64,
    /// What is wrong with it.
    pub reason: String,
    /// Its first bytes.
    pub head: Vec<u8>,
}

/// A block of whole frames.
pub struct Batch {
    /// The source that the bytes come from.
    pub source: SourceId,
    /// The input that the bytes come from.
    pub origin: Arc<Origin>,
    /// Frames that stood before those of this batch and could not be read.
    pub bad: Vec<BadFrame>,
    /// The times of the events.
    pub times: EventTimes,
    /// When the bytes arrived, by the system's clock.
    pub arrival: Timestamp,
    /// The virtual clock is put forward to this time, if it is not there yet; 0 for none.
    pub due: Timestamp,
    /// The ingest time of the first event, when the source knows it better than the clock.
    pub ingest: Option<Timestamp>,
    pub(crate) buffer: Buffer,
    pub(crate) range: Range<usize>,
    pub(crate) framing: Framing,
    pub(crate) frames: u64,
    pub(crate) first_line: u64,
    pub(crate) offset: u64,
    pub(crate) token: Token,
}

impl Batch {
    /// A walk over the frames; it gives ranges of [`bytes`](Self::bytes).
    pub fn cursor(&self) -> FrameCursor {
        FrameCursor::new(self.framing, self.range.clone())
    }

    /// How its frames are told apart.
    pub fn framing(&self) -> Framing {
        self.framing
    }

    /// The block that the cursor's ranges are about.
    pub fn bytes(&self) -> &[u8] {
        &self.buffer
    }

    /// The block, to change in place (a parser may unescape where the bytes are).
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.buffer
    }

    /// The frames with all that tells them apart.
    pub fn framed(&self) -> &[u8] {
        &self.buffer[self.range.clone()]
    }

    /// How many frames the batch holds.
    pub fn frame_count(&self) -> u64 {
        self.frames
    }

    /// Number of the first frame in its input, counted from 1.
    pub fn first_line(&self) -> u64 {
        self.first_line
    }

    /// Offset of the first frame in its input, in bytes.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Ingest time of the event with the given index in this batch, counted from 0. Events are counted,
    /// not frames: a blank line that is no event takes no time of the virtual clock.
    pub fn ingest(&self, index: u64) -> Timestamp {
        self.times.of(index)
    }

    /// A copy of the token, for an operator that keeps an event beyond its batch.
    pub fn token(&self) -> Token {
        self.token.clone()
    }

    /// The token itself, for operators that decide later whether they keep an event.
    pub fn token_ref(&self) -> &Token {
        &self.token
    }

    /// The memory that the batch holds.
    pub fn held_bytes(&self) -> usize {
        self.buffer.len()
    }
}
