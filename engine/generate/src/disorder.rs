//! What a bad network does to a stream: events are lost, doubled, and come late.
//!
//! Invariant: the undisturbed events do not depend on the disorder, so two streams of one seed differ only
//! by what was done to them.

use super::Random;
use std::collections::BTreeMap;

/// How bad it is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Disorder {
    /// Part of the events that never come.
    pub loss: f64,
    /// Part of the events that come twice.
    pub duplicate: f64,
    /// Part of the events that come late.
    pub reorder: f64,
    /// How many places late at most.
    pub delay: u64,
    /// Number of the stream: streams of one seed suffer differently.
    pub stream: u64,
}

/// Events that are late are held back here.
pub struct Network {
    disorder: Disorder,
    random: Random,
    /// By the place at which they come, then by arrival.
    held: BTreeMap<(u64, u64), Vec<u8>>,
    place: u64,
}

impl Disorder {
    /// Whether nothing happens.
    pub fn is_none(&self) -> bool {
        self.loss <= 0.0 && self.duplicate <= 0.0 && self.reorder <= 0.0
    }
}

impl Network {
    /// A network of the given kind.
    pub fn new(disorder: Disorder, seed: u64) -> Self {
        let stream = disorder.stream.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let random = Random::seeded(seed ^ stream ^ 0xd150);
        Network { disorder, random, held: BTreeMap::new(), place: 0 }
    }

    /// The event in `out[start..]` goes through: it stays, goes, or is held, and what is due follows.
    /// Gives the number of events now in `out[start..]`.
    pub fn pass(&mut self, start: usize, out: &mut Vec<u8>) -> u64 {
        let Disorder { loss, duplicate, reorder, delay, .. } = self.disorder;
        let draws = [self.random.unit(), self.random.unit(), self.random.unit()];
        self.place += 1;
        let mut events = 1;
        if draws[0] < loss {
            out.truncate(start);
            events = 0;
        } else {
            if draws[1] < duplicate {
                // The copy takes a way of its own.
                self.hold(out[start..].to_vec(), delay);
            }
            if draws[2] < reorder {
                let event = out.split_off(start);
                self.hold(event, delay);
                events = 0;
            }
        }
        events + self.release(Some(self.place), out)
    }

    /// Lets go of everything; gives the number of events.
    pub fn end(&mut self, out: &mut Vec<u8>) -> u64 {
        self.release(None, out)
    }

    fn hold(&mut self, event: Vec<u8>, delay: u64) {
        let due = self.place + self.random.below(delay + 1);
        let number = self.held.len() as u64 + (self.place << 20);
        self.held.insert((due, number), event);
    }

    fn release(&mut self, place: Option<u64>, out: &mut Vec<u8>) -> u64 {
        let mut events = 0;
        while let Some(entry) = self.held.first_entry() {
            if place.is_some_and(|place| entry.key().0 > place) {
                break;
            }
            out.extend_from_slice(&entry.remove());
            events += 1;
        }
        events
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn through(disorder: Disorder, events: u64) -> Vec<u64> {
        let mut network = Network::new(disorder, 3);
        let (mut out, mut count) = (Vec::new(), 0);
        for event in 0..events {
            let start = out.len();
            out.extend_from_slice(format!("{event}\n").as_bytes());
            count += network.pass(start, &mut out);
        }
        count += network.end(&mut out);
        let text = String::from_utf8(out).unwrap();
        let numbers: Vec<u64> = text.lines().map(|line| line.parse().unwrap()).collect();
        assert_eq!(numbers.len() as u64, count);
        numbers
    }

    #[test]
    fn loss_and_duplication_have_their_share() {
        let lossy = through(Disorder { loss: 0.1, ..Disorder::default() }, 10_000);
        assert!(lossy.len().abs_diff(9_000) < 150 && lossy.is_sorted(), "{}", lossy.len());
        let doubled = through(Disorder { duplicate: 0.1, ..Disorder::default() }, 10_000);
        assert!(doubled.len().abs_diff(11_000) < 150 && doubled.is_sorted());
    }

    #[test]
    fn late_events_all_come_and_none_later_than_the_delay() {
        let disorder = Disorder { reorder: 0.3, delay: 7, ..Disorder::default() };
        let mut numbers = through(disorder, 5_000);
        assert!(!numbers.is_sorted());
        let late = |(place, event): (usize, &u64)| (place as u64).saturating_sub(*event);
        assert!(numbers.iter().enumerate().map(late).max() <= Some(7));
        numbers.sort_unstable();
        assert_eq!(numbers, (0..5_000).collect::<Vec<_>>());
        let other = Disorder { stream: 2, ..disorder };
        assert_ne!(through(other, 5_000), through(disorder, 5_000));
    }
}
