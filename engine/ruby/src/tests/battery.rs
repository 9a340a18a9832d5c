//! Every method of every kind of value, over values that are large in one dimension, deep, or within themselves: each
//! call ends within its limits, with a value or a reason.

use super::super::{Limits, Machine, Memory, Script};
use chrono::{DateTime, Utc};
use std::panic::{AssertUnwindSafe, catch_unwind};
use temblor_lang::value::Arena;
use temblor_logstash_event::datum::Map;
use temblor_logstash_event::event::LogEvent;

/// Small, so that bounds are reached often.
const LIMITS: Limits = Limits { steps: 20_000, event_bytes: 4 << 20, heap_bytes: 16 << 20 };
/// Calls that must have been tried.
const CALLS_MIN: usize = 3_000;

/// Receivers.
const SHAPES: &[&str] = &[
    "('ab1 ' * 20_000)",
    "(\"\\xff\\x00\" * 5_000)",
    "('é' * 10_000).to_sym",
    "(1..5_000).to_a",
    "Array.new(2_000) { |i| i.to_s }",
    "([[1, [2, [3, nil]]]] * 500)",
    "(x = []; x << x; x)",
    "(x = [1]; 60.times { x = [x, 'a'] }; x)",
    "(x = []; 5_000.times { x = [x] }; x)",
    "(x = []; 30.times { x = [x, x] }; x)",
    "(1..1_000).map { |i| [i, i] }.to_h",
    "(x = {}; x['a'] = x; x[x] = 1; x)",
    "Set.new((1..2_000).to_a)",
    "(x = Set.new; x << x; x)",
    "(1..9_223_372_036_854_775_807)",
    "('a'..'zzzzzz')",
    "(1..)",
    "(1 << 9_000)",
    "9_223_372_036_854_775_807",
    "-9_223_372_036_854_775_808",
    "(0.0 / 0.0)",
    "1.7976931348623157e308",
    "BigDecimal('1e-9000')",
    "(2 ** 70).to_r",
    "Time.at(253_402_300_799)",
    "Date.new(262_000, 1, 1)",
    "(S = Struct.new(:a, :b); x = S.new(1, 2); x.a = x; x)",
    "IPAddr.new('::/0')",
    "/(a*)*b/",
    "('a' * 5_000).match(/(?<x>a*)/)",
];

/// What the method is given: arguments, or code.
const OPERANDS: &[&str] = &[
    "()",
    "(v)",
    "(9_223_372_036_854_775_807)",
    "(-1, 100_000)",
    "('*', 3)",
    "() { |*x| v }",
    "(1) { |x, y| x <=> y }",
];

/// Runs code for one event: what is wrong with how it ended.
fn wrong(code: &str) -> Option<String> {
    let script = Script::parse(code, &[]).ok()?;
    let now = DateTime::<Utc>::UNIX_EPOCH;
    let mut memory = Memory::bounded(LIMITS);
    let arena = Arena::new();
    let mut machine = Machine::new(LogEvent::new(Map::default(), now), &mut memory, &arena, now);
    machine.collect_while_running();
    match machine.run(&script) {
        Err(stop) if stop.message().is_empty() => Some("no reason".to_string()),
        Ok(value) => {
            drop(value.inspect(machine.heap()));
            None
        }
        Err(_) => None,
    }
}

#[test]
fn every_method_ends_within_its_limits_over_hostile_values() {
    let (mut failed, mut calls) = (Vec::new(), 0);
    // Each method gets one of the operands, or all of them on request.
    let all = std::env::var_os("TEMBLOR_FUZZ_ROUNDS").is_some();
    for (at, shape) in SHAPES.iter().enumerate() {
        let listed = super::run(&format!("v = {shape}; v.methods.map(&:to_s)"));
        let names = listed.trim_matches(['[', ']']).split(", ").map(|name| name.trim_matches('"'));
        for (place, name) in names.filter(|name| *name != "sleep").enumerate() {
            let one = (at + place) % OPERANDS.len();
            let chosen = if all { OPERANDS } else { &OPERANDS[one..=one] };
            for operands in chosen {
                let code = format!("v = {shape}; v.send(:\"{name}\", {}", &operands[1..]);
                let code = code.replace(":\", )", ":\")").replace("\", )", "\")");
                calls += 1;
                let ended = catch_unwind(AssertUnwindSafe(|| wrong(&code)));
                if !matches!(ended, Ok(None)) {
                    failed.push(code);
                }
            }
        }
    }
    assert!(failed.is_empty(), "{} calls failed:\n{}", failed.len(), failed.join("\n"));
    assert!(calls > CALLS_MIN, "only {calls} calls were tried");
}
