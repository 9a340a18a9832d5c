//! Programs over events that are large in one dimension: elements, bytes, levels, fields.
//!
//! Invariant: work is counted, not timed. Twice the data takes about twice the work, and whatever cannot be done
//! within the budgets of an event ends that event, never the process. `TEMBLOR_LARGE=1` runs every program, with
//! ten times the data; without it a part is taken, another one with each change of `SAMPLE`.

use std::path::{Path, PathBuf};
use temblor_casebook::file::CaseFile;
use temblor_catalog::registry;
use temblor_codec::InputCodec;
use temblor_lang::lower::NoModules;
use temblor_lang::value::{Arena, EVENT_BYTES_MAX, EVENT_STEPS_MAX, JsonStyle, to_json};
use temblor_pipeline::load::{Language, LoadOptions};
use temblor_pipeline::rehearsal::Rehearsal;
use temblor_stdlib::formats::json;

/// One program of so many is run unless all are asked for.
const SAMPLE: usize = 9;
/// Elements, bytes or fields, unless more are asked for.
const SIZE: usize = 1_500;
/// Levels of JSON are bounded.
const LEVELS_MAX: usize = 500;
/// What a doubling may cost, and what does not count, in bytes and steps.
const GROWTH: usize = 3;
const SLACK: usize = 1 << 20;

fn is_long() -> bool {
    std::env::var_os("TEMBLOR_LARGE").is_some()
}

/// A way to be large, and the event of a size.
type Shape = (&'static str, fn(usize) -> String);

/// The ways to be large.
const SHAPES: [Shape; 5] = [
    ("elements", |size| format!("[{}0]", "1.5,".repeat(size))),
    ("records", |size| format!("[{}{{}}]", "{\"a\":1,\"key\":\"x\"},".repeat(size))),
    ("bytes", |size| format!("\"{}\"", "k=v, 1.2 ".repeat(size / 9))),
    ("levels", |size| {
        let levels = (size / 3).min(LEVELS_MAX);
        format!("{}1{}", "{\"a\":[".repeat(levels), "]}".repeat(levels))
    }),
    ("fields", |size| {
        let fields: Vec<_> = (0..size).map(|at| format!("\"k{at}\":{at}")).collect();
        format!("{{{}}}", fields.join(","))
    }),
];

/// An event with a large value in the place of each field, or of all of it.
fn enlarged(event: &str, large: &str) -> Vec<String> {
    const FIELDS_MAX: usize = 3;
    let arena = Arena::new();
    let record = json::parse(event, &arena).ok().and_then(|value| value.as_record(&arena));
    let Some(record) = record else { return vec![large.to_string()] };
    let place = |at: usize| {
        let field = |(number, (key, value)): (usize, (&str, temblor_lang::value::Value<'_>))| {
            let value = if number == at { large.to_string() } else { to_json(value) };
            format!("{}:{value}", to_json(temblor_lang::value::Value::Str(key)))
        };
        let fields: Vec<_> = record.iter().enumerate().map(field).collect();
        format!("{{{}}}", fields.join(","))
    };
    (0..record.iter().count().min(FIELDS_MAX)).map(place).collect()
}

/// What an event takes of a program that has just begun: bytes and steps together.
fn cost(program: &Program, event: &str) -> Option<usize> {
    let loaded = LoadOptions::new(registry()).compile(
        "large",
        program.text.clone(),
        program.language,
        &NoModules,
    );
    if loaded.has_errors() {
        return None;
    }
    let mut rehearsal = Rehearsal::new(loaded.graph, loaded.sources, JsonStyle::Compact);
    let happened = rehearsal.send("in", InputCodec::Json, event.as_bytes())?;
    assert!(!happened.is_empty() || rehearsal.now_ns() == 0);
    let (bytes, steps) = rehearsal.spent();
    rehearsal.flush();
    Some(bytes + steps)
}

struct Program {
    from: String,
    language: Language,
    text: String,
    event: String,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The cases of the specification that have an input.
fn programs() -> Vec<Program> {
    let mut found = Vec::new();
    for path in temblor_casebook::walk::files(&root().join("spec")).expect("the folder is there") {
        let text = std::fs::read_to_string(&path).expect("it is text");
        for case in CaseFile::read(&text).cases {
            let language = match case.kind.split(' ').next() {
                Some("script") => Language::Script,
                Some("query") => Language::Query,
                Some("chain" | "program") => Language::Temblor,
                _ => continue,
            };
            let plain = |line: &&str| line.starts_with(['{', '[', '"']);
            let input = case.section("in").and_then(|input| input.lines().find(plain));
            let Some(event) = input.map(str::to_string) else { continue };
            let from = format!("{}:{}", path.display(), case.line);
            found.push(Program { from, language, text: case.program, event });
        }
    }
    found
}

#[test]
fn programs_grow_in_proportion_and_keep_within_their_budgets() {
    let (sample, size) = if is_long() { (1, 10 * SIZE) } else { (SAMPLE, SIZE) };
    let (mut compared, mut steep) = (0, Vec::new());
    for program in programs().iter().step_by(sample) {
        for (shape, make) in SHAPES {
            let events = enlarged(&program.event, &make(size));
            let larger = enlarged(&program.event, &make(2 * size));
            for (at, (event, larger)) in events.iter().zip(&larger).enumerate() {
                let (Some(once), Some(twice)) = (cost(program, event), cost(program, larger))
                else {
                    continue;
                };
                compared += 1;
                let is_ended = twice >= EVENT_BYTES_MAX.min(EVENT_STEPS_MAX);
                if twice > GROWTH * once + SLACK && !is_ended {
                    let what = format!("{} over {shape} in field {at}", program.from);
                    steep.push(format!("{what}: {once}, then {twice}"));
                }
            }
        }
    }
    assert!(compared > 100, "only {compared} events were compared");
    assert!(steep.is_empty(), "{compared} compared; {steep:#?}");
}
