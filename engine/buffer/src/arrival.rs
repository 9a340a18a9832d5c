//! Batches of a source as the bodies of records, and back.
//!
//! Invariant: what is read is what was written, or nothing: a body that does not hold together gives no batch.

use temblor_runtime::batch::{BadFrame, Batch, Origin};
use temblor_runtime::buffer::Buffer;
use temblor_runtime::framing::Framing;
use temblor_runtime::intake::Arrival;

/// The first byte of such a body.
pub const KIND: u8 = b'A';

/// Appends a batch to a body.
pub fn write(batch: &Batch, body: &mut Vec<u8>) {
    let (tag, separator) = match batch.framing() {
        Framing::Lines => (0, 0),
        Framing::Separated(byte) => (1, byte),
        Framing::Whole => (2, 0),
        Framing::Counted => (3, 0),
        Framing::Prefixed => (4, 0),
        Framing::Annotated => (5, 0),
    };
    body.extend_from_slice(&[KIND, tag, separator]);
    // The time at which an event came is that at which it came here.
    let ingest = batch.ingest.unwrap_or(batch.arrival);
    let meta = batch.origin.meta.as_deref();
    let numbers = [
        batch.frame_count(),
        batch.first_line(),
        ingest,
        u64::from(meta.is_some()),
        batch.bad.len() as u64,
    ];
    numbers.iter().for_each(|number| body.extend_from_slice(&number.to_le_bytes()));
    text(batch.origin.name.as_bytes(), body);
    text(meta.unwrap_or_default().as_bytes(), body);
    for bad in &batch.bad {
        body.extend_from_slice(&bad.line.to_le_bytes());
        body.extend_from_slice(&bad.length.to_le_bytes());
        text(bad.reason.as_bytes(), body);
        text(&bad.head, body);
    }
    text(batch.framed(), body);
}

fn text(bytes: &[u8], body: &mut Vec<u8>) {
    body.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
    body.extend_from_slice(bytes);
}

/// The batch of a body, and where it came from.
#[must_use]
pub fn read(body: &[u8]) -> Option<(Arrival, Origin)> {
    let mut rest = Rest(body.strip_prefix(&[KIND])?);
    let framing = match *rest.take(2)? {
        [0, _] => Framing::Lines,
        [1, byte] => Framing::Separated(byte),
        [2, _] => Framing::Whole,
        [3, _] => Framing::Counted,
        [4, _] => Framing::Prefixed,
        [5, _] => Framing::Annotated,
        _ => return None,
    };
    let (frames, first_line, ingest) = (rest.number()?, rest.number()?, rest.number()?);
    let (has_meta, bad) = (rest.number()? != 0, rest.number()?);
    let name = String::from_utf8(rest.text()?.to_vec()).ok()?;
    let meta = String::from_utf8(rest.text()?.to_vec()).ok()?;
    let bad = (0..bad).map(|_| rest.bad()).collect::<Option<Vec<_>>>()?;
    let bytes = rest.text()?.to_vec();
    if !rest.0.is_empty() {
        return None;
    }
    let range = 0..bytes.len();
    let buffer = Buffer::of_bytes(bytes);
    let ingest = Some(ingest);
    let origin = Origin { name, meta: has_meta.then(|| meta.into()), identity: None };
    Some((Arrival { buffer, range, framing, frames, first_line, bad, ingest }, origin))
}

/// What has not been read of a body.
struct Rest<'b>(&'b [u8]);

impl<'b> Rest<'b> {
    fn take(&mut self, length: usize) -> Option<&'b [u8]> {
        let (first, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(first)
    }

    fn number(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    fn text(&mut self) -> Option<&'b [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        self.take(length)
    }

    fn bad(&mut self) -> Option<BadFrame> {
        let (line, length) = (self.number()?, self.number()?);
        let reason = String::from_utf8_lossy(self.text()?).into_owned();
        Some(BadFrame { line, length, reason, head: self.text()?.to_vec() })
    }
}
