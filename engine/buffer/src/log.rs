//! The buffer itself: segments in a directory, written at one end, given out and settled at the other.
//!
//! Invariant: a segment is freed only when each record of it has been settled, was unreadable, or was given up
//! by a rule; and nothing but the names and lengths of segments is needed to begin.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Error as IoError, ErrorKind};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::fs::statvfs;
use temblor_runtime::clock::system_time;
use temblor_runtime::disk;

use crate::bell::Bell;
use crate::holdings::{
    Fate, PAUSE_FIRST, PAUSE_MAX, Segment, State, begin, free, list, next_sequence,
};
use crate::mark::Marker;
use crate::record::{BODY_BYTES_MAX, Packer};
use crate::scan;
use crate::seal::Key;
use crate::segment::{self, HEAD_BYTES, Writer};

/// The longest segment, in bytes, but for one with a single longer record.
pub const SEGMENT_BYTES_MAX: u64 = 64 << 20;
/// The smallest buffer, in bytes.
pub const BYTES_MIN: u64 = 64 << 10;
/// A buffer has room for so many segments, so that what is settled is soon freed.
const SEGMENTS_WANTED: u64 = 8;
/// Bytes that are written between two looks at the free space.
const LOOK_BYTES: u64 = 4 << 20;

/// When a record counts as kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// When the operating system has it: a process that is killed loses nothing, a failure of power may.
    #[default]
    System,
    /// When the disk says that it has it.
    Disk,
}

/// How a buffer is kept.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Bytes on disk, at the most.
    pub bytes_max: u64,
    /// Bytes that others must be left on the disk.
    pub reserve_bytes: u64,
    /// Whether records are compressed.
    pub compresses: bool,
    /// When a record counts as kept.
    pub durability: Durability,
    /// What records are sealed with.
    pub key: Option<Key>,
}

impl Settings {
    fn segment_bytes(&self) -> u64 {
        (self.bytes_max / SEGMENTS_WANTED).clamp(1, SEGMENT_BYTES_MAX)
    }
}

/// Why a record was not taken.
#[derive(Debug)]
pub enum Refused {
    /// The buffer holds as much as it may.
    Full,
    /// The disk is full, or left to others, or fails; it may have room later.
    NoSpace(IoError),
    /// It never will be: it is longer than any record may be.
    TooLong,
}

/// Why a buffer cannot be opened.
#[derive(Debug)]
pub enum OpenError {
    /// Another process has it open.
    InUse,
    /// The directory cannot be used.
    Io(IoError),
}

impl From<IoError> for OpenError {
    fn from(error: IoError) -> Self {
        Self::Io(error)
    }
}

/// A buffer on disk.
#[derive(Debug)]
pub struct Log {
    /// Where it is.
    directory: PathBuf,
    settings: Settings,
    appender: Mutex<Appender>,
    state: Mutex<State>,
    /// Rung when there is something to read, room, or the end.
    bell: Arc<Bell>,
    /// Holds others off while it is open.
    _lock: File,
}

/// The end that is written.
#[derive(Debug, Default)]
struct Appender {
    packer: Packer,
    writer: Option<Writer>,
    /// Bytes written since the free space was looked at.
    unlooked: u64,
    /// The disk had no room the last time.
    is_short: bool,
}

/// How much a buffer holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fill {
    /// Bytes on disk.
    pub bytes: u64,
    /// Records that have not been settled, as far as their numbers tell.
    pub records: u64,
    /// Segments.
    pub segments: usize,
}

impl Log {
    /// Opens the buffer in a directory, which is made where there is none.
    ///
    /// # Errors
    /// It is in use, or the directory cannot be used.
    pub fn open(
        directory: &Path,
        settings: Settings,
        bell: Arc<Bell>,
    ) -> Result<Arc<Self>, OpenError> {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
        let lock = lock(directory)?;
        let (marker, mark) = Marker::open(directory)?;
        let mut segments = list(directory)?;
        let mark = begin(directory, &mut segments, mark)?;
        let next = next_sequence(directory, &segments, mark)?;
        let packer = Packer::new(settings.compresses);
        let state = State {
            segments,
            next,
            read: mark,
            account: VecDeque::new(),
            mark,
            marker,
            closed: false,
            abandoned: false,
            retry_at: None,
            pause: PAUSE_FIRST,
            progress: Instant::now(),
        };
        Ok(Arc::new(Self {
            directory: directory.to_path_buf(),
            settings,
            appender: Mutex::new(Appender { packer, ..Appender::default() }),
            state: Mutex::new(state),
            bell,
            _lock: lock,
        }))
    }

    /// Where it is.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    pub(crate) fn key(&self) -> Option<&Key> {
        self.settings.key.as_ref()
    }

    /// Takes a record.
    ///
    /// # Errors
    /// Why it was not taken; nothing of it is kept then.
    pub fn append(&self, body: &[u8], events: u32) -> Result<u64, Refused> {
        if body.len() > BODY_BYTES_MAX {
            return Err(Refused::TooLong);
        }
        let mut appender = self.appender.lock().unwrap_or_else(PoisonError::into_inner);
        let appended = self.append_to(&mut appender, body, events);
        appender.is_short = matches!(appended, Err(Refused::NoSpace(_)));
        appended
    }

    fn append_to(&self, appender: &mut Appender, body: &[u8], events: u32) -> Result<u64, Refused> {
        let sequence = self.claim(appender, body.len() as u64)?;
        let Appender { packer, writer, unlooked, .. } = appender;
        let begun = match writer {
            Some(writer) => writer,
            None => {
                let key = self.settings.key.as_ref();
                let begun = Writer::begin(&self.directory, sequence, system_time(), key);
                let begun = begun.map_err(Refused::NoSpace)?;
                if self.settings.durability == Durability::Disk {
                    disk::sync_directory(&self.directory).map_err(Refused::NoSpace)?;
                }
                let segment = Segment { first: sequence, bytes: HEAD_BYTES, damaged: false };
                self.lock().segments.push_back(segment);
                writer.insert(begun)
            }
        };
        let record = packer.pack(sequence, events, body, begun.seal.as_ref());
        begun.append(record).map_err(Refused::NoSpace)?;
        if self.settings.durability == Durability::Disk
            && let Err(error) = begun.sync()
        {
            return Err(Refused::NoSpace(error));
        }
        *unlooked += record.len() as u64;
        let length = begun.length;
        let mut state = self.lock();
        state.next = sequence + 1;
        if let Some(last) = state.segments.back_mut() {
            last.bytes = length;
        }
        self.tell(state);
        Ok(sequence)
    }

    /// The number of the next record, once there is room for it.
    fn claim(&self, appender: &mut Appender, bytes: u64) -> Result<u64, Refused> {
        let mut state = self.lock();
        if state.is_drained() {
            // What is settled only takes room away, whichever run has written it.
            let is_long =
                state.segments.back().is_some_and(|last| last.bytes > HEAD_BYTES + LOOK_BYTES);
            if is_long || appender.is_short || !self.fits(&state, bytes) {
                appender.writer = None;
                state.free_all(&self.directory);
            }
        }
        if !self.fits(&state, bytes) {
            return Err(Refused::Full);
        }
        let sequence = state.next;
        drop(state);
        let is_long = |writer: &Writer| writer.length >= self.settings.segment_bytes();
        if appender.writer.as_ref().is_some_and(is_long) {
            appender.writer = None;
        }
        if appender.writer.is_none() || appender.unlooked >= LOOK_BYTES {
            self.look_at_space(bytes).map_err(Refused::NoSpace)?;
            appender.unlooked = 0;
        }
        Ok(sequence)
    }

    fn fits(&self, state: &State, bytes: u64) -> bool {
        let held = state.bytes();
        held + bytes <= self.settings.bytes_max || held <= HEAD_BYTES
    }

    /// Whether what others need stays free on the disk.
    fn look_at_space(&self, bytes: u64) -> Result<(), IoError> {
        let disk = statvfs(&self.directory)?;
        let free = disk.f_bavail.saturating_mul(disk.f_frsize);
        if free >= self.settings.reserve_bytes.saturating_add(bytes) {
            return Ok(());
        }
        let kept = self.settings.reserve_bytes;
        let reason =
            format!("{free} bytes are free on the disk, and {kept} must remain for others");
        Err(IoError::new(ErrorKind::StorageFull, reason))
    }

    /// Forgets segments that somebody else has removed; says whether there were any.
    pub fn forget_missing(&self) -> bool {
        let mut appender = self.appender.lock().unwrap_or_else(PoisonError::into_inner);
        let mut state = self.lock();
        let before = state.segments.len();
        let is_there = |segment: &Segment| segment::path(&self.directory, segment.first).exists();
        state.segments.retain(is_there);
        if state
            .segments
            .back()
            .is_none_or(|last| appender.writer.as_ref().is_some_and(|one| one.first != last.first))
        {
            appender.writer = None;
        }
        state.segments.len() < before
    }

    /// Gives up the oldest segment; says how many events of it had not been given out.
    pub fn drop_oldest(&self) -> u64 {
        let mut appender = self.appender.lock().unwrap_or_else(PoisonError::into_inner);
        let mut state = self.lock();
        let Some(oldest) = state.segments.front().copied() else { return 0 };
        if state.segments.len() == 1 {
            appender.writer = None;
        }
        let from = if state.read.segment == oldest.first { state.read.offset } else { HEAD_BYTES };
        let unread = state.read.segment <= oldest.first;
        let heads = File::open(segment::path(&self.directory, oldest.first))
            .and_then(|file| scan::heads(&file, from, oldest.bytes, oldest.first));
        let events = heads.map_or(0, |heads| heads.events);
        state.segments.pop_front();
        if unread {
            state.read = state.start_of_next(oldest.first);
        }
        free(&self.directory, oldest);
        state.advance(&self.directory);
        self.tell(state);
        if unread { events } else { 0 }
    }

    /// A record that was given out has got where it should, or has failed and is to be given out again.
    pub fn settle(&self, sequence: u64, good: bool) {
        let mut state = self.lock();
        let found = state.account.binary_search_by_key(&sequence, |given| given.place.sequence);
        let Ok(index) = found else { return };
        if good {
            state.account[index].fate = Fate::Settled;
            (state.pause, state.progress) = (PAUSE_FIRST, Instant::now());
            state.advance(&self.directory);
        } else {
            state.account[index].fate = Fate::Failed;
            let now = Instant::now();
            if state.retry_at.is_none_or(|at| at <= now) {
                state.retry_at = Some(now + state.pause);
                state.pause = (state.pause * 2).min(PAUSE_MAX);
            }
        }
        self.tell(state);
    }

    /// How much it holds.
    #[must_use]
    pub fn fill(&self) -> Fill {
        let state = self.lock();
        let records = state.next.saturating_sub(state.mark.sequence);
        Fill { bytes: state.bytes(), records, segments: state.segments.len() }
    }

    /// Whether all that was taken has been settled.
    #[must_use]
    pub fn is_drained(&self) -> bool {
        self.lock().is_drained()
    }

    /// Whether all that was taken has been given out.
    #[must_use]
    pub fn is_read(&self) -> bool {
        let state = self.lock();
        state.read.sequence >= state.next && state.retry_at.is_none()
    }

    /// Bytes of the bodies that were given out and not settled.
    #[must_use]
    pub fn bytes_under_way(&self) -> u64 {
        let state = self.lock();
        let under_way = state.account.iter().filter(|given| given.fate == Fate::UnderWay);
        under_way.map(|given| given.bytes).sum()
    }

    /// How long no record has been settled.
    #[must_use]
    pub fn stuck_for(&self) -> Duration {
        self.lock().progress.elapsed()
    }

    /// Nothing more is written; what is there is still given out.
    pub fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        self.tell(state);
    }

    /// Whether nothing more is written.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.lock().closed
    }

    /// Nobody reads any more.
    pub fn abandon(&self) {
        let mut state = self.lock();
        (state.closed, state.abandoned) = (true, true);
        if state.is_drained() {
            state.free_all(&self.directory);
        }
        self.tell(state);
    }

    /// What is rung when something changes.
    #[must_use]
    pub fn bell(&self) -> &Bell {
        &self.bell
    }

    fn tell(&self, state: MutexGuard<'_, State>) {
        drop(state);
        self.bell.ring();
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn lock(directory: &Path) -> Result<File, OpenError> {
    let mut options = OpenOptions::new();
    let file = options.write(true).create(true).truncate(false).open(directory.join("lock"))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(OpenError::InUse),
        Err(TryLockError::Error(error)) => Err(OpenError::Io(error)),
    }
}
