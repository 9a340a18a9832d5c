//! How far each partition has been dealt with.
//!
//! Invariant: the place to commit moves over batches that have settled well, in the order of the partition,
//! and never over one that has not.

use std::collections::{HashMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A topic and the number of a partition.
pub type Partition = (String, i32);

/// The part of a batch that came from one partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// The partition.
    pub partition: Partition,
    /// The offset of the first message.
    pub first: i64,
    /// The offset behind the last message.
    pub next: i64,
    /// Which assignment of the partition it belongs to.
    term: u64,
}

impl Span {
    /// One message.
    #[must_use]
    pub fn of(partition: Partition, offset: i64) -> Self {
        Self { partition, first: offset, next: offset + 1, term: 0 }
    }
}

#[derive(Default)]
struct Track {
    term: u64,
    /// The ends of the spans under way with their beginnings, and whether they have settled well.
    open: VecDeque<(i64, i64, bool)>,
    /// What can be committed and has not been taken.
    done: Option<i64>,
    /// Where the first span that went badly begins.
    failed: Option<i64>,
}

/// All partitions of a source.
#[derive(Default)]
pub struct Progress {
    state: Mutex<State>,
    settled: Condvar,
}

#[derive(Default)]
struct State {
    tracks: HashMap<Partition, Track>,
    terms: u64,
}

impl Progress {
    /// Spans are handed over.
    pub fn begin(&self, spans: &mut [Span]) {
        let mut state = self.lock();
        for span in spans {
            let State { tracks, terms } = &mut *state;
            let track = tracks.entry(span.partition.clone()).or_insert_with(|| {
                *terms += 1;
                Track { term: *terms, ..Track::default() }
            });
            span.term = track.term;
            track.open.push_back((span.first, span.next, false));
        }
    }

    /// Spans have settled.
    pub fn settle(&self, spans: &[Span], good: bool) {
        let mut state = self.lock();
        for span in spans {
            let Some(track) = state.tracks.get_mut(&span.partition) else { continue };
            if track.term != span.term {
                continue;
            }
            let found = track.open.iter_mut().find(|(first, ..)| *first == span.first);
            let Some(entry) = found else { continue };
            if good {
                entry.2 = true;
                while let Some((_, next, true)) = track.open.front() {
                    track.done = Some(*next);
                    track.open.pop_front();
                }
            } else {
                track.failed = Some(track.failed.map_or(span.first, |one| one.min(span.first)));
            }
        }
        drop(state);
        self.settled.notify_all();
    }

    /// What can be committed since the last call.
    pub fn take_done(&self) -> Vec<(Partition, i64)> {
        let mut state = self.lock();
        let done = state.tracks.iter_mut();
        done.filter_map(|(partition, track)| Some((partition.clone(), track.done.take()?)))
            .collect()
    }

    /// Where partitions have to be read again. What is under way of them does not count any more.
    pub fn take_failed(&self) -> Vec<(Partition, i64)> {
        let mut state = self.lock();
        let State { tracks, terms } = &mut *state;
        let mut failed = Vec::new();
        for (partition, track) in tracks {
            if let Some(offset) = track.failed.take() {
                *terms += 1;
                track.term = *terms;
                track.open.clear();
                failed.push((partition.clone(), offset));
            }
        }
        failed
    }

    /// Waits until nothing of the partitions is under way, or for that long.
    pub fn wait(&self, partitions: &[Partition], patience: Duration) {
        let deadline = Instant::now() + patience;
        let mut state = self.lock();
        loop {
            let busy = partitions.iter().filter_map(|partition| state.tracks.get(partition));
            let is_busy =
                busy.into_iter().any(|track| !track.open.is_empty() && track.failed.is_none());
            let left = deadline.saturating_duration_since(Instant::now());
            if !is_busy || left.is_zero() {
                return;
            }
            let waited = self.settled.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Waits until nothing is under way, or for that long.
    pub fn wait_all(&self, patience: Duration) {
        let partitions: Vec<_> = self.lock().tracks.keys().cloned().collect();
        self.wait(&partitions, patience);
    }

    /// Partitions have gone to another member.
    pub fn forget(&self, partitions: &[Partition]) {
        let mut state = self.lock();
        partitions.iter().for_each(|partition| drop(state.tracks.remove(partition)));
    }

    /// All partitions are read again from somewhere else: what is under way of them does not count any more.
    pub fn forget_all(&self) {
        self.lock().tracks.clear();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(number: i32, first: i64, next: i64) -> Span {
        let partition = ("t".to_string(), number);
        Span { next, ..Span::of(partition, first) }
    }

    fn begun(progress: &Progress, one: Span) -> Span {
        let mut spans = [one];
        progress.begin(&mut spans);
        spans[0].clone()
    }

    #[test]
    fn a_partition_is_committed_in_its_order() {
        let progress = Progress::default();
        let first = begun(&progress, span(0, 5, 8));
        let second = begun(&progress, span(0, 8, 9));
        let other = begun(&progress, span(1, 0, 2));
        progress.settle(&[second], true);
        assert_eq!(progress.take_done(), []);
        progress.settle(&[first], true);
        assert_eq!(progress.take_done(), [(("t".to_string(), 0), 9)]);
        assert_eq!(progress.take_done(), []);
        progress.settle(&[other], true);
        assert_eq!(progress.take_done(), [(("t".to_string(), 1), 2)]);
    }

    #[test]
    fn what_failed_is_read_again_and_what_was_under_way_counts_no_more() {
        let progress = Progress::default();
        let (first, second) = (begun(&progress, span(0, 0, 3)), begun(&progress, span(0, 3, 6)));
        progress.settle(&[first], false);
        assert_eq!(progress.take_failed(), [(("t".to_string(), 0), 0)]);
        assert_eq!(progress.take_failed(), []);
        let again = begun(&progress, span(0, 0, 3));
        progress.settle(&[second], true);
        assert_eq!(progress.take_done(), []);
        progress.settle(&[again], true);
        assert_eq!(progress.take_done(), [(("t".to_string(), 0), 3)]);
    }

    #[test]
    fn a_partition_that_has_gone_is_not_committed() {
        let progress = Progress::default();
        let lost = begun(&progress, span(0, 0, 3));
        progress.wait(&[("t".to_string(), 0)], Duration::ZERO);
        progress.forget(&[("t".to_string(), 0)]);
        let back = begun(&progress, span(0, 0, 2));
        progress.settle(&[lost], true);
        assert_eq!(progress.take_done(), []);
        progress.settle(&[back], true);
        assert_eq!(progress.take_done(), [(("t".to_string(), 0), 2)]);
        progress.wait_all(Duration::from_secs(60));
    }
}
