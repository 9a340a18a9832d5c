//! A file that grows at its end and is set aside when it is full, as `outputMode = file` asks for.
//!
//! Invariant: an event is never in two files; no file but the newest grows.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The file.
#[derive(Debug)]
pub struct Rotation {
    path: PathBuf,
    file: File,
    bytes: u64,
    bytes_max: Option<u64>,
    backups: u64,
}

impl Rotation {
    /// Opens the file at its end.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn open(path: &Path, bytes_max: Option<u64>, backups: u64) -> io::Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        let bytes = file.metadata()?.len();
        Ok(Rotation { path: path.to_path_buf(), file, bytes, bytes_max, backups })
    }

    /// Writes whole lines; begins a new file between two of them when this one is full.
    ///
    /// # Errors
    /// When a file cannot be written or renamed.
    pub fn write(&mut self, mut lines: &[u8]) -> io::Result<()> {
        let Some(bytes_max) = self.bytes_max else {
            return self.file.write_all(lines);
        };
        while !lines.is_empty() {
            let room = bytes_max.saturating_sub(self.bytes);
            let fitting = lines.len().min(usize::try_from(room).unwrap_or(usize::MAX));
            let end = match memchr::memrchr(b'\n', &lines[..fitting]) {
                Some(at) => at + 1,
                // A line that is longer than a file has one of its own.
                None if self.bytes == 0 => {
                    memchr::memchr(b'\n', lines).map_or(lines.len(), |at| at + 1)
                }
                None => 0,
            };
            self.file.write_all(&lines[..end])?;
            self.bytes += end as u64;
            lines = &lines[end..];
            if !lines.is_empty() {
                self.set_aside()?;
            }
        }
        Ok(())
    }

    /// `a` becomes `a.1`, that `a.2`, and so on.
    fn set_aside(&mut self) -> io::Result<()> {
        let name = |number: u64| match number {
            0 => self.path.clone(),
            number => PathBuf::from(format!("{}.{number}", self.path.display())),
        };
        for number in (0..self.backups).rev().filter(|number| name(*number).exists()) {
            std::fs::rename(name(number), name(number + 1))?;
        }
        self.file = OpenOptions::new().create(true).write(true).truncate(true).open(&self.path)?;
        self.bytes = 0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_files_are_set_aside_between_lines() {
        let folder = std::env::temp_dir().join(format!("temblor-rotation-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("a.log");
        let mut rotation = Rotation::open(&path, Some(6), 2).unwrap();
        rotation.write(b"11\n22\n33\n").unwrap();
        rotation.write(b"44\n").unwrap();
        rotation.write(b"a long line\n55\n").unwrap();
        let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap_or_default();
        assert_eq!(
            [read("a.log"), read("a.log.1"), read("a.log.2")],
            ["55\n", "a long line\n", "33\n44\n"]
        );
        assert_eq!(read("a.log.3"), "", "two are kept");
        let mut again = Rotation::open(&path, Some(6), 0).unwrap();
        again.write(b"66\n77\n").unwrap();
        assert_eq!([read("a.log"), read("a.log.1")], ["77\n", "a long line\n"]);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
