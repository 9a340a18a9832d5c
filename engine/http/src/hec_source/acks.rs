//! The ids of requests whose senders ask later whether they are acknowledged.
//!
//! Invariant: an id is acknowledged once all events of its request are where they should be, and forgotten when
//! its sender has been told. What nobody asks for is forgotten in the end, the oldest first.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use temblor_runtime::intake::Receipt;

/// Ids of one source that may wait: further requests are told to come later while none of them is settled.
pub(crate) const IDS_MAX: usize = 1_000_000;
/// Channels of one source.
pub(crate) const CHANNELS_MAX: usize = 10_000;

/// Under way.
const OPEN: u8 = 0;
/// Where it should be.
const DONE: u8 = 1;
/// Not there: it is never acknowledged, and its sender sends it again.
const FAILED: u8 = 2;

/// The ids of all channels.
#[derive(Default)]
pub(crate) struct Acks {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    channels: HashMap<String, Channel>,
    /// All ids in the order in which they were given.
    order: VecDeque<(String, u64)>,
}

#[derive(Default)]
struct Channel {
    next: u64,
    ids: HashMap<u64, Arc<AtomicU8>>,
}

impl Acks {
    /// The id of a request whose events are under way; none when there are too many.
    pub(crate) fn open(&self, channel: &str, receipt: Receipt) -> Option<u64> {
        let state = Arc::new(AtomicU8::new(OPEN));
        let id = self.enter(channel, &state)?;
        tokio::spawn(async move {
            let settled = receipt.settled().await;
            state.store(if settled { DONE } else { FAILED }, Ordering::Release);
        });
        Some(id)
    }

    fn enter(&self, name: &str, state: &Arc<AtomicU8>) -> Option<u64> {
        let mut all = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if !all.channels.contains_key(name) && all.channels.len() >= CHANNELS_MAX {
            all.channels.retain(|_, channel| !channel.ids.is_empty());
            if all.channels.len() >= CHANNELS_MAX {
                return None;
            }
        }
        while all.order.len() >= IDS_MAX {
            let (oldest, id) = all.order.front().cloned()?;
            let channel = all.channels.get_mut(&oldest);
            let known = channel.as_ref().and_then(|channel| channel.ids.get(&id));
            if known.is_some_and(|state| state.load(Ordering::Acquire) == OPEN) {
                return None;
            }
            if let Some(channel) = channel {
                channel.ids.remove(&id);
            }
            all.order.pop_front();
        }
        let channel = all.channels.entry(name.to_string()).or_default();
        let id = channel.next;
        channel.next += 1;
        channel.ids.insert(id, Arc::clone(state));
        all.order.push_back((name.to_string(), id));
        Some(id)
    }

    /// Whether an id is acknowledged; then it is forgotten.
    pub(crate) fn ask(&self, channel: &str, id: u64) -> bool {
        let mut all = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(channel) = all.channels.get_mut(channel) else { return false };
        let known = channel.ids.get(&id);
        let is_done = known.is_some_and(|state| state.load(Ordering::Acquire) == DONE);
        if is_done {
            channel.ids.remove(&id);
        }
        is_done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(acks: &Acks, channel: &str, state: u8) -> Option<u64> {
        acks.enter(channel, &Arc::new(AtomicU8::new(state)))
    }

    #[test]
    fn an_id_is_acknowledged_once_its_events_are_and_told_once() {
        let acks = Acks::default();
        let state = Arc::new(AtomicU8::new(OPEN));
        let first = acks.enter("a", &state).unwrap();
        let second = open(&acks, "a", FAILED).unwrap();
        assert_eq!((first, second, open(&acks, "b", DONE)), (0, 1, Some(0)));
        assert!(!acks.ask("a", first) && !acks.ask("a", second) && !acks.ask("a", 7));
        state.store(DONE, Ordering::Release);
        assert!(!acks.ask("c", first), "of another channel");
        assert!(acks.ask("a", first) && !acks.ask("a", first));
    }

    #[test]
    fn ids_and_channels_have_bounds() {
        let acks = Acks::default();
        for number in 0..IDS_MAX {
            assert_eq!(
                open(&acks, "a", if number == 0 { DONE } else { OPEN }),
                Some(number as u64)
            );
        }
        assert!(open(&acks, "a", OPEN).is_some(), "the first is done");
        assert_eq!(open(&acks, "a", OPEN), None);
        let acks = Acks::default();
        for number in 0..CHANNELS_MAX {
            assert!(open(&acks, &number.to_string(), OPEN).is_some());
        }
        assert_eq!(open(&acks, "one more", OPEN), None);
    }
}
