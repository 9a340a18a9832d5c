//! What all extractors have in common: names, results in both modes, refused patterns, and that no
//! pattern and no text makes them panic.

use super::*;
use temblor_lang::builtin::{Call, Extractor, Facts};
use temblor_lang::value::{Arena, to_json};

fn compile(name: &str, pattern: &str) -> Result<Box<dyn Extractor>, String> {
    (find(name).expect("a known extractor").compile)(pattern)
}

/// Whether the text matches, and what is extracted.
fn run(name: &str, pattern: &str, text: &str) -> (bool, Option<String>) {
    let extractor = compile(name, pattern).unwrap_or_else(|error| panic!("{pattern}: {error}"));
    let arena = Arena::new();
    let facts = Facts { ingest_ns: 42, ..Facts::default() };
    let extracted = extractor.extract(text, &Call { arena: &arena, facts: &facts });
    (extractor.matches(text), extracted.map(to_json))
}

#[test]
fn names_have_no_case() {
    assert_eq!(find("DisSect").map(|kind| kind.name), Some("dissect"));
    assert!(find("re*").is_none());
    assert!(find("prefix").is_none());
}

#[test]
fn both_modes() {
    for (name, pattern, text, matches, extracted) in [
        ("re", r"(?P<d>\d+)", "ab12", true, Some(r#"{"d":"12"}"#)),
        ("re", r"(?P<d>\d+)", "ab", false, None),
        ("rerg", r"(?P<d>\d)", "1 2", true, Some(r#"{"d":["1","2"]}"#)),
        ("rerg", r"(?P<d>\d)", "ab", false, Some("{}")),
        ("glob", "a*", "abc", true, Some("true")),
        ("glob", "a*", "b", false, None),
        ("json", "ignored", "[1]", true, Some("[1]")),
        ("json", "", "x", false, None),
        ("base64", "", "aGk=", true, Some(r#""hi""#)),
        ("base64", "", "/w==", true, None),
        ("kv", "", "a:b", true, Some(r#"{"a":"b"}"#)),
        ("kv", "", "ab", false, None),
        ("grok", "%{IP:ip} %{WORD}", "10.0.0.1 ok", true, Some(r#"{"ip":"10.0.0.1"}"#)),
        ("grok", "%{NUMBER:n:int}", "n=5", true, Some(r#"{"n:int":"5"}"#)),
        ("grok", "%{WORD:w}", "-é2-", true, Some(r#"{"w":"é2"}"#)),
        ("grok", "%{IP:ip}", "none", false, None),
        ("dissect", "%{a}-%{b}", "1-2", true, Some(r#"{"a":"1","b":"2"}"#)),
        ("dissect", "%{a}-%{b}", "12", false, None),
        ("cidr", "", "::1/129", false, None),
        ("cidr", "10.0.0.0/8", "10.0.0.1/32", false, None),
        (
            "cidr",
            "10.0.0.0/8",
            "10.0.0.1",
            true,
            Some(r#"{"prefix":[10,0,0,1],"mask":[255,255,255,255]}"#),
        ),
        ("datetime", "%s", "1", true, Some("1000000000")),
        ("datetime", "%Y-%m-%d", "2020-01-01", false, None),
        (
            "influx",
            "",
            "m x=1i",
            true,
            Some(r#"{"measurement":"m","tags":{},"fields":{"x":1},"timestamp":42}"#),
        ),
        ("influx", "", "# m x=1i", false, None),
    ] {
        let expected = (matches, extracted.map(String::from));
        assert_eq!(run(name, pattern, text), expected, "{name}|{pattern}| on {text:?}");
    }
}

#[test]
fn bad_patterns_are_refused_with_a_sentence() {
    for (name, pattern) in [
        ("re", "("),
        ("rerg", "["),
        ("glob", "[a"),
        ("kv", "%{key}="),
        ("dissect", "%{a}%{b}"),
        ("cidr", "10.0.0.1/8"),
        ("grok", "%{NOPE:x}"),
        ("grok", "%{"),
        ("grok", "%{WORD"),
        ("grok", "%{[a]}"),
    ] {
        let error = compile(name, pattern).map(|_| ()).expect_err(pattern);
        assert!(!error.is_empty() && !error.ends_with('.') && !error.contains('\n'), "{error}");
    }
}

/// Pieces that patterns and texts are made of: everything that has a meaning somewhere.
const PIECES: &[&str] = &[
    "%{",
    "}",
    "a",
    "b",
    "?",
    "&",
    "+",
    "_",
    "(",
    ")",
    ":",
    "int",
    "float",
    " ",
    ",",
    "=",
    "\\",
    "n",
    "%{key}",
    "%{val}",
    "*",
    "**",
    "/",
    "[",
    "]",
    "!",
    "-",
    "1",
    "255",
    ".",
    "::",
    "10.0.0.0/8",
    "\"",
    "é",
    "\u{0}",
    "%Y-%m-%d",
    "%z",
    "%",
    "{",
    "|",
    "\n",
    "t",
    "#",
    "i",
    "(?P<a>.)",
    "aGk=",
];

#[test]
fn nothing_panics() {
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = |bound: usize| {
        // Xorshift: the same pieces in every run.
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random % bound as u64) as usize
    };
    let mut compiled = 0;
    for round in 0..8000 {
        let mut text = |most: usize| -> String {
            (0..next(most)).map(|_| PIECES[next(PIECES.len())]).collect()
        };
        let (pattern, inputs) = (text(8), [text(12), text(6)]);
        let kind = &EXTRACTORS[round % EXTRACTORS.len()];
        let Ok(extractor) = (kind.compile)(&pattern) else { continue };
        compiled += 1;
        let arena = Arena::new();
        let facts = Facts::default();
        for input in &inputs {
            let extracted = extractor.extract(input, &Call { arena: &arena, facts: &facts });
            let agree = extracted.is_some() == extractor.matches(input);
            assert!(
                agree || matches!(kind.name, "rerg" | "base64"),
                "{}|{pattern}| disagrees with itself on {input:?}",
                kind.name
            );
        }
    }
    assert!(compiled > 2000, "most rounds should test something, not {compiled}");
}
