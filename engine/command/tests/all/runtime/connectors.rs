//! Flows from connector to connector, as the command runs them.

use std::process::{Command, Output};

use crate::runtime::support::Directory;

/// Runs a flow in a directory of its own; `NAME` in the text is the path of the directory.
fn run(directory: &Directory, flow: &str, more: &[&str]) -> Output {
    let folder = directory.path("").display().to_string();
    let text = flow.replace("NAME", folder.trim_end_matches('/'));
    let file = directory.write("flow.troy", text.as_bytes());
    let mut command = Command::new(env!("CARGO_BIN_EXE_temblor"));
    let output = command.args(["run", "-q"]).args(more).arg(file).output();
    output.expect("the command was built with the test")
}

fn out(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

const LINES: &[u8] = b"{\"a\":1}\n{\"a\":2}\n{\"a\":3}\n";

#[test]
fn a_time_table_puts_the_virtual_clock_forward() {
    let directory = Directory::new("crononome");
    let flow = r#"
define flow main
flow
  use tremor::connectors;
  define connector table from crononome
  with
    config = {"entries": [
      {"name": "even", "expr": "*/2 * * * * *", "payload": {"x": 1}},
      {"name": "all", "expr": "* * * * * *"}
    ]}
  end;
  define connector stop from exit;
  define pipeline p
  into out, exit
  pipeline
    select {"s": event.ingest_ns / 1000000000, "t": event.trigger} from in into out;
    select {"exit": 5} from in where event.id == 3 into exit;
  end;
  create connector table;
  create connector stop;
  create connector console from connectors::console;
  create pipeline p;
  connect /connector/table to /pipeline/p;
  connect /pipeline/p to /connector/console;
  connect /pipeline/p/exit to /connector/stop;
end;
deploy flow main;
"#;
    let output = run(&directory, flow, &["--virtual-clock", "1ns"]);
    assert_eq!(output.status.code(), Some(5), "{output:?}");
    let wanted = r#"{"s":1.0,"t":{"name":"all"}}
{"s":2.0,"t":{"name":"even","payload":{"x":1}}}
{"s":2.0,"t":{"name":"all"}}
{"s":3.0,"t":{"name":"all"}}
"#;
    assert_eq!(String::from_utf8_lossy(&output.stdout), wanted);
}

/// A flow from `in.json` through a pipeline to standard output; `BEFORE` and `AFTER` are settings of
/// the connectors, `BODY` is the pipeline's, `MORE` stands in the flow.
fn flow(before: &str, after: &str, body: &str, more: &str) -> String {
    r#"
define flow main
args n = 0
flow
  use tremor::pipelines;
  define connector input from file
  with codec = "json", config = {"path": "NAME/in.json", "mode": "read"}, BEFORE end;
  define connector output from stdio
  with codec = "json", AFTER end;
  define pipeline p
  pipeline
    BODY
  end;
  create connector input;
  create connector output;
  create pipeline p;
  connect /connector/input to /pipeline/p;
  connect /pipeline/p to /connector/output;
  MORE
end;
deploy flow main;
"#
    .replace("BEFORE", before)
    .replace("AFTER", after)
    .replace("BODY", body)
    .replace("MORE", more)
}

const SEPARATE: [&str; 2] = [r#"preprocessors = ["separate"]"#, r#"postprocessors = ["separate"]"#];
const PASS: &str = "select event from in into out;";

#[test]
fn a_batch_leaves_as_its_events() {
    let directory = Directory::new("members");
    directory.write("in.json", LINES);
    let body = r#"
    define operator two from generic::batch with count = 2 end;
    create operator two;
    select event from in into two;
    select event from two into out;
    select {"whole": event} from two into out;"#;
    let output = run(&directory, &flow(SEPARATE[0], SEPARATE[1], body, ""), &[]);
    let wanted = "{\"a\":1}\n{\"a\":2}\n{\"whole\":[{\"a\":1},{\"a\":2}]}\n{\"a\":3}\n{\"whole\":[{\"a\":3}]}\n";
    assert_eq!(out(&output), wanted);
}

#[test]
fn the_run_counts_itself() {
    let directory = Directory::new("metrics");
    directory.write("in.json", LINES);
    let body =
        "#!config metrics_interval_s = 1\n    select event from in where event.a != 2 into out;";
    let more = r#"
  define connector counts from metrics;
  define connector file from file
  with
    codec = "json",
    config = {"path": "NAME/counts", "mode": "truncate"},
    postprocessors = ["separate"]
  end;
  create connector counts;
  create connector file;
  create pipeline passthrough from pipelines::passthrough;
  connect /connector/counts to /pipeline/passthrough;
  connect /pipeline/passthrough to /connector/file;"#;
    let before = r#"preprocessors = ["separate"], metrics_interval_s = 1"#;
    let flow = flow(before, SEPARATE[1], body, more);
    out(&run(&directory, &flow, &["--virtual-clock", "1ns"]));
    let counts = std::fs::read_to_string(directory.path("counts")).expect("the sink made it");
    for wanted in [
        r#"{"measurement":"events","tags":{"direction":"output","node":"in","pipeline":"main::p","port":"out"},"fields":{"count":3},"timestamp":0}"#,
        r#"{"measurement":"events","tags":{"direction":"input","node":"out","pipeline":"main::p","port":"in"},"fields":{"count":2},"timestamp":0}"#,
        r#"{"measurement":"connector_events","tags":{"connector":"main::input","flow":"main","port":"out"},"fields":{"count":3},"timestamp":0}"#,
    ] {
        assert!(counts.lines().any(|line| line == wanted), "{wanted}\n{counts}");
    }
}

#[test]
fn times_of_ingest_and_compressions_come_back() {
    let directory = Directory::new("ingest");
    for algorithm in ["br", "gzip", "lz4", "snappy", "xz2", "zlib", "zstd"] {
        directory.write("in.json", LINES);
        let config = format!(r#"{{"algorithm": "{algorithm}"}}"#);
        let after = format!(
            r#"postprocessors = ["ingest-ns", {{"name": "compress", "config": {config}}}, "length-prefixed"]"#
        );
        let packed =
            run(&directory, &flow(SEPARATE[0], &after, PASS, ""), &["--virtual-clock", "7s"]);
        assert!(packed.status.success(), "{algorithm}: {packed:?}");
        directory.write("in.json", &packed.stdout);
        let before = format!(
            r#"preprocessors = ["length-prefixed", {{"name": "decompress", "config": {config}}}, "ingest-ns"]"#
        );
        let body = "use tremor::system;\n    select [event.a, system::ingest_ns() / 1000000000] from in into out;";
        let read = run(&directory, &flow(&before, SEPARATE[1], body, ""), &[]);
        assert_eq!(out(&read), "[1,0.0]\n[2,7.0]\n[3,14.0]\n", "{algorithm}");
    }
}

#[test]
fn a_stream_is_compressed_as_a_whole() {
    let directory = Directory::new("stream");
    for (algorithm, ending) in [("xz2", "xz"), ("zstd", "zst")] {
        directory.write("in.json", LINES);
        let after = format!(
            r#"postprocessors = ["separate", {{"name": "streaming-compress", "config": {{"algorithm": "{algorithm}", "level": 3}}}}]"#
        );
        let packed = run(&directory, &flow(SEPARATE[0], &after, PASS, ""), &[]);
        assert!(packed.status.success(), "{packed:?}");
        let file = directory.write(&format!("packed.{ending}"), &packed.stdout);
        let read = Command::new(env!("CARGO_BIN_EXE_temblor"))
            .args(["run", "-q", "-e"])
            .arg(format!("source s from file {file:?}; s |> out"))
            .output()
            .expect("the command was built with the test");
        assert_eq!(out(&read).as_bytes(), LINES, "{algorithm}");
    }
}

#[test]
fn bench_measures_what_it_replays() {
    let directory = Directory::new("bench");
    directory.write("in.json", LINES);
    let flow = r#"
define flow main
flow
  use tremor::pipelines;
  define connector bench from bench
  with
    codec = "json",
    config = {"path": "NAME/in.json", "iters": 2, "interval": 1000, "structured": true, "significant_figures": 3}
  end;
  create connector bench;
  create pipeline passthrough from pipelines::passthrough;
  connect /connector/bench to /pipeline/passthrough;
  connect /pipeline/passthrough to /connector/bench;
end;
deploy flow main;
"#;
    let report = out(&run(&directory, flow, &[]));
    assert!(report.starts_with(r#"{"events":6,"bytes":42,"#), "{report}");
}

#[test]
fn arguments_that_no_flow_has_are_reported() {
    let directory = Directory::new("arguments");
    directory.write("in.json", LINES);
    let args = directory.write("args.json", br#"{"m": 1}"#).display().to_string();
    let output = run(&directory, &flow(SEPARATE[0], SEPARATE[1], PASS, ""), &["--args", &args]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && said.contains("unknown argument: m"), "{said}");
}
