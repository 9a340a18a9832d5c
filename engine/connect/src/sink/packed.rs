//! A sink whose bytes are compressed as one stream, whatever events they hold (`streaming-compress`).
//!
//! Invariant: each write is a frame of the stream that can be read by itself, so that what has been
//! written is complete whenever the run ends, and a later run goes on behind it.

use crate::sink::{Sink, WriteFailure};
use temblor_codec::interceptor::Packing;
use temblor_runtime::ack::Token;
use temblor_runtime::checkpoint::OutputMark;
use temblor_runtime::error::Error;
use temblor_runtime::outlet::Desk;
use temblor_runtime::outputs::Chunk;
use temblor_runtime::sink::Delivered;

/// Compresses for another sink.
pub(crate) struct PackedSink {
    inner: Box<dyn Sink>,
    packing: Packing,
    level: Option<i64>,
}

impl PackedSink {
    /// Writes to `inner` what it compresses.
    pub(super) fn new(inner: Box<dyn Sink>, packing: Packing, level: Option<i64>) -> Self {
        Self { inner, packing, level }
    }

    fn pack(&self, bytes: &[u8]) -> Result<Vec<u8>, WriteFailure> {
        self.packing
            .pack(self.level, bytes)
            .map_err(|reason| WriteFailure::Refused(Error::bug("streaming-compress", reason)))
    }
}

impl Sink for PackedSink {
    fn prepare(&mut self, place: &str) -> Result<bool, WriteFailure> {
        self.inner.prepare(place)
    }

    fn start(&mut self, desk: &Desk) -> Result<(), Error> {
        self.inner.start(desk)
    }

    fn deliver(
        &mut self,
        place: &str,
        chunk: &mut Chunk,
        tokens: &[Token],
    ) -> Result<Delivered, WriteFailure> {
        chunk.bytes = self.pack(&chunk.bytes)?;
        self.inner.deliver(place, chunk, tokens)
    }

    fn write(&mut self, place: &str, bytes: &[u8]) -> Result<(), WriteFailure> {
        let packed = self.pack(bytes)?;
        self.inner.write(place, &packed)
    }

    fn be_durable(&mut self) {
        self.inner.be_durable();
    }

    fn sync(&mut self) -> Result<(), Error> {
        self.inner.sync()
    }

    fn finish(&mut self) {
        self.inner.finish();
    }

    fn open_files(&self) -> Vec<OutputMark> {
        self.inner.open_files()
    }
}
