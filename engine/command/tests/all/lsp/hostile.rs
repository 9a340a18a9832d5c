//! Any text can be in an editor at any time: random edits of real programs, and questions about random
//! places, never end the conversation and never find a bug.

use super::client::{Client, position};
use serde_json::json;
use std::path::Path;
use temblor_lang::random::Random;

const ROUNDS: usize = 160;

/// Random choices, the same in every run.
struct Numbers(Random);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0.index(end)
    }

    fn of<'t, T>(&mut self, list: &'t [T]) -> &'t T {
        &list[self.below(list.len())]
    }

    /// A byte of the text between two characters.
    fn place(&mut self, text: &str) -> usize {
        let mut at = self.below(text.len() + 1);
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    }
}

const PIECES: [&str; 30] = [
    "match ",
    " end",
    "case ",
    "|>",
    "(",
    "[",
    "{",
    "%{",
    "\"",
    "#{",
    "\"\"\"",
    "`",
    "~ re|",
    "|",
    "use std::",
    "::",
    ".",
    "let ",
    "fn f(",
    " of ",
    ";",
    "\n",
    "\r\n",
    "# ",
    "## ",
    "ü",
    "\u{1f600}",
    "9e",
    "\u{0}",
    "\u{1a}",
];
const QUESTIONS: [&str; 7] = [
    "completion",
    "hover",
    "signatureHelp",
    "definition",
    "references",
    "documentHighlight",
    "prepareRename",
];
const SHAPES: [&str; 4] = ["semanticTokens/full", "documentSymbol", "foldingRange", "formatting"];

/// The program texts of the repository's examples and modules.
pub(super) fn programs() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut folders = vec![root.join("examples"), root.join("stdlib/src/modules")];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("it is in the repository").flatten() {
            let path = entry.path();
            let ending = path.extension().and_then(|one| one.to_str()).unwrap_or("").to_string();
            if path.is_dir() {
                folders.push(path);
            } else if ["tremor", "trickle", "troy", "tmb", "conf"].contains(&ending.as_str()) {
                found.push((ending, std::fs::read_to_string(path).expect("it is text")));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn random_edits_find_no_bug() {
    let mut client = Client::start("hostile");
    let mut numbers = Numbers(Random::seeded(0x5eed));
    let programs = programs();
    let (mut file, mut text) = (String::new(), String::new());
    for round in 0..ROUNDS {
        if round % 20 == 0 {
            let (ending, program) = numbers.of(&programs);
            let gone = json!({"textDocument": {"uri": client.uri(&file)}});
            client.notify("textDocument/didClose", gone);
            (file, text) = (format!("r{round}.{ending}"), program.clone());
            client.open(&file, &text);
        }
        let (one, other) = (numbers.place(&text), numbers.place(&text));
        // Mostly a few characters, as people type.
        let end = if numbers.below(8) == 0 { one.max(other) } else { one };
        let start = one.min(end);
        let new = *numbers.of(&PIECES);
        let range = json!({"start": position(&text, start), "end": position(&text, end)});
        client.change(&file, json!([{"range": range, "text": new}]));
        text.replace_range(start..end, new);
        let question = *numbers.of(&QUESTIONS);
        let place = (text.as_str(), numbers.place(&text));
        let answers = [
            client.try_ask(
                question,
                &file,
                place,
                json!({"context": {"includeDeclaration": true}}),
            ),
            client.try_ask("rename", &file, place, json!({"newName": "renamed"})),
            client.ask_all(SHAPES[numbers.below(SHAPES.len())], &file),
        ];
        for answer in answers {
            // -32603: InternalError, which only bugs give.
            let is_bug = answer.as_ref().is_err_and(|error| error.starts_with("-32603"));
            assert!(!is_bug, "{answer:?}: {text}");
        }
    }
    client.stop();
}

#[test]
fn many_small_edits_give_the_text_that_was_typed() {
    let mut client = Client::start("typed");
    let mut numbers = Numbers(Random::seeded(0x7e57));
    let mut text = String::from("let ü = \"\u{1f600}\";\r\nü\n");
    client.open("a.tremor", &text);
    for _ in 0..200 {
        let (one, other) = (numbers.place(&text), numbers.place(&text));
        let (start, end) = (one.min(other), one.max(other).min(one.min(other) + 3));
        let end = (0..=end).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0).max(start);
        // No editor stands between \r and \n.
        if [start, end]
            .iter()
            .any(|at| text[..*at].ends_with('\r') && text[*at..].starts_with('\n'))
        {
            continue;
        }
        let new = *numbers.of(&["a", "\u{1f600}", "\n", " = 1;", "ü", ""]);
        let range = json!({"start": position(&text, start), "end": position(&text, end)});
        client.change("a.tremor", json!([{"range": range, "text": new}]));
        text.replace_range(start..end, new);
    }
    // What the server has is seen by what it makes of it.
    client.change("a.tremor", json!([{"range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}, "text": ""}]));
    client.open("b.tremor", &text);
    let (edited, opened) = (client.problems("a.tremor"), client.problems("b.tremor"));
    assert_eq!(edited, opened, "{text}");
    let tokens = client.ask_all("semanticTokens/full", "a.tremor");
    assert_eq!(tokens, client.ask_all("semanticTokens/full", "b.tremor"));
    client.stop();
}
