//! The pages of `temblor explain` say the truth: the wrong example gets its code, the right one
//! neither errors nor the code.

use std::path::Path;
use temblor_engine::casebook::file::CaseFile;
use temblor_engine::casebook::run::{DIAGNOSTICS, OUTPUT, update};
use temblor_lang::diagnostic::codes::{self, Page};

/// The event that the examples about running programs are made for.
const EVENT: &str = r#"{"a": 1, "b": "s", "c": [1, 2], "d": {"x": 1}}"#;
/// Codes whose examples need modules, or would be longer than a page.
const WITHOUT_EXAMPLE: [&str; 18] = [
    "E0307", "E0308", "E0324", "E0425", "E0429", "E0440", "E0441", "E0499", "E0516", "E0517",
    "E0518", "E0521", "E0522", "E0523", "E0524", "E0601", "E0604", "E0609",
];

fn kind(text: &str) -> &'static str {
    let word = text.split_whitespace().next().unwrap_or("");
    match word {
        "define" | "create" | "select" => "query",
        "dedup" | "where" | "enrich" | "source" | "in" | "parse" | "rate_limit" => "program",
        _ => "script",
    }
}

/// Everything that is said about a text, with what comes of the event.
fn said(text: &str) -> String {
    let text = format!("=== {}: page\n{text}\n--- in\n{EVENT}\n", kind(text));
    let mut case = CaseFile::read(&text).cases.remove(0);
    update(&mut case, Path::new(".")).expect("pages hold no sections");
    let section = |name| case.section(name).unwrap_or_default();
    format!("{}\n{}", section(DIAGNOSTICS), section(OUTPUT))
}

fn fault(page: &Page) -> Option<String> {
    let wrong = said(page.wrong);
    if !wrong.contains(page.code) && !WITHOUT_EXAMPLE.contains(&page.code) {
        return Some(format!("{} is not what its wrong example gets: {wrong}", page.code));
    }
    let right = said(page.right);
    let errors = right.lines().any(|line| line.contains(" E0") || line.contains(page.code));
    errors.then(|| format!("{}: its right example gets {right}", page.code))
}

#[test]
fn examples_get_their_codes() {
    let pages = codes::pages().filter(|page| page.code > "E0300" && page.code != "W0620");
    let faults: Vec<_> = pages.filter_map(fault).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
