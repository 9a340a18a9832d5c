//! A sink whose bytes are compressed as one stream, whatever events they hold (`streaming-compress`).
//!
//! Invariant: each write is a frame of the stream that can be read by itself, so that what has been
//! written is complete whenever the run ends, and a later run goes on behind it.

use crate::sink::{Sink, WriteFailure};
use temblor_codec::interceptor::Packing;
use temblor_runtime::checkpoint::OutputMark;
use temblor_runtime::error::Error;

/// Compresses for another sink.
pub struct PackedSink {
    inner: Box<dyn Sink>,
    packing: Packing,
    level: Option<i64>,
}

impl PackedSink {
    /// Writes to `inner` what it compresses.
    pub fn new(inner: Box<dyn Sink>, packing: Packing, level: Option<i64>) -> Self {
        Self { inner, packing, level }
    }
}

impl Sink for PackedSink {
    fn prepare(&mut self, place: &str) -> Result<bool, WriteFailure> {
        self.inner.prepare(place)
    }

    fn write(&mut self, place: &str, bytes: &[u8]) -> Result<(), WriteFailure> {
        match self.packing.pack(self.level, bytes) {
            Ok(packed) => self.inner.write(place, &packed),
            Err(reason) => Err(WriteFailure::Refused(Error::bug("streaming-compress", reason))),
        }
    }

    fn open_files(&self) -> Vec<OutputMark> {
        self.inner.open_files()
    }
}
