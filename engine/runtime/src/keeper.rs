//! The keeper of a state directory: decides when a checkpoint is written, and what it says.
//!
//! Invariant: an output file is recorded before the run writes its first byte to it, so that after a
//! crash what the run has written can be told from what was there before.

use std::collections::HashSet;
use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::ack::Marks;
use crate::checkpoint::{Checkpoint, FileMark, OutputMark, STATE_FILE_MODE};
use crate::disk::Durability;
use crate::error::Error;
use crate::limits::{CHECKPOINT_BYTES, CHECKPOINT_FILES_MAX, CHECKPOINT_INTERVAL};
use crate::snapshot::{self, Snapshot};

const LOCK_NAME: &str = "lock";

/// Keeps the checkpoints of one run.
pub struct Keeper {
    directory: PathBuf,
    /// What a checkpoint survives.
    durability: Durability,
    /// Holds other runs off while it is open.
    _lock: File,
    /// What the directory holds now.
    last: Checkpoint,
    /// The input marks of earlier runs.
    carried: Vec<FileMark>,
    /// Batches that `last` covers.
    batches: u64,
    stored_at: Instant,
    bytes_since: u64,
}

impl Keeper {
    /// Takes a state directory for this run, creating it where needed, and reads what is in it.
    ///
    /// With `fresh`, what is in it is removed instead.
    pub fn open(directory: &Path, fresh: bool) -> Result<(Self, Option<Checkpoint>), Error> {
        let lock = lock(directory)?;
        if fresh {
            Checkpoint::remove(directory)?;
            snapshot::sweep(directory, None);
        }
        let found = Checkpoint::load(directory)?;
        let last = found.clone().unwrap_or_default();
        let carried = last.files.clone();
        let keeper = Keeper {
            directory: directory.to_path_buf(),
            durability: Durability::default(),
            _lock: lock,
            last,
            carried,
            batches: 0,
            stored_at: Instant::now(),
            bytes_since: 0,
        };
        Ok((keeper, found))
    }

    /// The same, with checkpoints that survive more.
    #[must_use]
    pub fn with(self, durability: Durability) -> Self {
        Self { durability, ..self }
    }

    /// Whether outputs must be on the disk before a checkpoint tells of them.
    #[must_use]
    pub fn is_durable(&self) -> bool {
        self.durability == Durability::Fsync
    }

    /// Writes a saved state; the next checkpoint is to name the number that this returns.
    pub fn store_state(&self, snapshot: &Snapshot) -> Result<u64, Error> {
        let number = self.last.state.map_or(0, |number| number.wrapping_add(1));
        snapshot.store(&self.directory, number, self.durability)?;
        Ok(number)
    }

    /// Whether the last checkpoint was long enough ago, whatever has been written.
    #[must_use]
    pub fn is_late(&self) -> bool {
        self.stored_at.elapsed() >= CHECKPOINT_INTERVAL
    }

    /// The writer has written that many bytes; says whether it is time for a checkpoint.
    pub fn is_due(&mut self, bytes_written: u64) -> bool {
        self.bytes_since += bytes_written;
        self.bytes_since >= CHECKPOINT_BYTES || self.stored_at.elapsed() >= CHECKPOINT_INTERVAL
    }

    /// Writes a checkpoint, if there is anything new to say. `finished` ends the run in peace.
    pub fn store(
        &mut self,
        marks: Marks,
        outputs: Vec<OutputMark>,
        finished: bool,
    ) -> Result<(), Error> {
        self.stored_at = Instant::now();
        self.bytes_since = 0;
        let batches = marks.batches;
        let next = self.next(marks, outputs, finished);
        if next != self.last {
            next.store(&self.directory, self.durability)?;
            if next.state != self.last.state {
                snapshot::sweep(&self.directory, next.state);
            }
            self.last = next;
        }
        self.batches = batches;
        Ok(())
    }

    fn next(&self, marks: Marks, outputs: Vec<OutputMark>, finished: bool) -> Checkpoint {
        let Marks { files, exact, batches, state } = marks;
        if exact || batches > self.batches {
            let files = self.with_carried(files);
            return Checkpoint { finished: finished && exact, exact, state, files, outputs };
        }
        // The marks stand where they stood: the lengths recorded then still belong to them. Outputs
        // opened since had their present length then.
        let mut next = Checkpoint { finished: false, ..self.last.clone() };
        let known: HashSet<_> = self.last.outputs.iter().map(file_of).collect();
        next.outputs.extend(outputs.into_iter().filter(|output| !known.contains(&file_of(output))));
        next
    }

    /// The marks of this run, and those of files that only earlier runs have read.
    fn with_carried(&self, mut files: Vec<FileMark>) -> Vec<FileMark> {
        let file_of = |mark: &FileMark| (mark.source, mark.identity.device, mark.identity.inode);
        let read: HashSet<_> = files.iter().map(file_of).collect();
        let others = self.carried.iter().filter(|mark| !read.contains(&file_of(mark)));
        let room = CHECKPOINT_FILES_MAX.saturating_sub(files.len());
        files.extend(others.take(room).cloned());
        files
    }
}

fn file_of(output: &OutputMark) -> (u64, u64) {
    (output.device, output.inode)
}

fn lock(directory: &Path) -> Result<File, Error> {
    let unusable = |error: std::io::Error| {
        let help = "give a directory that can be created and written";
        Error::state(directory.display().to_string(), format!("cannot be used: {error}"), help)
    };
    // What is kept holds parts of events: it is nobody else's business.
    DirBuilder::new().recursive(true).mode(0o700).create(directory).map_err(unusable)?;
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(STATE_FILE_MODE)
        .open(directory.join(LOCK_NAME))
        .map_err(unusable)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::Error(error)) => Err(unusable(error)),
        Err(TryLockError::WouldBlock) => Err(Error::state(
            directory.display().to_string(),
            "is in use by another run",
            "wait for it to end, or give each run its own directory",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::Identity;

    fn output(inode: u64, length: u64) -> OutputMark {
        OutputMark { device: 1, inode, length, path: PathBuf::from("out") }
    }

    fn file(offset: u64) -> FileMark {
        let identity = Identity { device: 1, inode: 1, head_bytes: 0, fingerprint: 0 };
        FileMark { source: 0, identity, offset, line: 1, path: PathBuf::from("in") }
    }

    fn marks(offset: u64, batches: u64, exact: bool) -> Marks {
        Marks { files: vec![file(offset)], exact, batches, state: None }
    }

    #[test]
    fn checkpoints_are_forced_to_the_disk_where_that_is_asked_for() {
        let directory =
            std::env::temp_dir().join(format!("temblor-durable-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&directory);
        // The file and its name; and before, the saved state that it names.
        for (durability, wanted) in [(Durability::Flush, 0), (Durability::Fsync, 3)] {
            let (keeper, _) = Keeper::open(&directory, true).unwrap();
            let mut keeper = keeper.with(durability);
            assert_eq!(keeper.is_durable(), wanted > 0);
            let before = crate::disk::syncs();
            let state = Some(keeper.store_state(&Snapshot::default()).unwrap());
            keeper.store(Marks { state, ..marks(10, 1, true) }, Vec::new(), false).unwrap();
            assert_eq!(crate::disk::syncs() - before, wanted, "{durability:?}");
        }
        std::fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn lengths_stay_with_the_marks_they_belong_to() {
        let directory = std::env::temp_dir().join(format!("temblor-keeper-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&directory);
        let (mut keeper, found) = Keeper::open(&directory, false).unwrap();
        assert!(found.is_none());
        assert_eq!(
            Keeper::open(&directory, false).err().unwrap().exit_code(),
            6,
            "one run at a time"
        );

        keeper.store(marks(10, 1, true), vec![output(7, 100)], false).unwrap();
        // Output went on, but the marks did not: a file opened meanwhile is added, nothing else moves.
        keeper.store(marks(10, 1, false), vec![output(7, 150), output(8, 0)], false).unwrap();
        let stored = Checkpoint::load(&directory).unwrap().unwrap();
        assert_eq!(stored.outputs, [output(7, 100), output(8, 0)]);
        assert!(stored.exact && stored.files == [file(10)]);

        // The marks moved, but not over all that is written: lengths only tell whose files they are.
        keeper.store(marks(20, 2, false), vec![output(7, 200)], true).unwrap();
        let stored = Checkpoint::load(&directory).unwrap().unwrap();
        assert!(!stored.exact && !stored.finished && stored.outputs == [output(7, 200)]);

        drop(keeper);
        let (mut keeper, found) = Keeper::open(&directory, false).unwrap();
        assert_eq!(found.unwrap().files, [file(20)]);
        let none_read = Marks { files: Vec::new(), exact: true, batches: 0, state: None };
        keeper.store(none_read, Vec::new(), true).unwrap();
        let stored = Checkpoint::load(&directory).unwrap().unwrap();
        assert!(stored.finished && stored.files == [file(20)], "earlier marks are carried on");
        std::fs::remove_dir_all(&directory).unwrap();
    }
}
