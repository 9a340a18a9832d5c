//! Walks `functions/*.ndjson`: each line is a call and what it gives, or that it fails. The results
//! were confirmed by running tremor 0.13 (`spec/differences.md` lists where ours differ on purpose);
//! those of `beyond.ndjson`, for functions that tremor has not, are our own.

use std::path::PathBuf;
use temblor_lang::builtin::{Call, CallError, Facts};
use temblor_lang::value::{Arena, JsonStyle, Value, push_json};
use temblor_stdlib::registry;

/// In a case, a record with just this field stands for the bytes of the text in it.
const BYTES: &str = "bytes of";

fn read_json<'a>(text: &str, arena: &'a Arena) -> Value<'a> {
    let bytes = arena.bytes_mut(text.as_bytes());
    let tape = simd_json::to_tape(bytes).unwrap_or_else(|why| panic!("{why}: {text}"));
    let nodes: &[simd_json::Node<'a>] = arena.bump().alloc_slice_copy(&tape.0);
    Value::from(nodes).copy_into(arena)
}

fn sorted_text(value: Value<'_>) -> String {
    let mut text = Vec::new();
    push_json(&mut text, value, JsonStyle::Sorted);
    String::from_utf8(text).expect("JSON output is UTF-8")
}

fn argument<'a>(value: Value<'a>, arena: &'a Arena) -> Value<'a> {
    let marked = value.as_record(arena).filter(|record| record.len() == 1);
    match marked.and_then(|record| record.get(BYTES)).and_then(Value::as_str) {
        Some(text) => Value::Bytes(text.as_bytes()),
        None => value,
    }
}

/// What is wrong with the case, if anything.
fn check(line: &str) -> Result<(), String> {
    let (arena, facts) = (Arena::new(), Facts::default());
    let case = read_json(line, &arena).as_record(&arena).expect("a case is a record");
    let path = case.get("call").and_then(Value::as_str).expect("a case says what to call");
    let arguments = case.get("arguments").and_then(|list| list.as_array(&arena)).expect("a list");
    let arguments: Vec<_> = arguments.iter().map(|one| argument(*one, &arena)).collect();
    let function = registry().function(path).ok_or_else(|| format!("{path} is not there"))?;
    let call = Call { arena: &arena, facts: &facts };
    let given: Result<_, CallError> = function.invoke(&call, &arguments);
    match (case.get("gives"), given) {
        (Some(expected), Ok(given)) if sorted_text(expected) == sorted_text(given) => Ok(()),
        (None, Err(_)) => Ok(()),
        (None, Ok(given)) => Err(format!("should fail, gives {}", sorted_text(given))),
        (_, Ok(given)) => Err(format!("gives {}", sorted_text(given))),
        (_, Err(why)) => Err(format!("fails: {why}")),
    }
}

#[test]
fn functions_give_what_tremor_gives() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/functions");
    let mut cases = 0;
    let mut wrong = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the folder is there") {
        let text = std::fs::read_to_string(entry.expect("a readable folder").path())
            .expect("a readable file");
        for line in text.lines().filter(|line| !line.is_empty()) {
            cases += 1;
            if let Err(what) = check(line) {
                wrong.push(format!("{line}\n    {what}"));
            }
        }
    }
    assert!(cases > 100, "only {cases} cases were found");
    assert!(wrong.is_empty(), "{} of {cases} cases:\n{}", wrong.len(), wrong.join("\n"));
}
