//! The frames that are injected, in memory: reading or making them is no part of what is measured.
//!
//! Invariant: every frame ends with a newline and is not blank, so frames and events are the same in number.

use std::io::{Cursor, Read};
use std::path::Path;
use temblor_codec::compression::{Compression, MAGIC_BYTES_MAX, decoder};
use temblor_runtime::buffer::Buffer;
use temblor_runtime::error::Error;

/// A number of lines, used over and over.
#[derive(Debug, Default)]
pub struct Frames {
    bytes: Vec<u8>,
    /// Where each frame ends, behind its newline.
    ends: Vec<usize>,
}

/// More than this of a file is not kept: the lines before the limit are repeated.
pub(crate) const FRAME_BYTES_KEPT_MAX: usize = 256 * 1024 * 1024;

impl Frames {
    /// The lines of a text; blank ones are left out.
    pub fn of(text: &[u8]) -> Self {
        let mut frames = Frames::default();
        for line in text.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()) {
            frames.bytes.extend_from_slice(line);
            frames.bytes.push(b'\n');
            frames.ends.push(frames.bytes.len());
        }
        frames
    }

    /// The lines of a file, compressed or not.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let name = path.display().to_string();
        let failed = |error: std::io::Error| {
            let help = "give a file of one event a line";
            Error::input(name.clone(), format!("cannot be read: {error}"), help)
        };
        let mut file = std::fs::File::open(path).map_err(failed)?;
        let mut text = Vec::new();
        let mut head = [0; MAGIC_BYTES_MAX];
        let length = file.read(&mut head).map_err(failed)?;
        let whole = Cursor::new(&head[..length]).chain(file);
        let reader: Box<dyn Read> = match Compression::of(&head[..length]) {
            Some(compression) => decoder(compression, Box::new(whole)).map_err(failed)?,
            None => Box::new(whole),
        };
        reader.take(FRAME_BYTES_KEPT_MAX as u64).read_to_end(&mut text).map_err(failed)?;
        if text.len() >= FRAME_BYTES_KEPT_MAX {
            text.truncate(text.iter().rposition(|byte| *byte == b'\n').unwrap_or(0));
        }
        Self::of(&text).not_empty(&name)
    }

    /// These frames, if there are any; `name` is where they come from.
    pub fn not_empty(self, name: &str) -> Result<Self, Error> {
        if self.ends.is_empty() {
            let help = "give a file with at least one line that is not blank";
            return Err(Error::input(name, "holds no events", help));
        }
        Ok(self)
    }

    /// Number of different frames.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Bytes of all frames with their newlines.
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// All frames with their newlines.
    pub fn text(&self) -> &[u8] {
        &self.bytes
    }

    /// Copies up to `count_max` frames, beginning with number `from` (counted on over repetitions),
    /// to the start of the buffer; gives their number and bytes. At least one is copied: a giant
    /// makes the buffer grow.
    pub fn fill(&self, buffer: &mut Buffer, from: u64, count_max: u64) -> (u64, usize) {
        let (mut count, mut filled) = (0, 0);
        while count < count_max {
            let index = ((from + count) % self.ends.len() as u64) as usize;
            let start = if index == 0 { 0 } else { self.ends[index - 1] };
            if count == 0 {
                buffer.grow(self.ends[index] - start);
            }
            let room = buffer.len() - filled;
            let fitting = self.ends[index..].partition_point(|end| end - start <= room);
            let taken = fitting.min(usize::try_from(count_max - count).unwrap_or(usize::MAX));
            if taken == 0 {
                break;
            }
            let bytes = &self.bytes[start..self.ends[index + taken - 1]];
            buffer[filled..filled + bytes.len()].copy_from_slice(bytes);
            filled += bytes.len();
            count += taken as u64;
        }
        (count, filled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use temblor_runtime::buffer::Pool;

    fn filled(frames: &Frames, room: usize, from: u64, count: u64) -> (u64, String) {
        let mut buffer = Pool::new(room).take();
        let (count, bytes) = frames.fill(&mut buffer, from, count);
        (count, String::from_utf8_lossy(&buffer[..bytes]).into_owned())
    }

    #[test]
    fn frames_repeat_and_stop_where_the_room_ends() {
        let frames = Frames::of(b"a\n\nbb\r\n  \nccc");
        assert_eq!((frames.len(), frames.bytes()), (3, 10));
        assert_eq!(filled(&frames, 100, 0, 4), (4, "a\nbb\r\nccc\na\n".to_string()));
        assert_eq!(filled(&frames, 100, 5, 2), (2, "ccc\na\n".to_string()));
        assert_eq!(filled(&frames, 7, 0, 9), (2, "a\nbb\r\n".to_string()));
        assert_eq!(filled(&frames, 1, 2, 9), (1, "ccc\n".to_string()), "the buffer grows");
        assert!(Frames::of(b"\n \n").not_empty("x").is_err());
    }
}
