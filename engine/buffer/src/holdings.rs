//! What a buffer holds: its segments, the records that were given out, and the mark behind which all is settled.
//!
//! Invariant: the mark never passes a record that was given out and is not settled, and a segment goes only when the
//! mark has passed it.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::Error as IoError;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::mark::{Mark, Marker};
use crate::scan;
use crate::segment::{self, HEAD_BYTES};

/// Segments that are set aside and kept; older ones are removed.
pub const SET_ASIDE_MAX: usize = 8;
/// The first pause before a record that failed is given out again; each is twice the one before.
pub(crate) const PAUSE_FIRST: Duration = Duration::from_millis(100);
/// The longest of these pauses: a peer that is back has its events within five seconds.
pub(crate) const PAUSE_MAX: Duration = Duration::from_secs(4);

/// What is known of the segments.
#[derive(Debug)]
pub(crate) struct State {
    /// The oldest first.
    pub segments: VecDeque<Segment>,
    /// The number of the next record that is written.
    pub next: u64,
    /// Where reading goes on.
    pub read: Mark,
    /// Records that were given out, the oldest first.
    pub account: VecDeque<Given>,
    /// What has been settled.
    pub mark: Mark,
    pub marker: Marker,
    /// Nothing more is written.
    pub closed: bool,
    /// Nobody reads any more.
    pub abandoned: bool,
    /// When records that failed are given out again, and the pause after that.
    pub retry_at: Option<Instant>,
    pub pause: Duration,
    /// When a record was settled last.
    pub progress: Instant,
}

/// A segment, as the list of them knows it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    /// The number of its first record.
    pub first: u64,
    /// Its length in bytes, whole records only where this run writes it.
    pub bytes: u64,
    /// A part of it could not be read.
    pub damaged: bool,
}

/// A record that was given out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Given {
    /// Where it is.
    pub place: Mark,
    /// Its length as a body, in bytes.
    pub bytes: u64,
    pub fate: Fate,
}

/// What became of a record that was given out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    UnderWay,
    Settled,
    Failed,
}

impl State {
    pub(crate) fn bytes(&self) -> u64 {
        self.segments.iter().map(|segment| segment.bytes).sum()
    }

    pub(crate) fn is_drained(&self) -> bool {
        self.account.is_empty() && self.read.sequence >= self.next
    }

    /// Where the segment behind this one begins; where the next one will, if there is none.
    pub(crate) fn start_of_next(&self, segment: u64) -> Mark {
        let next =
            self.segments.iter().find(|one| one.first > segment).map_or(self.next, |one| one.first);
        Mark { sequence: next, segment: next, offset: HEAD_BYTES }
    }

    /// Moves the mark over what is settled, and frees the segments that lie before it.
    pub(crate) fn advance(&mut self, directory: &Path) {
        while self.account.front().is_some_and(|given| given.fate == Fate::Settled) {
            self.account.pop_front();
        }
        let mark = self.account.front().map_or(self.read, |given| given.place);
        if mark == self.mark {
            return;
        }
        self.mark = mark;
        // A mark that is not written is an old one: what lies behind it is given out again.
        let _ = self.marker.write(mark);
        while let Some(oldest) = self.segments.front().copied()
            && oldest.first < mark.segment
        {
            self.segments.pop_front();
            free(directory, oldest);
        }
    }

    /// Frees all segments: nothing in them is wanted any more.
    pub(crate) fn free_all(&mut self, directory: &Path) {
        self.read = Mark { sequence: self.next, segment: self.next, offset: HEAD_BYTES };
        for segment in self.segments.iter().filter(|segment| !segment.damaged) {
            // A reader may still have it open: its bytes are to be free at once, not when that closes it.
            let path = segment::path(directory, segment.first);
            let _ = OpenOptions::new().write(true).open(path).and_then(|file| file.set_len(0));
        }
        self.advance(directory);
        self.segments.drain(..).for_each(|segment| free(directory, segment));
    }
}

/// Removes a segment; one that could not be read wholly is set aside.
pub(crate) fn free(directory: &Path, segment: Segment) {
    if !segment.damaged || segment::set_aside(directory, segment.first).is_err() {
        // What cannot be removed lies before the mark: the next run tries again.
        let _ = std::fs::remove_file(segment::path(directory, segment.first));
        return;
    }
    let mut aside = names(directory).unwrap_or_default();
    aside.retain(|path| segment::is_set_aside(path));
    aside.sort();
    for path in aside.iter().take(aside.len().saturating_sub(SET_ASIDE_MAX)) {
        let _ = std::fs::remove_file(path);
    }
}

fn names(directory: &Path) -> Result<Vec<PathBuf>, IoError> {
    std::fs::read_dir(directory)?.map(|entry| Ok(entry?.path())).collect()
}

/// The segments of a directory, by their names.
pub(crate) fn list(directory: &Path) -> Result<VecDeque<Segment>, IoError> {
    let mut segments = Vec::new();
    for path in names(directory)? {
        if let Some(first) = segment::first_of(&path) {
            let bytes = std::fs::metadata(&path)?.len();
            segments.push(Segment { first, bytes, damaged: false });
        }
    }
    segments.sort_by_key(|segment| segment.first);
    Ok(segments.into())
}

/// Where reading begins; segments that lie before are freed.
pub(crate) fn begin(
    directory: &Path,
    segments: &mut VecDeque<Segment>,
    mark: Option<Mark>,
) -> Result<Mark, IoError> {
    let Some(mark) = mark else {
        let first = segments.front().map_or(0, |segment| segment.first);
        return Ok(Mark { sequence: first, segment: first, offset: HEAD_BYTES });
    };
    while let Some(oldest) = segments.front().copied()
        && oldest.first < mark.segment
    {
        std::fs::remove_file(segment::path(directory, oldest.first))?;
        segments.pop_front();
    }
    Ok(match segments.front() {
        Some(front) if front.first > mark.segment => {
            Mark { sequence: front.first, segment: front.first, offset: HEAD_BYTES }
        }
        _ => mark,
    })
}

/// The number that the next record gets: behind all that may be there.
pub(crate) fn next_sequence(
    directory: &Path,
    segments: &VecDeque<Segment>,
    mark: Mark,
) -> Result<u64, IoError> {
    let Some(last) = segments.back() else { return Ok(mark.sequence) };
    let file = File::open(segment::path(directory, last.first))?;
    let seen = scan::heads(&file, HEAD_BYTES, last.bytes, last.first)?;
    // A segment of this number is there, even when it holds nothing.
    Ok(seen.next.max(last.first + 1).max(mark.sequence))
}
