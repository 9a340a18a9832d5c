//! The checkpoint: how far each input has been dealt with, and how long each output then was.
//!
//! Invariant: what is read is exactly what was written, or an error that says so; a crash while writing
//! leaves the checkpoint before it. (The process may be killed at any moment; against a failure of
//! power nothing is promised, as nothing is forced to the disk.)

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write as _};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64;

use crate::disk::{self, Durability};
use crate::error::Error;
use crate::identity::Identity;
use crate::limits::CHECKPOINT_BYTES_MAX;

const FILE_NAME: &str = "checkpoint";
const TEMPORARY_NAME: &str = "checkpoint.new";
const HEADER: &str = "temblor checkpoint 1";

/// The permissions of files in a state directory: their owner's alone.
pub const STATE_FILE_MODE: u32 = 0o600;

/// Makes a file anew that only its owner can read.
pub fn create_private(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(STATE_FILE_MODE).open(path)
}

/// How far an input file has been dealt with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileMark {
    /// The source that reads it, by its index in the plan.
    pub source: usize,
    /// Which file.
    pub identity: Identity,
    /// Bytes (after decompression) that have been dealt with.
    pub offset: u64,
    /// Number of the line that follows, counted from 1.
    pub line: u64,
    /// Its path, for the reader of messages and of the checkpoint.
    pub path: PathBuf,
}

/// How long an output file was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputMark {
    /// The device's number.
    pub device: u64,
    /// The inode's number.
    pub inode: u64,
    /// Bytes of output that belong to the inputs' marks.
    pub length: u64,
    /// Its path.
    pub path: PathBuf,
}

/// Everything that is remembered between two runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checkpoint {
    /// The run has ended: its outputs are whole and not its own any more.
    pub finished: bool,
    /// Outputs hold, up to the lengths recorded, exactly what the inputs' marks cover. Otherwise they
    /// may hold more, which the next run repeats.
    pub exact: bool,
    /// The saved state of the program that belongs to the marks, by its number.
    pub state: Option<u64>,
    /// By input file.
    pub files: Vec<FileMark>,
    /// By output file.
    pub outputs: Vec<OutputMark>,
}

impl Checkpoint {
    /// Reads the checkpoint of a state directory; `None` when there is none yet.
    pub fn load(directory: &Path) -> Result<Option<Self>, Error> {
        let path = directory.join(FILE_NAME);
        let unreadable = |error: std::io::Error| {
            let help = "make it readable, or choose another state directory";
            Error::state(path.display().to_string(), format!("cannot be read: {error}"), help)
        };
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unreadable(error)),
        };
        let mut bytes = Vec::new();
        file.take(CHECKPOINT_BYTES_MAX).read_to_end(&mut bytes).map_err(unreadable)?;
        let parsed = Self::parse(&bytes).map_err(|reason| {
            let help = "delete the file, or begin anew with --fresh-state, to read all inputs from \
                        their beginning (outputs are then written again), or restore it from a \
                        backup";
            Error::state(path.display().to_string(), reason, help)
        })?;
        Ok(Some(parsed))
    }

    /// Removes the checkpoint of a state directory, if there is one.
    pub fn remove(directory: &Path) -> Result<(), Error> {
        let path = directory.join(FILE_NAME);
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                let help = "the state directory must be writable";
                let place = path.display().to_string();
                Err(Error::state(place, format!("cannot be removed: {error}"), help))
            }
            _ => Ok(()),
        }
    }

    /// Writes the checkpoint beside the old one and puts it in its place.
    pub fn store(&self, directory: &Path, durability: Durability) -> Result<(), Error> {
        let temporary = directory.join(TEMPORARY_NAME);
        let is_durable = durability == Durability::Fsync;
        let write = || -> std::io::Result<()> {
            let mut file = create_private(&temporary)?;
            file.write_all(self.render().as_bytes())?;
            if is_durable {
                disk::sync(&file)?;
            }
            std::fs::rename(&temporary, directory.join(FILE_NAME))?;
            if is_durable { disk::sync_directory(directory) } else { Ok(()) }
        };
        write().map_err(|error| {
            let help = "the state directory must be writable and have room";
            let place = directory.join(FILE_NAME).display().to_string();
            Error::state(place, format!("cannot be written: {error}"), help)
        })
    }

    fn render(&self) -> String {
        let mut text = format!("{HEADER}\n");
        let lines = &mut text;
        // Writing to a string cannot fail.
        let _ = writeln!(lines, "finished {}\nexact {}", self.finished, self.exact);
        if let Some(number) = self.state {
            let _ = writeln!(lines, "state {number}");
        }
        for FileMark { source, identity, offset, line, path } in &self.files {
            let Identity { device, inode, head_bytes, fingerprint } = identity;
            let path = escape(path);
            let _ = writeln!(
                lines,
                "input {source} {device} {inode} {head_bytes} {fingerprint:016x} {offset} {line} {path}"
            );
        }
        for OutputMark { device, inode, length, path } in &self.outputs {
            let _ = writeln!(lines, "output {device} {inode} {length} {}", escape(path));
        }
        let sum = xxh3_64(text.as_bytes());
        let _ = writeln!(text, "sum {sum:016x}");
        text
    }

    fn parse(bytes: &[u8]) -> Result<Self, String> {
        let text = std::str::from_utf8(bytes).map_err(|_| "is damaged: it is no text")?;
        let first = text.lines().next().unwrap_or("");
        if first != HEADER {
            return Err(match first.strip_prefix("temblor checkpoint ") {
                Some(version) => format!("has format {version}; this temblor knows format 1"),
                None => "is no checkpoint, or damaged: its first line is another".to_string(),
            });
        }
        let sum_at = text.trim_end().rfind('\n').map_or(0, |newline| newline + 1);
        let (content, sum) = text.split_at(sum_at);
        if sum != format!("sum {:016x}\n", xxh3_64(content.as_bytes())) {
            return Err("is damaged: its checksum does not fit its content".to_string());
        }
        let mut checkpoint = Checkpoint::default();
        for (index, line) in content.lines().enumerate().skip(1) {
            let parsed = checkpoint.parse_line(line);
            parsed.ok_or_else(|| format!("is damaged: line {} is not understood", index + 1))?;
        }
        Ok(checkpoint)
    }

    fn parse_line(&mut self, line: &str) -> Option<()> {
        let (word, rest) = line.split_once(' ')?;
        let mut fields = rest.split(' ');
        let mut number = |radix| u64::from_str_radix(fields.next()?, radix).ok();
        match word {
            "finished" => self.finished = rest.parse().ok()?,
            "exact" => self.exact = rest.parse().ok()?,
            "state" => self.state = Some(rest.parse().ok()?),
            "input" => {
                let source = usize::try_from(number(10)?).ok()?;
                let (device, inode) = (number(10)?, number(10)?);
                let (head_bytes, fingerprint) = (number(10)?, number(16)?);
                let identity = Identity { device, inode, head_bytes, fingerprint };
                let (offset, line) = (number(10)?, number(10)?);
                let path = unescape(fields.next()?)?;
                self.files.push(FileMark { source, identity, offset, line, path });
            }
            "output" => {
                let (device, inode, length) = (number(10)?, number(10)?, number(10)?);
                let path = unescape(fields.next()?)?;
                self.outputs.push(OutputMark { device, inode, length, path });
            }
            _ => return None,
        }
        Some(())
    }
}

/// A path as one word: bytes that are no plain visible ASCII become `%xx`.
fn escape(path: &Path) -> String {
    let mut text = String::new();
    for &byte in path.as_os_str().as_bytes() {
        match byte {
            b'!'..=b'~' if byte != b'%' => text.push(char::from(byte)),
            _ => text.push_str(&format!("%{byte:02x}")),
        }
    }
    text
}

fn unescape(text: &str) -> Option<PathBuf> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte == b'%' {
            let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &rest[2..];
        } else {
            bytes.push(byte);
        }
    }
    Some(PathBuf::from(OsString::from_vec(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Checkpoint {
        let identity = Identity { device: 1, inode: 22, head_bytes: 1024, fingerprint: 0xabc };
        let odd = PathBuf::from(OsString::from_vec(b"/logs/a b%\n\xff.log".to_vec()));
        Checkpoint {
            finished: false,
            exact: true,
            state: Some(12),
            files: vec![FileMark { source: 1, identity, offset: 77, line: 5, path: odd.clone() }],
            outputs: vec![OutputMark { device: 3, inode: 4, length: 99, path: odd }],
        }
    }

    #[test]
    fn what_is_read_is_what_was_written() {
        let text = sample().render();
        assert_eq!(Checkpoint::parse(text.as_bytes()), Ok(sample()));
    }

    #[test]
    fn any_damage_is_noticed() {
        let text = sample().render().into_bytes();
        for index in 0..text.len() {
            let mut damaged = text.clone();
            damaged[index] ^= 0x04;
            assert!(Checkpoint::parse(&damaged).is_err(), "byte {index}");
            assert!(Checkpoint::parse(&text[..index]).is_err(), "cut at {index}");
        }
    }

    #[test]
    fn a_later_format_is_named() {
        let error = Checkpoint::parse(b"temblor checkpoint 2\n").unwrap_err();
        assert_eq!(error, "has format 2; this temblor knows format 1");
    }
}
