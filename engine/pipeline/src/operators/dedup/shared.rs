//! `across … store`: the same rule as `across`, with the counts in a store that several programs share.
//!
//! Invariant: a batch is asked about as a whole, in one request, before its events are let through one by one;
//! an event that was not asked about with its batch is asked about alone.

use super::Key;
use crate::event::Event;
use crate::operator::{ELSE, Emitter, OUT, Operator, Surroundings};
use crate::operators::key::evaluate;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::ThreadId;
use std::time::{Duration, Instant};
use temblor_lang::error::EvalError;
use temblor_lang::program::Formula;
use temblor_lang::value::{Value, hash128};
use temblor_runtime::shared::{Arrived, SharedCounts};

/// A store that was down is not asked again for so long, where events pass meanwhile.
const REST: Duration = Duration::from_secs(1);
/// How long a worker waits for a store that is down, where events do not pass. Their batch then fails, so that
/// its source delivers it again.
const WAIT_MAX: Duration = Duration::from_secs(5);
/// Time between two attempts meanwhile.
const ATTEMPT: Duration = Duration::from_millis(200);

/// What becomes of an event while the store is down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WhenDown {
    /// It goes through.
    Pass,
    /// It waits; its source delivers it again.
    Block,
}

/// What is known of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    New,
    Copy,
    /// The store is down.
    Unknown,
}

#[derive(Debug)]
pub(super) struct Shared {
    pub key: Key,
    pub stream: Arc<Formula>,
    pub delivery: Option<Arc<Formula>>,
    pub store: Arc<dyn SharedCounts>,
    pub when_down: WhenDown,
    pub ahead: Ahead,
}

/// What workers have learnt about their batches, and when the store may be asked again.
#[derive(Debug, Default)]
pub(super) struct Ahead {
    verdicts: Mutex<HashMap<ThreadId, VecDeque<(Arrived, Verdict)>>>,
    rests_until: Mutex<Option<Instant>>,
}

impl Shared {
    fn arrived<'a>(
        &'a self,
        event: &Event<'a>,
        around: &Surroundings<'a>,
    ) -> Result<Arrived, EvalError> {
        // An event without an identity is counted each time that it comes.
        let delivery = self.delivery.as_ref().and_then(|one| evaluate(one, event, around).ok());
        Ok(Arrived {
            key: self.key.hash(event, around)?,
            stream: hash128(evaluate(&self.stream, event, around)?),
            delivery: delivery.filter(|value| *value != Value::Null).map(hash128),
        })
    }

    fn ask(&self, arrivals: &[Arrived]) -> Vec<Verdict> {
        let unknown = || vec![Verdict::Unknown; arrivals.len()];
        if self.is_resting() {
            return unknown();
        }
        let deadline = Instant::now() + WAIT_MAX;
        loop {
            match self.store.count(arrivals) {
                Ok(answers) => {
                    let verdict = |new| if new { Verdict::New } else { Verdict::Copy };
                    return answers.into_iter().map(verdict).collect();
                }
                Err(_) if self.when_down == WhenDown::Block && Instant::now() < deadline => {
                    std::thread::sleep(ATTEMPT);
                }
                Err(_) => {
                    self.rest();
                    return unknown();
                }
            }
        }
    }

    fn is_resting(&self) -> bool {
        let until = self.ahead.rests_until.lock().unwrap_or_else(PoisonError::into_inner);
        until.is_some_and(|until| Instant::now() < until)
    }

    fn rest(&self) {
        let mut until = self.ahead.rests_until.lock().unwrap_or_else(PoisonError::into_inner);
        *until = Some(Instant::now() + REST);
    }

    /// What was learnt about this event with its batch.
    fn learnt(&self, arrived: &Arrived) -> Option<Verdict> {
        let mut verdicts = self.ahead.verdicts.lock().unwrap_or_else(PoisonError::into_inner);
        let own = verdicts.get_mut(&std::thread::current().id())?;
        let (_, verdict) = own.pop_front_if(|(known, _)| known == arrived)?;
        Some(verdict)
    }
}

impl Operator for Shared {
    type State = ();

    fn start(&self) {}

    fn looks_ahead(&self) -> bool {
        true
    }

    fn look_ahead<'a>(&'a self, _: &str, events: Vec<Event<'a>>, around: &Surroundings<'a>) {
        // An event whose key fails does so again in its turn.
        let arrivals: Vec<_> =
            events.iter().filter_map(|event| self.arrived(event, around).ok()).collect();
        let verdicts = self.ask(&arrivals);
        let learnt = arrivals.into_iter().zip(verdicts).collect();
        let mut all = self.ahead.verdicts.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(std::thread::current().id(), learnt);
    }

    fn process<'a>(
        &'a self,
        (): &mut (),
        _: &str,
        event: Event<'a>,
        around: &Surroundings<'a>,
        out: &mut Emitter<'a>,
    ) -> Result<(), EvalError> {
        let arrived = self.arrived(&event, around)?;
        let verdict = self.learnt(&arrived).unwrap_or_else(|| self.ask(&[arrived])[0]);
        match (verdict, self.when_down) {
            (Verdict::New, _) | (Verdict::Unknown, WhenDown::Pass) => out.emit(OUT, event),
            (Verdict::Copy, _) => out.emit(ELSE, event),
            (Verdict::Unknown, WhenDown::Block) => {
                around.token.into_iter().for_each(temblor_runtime::ack::Token::fail);
                out.count_drop();
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use temblor_lang::builtin::{Call, Facts};
    use temblor_lang::value::{Arena, to_json};

    /// A store that lets every key through once, or is down.
    #[derive(Debug, Default)]
    struct Fake {
        asked: Mutex<Vec<Vec<Arrived>>>,
        down: bool,
    }

    impl SharedCounts for Fake {
        fn count(&self, arrivals: &[Arrived]) -> Result<Vec<bool>, String> {
            if self.down {
                return Err("it is down".to_string());
            }
            let mut asked = self.asked.lock().unwrap();
            let answer = |one: &Arrived| {
                let known = asked.iter().flatten().any(|known| known.key == one.key);
                asked.push(vec![*one]);
                !known
            };
            Ok(arrivals.iter().map(answer).collect())
        }
    }

    fn operator(store: Arc<Fake>, when_down: WhenDown) -> Shared {
        let formula = |text| Arc::new(crate::operators::harness::formula(text));
        Shared {
            key: Key(Some(formula("event.m"))),
            stream: formula("event.s"),
            delivery: None,
            store,
            when_down,
            ahead: Ahead::default(),
        }
    }

    /// Sends events as one batch; gives back what came out where.
    fn send(shared: &Shared, texts: &[&str], ahead: bool) -> Vec<String> {
        let (arena, facts) = (Arena::new(), Facts::default());
        let call = Call { arena: &arena, facts: &facts };
        let around = Surroundings { call, now_ns: 0, token: None };
        let event = |text: &&str| {
            let value = temblor_stdlib::formats::json::parse(text, &arena).unwrap();
            Event::new(value, Value::Null, 0)
        };
        let events: Vec<_> = texts.iter().map(event).collect();
        if ahead {
            shared.look_ahead("in", events, &around);
        }
        let mut shown = Vec::new();
        for text in texts {
            let mut out = Emitter::new(&arena);
            shared.process(&mut (), "in", event(text), &around, &mut out).unwrap();
            let emitted =
                out.take().map(|(port, event)| format!("{port} {}", to_json(event.value)));
            shown.extend(emitted.collect::<Vec<_>>());
        }
        shown
    }

    const THREE: [&str; 3] = [r#"{"m":1,"s":"a"}"#, r#"{"m":1,"s":"b"}"#, r#"{"m":2,"s":"a"}"#];

    #[test]
    fn what_comes_out_is_the_same_with_and_without_looking_ahead() {
        let wanted =
            [r#"out {"m":1,"s":"a"}"#, r#"else {"m":1,"s":"b"}"#, r#"out {"m":2,"s":"a"}"#];
        for ahead in [true, false] {
            let store = Arc::new(Fake::default());
            let shared = operator(Arc::clone(&store), WhenDown::Block);
            assert_eq!(send(&shared, &THREE, ahead), wanted);
            assert_eq!(store.asked.lock().unwrap().len(), 3, "each event is counted once");
        }
    }

    #[test]
    fn while_the_store_is_down_events_pass_where_that_is_wanted() {
        let store = Arc::new(Fake { down: true, ..Fake::default() });
        let shared = operator(store, WhenDown::Pass);
        assert!(send(&shared, &THREE, true).iter().all(|shown| shown.starts_with("out ")));
    }
}
