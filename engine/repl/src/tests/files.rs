//! Samples, sessions, programs and tests in files.

use super::{session, shows};
use crate::Session;
use std::path::PathBuf;
use temblor_lang::diagnostic::Colour;

#[test]
fn what_is_on_the_bench_becomes_a_test() {
    let folder = std::env::temp_dir().join(format!("temblor-repl-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the directory can be made");
    let file = folder.join("cases.txt");
    let mut session = session(&[r#"{"a": "x"}"#]);
    let save = format!(":save test upper case {}", file.display());
    shows(
        &mut session,
        &["let event.a = string::uppercase(event.a)"],
        "~ event.a: \"x\" -> \"X\"\n",
    );
    assert!(!session.enter(&save).failed);
    let text = std::fs::read_to_string(&file).expect("the file was written");
    assert!(text.contains("=== script: upper case\nuse std::string;\n"), "{text}");
    let results = temblor_casebook::walk::run_all(&file, &Default::default());
    assert!(results.expect("the case can be read").passed(), "{text}");
    std::fs::remove_dir_all(&folder).expect("the directory is there");
}

#[test]
fn broken_lines_stand_in_nobodys_way() {
    let folder = Folder::new("broken");
    let file = folder.file("a.ndjson", "{\"a\": 1}\n{\"a\": 2\n{\"a\": 3}\n");
    let mut session = session(&[]);
    shows(&mut session, &[&format!(":load {file}")], "{\"a\":1}\n");
    let reply = session.enter(":next");
    assert!(
        reply.text.starts_with("sample 2 is broken: not JSON: expected JSON at byte"),
        "{}",
        reply.text
    );
    let reply = session.enter("where event.a > 0");
    assert!(reply.text.contains("2  out  (1, 3)\n"), "{}", reply.text);
    assert!(reply.text.contains("1  broken: "), "{}", reply.text);
}

#[test]
fn dead_letters_become_samples() {
    let folder = Folder::new("letters");
    let letters =
        "{\"error\":\"E1: bad\",\"event\":{\"a\":1}}\n{\"error\":\"E2\",\"event\":{\"a\":2}}\n";
    let file = folder.file("dead.ndjson", letters);
    let mut session = session(&[]);
    shows(
        &mut session,
        &[&format!(":load {file}")],
        "dead letters: the samples are the events that failed\nfailed before: E1: bad\n{\"a\":1}\n",
    );
    shows(&mut session, &["event.a + 1"], "2\n");
}

#[test]
fn sessions_are_saved_and_entered_again() {
    let folder = Folder::new("session");
    let file = folder.file("s.session", "");
    let mut first = session(&[r#"{"a": 1}"#]);
    first.enter("let event.b =\n  event.a + 1");
    first.enter(&format!(":save session {file}"));
    let text = std::fs::read_to_string(&file).expect("it was written");
    assert!(text.contains("let event.b =\n|   event.a + 1\n"), "{text}");
    let mut second = Session::new(Vec::new(), Colour::Off);
    second.enter(&format!(":source {file}"));
    shows(&mut second, &[":mode json", "event.b"], "2\n");
}

#[test]
fn files_are_watched() {
    let folder = Folder::new("watch");
    let file = folder.file("p.tmb", "where event.a > 1\n");
    let mut session = session(&[r#"{"a": 1}"#]);
    let reply = session.enter(&format!(":watch {file}"));
    assert!(reply.text.contains("1  dropped by 1. where event.a > 1"), "{}", reply.text);
    assert_eq!(session.look_at_watched(), None);
    std::fs::write(&file, "where event.a > 0 |> set event.b = 1\n").expect("it can be written");
    let text = session.look_at_watched().expect("it was saved");
    assert!(text.contains("p.tmb was saved\nout: {\"a\":1,\"b\":1}"), "{text}");
    session.enter(":watch off");
    assert_eq!(session.watched(), None);
}

/// A folder that is gone at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("temblor-repl-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("the folder can be made");
        Self(path)
    }

    fn file(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, text).expect("the file can be written");
        path.display().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
