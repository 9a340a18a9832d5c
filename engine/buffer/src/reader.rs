//! The end of a buffer that is read: records in their order, past all that cannot be read.
//!
//! Invariant: there is one reader; it never stops for a damaged place, and tells each of them once.

use std::fs::File;
use std::io::Result;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::holdings::{Fate, Given, Segment};
use crate::log::Log;
use crate::mark::Mark;
use crate::record::{self, Unreadable};
use crate::scan;
use crate::seal::Seal;
use crate::segment::{self, Head};

/// A record that is given out. It is to be [settled](Log::settle).
#[derive(Debug, PartialEq, Eq)]
pub struct Record {
    /// Its number.
    pub sequence: u64,
    /// How many events it holds.
    pub events: u32,
    /// What was taken in.
    pub body: Vec<u8>,
}

/// What could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The segment, by the number of its first record.
    pub segment: u64,
    /// Where in the segment, in bytes.
    pub offset: u64,
    /// Bytes that were passed over.
    pub bytes: u64,
    /// Records that are missing, as far as their numbers tell.
    pub records: u64,
    /// Why.
    pub reason: String,
}

/// What reading gives.
#[derive(Debug, PartialEq, Eq)]
pub enum Item {
    /// The next record.
    Record(Record),
    /// A place that was passed over.
    Lost(Loss),
    /// There is nothing now.
    Nothing,
    /// There is nothing, and nothing will come.
    End,
}

/// Reads a buffer.
#[derive(Debug)]
pub struct Reader {
    log: Arc<Log>,
    open: Option<Open>,
}

/// The segment that is being read.
#[derive(Debug)]
struct Open {
    first: u64,
    file: File,
    seal: Option<Seal>,
}

/// What is to be read next.
enum Next {
    /// A record that failed.
    Again(usize, Mark),
    /// From here to the end of what the segment holds; whether another segment follows.
    Onward(Mark, Segment, bool),
    /// The segment is not there: reading goes on here.
    Missing(Mark),
    Nothing,
    End,
}

/// What stands at a place of a segment.
enum Read {
    /// A whole record, and its body.
    Whole(record::Head, Vec<u8>),
    /// A whole record that was sealed with another key.
    Sealed(record::Head),
    /// No record; the next whole one begins there.
    Gap(u64, record::Head),
    /// No record, and none behind it.
    Nothing,
}

/// Why a record is passed over that nobody can open.
const SEALED: &str = "was sealed with another key";

impl Reader {
    /// Reads from where an earlier run got to.
    #[must_use]
    pub fn new(log: Arc<Log>) -> Self {
        Self { log, open: None }
    }

    /// The next record, waiting for it for that long.
    pub fn next(&mut self, patience: Duration) -> Item {
        let deadline = Instant::now() + patience;
        loop {
            let rings = self.log.bell().rings();
            let retry_at = self.log.lock().retry_at;
            match self.next_now() {
                Item::Nothing => {}
                item => return item,
            }
            let now = Instant::now();
            if now >= deadline {
                return Item::Nothing;
            }
            let until = retry_at.map_or(deadline, |at| at.min(deadline));
            self.log.bell().wait(rings, until.saturating_duration_since(now));
        }
    }

    /// The next record, if there is one now.
    pub fn next_now(&mut self) -> Item {
        loop {
            match self.look() {
                Next::Nothing => return Item::Nothing,
                Next::End => return Item::End,
                Next::Missing(mark) => self.move_to(mark),
                Next::Again(index, place) => {
                    if let Some(item) = self.read_again(index, place) {
                        return item;
                    }
                }
                Next::Onward(mark, segment, has_next) => {
                    if let Some(item) = self.read_onward(mark, segment, has_next) {
                        return item;
                    }
                }
            }
        }
    }

    fn look(&self) -> Next {
        let mut state = self.log.lock();
        if let Some(at) = state.retry_at {
            // Order: nothing new is given out before what failed.
            if Instant::now() < at {
                return Next::Nothing;
            }
            match state.account.iter().position(|given| given.fate == Fate::Failed) {
                Some(index) => return Next::Again(index, state.account[index].place),
                None => state.retry_at = None,
            }
        }
        if state.abandoned {
            return Next::End;
        }
        let read = state.read;
        let index = state.segments.partition_point(|segment| segment.first < read.segment);
        match state.segments.get(index) {
            Some(segment) if segment.first == read.segment => {
                let has_next = index + 1 < state.segments.len();
                if read.offset < segment.bytes || has_next {
                    return Next::Onward(read, *segment, has_next);
                }
                // The rest of the last segment is no record; the next one gets a new segment.
                state.read.sequence = state.read.sequence.max(state.next);
            }
            Some(_) => return Next::Missing(state.start_of_next(read.segment)),
            None => {}
        }
        let is_over = state.closed && state.account.is_empty();
        if is_over { Next::End } else { Next::Nothing }
    }

    fn move_to(&mut self, mark: Mark) {
        let mut state = self.log.lock();
        state.read = mark;
        state.advance(self.log.directory());
    }

    /// Reads from a place on in a segment; nothing, when it is over.
    fn read_onward(&mut self, mark: Mark, segment: Segment, has_next: bool) -> Option<Item> {
        if mark.offset >= segment.bytes {
            let next = self.log.lock().start_of_next(segment.first);
            self.open = None;
            self.move_to(next);
            return None;
        }
        let read = self.open(segment.first).and_then(|()| self.read_at(mark, segment.bytes));
        match read {
            Ok(Read::Whole(head, body)) => Some(self.give(mark, &head, body)),
            Ok(Read::Sealed(head)) => {
                let after = after(mark, &head);
                Some(self.lose(mark, after, 1, SEALED))
            }
            Ok(Read::Gap(place, head)) => {
                let missing = head.sequence.saturating_sub(mark.sequence);
                let end = Mark { sequence: head.sequence, offset: place, ..mark };
                Some(self.lose(mark, end, missing, "is damaged"))
            }
            // What a killed process did not finish, or damage.
            Ok(Read::Nothing) => {
                Some(self.lose_rest(mark, segment, has_next, "is no whole record"))
            }
            Err(error) => {
                let reason = format!("cannot be read: {error}");
                Some(self.lose_rest(mark, segment, has_next, &reason))
            }
        }
    }

    /// What stands at a place.
    fn read_at(&self, mark: Mark, limit: u64) -> Result<Read> {
        let Some(open) = &self.open else { return Ok(Read::Nothing) };
        let head = scan::head_at(&open.file, mark.offset, limit)?;
        if let Some(head) = head.filter(|head| head.sequence >= mark.sequence) {
            let stored = scan::body_of(&open.file, mark.offset, &head)?;
            match head.open(stored, open.seal.as_ref()) {
                Ok(body) => return Ok(Read::Whole(head, body)),
                Err(Unreadable::Sealed) => return Ok(Read::Sealed(head)),
                Err(Unreadable::Damaged) => {}
            }
        }
        let next = scan::find(&open.file, mark.offset + 1, limit, mark.sequence)?;
        Ok(next.map_or(Read::Nothing, |(place, head)| Read::Gap(place, head)))
    }

    fn give(&self, mark: Mark, head: &record::Head, body: Vec<u8>) -> Item {
        let place = Mark { sequence: head.sequence, ..mark };
        let bytes = body.len() as u64;
        let mut state = self.log.lock();
        state.read = after(mark, head);
        state.account.push_back(Given { place, bytes, fate: Fate::UnderWay });
        Item::Record(Record { sequence: head.sequence, events: head.events, body })
    }

    fn open(&mut self, first: u64) -> Result<()> {
        if self.open.as_ref().is_some_and(|open| open.first == first) {
            return Ok(());
        }
        self.open = None;
        let file = File::open(segment::path(self.log.directory(), first))?;
        // Records tell by themselves whether they are whole: a damaged head hides none but sealed ones.
        let seal = Head::of(&file).ok().and_then(|head| head.seal(self.log.key()));
        self.open = Some(Open { first, file, seal });
        Ok(())
    }

    /// Passes over the rest of a segment.
    fn lose_rest(&mut self, from: Mark, segment: Segment, has_next: bool, reason: &str) -> Item {
        let mut end = Mark { offset: segment.bytes, ..from };
        if !has_next {
            // The next record that is written is the next that is read.
            end.sequence = self.log.lock().next;
        }
        self.lose(from, end, 0, reason)
    }

    /// Passes over what cannot be read; its segment will be set aside.
    fn lose(&mut self, from: Mark, to: Mark, records: u64, reason: &str) -> Item {
        let mut state = self.log.lock();
        let segment = state.segments.iter_mut().find(|one| one.first == from.segment);
        if let Some(segment) = segment {
            segment.damaged = true;
        }
        state.read = to;
        state.advance(self.log.directory());
        let (segment, offset) = (from.segment, from.offset);
        let bytes = to.offset.saturating_sub(from.offset);
        let reason = reason.to_string();
        Item::Lost(Loss { segment, offset, bytes, records, reason })
    }

    /// Reads a record that failed once more.
    fn read_again(&mut self, index: usize, place: Mark) -> Option<Item> {
        let read = self.open(place.segment).map_err(|error| error.to_string()).and_then(|()| {
            let file = &self.open.as_ref().ok_or("is not open")?.file;
            let head = scan::head_at(file, place.offset, u64::MAX - record::BODY_BYTES_MAX as u64);
            let head = head.map_err(|error| error.to_string())?.ok_or("is damaged")?;
            let stored =
                scan::body_of(file, place.offset, &head).map_err(|error| error.to_string())?;
            let seal = self.open.as_ref().and_then(|open| open.seal.as_ref());
            Ok((head, head.open(stored, seal).map_err(|_| "is damaged")?))
        });
        let mut state = self.log.lock();
        let given = state.account.get_mut(index).filter(|one| one.place == place)?;
        match read {
            Ok((head, body)) => {
                given.fate = Fate::UnderWay;
                Some(Item::Record(Record { sequence: head.sequence, events: head.events, body }))
            }
            Err(reason) => {
                given.fate = Fate::Settled;
                let bytes = given.bytes;
                state.advance(self.log.directory());
                let Mark { segment, offset, .. } = place;
                Some(Item::Lost(Loss { segment, offset, bytes, records: 1, reason }))
            }
        }
    }
}

/// The place behind a record.
fn after(mark: Mark, head: &record::Head) -> Mark {
    Mark { sequence: head.sequence + 1, offset: mark.offset + head.record_bytes(), ..mark }
}
