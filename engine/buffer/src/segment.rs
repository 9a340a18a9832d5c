//! The segment: a file of records, with the number of its first one in its name and its head.
//!
//! Invariant: a segment is written by one run only, from its beginning to its end; what a run finds it only
//! reads, frees or sets aside.

use std::fs::{File, OpenOptions};
use std::io::{Error, ErrorKind, Result, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use temblor_runtime::disk;
use xxhash_rust::xxh3::xxh3_64;

use crate::seal::{Key, SALT_BYTES, Seal, salt};

/// Length of the head of a segment, in bytes: the first record begins there.
pub const HEAD_BYTES: u64 = 64;
/// The first bytes of every segment; the last one is the version of the format.
const MAGIC: [u8; 8] = *b"temblor\x01";
/// Ending of the names of segments.
const ENDING: &str = "segment";
/// Ending of segments that were set aside because a part of them could not be read.
const DAMAGED: &str = "damaged";
/// Digits of a number in a name.
const DIGITS: usize = 20;

/// The head of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// The number of its first record.
    pub first: u64,
    /// When it was begun, in nanoseconds since 1970-01-01 UTC.
    pub created_ns: u64,
    /// Whether its records are sealed.
    pub is_sealed: bool,
    /// What its key is derived with.
    pub salt: [u8; SALT_BYTES],
}

impl Head {
    /// The head of a segment.
    ///
    /// # Errors
    /// It cannot be read, or is none.
    pub fn of(file: &File) -> Result<Self> {
        let mut bytes = [0; HEAD_BYTES as usize];
        file.read_exact_at(&mut bytes, 0)?;
        Self::parse(&bytes).ok_or_else(|| Error::new(ErrorKind::InvalidData, "its head is damaged"))
    }

    fn parse(bytes: &[u8; HEAD_BYTES as usize]) -> Option<Self> {
        let long =
            |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        if bytes[..8] != MAGIC || long(56) != xxh3_64(&bytes[..56]) {
            return None;
        }
        let salt = bytes[32..32 + SALT_BYTES].try_into().expect("as many bytes");
        Some(Self { is_sealed: long(8) & 1 != 0, first: long(16), created_ns: long(24), salt })
    }

    pub(crate) fn bytes(&self) -> [u8; HEAD_BYTES as usize] {
        let mut bytes = [0; HEAD_BYTES as usize];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..16].copy_from_slice(&u64::from(self.is_sealed).to_le_bytes());
        bytes[16..24].copy_from_slice(&self.first.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.created_ns.to_le_bytes());
        bytes[32..32 + SALT_BYTES].copy_from_slice(&self.salt);
        let sum = xxh3_64(&bytes[..56]);
        bytes[56..].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// What opens its records; nothing, when they are not sealed or there is no key.
    #[must_use]
    pub fn seal(&self, key: Option<&Key>) -> Option<Seal> {
        key.filter(|_| self.is_sealed).map(|key| key.of_segment(&self.salt))
    }
}

/// The path of the segment whose first record has this number.
#[must_use]
pub fn path(directory: &Path, first: u64) -> PathBuf {
    directory.join(format!("{first:0DIGITS$}.{ENDING}"))
}

/// The number of the first record of the segment with this name, if it is the name of one.
#[must_use]
pub fn first_of(name: &Path) -> Option<u64> {
    let stem = name.file_stem()?.to_str()?;
    let is_one = name.extension()? == ENDING && stem.len() == DIGITS;
    is_one.then(|| stem.parse().ok())?
}

/// Whether this is the name of a segment that was set aside.
#[must_use]
pub fn is_set_aside(name: &Path) -> bool {
    name.extension().is_some_and(|ending| ending == DAMAGED)
}

/// Renames a segment, so that nobody reads it any more but who looks for what is left in it.
///
/// # Errors
/// It cannot be renamed.
pub fn set_aside(directory: &Path, first: u64) -> Result<PathBuf> {
    let old = path(directory, first);
    let mut new = old.with_extension(DAMAGED);
    let mut again = 1;
    while new.exists() {
        new = directory.join(format!("{first:0DIGITS$}-{again}.{DAMAGED}"));
        again += 1;
    }
    std::fs::rename(&old, &new)?;
    Ok(new)
}

/// A segment that is being written.
#[derive(Debug)]
pub struct Writer {
    file: File,
    /// The number of its first record.
    pub first: u64,
    /// Its length, in bytes: whole records only.
    pub length: u64,
    /// What its records are sealed with.
    pub seal: Option<Seal>,
}

impl Writer {
    /// Begins a segment. One that is there already holds no whole record, and is replaced.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn begin(directory: &Path, first: u64, created_ns: u64, key: Option<&Key>) -> Result<Self> {
        let salt = if key.is_some() { salt()? } else { [0; SALT_BYTES] };
        let head = Head { first, created_ns, is_sealed: key.is_some(), salt };
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(0o600);
        let path = path(directory, first);
        let mut file = options.open(&path)?;
        if let Err(error) = file.write_all(&head.bytes()) {
            // Nothing is in it: whoever finds room again begins it anew.
            let _ = std::fs::remove_file(&path);
            return Err(error);
        }
        Ok(Self { file, first, length: HEAD_BYTES, seal: head.seal(key) })
    }

    /// Appends a record. After an error the segment ends where it ended before; when not even that can be
    /// had, readers pass over the torn record.
    ///
    /// # Errors
    /// Why it was not written.
    pub fn append(&mut self, record: &[u8]) -> Result<()> {
        match self.file.write_all_at(record, self.length) {
            Ok(()) => {
                self.length += record.len() as u64;
                Ok(())
            }
            Err(error) => {
                let _ = self.file.set_len(self.length);
                Err(error)
            }
        }
    }

    /// Waits until the disk has what was written.
    ///
    /// # Errors
    /// The disk does not take it.
    pub fn sync(&self) -> Result<()> {
        disk::sync(&self.file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_segments_are_told_from_others() {
        let path = path(Path::new("d"), 42);
        assert_eq!(path, Path::new("d/00000000000000000042.segment"));
        assert_eq!(first_of(&path), Some(42));
        for other in ["mark", "42.segment", "0000000000000000004x.segment", "a.damaged"] {
            assert_eq!(first_of(Path::new(other)), None, "{other}");
        }
    }

    #[test]
    fn a_head_is_read_as_it_was_written_and_not_otherwise() {
        let head = Head { first: 7, created_ns: 9, is_sealed: true, salt: [3; SALT_BYTES] };
        let bytes = head.bytes();
        assert_eq!(Head::parse(&bytes), Some(head));
        for index in 0..bytes.len() {
            let mut changed = bytes;
            changed[index] ^= 1;
            assert_eq!(Head::parse(&changed), None, "byte {index}");
        }
    }
}
