//! What is computed at load and what is computed for an event is the same: expressions over constants
//! give what they give when the same values are read from the event. The cases are made from a seed.

use std::path::Path;
use temblor_casebook::file::CaseFile;
use temblor_casebook::run::{DIAGNOSTICS, OUTPUT, update};
use temblor_catalog::registry;
use temblor_lang::random::Random;
use temblor_pipeline::load::LoadOptions;

/// How many expressions are made.
const EXPRESSIONS: u64 = 1500;
/// Operators deep.
const DEPTH: u32 = 3;
/// Field of the event, and the same value as a literal.
const VALUES: [(&str, &str); 14] = [
    ("i", "3"),
    ("m", "(-7)"),
    ("z", "0"),
    ("u", "18446744073709551615"),
    ("l", "9223372036854775807"),
    ("f", "1.5"),
    ("s", "\"text\""),
    ("e", "\"\""),
    ("t", "true"),
    ("w", "false"),
    ("n", "null"),
    ("a", "[1, 2, 3]"),
    ("r", "{\"x\": 1, \"y\": [2]}"),
    ("o", "{}"),
];
/// Those that run both sides: what is known and wrong is refused even where it would not be reached.
const OPERATORS: [&str; 17] =
    ["+", "-", "*", "/", "%", "&", "^", "<<", ">>", ">>>", "==", "!=", "<", "<=", ">", ">=", "xor"];

/// An expression over literals, and the same over the event.
fn expression(random: &mut Random, depth: u32) -> (String, String) {
    if depth == 0 || random.index(5) == 0 {
        let (field, literal) = VALUES[random.index(VALUES.len())];
        return (literal.to_string(), format!("event.{field}"));
    }
    let (left, left_event) = expression(random, depth - 1);
    let both = |text: &str| {
        (text.replace('@', &format!("({left})")), text.replace('@', &format!("({left_event})")))
    };
    match random.index(12) {
        0 => both("-@"),
        1 => both("!@"),
        2 => both("[@, 1]"),
        3 => both("{\"k\": @}"),
        4 => both("\"a #{@}\""),
        5 => both("@[1]"),
        6 => both("@.x"),
        _ => {
            let (right, right_event) = expression(random, depth - 1);
            let operator = OPERATORS[random.index(OPERATORS.len())];
            let join = |left: &str, right: &str| format!("({left}) {operator} ({right})");
            (join(&left, &right), join(&left_event, &right_event))
        }
    }
}

/// The value, or `failed`.
fn value_of(program: &str, event: &str) -> String {
    let text = format!("=== script: one\n{program}\n--- in\n{event}\n");
    let mut case = CaseFile::read(&text).cases.remove(0);
    update(&mut case, Path::new("."), &LoadOptions::new(registry()))
        .expect("the case has no sections of its own");
    let said = case.section(DIAGNOSTICS).unwrap_or_default();
    let out = case.section(OUTPUT).unwrap_or_default();
    let refused = said.lines().any(|line| line.contains(" E0"));
    if refused || out.starts_with("error:") { "failed".to_string() } else { out.to_string() }
}

#[test]
fn constants_and_events_give_the_same() {
    let fields: Vec<_> = VALUES
        .iter()
        .map(|(field, literal)| format!("\"{field}\": {}", literal.trim_matches(['(', ')'])))
        .collect();
    let event = format!("{{{}}}", fields.join(", "));
    let mut random = Random::seeded(7);
    let mut values = 0;
    for _ in 0..EXPRESSIONS {
        let (constant, read) = expression(&mut random, DEPTH);
        let (folded, run) = (value_of(&constant, &event), value_of(&read, &event));
        assert_eq!(folded, run, "{constant}\n{read}");
        values += u32::from(run != "failed");
    }
    assert!(values > 150, "only {values} expressions had a value");
}

/// Pieces that programs are made of, and some that they are not.
const PIECES: [&str; 48] = [
    "let",
    "x",
    "=",
    "event",
    ".a",
    "[",
    "]",
    "1",
    "-",
    ":",
    ";",
    "match",
    "of",
    "case",
    "=>",
    "end",
    "for",
    "(i, v)",
    "into",
    "use",
    "+",
    "patch",
    "insert",
    "\"k\"",
    "merge",
    "fn",
    "f(x)",
    "with",
    "recur(1)",
    "%{",
    "}",
    "%[",
    "%(",
    ")",
    "_",
    "~",
    "json||",
    "present",
    "const",
    "A",
    "emit",
    "drop",
    "state",
    "$m",
    "<<",
    ">>",
    "std::string",
    "\"#{1}\"",
];
/// How many texts are made.
const TEXTS: usize = 2000;
/// Pieces of a text, at the most.
const PIECES_MAX: usize = 24;

#[test]
fn no_text_makes_a_check_panic() {
    let mut random = Random::seeded(11);
    for _ in 0..TEXTS {
        let pieces = 1 + random.index(PIECES_MAX);
        let text: Vec<_> = (0..pieces).map(|_| PIECES[random.index(PIECES.len())]).collect();
        value_of(&text.join(" "), "{\"a\": [1]}");
    }
}
