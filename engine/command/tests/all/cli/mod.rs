//! The command as a user meets it: what goes in, what comes out, what is said and the exit code.

mod ends;
mod explain;
mod parameters;

use std::path::PathBuf;
use std::process::{Command, Stdio};
use temblor_testing::Ran;

fn temblor(arguments: &[&str], input: &[u8]) -> Ran {
    temblor_testing::temblor(arguments).input(input).run()
}

/// A scratch directory of its own for each test.
fn scratch(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).expect("the target directory can be written");
    path
}

#[test]
fn a_broken_line_is_reported_and_stops_nothing() {
    let ran = temblor(&["run", "-e", "where event.a == 1"], b"{\"a\":1}\n{\"a\":");
    assert_eq!(ran.out, "{\"a\":1}\n");
    assert!(ran.err.contains("<stdin>:2: not JSON"), "{}", ran.err);
    assert_eq!(ran.code, Some(0));
}

#[test]
fn odd_json_never_panics_and_never_stops_the_rest() {
    let deep = format!("{}{}\n", "[".repeat(100_000), "]".repeat(100_000));
    let cases: [(&[u8], usize, bool); 8] = [
        (b"{\"a\":\"\xff\"}\n", 0, true),
        (deep.as_bytes(), 0, true),
        (b"{\"a\":123456789012345678901234567890}\n", 1, false),
        (b"{\"a\":1,\"a\":2}\n", 1, false),
        (b"", 0, false),
        (b"\n\n\n", 0, false),
        (b"nul\n", 0, true),
        (b"1 2\n", 0, true),
    ];
    for (bytes, events, fails) in cases {
        let mut input = bytes.to_vec();
        input.extend_from_slice(b"{\"last\":true}\n");
        let ran = temblor(&["run", "-e", "set event.seen = 1"], &input);
        let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(40)]).into_owned();
        assert_eq!(ran.out.lines().count() - 1, events, "{shown}: {}", ran.err);
        assert!(ran.out.ends_with("{\"last\":true,\"seen\":1}\n"), "{shown}: {}", ran.out);
        assert_eq!(ran.err.contains("error"), fails, "{shown}: {}", ran.err);
        assert_eq!(ran.code, Some(0), "{shown}");
    }
}

/// The pipeline leaves one event untouched, and of the other all but one field.
const WHOLE_FILES: &str = r#"define flow main
flow
  use tremor::connectors;
  define connector input from file
  with
    codec = "json",
    config = { "path": "PATH", "mode": "read" }
  end;
  define pipeline both
  pipeline
    define script change script let event.b = 2; event end;
    create script change;
    select event from in into out;
    select event from in into change;
    select event from change into out;
  end;
  create connector input;
  create connector console from connectors::console;
  create pipeline both;
  connect /connector/input to /pipeline/both;
  connect /pipeline/both to /connector/console;
end;
deploy flow main;
"#;

#[test]
fn an_event_that_was_written_over_several_lines_leaves_as_one() {
    let directory = scratch("whole_files");
    let (input, flow) = (directory.join("in.json"), directory.join("flow.troy"));
    std::fs::write(&input, "{\n  \"a\": [\n    1\n  ],\n  \"b\": 1\n}\n").unwrap();
    std::fs::write(&flow, WHOLE_FILES.replace("PATH", &input.display().to_string())).unwrap();
    let ran = temblor(&["run", "--quiet", &flow.display().to_string()], b"");
    assert_eq!(ran.out, "{\"a\":[1],\"b\":1}\n{\"a\":[1],\"b\":2}\n", "{}", ran.err);
}

#[test]
fn of_repeated_keys_the_last_counts() {
    let ran = temblor(
        &["run", "-e", "where event.a == 2 |> set event.b = event.a"],
        b"{\"a\":1,\"a\":2}\n",
    );
    assert_eq!(ran.out, "{\"a\":2,\"b\":2}\n");
}

#[test]
fn a_line_of_100_mb_is_one_error() {
    let mut input = vec![b'x'; 100_000_000];
    input.extend_from_slice(b"\n{\"a\":1}\n");
    let ran = temblor(&["run", "-e", "where event.a == 1"], &input);
    assert_eq!((ran.out.as_str(), ran.code), ("{\"a\":1}\n", Some(0)));
    assert!(ran.err.contains("<stdin>:1"), "{}", ran.err);
}

#[test]
fn wrong_programs_are_refused_with_a_place() {
    let directory = scratch("refused");
    let cases = [
        ("a.tremor", "let x = ;", "E0201", "1:9"),
        ("b.tremor", "use std::string; string::lem(\"a\")", "E0303", "1:18"),
        ("c.tremor", "use std::string; string::len(\"a\", \"b\")", "E0", "1:18"),
        ("d.tremor", "1 + \"a\"", "E0413", "1:1"),
        ("e.trickle", "select event from im into out;", "E0502", "1:19"),
    ];
    for (name, text, code, place) in cases {
        let path = directory.join(name);
        std::fs::write(&path, text).expect("the directory is there");
        let ran = temblor(&["check", &path.display().to_string()], b"");
        assert_eq!(ran.code, Some(1), "{name}: {}", ran.err);
        assert!(ran.err.contains(code) && ran.err.contains(place), "{name}: {}", ran.err);
        assert_eq!(temblor(&["run", &path.display().to_string()], b"{}\n").code, Some(1), "{name}");
    }
}

#[test]
fn a_configuration_that_cannot_be_read_is_not_converted_in_part() {
    let folder = scratch("half-read");
    let file = folder.join("half.conf");
    let text = "filter { mutate { add_tag => ['first'] } mutate { add_tag => oops oops } json { source => \"a\" } }";
    std::fs::write(&file, text).expect("the folder can be written");
    let (path, out) = (file.display().to_string(), folder.join("half.tmb"));
    let written = ["convert", "logstash", &path, "--out", &out.display().to_string()];
    for arguments in [&written[..3], &written] {
        let ran = temblor(arguments, b"");
        assert_eq!((&*ran.out, ran.code), ("", Some(1)), "{}", ran.err);
        assert!(ran.err.contains("half.conf:1:"), "{}", ran.err);
        assert!(ran.err.contains("nothing was converted"), "{}", ran.err);
    }
    assert!(!out.exists());
    let report = temblor(&["convert", "logstash", &path, "--report"], b"");
    assert!(report.out.contains("filter json: exact"), "{}", report.out);
    assert_eq!(report.code, Some(1));
}

#[test]
fn three_mistakes_are_three_reports() {
    let path = scratch("three").join("three.tremor");
    let text = "let x = ;\nevent.a + ;\nmatch event of cse 1 => 2 end\n";
    std::fs::write(&path, text).expect("the directory is there");
    let ran = temblor(&["check", &path.display().to_string()], b"");
    assert_eq!(ran.err.matches("error[").count(), 3, "{}", ran.err);
}

#[test]
fn missing_files_and_directories_are_named() {
    for (path, word) in [("/no/such/file.tmb", "No such file"), ("examples", "kind of file")] {
        let ran = temblor(&["run", path], b"");
        assert_eq!(ran.code, Some(1));
        assert!(ran.err.contains(path) && ran.err.contains(word), "{}", ran.err);
    }
}

#[test]
fn a_source_that_is_not_there_and_a_sink_that_is_full_have_their_exit_codes() {
    let missing = "source a from file \"/no/such/log\"; a |> out";
    let ran = temblor(&["run", "-e", missing], b"");
    assert_eq!(ran.code, Some(4), "{}", ran.err);
    assert!(ran.err.contains("/no/such/log"), "{}", ran.err);
    let full = "sink x into file \"/dev/full\" with mode = \"overwrite\" end; in |> x";
    let ran = temblor(&["run", "-e", full], b"{\"a\":1}\n");
    assert_eq!(ran.code, Some(5), "{}", ran.err);
    assert!(ran.err.contains("/dev/full"), "{}", ran.err);
}

#[test]
fn fail_fast_ends_with_3() {
    let ran =
        temblor(&["run", "--fail-fast", "-e", "where event.a > 1"], b"{\"a\":2}\n{\"b\":1}\n");
    assert_eq!((ran.out.as_str(), ran.code), ("{\"a\":2}\n", Some(3)));
    assert!(
        ran.err.contains("<stdin>:2") && ran.err.contains("non existing event key `a`"),
        "{}",
        ran.err
    );
}

#[test]
fn ports_are_written_beside_events() {
    let chain = "route case event.n > 1 => big default => out end";
    let ran = temblor(&["run", "--ports", "-e", chain], b"{\"n\":1}\n{\"n\":2}\n");
    let expected =
        "{\"port\":\"out\",\"event\":{\"n\":1}}\n{\"port\":\"big\",\"event\":{\"n\":2}}\n";
    assert_eq!(ran.out, expected);
}

#[test]
fn scripts_take_json_and_strings_and_the_virtual_clock() {
    let directory = scratch("codecs");
    let script = directory.join("clock.tremor");
    std::fs::write(&script, "use tremor::system; {\"at\": system::ingest_ns(), \"text\": event}")
        .expect("the directory is there");
    let path = script.display().to_string();
    let arguments = ["run", "--virtual-clock", "1s", "--codec", "string", &path];
    let ran = temblor(&arguments, b"one\r\n\ntwo");
    let expected = "{\"at\":0,\"text\":\"one\"}\n{\"at\":1000000000,\"text\":\"\"}\n\
                    {\"at\":2000000000,\"text\":\"two\"}\n";
    assert_eq!(ran.out, expected, "{}", ran.err);
}

#[test]
fn many_workers_give_what_one_gives() {
    let mut input = String::new();
    for number in 0..60_000_u64 {
        let key = number.wrapping_mul(2_654_435_761) % 97;
        input.push_str(&format!(
            "{{\"n\":{number},\"k\":\"key {key}\",\"pad\":\"{}\"}}\n",
            "x".repeat(40)
        ));
    }
    let chain = "where event.n != 5 |> dedup by event.k last 50 else again |> \
                 script let state = match state of case null => 1 case _ => state + 1 end; \
                 let event.count = state; event end |> out";
    let run = |workers: &str| {
        temblor(&["run", "--ports", "--workers", workers, "-e", chain], input.as_bytes())
    };
    let one = run("1");
    assert!(one.out.lines().count() > 1_000, "{}", one.err);
    for workers in ["2", "3"] {
        let many = run(workers);
        assert!(many.out == one.out, "{workers} workers: other output, {}", many.err);
    }
}

#[test]
fn the_first_command_of_the_readme_sorts_its_log() {
    let ran = temblor(&["run", "examples/apache/apache.tmb"], b"");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(ran.out.lines().count(), 238, "{}", ran.err);
    let count = |name: &str| {
        let path = format!("{}/../../target/apache/{name}.ndjson", env!("CARGO_MANIFEST_DIR"));
        std::fs::read_to_string(path).expect("the run has written it").lines().count()
    };
    let counts = [count("served"), count("warnings"), count("loud"), count("bad")];
    assert_eq!(counts, [2_136, 686, 640, 62]);
}

#[test]
fn a_long_form_runs_like_its_chain() {
    let chain = "where event.n > 1 else small |> set event.twice = event.n * 2";
    let long = temblor(&["check", "--expand", "-e", chain], b"");
    assert_eq!(long.code, Some(0), "{}", long.err);
    let input = b"{\"n\":1}\n{\"n\":2}\n{\"n\":3}\n";
    let short_ran = temblor(&["run", "--ports", "-e", chain], input);
    let long_ran = temblor(&["run", "--ports", "-e", &long.out], input);
    assert!(short_ran.out.contains("\"twice\":6"), "{}", short_ran.err);
    assert_eq!(long_ran.out, short_ran.out, "{}", long.out);
}

#[test]
fn nothing_is_lost_torn_or_repeated_when_killed() {
    const LINES: u64 = 150_000;
    let directory = scratch("killed");
    let show = |name: &str| directory.join(name).display().to_string();
    let mut log = String::new();
    for number in 0..LINES {
        log.push_str(&format!(
            "{{\"n\":{number},\"pad\":\"{}\"}}\n",
            "y".repeat((number % 90) as usize)
        ));
    }
    std::fs::write(show("in.ndjson"), log).expect("the directory is there");
    let chain = format!(
        "source a from file \"{}\"; sink b into file \"{}\"; a |> set event.seen = true |> b",
        show("in.ndjson"),
        show("out.ndjson")
    );
    let start = || {
        Command::new(env!("CARGO_BIN_EXE_temblor"))
            .args(["run", "--quiet", "--state", &show("state"), "-e", &chain])
            .stderr(Stdio::null())
            .spawn()
            .expect("the command was built")
    };
    for round in 0..8_u64 {
        let mut child = start();
        // The point of the test is that any moment will do.
        std::thread::sleep(std::time::Duration::from_millis(15 + round * 23));
        let _ = child.kill();
        let _ = child.wait();
    }
    assert!(start().wait().expect("it can be waited for").success());
    let out = std::fs::read_to_string(show("out.ndjson")).expect("the run has written it");
    for (number, line) in out.lines().enumerate() {
        let wanted = format!("{{\"n\":{number},\"pad\"");
        assert!(line.starts_with(&wanted) && line.ends_with("\"seen\":true}"), "{number}: {line}");
    }
    assert_eq!(out.lines().count() as u64, LINES);
}

#[test]
fn a_sink_for_err_takes_all_that_fails_with_the_original() {
    let path = scratch("dead").join("dead.ndjson");
    let program = format!(
        "sink err into file \"{}\"; in |> where event.n > 0 |> set event.m = event.n / event.d",
        path.display()
    );
    let input = b"{\"n\":1,\"d\":2}\n{\"n\":\n{\"n\":1,\"d\":0}\n\xff\n";
    let ran = temblor(&["run", "--quiet", "-e", &program], input);
    assert_eq!((ran.out.as_str(), ran.code), ("{\"n\":1,\"d\":2,\"m\":0.5}\n", Some(0)));
    let dead = std::fs::read_to_string(path).expect("the run has written it");
    let lines: Vec<_> = dead.lines().collect();
    assert_eq!(lines.len(), 3, "{dead}");
    assert!(lines[0].contains("\"line\":2") && lines[0].ends_with("\"event\":\"{\\\"n\\\":\"}"));
    assert!(lines[1].contains("zero") && lines[1].ends_with("\"event\":{\"n\":1,\"d\":0}}"));
    assert!(lines[2].ends_with("\"event\":\"/w==\"}"));
}

/// A table of the command line, and a program of each kind that asks it.
const HOSTS: [&str; 2] = ["--table", "hosts=examples/lookup/hosts.csv"];
const ASKING: [(&str, &str); 4] = [
    ("script.tremor", "use std::lookup;\nlookup::get(\"hosts\", event.ip).name"),
    (
        "query.trickle",
        "use std::lookup;\nselect lookup::get(\"hosts\", event.ip).name from in into out;",
    ),
    (
        "operator.trickle",
        "define operator rows from stream::enrich\nwith\n  file = \"hosts\",\n  from = event.ip,\n  \
         into = \"event.host\"\nend;\ncreate operator rows;\nselect event from in into rows;\n\
         select event.host.name from rows into out;",
    ),
    (
        "flow.troy",
        "define flow main\nflow\n  use std::lookup;\n  define pipeline ask\n  pipeline\n    use std::lookup;\n    \
         select lookup::get(\"hosts\", event.ip).name from in into out;\n  end;\n  \
         define connector input from stdio with codec = \"json\",\n    \
         preprocessors = [\"separate\"], postprocessors = [\"separate\"] end;\n  \
         create connector input;\n  create pipeline ask;\n  connect /connector/input to /pipeline/ask;\n  \
         connect /pipeline/ask to /connector/input;\nend;\ndeploy flow main;",
    ),
];

#[test]
fn every_kind_of_program_asks_the_tables_of_the_command_line() {
    let folder = scratch("asking");
    for (name, text) in ASKING {
        let file = folder.join(name);
        std::fs::write(&file, text).expect("the scratch directory can be written");
        let file = file.display().to_string();
        let event = b"{\"ip\":\"10.2.0.9\"}\n";
        let ran = temblor(&[&["run", "--quiet", &file][..], &HOSTS].concat(), event);
        assert_eq!((ran.out.trim_end(), ran.code), ("\"db-1\"", Some(0)), "{name}: {}", ran.err);
        let checked = temblor(&[&["check", &file][..], &HOSTS].concat(), b"");
        assert_eq!((checked.err.as_str(), checked.code), ("", Some(0)), "{name}");
    }
}

#[test]
fn a_table_that_is_not_there_is_found_before_the_first_event() {
    let folder = scratch("missing-table");
    let asks = |file: &(&str, &str)| file.1.contains("lookup::get");
    for (name, text) in ASKING.iter().filter(|file| asks(file)) {
        let file = folder.join(name);
        std::fs::write(&file, text).expect("the scratch directory can be written");
        let file = file.display().to_string();
        let other = ["--table", "host=examples/lookup/hosts.csv"];
        for arguments in [vec!["run", &file], [&["check", &file][..], &other].concat()] {
            let ran = temblor(&arguments, b"{}\n");
            assert!(ran.err.contains("E0327"), "{arguments:?}: {}", ran.err);
            assert_eq!((ran.out.as_str(), ran.code), ("", Some(1)), "{arguments:?}");
        }
        // Without a table the check cannot know which there will be.
        let checked = temblor(&["check", &file], b"");
        assert_eq!((checked.err.as_str(), checked.code), ("", Some(0)), "{name}");
    }
}

#[test]
fn cases_and_measurements_ask_the_tables_of_the_command_line() {
    let folder = scratch("tables-of-tools");
    let case = "=== chain: a host\nset event = lookup::get(\"hosts\", event).name\n\
                --- in\n\"10.2.0.9\"\n---\n--- out\n\"db-1\"\n";
    let file = folder.join("hosts.txt");
    std::fs::write(&file, case).expect("the scratch directory can be written");
    let file = file.display().to_string();
    let tested = temblor(&[&["test", &file][..], &HOSTS].concat(), b"");
    assert_eq!(tested.code, Some(0), "{} {}", tested.out, tested.err);
    assert_eq!(temblor(&["test", &file], b"").code, Some(1));
    let program = "where lookup::get(\"hosts\", event).name == \"db-1\"";
    let input = folder.join("ips.ndjson");
    std::fs::write(&input, "\"10.2.0.9\"\n").expect("the scratch directory can be written");
    let input = input.display().to_string();
    let bench = ["bench", "-e", program, "--input", &input, "--for", "200ms", "--warmup", "1ms"];
    let measured = temblor(&[&bench[..], &HOSTS].concat(), b"");
    assert_eq!(measured.code, Some(0), "{} {}", measured.out, measured.err);
    let refused = temblor(&bench, b"");
    assert!(refused.err.contains("E0327") && refused.code == Some(1), "{}", refused.err);
}

#[test]
fn an_instance_has_the_name_that_it_is_given() {
    let program = "use tremor::system;\nset event = system::instance()";
    let ran = temblor(&["run", "--quiet", "--instance", "blue", "-e", program], b"1\n");
    assert_eq!((ran.out.as_str(), ran.code), ("\"blue\"\n", Some(0)), "{}", ran.err);
    let unnamed = temblor(&["run", "--quiet", "-e", program], b"1\n");
    assert_eq!(unnamed.code, Some(0), "{}", unnamed.err);
    assert_ne!(unnamed.out, ran.out);
}

#[test]
fn scripts_read_lookup_tables() {
    let script = "examples/lookup/enrich.tremor";
    let tables = [
        "hosts=examples/lookup/hosts.csv,reload=30s",
        "networks=examples/lookup/networks.csv,mode=cidr",
        "paths=examples/lookup/paths.json,mode=regex",
        "status=examples/lookup/status.csv,mode=range,until=to",
    ];
    let mut arguments = vec!["run", script];
    arguments.extend(tables.iter().flat_map(|table| ["--table", table]));
    let event = b"{\"ip\":\"10.2.0.9\",\"path\":\"/style.css\",\"status\":404}\n";
    let ran = temblor(&arguments, event);
    let added = r#""host":"db-1","zone":"data centre","team":"frontend","class":"refused"}"#;
    assert!(ran.out.trim_end().ends_with(added), "{} {}", ran.out, ran.err);
    let ran = temblor(&["run", script, "--table", "host=examples/lookup/hosts.csv"], event);
    assert!(ran.err.contains("there is no lookup table `hosts`"), "{}", ran.err);
    assert!(ran.err.contains("did you mean `host`?"), "{}", ran.err);
    assert_eq!((ran.out.as_str(), ran.code), ("", Some(1)));
    let bad = scratch("lookup").join("bad.csv");
    std::fs::write(&bad, "a,b\n1,2\n3,4,5\n").expect("the scratch directory can be written");
    let ran = temblor(&["run", script, "--table", &format!("hosts={}", bad.display())], event);
    assert!(ran.err.contains("line 3"), "{}", ran.err);
    assert_eq!((ran.out.as_str(), ran.code), ("", Some(1)));
}

#[test]
fn misspelt_commands_are_told_what_is_meant() {
    for (word, meant) in [("rnu", "'run'"), ("chekc", "'check'"), ("comvert", "'convert'")] {
        let ran = temblor(&[word], b"");
        let tip = ran.err.lines().find(|line| line.contains("tip:")).unwrap_or("none");
        assert!(tip.contains("similar subcommand") && tip.contains(meant), "{}", ran.err);
        assert_eq!((ran.out.as_str(), ran.code), ("", Some(2)));
    }
    let file = temblor(&["examples/rules.tmb"], b"");
    assert!(file.err.contains("'run examples/rules.tmb'"), "{}", file.err);
    let unknown = temblor(&["zzz"], b"");
    assert!(!unknown.err.contains("similar"), "{}", unknown.err);
    let help = temblor(&["help", "rnu"], b"");
    assert_eq!(help.code, Some(2), "{}", help.err);
}
