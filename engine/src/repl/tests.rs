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
        "out: {\"a\":2,\"b\":4}\n3 samples\n2  out  (2, 3)\n1  dropped by 1. where event.a > 1  (1)\n",
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
    shows(
        &mut session,
        &["dedup by event.a within \"10s\"", ":send"],
        "dropped by 1. dedup by event.a within \"10s\"\n",
    );
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
    assert_eq!(reply.text, "matches\n  10.0.0.1 GET x\n  aaaaaaaa\n  a ip = 10.0.0.1\n");
    let reply = session.enter(":explain dissect \"%{ip} %{verb}: %{n}\"");
    assert_eq!(
        reply.text,
        "does not match\n  10.0.0.1 GET x\n  aaaaaaaa ^\n  a ip = 10.0.0.1\n  matched: 10.0.0.1 \n  \
         stopped at: %{verb}: \n  rest: GET x\n"
    );
    let reply = session.enter(":explain regex r\"(?P<verb>[A-Z]+) \\d\"");
    assert_eq!(
        reply.text,
        "does not match\n  10.0.0.1 GET x\n           aaa ^\n  a verb = GET\n  matched: GET \n  \
         stopped at: \\d\n  rest: x\n"
    );
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

#[test]
fn arms_tell_how_far_their_patterns_got() {
    let mut session = session(&["10.0.0.1 GET x"]);
    let reply = session.enter(
        ":explain match event of case ~ re|^\\\\d+x| => 1 case ~ dissect|%{a} %{b}| => 2 end",
    );
    assert!(reply.text.contains("stopped at: x"), "{}", reply.text);
    assert!(reply.text.contains("case ~ dissect|%{a} %{b}|: taken"), "{}", reply.text);
}

#[test]
fn missing_null_and_false_are_told_apart() {
    let mut session = session(&[r#"{"n": null, "f": false}"#]);
    shows(
        &mut session,
        &[":explain event.n == event.f"],
        "event.n == event.f = false\n  event.n = null\n  event.f = false\n",
    );
    let reply = session.enter(":explain present event.m or event.m == 1");
    assert!(reply.text.contains("event.m = missing"), "{}", reply.text);
}

#[test]
fn pipelines_say_why() {
    let mut session = session(&[r#"{"message": "10.0.0.1 GET", "a": 1}"#]);
    session.enter("where event.a > 1 |> set event.b = 2");
    shows(
        &mut session,
        &[":explain"],
        "1. where event.a > 1\n  event.a > 1 = false\n    event.a = 1\n  dropped\n",
    );
    session.enter("parse grok \"%{IP:ip} %{INT:n}\"");
    let reply = session.enter(":explain");
    assert!(reply.text.contains("stopped at: %{INT:n}"), "{}", reply.text);
}

#[test]
fn steps_are_switched() {
    let mut session = session(&[r#"{"a": 1}"#]);
    let chain = "set event.b = 1 |> where event.a > 1 |> set event.c = 2";
    shows(
        &mut session,
        &[chain, ":off 2"],
        "out: {\"a\":1,\"b\":1,\"c\":2}\n1 sample\n1  out  (1)\n",
    );
    shows(
        &mut session,
        &[":off 1", ":steps"],
        "3. set event.c = 2\n+ event.c: 2\n"
            .replace("3.", "1. set event.b = 1 (off)\n2. where event.a > 1 (off)\n3.")
            .as_str(),
    );
    assert!(session.enter(":off 3").failed, "one step stays on");
    assert!(session.enter(":off 4").text.contains("there is no step 4"));
    shows(
        &mut session,
        &[":on 2"],
        "dropped by 2. where event.a > 1\n1 sample\n1  dropped by 2. where event.a > 1  (1)\n",
    );
    let mut session = self::session(&[r#"{"a": 1}"#]);
    shows(&mut session, &["let event.b = 1", "let event.c = 2", ":off 1"], "+ event.c: 2\n");
}

#[test]
fn outcomes_are_grouped() {
    let samples = [r#"{"a": 1}"#, r#"{"a": "x"}"#, "{broken", r#"{"a": 9}"#, r#"{"a": 10}"#];
    let mut session = session(&samples);
    let reply = session.enter("where event.a - 1 > 3");
    assert!(reply.text.contains("5 samples\n2  out  (4, 5)\n"), "{}", reply.text);
    assert!(reply.text.contains("1  dropped by 1. where event.a - 1 > 3  (1)\n"), "{}", reply.text);
    assert!(
        reply.text.contains("failed in 1. where event.a - 1 > 3: the operation `-`"),
        "{}",
        reply.text
    );
}

#[test]
fn definitions_serve_pipelines() {
    let mut session = session(&[r#"{"a": 7}"#]);
    shows(
        &mut session,
        &[
            "fn big(x) with x > 5 end",
            "const NAME = \"n\";",
            "where big(event.a) |> set event.n = NAME",
        ],
        "out: {\"a\":7,\"n\":\"n\"}\n1 sample\n1  out  (1)\n",
    );
}

#[test]
fn states_are_shown_and_changed() {
    let mut session = session(&[r#"{"a": 1}"#]);
    let program = "define script count script let state = (state ?? 0) + 1; let event.n = state; event end; \
                   create script count; select event from in into count; select event from count into out";
    shows(&mut session, &[program, ":state count = 40"], "count  create script count\n  40\n");
    shows(&mut session, &[":send"], "out: {\"a\":1,\"n\":41}\n");
    assert!(
        session
            .enter(":state nobody = 1")
            .text
            .contains("no step that remembers is named `nobody`")
    );
    shows(&mut session, &[":state clear", ":send"], "out: {\"a\":1,\"n\":1}\n");
}

#[test]
fn tables_are_shown_by_their_keys() {
    let mut session = session(&[r#"{"a": 1, "b": "x"}"#, r#"{"a": 2, "b": "y"}"#]);
    session.enter("set event.c = 1 |> dedup by [event.a, event.b] within \"10s\"");
    shows(
        &mut session,
        &[":state"],
        "dedup_2  2. dedup by [event.a, event.b] within \"10s\"\n  2 entries, 640 bytes, 0 given up\n  \
         [1,\"x\"] seen_ns=1\n  [2,\"y\"] seen_ns=2\n",
    );
    shows(&mut session, &[":send"], "dropped by 2. dedup by [event.a, event.b] within \"10s\"\n");
    let reply = session.enter(":state 2 forget [1, \"x\"]");
    assert!(reply.text.ends_with("given up\n  [2,\"y\"] seen_ns=2\n"), "{}", reply.text);
    shows(&mut session, &[":send"], "out: {\"a\":1,\"b\":\"x\",\"c\":1}\n");
    assert!(session.enter(":state 2 forget 7").text.contains("dedup_2 does not know 7"));
    session.enter("rate_limit 1 per \"1s\" by event.b");
    assert!(session.enter(":state").text.contains("\"x\" arrival_ns="));
    session.enter("suppress 1 per \"10s\" by event.b");
    let reply = session.enter(":state");
    assert!(reply.text.contains("\"x\" since_ns=1 passed=1 suppressed=0"), "{}", reply.text);
}

#[test]
fn kinds_are_told_for_each_step() {
    let mut session = session(&[r#"{"a": 1}"#, r#"{"a": "x", "b": [1]}"#]);
    shows(
        &mut session,
        &["set event.c = 1.5", ":type"],
        "samples\n  event.a: integer or string\n  event.b: array, missing in 1 of 2\n\
         1. set event.c = 1.5\n  event.a: integer or string\n  event.b: array, missing in 1 of 2\n  \
         event.c: float\n",
    );
}

#[test]
fn programs_are_compared() {
    let mut session = session(&[r#"{"a": 1}"#, r#"{"a": 5}"#, r#"{"a": 9}"#]);
    session.enter("where event.a > 1 |> set event.b = 1");
    session.enter("where event.a > 5 |> set event.b = 2");
    let dropped = "dropped by 1. where event.a > 5";
    shows(
        &mut session,
        &[":compare"],
        &format!(
            "3 samples: 1 the same, 2 not\nsample 2\n- out: {{\"a\":5,\"b\":1}}\n+ {dropped}\n\
             sample 3\n~ event.b: 1 -> 2\n"
        ),
    );
    assert!(session.enter(":compare a b c").failed);
    assert!(session.enter(":compare none.tmb .").text.contains("none.tmb"));
}

#[test]
fn what_no_sample_reached_is_told() {
    let mut session = session(&[r#"{"a": 1, "t": "1"}"#]);
    session.enter("match event.a of case 1 => \"one\" case 2 => \"two\" case _ => \"many\" end");
    shows(
        &mut session,
        &[":coverage"],
        "1 of 3 branches reached\nnot reached: 1:34: arm case 2 => \"two\"\n\
         not reached: 1:50: arm case _ => \"many\"\n",
    );
    session.enter(
        "parse regex [\"^(?P<n>[0-9])$\", \"^(?P<w>[a-z])$\"] from event.t |> where event.a > 1 |> set event.b = 1",
    );
    let reply = session.enter(":coverage").text;
    assert!(reply.contains("not reached: step 3. set event.b = 1"), "{reply}");
    assert!(reply.contains("not reached: pattern ^(?P<w>[a-z])$"), "{reply}");
    assert!(reply.contains("not reached: port out"), "{reply}");
}

#[test]
fn loops_without_an_end_are_stopped() {
    let mut session = session(&["[1,2,3,4,5,6,7,8,9,10]"]);
    let loops = "for event of case (k, v) => ".repeat(9) + "1" + &" end".repeat(9);
    let reply = session.enter(&loops);
    assert!(reply.failed && reply.text.contains("E0440"), "{}", reply.text);
    shows(&mut session, &["1 + 1"], "2\n");
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

#[test]
fn patterns_are_suggested() {
    let mut session = session(&["GET /a 12", "PUT /b 7"]);
    let reply = session.enter(":suggest");
    assert!(
        reply
            .text
            .contains("parse dissect \"%{word} %{path} %{number:int}\"\n  matches 2 of 2 lines\n"),
        "{}",
        reply.text
    );
    assert!(reply.text.contains("parse grok \"%{WORD:word} %{UNIXPATH:path} %{INT:number:int}\"\n  matches 2 of 2 lines\n"), "{}", reply.text);
    let step = reply.text.lines().next().expect("a proposal").to_string();
    assert!(!session.enter(&step).failed, "{step}");
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
