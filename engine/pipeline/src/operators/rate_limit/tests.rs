//! What a limit promises, for keys, costs, bytes and bursts, and what it refuses.

use super::memory::{Exact, State};
use super::{Cost, Group, Over, RateLimit, Verdict};
use crate::operators::harness::{Harness, SECOND, formula, refusal};
use std::sync::Arc;

fn limiter(rate: u64, per_ns: u64, burst: Option<u64>, over: Over) -> RateLimit {
    let (formula, keys_max) = (Arc::new(formula("1")), 100);
    let constant_rate = Some(rate);
    let (key, cost) = (Group(None), Cost::One);
    RateLimit { key, rate: formula, constant_rate, per_ns, burst, cost, over, keys_max }
}

fn next(word: &mut u64) -> u64 {
    *word = word.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *word >> 33
}

/// The exact rule over fractions: times are counted in parts of a nanosecond, as many as the rate.
struct Model {
    rate: u128,
    per_ns: u128,
    burst: u128,
    arrival: u128,
}

impl Model {
    fn passes(&mut self, now_ns: u64, cost: u64) -> bool {
        let (now, cost) = (u128::from(now_ns) * self.rate, u128::from(cost));
        let next = self.arrival.max(now) + cost * self.per_ns;
        let conforms = next <= now + self.burst * self.per_ns && cost <= self.burst;
        if conforms {
            self.arrival = next;
        }
        conforms
    }
}

#[test]
fn passes_neither_more_nor_fewer_than_exact_fractions() {
    let mut word = 11;
    for run in 0..400 {
        let scale = [3, 50, 1_000_003, 1_000_000_007][run % 4];
        let rate = 1 + next(&mut word) % scale;
        let per_ns =
            1 + next(&mut word) % [10, 1000, 1_000_000_000, 86_400_000_000_000][run / 4 % 4];
        let burst = 1 + next(&mut word) % 60;
        let limit = limiter(rate, per_ns, Some(burst), Over::Route);
        let (mut state, mut now_ns) = (State::default(), next(&mut word) % 1000);
        let mut model =
            Model { rate: rate.into(), per_ns: per_ns.into(), burst: burst.into(), arrival: 0 };
        for step in 0..500 {
            // Bursts of events at one moment, events at the rate, and pauses.
            let pace = per_ns / rate + 1;
            now_ns +=
                [0, next(&mut word) % (pace + 2), next(&mut word) % (pace * 70)][step / 50 % 3];
            let cost = [1, next(&mut word) % 5][run % 2];
            let verdict = limit.decide_for(&mut state, 1, now_ns, rate, cost);
            let passes = verdict == Verdict::Conforms;
            let wanted = model.passes(now_ns, cost);
            assert_eq!(
                passes, wanted,
                "{rate} per {per_ns} ns burst {burst}, run {run}, step {step}"
            );
        }
    }
}

#[test]
fn a_third_of_a_second_passes_three_a_second() {
    for (rate, per, burst) in
        [("3", "1s", "1"), ("30", "1s", "1"), ("7", "1min", "1"), ("7", "1min", "7")]
    {
        let settings = [("rate", rate), ("per", per), ("burst", burst)];
        let mut limit = Harness::new("rate_limit", &settings);
        let whole_ns = if per == "1s" { SECOND } else { 60 * SECOND };
        let times = (0..10_000).map(|step| step * whole_ns / 1000);
        let passed = times.filter(|now_ns| limit.send(*now_ns, "1")[0] == "out 1").count() as u64;
        let (rate, burst): (u64, u64) = (rate.parse().unwrap(), burst.parse().unwrap());
        // Ten durations, less the last step; an event that comes a step late is late once.
        assert!(passed < 10 * rate + burst && passed + rate > 10 * rate, "{rate}: {passed}");
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
    let mut bytes = Harness::new("rate_limit", &[("rate", "10"), ("per", "1s"), ("bytes", "true")]);
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
    let mut none = Harness::new("rate_limit", &[("rate", "0"), ("per", "1s"), ("block", "true")]);
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
    assert!(refusal("rate_limit", &[("per", "1s")]).contains("`rate` is missing"));
    let both = [("rate", "1"), ("per", "1s"), ("mode", "route"), ("block", "true")];
    assert!(refusal("rate_limit", &both).contains("contradicts"));
    let both = [("rate", "1"), ("per", "1s"), ("bytes", "true"), ("cost", "1")];
    assert!(refusal("rate_limit", &both).contains("contradicts"));
}

#[test]
fn times_do_not_overflow() {
    assert_eq!(Exact::time_of(u64::MAX, u64::MAX, 1).parts(), (u64::MAX, u64::MAX));
    assert_eq!(Exact::time_of(1, 10, 3).parts(), (3, u64::MAX / 3));
    assert_eq!(Exact::time_of(1, 10, 3).ceil_ns(), 4);
    let limit = limiter(u64::MAX, u64::MAX, None, Over::Route);
    let mut state = State::default();
    let verdict = limit.decide_for(&mut state, 1, u64::MAX, u64::MAX, u64::MAX);
    assert_eq!(verdict, Verdict::Conforms);
}
