//! Acknowledgements: a token travels with every batch and with all that stems from it; when the last
//! copy is gone, the batch is settled, and the source's mark may move.
//!
//! Invariant: the mark of an input only ever covers bytes whose batches, and all batches before them,
//! are settled without failure.

use std::collections::{BTreeSet, VecDeque};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::checkpoint::FileMark;
use crate::clock::{Timestamp, system_time};
use crate::identity::Identity;
use crate::latency::Latency;

/// Which source of the plan a batch came from.
pub type SourceId = usize;

/// A place in a source's input: everything before it has been read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Index of the file among the files of the source, in the order of reading.
    pub file: usize,
    /// Bytes before the place (after decompression).
    pub offset: u64,
    /// Number of the line that starts there, counted from 1.
    pub line: u64,
}

/// Proof that a batch is still under way. Cloning it extends the way; dropping the last clone settles
/// the batch.
#[derive(Clone)]
pub struct Token(Arc<Pending>);

struct Pending {
    ledger: Arc<Ledger>,
    source: SourceId,
    /// The number of the batch within its source.
    number: u64,
    /// Where the batch ends.
    position: Position,
    failed: AtomicBool,
    /// Who else wants to know when the batch is settled.
    witness: Option<Box<dyn Witness>>,
    /// When it was read, in nanoseconds since 1970-01-01 UTC.
    opened_ns: Timestamp,
    /// Operators that judge how it went.
    watchers: Mutex<Vec<Arc<dyn Watcher>>>,
}

/// Judges how batches went: what the operators of quality of service go by.
pub trait Watcher: Send + Sync {
    /// The batch was settled after so many nanoseconds, well or (not `acknowledged`) badly.
    fn answered(&self, took_ns: u64, acknowledged: bool);
}

/// Is told when a batch is settled: how the injector learns when its events have been dealt with.
pub trait Witness: Send + Sync {
    /// All that stems from the batch has got where it should, been left out, or (when not
    /// `acknowledged`) been refused.
    fn settled(&self, acknowledged: bool);
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Token({:?}, batch {})", self.0.source, self.0.number)
    }
}

impl Token {
    /// The source of the batch and its number there, which tell it from all others.
    pub fn identity(&self) -> (SourceId, u64) {
        (self.0.source, self.0.number)
    }

    /// Has a watcher told how the batch goes.
    pub fn watch(&self, watcher: Arc<dyn Watcher>) {
        self.0.watchers.lock().unwrap_or_else(PoisonError::into_inner).push(watcher);
    }

    /// Where the batch ends in its source's input.
    pub fn position(&self) -> Position {
        self.0.position
    }

    /// States that something of the batch did not get where it should: it will never be acknowledged.
    pub fn fail(&self) {
        self.0.failed.store(true, Ordering::Release);
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        let failed = *self.failed.get_mut();
        let took_ns = system_time().saturating_sub(self.opened_ns);
        self.ledger.settle(self.source, self.number, !failed, took_ns);
        if let Some(witness) = &self.witness {
            witness.settled(!failed);
        }
        let watchers = self.watchers.get_mut().unwrap_or_else(PoisonError::into_inner);
        if !watchers.is_empty() {
            watchers.iter().for_each(|watcher| watcher.answered(took_ns, !failed));
        }
    }
}

/// What is known of each source's batches.
pub struct Ledger {
    sources: Mutex<Vec<Account>>,
    /// What sinks have under way that confirm later.
    deliveries: Mutex<Deliveries>,
    /// Signalled when the writer is done with a batch.
    written: Condvar,
}

/// What sinks that confirm later have under way.
#[derive(Default)]
struct Deliveries {
    /// The number of the next delivery.
    next: u64,
    open: BTreeSet<u64>,
    /// One of them failed.
    failed: bool,
    /// Sinks that may give something back although nothing is under way to them.
    holders: usize,
}

/// Says that a sink may still give something back. As long as it is there, sources of what comes back stay.
pub struct Holding(Arc<Ledger>);

impl Drop for Holding {
    fn drop(&mut self) {
        self.0.lock_deliveries().holders -= 1;
    }
}

/// A delivery to a sink that confirms later. It has failed when it is dropped before it
/// [succeeded](Self::succeed).
pub struct Delivery {
    ledger: Arc<Ledger>,
    number: u64,
    succeeded: bool,
}

impl Delivery {
    /// The other side has everything.
    pub fn succeed(&mut self) {
        self.succeeded = true;
    }
}

impl Drop for Delivery {
    fn drop(&mut self) {
        let mut deliveries = self.ledger.lock_deliveries();
        deliveries.open.remove(&self.number);
        deliveries.failed |= !self.succeeded;
    }
}

/// The batches of one source that are not yet covered by its mark.
#[derive(Default)]
struct Account {
    /// How many batches were opened: the number of the next.
    opened: u64,
    /// How many of them were settled, well or badly.
    ended: u64,
    /// The oldest first; the number of the first is `marked`. The value says whether it is settled.
    open: VecDeque<(Position, bool)>,
    /// How many batches the mark covers.
    marked: u64,
    /// How many batches the writer is done with.
    written: u64,
    /// For every file of the source, the last place that the mark covers.
    marks: Vec<Option<Position>>,
    /// For every file of the source, the last place that the writer is done with.
    done: Vec<Option<Position>>,
    /// The files of the source that have been opened, where they can be told from others.
    names: Vec<Option<FileName>>,
    /// How long batches took from being read to being settled well.
    latency: Latency,
    /// The marks of a source whose place this one took, by the number of this one.
    inherited: Vec<FileMark>,
    /// Where the source stands in the program, if that is not its number; nothing when it was closed.
    place: Option<Option<usize>>,
    /// The first batch that failed. The mark never gets there, so what follows is not remembered.
    failed: Option<u64>,
}

/// What identifies a file, and its path.
pub type FileName = (Identity, PathBuf);

/// The state of all sources at one moment.
#[derive(Debug, PartialEq, Eq)]
pub struct Marks {
    /// How far each file is covered, of those that can be told from others.
    pub files: Vec<FileMark>,
    /// The marks cover all that has been written: outputs hold what belongs to them, and no more.
    pub exact: bool,
    /// Batches covered, over all sources; grows when any mark moves.
    pub batches: u64,
    /// Number of the saved state that belongs to them.
    pub state: Option<u64>,
}

impl Ledger {
    /// A ledger for the given number of sources.
    pub fn new(sources: usize) -> Arc<Self> {
        let accounts = std::iter::repeat_with(Account::default).take(sources).collect();
        let (deliveries, written) = (Mutex::default(), Condvar::new());
        Arc::new(Ledger { sources: Mutex::new(accounts), deliveries, written })
    }

    /// One more source; gives its number.
    pub fn add_source(&self) -> SourceId {
        let mut sources = self.lock();
        sources.push(Account::default());
        sources.len() - 1
    }

    /// A source goes on where another one stopped that was closed.
    pub fn follow(&self, source: SourceId, closed: SourceId) {
        let mut sources = self.lock();
        let marks = sources[closed].all_marks(closed, &sources[closed].marks);
        sources[source].inherited = marks;
    }

    /// States where each source stands in the program; checkpoints name sources by that.
    pub fn place(&self, places: &[Option<usize>]) {
        for (account, place) in self.lock().iter_mut().zip(places) {
            account.place = Some(*place);
        }
    }

    /// The marks of a source, and what it has inherited, under its own number.
    pub fn marks_of(&self, source: SourceId) -> Vec<FileMark> {
        let account = &self.lock()[source];
        let marks = account.all_marks(source, &account.marks);
        marks.into_iter().map(|mark| FileMark { source, ..mark }).collect()
    }

    /// Opens an entry for the next batch of `source`, which ends at `position`.
    pub fn open(self: &Arc<Self>, source: SourceId, position: Position) -> Token {
        self.open_watched(source, position, None)
    }

    /// As [`open`](Self::open), for a batch whose settling is reported to a witness, too.
    pub fn open_watched(
        self: &Arc<Self>,
        source: SourceId,
        position: Position,
        witness: Option<Box<dyn Witness>>,
    ) -> Token {
        let mut sources = self.lock();
        let account = &mut sources[source];
        let number = account.opened;
        account.opened += 1;
        if account.failed.is_none() {
            account.open.push_back((position, false));
        }
        let ledger = Arc::clone(self);
        let (opened_ns, watchers) = (system_time(), Mutex::default());
        let failed = AtomicBool::new(false);
        Token(Arc::new(Pending {
            ledger,
            source,
            number,
            position,
            failed,
            witness,
            opened_ns,
            watchers,
        }))
    }

    /// Opens a delivery to a sink that confirms later.
    pub fn begin_delivery(self: &Arc<Self>) -> Delivery {
        let mut deliveries = self.lock_deliveries();
        let number = deliveries.next;
        deliveries.next += 1;
        deliveries.open.insert(number);
        Delivery { ledger: Arc::clone(self), number, succeeded: false }
    }

    /// The number that the next delivery will have.
    pub fn next_delivery(&self) -> u64 {
        self.lock_deliveries().next
    }

    /// Whether all deliveries before the one with this number have ended, and whether none has failed.
    pub fn delivered_before(&self, number: u64) -> (bool, bool) {
        let deliveries = self.lock_deliveries();
        (deliveries.open.first().is_none_or(|first| *first >= number), !deliveries.failed)
    }

    /// Whether nothing is between the sources and the sinks: all that was read is written, and all that was
    /// handed to sinks has been confirmed or has failed. Operators may still keep events.
    pub fn is_quiet(&self) -> bool {
        let all_written = self.lock().iter().all(|account| account.opened == account.written);
        let deliveries = self.lock_deliveries();
        all_written && deliveries.open.is_empty() && deliveries.holders == 0
    }

    /// A sink holds events that it may give back later.
    #[must_use]
    pub fn hold(self: &Arc<Self>) -> Holding {
        self.lock_deliveries().holders += 1;
        Holding(Arc::clone(self))
    }

    fn lock_deliveries(&self) -> MutexGuard<'_, Deliveries> {
        self.deliveries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The writer is done with everything that the batch, which ends at `position`, put out in its
    /// own turn.
    pub fn written(&self, source: SourceId, position: Position) {
        let mut sources = self.lock();
        sources[source].written += 1;
        set(&mut sources[source].done, position);
        drop(sources);
        self.written.notify_all();
    }

    /// Waits until the writer is done with so many batches of a source, or for that long.
    pub fn wait_written(&self, source: SourceId, batches: u64, patience: Duration) -> bool {
        let is_behind = |accounts: &mut Vec<Account>| accounts[source].written < batches;
        let waited = self.written.wait_timeout_while(self.lock(), patience, is_behind);
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }

    /// How far the writer has got in each file, whether operators keep events from there or not:
    /// what they keep is in a state that is saved at the same moment.
    pub fn done(&self) -> Vec<FileMark> {
        let sources = self.lock();
        let accounts = sources.iter().enumerate();
        accounts.flat_map(|(source, one)| one.file_marks(source, &one.done)).collect()
    }

    /// States which file the source reads under the given index.
    pub fn name_file(&self, source: SourceId, file: usize, name: Option<FileName>) {
        let mut sources = self.lock();
        let names = &mut sources[source].names;
        if names.len() <= file {
            names.resize(file + 1, None);
        }
        names[file] = name;
    }

    /// The marks now.
    pub fn marks(&self) -> Marks {
        let sources = self.lock();
        let accounts = sources.iter().enumerate();
        Marks {
            files: accounts.flat_map(|(source, one)| one.file_marks(source, &one.marks)).collect(),
            exact: sources.iter().all(|account| account.marked == account.written),
            batches: sources.iter().map(|account| account.marked).sum(),
            state: None,
        }
    }

    /// Whether all that was read of a source so far has got where it should.
    pub fn is_settled(&self, source: SourceId) -> bool {
        let account = &self.lock()[source];
        account.failed.is_none() && account.open.is_empty()
    }

    /// The last place in a file that its source's mark covers.
    pub fn position(&self, source: SourceId, file: usize) -> Option<Position> {
        self.lock()[source].marks.get(file).copied().flatten()
    }

    /// How long the batches of a source took from being read to being settled well, and how many are under
    /// way now.
    pub fn latency(&self, source: SourceId) -> (Latency, u64) {
        let account = &self.lock()[source];
        (account.latency.clone(), account.opened - account.ended)
    }

    fn settle(&self, source: SourceId, number: u64, good: bool, took_ns: u64) {
        let mut sources = self.lock();
        let account = &mut sources[source];
        account.ended += 1;
        if good {
            account.latency.record(took_ns);
        }
        if account.failed.is_some_and(|failed| number >= failed) {
            return;
        }
        let index = usize::try_from(number - account.marked).expect("an index of a queue");
        if good {
            account.open[index].1 = true;
            account.advance();
        } else {
            account.failed = Some(number);
            account.open.truncate(index);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Account>> {
        self.sources.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Account {
    fn file_marks(
        &self,
        number: SourceId,
        marks: &[Option<Position>],
    ) -> impl Iterator<Item = FileMark> {
        // What a closed source has read is remembered by the source that follows it.
        let place = self.place.unwrap_or(Some(number));
        let placed = place.map(|source| {
            let all = self.all_marks(number, marks).into_iter();
            all.map(move |mark| FileMark { source, ..mark })
        });
        placed.into_iter().flatten()
    }

    /// The marks of the source, and those that it has inherited for files that it has not read itself.
    fn all_marks(&self, number: SourceId, marks: &[Option<Position>]) -> Vec<FileMark> {
        let file = |mark: &FileMark| (mark.identity.device, mark.identity.inode);
        let own: Vec<_> = self.numbered_marks(number, marks).collect();
        let is_read = |mark: &&FileMark| own.iter().any(|one| file(one) == file(mark));
        let inherited: Vec<_> =
            self.inherited.iter().filter(|mark| !is_read(mark)).cloned().collect();
        inherited.into_iter().chain(own).collect()
    }

    fn numbered_marks(
        &self,
        source: SourceId,
        marks: &[Option<Position>],
    ) -> impl Iterator<Item = FileMark> {
        let named = marks.iter().zip(&self.names);
        named.filter_map(move |(position, name)| {
            let (Position { offset, line, .. }, (identity, path)) = ((*position)?, name.as_ref()?);
            Some(FileMark { source, identity: *identity, offset, line, path: path.clone() })
        })
    }

    fn advance(&mut self) {
        while let Some(&(position, true)) = self.open.front() {
            self.open.pop_front();
            set(&mut self.marks, position);
            self.marked += 1;
        }
    }
}

/// Notes a place as the last of its file.
fn set(marks: &mut Vec<Option<Position>>, position: Position) {
    if marks.len() <= position.file {
        marks.resize(position.file + 1, None);
    }
    marks[position.file] = Some(position);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(offset: u64) -> Position {
        Position { file: 0, offset, line: 1 }
    }

    fn mark(ledger: &Ledger) -> Option<u64> {
        ledger.position(0, 0).map(|position| position.offset)
    }

    #[test]
    fn the_mark_moves_over_settled_batches_only_in_their_order() {
        let ledger = Ledger::new(1);
        let first = ledger.open(0, at(10));
        let second = ledger.open(0, at(20));
        let copy = first.clone();
        drop(second);
        drop(first);
        assert_eq!(mark(&ledger), None, "a copy of the first is still under way");
        drop(copy);
        assert_eq!(mark(&ledger), Some(20));
        assert_eq!(ledger.marks().batches, 2);
    }

    #[test]
    fn a_failed_batch_holds_the_mark_for_good() {
        let ledger = Ledger::new(1);
        let tokens: Vec<Token> = (1..=4).map(|number| ledger.open(0, at(number * 10))).collect();
        let mut tokens = tokens.into_iter();
        let (first, second) = (tokens.next().unwrap(), tokens.next().unwrap());
        second.fail();
        drop(second);
        drop(tokens);
        drop(first);
        assert_eq!(mark(&ledger), Some(10));
        drop(ledger.open(0, at(50)));
        assert_eq!(mark(&ledger), Some(10));
    }

    #[test]
    fn marks_are_exact_only_when_they_cover_all_that_is_written() {
        let ledger = Ledger::new(1);
        let (held, second) = (ledger.open(0, at(10)), ledger.open(0, at(20)));
        ledger.written(0, at(10));
        ledger.written(0, at(20));
        drop(second);
        assert!(!ledger.marks().exact, "the first batch is still held by an operator");
        drop(held);
        assert!(ledger.marks().exact);
    }

    #[test]
    fn a_source_goes_on_where_the_one_before_it_stopped() {
        let ledger = Ledger::new(1);
        let identity = |head_bytes| Identity { device: 1, inode: 2, head_bytes, fingerprint: 0 };
        let name = |head_bytes| Some((identity(head_bytes), PathBuf::from("in")));
        let offsets = |source| -> Vec<u64> {
            ledger.marks_of(source).iter().map(|mark| mark.offset).collect()
        };
        ledger.name_file(0, 0, name(0));
        drop(ledger.open(0, at(10)));
        let second = ledger.add_source();
        ledger.follow(second, 0);
        assert_eq!(offsets(second), [10]);
        // It reads the same file, which has grown and so looks different.
        ledger.name_file(second, 0, name(10));
        assert_eq!(offsets(second), [10]);
        drop(ledger.open(second, at(20)));
        let third = ledger.add_source();
        ledger.follow(third, second);
        assert_eq!(offsets(third), [20], "what was read last counts");
        ledger.place(&[None, None, Some(0)]);
        let marks = ledger.marks().files;
        assert_eq!(
            marks.iter().map(|mark| (mark.source, mark.offset)).collect::<Vec<_>>(),
            [(0, 20)]
        );
    }

    #[test]
    fn every_file_of_a_source_has_its_own_mark() {
        let ledger = Ledger::new(1);
        drop(ledger.open(0, at(10)));
        drop(ledger.open(0, Position { file: 2, offset: 5, line: 2 }));
        let offsets = [0, 1, 2].map(|file| ledger.position(0, file).map(|place| place.offset));
        assert_eq!(offsets, [Some(10), None, Some(5)]);
    }
}
