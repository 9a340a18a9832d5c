//! `rate_limit`: at most so many events, bytes or units of cost a duration for each key. The
//! algorithm is the generic cell rate algorithm in its virtual scheduling form (ITU-T I.371,
//! annex A): a key is one hash and one time, and no timer runs. Over any time `t` a key never
//! passes more than its burst and what the rate gives for `t`, and never less while events wait.

mod memory;
mod shared;

use super::key::{Group, evaluate};
use super::{MAX_KEYS, OperatorKind, Supplies};
use crate::event::Event;
use crate::operator::{AnyOperator, ELSE, Emitter, OUT, Operator, Surroundings, Usage};
use crate::row::{self, Row};
use crate::store::{Reader, Writer};
use memory::{Exact, State};
use std::sync::{Arc, Mutex};
use temblor_declare::{InChain, Setting, Settings, Takes};
use temblor_lang::builtin::CallError;
use temblor_lang::diagnostic::Diagnostic;
use temblor_lang::error::EvalError;
use temblor_lang::program::Formula;
use temblor_lang::value::{Arena, JsonStyle, Key as Field, Value, push_json};

/// What keys in a store begin with.
const STORE_PREFIX: &str = "temblor:rate:";

/// The declaration.
pub static KINDS: &[OperatorKind] = &[OperatorKind {
    path: "stream::rate_limit",
    word: Some("rate_limit"),
    doc: "Lets at most a number of events through per duration, for each key (`by`) or for all \
          events together. An unused allowance is saved up to `burst` (by default the number \
          itself). With `bytes` the number counts bytes of JSON instead of events, with `cost` the \
          units that an expression gives for each event. The number may be an expression over the \
          event, so that each key can have its own. Events over the limit go to `else` (mode \
          `route`), are counted as dropped (`discard`), or wait until they are within the limit, \
          and what comes behind them waits too (`block`). An event that costs more than `burst` is \
          always over the limit, except that with `block` it waits for all of it. A limit of 0 lets \
          nothing through. With `store` several programs share the limit: they lease tokens in \
          batches of `lease`; all of them together let at most one lease of each program more \
          through than the limit says, and may leave as much unused. When there are `max_keys` keys, a new one takes the place of a key that \
          has nearly all of its allowance; if it lacks some of it, that is counted as an eviction.",
    examples: &[
        "in |> rate_limit 1000 per 1s |> out",
        "in |> rate_limit 10 per 1min by event.client burst 20 else slow |> out",
        "in |> rate_limit 1000000 per 1s bytes mode discard |> out",
        "in |> rate_limit event.quota per 1h by event.tenant cost event.size |> out",
        "in |> rate_limit 100 per 1s block |> out",
        "in |> rate_limit 10000 per 1min by event.tenant store \"redis://127.0.0.1:6379\" |> out",
    ],
    settings: &[
        Setting::new("rate", Takes::Formula, "How many events (bytes, units) per duration.")
            .in_chain(InChain::Positional)
            .required(),
        Setting::new("per", Takes::Duration, "The duration, at least one nanosecond.")
            .in_chain(InChain::Clause("per"))
            .required(),
        Setting::new("by", Takes::Formula, "The key; without one, all events share the limit.")
            .in_chain(InChain::Clause("by")),
        Setting::new(
            "burst",
            Takes::Whole { least: 0, most: u64::MAX },
            "How much may go through at once after a pause; by default as much as `rate`.",
        )
        .in_chain(InChain::Clause("burst")),
        Setting::new(
            "bytes",
            Takes::Flag,
            "Whether an event costs its bytes as JSON instead of 1.",
        )
        .in_chain(InChain::Flag("bytes")),
        Setting::new(
            "cost",
            Takes::Formula,
            "What an event costs instead of 1, a whole number from 0.",
        )
        .in_chain(InChain::Clause("cost")),
        Setting::new(
            "mode",
            Takes::Word(&["route", "discard", "block"]),
            "What becomes of events over the limit: `route` (default; to `else`), `discard`, \
             `block`.",
        )
        .in_chain(InChain::Clause("mode")),
        Setting::new("block", Takes::Flag, "The same as mode `block`.")
            .in_chain(InChain::Flag("block")),
        MAX_KEYS,
        Setting::new(
            "store",
            Takes::Text,
            "The address of a Redis that keeps the limit for several programs: `redis://HOST:PORT`.",
        )
        .in_chain(InChain::Clause("store")),
        Setting::new(
            "lease",
            Takes::Whole { least: 1, most: u64::MAX },
            "How many tokens are taken from the store at once; by default a hundredth of `burst`.",
        ),
        Setting::new(
            "when_down",
            Takes::Word(&["alone", "pass"]),
            "What holds while the store is down: `alone` (each program keeps the limit by itself), \
             `pass` (no limit).",
        )
        .or("alone"),
        Setting::new(
            "store_prefix",
            Takes::Text,
            "What the keys in the store begin with; programs with the same share limits.",
        )
        .or(STORE_PREFIX),
    ],
    ports: &[ELSE],
    fallbacks: &[],
    build,
}];

/// What becomes of events over the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Over {
    Route,
    Discard,
    Block,
}

/// What an event costs.
#[derive(Debug)]
enum Cost {
    One,
    Bytes,
    Formula(Arc<Formula>),
}

#[derive(Debug)]
struct RateLimit {
    key: Group,
    rate: Arc<Formula>,
    /// The rate, if it is the same for all events.
    constant_rate: Option<u64>,
    per_ns: u64,
    burst: Option<u64>,
    cost: Cost,
    over: Over,
    keys_max: usize,
}

/// A decision on one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Conforms,
    /// It would conform at this time; `None`: never.
    Exceeds(Option<u64>),
}

fn build(settings: &Settings, supplies: &Supplies) -> Result<Box<dyn AnyOperator>, Diagnostic> {
    let rate = settings.formula("rate").expect("the rate is required");
    let constant_rate = match rate.expr.as_constant() {
        None => None,
        Some(value) => Some(
            value
                .as_u64()
                .ok_or_else(|| settings.error("rate", "the rate must be a whole number from 0"))?,
        ),
    };
    let per_ns = settings.nanoseconds("per");
    if per_ns == 0 {
        return Err(settings.error("per", "`per` must be longer than 0: `per 1s`"));
    }
    let burst = settings.optional_whole("burst");
    let over = over(settings)?;
    let keys_max = settings.size("max_keys");
    let key = Group(settings.formula("by"));
    let cost = cost(settings)?;
    let limit = RateLimit { key, rate, constant_rate, per_ns, burst, cost, over, keys_max };
    if settings.has("store") { shared(settings, supplies, limit) } else { Ok(Box::new(limit)) }
}

/// A limit whose tokens are in a store.
fn shared(
    settings: &Settings,
    supplies: &Supplies,
    limit: RateLimit,
) -> Result<Box<dyn AnyOperator>, Diagnostic> {
    if limit.over == Over::Block {
        return Err(settings
            .error("store", "`block` is not possible with `store`")
            .with_help("route what is over the limit, or leave out `store`"));
    }
    let open = supplies
        .shared_tokens
        .ok_or_else(|| settings.error("store", "this build has no stores that programs share"))?;
    let store = open(settings.text("store"), settings.text("store_prefix"));
    let store = store.map_err(|reason| settings.error("store", reason))?;
    let lease = settings.optional_whole("lease");
    let when_down = match settings.text("when_down") {
        "pass" => shared::WhenDown::Pass,
        _ => shared::WhenDown::Alone,
    };
    let purse = Mutex::default();
    Ok(Box::new(shared::SharedLimit { limit, store, lease, when_down, purse }))
}

fn over(settings: &Settings) -> Result<Over, Diagnostic> {
    match (settings.optional_text("mode"), settings.flag("block")) {
        (Some("block") | None, true) | (Some("block"), false) => Ok(Over::Block),
        (Some(_), true) => Err(settings.error("mode", "`block` contradicts this mode")),
        (Some("discard"), false) => Ok(Over::Discard),
        _ => Ok(Over::Route),
    }
}

fn cost(settings: &Settings) -> Result<Cost, Diagnostic> {
    match (settings.flag("bytes"), settings.formula("cost")) {
        (true, Some(_)) => Err(settings.error("cost", "`cost` contradicts `bytes`")),
        (true, None) => Ok(Cost::Bytes),
        (false, Some(formula)) => Ok(Cost::Formula(formula)),
        (false, None) => Ok(Cost::One),
    }
}

impl RateLimit {
    fn cost_of<'a>(
        &'a self,
        text: &mut Vec<u8>,
        event: &Event<'a>,
        around: &Surroundings<'a>,
    ) -> Result<u64, EvalError> {
        match &self.cost {
            Cost::One => Ok(1),
            Cost::Bytes => Ok(match event.raw {
                Some(raw) => raw.len() as u64,
                None => {
                    text.clear();
                    push_json(text, event.value, JsonStyle::Compact);
                    text.len() as u64
                }
            }),
            Cost::Formula(formula) => {
                let value = evaluate(formula, event, around)?;
                value.as_u64().ok_or_else(|| not_whole("cost", value))
            }
        }
    }

    fn rate_of<'a>(
        &'a self,
        event: &Event<'a>,
        around: &Surroundings<'a>,
    ) -> Result<u64, EvalError> {
        if let Some(rate) = self.constant_rate {
            return Ok(rate);
        }
        let value = evaluate(&self.rate, event, around)?;
        value.as_u64().ok_or_else(|| not_whole("rate", value))
    }

    /// Decides on an event, and takes it into account when it conforms or when it is to wait.
    fn decide(&self, arrival: &mut Exact, now_ns: u64, rate: u64, cost: u64) -> Verdict {
        if rate == 0 {
            return if cost == 0 { Verdict::Conforms } else { Verdict::Exceeds(None) };
        }
        let burst = self.burst.unwrap_or(rate);
        let now = Exact::of_ns(now_ns);
        let price = Exact::time_of(cost, self.per_ns, rate);
        let depth = Exact::time_of(burst, self.per_ns, rate);
        let next = (*arrival).max(now).plus(price);
        if next <= now.plus(depth) && cost <= burst {
            *arrival = next;
            return Verdict::Conforms;
        }
        if self.over == Over::Block {
            // What costs more than a whole burst waits until the burst is whole.
            *arrival = next;
            return Verdict::Exceeds(Some(next.minus(depth.max(price)).ceil_ns()));
        }
        Verdict::Exceeds(None)
    }

    fn decide_for(
        &self,
        state: &mut State,
        hash: u128,
        now_ns: u64,
        rate: u64,
        cost: u64,
    ) -> Verdict {
        if let Some(arrival) = state.arrivals.get_mut(hash) {
            return self.decide(arrival, now_ns, rate, cost);
        }
        let mut arrival = Exact::default();
        let verdict = self.decide(&mut arrival, now_ns, rate, cost);
        if arrival > Exact::of_ns(now_ns) {
            state.make_room(now_ns, self.keys_max);
            state.arrivals.insert(hash, arrival);
        }
        verdict
    }
}

impl Operator for RateLimit {
    type State = State;

    fn start(&self) -> State {
        State::default()
    }

    fn process<'a>(
        &'a self,
        state: &mut State,
        _: &str,
        event: Event<'a>,
        around: &Surroundings<'a>,
        out: &mut Emitter<'a>,
    ) -> Result<(), EvalError> {
        let hash = self.key.hash(&event, around)?;
        let rate = self.rate_of(&event, around)?;
        let cost = self.cost_of(&mut state.text, &event, around)?;
        match (self.decide_for(state, hash, around.now_ns, rate, cost), self.over) {
            (Verdict::Conforms, _) => out.emit(OUT, event),
            (Verdict::Exceeds(Some(time_ns)), _) => {
                out.delay_until(time_ns);
                out.emit(OUT, event);
            }
            (Verdict::Exceeds(None), Over::Route) => out.emit(ELSE, event),
            (Verdict::Exceeds(None), Over::Discard) => out.count_drop(),
            (Verdict::Exceeds(None), Over::Block) => return Err(never()),
        }
        Ok(())
    }

    fn save<'a>(&self, state: &State, arena: &'a Arena) -> Value<'a> {
        let mut keys = Writer::default();
        state.arrivals.iter().for_each(|(hash, arrival)| {
            let (ns, fraction) = arrival.parts();
            keys.hash(hash).number(ns).number(fraction);
        });
        let mut saved = arena.record_builder(2);
        saved.append("arrivals", keys.finish(arena));
        saved.append("evicted", Value::UInt(state.evicted));
        saved.finish()
    }

    fn restore(&self, saved: Value<'_>) -> Result<State, CallError> {
        let mut state = State::default();
        // Earlier versions saved whole nanoseconds under another name.
        let (field, has_fraction) = match saved.get(&Field::new("arrivals")) {
            Some(arrivals) => (Some(arrivals), true),
            None => (saved.get(&Field::new("keys")), false),
        };
        let mut keys = Reader::new(field)?;
        while !keys.is_at_end() {
            let (hash, ns) = (keys.hash()?, keys.number()?);
            let fraction = if has_fraction { keys.number()? } else { 0 };
            state.make_room(0, self.keys_max);
            state.arrivals.insert(hash, Exact::new(ns, fraction));
        }
        state.evicted = saved.get(&Field::new("evicted")).and_then(Value::as_u64).unwrap_or(0);
        Ok(state)
    }

    fn rows<'a>(&self, state: &State, arena: &'a Arena) -> Option<Vec<Row<'a>>> {
        let row = |(hash, at): (u128, Exact)| {
            Row::new(hash, &[("arrival_ns", Value::UInt(at.ceil_ns()))], arena)
        };
        Some(state.arrivals.iter().map(row).collect())
    }

    fn amend(&self, state: &mut State, hash: u128, columns: Value<'_>) -> Result<(), CallError> {
        let arrival = Exact::of_ns(row::whole(columns, "arrival_ns")?);
        if let Some(known) = state.arrivals.get_mut(hash) {
            *known = arrival;
        } else {
            state.arrivals.insert(hash, arrival);
        }
        Ok(())
    }

    fn forget(&self, state: &mut State, hash: u128) -> bool {
        state.arrivals.remove(hash).is_some()
    }

    fn usage(&self, state: &State) -> Option<Usage> {
        let (entries, bytes) = (state.arrivals.len() as u64, state.arrivals.bytes() as u64);
        Some(Usage { entries, bytes, evicted: state.evicted })
    }
}

#[cold]
fn not_whole(what: &str, value: Value<'_>) -> EvalError {
    let message =
        format!("the {what} must be a whole number from 0, found {}", value.kind().name());
    EvalError::new("E0602", message)
}

#[cold]
fn never() -> EvalError {
    EvalError::new("E0603", "a rate of 0 would block for ever")
        .with_help("use mode `route` or `discard`, or a rate above 0")
}

#[cfg(test)]
mod tests;
