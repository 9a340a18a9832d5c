//! Which file a path leads to: device, inode, and a fingerprint of the first bytes.
//!
//! Invariant: two identities are the same only when nothing speaks against it; in doubt a file is
//! another one, and is read from its beginning.

use std::fs::File;
use std::io::Result;
use std::os::unix::fs::{FileExt, MetadataExt};

use xxhash_rust::xxh3::xxh3_64;

use crate::limits::FINGERPRINT_BYTES;

/// What tells a file from others, whatever its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The device's number.
    pub device: u64,
    /// The inode's number.
    pub inode: u64,
    /// How many first bytes the fingerprint covers.
    pub head_bytes: u64,
    /// XXH3 (64 bits) of the first bytes.
    pub fingerprint: u64,
}

impl Identity {
    /// The identity of an open file, with a fingerprint over what it has now.
    pub fn of(file: &File) -> Result<Self> {
        Self::with_head(file, FINGERPRINT_BYTES as u64)
    }

    /// Whether `file` is the file that this identity was taken of. The fingerprint is taken over as
    /// many bytes as then, since the file may have grown.
    pub fn is_of(&self, file: &File) -> Result<bool> {
        let metadata = file.metadata()?;
        let is_same = (metadata.dev(), metadata.ino()) == (self.device, self.inode);
        Ok(is_same && *self == Self::with_head(file, self.head_bytes)?)
    }

    fn with_head(file: &File, head_bytes: u64) -> Result<Self> {
        let metadata = file.metadata()?;
        let head_bytes = head_bytes.min(FINGERPRINT_BYTES as u64).min(metadata.len());
        let mut head = vec![0; usize::try_from(head_bytes).unwrap_or(FINGERPRINT_BYTES)];
        let mut length = 0;
        while length < head.len() {
            match file.read_at(&mut head[length..], length as u64)? {
                0 => break,
                count => length += count,
            }
        }
        Ok(Identity {
            device: metadata.dev(),
            inode: metadata.ino(),
            head_bytes: length as u64,
            fingerprint: xxh3_64(&head[..length]),
        })
    }
}
