//! What is left out of a stream: frames that are too long, and what cannot be cut at all.
//!
//! Invariant: whatever is passed over is told once, with its first bytes and its whole length.

use super::{Cutter, Mode};
use temblor_runtime::batch::BadFrame;
use temblor_runtime::limits::BAD_FRAME_BYTES_KEPT;

/// A frame that is too long and whose end has not come.
pub(super) struct Skipped {
    pub(super) frame: BadFrame,
    /// Bytes that are still to come; nothing where a separator tells the end.
    pub(super) left: Option<usize>,
}

impl Cutter {
    pub(super) fn skip_counted(&mut self, start: usize, length: usize) {
        let here = self.bytes.len().min(start + length);
        let mut frame = self.bad_frame(start.min(here), here, &self.too_long());
        frame.length = length as u64;
        self.bytes.drain(..here);
        let left = Some(start + length - here);
        self.skipped = Some(Skipped { frame, left });
    }

    /// Passes over what belongs to a frame that is too long; whether its end has come.
    pub(super) fn skip(&mut self) -> bool {
        let Some(mut skipped) = self.skipped.take() else { return true };
        let end = match (&mut skipped.left, &self.mode) {
            (Some(left), _) => {
                let here = self.bytes.len().min(*left);
                *left -= here;
                self.bytes.drain(..here);
                *left == 0
            }
            (None, Mode::Framed(framing)) => {
                let end = framing.end_of_first(&self.bytes);
                let length = end.map_or(self.bytes.len(), |end| end - 1);
                skipped.frame.length += length as u64;
                self.bytes.drain(..end.unwrap_or(length));
                end.is_some()
            }
            (None, _) => true,
        };
        self.searched = 0;
        match end {
            true => self.refuse_skipped(skipped),
            false => self.skipped = Some(skipped),
        }
        end
    }

    pub(super) fn refuse_skipped(&mut self, mut skipped: Skipped) {
        let length = usize::try_from(skipped.frame.length).unwrap_or(usize::MAX);
        skipped.frame.reason = self::skipped(&skipped.frame.reason, length);
        self.bad.push(skipped.frame);
        self.line += 1;
    }

    pub(super) fn refuse_rest(&mut self, reason: &str) {
        if !self.bytes.is_empty() {
            let frame = self.bad_frame(0, self.bytes.len(), reason);
            self.bad.push(frame);
            self.line += 1;
        }
        (self.bytes, self.searched) = (Vec::new(), 0);
    }

    pub(super) fn bad_frame(&self, start: usize, end: usize, reason: &str) -> BadFrame {
        bad_frame(self.line, &self.bytes[start..end], end - start, reason)
    }

    pub(super) fn too_long(&self) -> String {
        format!("the message is longer than {} bytes", self.message_bytes_max)
    }
}

/// A bad frame that shows its first bytes.
#[must_use]
pub fn bad_frame(line: u64, bytes: &[u8], length: usize, reason: &str) -> BadFrame {
    let head = bytes[..bytes.len().min(BAD_FRAME_BYTES_KEPT)].to_vec();
    BadFrame { line, length: length as u64, reason: reason.to_string(), head }
}

pub(super) fn skipped(reason: &str, length: usize) -> String {
    format!("{reason} ({length} bytes); skipped")
}
