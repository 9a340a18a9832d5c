//! Sessions as a person types them: what goes in, and what is shown.

mod bench;
mod files;
mod logstash;
mod reasons;

use super::*;

fn session(samples: &[&str]) -> Session {
    let mut session = Session::new(Vec::new(), Colour::Off);
    for sample in samples {
        session.enter(&format!(":sample {sample}"));
    }
    session.enter(":goto 1");
    session.enter(":mode json");
    session
}

/// Enters all, and compares what the last gives.
fn shows(session: &mut Session, entries: &[&str], expected: &str) {
    let (last, first) = entries.split_last().expect("there is an entry");
    for entry in first {
        let reply = session.enter(entry);
        assert!(!reply.failed, "{entry}: {}", reply.text);
    }
    assert_eq!(session.enter(last).text, expected, "{last}");
}

#[test]
fn expressions_see_the_sample_and_what_was_defined() {
    let mut session = session(&[r#"{"a": 1}"#]);
    shows(&mut session, &["event.a + 1"], "2\n");
    shows(&mut session, &["let x = event.a * 10", "x + 1"], "11\n");
    shows(&mut session, &["fn twice(n) with n * 2 end", "twice(x)"], "20\n");
    shows(&mut session, &["const TEN = 10;", "TEN"], "10\n");
    shows(&mut session, &["string::uppercase(\"a\")"], "\"A\"\n");
    let wrong = session.enter("evnt.a");
    assert!(!wrong.text.is_empty());
    assert!(session.enter("1 +").failed);
    shows(
        &mut session,
        &[":undo", ":list"],
        "let x = event.a * 10;\nfn twice(n) with n * 2 end;\n",
    );
}

#[test]
fn changes_are_shown() {
    let mut session = session(&[r#"{"a": 1, "b": {"c": true}}"#]);
    shows(&mut session, &["let event.a = \"x\""], "~ event.a: 1 -> \"x\" (integer -> string)\n");
    shows(
        &mut session,
        &["let event.b.d = 5", ":steps"],
        "1. let event.a = \"x\"\n~ event.a: 1 -> \"x\" (integer -> string)\n\
         2. let event.b.d = 5\n+ event.b.d: 5\n",
    );
    shows(&mut session, &[":diff"], "~ event.a: 1 -> \"x\" (integer -> string)\n+ event.b.d: 5\n");
}

#[test]
fn samples_are_walked() {
    let mut session = session(&[r#"{"a": 1}"#, r#"{"a": 2}"#, "plain text"]);
    shows(&mut session, &[":next"], "{\"a\":2}\n");
    shows(&mut session, &[":next"], "\"plain text\"\n");
    assert!(session.enter(":next").failed);
    shows(&mut session, &[":prev"], "{\"a\":2}\n");
    shows(&mut session, &[":goto 1", ":find event.a == 2"], "sample 2\n{\"a\":2}\n");
    assert!(session.enter(":find event.a == 7").failed);
}

#[test]
fn wrong_entries_say_what_to_try() {
    let mut session = session(&[]);
    for (entry, word) in [
        (":hlep", "did you mean `:help`?"),
        (":doc string::uppercas", "did you mean `string::uppercase`?"),
        (":goto x", "no number"),
        (":mode x", "no mode"),
        (":run", "there is nothing to run"),
        (":send", "there is no pipeline"),
        (":load /does/not/exist", "/does/not/exist"),
        ("where", "E0"),
    ] {
        let reply = session.enter(entry);
        assert!(reply.failed && reply.text.contains(word), "{entry}: {}", reply.text);
    }
}

#[test]
fn words_are_completed() {
    let mut session = session(&[r#"{"alpha": {"beta": 1}}"#]);
    let vocabulary = session.vocabulary();
    let words = |line: &str| candidates(&vocabulary, line, line.len()).1.join(" ");
    assert_eq!(words(":expl"), ":explain");
    assert_eq!(words("string::upper"), "string::uppercase");
    assert_eq!(words("1 + event.alpha.b"), "event.alpha.beta");
    assert_eq!(words(""), "");
}

#[test]
fn lines_are_pasted() {
    let mut session = session(&[]);
    session.enter(":paste");
    for number in 0..10_000 {
        session.enter(&format!("{{\"n\": {number}}}"));
    }
    shows(&mut session, &[":end"], "10000 samples added\n");
    shows(&mut session, &[":goto 10000"], "{\"n\":9999}\n");
    shows(
        &mut session,
        &[":sample {\"a\": 1}\n{\"a\": \n{\"a\": 3}"],
        "sample 10002 is taken as text: not JSON: expected JSON at byte 4, found \":\"\n3 samples added\n",
    );
}

#[test]
fn every_command_has_a_path_without_arguments() {
    for command in commands::COMMANDS.iter().filter(|one| !["edit", "quit"].contains(&one.name)) {
        for samples in [&[] as &[&str], &[r#"{"a": 1}"#]] {
            let mut session = session(samples);
            let reply = session.enter(&format!(":{}", command.name));
            let said = !reply.text.is_empty() || ["list", "reset"].contains(&command.name);
            assert!(said, ":{} says nothing", command.name);
            assert!(!reply.failed || reply.text.contains("error"), "{}", reply.text);
        }
    }
}

#[test]
fn pasted_records_are_samples() {
    let mut session = session(&[]);
    shows(&mut session, &["{\"a\": 1}\n{\"a\": 2}\n"], "2 samples added\n");
    shows(&mut session, &["event.a"], "2\n");
    shows(&mut session, &["{\n\"a\": 3\n}"], "{\"a\":3}\n");
}

#[test]
fn everything_is_forgotten_but_the_samples() {
    let mut session = session(&[r#"{"a": 1}"#]);
    session.enter("let event.b = 2");
    session.enter("where event.a > 5");
    shows(&mut session, &[":reset", "event"], "{\"a\":1}\n");
    assert!(session.enter(":send").failed);
}
