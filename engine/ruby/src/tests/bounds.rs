//! Code that once hung, panicked, overflowed the stack, held memory without bound or silently
//! gave a wrong result: each case ends with a value or with the reason why it was stopped.

use super::super::{Limits, Machine, Memory, Script};
use super::run_within;
use chrono::{DateTime, Utc};
use temblor_lang::value::Arena;
use temblor_logstash_event::datum::Map;
use temblor_logstash_event::event::LogEvent;

/// A tenth of what a filter has, so that bounds are reached soon.
const LIMITS: Limits = Limits { steps: 200_000, event_bytes: 8 << 20, heap_bytes: 64 << 20 };

fn gives(cases: &[(&str, &str)]) {
    super::all_give(cases, |code| run_within(code, LIMITS));
}

/// Runs code over so many events: what the last one gave, and the bytes that are held then.
fn after_events(code: &str, events: usize) -> (Result<String, String>, usize) {
    let script = Script::parse(code, &[]).expect("the code is known");
    let now = DateTime::<Utc>::UNIX_EPOCH;
    let mut memory = Memory::bounded(LIMITS);
    let mut last = Ok(String::new());
    for _ in 0..events {
        let arena = Arena::new();
        let mut machine =
            Machine::new(LogEvent::new(Map::default(), now), &mut memory, &arena, now);
        machine.collect_while_running();
        last = match machine.run(&script) {
            Ok(value) => Ok(value.inspect(machine.heap())),
            Err(stop) => Err(stop.message()),
        };
        memory.settle(std::iter::empty());
    }
    (last, memory.heap().held())
}

const STEPS: &str = "! the code ran more than 200000 steps";
const DEPTH: &str = "! values nest deeper than 100 levels";
const CALLS: &str = "! stack level too deep";
const SIZE: &str = "! the code made a text or list of more than 1048576 bytes or items";
const EVENT: &str = "! the code made values of more than 8 MiB for one event";

#[test]
fn values_that_share_what_they_hold() {
    gives(&[
        ("s = Set.new; s.add?(1); s.add?(1)", "nil"),
        ("k = [1]; [k, k].sort_by { k }", "[[1], [1]]"),
        ("Array.new(3, [1, 2]).max", "[1, 2]"),
        ("h = {}; h[h] = 1; h.size", "1"),
        ("a = []; a << a; a", "[[...]]"),
        ("h = {}; h['a'] = h; h", "{\"a\"=>{...}}"),
        ("s = Set.new; s << s; s", "#<Set: {#<Set: {...}>}>"),
        ("P = Struct.new(:a); x = P.new(1); x.a = x; x.to_s", "\"#<struct P a=#<struct P:...>>\""),
        ("a = []; a << a; a == [a]", "true"),
        ("a = []; a << a; b = []; b << b; a == b", DEPTH),
        ("a = []; a << a; a <=> [[[]]]", "1"),
        ("a = []; a << a; a.flatten", DEPTH),
        ("a = []; a << a; a.join", DEPTH),
        ("a = []; a << a; event.set('a', a)", DEPTH),
        ("a = []; a << a; a.to_json", DEPTH),
        ("a = [1]; a.concat(a, a)", "[1, 1, 1]"),
        ("h = { 'a' => 1 }; h.merge!(h) { |k, o, n| o + n }", "{\"a\"=>2}"),
        ("a = [3, 1, 2]; a.sort! { |x, y| a.clear; x <=> y }", "[1, 2, 3]"),
        ("a = [1, 2]; a.each { |x| a << x if a.size < 9 }; a.size", "4"),
        ("h = { 'a' => 1 }; h.each { |k, v| h.delete(k) }; h", "{}"),
        ("x = 'a'; x << x << x; x", "\"aaaa\""),
    ]);
}

#[test]
fn numbers_without_a_panic() {
    gives(&[
        ("0.gcd(5)", "5"),
        ("0.gcd(0)", "0"),
        ("0.lcm(0)", "0"),
        ("(10**30).fdiv(0)", "Infinity"),
        ("(-(10**30)).fdiv(0)", "-Infinity"),
        ("(10**30).quo(0)", "! divided by 0"),
        ("5.remainder(0)", "! divided by 0"),
        ("(-9223372036854775807 - 1) / -1", "9223372036854775808"),
        ("(-9223372036854775807 - 1).abs", "9223372036854775808"),
        ("[1, 2][1, 9223372036854775807]", "[2]"),
        ("'abc'[1, 9223372036854775807]", "\"bc\""),
        ("(9223372036854775806..9223372036854775807).to_a.size", "2"),
        ("9223372036854775806.upto(9223372036854775807).to_a.size", "2"),
        ("[1].each.with_index(9223372036854775807).to_a", "[[1, 9223372036854775807]]"),
        ("'%.70000f' % 1.0", "! precision above 16384"),
        ("'%2000000d' % 1", SIZE),
        ("x = BigDecimal('1e-9000'); x = x * x; x = x * x; x", "! bignum too big to convert"),
        ("BigDecimal('1.5').ceil(-9223372036854775808) > 1", "true"),
        ("BigDecimal('1.5').round(-9223372036854775808).to_i", "0"),
        ("Date.new(2020, 1, 1) << -2147483648", "! out of range"),
        ("[1.0, 0.0 / 0.0, 2.0, 3.0, 0.0 / 0.0].sort", "! comparison of Float with NaN failed"),
        ("(1..60).to_a.sort { |a, b| a % 3 - b % 2 }.size", "60"),
    ]);
}

#[test]
fn depth_is_bounded() {
    let nested = format!("a = {}; a", "[".repeat(10) + &"]".repeat(10));
    assert!(super::run(&nested).starts_with("[[["));
    let deeper = format!("a = {}; a", "[".repeat(80) + &"]".repeat(80));
    assert!(super::run(&deeper).contains("nested deeper than 64 levels"));
    gives(&[
        ("a = []; 5_000.times { a = [a] }; a.to_s.size", DEPTH),
        ("a = []; 5_000.times { a = [a] }; a == [a]", DEPTH),
        ("a = {}; 5_000.times { a = { 'x' => a } }; event.set('a', a)", DEPTH),
        ("a = 1; 5_000.times { a = (a..a) }; a.to_s.size", DEPTH),
        ("f = nil; 20_000.times { g = f; f = -> { g } }; 1", "1"),
        ("class A; def to_s; \"#{self}\"; end; end; A.new.to_s", CALLS),
        ("class A; def <=>(o) self <=> o end; end; [A.new, A.new].sort", CALLS),
        ("class A; include Comparable; def <=>(o) self < o ? 1 : 0 end; end; A.new < A.new", CALLS),
        ("def f(x) f(x) end; f(1)", CALLS),
        ("f = ->(x) { f.(x) }; f.(1)", CALLS),
        ("def f(&b) f(&b) end; f { 1 }", CALLS),
        ("1.send(*([:send] * 100_000))", CALLS),
        ("a = []; a << a; a.dig(*([0] * 100_000)).size", CALLS),
        ("Regexp.new('(' * 100_000)", "! at byte 128: groups nest deeper than 128"),
        ("def f(n) n == 0 ? 0 : 1 + f(n - 1) end; f(300)", "300"),
        ("h = Hash.new { |x, k| x[k] }; h[1]", CALLS),
        (
            "n = 0; 3000.times { begin; def g(x) g(x) end; g(1); rescue Exception; n += 1; end }; n",
            STEPS,
        ),
    ]);
}

/// Chains of operators and calls make trees that lean to the left; they are bounded as nesting is.
#[test]
fn long_chains_are_bounded() {
    let mut sum = String::from("1");
    (0..300).for_each(|_| sum.push_str(" + 1"));
    assert_eq!(super::run(&sum), "301");
    for link in [" + 1", ".abs", "[0]", " || 1", " and 1", " if 1"] {
        let code = format!("1{}", link.repeat(100_000));
        assert!(super::run(&code).contains("chains more than"), "{link}");
    }
}

#[test]
fn work_is_paid_for() {
    gives(&[
        ("s = 'ab' * 500_000; 100_000.times { s.reverse }", STEPS),
        ("s = 'ab' * 500_000; 100_000.times { s.include?('zz') }", STEPS),
        ("s = 'ab' * 500_000; t = s + ''; 100_000.times { s == t }", STEPS),
        ("s = 'ab' * 500_000; 100_000.times { s =~ /zz/ }", STEPS),
        ("s = 'ab' * 250_000; 100_000.times { s.gsub('a') { |x| x } }", STEPS),
        ("a = (1..500_000).to_a; 100_000.times { a.reverse }", EVENT),
        ("a = (1..100_000).to_a; 100_000.times { a.include?(0) }", STEPS),
        ("a = (1..50_000).to_a; b = a.reverse; (a - b).size + (a & b).size", "50000"),
        ("x = 1 << 30_000; 100_000.times { x * x }", STEPS),
        ("a = []; 40.times { a = [a, a] }; a.to_s.size", STEPS),
        ("a = []; 40.times { a = [a, a] }; a.flatten", STEPS),
        ("a = []; b = []; 40.times { a = [a, a]; b = [b, b] }; a == b", STEPS),
        ("a = []; 40.times { a = [a, a] }; event.set('a', a)", STEPS),
        ("a = []; 40.times { a = [a, a] }; a.to_json.size", STEPS),
        (
            "P = Struct.new(:a, :b); x = P.new(1, 2); 40.times { x = P.new(x, x) }; x.to_s.size",
            SIZE,
        ),
        ("s = 'a' * 100_000; s.gsub('a', \"\\\\`\").size", SIZE),
        ("s = 'a' * 1_000_000; s.gsub('a', 'b' * 1_000_000).size", STEPS),
        ("s = 'ab' * 500_000; s.delete(s).size", "0"),
        ("s = 'ab' * 500_000; s.tr(s, 'x')", SIZE),
        ("(1..1000).to_a.combination(998).size", EVENT),
        ("(1..100_000).to_a.each_cons(50_000) { 1 }", EVENT),
        (
            "while true do begin; 'a'.frobnicate rescue 1; end end",
            "21: the method `frobnicate` is not known here",
        ),
        ("while true do Integer('z') rescue 1 end", STEPS),
        ("CSV.parse_line('a,' * 500_000).size", EVENT),
        ("CSV.parse_line('a', col_sep: '')", "! Illegal quoting in line 1."),
        ("CGI.parse((1..50_000).map(&:to_s).join('&')).size", EVENT),
        ("('-' * 1_000_000).to_d.to_s", "\"0.0\""),
        ("2.pow(1 << 60_000, (1 << 60_000) + 1)", STEPS),
        ("a = [1] * 100_000; a.zip(*([a] * 1_000))", SIZE),
        ("Time.now.strftime('%1024d' * 100_000)", SIZE),
        ("event.set('s', 'x' * 100_000); event.sprintf('%{s}' * 10_000)", SIZE),
        ("a = ['x' * 100_000] * 1000; a.inspect.size", SIZE),
        ("a = ['x' * 100_000] * 1000; a.to_json.size", SIZE),
    ]);
}

/// What code gathers piece by piece takes time in proportion to what it gathers.
#[test]
fn gathering_is_linear() {
    gives(&[
        ("s = ''; 20_000.times { |i| s << 'abcdefgh' }; s.size", "160000"),
        ("a = []; 20_000.times { |i| a << i }; a.size + a[-1] + a.last + a.first", "59998"),
        ("h = {}; 20_000.times { |i| h[i] = i }; h.size + h[5]", "20005"),
        ("a = (1..700).map { |i| (i * 7919) % 2003 }; a.sort { |x, y| x <=> y } == a.sort", "true"),
    ]);
}

#[test]
fn memory_of_an_event_is_bounded() {
    gives(&[
        ("s = 'a' * 1_000_000; a = []; 1000.times { |i| a << s + i.to_s }; a.size", STEPS),
        ("a = ['a' * 1_000_000] * 1000; a.size", "1000"),
        ("s = 'a' * 1_000_000; a = []; 1000.times { |i| a << (s + i.to_s).to_sym }", STEPS),
        ("a = []; 100_000.times { |i| a << ((1 << 60_000) + i) }", STEPS),
        ("a = [0] * 1_000_000; b = []; 1000.times { b << a.dup }", EVENT),
        ("s = 'a' * 1_000_000; 1000.times { |i| event.set(\"x#{i}\", s) }", EVENT),
        ("s = 'a'; 40.times { s += s }", SIZE),
        ("s = 'a'; 40.times { s = \"#{s}#{s}\" }", SIZE),
        ("a = [1]; 40.times { a += a }", EVENT),
    ]);
}

/// Code may make more than an event may hold, as long as it does not keep it: what it has lost is freed while it runs.
#[test]
fn what_code_has_lost_is_freed_while_it_runs() {
    let cases = &[
        ("a = nil; 1_600.times { a = [0] * 2_000 }; a.size", "2000"),
        ("i = 0; while i < 1_600; a = [i] * 2_000; i += 1; end; a[-1]", "1599"),
        ("s = 0; (1..1_600).each { |i| b = [i] * 2_000; s += b.size }; s", "3200000"),
        ("(1..1_600).map { |i| ([i] * 2_000).size }.sum", "3200000"),
        ("(1..1_600).inject([]) { |m, i| [i] * 2_000 }.last", "1600"),
        (
            "def f(n) x = [n] * 2_000; x.size end; s = 0; 1_600.times { |i| s += f(i) }; s",
            "3200000",
        ),
        ("1_600.times { x = [0] * 2_000; x << x; h = { 1 => x }; h[2] = h }; 1", "1"),
        (
            "k = { 'a' => ['b'] }; 1_600.times { |i| k['a'] << ([i] * 2_000).last }; k['a'].size",
            "1601",
        ),
        (
            "class A; def initialize(n) @l = [n] * 2_000 end; def n; @l.size end; end; s = 0; \
             1_600.times { |i| s += A.new(i).n }; s",
            "3200000",
        ),
        (
            "a = []; 1_600.times { |i| a << ([i] * 2_000) }; a.size",
            "! the code made values of more than 64 MiB for one event",
        ),
    ];
    super::all_give(cases, super::run);
}

/// Copies in the event count as long as the event lives, whatever is freed meanwhile.
#[test]
fn what_goes_into_the_event_is_not_forgotten() {
    let code = "s = 'x' * 1_000_000; 90.times { |i| event.set(\"a#{i}\", s) }";
    let made = "! the code made values of more than 64 MiB for one event";
    super::all_give(&[(code, made)], super::run);
}

#[test]
fn what_an_event_leaves_behind_is_freed() {
    let cycles =
        "a = []; 100.times { b = ['x' * 2_000, a]; b << b; a << b }; f = -> { a }; f.call.size";
    let (last, held) = after_events(cycles, 200);
    assert_eq!(last, Ok("100".to_string()));
    assert!(held < 8 << 20, "{held} bytes are held");
    let replaced = "@x = ['y' * 100_000, @x && @x[0]]; $y = { 'a' => @x }; @x.size";
    let (last, held) = after_events(replaced, 2_000);
    assert_eq!(last, Ok("2".to_string()));
    assert!(held < 8 << 20, "{held} bytes are held");
}

#[test]
fn what_is_kept_stays_what_it_was() {
    let code = "@n ||= 0; @n += 1; @all ||= {}; @all[\"k#{@n % 10}\"] = ['v' * 50_000, @n, :s, 1..@n]; \
        @count ||= ->(x) { @n + x }; @all.map { |k, v| [k, v[0].size, v[1], v[3].to_a.size] }.sort.first";
    let (last, _) = after_events(code, 300);
    assert_eq!(last, Ok("[\"k0\", 50000, 300, 300]".to_string()));
}

#[test]
fn a_counter_in_a_closure_goes_on() {
    gives(&[
        ("def counter; n = 0; -> { n += 1 }; end; c = counter; c.call; c.call; c.call", "3"),
        ("fs = [1, 2, 3].map { |i| -> { i * 10 } }; fs.map(&:call)", "[10, 20, 30]"),
        ("x = 1; add = proc { |y| x += y }; [1, 2].each(&add); x", "4"),
        ("def each_twice; yield 1; yield 2; end; s = 0; each_twice { |x| s += x }; s", "3"),
        ("[1].each { |inner| 1 }; inner", "24: the function or variable `inner` is not known here"),
        ("x = 5 if false; x", "nil"),
        ("y = 1 unless y; y", "1"),
    ]);
    let (last, _) = after_events("@c ||= (n = 0; -> { n += 1 }); @c.call", 5);
    assert_eq!(last, Ok("5".to_string()));
}

#[test]
fn what_is_kept_is_bounded() {
    let code = "@all ||= []; @all << 'z' * 1_000_000 << 'y' * 1_000_000; @all.size";
    let (last, held) = after_events(code, 100);
    assert_eq!(last, Err("the code keeps values of more than 64 MiB".to_string()));
    assert!(held <= LIMITS.heap_bytes + LIMITS.event_bytes, "{held} bytes are held");
    let (last, _) = after_events(code, 3);
    assert_eq!(last, Ok("6".to_string()));
    // Code that empties what it keeps goes on.
    let (last, _) = after_events(&format!("@all = [] if @all && @all.size > 40; {code}"), 100);
    assert!(last.is_ok(), "{last:?}");
}

/// The bounds of a filter are those that are documented.
#[test]
fn the_bounds_of_a_filter() {
    assert_eq!(super::run("while true do end"), "! the code ran more than 2000000 steps");
    let large = "a = [0] * 1_000_000; b = []; 1000.times { b << a.dup }";
    assert_eq!(super::run(large), "! the code made values of more than 64 MiB for one event");
}

#[test]
fn results_that_were_wrong_in_silence() {
    gives(&[
        ("[1, 2, 3].reverse_each.to_a", "[3, 2, 1]"),
        ("[1, 2, 3].reverse_each.map { |x| x * 2 }", "[6, 4, 2]"),
        ("'1.9.9'.succ", "\"2.0.0\""),
        ("'a-9'.succ", "\"a-10\""),
        ("'Zz'.succ + ' ' + 'zz99'.succ + ' ' + '<<koala>>'.succ", "\"AAa aaa00 <<koalb>>\""),
        ("'NZ/[]ZZZ9999'.succ + '1999zzz'.succ + '***'.succ", "\"OA/[]AAA00002000aaa**+\""),
        ("25.round(-1, half: :even)", "20"),
        (
            "[25.round(-1), 25.round(-1, half: :down), -25.round(-1), 35.round(-1, half: :even)]",
            "[30, 20, -30, 40]",
        ),
        (
            "[2.5.round(half: :even), 2.5.round(half: :down), 2.5.round(half: :up), 0.25.round(1, half: :even)]",
            "[2, 2, 3, 0.2]",
        ),
        ("[15.floor(-1), 15.ceil(-1), -15.truncate(-1), 15.round(-20)]", "[10, 20, -10, 0]"),
        ("Integer('z', exception: false)", "nil"),
        ("Float('z', exception: false)", "nil"),
        ("Integer('12', exception: false)", "12"),
        ("('a'..'c').include?('bb')", "false"),
        ("('a'..'c').cover?('bb')", "true"),
        ("{ 'a' => 1, 'b' => 2 }.fetch_values('a', 'b')", "[1, 2]"),
        ("{ 'a' => 1 }.fetch_values('z')", "! key not found: \"z\""),
        ("{ 'a' => 1 }.fetch_values('z') { |k| k * 2 }", "[\"zz\"]"),
        ("%w[aa bb c].max_by(&:length)", "\"aa\""),
        ("a = [1, 2, 2, 3]; a.slice!(1); a", "[1, 2, 3]"),
        ("{ Time.at(0, 1) => 1, Time.at(0, 2) => 2 }.size", "2"),
        ("f = -> { 1 }; g = -> { 2 }; { f => 1, g => 2 }.size", "2"),
        ("sleep(0.1)", "0"),
        ("sleep", "! `sleep` without seconds never ends"),
    ]);
}
