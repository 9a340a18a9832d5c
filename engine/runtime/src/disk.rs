//! Forcing what was written to the disk itself, so that it survives a failure of power; and how often that
//! was done, for tests.
//!
//! Invariant: nothing else in the engine calls `fsync` or one of its kin.

use std::cell::Cell;
use std::fs::File;
use std::io::Result;
use std::path::Path;

/// What an acknowledgement of bytes that go to files is worth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// The bytes are with the operating system: they survive the end of the process, however it ends.
    #[default]
    Flush,
    /// The bytes are on the disk: they survive a failure of power, too.
    Fsync,
}

impl Durability {
    /// Those that can be named.
    pub const WORDS: &[(&str, Durability)] =
        &[("flush", Durability::Flush), ("fsync", Durability::Fsync)];
}

thread_local! {
    static SYNCS: Cell<u64> = const { Cell::new(0) };
}

/// How often this thread has forced something to the disk.
#[must_use]
pub fn syncs() -> u64 {
    SYNCS.get()
}

/// Forces the content and the length of a file to the disk.
///
/// # Errors
/// Those of the disk: what was written since the last time may be lost.
pub fn sync(file: &File) -> Result<()> {
    SYNCS.set(SYNCS.get() + 1);
    file.sync_data()
}

/// Forces the names in a directory to the disk: a file that was made or renamed is found there again.
///
/// # Errors
/// Those of the disk, and of opening the directory.
pub fn sync_directory(path: &Path) -> Result<()> {
    SYNCS.set(SYNCS.get() + 1);
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    File::open(path)?.sync_all()
}
