//! The lines of a file of any size, by number. Nothing is read before it is asked for; of the
//! places of lines only every sixty-fourth is kept.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Result, Seek, SeekFrom};

/// Lines from one kept place to the next.
const STRIDE: usize = 64;

/// Bytes that are read at once.
const BLOCK_BYTES: usize = 1 << 16;

/// A file by its lines.
#[derive(Debug)]
pub(crate) struct Lines {
    reader: BufReader<File>,
    /// Where the lines 0, 64, 128 … begin, as far as they were reached.
    marks: Vec<u64>,
    /// The line, and its place, that the reader stands at.
    at: usize,
    offset: u64,
}

impl Lines {
    pub(crate) fn new(file: File) -> Self {
        Self {
            reader: BufReader::with_capacity(BLOCK_BYTES, file),
            marks: vec![0],
            at: 0,
            offset: 0,
        }
    }

    /// The bytes of a line, its end included, but not more than `bytes_max`; `None` behind the last
    /// line, or when `stop` says so.
    pub(crate) fn read(
        &mut self,
        index: usize,
        bytes_max: u64,
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<Vec<u8>>> {
        if !self.go_to(index, stop)? {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        let length = self.reader.by_ref().take(bytes_max).read_until(b'\n', &mut bytes)?;
        let rest = if bytes.ends_with(b"\n") { 0 } else { self.reader.skip_until(b'\n')? };
        if length == 0 {
            return Ok(None);
        }
        self.pass((length + rest) as u64);
        Ok(Some(bytes))
    }

    fn go_to(&mut self, index: usize, stop: &dyn Fn() -> bool) -> Result<bool> {
        let mark = (index / STRIDE).min(self.marks.len() - 1);
        if self.at > index || self.at < mark * STRIDE {
            (self.at, self.offset) = (mark * STRIDE, self.marks[mark]);
            self.reader.seek(SeekFrom::Start(self.offset))?;
        }
        while self.at < index {
            let length = self.reader.skip_until(b'\n')?;
            if length == 0 || self.at.is_multiple_of(STRIDE) && stop() {
                return Ok(false);
            }
            self.pass(length as u64);
        }
        Ok(true)
    }

    fn pass(&mut self, length: u64) {
        self.at += 1;
        self.offset += length;
        if self.at == self.marks.len() * STRIDE {
            self.marks.push(self.offset);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn lines_are_found_in_any_order() {
        let name = format!("temblor-lines-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let mut file = File::create(&path).expect("the file can be made");
        for number in 0..1_000 {
            writeln!(file, "line {number}").expect("it can be written");
        }
        write!(file, "last").expect("it can be written");
        let mut lines = Lines::new(File::open(&path).expect("it is there"));
        let mut read = |index| {
            let line = lines.read(index, 100, &|| false).expect("it can be read");
            line.map(|line| String::from_utf8(line).expect("it is text"))
        };
        for index in [0, 1, 999, 64, 63, 65, 500, 0, 998] {
            assert_eq!(read(index), Some(format!("line {index}\n")));
        }
        assert_eq!(read(1_000).as_deref(), Some("last"));
        assert_eq!(read(1_001), None);
        assert_eq!(read(5).as_deref(), Some("line 5\n"));
        assert_eq!(lines.read(5, 4, &|| false).expect("read"), Some(b"line".to_vec()));
        assert_eq!(lines.read(6, 9, &|| false).expect("read"), Some(b"line 6\n".to_vec()));
        std::fs::remove_file(&path).expect("it is there");
    }
}
