//! A saved state: what the operators of a program remember at one moment between two batches, as
//! the bytes of a file.
//!
//! Invariant: what is read is exactly what was written, or an error that says so.

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64;

use crate::checkpoint::create_private;
use crate::clock::Timestamp;
use crate::disk::{self, Durability};
use crate::error::Error;
use crate::limits::SNAPSHOT_BYTES_MAX;

const HEADER: &[u8] = b"temblor state 1\n";
const PREFIX: &str = "state.";
/// Four numbers behind the header: those of the clock, and the checksum of them and the body.
const NUMBERS_BYTES: usize = 4 * size_of::<u64>();
const HELP: &str = "restore the file from a backup, or begin anew with --fresh-state";

/// What is saved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// Events that the run had received; the virtual clock goes on from there.
    pub events: u64,
    /// When the virtual clock last ticked.
    pub last_tick: Timestamp,
    /// By how much sources had put the virtual clock forward.
    pub ahead: Timestamp,
    /// What the processor gave.
    pub body: Vec<u8>,
}

impl Snapshot {
    /// Writes it into a state directory, under a number.
    pub fn store(
        &self,
        directory: &Path,
        number: u64,
        durability: Durability,
    ) -> Result<(), Error> {
        let path = path(directory, number);
        let write = |mut file: File| -> std::io::Result<()> {
            file.write_all(HEADER)?;
            file.write_all(&self.clock())?;
            file.write_all(&self.sum().to_le_bytes())?;
            file.write_all(&self.body)?;
            if durability == Durability::Fsync { disk::sync(&file) } else { Ok(()) }
        };
        create_private(&path).and_then(write).map_err(|error| {
            let help = "the state directory must be writable and have room";
            Error::state(path.display().to_string(), format!("cannot be written: {error}"), help)
        })
    }

    /// Reads what was stored under a number.
    pub fn load(directory: &Path, number: u64) -> Result<Self, Error> {
        let path = path(directory, number);
        let wrong = |reason: String| Error::state(path.display().to_string(), reason, HELP);
        let mut bytes = Vec::new();
        File::open(&path)
            .and_then(|file| file.take(SNAPSHOT_BYTES_MAX).read_to_end(&mut bytes))
            .map_err(|error| match error.kind() {
                ErrorKind::NotFound => wrong("is missing, though the checkpoint names it".into()),
                _ => wrong(format!("cannot be read: {error}")),
            })?;
        Self::parse(&bytes).map_err(wrong)
    }

    fn parse(bytes: &[u8]) -> Result<Self, String> {
        let Some(rest) = bytes.strip_prefix(HEADER) else {
            let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
            return Err(match line.strip_prefix(b"temblor state ") {
                Some(version) => {
                    let version = String::from_utf8_lossy(version);
                    format!("has format {version}; this temblor knows format 1")
                }
                None => "is no saved state, or damaged: its first line is another".to_string(),
            });
        };
        let Some((numbers, body)) = rest.split_at_checked(NUMBERS_BYTES) else {
            return Err("is damaged: it ends too early".to_string());
        };
        let mut words = numbers
            .chunks_exact(size_of::<u64>())
            .map(|word| word.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)));
        let mut next = || words.next().unwrap_or_default();
        let (events, last_tick, ahead, sum) = (next(), next(), next(), next());
        let snapshot = Snapshot { events, last_tick, ahead, body: body.to_vec() };
        if snapshot.sum() != sum {
            return Err("is damaged: its checksum does not fit its content".to_string());
        }
        Ok(snapshot)
    }

    fn clock(&self) -> Vec<u8> {
        [self.events, self.last_tick, self.ahead].map(u64::to_le_bytes).concat()
    }

    fn sum(&self) -> u64 {
        xxh3_64(&self.body) ^ xxh3_64(&self.clock())
    }
}

/// Removes all saved states of a directory but the one with this number. What cannot be removed
/// stays: it is never read.
pub fn sweep(directory: &Path, keep: Option<u64>) {
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.parse().ok());
        if number.is_some_and(|number: u64| Some(number) != keep) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

fn path(directory: &Path, number: u64) -> PathBuf {
    directory.join(format!("{PREFIX}{number}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_damage_is_noticed() {
        let directory = std::env::temp_dir().join(format!("temblor-snap-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let snapshot = Snapshot { events: 7, last_tick: 900, ahead: 5, body: b"body".to_vec() };
        snapshot.store(&directory, 3, Durability::Flush).unwrap();
        assert_eq!(Snapshot::load(&directory, 3), Ok(snapshot));
        let bytes = std::fs::read(path(&directory, 3)).unwrap();
        for index in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[index] ^= 0x04;
            assert!(Snapshot::parse(&damaged).is_err(), "byte {index}");
            assert!(Snapshot::parse(&bytes[..index]).is_err(), "cut at {index}");
        }
        let later = Snapshot::parse(b"temblor state 2\nxxx").unwrap_err();
        assert_eq!(later, "has format 2; this temblor knows format 1");
        sweep(&directory, Some(3));
        assert!(Snapshot::load(&directory, 3).is_ok());
        sweep(&directory, None);
        let error = Snapshot::load(&directory, 3).unwrap_err();
        assert!(error.to_string().contains("--fresh-state"), "{error}");
        std::fs::remove_dir_all(&directory).unwrap();
    }
}
