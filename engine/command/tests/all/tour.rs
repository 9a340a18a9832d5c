//! Types the tour of the REPL line by line and compares the answers. `TEMBLOR_BLESS=1` rewrites them.

use std::path::Path;
use temblor_lang::diagnostic::Colour;
use temblor_repl::Session;

/// The answers of a session whose entries stand behind `> ` in blocks of the kind `repl`.
fn replay(text: &str, session: &mut Session) -> String {
    let mut out = String::new();
    let mut inside = false;
    for line in text.lines() {
        if line.starts_with("```") {
            inside = line == "```repl";
        }
        let entry = line.strip_prefix("> ").filter(|_| inside);
        if !inside || line.starts_with("```") || entry.is_some() {
            out.push_str(&format!("{line}\n"));
        }
        if let Some(entry) = entry {
            out.push_str(&session.enter(entry).text);
        }
    }
    out
}

#[test]
fn the_tour_answers_as_written() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/repl");
    let file = folder.join("README.md");
    let text = std::fs::read_to_string(&file).expect("the tour is in the repository");
    // The tour is typed in its own folder.
    let _turn = crate::within(&folder);
    let mut session = Session::new(Vec::new(), Colour::Off);
    session.load(Path::new("samples.ndjson")).expect("the samples are in the repository");
    let played = replay(&text, &mut session);
    if std::env::var_os("TEMBLOR_BLESS").is_some() {
        std::fs::write(&file, &played).expect("the tour can be written");
    } else {
        assert_eq!(text, played, "TEMBLOR_BLESS=1 accepts");
    }
}
