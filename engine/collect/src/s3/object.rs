//! An object that is being gathered.

use std::io::Write;
use std::time::Instant;

use flate2::Compression;
use flate2::write::GzEncoder;

/// Its content so far.
pub(crate) enum Content {
    /// As it is.
    Plain(Vec<u8>),
    /// Compressed on the way.
    Packed(Box<GzEncoder<Vec<u8>>>),
}

/// An object that is not whole yet.
pub(crate) struct Object {
    content: Content,
    /// When its first event came.
    pub begun: Instant,
    /// Bytes of its events.
    pub bytes: usize,
    /// The parcels that it has events of.
    pub parcels: Vec<u64>,
}

impl Object {
    /// An empty one.
    pub(super) fn new(is_packed: bool, now: Instant) -> Self {
        let content = match is_packed {
            true => Content::Packed(Box::new(GzEncoder::new(Vec::new(), Compression::default()))),
            false => Content::Plain(Vec::new()),
        };
        Self { content, begun: now, bytes: 0, parcels: Vec::new() }
    }

    /// Adds an event of a parcel. True when the parcel is new here.
    pub(super) fn push(&mut self, event: &[u8], parcel: u64) -> bool {
        self.bytes += event.len();
        match &mut self.content {
            Content::Plain(bytes) => bytes.extend_from_slice(event),
            Content::Packed(encoder) => encoder.write_all(event).expect("memory can be written"),
        }
        let is_new = self.parcels.last() != Some(&parcel);
        if is_new {
            self.parcels.push(parcel);
        }
        is_new
    }

    /// What is to be put.
    pub(super) fn finish(self) -> (Vec<u8>, Vec<u64>) {
        let bytes = match self.content {
            Content::Plain(bytes) => bytes,
            Content::Packed(encoder) => encoder.finish().expect("memory can be written"),
        };
        (bytes, self.parcels)
    }
}
