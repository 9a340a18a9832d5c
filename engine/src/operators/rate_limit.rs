//! `rate_limit`: at most so many events, bytes or units of cost a duration for each key. The
//! algorithm is the generic cell rate algorithm in its virtual scheduling form (ITU-T I.371,
//! annex A): a key is one hash and one time, and no timer runs. Over any time `t` a key never
//! passes more than its burst and what the rate gives for `t`.

use super::key::{Group, evaluate};
use super::{InChain, OperatorKind, Setting, Settings, Takes};
use crate::event::Event;
use crate::limits::{EVICTION_SAMPLE, EXPIRY_SAMPLE, KEYS_DEFAULT, KEYS_MAX};
use crate::operator::{AnyOperator, ELSE, Emitter, OUT, Operator, Surroundings, Usage};
use crate::row::{self, Row};
use crate::store::{Reader, Table, Writer};
use std::sync::Arc;
use temblor_lang::builtin::CallError;
use temblor_lang::diagnostic::Diagnostic;
use temblor_lang::error::EvalError;
use temblor_lang::program::Formula;
use temblor_lang::value::{Arena, JsonStyle, Key as Field, Kind, Value, push_json};

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
          nothing through. When there are `max_keys` keys, a new one takes the place of a key that \
          has nearly all of its allowance; if it lacks some of it, that is counted as an eviction.",
    examples: &[
        "in |> rate_limit 1000 per 1s |> out",
        "in |> rate_limit 10 per 1min by event.client burst 20 else slow |> out",
        "in |> rate_limit 1000000 per 1s bytes mode discard |> out",
        "in |> rate_limit event.quota per 1h by event.tenant cost event.size |> out",
        "in |> rate_limit 100 per 1s block |> out",
    ],
    settings: &[
        Setting::new(
            "rate",
            Takes::Formula,
            InChain::Positional,
            "How many events (bytes, units) per duration.",
        )
        .required(),
        Setting::new(
            "per",
            Takes::Duration,
            InChain::Clause("per"),
            "The duration, at least one nanosecond.",
        )
        .required(),
        Setting::new(
            "by",
            Takes::Formula,
            InChain::Clause("by"),
            "The key; without one, all events share the limit.",
        ),
        Setting::new(
            "burst",
            Takes::Constant(Kind::Integer),
            InChain::Clause("burst"),
            "How much may go through at once after a pause; by default as much as `rate`.",
        ),
        Setting::new(
            "bytes",
            Takes::Constant(Kind::Bool),
            InChain::Flag("bytes"),
            "Whether an event costs its bytes as JSON instead of 1.",
        ),
        Setting::new(
            "cost",
            Takes::Formula,
            InChain::Clause("cost"),
            "What an event costs instead of 1, a whole number from 0.",
        ),
        Setting::new(
            "mode",
            Takes::Word(&["route", "discard", "block"]),
            InChain::Clause("mode"),
            "What becomes of events over the limit: `route` (default; to `else`), `discard`, \
             `block`.",
        ),
        Setting::new(
            "block",
            Takes::Constant(Kind::Bool),
            InChain::Flag("block"),
            "The same as mode `block`.",
        ),
        Setting::new(
            "max_keys",
            Takes::Constant(Kind::Integer),
            InChain::Clause("max_keys"),
            "How many keys are remembered at most (1,000,000).",
        ),
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

/// For each key the theoretical arrival time: when its allowance will be whole again.
#[derive(Debug, Default)]
struct State {
    arrivals: Table<u64>,
    evicted: u64,
    /// Where the search for keys to forget goes on.
    hand: usize,
    /// For measuring events.
    text: Vec<u8>,
}

/// A decision on one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Conforms,
    /// It would conform at this time; `None`: never.
    Exceeds(Option<u64>),
}

fn build(settings: &Settings) -> Result<Box<dyn AnyOperator>, Diagnostic> {
    let Some(rate) = settings.formula("rate") else {
        return Err(settings.error("rate", "`rate_limit` needs a rate: `rate_limit 1000 per 1s`"));
    };
    let constant_rate = match rate.expr.as_constant() {
        None => None,
        Some(value) => Some(
            value
                .as_u64()
                .ok_or_else(|| settings.error("rate", "the rate must be a whole number from 0"))?,
        ),
    };
    let per_ns = settings.whole("per", 0)?;
    if per_ns == 0 {
        return Err(settings.error("per", "`per` must be longer than 0: `per 1s`"));
    }
    let burst = match settings.constant("burst") {
        None => None,
        Some(_) => Some(settings.whole("burst", 0)?),
    };
    let over = over(settings)?;
    let keys_max = settings.count("max_keys", KEYS_DEFAULT, KEYS_MAX)?;
    let key = Group(settings.formula("by"));
    let cost = cost(settings)?;
    Ok(Box::new(RateLimit { key, rate, constant_rate, per_ns, burst, cost, over, keys_max }))
}

fn over(settings: &Settings) -> Result<Over, Diagnostic> {
    let mode = settings.text("mode");
    match (mode.as_deref(), settings.flag("block")) {
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

/// `units` times the time that one unit takes, rounded as said. Rounding the price of events up and
/// that of the burst down keeps the promise to the nanosecond.
fn time_of(units: u64, per_ns: u64, rate: u64, round_up: bool) -> u64 {
    let product = u128::from(units) * u128::from(per_ns);
    let rate = u128::from(rate);
    let time = if round_up { product.div_ceil(rate) } else { product / rate };
    u64::try_from(time).unwrap_or(u64::MAX)
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
    fn decide(&self, arrival: &mut u64, now_ns: u64, rate: u64, cost: u64) -> Verdict {
        if rate == 0 {
            return if cost == 0 { Verdict::Conforms } else { Verdict::Exceeds(None) };
        }
        let burst = self.burst.unwrap_or(rate);
        let price_ns = time_of(cost, self.per_ns, rate, true);
        let depth_ns = time_of(burst, self.per_ns, rate, false);
        let next_ns = (*arrival).max(now_ns).saturating_add(price_ns);
        if next_ns <= now_ns.saturating_add(depth_ns) && cost <= burst {
            *arrival = next_ns;
            return Verdict::Conforms;
        }
        if self.over == Over::Block {
            // What costs more than a whole burst waits until the burst is whole.
            *arrival = next_ns;
            return Verdict::Exceeds(Some(next_ns.saturating_sub(depth_ns.max(price_ns))));
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
        let mut arrival = 0;
        let verdict = self.decide(&mut arrival, now_ns, rate, cost);
        if arrival > now_ns {
            state.make_room(now_ns, self.keys_max);
            state.arrivals.insert(hash, arrival);
        }
        verdict
    }
}

impl State {
    /// Forgets some keys whose allowance is whole: they are as good as new. If the table is full
    /// all the same, one of a few keys gives way, that which lacks least. The hand goes on from
    /// event to event, so it comes to every key.
    fn make_room(&mut self, now_ns: u64, keys_max: usize) {
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
        state.arrivals.iter().for_each(|(hash, arrival_ns)| {
            keys.hash(hash).number(arrival_ns);
        });
        let mut saved = arena.record_builder(2);
        saved.append("keys", keys.finish(arena));
        saved.append("evicted", Value::UInt(state.evicted));
        saved.finish()
    }

    fn restore(&self, saved: Value<'_>) -> Result<State, CallError> {
        let mut state = State::default();
        let mut keys = Reader::new(saved.get(&Field::new("keys")))?;
        while !keys.is_at_end() {
            let (hash, arrival_ns) = (keys.hash()?, keys.number()?);
            state.make_room(0, self.keys_max);
            state.arrivals.insert(hash, arrival_ns);
        }
        state.evicted = saved.get(&Field::new("evicted")).and_then(Value::as_u64).unwrap_or(0);
        Ok(state)
    }

    fn rows<'a>(&self, state: &State, arena: &'a Arena) -> Option<Vec<Row<'a>>> {
        let row = |(hash, at_ns)| Row::new(hash, &[("arrival_ns", Value::UInt(at_ns))], arena);
        Some(state.arrivals.iter().map(row).collect())
    }

    fn amend(&self, state: &mut State, hash: u128, columns: Value<'_>) -> Result<(), CallError> {
        let arrival_ns = row::whole(columns, "arrival_ns")?;
        match state.arrivals.get_mut(hash) {
            Some(known_ns) => *known_ns = arrival_ns,
            None => drop(state.arrivals.insert(hash, arrival_ns)),
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
mod tests {
    use super::{Cost, Group, Over, RateLimit, State, Verdict, time_of};
    use crate::operators::harness::{Harness, SECOND, formula, refusal};
    use std::sync::Arc;

    fn limiter(rate: u64, per_ns: u64, burst: Option<u64>, over: Over) -> RateLimit {
        let (formula, keys_max) = (Arc::new(formula("1")), 100);
        let constant_rate = Some(rate);
        let (key, cost) = (Group(None), Cost::One);
        RateLimit { key, rate: formula, constant_rate, per_ns, burst, cost, over, keys_max }
    }

    fn next(word: &mut u64) -> u64 {
        *word =
            word.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        *word >> 33
    }

    #[test]
    fn never_more_than_burst_and_rate_times_time() {
        let mut word = 11;
        for run in 0..200 {
            let rate = 1 + next(&mut word) % 50;
            let per_ns = 1 + next(&mut word) % 1000;
            let burst = 1 + next(&mut word) % 60;
            let limit = limiter(rate, per_ns, Some(burst), Over::Route);
            let (mut state, mut now_ns) = (State::default(), next(&mut word) % 1000);
            let mut passed: Vec<(u64, u64)> = Vec::new();
            for _ in 0..200 {
                now_ns += next(&mut word) % (per_ns / rate + 3);
                let cost = next(&mut word) % 5;
                if limit.decide_for(&mut state, 1, now_ns, rate, cost) == Verdict::Conforms {
                    passed.push((now_ns, cost));
                }
            }
            for start in 0..passed.len() {
                let mut sum = 0;
                for (time_ns, cost) in &passed[start..] {
                    sum += u128::from(*cost);
                    let span_ns = u128::from(time_ns - passed[start].0);
                    let allowed =
                        u128::from(burst) * u128::from(per_ns) + span_ns * u128::from(rate);
                    assert!(sum * u128::from(per_ns) <= allowed, "run {run}: {sum}");
                }
            }
        }
    }

    #[test]
    fn gives_what_it_promises() {
        let mut limit = Harness::new("rate_limit", &[("rate", "10"), ("per", "1s")]);
        let times = (0..10_000).map(|step| step * SECOND / 1000);
        let passed = times.filter(|now_ns| limit.send(*now_ns, "1")[0] == "out 1").count();
        // The burst of 10, and 10 a second for 10 seconds less the last 100 ms.
        assert_eq!(passed, 109);
    }

    #[test]
    fn keys_have_limits_of_their_own() {
        let settings = [("rate", "1"), ("per", "1s"), ("by", "event.k")];
        let mut limit = Harness::new("rate_limit", &settings);
        assert_eq!(limit.send(0, r#"{"k":1}"#), [r#"out {"k":1}"#]);
        assert_eq!(limit.send(0, r#"{"k":1}"#), [r#"else {"k":1}"#]);
        assert_eq!(limit.send(0, r#"{"k":2}"#), [r#"out {"k":2}"#]);
        assert!(limit.send(0, r#"{"no":2}"#)[0].starts_with("err "));
        assert_eq!(limit.send(SECOND - 1, r#"{"k":1}"#), [r#"else {"k":1}"#]);
        assert_eq!(limit.send(SECOND, r#"{"k":1}"#), [r#"out {"k":1}"#]);
    }

    #[test]
    fn a_burst_is_saved_up() {
        let settings = [("rate", "1"), ("per", "1s"), ("burst", "3")];
        let mut limit = Harness::new("rate_limit", &settings);
        let mut ports = |now_ns: u64, count: usize| -> String {
            (0..count).map(|_| limit.send(now_ns, "1")[0].chars().next().unwrap()).collect()
        };
        assert_eq!(ports(0, 5), "oooee");
        assert_eq!(ports(SECOND, 3), "oee");
        assert_eq!(ports(1000 * SECOND, 5), "oooee");
    }

    #[test]
    fn bytes_and_costs_are_counted() {
        let mut bytes =
            Harness::new("rate_limit", &[("rate", "10"), ("per", "1s"), ("bytes", "true")]);
        assert_eq!(bytes.send(0, r#""12345678""#), [r#"out "12345678""#]);
        assert_eq!(bytes.send(0, r#"1"#), ["else 1"]);
        assert_eq!(bytes.send(SECOND, r#""123456789""#), [r#"else "123456789""#]);
        let settings = [("rate", "100"), ("per", "1s"), ("cost", "event.c")];
        let mut cost = Harness::new("rate_limit", &settings);
        assert_eq!(cost.send(0, r#"{"c":0}"#), [r#"out {"c":0}"#]);
        assert_eq!(cost.send(0, r#"{"c":100}"#), [r#"out {"c":100}"#]);
        assert_eq!(cost.send(0, r#"{"c":1}"#), [r#"else {"c":1}"#]);
        assert_eq!(
            cost.send(u64::MAX, r#"{"c":18446744073709551615}"#)[0].split(' ').next(),
            Some("else")
        );
        assert!(cost.send(0, r#"{"c":-1}"#)[0].contains("whole number"));
        assert!(cost.send(0, r#"{"c":"5"}"#)[0].contains("found string"));
    }

    #[test]
    fn the_rate_may_come_from_the_event() {
        let mut limit = Harness::new("rate_limit", &[("rate", "event"), ("per", "1s")]);
        assert_eq!(limit.send(0, "0"), ["else 0"]);
        assert_eq!(limit.send(0, "2"), ["out 2"]);
        assert_eq!(limit.send(0, "2"), ["out 2"]);
        assert_eq!(limit.send(0, "2"), ["else 2"]);
        assert!(limit.send(0, "\"x\"")[0].contains("the rate must be"));
    }

    #[test]
    fn over_the_limit_is_discarded_or_waits() {
        let mut discard =
            Harness::new("rate_limit", &[("rate", "1"), ("per", "1s"), ("mode", "discard")]);
        assert_eq!(discard.send(0, "1"), ["out 1"]);
        assert_eq!(discard.send(0, "1"), ["dropped 1"]);
        let mut block = Harness::new(
            "rate_limit",
            &[("rate", "2"), ("per", "1s"), ("burst", "1"), ("block", "true")],
        );
        assert_eq!(block.send(0, "1"), ["out 1"]);
        assert_eq!(block.send(0, "2"), ["out 2", "delay 500000000"]);
        assert_eq!(block.send(0, "3"), ["out 3", "delay 1000000000"]);
        assert_eq!(block.send(1_200_000_000, "4"), ["out 4", "delay 1500000000"]);
        assert_eq!(block.send(2_000_000_000, "5"), ["out 5"]);
        let mut none =
            Harness::new("rate_limit", &[("rate", "0"), ("per", "1s"), ("block", "true")]);
        assert!(none.send(0, "1")[0].contains("block for ever"));
    }

    #[test]
    fn an_event_above_the_burst_waits_for_a_whole_one() {
        let settings = [("rate", "10"), ("per", "1s"), ("cost", "event"), ("mode", "block")];
        let mut block = Harness::new("rate_limit", &settings);
        assert_eq!(block.send(0, "10"), ["out 10"]);
        assert_eq!(block.send(0, "20"), ["out 20", "delay 1000000000"]);
        // The debt of the large event is paid before the next goes.
        assert_eq!(block.send(SECOND, "10"), ["out 10", "delay 3000000000"]);
    }

    #[test]
    fn memory_has_a_bound() {
        let settings = [("rate", "1"), ("per", "1s"), ("by", "event"), ("max_keys", "50")];
        let mut limit = Harness::new("rate_limit", &settings);
        (0..200).for_each(|key| drop(limit.send(0, &key.to_string())));
        assert_eq!((limit.usage().entries, limit.usage().evicted), (50, 150));
        // Whoever has its allowance back gives way without loss.
        (200..400).for_each(|key| drop(limit.send(key * SECOND, &key.to_string())));
        assert_eq!(limit.usage().evicted, 150);
        assert!(limit.usage().entries <= 50, "{:?}", limit.usage());
    }

    #[test]
    fn goes_on_after_a_restart() {
        let mut limit = Harness::new("rate_limit", &[("rate", "2"), ("per", "1s")]);
        limit.send(0, "1");
        limit.send(0, "1");
        limit.restart();
        assert_eq!(limit.send(1, "1"), ["else 1"]);
        assert_eq!(limit.send(SECOND / 2, "1"), ["out 1"]);
        assert!(limit.refuses("{}").contains("damaged"));
    }

    #[test]
    fn wrong_settings_are_refused() {
        assert!(refusal("rate_limit", &[("rate", "1"), ("per", "0")]).contains("longer than 0"));
        assert!(refusal("rate_limit", &[("rate", "-1"), ("per", "1s")]).contains("whole number"));
        assert!(refusal("rate_limit", &[("per", "1s")]).contains("needs a rate"));
        let both = [("rate", "1"), ("per", "1s"), ("mode", "route"), ("block", "true")];
        assert!(refusal("rate_limit", &both).contains("contradicts"));
        let both = [("rate", "1"), ("per", "1s"), ("bytes", "true"), ("cost", "1")];
        assert!(refusal("rate_limit", &both).contains("contradicts"));
    }

    #[test]
    fn times_do_not_overflow() {
        assert_eq!(time_of(u64::MAX, u64::MAX, 1, true), u64::MAX);
        assert_eq!((time_of(1, 10, 3, true), time_of(1, 10, 3, false)), (4, 3));
        let limit = limiter(u64::MAX, u64::MAX, None, Over::Route);
        let mut state = State::default();
        let verdict = limit.decide_for(&mut state, 1, u64::MAX, u64::MAX, u64::MAX);
        assert_eq!(verdict, Verdict::Conforms);
    }
}
