//! Standard input and output, and signals: what needs a process of its own.
//!
//! Invariant: a run ends when its input ends, its reader goes away or somebody asks it to, and says so
//! in its exit code.

use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use temblor_connect::sink::SinkConfig;
use temblor_connect::source::SourceConfig;
use temblor_runtime::framing::Framing;
use temblor_runtime::run::{NamedSink, RunPlan};

use crate::runtime::support::copy;

/// Tells the test binary that it is the child.
const CHILD: &str = "TEMBLOR_TEST_PROCESS_CHILD";

/// The run from standard input to standard output; does nothing when it is not the child.
#[test]
fn child() {
    if std::env::var(CHILD).is_err() {
        return;
    }
    let summary = copy(RunPlan {
        sources: vec![Arc::new(SourceConfig::Stdin { framing: Framing::Lines })],
        sinks: vec![NamedSink::new("stdout", SinkConfig::Stdout)],
        ports: vec!["out".to_string()],
        signals: true,
        ..RunPlan::default()
    });
    // The test harness has an exit code of its own.
    std::process::exit(100 + i32::from(summary.exit_code()));
}

fn start() -> (Child, BufReader<ChildStdout>) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "runtime::process::child", "--nocapture"]).env(CHILD, "1");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    (child, output)
}

/// Reads lines until one is `expected`.
fn wait_for(output: &mut BufReader<ChildStdout>, expected: &str) {
    let mut line = String::new();
    while line != expected {
        line.clear();
        assert!(output.read_line(&mut line).unwrap() > 0, "ended before {expected:?}");
    }
}

pub(crate) fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

#[test]
fn a_single_line_comes_out_while_the_input_stays_open() {
    let (mut child, mut output) = start();
    let mut input = child.stdin.take().unwrap();
    for line in ["one\n", "two\n"] {
        input.write_all(line.as_bytes()).unwrap();
        wait_for(&mut output, line);
    }
    input.write_all(b"last").unwrap();
    drop(input);
    wait_for(&mut output, "last\n");
    assert_eq!(child.wait().unwrap().code(), Some(100));
}

#[test]
fn a_signal_ends_a_run_that_waits_for_input() {
    for kind in [Signal::TERM, Signal::INT] {
        let (mut child, mut output) = start();
        let mut input = child.stdin.take().unwrap();
        input.write_all(b"one\nunfinished").unwrap();
        wait_for(&mut output, "one\n");
        signal(&child, kind);
        assert_eq!(child.wait().unwrap().code(), Some(100), "{kind:?}");
        let mut rest = String::new();
        output.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "", "a line without its end may have lost its rest");
    }
}

/// Waits until a count has not grown for a while: nothing more is taken.
fn wait_for_rest(count: &AtomicU64) {
    let mut before = u64::MAX;
    while before != count.load(Ordering::Relaxed) {
        before = count.load(Ordering::Relaxed);
        std::thread::sleep(Duration::from_millis(500));
    }
}

#[test]
fn a_second_signal_ends_a_run_that_nobody_reads_from() {
    let (mut child, mut output) = start();
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"one\n").unwrap();
    wait_for(&mut output, "one\n");
    // More than pipes and queues hold: the child waits for its reader, and stops reading.
    let block = "x".repeat(1023) + "\n";
    let written = Arc::new(AtomicU64::new(0));
    let progress = Arc::clone(&written);
    let writer = std::thread::spawn(move || {
        while input.write_all(block.as_bytes()).is_ok() {
            progress.fetch_add(1, Ordering::Relaxed);
        }
    });
    let mut first = [0; 1];
    output.read_exact(&mut first).unwrap();
    wait_for_rest(&written);
    while child.try_wait().unwrap().is_none() {
        signal(&child, Signal::TERM);
    }
    assert_eq!(child.wait().unwrap().code(), Some(130));
    writer.join().unwrap();
}

#[test]
fn a_reader_that_goes_away_ends_the_run_quietly() {
    let (mut child, mut output) = start();
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"one\n").unwrap();
    wait_for(&mut output, "one\n");
    drop(output);
    while input.write_all(b"a line that nobody reads\n").is_ok() {}
    assert_eq!(child.wait().unwrap().code(), Some(100));
}

#[test]
fn compressed_standard_input_is_read_as_what_it_holds() {
    let (mut child, mut output) = start();
    let mut encoder =
        flate2::write::GzEncoder::new(child.stdin.take().unwrap(), flate2::Compression::fast());
    encoder.write_all(b"one\ntwo\n").unwrap();
    drop(encoder.finish().unwrap());
    wait_for(&mut output, "one\n");
    wait_for(&mut output, "two\n");
    assert_eq!(child.wait().unwrap().code(), Some(100));
}
