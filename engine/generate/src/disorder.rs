//! What a bad network does to a stream: events are lost, doubled, come late, or wait and come together.
//!
//! Invariant: the undisturbed events do not depend on the disorder, so two streams of one seed differ only
//! by what was done to them.

use super::Random;
use super::damage::Damage;
use super::truth::{Fate, Truth};
use std::collections::BTreeMap;

/// How bad it is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Disorder {
    /// Part of the events that never come.
    pub loss: f64,
    /// Part of the events that come twice.
    pub duplicate: f64,
    /// Part of the events that come late.
    pub(crate) reorder: f64,
    /// How many places late at most.
    pub delay: u64,
    /// Part of the events at which a burst begins: they and those behind them wait and come together.
    pub burst: f64,
    /// How many events a burst has.
    pub(crate) burst_events: u64,
    /// How far the sender's clock is ahead, in nanoseconds.
    pub(crate) skew_ns: i64,
    /// What senders do to events.
    pub(crate) damage: Damage,
    /// Number of the stream: streams of one seed suffer differently.
    pub stream: u64,
}

/// Events that are late are held back here.
pub(crate) struct Network {
    disorder: Disorder,
    random: Random,
    damage_random: Random,
    /// By the place at which they come, then by arrival.
    held: BTreeMap<(u64, u64), (Vec<u8>, Fate)>,
    arrivals: u64,
    place: u64,
    /// The place at which the present burst ends.
    burst_end: u64,
    truth: Option<Truth>,
}

impl Disorder {
    /// Whether nothing happens on the way; the clock may still be off.
    #[must_use]
    pub(crate) fn is_none(&self) -> bool {
        let parts = [self.loss, self.duplicate, self.reorder, self.burst];
        parts.iter().all(|part| *part <= 0.0) && self.damage.is_none()
    }
}

impl Network {
    /// A network of the given kind, which tells the truth where it is wanted.
    #[must_use]
    pub(crate) fn new(disorder: Disorder, seed: u64, truth: Option<Truth>) -> Self {
        let stream = disorder.stream.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let random = Random::seeded(seed ^ stream ^ 0xd150);
        let damage_random = Random::seeded(seed ^ stream ^ 0xda3a);
        let held = BTreeMap::new();
        Network {
            disorder,
            random,
            damage_random,
            held,
            arrivals: 0,
            place: 0,
            burst_end: 0,
            truth,
        }
    }

    /// The event in `out[start..]`, made as number `event`, goes through: it stays, goes, or is held, and
    /// what is due follows. Gives the number of events now in `out[start..]`.
    ///
    /// # Errors
    /// When the truth cannot be written.
    pub(crate) fn pass(
        &mut self,
        start: usize,
        event: u64,
        out: &mut Vec<u8>,
    ) -> Result<u64, String> {
        let Disorder { loss, duplicate, reorder, delay, burst, burst_events, damage, .. } =
            self.disorder;
        let draws = [self.random.unit(), self.random.unit(), self.random.unit()];
        self.place += 1;
        let mut fate = Fate { event, ..Fate::default() };
        if draws[0] < loss {
            out.truncate(start);
            self.tell(&Fate { is_lost: true, ..fate })?;
            return self.release(out);
        }
        fate.done = damage.apply(start, &mut self.damage_random, out);
        if burst > 0.0 && self.place > self.burst_end && self.random.unit() < burst {
            self.burst_end = self.place + burst_events.saturating_sub(1);
        }
        if draws[1] < duplicate {
            // The copy takes a way of its own.
            let due = self.place + self.random.below(delay + 1);
            self.hold(
                due,
                out[start..].to_vec(),
                Fate { copy: 1, is_late: due > self.place, ..fate },
            );
        }
        let is_late = draws[2] < reorder;
        let mut due = self.place;
        if is_late {
            due += self.random.below(delay + 1);
        }
        fate.is_late = due > self.place;
        if self.place < self.burst_end {
            fate.is_burst = true;
            due = due.max(self.burst_end);
        }
        if is_late || due > self.place {
            let held = out.split_off(start);
            self.hold(due, held, fate);
            return self.release(out);
        }
        // What waited for this place was made before it.
        let now = out.split_off(start);
        let waited = match self.burst_end == self.place {
            true => self.release(out)?,
            false => 0,
        };
        out.extend_from_slice(&now);
        self.tell(&fate)?;
        Ok(waited + 1 + self.release(out)?)
    }

    /// Lets go of everything; gives the number of events.
    ///
    /// # Errors
    /// When the truth cannot be written.
    pub(crate) fn end(&mut self, out: &mut Vec<u8>) -> Result<u64, String> {
        self.place = u64::MAX;
        let events = self.release(out)?;
        self.flush()?;
        Ok(events)
    }

    /// What was told so far is in its file.
    ///
    /// # Errors
    /// When the truth cannot be written.
    pub(crate) fn flush(&mut self) -> Result<(), String> {
        self.truth.as_mut().map_or(Ok(()), Truth::flush)
    }

    fn tell(&mut self, fate: &Fate) -> Result<(), String> {
        self.truth.as_mut().map_or(Ok(()), |truth| truth.tell(fate))
    }

    fn hold(&mut self, due: u64, event: Vec<u8>, fate: Fate) {
        self.arrivals += 1;
        self.held.insert((due, self.arrivals), (event, fate));
    }

    fn release(&mut self, out: &mut Vec<u8>) -> Result<u64, String> {
        let mut events = 0;
        while let Some(entry) = self.held.first_entry() {
            if entry.key().0 > self.place {
                break;
            }
            let (event, fate) = entry.remove();
            out.extend_from_slice(&event);
            self.tell(&fate)?;
            events += 1;
        }
        Ok(events)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn through(disorder: Disorder, events: u64) -> Vec<u64> {
        let mut network = Network::new(disorder, 3, None);
        let (mut out, mut count) = (Vec::new(), 0);
        for event in 0..events {
            let start = out.len();
            out.extend_from_slice(format!("{event}\n").as_bytes());
            count += network.pass(start, event, &mut out).unwrap();
        }
        count += network.end(&mut out).unwrap();
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

    #[test]
    fn bursts_keep_the_order_and_lose_nothing() {
        let disorder = Disorder { burst: 0.01, burst_events: 50, ..Disorder::default() };
        let numbers = through(disorder, 5_000);
        assert_eq!(numbers, (0..5_000).collect::<Vec<_>>());
        let mut network =
            Network::new(Disorder { burst: 1.0, burst_events: 3, ..disorder }, 1, None);
        let mut counts = Vec::new();
        for event in 0..6 {
            let mut out = b"x\n".to_vec();
            counts.push(network.pass(0, event, &mut out).unwrap());
        }
        assert_eq!(counts, [0, 0, 3, 0, 0, 3]);
    }
}
