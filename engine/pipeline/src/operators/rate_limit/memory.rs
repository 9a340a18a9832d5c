//! What a rate limit remembers: a hash and a time for each key. The time is when the allowance of the
//! key will be whole again; a key whose time has come is as good as one that was never seen.

use crate::store::Table;
use temblor_runtime::limits::{EVICTION_SAMPLE, EXPIRY_SAMPLE};

/// For each key the theoretical arrival time: when its allowance will be whole again.
#[derive(Debug, Default)]
pub(super) struct State {
    pub arrivals: Table<u64>,
    pub evicted: u64,
    /// Where the search for keys to forget goes on.
    hand: usize,
    /// For measuring events.
    pub text: Vec<u8>,
}

impl State {
    /// Forgets some keys whose allowance is whole: they are as good as new. If the table is full
    /// all the same, one of a few keys gives way, that which lacks least. The hand goes on from
    /// event to event, so it comes to every key.
    pub fn make_room(&mut self, now_ns: u64, keys_max: usize) {
        for _ in 0..EXPIRY_SAMPLE {
            match self.next() {
                Some((hash, arrival_ns)) if arrival_ns <= now_ns => {
                    self.arrivals.remove(hash);
                }
                _ => self.hand += 1,
            }
        }
        while self.arrivals.len() >= keys_max {
            self.evict(now_ns);
        }
    }

    fn evict(&mut self, now_ns: u64) {
        let mut fullest: Option<(u128, u64)> = None;
        let mut looked = 0;
        while looked < EVICTION_SAMPLE {
            if let Some((hash, arrival_ns)) = self.next() {
                looked += 1;
                if fullest.is_none_or(|(_, other_ns)| arrival_ns < other_ns) {
                    fullest = Some((hash, arrival_ns));
                }
            }
            self.hand += 1;
        }
        if let Some((hash, arrival_ns)) = fullest {
            self.arrivals.remove(hash);
            self.evicted += u64::from(arrival_ns > now_ns);
        }
    }

    fn next(&mut self) -> Option<(u128, u64)> {
        if self.hand >= self.arrivals.places() {
            self.hand = 0;
        }
        self.arrivals.at(self.hand)
    }
}
