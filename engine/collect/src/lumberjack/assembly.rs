//! From the frames of one connection to batches of events with what is to be acknowledged for them.
//!
//! Invariant: no more than one frame, its decompressed content, and one part of a window are held.

use std::collections::VecDeque;

use temblor_runtime::intake::Messages;

use super::frame::{self, Frame};
use crate::unpack;

/// A part of a window is handed over at this size; peers take acknowledgements of parts.
const PART_BYTES: usize = 1 << 20;

/// What a peer may ask for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Events of a window.
    pub(crate) window_events_max: u32,
    /// Length of a frame.
    pub frame_bytes_max: usize,
    /// What a compressed frame may become.
    pub(crate) unpacked_bytes_max: usize,
}

/// Events that are acknowledged together.
pub(crate) struct Part {
    /// The events.
    pub messages: Messages,
    /// The last one's number.
    pub sequence: u32,
    /// The version of the protocol, as its digit.
    pub version: u8,
}

/// The state of one connection.
pub(crate) struct Assembly {
    bounds: Bounds,
    version: u8,
    /// Events of the window that have not come yet.
    left: u32,
    sequence: u32,
    messages: Messages,
    /// Parts that are whole.
    pub parts: VecDeque<Part>,
}

impl Assembly {
    /// Before the first frame.
    pub(super) fn new(bounds: Bounds) -> Self {
        let (messages, parts) = (Messages::default(), VecDeque::new());
        Self { bounds, version: b'2', left: 0, sequence: 0, messages, parts }
    }

    /// Whether a window has begun that has not ended.
    pub(crate) fn is_within_window(&self) -> bool {
        self.left > 0
    }

    /// Takes the whole frames of `bytes`, and says how many bytes they were.
    ///
    /// # Errors
    /// A sentence: the peer does not speak the protocol, or exceeds a bound.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Result<usize, String> {
        self.frames(bytes, true)
    }

    fn frames(&mut self, bytes: &[u8], may_be_packed: bool) -> Result<usize, String> {
        let mut at = 0;
        while let Some((frame, end)) = frame::next(bytes, at, self.bounds.frame_bytes_max)? {
            match frame {
                Frame::Window { version, events } => self.begin(version, events)?,
                Frame::Json { sequence, text } => self.event(sequence, &bytes[text])?,
                Frame::Pairs { sequence, pairs } => {
                    self.event(sequence, &frame::json_of_pairs(&bytes[pairs]))?;
                }
                Frame::Compressed(packed) if may_be_packed => self.packed(&bytes[packed])?,
                Frame::Compressed(_) => return Err("a compressed frame holds another".to_string()),
                Frame::Ack(_) => return Err("only a receiver acknowledges".to_string()),
            }
            at = end;
        }
        Ok(at)
    }

    fn packed(&mut self, packed: &[u8]) -> Result<(), String> {
        let bytes = unpack::zlib(packed, self.bounds.unpacked_bytes_max)?;
        let whole = self.frames(&bytes, false)?;
        match bytes.len() - whole {
            0 => Ok(()),
            left => {
                Err(format!("a compressed frame ends within a frame, behind {left} bytes of it"))
            }
        }
    }

    fn begin(&mut self, version: u8, events: u32) -> Result<(), String> {
        let most = self.bounds.window_events_max;
        if events > most {
            return Err(format!("a window of {events} events is larger than `max_window`, {most}"));
        }
        // A peer may give up a window and begin anew: what has come of it is acknowledged all the same.
        self.finish_part();
        (self.version, self.left) = (version, events);
        Ok(())
    }

    fn event(&mut self, sequence: u32, text: &[u8]) -> Result<(), String> {
        if self.left == 0 {
            return Err(format!("event {sequence} stands outside of a window"));
        }
        self.left -= 1;
        self.sequence = sequence;
        self.messages.push("", text);
        if self.left == 0 || self.messages.held_bytes() >= PART_BYTES {
            self.finish_part();
        }
        Ok(())
    }

    fn finish_part(&mut self) {
        if self.messages.is_empty() {
            return;
        }
        let messages = std::mem::take(&mut self.messages);
        self.parts.push_back(Part { messages, sequence: self.sequence, version: self.version });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::ZlibEncoder;
    use std::io::Write;

    const BOUNDS: Bounds =
        Bounds { window_events_max: 10, frame_bytes_max: 4 << 20, unpacked_bytes_max: 8 << 20 };

    fn taken(assembly: &mut Assembly, bytes: &[u8]) -> Vec<(u64, u32)> {
        assert_eq!(assembly.take(bytes), Ok(bytes.len()));
        assembly.parts.drain(..).map(|part| (part.messages.count(), part.sequence)).collect()
    }

    fn compressed(frames: &[u8]) -> Vec<u8> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(frames).unwrap();
        let mut out = Vec::new();
        frame::push_compressed(&encoder.finish().unwrap(), &mut out);
        out
    }

    #[test]
    fn a_window_becomes_one_part_compressed_or_not() {
        let (mut assembly, mut bytes, mut events) = (Assembly::new(BOUNDS), Vec::new(), Vec::new());
        frame::push_window(2, &mut bytes);
        frame::push_json(1, b"{}", &mut events);
        frame::push_json(2, b"{}", &mut events);
        bytes.extend_from_slice(&events);
        assert_eq!(taken(&mut assembly, &bytes), [(2, 2)]);
        bytes.truncate(6);
        bytes.extend(compressed(&events));
        assert_eq!(taken(&mut assembly, &bytes), [(2, 2)]);
        assert!(!assembly.is_within_window());
    }

    #[test]
    fn large_windows_are_handed_over_in_parts_and_given_up_ones_at_once() {
        let (mut assembly, mut bytes) = (Assembly::new(BOUNDS), Vec::new());
        frame::push_window(3, &mut bytes);
        frame::push_json(1, &vec![b' '; PART_BYTES], &mut bytes);
        frame::push_json(2, b"{}", &mut bytes);
        assert_eq!(taken(&mut assembly, &bytes), [(1, 1)]);
        assert!(assembly.is_within_window());
        let mut bytes = Vec::new();
        frame::push_window(1, &mut bytes);
        frame::push_json(1, b"{}", &mut bytes);
        assert_eq!(taken(&mut assembly, &bytes), [(1, 2), (1, 1)]);
    }

    #[test]
    fn what_breaks_the_protocol_is_told() {
        let fault = |bytes: &[u8]| Assembly::new(BOUNDS).take(bytes).unwrap_err();
        let (mut wide, mut lone, mut deep, mut cut) = (vec![], vec![], vec![], vec![]);
        frame::push_window(11, &mut wide);
        assert_eq!(fault(&wide), "a window of 11 events is larger than `max_window`, 10");
        frame::push_json(5, b"{}", &mut lone);
        assert_eq!(fault(&lone), "event 5 stands outside of a window");
        deep.extend(compressed(&compressed(&wide)));
        assert_eq!(fault(&deep), "a compressed frame holds another");
        cut.extend(compressed(b"2W\0"));
        assert_eq!(fault(&cut), "a compressed frame ends within a frame, behind 3 bytes of it");
        assert_eq!(fault(&frame::ack(b'2', 1)), "only a receiver acknowledges");
        let bomb = compressed(&vec![0; (8 << 20) + 1]);
        assert_eq!(fault(&bomb), "the compressed data become more than 8388608 bytes");
    }
}
