//! Events that a codec or a path cannot take: they go to `err` with the event as it was, and are counted.
//!
//! Invariant: nothing is lost, and the number of workers changes no result.

use crate::runtime::support::Directory;
use std::io::Write;
use std::process::{Command, Output, Stdio};

fn run(directory: &Directory, program: &str, input: &str, more: &[&str]) -> Output {
    let program = directory.write("p.tmb", program.as_bytes());
    let mut command = Command::new(env!("CARGO_BIN_EXE_temblor"));
    command.current_dir(&directory.0).arg("run").arg(program).args(more);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

fn said(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

const INPUT: &str = "{\"type\":\"c\",\"metric\":\"a\",\"value\":1}\n{\"x\":1}\n[1]\n";
const MISSING: &str = "the field 'metric' should be a text, but it is missing";
const NO_RECORD: &str = "the field 'event' should be a record, but this one of kind array is not";

fn refusals() -> String {
    format!(
        "{{\"error\":\"{MISSING}\",\"sink\":\"o\",\"event\":{{\"x\":1}}}}\n\
         {{\"error\":\"{NO_RECORD}\",\"sink\":\"o\",\"event\":[1]}}\n"
    )
}

#[test]
fn what_no_codec_writes_goes_to_err_and_is_counted() {
    let directory = Directory::new("refused-encode");
    let sinks = "sink o into file \"o\" with codec = \"statsd\", mode = \"truncate\" end;\n";
    let ways = [
        "sink err into stdout; in |> o",
        // A program that reads the port of the sink gets it there, even back into the program.
        "o/err |> out; in |> o",
        "define operator all from generic::counter; create operator all;
         in |> all |> select event[\"event\"] |> o; o/err |> out",
    ];
    for way in ways {
        for workers in ["1", "3"] {
            let more = ["--workers", workers, "--strict"];
            let output = run(&directory, &format!("{sinks}{way}"), INPUT, &more);
            let (out, err) = said(&output);
            assert_eq!(out, refusals(), "{way}: {err}");
            assert!(err.contains("error   encode        2"), "{err}");
            assert_eq!(output.status.code(), Some(3), "{err}");
            assert_eq!(std::fs::read_to_string(directory.path("o")).unwrap(), "a:1|c\n");
        }
    }
}

#[test]
fn without_a_port_it_is_printed_with_the_bytes_that_came() {
    let directory = Directory::new("refused-print");
    let program = "sink o into stdout with codec = \"statsd\" end; in |> set event.y = 2 |> o";
    let (out, err) = said(&run(&directory, program, INPUT, &[]));
    assert_eq!(out, "a:1|c\n");
    assert!(err.contains(MISSING) && err.contains("| {\"x\":1}"), "{err}");
}

#[test]
fn what_fails_at_its_sink_again_does_not_go_round() {
    let directory = Directory::new("refused-round");
    let program = "sink o into stdout with codec = \"statsd\" end; in |> o; o/err |> o";
    let (_, err) = said(&run(&directory, program, "{\"x\":1}\n", &[]));
    assert!(err.contains("error   encode        2"), "{err}");
}

#[test]
fn paths_that_no_event_may_choose_go_to_err() {
    let directory = Directory::new("refused-path");
    let program = "sink o into file \"d/#{event.a}\" with mode = \"truncate\" end; sink err into stdout; in |> o";
    let long = "x".repeat(300);
    let input = format!("{{\"a\":\"b\"}}\n{{\"a\":\"../c\"}}\n{{\"b\":1}}\n{{\"a\":\"{long}\"}}\n");
    let output = run(&directory, program, &input, &[]);
    let (out, err) = said(&output);
    let lines: Vec<_> = out.lines().collect();
    assert_eq!(lines.len(), 3, "{out}{err}");
    assert!(lines[0].contains("../c") && lines[0].contains("below the directory"), "{out}");
    assert!(lines[1].contains("non existing event key") && lines[1].contains("{\"b\":1}"), "{out}");
    assert!(err.contains("error   path          3"), "{err}");
    assert!(std::fs::read_to_string(directory.path("d/b")).is_ok());
}

/// Events whose values take more together than a batch may hold: it goes through in pieces, and what comes out
/// is what one worker gives.
#[test]
fn a_batch_of_large_values_goes_through_in_pieces() {
    let directory = Directory::new("refused-pieces");
    let program = "in |> set event.t = string::repeat(event.c, 4000000) |> dedup by event.n \
                   |> set event.s = string::repeat(event.c, 6000000) |> dedup by event.m \
                   |> set event.s = string::bytes(event.s) + string::bytes(event.t), event.t = 0 |> out";
    let line =
        |n: usize| format!("{{\"n\":{n},\"m\":{},\"c\":\"{}\"}}\n", n % 29, ["a", "b"][n % 2]);
    let input: String = (0..40).map(line).collect();
    let outputs = ["1", "2"].map(|workers| {
        let output = run(&directory, program, &input, &["-q", "--workers", workers]);
        let (out, err) = said(&output);
        assert!(output.status.success(), "{err}");
        out
    });
    assert_eq!(outputs[0].lines().count(), 29);
    assert!(outputs[0].lines().all(|line| line.contains("\"s\":10000000")), "{}", outputs[0]);
    assert_eq!(outputs[0], outputs[1]);
}
