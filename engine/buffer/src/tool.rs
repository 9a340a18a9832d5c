//! Looking at buffers from outside: what they hold, whether it is whole, and what can be had back.
//!
//! Invariant: looking changes nothing, and works beside a run; mending needs the buffer for itself.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Error, ErrorKind, Result, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use temblor_runtime::disk;

use crate::log::OpenError;
use crate::mark::{self, Mark};
use crate::record::{HEAD_BYTES as RECORD_HEAD, Head as Record, Unreadable};
use crate::scan;
use crate::seal::Key;
use crate::segment::{self, HEAD_BYTES, Head};

/// What is known of a segment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SegmentReport {
    /// Its file.
    pub path: PathBuf,
    /// The number of its first record, by its name.
    pub first: u64,
    /// Its length in bytes.
    pub bytes: u64,
    /// When it was begun, in nanoseconds since 1970-01-01 UTC; nothing when its head is damaged.
    pub created_ns: Option<u64>,
    /// Whether its records are sealed.
    pub is_sealed: bool,
    /// Records that are whole.
    pub records: u64,
    /// Events of those.
    pub events: u64,
    /// Events of those that have not been dealt with.
    pub pending_events: u64,
    /// Bytes that belong to no whole record.
    pub damaged_bytes: u64,
}

/// What is known of a buffer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Where it is.
    pub directory: PathBuf,
    /// Up to where all has been dealt with.
    pub mark: Option<Mark>,
    /// Whether a process has it open.
    pub is_in_use: bool,
    /// The oldest first.
    pub segments: Vec<SegmentReport>,
    /// Segments that were set aside.
    pub set_aside: Vec<PathBuf>,
}

impl Report {
    /// Bytes on disk.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.segments.iter().map(|one| one.bytes).sum()
    }

    /// Events that have not been dealt with.
    #[must_use]
    pub fn pending_events(&self) -> u64 {
        self.segments.iter().map(|one| one.pending_events).sum()
    }

    /// Bytes that belong to no whole record.
    #[must_use]
    pub fn damaged_bytes(&self) -> u64 {
        self.segments.iter().map(|one| one.damaged_bytes).sum()
    }
}

/// The buffers below a directory: itself, those of a state directory, or those in it.
///
/// # Errors
/// It cannot be read, or there are none.
pub fn buffers(directory: &Path) -> Result<Vec<PathBuf>> {
    let is_one = |path: &Path| {
        path.join(mark::NAME).is_file()
            || paths(path).is_ok_and(|all| all.iter().any(|one| segment::first_of(one).is_some()))
    };
    if is_one(directory) {
        return Ok(vec![directory.to_path_buf()]);
    }
    let below = directory.join(crate::folder::FOLDER);
    let folder = if below.is_dir() { below } else { directory.to_path_buf() };
    let found: Vec<_> = paths(&folder)?.into_iter().filter(|path| is_one(path)).collect();
    if found.is_empty() {
        return Err(Error::new(ErrorKind::NotFound, "there is no buffer in it"));
    }
    Ok(found)
}

fn paths(directory: &Path) -> Result<Vec<PathBuf>> {
    let mut paths =
        std::fs::read_dir(directory)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

/// What a buffer holds: by the heads of its records, or (`reads_bodies`) by their bodies as well.
///
/// # Errors
/// It cannot be read.
pub fn look(directory: &Path, reads_bodies: bool) -> Result<Report> {
    let mark = mark::look(directory);
    let mut report = Report { directory: directory.to_path_buf(), mark, ..Report::default() };
    report.is_in_use = matches!(lock(directory), Err(OpenError::InUse));
    for path in paths(directory)? {
        if segment::is_set_aside(&path) {
            report.set_aside.push(path);
        } else if let Some(first) = segment::first_of(&path) {
            // A run may have freed it meanwhile.
            match look_at(&path, first, mark, reads_bodies) {
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                segment => report.segments.push(segment?),
            }
        }
    }
    Ok(report)
}

fn look_at(
    path: &Path,
    first: u64,
    mark: Option<Mark>,
    reads_bodies: bool,
) -> Result<SegmentReport> {
    let file = File::open(path)?;
    let (bytes, head) = (file.metadata()?.len(), Head::of(&file).ok());
    let mut report =
        SegmentReport { path: path.to_path_buf(), first, bytes, ..SegmentReport::default() };
    report.created_ns = head.map(|head| head.created_ns);
    report.is_sealed = head.is_some_and(|head| head.is_sealed);
    let damaged = walk(&file, bytes, first, reads_bodies, |_, record| {
        report.records += 1;
        report.events += u64::from(record.events);
        if mark.is_none_or(|mark| record.sequence >= mark.sequence) {
            report.pending_events += u64::from(record.events);
        }
        Ok(())
    })?;
    report.damaged_bytes = damaged + if head.is_none() { HEAD_BYTES.min(bytes) } else { 0 };
    Ok(report)
}

/// Goes over the whole records of a segment; gives the bytes that belong to none.
fn walk(
    file: &File,
    bytes: u64,
    first: u64,
    reads_bodies: bool,
    mut see: impl FnMut(u64, &Record) -> Result<()>,
) -> Result<u64> {
    let (mut at, mut next, mut damaged) = (HEAD_BYTES, first, 0);
    while at < bytes {
        let head = scan::head_at(file, at, bytes)?.filter(|head| head.sequence >= next);
        let whole = match head {
            Some(head) if !reads_bodies || scan::is_whole(file, at, &head)? => Some((at, head)),
            _ => scan::find(file, at + 1, bytes, next)?,
        };
        let Some((place, head)) = whole else {
            return Ok(damaged + bytes - at);
        };
        damaged += place - at;
        see(place, &head)?;
        (at, next) = (place + head.record_bytes(), head.sequence + 1);
    }
    Ok(damaged)
}

fn lock(directory: &Path) -> std::result::Result<Option<File>, OpenError> {
    let file = match OpenOptions::new().write(true).open(directory.join("lock")) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(OpenError::Io(error)),
    };
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Err(OpenError::InUse),
        Err(TryLockError::Error(error)) => Err(OpenError::Io(error)),
    }
}

/// What mending did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mended {
    /// Segments that were written anew, without what was damaged.
    pub segments: Vec<PathBuf>,
    /// Records that were kept in them.
    pub records: u64,
    /// Bytes that were left out.
    pub damaged_bytes: u64,
}

/// Writes damaged segments anew, with the records that are whole; what they were is set aside.
///
/// # Errors
/// The buffer is in use, or cannot be read or written.
pub fn repair(directory: &Path) -> std::result::Result<Mended, OpenError> {
    let _lock = lock(directory)?;
    let mut mended = Mended::default();
    for report in look(directory, true)?.segments {
        if report.damaged_bytes == 0 {
            continue;
        }
        mended.records += mend(directory, &report)?;
        mended.damaged_bytes += report.damaged_bytes;
        mended.segments.push(report.path);
    }
    Ok(mended)
}

fn mend(directory: &Path, report: &SegmentReport) -> Result<u64> {
    let file = File::open(&report.path)?;
    let temporary = report.path.with_extension("mending");
    let mut options = OpenOptions::new();
    let mut new = options.write(true).create(true).truncate(true).mode(0o600).open(&temporary)?;
    // A head that is damaged said nothing but when it was begun, unless its records are sealed: those are lost.
    let head = Head::of(&file).unwrap_or(Head {
        first: report.first,
        created_ns: 0,
        is_sealed: false,
        salt: [0; crate::seal::SALT_BYTES],
    });
    new.write_all(&head.bytes())?;
    let old_mark = mark::look(directory).filter(|mark| mark.segment == report.first);
    let (mut records, mut length, mut new_offset) = (0, HEAD_BYTES, None);
    walk(&file, report.bytes, report.first, true, |place, record| {
        let mut bytes = vec![0; RECORD_HEAD];
        std::os::unix::fs::FileExt::read_exact_at(&file, &mut bytes, place)?;
        bytes.extend_from_slice(&scan::body_of(&file, place, record)?);
        if old_mark.is_some_and(|mark| record.sequence >= mark.sequence) {
            new_offset.get_or_insert(length);
        }
        records += 1;
        length += bytes.len() as u64;
        new.write_all(&bytes)
    })?;
    disk::sync(&new)?;
    segment::set_aside(directory, report.first)?;
    std::fs::rename(temporary, &report.path)?;
    // The same record stands at another place now.
    if let Some(mark) = old_mark {
        let (mut marker, _) = mark::Marker::open(directory)?;
        marker.write(Mark { offset: new_offset.unwrap_or(length), ..mark })?;
    }
    Ok(records)
}

/// Gives the bodies of whole records, the oldest first: of those that have not been dealt with, or (`all`) of all
/// that are still there.
///
/// # Errors
/// The buffer cannot be read, or its records are sealed with another key; or what `give` says.
pub fn export(
    directory: &Path,
    key: Option<&Key>,
    all: bool,
    mut give: impl FnMut(&Record, Vec<u8>) -> Result<()>,
) -> Result<()> {
    let mark = mark::look(directory).filter(|_| !all);
    for path in paths(directory)? {
        let Some(first) = segment::first_of(&path) else { continue };
        let file = File::open(&path)?;
        let seal = Head::of(&file).ok().and_then(|head| head.seal(key));
        let bytes = file.metadata()?.len();
        walk(&file, bytes, first, true, |place, record| {
            if mark.is_some_and(|mark| record.sequence < mark.sequence) {
                return Ok(());
            }
            let body = scan::body_of(&file, place, record)?;
            match record.open(body, seal.as_ref()) {
                Ok(body) => give(record, body),
                Err(Unreadable::Sealed) => {
                    let reason =
                        "its records are sealed, and not with this key: give it with --key";
                    Err(Error::new(ErrorKind::PermissionDenied, reason))
                }
                Err(Unreadable::Damaged) => Ok(()),
            }
        })?;
    }
    Ok(())
}
