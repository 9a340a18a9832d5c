//! The queue in memory: bounded in bytes and in events; who gives way when it is full is a rule of the program.
//!
//! Invariant: bytes and events are those of what waits; whoever leaves is either taken, or counted as shed.

use std::collections::{BTreeMap, VecDeque};

use temblor_runtime::ack::{Delivery, Token};
use temblor_runtime::outputs::Chunk;

use crate::parcel;

/// Priorities that are told apart: those beyond count as the nearest.
pub const PRIORITY_MAX: i32 = 1000;
/// When events are shed for room, so much more of the queue is freed, as a part of it: otherwise each event that
/// comes would look through the queue.
const FREED_PART: usize = 10;

/// Events that wait, and what they stem from.
pub struct Waiting {
    /// The place that the events chose.
    pub place: String,
    /// The events.
    pub chunk: Chunk,
    /// The priority of each event; empty where nobody asks.
    pub priorities: Vec<i32>,
    /// What they stem from.
    pub tokens: Vec<Token>,
    /// Its place among all that sinks have under way.
    pub delivery: Delivery,
}

impl Waiting {
    /// The events are left out on purpose: they are done.
    pub fn shed(mut self) {
        self.tokens.clear();
        self.delivery.succeed();
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        // What was taken or shed has none left.
        self.tokens.iter().for_each(Token::fail);
    }
}

/// The queue.
#[derive(Default)]
pub struct Queue {
    waiting: VecDeque<Waiting>,
    bytes: usize,
    events: u64,
}

impl Queue {
    /// Whether so much more fits. What is longer than the whole queue passes through an empty one.
    #[must_use]
    pub fn has_room(&self, chunk: &Chunk, bytes_max: usize, events_max: u64) -> bool {
        let fits =
            self.bytes + chunk.bytes.len() <= bytes_max && self.events + chunk.events <= events_max;
        fits || self.waiting.is_empty()
    }

    /// Whether nothing waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Adds to the end.
    pub fn push(&mut self, waiting: Waiting) {
        self.bytes += waiting.chunk.bytes.len();
        self.events += waiting.chunk.events;
        self.waiting.push_back(waiting);
    }

    /// Takes what has waited longest.
    pub fn pop(&mut self) -> Option<Waiting> {
        let waiting = self.waiting.pop_front()?;
        self.bytes -= waiting.chunk.bytes.len();
        self.events -= waiting.chunk.events;
        Some(waiting)
    }

    /// Leaves events of the least priority out, among those that wait and those that come, until there is room
    /// for the rest; of one priority the oldest go first. Says how many went.
    pub fn shed(&mut self, coming: &mut Waiting, bytes_max: usize, events_max: u64) -> u64 {
        let mut levels: BTreeMap<i32, (usize, u64)> = BTreeMap::new();
        for one in self.waiting.iter().chain([&*coming]) {
            for (index, priority) in one.priorities.iter().enumerate() {
                let level = levels.entry(*priority).or_default();
                level.0 += event_bytes(&one.chunk, index);
                level.1 += 1;
            }
        }
        let spare = (bytes_max / FREED_PART, events_max / FREED_PART as u64);
        let over = |have: usize, most: usize| have.saturating_sub(most);
        let coming_bytes = coming.chunk.bytes.len();
        let mut bytes = over(self.bytes + coming_bytes + spare.0, bytes_max);
        let events_now = self.events + coming.chunk.events + spare.1;
        let mut events = events_now.saturating_sub(events_max);
        let mut shed = 0;
        for (priority, _) in levels {
            if bytes == 0 && events == 0 {
                break;
            }
            for one in self.waiting.iter_mut().chain([&mut *coming]) {
                let (gone_bytes, gone) = one.leave_out(priority, bytes, events);
                bytes = bytes.saturating_sub(gone_bytes);
                events = events.saturating_sub(gone);
                shed += gone;
                if bytes == 0 && events == 0 {
                    break;
                }
            }
        }
        self.clear_away();
        shed
    }

    /// Lets those go of which nothing is left, and counts anew.
    fn clear_away(&mut self) {
        for one in std::mem::take(&mut self.waiting) {
            match one.chunk.events {
                0 => one.shed(),
                _ => self.waiting.push_back(one),
            }
        }
        self.bytes = self.waiting.iter().map(|one| one.chunk.bytes.len()).sum();
        self.events = self.waiting.iter().map(|one| one.chunk.events).sum();
    }
}

impl Waiting {
    /// Leaves events of a priority out until so many bytes and events have gone; gives how many have.
    fn leave_out(&mut self, priority: i32, bytes: usize, events: u64) -> (usize, u64) {
        let (mut gone_bytes, mut gone) = (0, Vec::new());
        for (index, _) in self.priorities.iter().enumerate().filter(|(_, one)| **one == priority) {
            if gone_bytes >= bytes && gone.len() as u64 >= events {
                break;
            }
            gone_bytes += event_bytes(&self.chunk, index);
            gone.push(index);
        }
        if !gone.is_empty() {
            let stays = |index: usize| gone.binary_search(&index).is_err();
            parcel::retain(&mut self.chunk, stays);
            let mut index = 0;
            self.priorities.retain(|_| {
                index += 1;
                stays(index - 1)
            });
        }
        (gone_bytes, gone.len() as u64)
    }
}

fn event_bytes(chunk: &Chunk, index: usize) -> usize {
    let start = index.checked_sub(1).map_or(0, |before| chunk.ends[before]);
    chunk.ends[index] - start
}

/// What a number says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// The higher, the more important.
    Priority,
    /// The severity of syslog: the lower, the more important.
    Severity,
}

/// The priority that a text stands for: a number, or a severity by its name (RFC 5424, table 2, and what logs
/// call it); the more severe, the higher. What is neither has the least severity that is no debugging.
#[must_use]
pub fn priority_of(text: Option<&str>, measure: Measure) -> i32 {
    const SEVERITIES: [(&[&str], i32); 8] = [
        (&["emerg", "emergency", "panic"], 7),
        (&["alert"], 6),
        (&["crit", "critical", "fatal"], 5),
        (&["err", "error", "severe"], 4),
        (&["warning", "warn"], 3),
        (&["notice"], 2),
        (&["info", "informational", "information"], 1),
        (&["debug", "trace", "fine", "verbose"], 0),
    ];
    const UNKNOWN: i32 = 1;
    const MOST: f64 = PRIORITY_MAX as f64;
    let Some(text) = text.map(|text| text.trim().trim_matches('"')) else { return UNKNOWN };
    match (text.parse::<f64>(), measure) {
        (Ok(number), Measure::Priority) => return number.clamp(-MOST, MOST).round() as i32,
        (Ok(number), Measure::Severity) => return (7.0 - number).clamp(0.0, 7.0).round() as i32,
        (Err(_), _) => {}
    }
    let known = SEVERITIES
        .iter()
        .find(|(names, _)| names.iter().any(|name| name.eq_ignore_ascii_case(text)));
    known.map_or(UNKNOWN, |(_, priority)| *priority)
}

#[cfg(test)]
mod tests {
    use super::*;
    use temblor_runtime::ack::{Ledger, Position};

    fn waiting(ledger: &std::sync::Arc<Ledger>, events: &[(&str, i32)]) -> Waiting {
        let mut chunk = Chunk::default();
        for (text, _) in events {
            chunk.bytes.extend_from_slice(text.as_bytes());
            chunk.events += 1;
            chunk.end_event();
        }
        let priorities = events.iter().map(|(_, priority)| *priority).collect();
        let tokens = vec![ledger.open(0, Position { file: 0, offset: 0, line: 1 })];
        Waiting {
            place: String::new(),
            chunk,
            priorities,
            tokens,
            delivery: ledger.begin_delivery(),
        }
    }

    #[test]
    fn the_least_important_go_first_and_of_equals_the_oldest() {
        let ledger = Ledger::new(1);
        let mut queue = Queue::default();
        queue.push(waiting(&ledger, &[("a1", 1), ("b5", 5), ("c1", 1)]));
        queue.push(waiting(&ledger, &[("d0", 0), ("e1", 1)]));
        let mut coming = waiting(&ledger, &[("f5", 5), ("g0", 0)]);
        assert!(!queue.has_room(&coming.chunk, 1000, 5));
        let shed = queue.shed(&mut coming, 1000, 4);
        assert_eq!(shed, 3, "both of priority 0, and the oldest of priority 1");
        let left =
            queue.waiting.iter().map(|one| String::from_utf8_lossy(&one.chunk.bytes).into_owned());
        assert_eq!(left.collect::<Vec<_>>(), ["b5c1", "e1"]);
        assert_eq!(coming.chunk.bytes, b"f5");
        assert_eq!((queue.bytes, queue.events), (6, 3));
    }

    #[test]
    fn parcels_of_which_nothing_is_left_are_done() {
        let ledger = Ledger::new(1);
        let mut queue = Queue::default();
        queue.push(waiting(&ledger, &[("a", 0)]));
        let mut coming = waiting(&ledger, &[("b", 9)]);
        assert_eq!(queue.shed(&mut coming, 1, 1), 1);
        assert!(queue.is_empty());
        assert_eq!(ledger.marks().batches, 1, "its batch is settled");
        coming.shed();
        assert_eq!(ledger.marks().batches, 2);
    }

    #[test]
    fn priorities_are_numbers_or_severities() {
        let of = |text| priority_of(Some(text), Measure::Priority);
        assert!(
            of("emerg") > of("CRITICAL") && of("crit") > of("error") && of("warn") > of("info")
        );
        assert!(of("info") > of("debug"));
        assert_eq!((of("7.4"), of("1e9"), of("-1e9")), (7, PRIORITY_MAX, -PRIORITY_MAX));
        assert_eq!((of("?"), priority_of(None, Measure::Priority)), (1, 1));
        let of = |text| priority_of(Some(text), Measure::Severity);
        assert!(of("0") > of("3") && of("\"err\"") == of("3") && of("7") == of("debug"));
    }
}
