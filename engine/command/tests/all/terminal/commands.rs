//! The key path of each command: what is typed, and what is then on the screen.

use crate::terminal::driver::Terminal;
use crate::terminal::{SAMPLES, file, folder};

/// Types entries in turn and compares what stands under each.
fn shows(terminal: &Terminal, steps: &[(&str, &str)]) {
    for (entry, expected) in steps {
        let screen = terminal.enter(entry);
        let shown = screen.split_once('\n').map_or("", |(_, shown)| shown);
        assert_eq!(shown, *expected, "{entry}");
    }
}

#[test]
fn samples_and_expressions() {
    let folder = folder("samples");
    file(&folder, "s.ndjson", SAMPLES);
    file(&folder, "dead.ndjson", "{\"error\":\"E: bad\",\"event\":{\"a\":1}}\n");
    let terminal = Terminal::start((100, 40), &folder, &["repl", "--input", "s.ndjson"]);
    terminal.wait_for("1>");
    let second = "{\"host\":\"web2\",\"status\":503,\"path\":\"/b\",\"ms\":950}";
    shows(
        &terminal,
        &[
            (":mode json", ""),
            ("event.ms / 2", "6.0"),
            (":next", second),
            (":prev", "{\"host\":\"web1\",\"status\":200,\"path\":\"/a\",\"ms\":12}"),
            (":goto 3", "{\"host\":\"web1\",\"status\":404,\"path\":\"/c\",\"ms\":7}"),
            (":goto 9", "error: there is no sample 9"),
            (":goto 1", "{\"host\":\"web1\",\"status\":200,\"path\":\"/a\",\"ms\":12}"),
            (":find event.ms > 900", &format!("sample 2\n{second}")),
            (":type event.ms", "integer"),
            ("let event.slow = event.ms > 500", "+ event.slow: true"),
            (":diff", "+ event.slow: true"),
            (":steps", "1. let event.slow = event.ms > 500\n+ event.slow: true"),
            (":off 1", "nothing changed"),
            (":on 1", "+ event.slow: true"),
            (":run", "4 samples\n4  out  (1, 2, 3, 4)"),
            (":list", "let event.slow = event.ms > 500;"),
            (":undo", "took back let event.slow = event.ms > 500"),
            (":sample {\"b\": 1}", ""),
            (":event", "{\"b\":1}"),
            (
                ":load dead.ndjson",
                "dead letters: the samples are the events that failed\nfailed before: E: bad\n{\"a\":1}",
            ),
            (":goto one", "error: `one` is no number"),
            (":nxt", "error: there is no command `:nxt`; did you mean `:next`?"),
        ],
    );
}

#[test]
fn pipelines() {
    let folder = folder("pipelines");
    file(&folder, "s.ndjson", SAMPLES);
    file(&folder, "old.tmb", "where event.status >= 400\n");
    let terminal = Terminal::start((100, 40), &folder, &["repl", "--input", "s.ndjson"]);
    terminal.wait_for("1>");
    let slow = "{\"host\":\"web2\",\"status\":503,\"path\":\"/b\",\"ms\":950,\"slow\":true}";
    shows(
        &terminal,
        &[
            (":mode json", ""),
            (":goto 2", "{\"host\":\"web2\",\"status\":503,\"path\":\"/b\",\"ms\":950}"),
            (
                "dedup by event.path within \"10s\" |> where event.ms > 500 |> set event.slow = true",
                &format!(
                    "out: {slow}\n4 samples\n1  out  (2)\n\
                     1  dropped by 1. dedup by event.path within \"10s\"  (4)\n\
                     2  dropped by 2. where event.ms > 500  (1, 3)"
                ),
            ),
            (":send", "dropped by 1. dedup by event.path within \"10s\""),
            (":advance 11s", "nothing came out"),
            (":send", &format!("out: {slow}")),
            (":clock", "1970-01-01 00:00:11.000000006 UTC (11000000006 ns since 1970)"),
            (":clock 2026-01-01T00:00:00Z", "nothing came out"),
            (":diff", "out: + event.slow: true"),
            (
                ":off 2",
                &format!(
                    "out: {slow}\n4 samples\n3  out  (1, 2, 3)\n\
                     1  dropped by 1. dedup by event.path within \"10s\"  (4)"
                ),
            ),
            (
                ":steps",
                "1. dedup by event.path within \"10s\"\nnothing changed\n2. where event.ms > 500 (off)\n\
                 3. set event.slow = true\n+ event.slow: true",
            ),
            (":coverage", "the samples reach all of it"),
        ],
    );
    let screen = terminal.enter(":compare old.tmb .");
    assert!(screen.contains("4 samples: 0 the same, 4 not\nsample 1\n- dropped by"), "{screen}");
    let screen = terminal.enter(":time");
    assert!(screen.contains("%  3. set event.slow = true"), "{screen}");
    let screen = terminal.enter(":time event.ms + 1 10");
    assert!(screen.contains("ns each of 10 runs"), "{screen}");
    let screen = terminal.enter(":type");
    assert!(screen.contains("3. set event.slow = true\n  event.host: string"), "{screen}");
    let screen = terminal.enter(":state");
    assert!(screen.contains("3 entries"), "{screen}");
    let screen = terminal.enter(":state 1 forget \"/a\"");
    assert!(screen.contains("2 entries") && !screen.contains("  \"/a\""), "{screen}");
    let none = "error: there are no steps: enter a chain or an assignment";
    shows(&terminal, &[(":reset", ""), (":steps", none)]);
}

#[test]
fn reasons() {
    let folder = folder("reasons");
    file(&folder, "a.log", "10.0.0.1 GET /a\n10.0.0.2 PUT /b\n");
    let terminal = Terminal::start((80, 40), &folder, &["repl", "--input", "a.log"]);
    terminal.wait_for("1>");
    let stopped = "1. parse grok \"%{IP:ip} %{INT:n}\" else bad\n  does not match\n    10.0.0.1 GET /a\n    \
                   aaaaaaaa ^\n    a ip = 10.0.0.1\n    matched: 10.0.0.1\n    stopped at: %{INT:n}\n    \
                   rest: GET /a\n";
    shows(
        &terminal,
        &[
            (
                ":explain grok \"%{IP:ip} %{WORD:verb}\"",
                "matches\n  10.0.0.1 GET /a\n  aaaaaaaa bbb\n  a ip = 10.0.0.1\n  b verb = GET",
            ),
            (
                ":explain dissect \"%{ip} %{verb}: %{n}\"",
                "does not match\n  10.0.0.1 GET /a\n  aaaaaaaa ^\n  a ip = 10.0.0.1\n  matched: 10.0.0.1\n  \
                 stopped at: %{verb}:\n  rest: GET /a",
            ),
            (
                ":explain regex \"^(?P<ip>[0-9.]+) P\"",
                "does not match\n  10.0.0.1 GET /a\n  aaaaaaaa ^\n  a ip = 10.0.0.1\n  matched: 10.0.0.1\n  \
                 stopped at: P\n  rest: GET /a",
            ),
            (
                ":suggest",
                "parse dissect \"%{ip} %{word} %{path}\"\n  matches 2 of 2 lines\n\
                 parse grok \"%{IP:ip} %{WORD:word} %{UNIXPATH:path}\"\n  matches 2 of 2 lines",
            ),
            (
                ":explain event == \"x\" or false",
                "event == \"x\" or false = false\n  event == \"x\" = false\n    event = \"10.0.0.1 GET /a\"",
            ),
        ],
    );
    let screen = terminal.enter("parse grok \"%{IP:ip} %{INT:n}\" else bad");
    assert!(screen.contains("2  bad  (1, 2)"), "{screen}");
    let screen = terminal.enter(":explain");
    assert!(screen.contains(stopped.trim_end()), "{screen}");
    let screen = terminal.enter(":doc string::uppercase");
    assert!(screen.contains("std::string::uppercase(text: string) -> string"), "{screen}");
    let screen = terminal.enter(":help goto");
    assert!(screen.contains("go to the sample with this number"), "{screen}");
}

#[test]
fn files_and_editors() {
    let folder = folder("files");
    file(&folder, "s.ndjson", SAMPLES);
    let program = folder.join("p.tmb");
    std::fs::write(&program, "where event.ms > 900\n").expect("the file can be written");
    let editor = folder.join("editor.sh");
    std::fs::write(&editor, "#!/bin/sh\necho 'set event.edited = true' > \"$1\"\n")
        .expect("the file can be written");
    let terminal = Terminal::start((80, 40), &folder, &["repl", "--input", "s.ndjson"]);
    terminal.wait_for("1>");
    let screen = terminal.enter(":watch p.tmb");
    assert!(screen.contains("watching p.tmb") && screen.contains("2  out  (2, 4)"), "{screen}");
    terminal.press("half an entry");
    terminal.wait_for("half an entry");
    std::fs::write(&program, "where event.ms > 10 |> set event.more = 1\n").expect("it is there");
    terminal.wait_for("p.tmb was saved");
    let screen = terminal.wait("entry kept", |screen| {
        screen.contains("3  out  (1, 2, 4)")
            && screen.lines().last().is_some_and(|line| line.contains("half an entry"))
    });
    assert!(screen.contains("\"more\": 1"), "{screen}");
    terminal.give_up();
    assert!(terminal.enter(":watch off").contains("nothing is watched"));
    let screen = terminal.enter(":save test the slow ones cases.txt");
    assert!(screen.contains("wrote cases.txt"), "{screen}");
    let saved = std::fs::read_to_string(folder.join("cases.txt")).expect("it was written");
    assert!(saved.contains("=== program: the slow ones\nwhere event.ms > 10"), "{saved}");
    let screen = terminal.enter(":save session all.session");
    assert!(screen.contains("wrote all.session"), "{screen}");
    let sourced = terminal.enter(":source all.session");
    assert!(sourced.contains("watching p.tmb"), "{sourced}");
    drop(terminal);
    let arguments = ["repl", "--input", "s.ndjson", "p.tmb"];
    let shell = format!("EDITOR='sh {}'", editor.display());
    let output = std::process::Command::new("sh")
        .arg("-c")
        .arg(format!(
            "{shell} {} {} -c ':mode json' -c ':edit'",
            env!("CARGO_BIN_EXE_temblor"),
            arguments.join(" ")
        ))
        .current_dir(&folder)
        .output()
        .expect("the shell starts");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("\"ms\":12,\"edited\":true}\n4 samples\n4  out"), "{text}");
    assert!(!text.contains('\x1b'), "colour in a pipe");
}

#[test]
fn entries_are_given_without_a_terminal() {
    let folder = folder("plain");
    file(&folder, "s.ndjson", SAMPLES);
    file(&folder, "hosts.csv", "host,room\nweb1,north\n");
    let run = |arguments: &[&str], input: &str| {
        let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_temblor"))
            .arg("repl")
            .args(arguments)
            .current_dir(&folder)
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .expect("temblor starts");
        let mut typed = child.stdin.take().expect("it is piped");
        std::io::Write::write_all(&mut typed, input.as_bytes()).expect("it reads");
        drop(typed);
        let output = child.wait_with_output().expect("temblor ends");
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let entries = "match event.status of\ncase 200 => \"fine\"\ncase _ => \"odd\"\nend\n:next\n";
    let (code, text) = run(&["-i", "s.ndjson", "-c", ":mode json", "-c", "event.ms"], "");
    assert_eq!((code, text.as_str()), (Some(0), "12\n"));
    let (code, text) = run(&["-i", "s.ndjson"], &format!(":mode logfmt\n{entries}"));
    assert_eq!((code, text.as_str()), (Some(0), "\"fine\"\nhost=web2 status=503 path=/b ms=950\n"));
    let (code, text) = run(&["-i", "s.ndjson", "-c", ":mode table", "-c", ":event"], "");
    assert_eq!(code, Some(0));
    assert!(text.starts_with("host   \"web1\"\nstatus 200\n"), "{text}");
    let (code, _) = run(&["-c", "1 +"], "");
    assert_eq!(code, Some(1));
    let lookup = ["-i", "s.ndjson", "--table", "hosts=hosts.csv", "-c", ":mode json"];
    let entry = "set event.room = lookup::get(\"hosts\", event.host).room |> out";
    let (_, text) =
        run(&[&lookup[..], &["-c", "lookup::get(\"hosts\", \"web1\")", "-c", entry]].concat(), "");
    assert!(
        text.starts_with("{\"room\":\"north\"}\n") || text.contains("\"room\":\"north\"}\n"),
        "{text}"
    );
}
