//! Which requests of a sink may go now: as many at the same time as its peer bears, and none but a trial to a peer
//! that is down.
//!
//! Invariant: each request that has gone ends in a verdict; one that is dropped on its way frees its place, and never
//! leaves a circuit half open.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use temblor_runtime::error::Error;
use temblor_runtime::outlet::Desk;
use tokio::sync::Notify;

use crate::breaker::{Breaker, Leave, Turned};
use crate::pace::Pace;
use crate::retry::{self, Retry};

/// Peers of one sink whose circuits are told apart; those beyond share one.
pub const PEERS_MAX: usize = 256;

/// What a sink asks before its requests go.
pub struct Admission {
    desk: Desk,
    retry: Retry,
    places: Mutex<Places>,
    /// Signalled when a place is free.
    freed: Notify,
    gates: Mutex<BTreeMap<String, Arc<Gate>>>,
}

struct Places {
    pace: Pace,
    under_way: usize,
}

/// A place among the requests that may be under way; it is free again when this is dropped.
pub struct Place(Arc<Admission>);

/// The way to one peer.
struct Gate {
    state: Mutex<State>,
    /// Signalled when the circuit has changed, or a trial has ended.
    changed: Notify,
}

struct State {
    breaker: Breaker,
    /// Trials that have failed.
    failed_trials: u64,
    /// Why the last one has failed.
    reason: Option<Error>,
}

/// What is wrong with the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It works, and has too much to do; it may have said how long to wait.
    Busy(Option<Duration>),
    /// It has not answered, or cannot serve; it may have said how long to wait.
    Broken(Option<Duration>),
}

/// The attempts of one request.
pub struct Attempts {
    admission: Arc<Admission>,
    gate: Arc<Gate>,
    retry: Retry,
}

/// A request that is under way.
pub struct Turn {
    admission: Arc<Admission>,
    gate: Arc<Gate>,
    began: Instant,
    is_trial: bool,
    is_over: bool,
}

impl Admission {
    /// For a sink with at most so many requests at the same time.
    #[must_use]
    pub fn new(most: usize, retry: &Retry, desk: &Desk) -> Arc<Self> {
        let places = Places { pace: Pace::new(1, most.max(1)), under_way: 0 };
        desk.counters().pacing.limit(places.pace.limit());
        Arc::new(Self {
            desk: desk.clone(),
            retry: retry.clone(),
            places: Mutex::new(places),
            freed: Notify::new(),
            gates: Mutex::default(),
        })
    }

    /// Waits for a place among the requests that may be under way.
    pub async fn place(self: &Arc<Self>) -> Place {
        loop {
            let freed = self.freed.notified();
            tokio::pin!(freed);
            freed.as_mut().enable();
            {
                let mut places = self.places();
                if places.under_way < places.pace.limit() {
                    places.under_way += 1;
                    return Place(Arc::clone(self));
                }
            }
            freed.await;
        }
    }

    /// The attempts of a request to this peer.
    #[must_use]
    pub fn attempts(self: &Arc<Self>, peer: &str) -> Attempts {
        Attempts { admission: Arc::clone(self), gate: self.gate(peer), retry: self.retry.clone() }
    }

    fn gate(&self, peer: &str) -> Arc<Gate> {
        let mut gates = self.gates.lock().unwrap_or_else(PoisonError::into_inner);
        let name = if gates.len() < PEERS_MAX || gates.contains_key(peer) { peer } else { "" };
        let gate = gates.entry(name.to_string()).or_insert_with(|| {
            let breaker = Breaker::new(self.retry.clone());
            let state = Mutex::new(State { breaker, failed_trials: 0, reason: None });
            Arc::new(Gate { state, changed: Notify::new() })
        });
        Arc::clone(gate)
    }

    fn pace(&self, judge: impl FnOnce(&mut Pace, usize)) {
        let mut places = self.places();
        let (before, under_way) = (places.pace.limit(), places.under_way);
        judge(&mut places.pace, under_way);
        let after = places.pace.limit();
        drop(places);
        if after != before {
            self.desk.counters().pacing.limit(after);
        }
        if after > before {
            self.freed.notify_one();
        }
    }

    fn places(&self) -> MutexGuard<'_, Places> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut places = self.0.places();
        places.under_way -= 1;
        drop(places);
        self.0.freed.notify_one();
    }
}

impl Gate {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Attempts {
    /// Waits until the request may go.
    ///
    /// # Errors
    /// The last error of the peer, when trials have failed as often as the request may be tried.
    pub async fn turn(&mut self) -> Result<Turn, Error> {
        let mut seen = self.gate.lock().failed_trials;
        loop {
            let changed = self.gate.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            let leave = {
                let mut state = self.gate.lock();
                if state.failed_trials > seen {
                    // Somebody else has tried for this request, too.
                    seen = state.failed_trials;
                    if let (None, Some(reason)) = (self.retry.fail(0.0), &state.reason) {
                        return Err(reason.clone());
                    }
                }
                state.breaker.ask(Instant::now())
            };
            match leave {
                Leave::Go => return Ok(self.begin(false)),
                Leave::Try => {
                    self.admission.desk.counters().pacing.trying(true);
                    return Ok(self.begin(true));
                }
                Leave::Wait(until) => {
                    let until = tokio::time::Instant::from_std(until);
                    let _ = tokio::time::timeout_at(until, changed).await;
                }
                Leave::WaitForTrial => changed.await,
            }
        }
    }

    /// An attempt went well: the next failure begins anew.
    pub fn succeed(&mut self) {
        self.retry.succeed();
    }

    fn begin(&self, is_trial: bool) -> Turn {
        self.admission.desk.counters().pacing.under_way(true);
        Turn {
            admission: Arc::clone(&self.admission),
            gate: Arc::clone(&self.gate),
            began: Instant::now(),
            is_trial,
            is_over: false,
        }
    }

    /// The attempt has failed: says so, and waits as long as no other may follow.
    ///
    /// # Errors
    /// It was the last one.
    pub async fn failed(&mut self, turn: Turn, fault: Fault, error: Error) -> Result<(), Error> {
        turn.fail(fault, &error);
        let Some(wait) = self.retry.fail(retry::chance()) else { return Err(error) };
        self.admission.desk.warn_attempt(&error);
        let (Fault::Busy(asked) | Fault::Broken(asked)) = fault;
        if let Some(asked) = asked {
            tokio::time::sleep(asked.max(wait)).await;
            return Ok(());
        }
        let changed = self.gate.changed.notified();
        if fault == Fault::Busy(None) || self.gate.lock().breaker.is_closed() {
            // Who knows that the peer is back need not wait any longer.
            let _ = tokio::time::timeout(wait, changed).await;
        }
        Ok(())
    }
}

impl Turn {
    /// The peer has answered: with what it makes of the request, good or bad.
    pub fn answered(mut self) {
        self.is_over = true;
        let now = Instant::now();
        let took = now.duration_since(self.began);
        self.admission.pace(|pace, under_way| pace.answered(took, under_way, now));
        let turned = self.gate.lock().breaker.succeed();
        self.tell(turned);
    }

    fn fail(mut self, fault: Fault, error: &Error) {
        self.is_over = true;
        let now = Instant::now();
        self.admission.pace(|pace, _| pace.pushed_back(now));
        let mut state = self.gate.lock();
        let turned = match fault {
            Fault::Busy(_) => state.breaker.succeed(),
            Fault::Broken(_) => {
                if self.is_trial {
                    state.failed_trials += 1;
                }
                state.reason = Some(error.clone());
                state.breaker.fail(self.is_trial, retry::chance(), now)
            }
        };
        drop(state);
        self.tell(turned);
    }

    /// Tells those who wait, and those who look.
    fn tell(&self, turned: Turned) {
        let pacing = &self.admission.desk.counters().pacing;
        if self.is_trial {
            pacing.trying(false);
        }
        match turned {
            Turned::Opened => pacing.opened(),
            Turned::Closed => pacing.closed(),
            Turned::Same => {}
        }
        if self.is_trial || turned != Turned::Same {
            self.gate.changed.notify_waiters();
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.admission.desk.counters().pacing.under_way(false);
        if !self.is_over && self.is_trial {
            self.gate.lock().breaker.forget_trial(Instant::now());
            self.tell(Turned::Same);
        }
    }
}
