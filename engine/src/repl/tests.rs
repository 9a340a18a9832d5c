//! Sessions as a person types them: what goes in, and what is shown.

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
fn chains_run_over_all_samples() {
    let mut session = session(&[r#"{"a": 1}"#, r#"{"a": 2}"#, r#"{"a": 3}"#]);
    shows(
        &mut session,
        &[":goto 2", "where event.a > 1 |> set event.b = event.a * 2"],
        "out: {\"a\":2,\"b\":4}\n3 samples; dropped: 1, port out: 2\n",
    );
    shows(
        &mut session,
        &[":steps"],
        "1. where event.a > 1\nnothing changed\n2. set event.b = event.a * 2\n+ event.b: 4\n",
    );
}

#[test]
fn the_clock_is_moved_by_hand() {
    let mut session = session(&[r#"{"a": 1}"#]);
    shows(&mut session, &["dedup by event.a within \"10s\"", ":send"], "dropped\n");
    shows(&mut session, &[":advance 11s", ":send"], "out: {\"a\":1}\n");
}

#[test]
fn arms_are_explained() {
    let mut session = session(&[r#"{"a": 1, "b": null}"#]);
    let reply = session.enter(
        ":explain match event of case %{ a == 2 } => 1 case %{ present c } => 2 case %{ present b } => 3 \
         case _ => 4 end",
    );
    assert_eq!(
        reply.text,
        "match event = {\"a\":1,\"b\":null}\n  case %{ a == 2 }: does not match\n    \
         a == 2: does not hold; a is 1\n  case %{ present c }: does not match\n    \
         present c: does not hold; c is missing\n  case %{ present b }: taken\n  case _: not tried\n"
    );
    shows(
        &mut session,
        &[":explain event.a == 1 and event.b == false"],
        "event.a == 1 and event.b == false = false\n  event.a == 1 = true\n    event.a = 1\n  \
         event.b == false = false\n    event.b = null\n",
    );
}

#[test]
fn patterns_are_explained() {
    let mut session = session(&["10.0.0.1 GET x"]);
    let reply = session.enter(":explain grok \"%{IP:ip} %{WORD:verb} %{NUMBER:n}\"");
    assert!(reply.text.contains("stopped at: %{NUMBER:n}"), "{}", reply.text);
    assert!(reply.text.contains("rest: x"), "{}", reply.text);
    let reply = session.enter(":explain grok \"%{IP:ip}\" event");
    assert_eq!(reply.text, "matches\n  ip = 10.0.0.1\n");
}

#[test]
fn wrong_entries_say_what_to_try() {
    let mut session = session(&[]);
    for (entry, word) in [
        (":hlep", "did you mean `:help`?"),
        (":doc string::uppercas", "did you mean `string::uppercase`?"),
        (":goto x", "no number"),
        (":mode x", "no mode"),
        (":run", "there is no pipeline"),
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
    let results = crate::casebook::walk::run_all(&file, &Default::default());
    assert!(results.expect("the case can be read").passed(), "{text}");
    std::fs::remove_dir_all(&folder).expect("the directory is there");
}
