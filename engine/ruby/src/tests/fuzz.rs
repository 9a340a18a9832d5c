//! Random blocks of code over values that are large, deep or contain themselves: they end within
//! their limits, and nothing panics. `TEMBLOR_FUZZ_ROUNDS=100000` runs as many; each failure
//! names its seed.

use super::super::{Limits, Machine, Memory, Script};
use super::rows::{ARGUMENTS, RECEIVERS};
use chrono::{DateTime, Utc};
use std::panic::{AssertUnwindSafe, catch_unwind};
use temblor_lang::value::Arena;
use temblor_logstash_event::datum::{Datum, Map};
use temblor_logstash_event::event::LogEvent;

/// Cases of a run of all tests.
const CASES: u64 = 1_500;
/// Small, so that bounds are reached often.
const LIMITS: Limits = Limits { steps: 20_000, event_bytes: 4 << 20, heap_bytes: 16 << 20 };
/// What may come on top of the bytes that a heap may hold: what one method makes before it is asked.
const OVERSHOOT: usize = 48 << 20;

/// Values that are large in one dimension, or within themselves.
const LARGE: &[&str] = &[
    "('ab1 ' * 20_000)",
    "(1..5_000).to_a",
    "[[1, [2, [3, nil]]]] * 500",
    "(1 << 9_000)",
    "(x = []; x << x; x)",
    "(x = {}; x['a'] = x; x)",
    "(x = [1]; 60.times { x = [x, 'a'] }; x)",
    "(x = []; 30.times { x = [x, x] }; x)",
    "{ 'k' => [nil, 1.5, :s] }",
    "'\\xff\\xfe'.force_encoding('UTF-8')",
    "(0.0 / 0.0)",
    "(1.0 / 0.0)",
    "-9223372036854775808",
    "9223372036854775807",
    "''",
    "[]",
    "{}",
    "[nil, 'a', 1, :b, 2.5]",
    "\"a\\u00e9\\u4e2d\\n\"",
    "BigDecimal('1e-9000')",
    "(2 ** 70).to_r",
    "'%-9.3f%s%%'",
    "Time.at(253402300799)",
    "@kept",
    "$shared",
    "event.to_hash",
    "event.get('deep')",
];
const BLOCKS: &[&str] = &[
    "",
    "",
    "{ |*x| 1 }",
    "{ |x| x }",
    "{ |x, y| x <=> y }",
    "{ |x| @kept = x }",
    "{ |x| raise 'no' }",
    "{ |x| break x }",
    "{ |x| [x, x] }",
    "{ |x, y| a << x }",
    "(&:to_s)",
    "{ |x| a.clear }",
];

/// Numbers by chance (SplitMix64).
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn one<'t>(&mut self, of: &'t [&'t str]) -> &'t str {
        of[(self.next() % of.len() as u64) as usize]
    }

    fn value(&mut self) -> &'static str {
        match self.next() % 3 {
            0 => self.one(RECEIVERS),
            1 => self.one(ARGUMENTS),
            _ => self.one(LARGE),
        }
    }
}

/// A call of a method by chance; `names` are those of all values.
fn call(chance: &mut Chance, names: &[String], receiver: &str) -> String {
    let name = &names[(chance.next() % names.len() as u64) as usize];
    let count = chance.next() % 3;
    let mut arguments = vec![format!(":\"{name}\"")];
    (0..count).for_each(|_| arguments.push(chance.value().to_string()));
    let block = chance.one(BLOCKS);
    match block.strip_prefix('(') {
        Some(passed) => {
            format!("{receiver}.send({}, {passed}", arguments.join(", "))
        }
        None => format!("{receiver}.send({}) {block}", arguments.join(", ")),
    }
}

fn code(seed: u64, names: &[String]) -> String {
    let mut chance = Chance(seed);
    let mut code = format!("a = {}; r = a\n", chance.value());
    for _ in 0..=chance.next() % 4 {
        let receiver = chance.one(&["a", "r", "r", "@kept"]);
        let call = call(&mut chance, names, receiver);
        code.push_str(&match chance.next() % 6 {
            0 => format!("r = ({call}) rescue nil\n"),
            1 => format!("20.times {{ r = ({call}) }}\n"),
            2 => format!("@kept = [@kept, ({call})]\n"),
            3 => format!("event.set('out', ({call}))\n"),
            4 => format!("$shared = ({call}).inspect + \"#{{r}}\"\n"),
            _ => format!("r = ({call})\n"),
        });
    }
    code
}

fn event<'a>(now: DateTime<Utc>) -> LogEvent<'a> {
    let mut deep = Datum::Int(1);
    (0..120).for_each(|_| deep = Datum::List(vec![std::mem::take(&mut deep)]));
    let mut data = Map::default();
    data.insert("message", Datum::Str("a=1 b=2"));
    data.insert("n", Datum::Int(7));
    data.insert("deep", deep);
    LogEvent::new(data, now)
}

/// Runs a script over three events with one memory.
fn run(script: &Script, collects_always: bool) {
    let now = DateTime::<Utc>::from_timestamp(1_700_000_000, 5).expect("it is a time");
    let mut memory = Memory::bounded(LIMITS);
    for _ in 0..3 {
        let arena = Arena::new();
        let mut machine = Machine::new(event(now), &mut memory, &arena, now);
        match collects_always {
            true => machine.collect_always(),
            false => machine.collect_while_running(),
        }
        match machine.run(script) {
            Ok(value) => drop(value.inspect(machine.heap())),
            Err(stop) => assert!(!stop.message().is_empty(), "a breach has a reason"),
        }
        memory.settle(std::iter::empty());
        let held = memory.heap().held();
        assert!(held < LIMITS.heap_bytes + OVERSHOOT, "{held} bytes are held");
    }
}

fn names_of_all() -> Vec<String> {
    let mut all = Vec::new();
    for receiver in RECEIVERS {
        let listed = super::run(&format!("{receiver}.methods.map(&:to_s)"));
        let names = listed.trim_matches(['[', ']']).split(", ");
        all.extend(names.map(|name| name.trim_matches('"').to_string()));
    }
    all.sort();
    all.dedup();
    all.retain(|name| name != "sleep");
    all
}

#[test]
fn code_by_chance_ends_within_its_bounds() {
    let cases = std::env::var("TEMBLOR_FUZZ_ROUNDS").ok().and_then(|cases| cases.parse().ok());
    let first =
        std::env::var("TEMBLOR_FUZZ_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let names = names_of_all();
    assert!(names.len() > 300, "only {} methods are known", names.len());
    let (mut wrong, mut ran) = (Vec::new(), 0);
    for seed in first..first + cases.unwrap_or(CASES) {
        let code = code(seed, &names);
        let Ok(script) = Script::parse(&code, &[]) else { continue };
        ran += 1;
        if catch_unwind(AssertUnwindSafe(|| run(&script, seed % 4 == 0))).is_err() {
            wrong.push(format!("seed {seed}:\n{code}"));
        }
    }
    assert!(wrong.is_empty(), "{} cases failed:\n{}", wrong.len(), wrong.join("\n"));
    assert!(ran * 2 > cases.unwrap_or(CASES), "only {ran} cases could be read");
}
