//! Finding records in a segment, also where a part of it is torn, changed or missing.
//!
//! Invariant: the memory that this takes does not depend on how long a segment is.

use std::fs::File;
use std::io::Result;
use std::os::unix::fs::FileExt;

use memchr::memmem;
use rustix::fs::{SeekFrom, seek};
use xxhash_rust::xxh3::Xxh3;

use crate::record::{HEAD_BYTES, Head, MARKER};

/// How much is looked at together, in bytes.
const BLOCK_BYTES: usize = 256 << 10;

/// The head of a record that begins at `offset`; nothing when there is none.
///
/// # Errors
/// The file cannot be read.
pub fn head_at(file: &File, offset: u64, limit: u64) -> Result<Option<Head>> {
    if offset + HEAD_BYTES as u64 > limit {
        return Ok(None);
    }
    let mut bytes = [0; HEAD_BYTES];
    file.read_exact_at(&mut bytes, offset)?;
    Ok(Head::read(&bytes).filter(|head| offset + head.record_bytes() <= limit))
}

/// The body of a record, as it is stored.
///
/// # Errors
/// The file cannot be read.
pub fn body_of(file: &File, offset: u64, head: &Head) -> Result<Vec<u8>> {
    let mut body = vec![0; head.stored as usize];
    file.read_exact_at(&mut body, offset + HEAD_BYTES as u64)?;
    Ok(body)
}

/// Whether the body of a record is what was stored.
///
/// # Errors
/// The file cannot be read.
pub fn is_whole(file: &File, offset: u64, head: &Head) -> Result<bool> {
    let (mut sum, mut block) = (Xxh3::new(), vec![0; BLOCK_BYTES.min(head.stored as usize)]);
    let (mut at, mut left) = (offset + HEAD_BYTES as u64, head.stored as usize);
    while left > 0 {
        let part = &mut block[..left.min(BLOCK_BYTES)];
        file.read_exact_at(part, at)?;
        sum.update(part);
        (at, left) = (at + part.len() as u64, left - part.len());
    }
    Ok(head.checks(sum.digest()))
}

/// The next whole record from `offset` on with at least this number.
///
/// # Errors
/// The file cannot be read.
pub fn find(file: &File, offset: u64, limit: u64, sequence: u64) -> Result<Option<(u64, Head)>> {
    let marker = memmem::Finder::new(&MARKER);
    let mut block = vec![0; BLOCK_BYTES];
    let mut from = offset;
    while from + HEAD_BYTES as u64 <= limit {
        // What was never written takes no time.
        from = match seek(file, SeekFrom::Data(from)) {
            Ok(data) => data.max(from),
            Err(rustix::io::Errno::NXIO) => return Ok(None),
            Err(_) => from,
        };
        let wanted = usize::try_from(limit.saturating_sub(from)).unwrap_or(BLOCK_BYTES);
        let length = read_some(file, from, &mut block[..wanted.min(BLOCK_BYTES)])?;
        for at in marker.find_iter(&block[..length]) {
            let place = from + at as u64;
            if let Some(head) = head_at(file, place, limit)?
                && head.sequence >= sequence
                && is_whole(file, place, &head)?
            {
                return Ok(Some((place, head)));
            }
        }
        if length < HEAD_BYTES {
            return Ok(None);
        }
        // A marker may lie on the border.
        from += (length - (MARKER.len() - 1)) as u64;
    }
    Ok(None)
}

fn read_some(file: &File, offset: u64, block: &mut [u8]) -> Result<usize> {
    let mut length = 0;
    while length < block.len() {
        match file.read_at(&mut block[length..], offset + length as u64)? {
            0 => break,
            count => length += count,
        }
    }
    Ok(length)
}

/// What the heads of the records of a segment say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Heads {
    /// How many records there are.
    pub records: u64,
    /// How many events they hold.
    pub events: u64,
    /// The number behind that of the last one.
    pub next: u64,
    /// Bytes that belong to no record.
    pub gap_bytes: u64,
}

/// Walks over the records from `offset` on, by their heads; bodies are read only to find the way again.
///
/// # Errors
/// The file cannot be read.
pub fn heads(file: &File, offset: u64, limit: u64, sequence: u64) -> Result<Heads> {
    let (mut at, mut seen) = (offset, Heads { next: sequence, ..Heads::default() });
    while at < limit {
        let head = head_at(file, at, limit)?.filter(|head| head.sequence >= seen.next);
        let (place, head) = match head {
            Some(head) => (at, head),
            None => match find(file, at + 1, limit, seen.next)? {
                Some(found) => found,
                None => {
                    seen.gap_bytes += limit - at;
                    break;
                }
            },
        };
        seen.gap_bytes += place - at;
        seen.records += 1;
        seen.events += u64::from(head.events);
        seen.next = head.sequence + 1;
        at = place + head.record_bytes();
    }
    Ok(seen)
}
