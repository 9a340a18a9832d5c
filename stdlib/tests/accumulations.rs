//! Loops that add to what they have: they take memory and work in proportion to what they add, and they
//! give what they would give if each turn built its value anew.

use std::fmt::Write;
use temblor_lang::builtin::Facts;
use temblor_lang::diagnostic::{Colour, render_all};
use temblor_lang::lower::{Compiler, NoModules};
use temblor_lang::program::Script;
use temblor_lang::run::{Context, Outcome};
use temblor_lang::tape::Reader;
use temblor_lang::value::{Arena, Owned, Value, to_json};

const USES: &str = "use std::array; use std::string; use std::record;\n";

fn compile(source: &str, in_place: bool) -> Script {
    let mut compiler = Compiler::new(temblor_stdlib::registry(), &NoModules);
    compiler.in_place = in_place;
    let id = compiler.sources.add("script", format!("{USES}{source}"));
    let script = compiler.script(id);
    script.unwrap_or_else(|| {
        panic!("{source}\n{}", render_all(&compiler.diagnostics, &compiler.sources, Colour::Off))
    })
}

/// What became of the event and of what the script may change, and the bytes that the run asked for.
fn run(script: &Script, event: &str) -> (String, usize) {
    let (arena, facts, mut state) = (Arena::new(), Facts::default(), Owned::Null);
    let event = Reader::default().read(event.as_bytes(), &arena).expect("events are JSON");
    let before = arena.charged_bytes();
    let meta = Value::EMPTY_RECORD;
    let mut context = Context::new(&arena, &facts, event, meta, &mut state);
    let outcome = match script.run(&mut context) {
        Ok(Outcome::Emit { value, port }) => format!("{} to {port:?}", to_json(value)),
        Ok(Outcome::Drop) => "dropped".to_string(),
        // What is left of an event that failed is the engine's matter.
        Err(error) => return (format!("{} {error}", error.code()), arena.charged_bytes() - before),
    };
    let (event, meta) = (to_json(context.event), to_json(context.meta));
    let state = to_json(context.state.read(&Arena::new()).copy_into(&arena));
    (format!("{outcome}\n{event}\n{meta}\n{state}"), arena.charged_bytes() - before)
}

/// An array of so many elements under `a`, whose last one is longer.
fn event(size: usize) -> String {
    let elements: Vec<String> = (0..size).map(|at| format!("\"v{at}\"")).collect();
    format!("{{\"a\":[{}],\"s\":\"\"}}", elements.join(","))
}

/// Each adds `v`, the element number `i`, to something.
const ACCUMULATIONS: [(&str, &str); 26] = [
    ("let x = []", "let x = array::push(x, v)"),
    ("let x = []", "let x = x + [v]"),
    ("let x = []", "let x = array::concatenate(x, [v, i])"),
    ("let x = \"\"", "let x = x + v"),
    ("let x = \"\"", "let x = \"#{x},#{v}\""),
    ("let x = {}", "let x[v] = i"),
    ("let x = {}", "let x = x + {\"#{v}\": i}"),
    ("let x = {}", "let x = merge x of {\"#{v}\": i} end"),
    ("let x = {}", "let x = patch x of upsert \"#{v}\" => i end"),
    ("let x = {}", "let x = record::combine(x, {\"#{v}\": i})"),
    ("let x = {\"in\": {\"side\": {}}}", "let x.in.side[v] = i"),
    ("let x = {\"list\": []}", "let x.list = array::push(x.list, v)"),
    ("let x = {}", "let x[v] = (x[v] ?? 0) + 1"),
    ("let x = {}", "match present x[v] of case true => null case _ => let x[v] = [i] end"),
    ("let x = []", "let x = match i % 2 of case 0 => array::push(x, v) case _ => x end"),
    ("let x = []", "if i % 2 == 0 then let x = array::push(x, v) else let x = x + [i] end"),
    ("let x = []", "let x = if i % 2 == 0 then array::push(x, v) else x end"),
    ("let event.x = []", "let event.x = array::push(event.x, v)"),
    ("let event.s = \"\"", "let event.s = event.s + v"),
    ("let event.x = {}", "let event.x[v] = i"),
    ("let event.x = {\"y\": {}}", "let event.x.y[v] = i"),
    ("let event.s = 1", "let event[v] = i"),
    ("let $x = []", "let $x = array::push($x, v)"),
    ("let $x = {}", "let $x[v] = i"),
    ("let state = {\"x\": []}", "let state.x = array::push(state.x, v)"),
    ("let x = []; let n = 0", "let n = n + array::len(x); let x = array::push(x, v)"),
];

fn loop_over(first: &str, turn: &str) -> String {
    format!("{first};\nfor event.a of case (i, v) => {turn}; null end;\nlet event.a = null;\nevent")
}

#[test]
fn accumulations_take_in_proportion_to_what_they_add() {
    let (small, large) = (event(3_000), event(12_000));
    for (first, turn) in ACCUMULATIONS {
        let script = compile(&loop_over(first, turn), true);
        let (outcome, once) = run(&script, &small);
        assert!(!outcome.starts_with("E0"), "{turn}: {outcome}");
        let (outcome, fourfold) = run(&script, &large);
        assert!(!outcome.starts_with("E0"), "{turn}: {outcome}");
        assert!(fourfold <= 5 * once, "{turn}: {once} bytes, then {fourfold}");
    }
}

#[test]
fn accumulations_give_what_they_would_give_otherwise() {
    let event = event(300);
    for (first, turn) in ACCUMULATIONS {
        let source = loop_over(first, turn).replace("\nevent", "\n[event, $, state]");
        let source =
            if first.contains(" x =") { source.replace("[event", "[x, event") } else { source };
        let expected = run(&compile(&source, false), &event);
        assert_eq!(run(&compile(&source, true), &event).0, expected.0, "{source}");
    }
}

/// A line of 71 KB in which an array is gathered: what took gigabytes.
#[test]
fn a_long_line_is_gathered_in_little_memory() {
    let numbers: Vec<String> = (0..14_000).map(|at| format!("{}", 1000 + at % 9000)).collect();
    let event = format!("{{\"a\":[{}]}}", numbers.join(","));
    let script = "let x = []; for event.a of case (i, v) => let x = array::push(x, v) end; x";
    let (outcome, bytes) = run(&compile(script, true), &event);
    assert!(outcome.starts_with("[1000,1001,"), "{}", &outcome[..80]);
    assert!(bytes < 4 << 20, "{bytes} bytes for {} bytes of text", event.len());
}

/// Random statements over a few places, which now and then do not fit what is there.
struct Programs(u64);

impl Programs {
    fn below(&mut self, count: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % count
    }

    fn one_of<'s>(&mut self, all: &[&'s str]) -> &'s str {
        all[self.below(all.len())]
    }

    fn statement(&mut self) -> String {
        let lists = ["x", "event.list", "$list", "state.list", "r.list"];
        let texts = ["t", "event.text", "$text", "state.text", "r.text"];
        let records = ["r", "event.record", "$record", "state.record", "r.record"];
        let odd = self.below(60) == 0;
        let (list, text, record) = match odd {
            true => (self.one_of(&texts), self.one_of(&records), self.one_of(&lists)),
            false => (self.one_of(&lists), self.one_of(&texts), self.one_of(&records)),
        };
        let value = self.one_of(&["i", "v", "[v]", "{\"k\": v}", "x", "t", "event.list", "null"]);
        let part = self.one_of(&["v", "\"-\"", "\"#{i}\"", "t", "event.text"]);
        let key = format!("k{}", self.below(14));
        match self.below(22) {
            0 | 1 => format!("let {list} = array::push({list}, {value})"),
            2 => format!("let {list} = {list} + [{value}, i]"),
            3 => format!("let {list} = array::concatenate({list}, {list})[0:4]"),
            4 | 5 => format!("let {text} = {text} + {part}"),
            6 => format!("let {text} = \"#{{{text}}}#{{{part}}}\""),
            7 | 8 => format!("let {record}.{key} = {value}"),
            9 => format!("let {record} = {record} + {{\"{key}\": {value}}}"),
            10 => {
                format!("let {record} = merge {record} of {{\"{key}\": {value}, \"m\": null}} end")
            }
            11 => format!("let {record} = patch {record} of upsert \"{key}\" => {value} end"),
            12 => format!("let {record} = patch {record} of erase \"{key}\" end"),
            13 => format!("let {record}.deep.{key} = {value}"),
            14 => format!("let x = {list}"),
            15 => format!("let n = n + array::len({list}) + string::len({text})"),
            16 => format!("let n = [n, present {record}.{key}, {record}.{key} ?? 0]"),
            17 => format!("let r = {record}"),
            18 => format!(
                "let {list} = match i % 2 of case 0 => array::push({list}, v) case _ => {list} end"
            ),
            19 => format!("let t = {text}"),
            20 => "let event = merge event of {\"extra\": i} end".to_string(),
            _ => "let n = keep(x, t)".to_string(),
        }
    }

    fn program(&mut self) -> String {
        let mut text = String::from(
            "fn keep(a, b) with let a = array::push(a, b); let b = b + \"!\"; [array::len(a), b] end;\n",
        );
        let list = "[0, 1, 2, 3, 4, 5, 6, 7, 8]";
        let long = "0123456789".repeat(13);
        let record: Vec<String> = (0..9).map(|at| format!("\"k{at}\": {at}")).collect();
        let record = format!("{{{}, \"deep\": {{{}}}}}", record.join(", "), record.join(", "));
        let all = format!("\"list\": {list}, \"text\": \"{long}\", \"record\": {record}");
        let _ = write!(
            text,
            "let n = 0; let x = {list}; let t = \"{long}\"; let r = {{{all}, \"deep\": {{}}}};\n\
             let event = merge event of {{{all}}} end; let state = {{{all}}};\n\
             let $list = {list}; let $text = \"{long}\"; let $record = {record};\n"
        );
        let turns: Vec<String> = (0..2 + self.below(5)).map(|_| self.statement()).collect();
        let _ = writeln!(text, "for event.a of case (i, v) => {}; null end;", turns.join("; "));
        let after: Vec<String> = (0..self.below(4)).map(|_| self.statement() + "; ").collect();
        text + &after.concat() + "[n, x, t, r, event, $, state]"
    }
}

#[test]
fn random_programs_give_what_they_would_give_otherwise() {
    let (mut programs, mut ended_well) = (Programs(42), 0);
    let event = event(7);
    for _ in 0..400 {
        let source = programs.program();
        let expected = run(&compile(&source, false), &event).0;
        assert_eq!(run(&compile(&source, true), &event).0, expected, "{source}");
        ended_well += usize::from(!expected.starts_with("E0"));
    }
    assert!((100..399).contains(&ended_well), "{ended_well} of 400 ended well");
}

/// Values that share what they hold are trees without end: what walks them ends with the budget.
#[test]
fn values_without_end_are_not_walked() {
    const LEVELS: usize = 60;
    for last in [
        "x == y",
        "x != [y, y]",
        "array::contains([[1], [2], x], y)",
        "array::sort([x, y])",
        "array::unique([x, y])",
        "array::index_of([x], y)",
        "array::join([x], \",\")",
        "array::flatten(x)",
        "match x of case y => 2 case _ => 3 end",
        "array::difference(x, y)",
    ] {
        let doubled = "let x = [x, x]; let y = [y, y]; ".repeat(LEVELS);
        let source = format!("let x = [event.a]; let y = [event.a]; {doubled}{last}");
        let script = compile(&source, true);
        let (arena, facts, mut state) =
            (Arena::limited(1 << 20, 1 << 20), Facts::default(), Owned::Null);
        let event = Reader::default().read(b"{\"a\":1}", &arena).expect("JSON");
        let mut context = Context::new(&arena, &facts, event, Value::EMPTY_RECORD, &mut state);
        let error = script.run(&mut context).expect_err(last);
        assert!(matches!(error.code(), "E0442" | "E0443"), "{last}: {error}");
    }
}
