//! The manual is made from the declarations, and its examples are tests. `stdlib/REFERENCE.md` is
//! written anew by `TEMBLOR_BLESS=1 cargo test -p temblor-stdlib --test manual`.

mod reference;

use std::collections::BTreeSet;
use temblor_lang::builtin::{Facts, Registry};
use temblor_lang::diagnostic::{Colour, render_all};
use temblor_lang::lower::{Compiler, NoModules};
use temblor_lang::run::{Context, Outcome};
use temblor_lang::value::{Arena, Owned, Value, canonical_key, to_json};
use temblor_stdlib::registry;

/// The value of a script as JSON, or why there is none.
fn run(script: &str) -> Result<String, String> {
    let mut compiler = Compiler::new(registry(), &NoModules);
    let source = compiler.sources.add("example".to_owned(), script.to_owned());
    let Some(script) = compiler.script(source) else {
        return Err(render_all(&compiler.diagnostics, &compiler.sources, Colour::Off));
    };
    let (arena, facts, mut state) = (Arena::new(), Facts::default(), Owned::default());
    let mut context = Context::new(&arena, &facts, Value::Null, Value::Null, &mut state);
    match script.run(&mut context) {
        Ok(Outcome::Emit { value, .. }) => Ok(to_json(value)),
        Ok(Outcome::Drop) => Ok("dropped".to_owned()),
        Err(why) => Err(why.message().to_owned()),
    }
}

/// A `use` for each module that the example calls by its last name.
fn uses(example: &str, library: &dyn Registry) -> String {
    let modules = library.module_paths();
    let mut wanted: BTreeSet<&str> = BTreeSet::new();
    for (at, _) in example.match_indices("::") {
        let is_name = |character: char| character.is_ascii_alphanumeric() || character == '_';
        let name = example[..at].rsplit(|character| !is_name(character)).next().unwrap_or("");
        let found = modules.iter().filter(|path| path.rsplit("::").next() == Some(name));
        // Of two modules with one name, the one that functions are in.
        let found = found.max_by_key(|path| {
            let inside = format!("{path}::");
            library.function_paths().iter().filter(|path| path.starts_with(&inside)).count()
        });
        wanted.extend(found.copied());
    }
    wanted.iter().map(|path| format!("use {path}; ")).collect()
}

#[test]
fn examples_are_true() {
    let library = registry();
    let mut wrong = Vec::new();
    let mut count = 0;
    for path in library.function_paths() {
        let function = library.function(path).expect("a path that was listed");
        for example in function.examples {
            count += 1;
            let given = run(&format!("{}{example}", uses(example, library)));
            if given.as_deref() != Ok("true") {
                wrong.push(format!("{path}: {example}\n    {given:?}"));
            }
        }
    }
    assert!(count > 200, "only {count} examples were found");
    assert!(wrong.is_empty(), "{} of {count} examples:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn standard_modules_compile() {
    let library = registry();
    for path in library.module_paths() {
        assert_eq!(run(&format!("use {path}; 1")), Ok("1".to_owned()), "{path}");
    }
}

#[test]
fn functions_of_standard_modules_work() {
    for (script, expected) in [
        ("use std::size; size::MiB(3)", "3145728"),
        ("use std; std::size::kiB(1.5)", "1536.0"),
        ("use std::time::nanos; nanos::from_hours(2)", "7200000000000"),
        ("use std::time::nanos; nanos::to_seconds(2500000000)", "2.5"),
        ("use std::time::nanos; nanos::truncate_seconds(2500000000)", "2000000000"),
        ("use std::integer; integer::signed::MIN", "-9223372036854775808"),
        ("use std::integer; integer::unsigned::MAX", "18446744073709551615"),
        ("use std::datetime; datetime::timezones::EUROPE_BERLIN", r#""Europe/Berlin""#),
        (
            "use std::datetime; datetime::format(0, datetime::formats::RFC2822)",
            r#""Thu, 01 Jan 1970 00:00:00 +0000""#,
        ),
        ("use cncf::otel::logs::severity; severity::to_string(17)", r#""ERROR""#),
        ("use cncf::otel::logs::severity; severity::indicates_error(18)", "true"),
        (
            r#"use cncf::otel; otel::span_id::is_valid("00f067aa0ba902b7")"#,
            r#"{"string":true,"value":"00f067aa0ba902b7"}"#,
        ),
        ("use http::status; status::NOT_FOUND", "404"),
        (r#"use tremor::mime; mime::CODEC_TO_MIME["json"]"#, r#""application/json""#),
        ("use tremor::windows; windows::EMIT_AND_INCLUDE", "[true,true]"),
    ] {
        assert_eq!(run(script).as_deref(), Ok(expected), "{script}");
    }
}

#[test]
fn every_name_of_tremor_is_there() {
    let library = registry();
    for name in include_str!("tremor-names.txt").lines() {
        let (module, last) = name.rsplit_once("::").expect("names stand in modules");
        let text = library.module(module).unwrap_or("");
        let is_defined = text.contains(&format!(" {last}("))
            || text.contains(&format!("const {last} "))
            || text.contains(&format!("connector {last} "))
            || text.contains(&format!("pipeline {last}\n"));
        assert!(
            is_defined || library.function(name).is_some() || library.aggregate(name).is_some(),
            "{name} is missing"
        );
    }
}

#[test]
fn reference_is_fresh() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/REFERENCE.md");
    let text = reference::text(registry());
    if std::env::var_os("TEMBLOR_BLESS").is_some() {
        std::fs::write(path, &text).expect("the manual can be written");
    }
    let written = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        written == text,
        "stdlib/REFERENCE.md is stale: TEMBLOR_BLESS=1 cargo test -p temblor-stdlib --test manual"
    );
}

/// Each line of `modules.ndjson` is a script and what tremor 0.13 gives for it, or that it fails.
#[test]
fn modules_give_what_tremor_gives() {
    let mut wrong = Vec::new();
    for line in include_str!("modules.ndjson").lines() {
        let arena = Arena::new();
        let tape = simd_json::to_tape(arena.bytes_mut(line.as_bytes())).expect("cases are JSON");
        let nodes: &[simd_json::Node<'_>] = arena.bump().alloc_slice_copy(&tape.0);
        let case = Value::from(nodes).as_record(&arena).expect("a case is a record");
        let script = case.get("script").and_then(Value::as_str).expect("a case has a script");
        let expected = case.get("gives").map(canonical_key);
        let given = run(script).ok().map(|text| sorted(&text));
        if expected != given {
            wrong.push(format!("{script}\n    gives {given:?}, not {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} scripts:\n{}", wrong.len(), wrong.join("\n"));
}

/// JSON with the fields of its records sorted.
fn sorted(text: &str) -> String {
    let arena = Arena::new();
    let tape = simd_json::to_tape(arena.bytes_mut(text.as_bytes())).expect("results are JSON");
    let nodes: &[simd_json::Node<'_>] = arena.bump().alloc_slice_copy(&tape.0);
    canonical_key(Value::from(nodes))
}
