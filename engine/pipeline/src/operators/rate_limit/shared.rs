//! `rate_limit … store`: a limit that several programs share. Tokens come from the store in leases, so that there
//! is one request for many events.
//!
//! Invariant: a token is leased to one program; what a program has leased and not used, at most one lease for each
//! key, is lost after a second. So all programs together let through at most what one would, and one lease of each
//! of them more in any time; and at least what one would but for those leases, and for what comes within a pause.

use super::memory::State;
use super::{Over, RateLimit, Verdict};
use crate::event::Event;
use crate::operator::{ELSE, Emitter, OUT, Operator, Surroundings};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use temblor_lang::error::EvalError;
use temblor_runtime::shared::{SharedTokens, Want};

/// How long leased tokens are good for, in nanoseconds.
const LEASE_NS: u64 = 1_000_000_000;
/// A key that had too few tokens is not asked for again for so long, in nanoseconds.
const PAUSE_NS: u64 = 50_000_000;
/// A store that was down is not asked again for so long, in nanoseconds.
const REST_NS: u64 = 1_000_000_000;
/// A lease is this part of the burst, unless the program says otherwise.
const LEASES_PER_BURST: u64 = 100;

/// What becomes of events while the store is down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WhenDown {
    /// Each program keeps the limit by itself.
    Alone,
    /// They go through.
    Pass,
}

#[derive(Debug)]
pub(super) struct SharedLimit {
    pub limit: RateLimit,
    pub store: Arc<dyn SharedTokens>,
    /// Tokens of a lease.
    pub lease: Option<u64>,
    pub when_down: WhenDown,
    pub purse: Mutex<Purse>,
}

/// What has been leased.
#[derive(Debug, Default)]
pub(super) struct Purse {
    keys: HashMap<u128, Leased>,
    /// The store was down; it is asked again then.
    rests_until_ns: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Leased {
    tokens: u64,
    good_until_ns: u64,
    pause_until_ns: u64,
}

impl Leased {
    fn tokens(self, now_ns: u64) -> u64 {
        if now_ns < self.good_until_ns { self.tokens } else { 0 }
    }
}

/// What is asked of a key.
#[derive(Clone, Copy, Debug)]
struct Need {
    key: u128,
    tokens: u64,
    rate: u64,
}

impl SharedLimit {
    /// Asks for what is missing of all of these, in one request.
    fn fill(&self, needs: &[Need], now_ns: u64) {
        let wants: Vec<Want> = {
            let purse = self.purse();
            if now_ns < purse.rests_until_ns {
                return;
            }
            needs.iter().filter_map(|need| self.want(*need, &purse, now_ns)).collect()
        };
        if wants.is_empty() {
            return;
        }
        let leased = self.store.lease(&wants);
        let mut purse = self.purse();
        let Ok(given) = leased else {
            purse.rests_until_ns = now_ns.saturating_add(REST_NS);
            return;
        };
        purse.rests_until_ns = 0;
        for (want, given) in wants.iter().zip(given) {
            purse.make_room(now_ns, self.limit.keys_max);
            let leased = purse.keys.entry(want.key).or_default();
            leased.tokens = leased.tokens(now_ns) + given;
            leased.good_until_ns = now_ns.saturating_add(LEASE_NS);
            if given < want.tokens {
                leased.pause_until_ns = now_ns.saturating_add(PAUSE_NS);
            }
        }
    }

    fn want(&self, need: Need, purse: &Purse, now_ns: u64) -> Option<Want> {
        let leased = purse.keys.get(&need.key).copied().unwrap_or_default();
        let missing = need.tokens.saturating_sub(leased.tokens(now_ns));
        if missing == 0 || need.rate == 0 || now_ns < leased.pause_until_ns {
            return None;
        }
        let burst = self.limit.burst.unwrap_or(need.rate);
        let lease = self.lease.unwrap_or(burst / LEASES_PER_BURST).max(1);
        let tokens = missing.max(lease).min(burst);
        let per_ns = self.limit.per_ns;
        Some(Want { key: need.key, tokens, rate: need.rate, per_ns, burst })
    }

    /// Uses tokens of a key, if there are enough.
    fn spend(&self, need: Need, now_ns: u64) -> bool {
        if need.tokens == 0 {
            return true;
        }
        let mut purse = self.purse();
        let Some(leased) = purse.keys.get_mut(&need.key) else { return false };
        if leased.tokens(now_ns) < need.tokens {
            return false;
        }
        leased.tokens -= need.tokens;
        true
    }

    fn conforms(&self, state: &mut State, need: Need, now_ns: u64) -> bool {
        if self.spend(need, now_ns) {
            return true;
        }
        self.fill(&[need], now_ns);
        if self.spend(need, now_ns) {
            return true;
        }
        if now_ns >= self.purse().rests_until_ns {
            return false;
        }
        match self.when_down {
            WhenDown::Pass => true,
            WhenDown::Alone => {
                let alone = self.limit.decide_for(state, need.key, now_ns, need.rate, need.tokens);
                alone == Verdict::Conforms
            }
        }
    }

    fn need<'a>(
        &'a self,
        text: &mut Vec<u8>,
        event: &Event<'a>,
        around: &Surroundings<'a>,
    ) -> Result<Need, EvalError> {
        let key = self.limit.key.hash(event, around)?;
        let rate = self.limit.rate_of(event, around)?;
        let tokens = self.limit.cost_of(text, event, around)?;
        Ok(Need { key, tokens, rate })
    }

    fn purse(&self) -> MutexGuard<'_, Purse> {
        self.purse.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Purse {
    /// Forgets keys whose leases are over; all of them, where that is not enough.
    fn make_room(&mut self, now_ns: u64, keys_max: usize) {
        if self.keys.len() < keys_max {
            return;
        }
        self.keys.retain(|_, leased| now_ns < leased.good_until_ns);
        if self.keys.len() >= keys_max {
            self.keys.clear();
        }
    }
}

impl Operator for SharedLimit {
    type State = State;

    fn start(&self) -> State {
        State::default()
    }

    fn looks_ahead(&self) -> bool {
        true
    }

    fn look_ahead<'a>(&'a self, _: &str, events: Vec<Event<'a>>, around: &Surroundings<'a>) {
        let (mut text, mut places) = (Vec::new(), HashMap::new());
        let mut needs: Vec<Need> = Vec::new();
        for event in &events {
            // An event whose key fails does so again in its turn.
            let Ok(need) = self.need(&mut text, event, around) else { continue };
            let place = *places.entry(need.key).or_insert(needs.len());
            match needs.get_mut(place) {
                Some(known) => known.tokens = known.tokens.saturating_add(need.tokens),
                None => needs.push(need),
            }
        }
        self.fill(&needs, around.now_ns);
    }

    fn process<'a>(
        &'a self,
        state: &mut State,
        _: &str,
        event: Event<'a>,
        around: &Surroundings<'a>,
        out: &mut Emitter<'a>,
    ) -> Result<(), EvalError> {
        let mut text = std::mem::take(&mut state.text);
        let need = self.need(&mut text, &event, around);
        state.text = text;
        match (self.conforms(state, need?, around.now_ns), self.limit.over) {
            (true, _) => out.emit(OUT, event),
            (false, Over::Route) => out.emit(ELSE, event),
            (false, Over::Discard | Over::Block) => out.count_drop(),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operators::harness::formula;
    use crate::operators::key::Group;
    use temblor_lang::builtin::{Call, Facts};
    use temblor_lang::value::{Arena, Value};

    /// A store that gives so many tokens in all, or is down.
    #[derive(Debug)]
    struct Fake {
        left: Mutex<Option<u64>>,
        asked: Mutex<u64>,
    }

    impl Fake {
        fn of(left: Option<u64>) -> Arc<Self> {
            Arc::new(Self { left: Mutex::new(left), asked: Mutex::new(0) })
        }
    }

    impl SharedTokens for Fake {
        fn lease(&self, wants: &[Want]) -> Result<Vec<u64>, String> {
            *self.asked.lock().unwrap() += 1;
            let mut left = self.left.lock().unwrap();
            let left = left.as_mut().ok_or("it is down")?;
            let give = |want: &Want| {
                let given = want.tokens.min(*left);
                *left -= given;
                given
            };
            Ok(wants.iter().map(give).collect())
        }
    }

    fn limit(store: &Arc<Fake>, rate: u64, when_down: WhenDown) -> SharedLimit {
        let limit = RateLimit {
            key: Group(None),
            rate: Arc::new(formula("100")),
            constant_rate: Some(rate),
            per_ns: 3_600_000_000_000,
            burst: None,
            cost: super::super::Cost::One,
            over: Over::Route,
            keys_max: 10,
        };
        let store: Arc<dyn SharedTokens> = Arc::<Fake>::clone(store);
        SharedLimit { limit, store, lease: None, when_down, purse: Mutex::default() }
    }

    /// Sends events one by one at times; gives back how many went through.
    fn send(limit: &SharedLimit, state: &mut State, times_ns: impl Iterator<Item = u64>) -> usize {
        let mut through = 0;
        for now_ns in times_ns {
            let (arena, facts) = (Arena::new(), Facts::default());
            let call = Call { arena: &arena, facts: &facts };
            let around = Surroundings { call, now_ns, token: None };
            let event = Event::new(Value::UInt(1), Value::Null, 0);
            let mut out = Emitter::new(&arena);
            limit.process(state, "in", event, &around, &mut out).unwrap();
            through += out.take().filter(|(port, _)| *port == OUT).count();
        }
        through
    }

    #[test]
    fn tokens_come_in_leases_and_an_empty_store_is_asked_once_in_a_pause() {
        let store = Fake::of(Some(500));
        let limit = limit(&store, 1_000, WhenDown::Alone);
        let through = send(&limit, &mut State::default(), (0..10_000).map(|n| 1 + n));
        assert_eq!(through, 500);
        // 1,000 / 100 tokens each, and once in vain.
        assert_eq!(*store.asked.lock().unwrap(), 51);
        send(&limit, &mut State::default(), std::iter::once(2 * PAUSE_NS));
        assert_eq!(*store.asked.lock().unwrap(), 52);
    }

    #[test]
    fn a_lease_that_is_not_used_in_time_is_lost() {
        let store = Fake::of(Some(20));
        let limit = limit(&store, 1_000, WhenDown::Alone);
        let times = [1, 1, LEASE_NS + 1].into_iter().chain((0..20).map(|n| LEASE_NS + 2 + n));
        // Two of the first ten, all of the second.
        assert_eq!(send(&limit, &mut State::default(), times), 12);
    }

    #[test]
    fn while_the_store_is_down_each_keeps_the_limit_alone_or_lets_all_through() {
        let down = Fake::of(None);
        let alone = limit(&down, 100, WhenDown::Alone);
        assert_eq!(send(&alone, &mut State::default(), (0..1_000).map(|n| 1 + n)), 100);
        let pass = limit(&down, 100, WhenDown::Pass);
        assert_eq!(send(&pass, &mut State::default(), (0..1_000).map(|n| 1 + n)), 1_000);
        assert_eq!(*down.asked.lock().unwrap(), 2, "it rests");
    }
}
