//! What a step remembers is found again when the program has changed.
//!
//! Invariant: a saved state goes to the step that it belongs to, or the run is refused with its name.

use crate::runtime::support::Directory;
use std::io::Write;
use std::process::{Command, Output, Stdio};

/// A state directory that programs are run on, one after the other.
struct Runs {
    directory: Directory,
}

impl Runs {
    fn new(name: &str) -> Self {
        Self { directory: Directory::new(name) }
    }

    fn run(&self, program: &str, input: &str, more: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_temblor"));
        let state = self.directory.path("state");
        command.args(["run", "-q", "--virtual-clock", "1ns", "-e", program, "--state"]).arg(state);
        command.args(more).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A run that is refused reads nothing.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        child.wait_with_output().unwrap()
    }

    /// Runs to the end; gives what came out and what was said.
    fn passes(&self, program: &str, input: &str, more: &[&str]) -> (String, String) {
        let output = self.run(program, input, more);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{program}: {said}");
        (String::from_utf8_lossy(&output.stdout).into_owned(), said)
    }

    fn is_refused(&self, program: &str, why: &str) {
        let output = self.run(program, "", &[]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(6), "{program}: {said}");
        for part in [why, "--drop-unmatched-state", "--fresh-state"] {
            assert!(said.contains(part), "{program}: {said}");
        }
    }
}

const ONE: &str = "{\"a\":1,\"b\":1}\n";

#[test]
fn steps_in_front_and_behind_leave_a_state_where_it_is() {
    let runs = Runs::new("steps-front");
    assert_eq!(runs.passes("in |> dedup by event.a |> out", ONE, &[]).0, ONE);
    for program in [
        "in |> where event.a > 0 |> dedup by event.a |> set event.c = 1 |> out",
        // Another layout is the same step.
        "in |> dedup   by event.a # once\n |> out",
        "in |> dedup by event.a else more |> out; more |> drop",
        "in |> sample 1.0 |> dedup by event.a |> out",
    ] {
        assert_eq!(runs.passes(program, ONE, &[]).0, "", "{program}");
    }
}

#[test]
fn swapped_steps_keep_what_is_theirs() {
    let runs = Runs::new("steps-swapped");
    let program = "in |> dedup by event.a |> dedup by event.b |> out";
    assert_eq!(runs.passes(program, ONE, &[]).0, ONE);
    let swapped = "in |> dedup by event.b else other |> dedup by event.a |> out; other |> set event = \"b\" |> out";
    assert_eq!(runs.passes(swapped, "{\"a\":1,\"b\":2}\n{\"a\":2,\"b\":1}\n", &[]).0, "\"b\"\n");
}

#[test]
fn changed_settings_are_followed_where_they_can_be() {
    let runs = Runs::new("steps-settings");
    assert_eq!(runs.passes("in |> dedup by event.a within 1h |> out", ONE, &[]).0, ONE);
    let (out, said) = runs.passes("in |> dedup by event.a within 2h |> out", ONE, &[]);
    assert_eq!(out, "");
    assert!(said.contains("goes on with what the step `dedup by event.a within 1h`"), "{said}");
    // Another key, or two that might be meant: nobody guesses.
    runs.is_refused("in |> dedup by event.b within 2h |> out", "`dedup by event.a within 2h`");
    runs.is_refused(
        "in |> dedup by event.a within 3h |> dedup by event.a within 4h |> out",
        "is found by its name",
    );
}

#[test]
fn named_steps_are_found_by_their_names() {
    let runs = Runs::new("steps-named");
    let program = "in |> dedup as first by event.a |> dedup as second by event.b |> out";
    assert_eq!(runs.passes(program, ONE, &[]).0, ONE);
    let other = "in |> dedup as second by event.b within 1h else b |> dedup as first by event.a within 1h else a |> out;
                 a |> set event = \"a\" |> out; b |> set event = \"b\" |> out";
    assert_eq!(
        runs.passes(other, "{\"a\":1,\"b\":2}\n{\"a\":2,\"b\":1}\n", &[]).0,
        "\"a\"\n\"b\"\n"
    );
    runs.is_refused("in |> dedup as first by event.a within 1h |> out", "`second`");
    runs.is_refused(
        "in |> dedup as first by event.a within 1h |> dedup as third by event.b within 1h |> out",
        "is it `third` now?",
    );
    runs.is_refused(
        "in |> dedup as first by event.a |> rate_limit 1 per 1s as second |> out",
        "now stands for a `stream::rate_limit`",
    );
}

#[test]
fn names_can_be_given_later_and_in_every_kind_of_step() {
    let runs = Runs::new("steps-later");
    let program = "in |> script let state = (state ?? 0) + event.a; {\"n\": state} end \
                   |> select {\"n\": aggr::win::last(event.n), \"c\": aggr::stats::count()} over 2 |> out";
    // A window puts out its rest when the input is over.
    assert_eq!(runs.passes(program, ONE, &[]).0, "{\"n\":1,\"c\":1}\n");
    let named = "in |> script as sum let state = (state ?? 0) + event.a; {\"n\": state} end \
                 |> select as pairs {\"n\": aggr::win::last(event.n), \"c\": aggr::stats::count()} over 2 |> out";
    assert_eq!(runs.passes(named, ONE, &[]).0, "{\"n\":2,\"c\":1}\n");
    // The script may be another one: it has its name.
    let changed = "in |> script as sum let state = (state ?? 0) + 100; {\"n\": state} end \
                   |> select as pairs {\"n\": aggr::win::last(event.n), \"c\": aggr::stats::count()} over 2 |> out";
    assert_eq!(runs.passes(changed, ONE, &[]).0, "{\"n\":102,\"c\":1}\n");
    assert_eq!(runs.passes(changed, ONE, &[]).0, "{\"n\":202,\"c\":1}\n");
}

#[test]
fn what_no_step_takes_can_be_dropped_and_the_rest_stays() {
    let runs = Runs::new("steps-dropped");
    let program = "in |> dedup by event.a |> dedup by event.b |> out";
    assert_eq!(runs.passes(program, ONE, &[]).0, ONE);
    let less = "in |> dedup by event.b |> out";
    runs.is_refused(less, "the step `dedup by event.a`");
    let (out, said) = runs.passes(less, "{\"a\":9,\"b\":1}\n", &["--drop-unmatched-state"]);
    assert_eq!(out, "", "the other is still there");
    assert!(said.contains("dropped what was saved of the step `dedup by event.a`"), "{said}");
    assert_eq!(runs.passes(less, "{\"a\":9,\"b\":2}\n", &[]).0, "{\"a\":9,\"b\":2}\n");
    runs.is_refused("in |> out", "remembers nothing");
    assert_eq!(runs.passes("in |> out", ONE, &["--drop-unmatched-state"]).0, ONE);
}

/// What is written to files and to the state directory is forced to the disk only where that was asked for.
#[test]
fn a_durable_state_is_as_exact_as_any() {
    let runs = Runs::new("steps-durable");
    let program = format!(
        "sink out into file {:?} with mode = \"truncate\", durability = \"fsync\" end; in |> dedup by event.a |> out",
        runs.directory.path("out").display().to_string()
    );
    runs.passes(&program, ONE, &["--durability", "fsync"]);
    runs.passes(&program, "{\"a\":2}\n{\"a\":1}\n", &["--durability", "fsync"]);
    let written = std::fs::read_to_string(runs.directory.path("out")).unwrap();
    assert_eq!(written, format!("{ONE}{{\"a\":2}}\n"));
    let wrong = runs.run(&program, "", &["--durability", "hope"]);
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("flush or fsync"));
}
