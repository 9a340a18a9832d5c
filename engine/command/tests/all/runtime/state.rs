//! What operators remember outlives the process.
//!
//! Invariant: a run that was stopped or killed and then goes on puts out what one run would have.

use crate::runtime::process::signal;
use rustix::process::Signal;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::runtime::support::Directory;

/// One of everything that remembers, on keys that come again.
const PROGRAM: &str = r#"
define window three from tumbling with size = 3 end;
define window second from tumbling with interval = 1000000000 end;
define window slow from sliding with size = 4, slide = 2 end;
define window calls from tumbling state 0 script let state = state + 1; state % 5 == 0 end;
define window timed from sliding with interval = 40, slide = 10, on = event.n, late = 30 end;
define operator once from stream::dedup with by = event.n % 40, within = "10s" end;
define operator limit from stream::rate_limit with rate = 2, per = "1s", by = event.k end;
define operator numbered from generic::counter;
define operator pair from generic::batch with count = 2 end;
define script sums state {} script
  let state[event.k] = (state[event.k] ?? 0) + event.n;
  {"sums": state}
end;
create operator once; create operator limit; create operator numbered; create script sums;
create operator pair;
select {"three": aggr::stats::sum(event.n), "all": aggr::win::collect_up_to(event.n, 9), "hdr": aggr::stats::hdr(event.n, ["0.5"]), "k": group[0], "w": window} from in[three, calls] group by event.k into out;
select {"second": aggr::stats::mean(event.n), "dds": aggr::stats::dds(event.n, ["0.5"]), "var": aggr::stats::var(event.n)} from in[second] into out;
select {"slow": aggr::stats::count(), "min": aggr::stats::min(event.n), "first": aggr::win::first(event)} from in[slow] group by event.k into out;
select {"calls": aggr::win::last(event)} from in[calls] into out having event.calls.n > 3;
create stream times; select {"timed": aggr::stats::count(), "k": group[0]} from in[timed] group by event.k into times;
select event from times into out; select {"late": event.n} from times/late into out;
select event from in into once; select {"once": event} from once into out;
select event from in into limit; select {"limit": event} from limit into out;
select event from in into numbered; select event from numbered into out;
select event from in into sums; select event from sums into out;
select event from in into pair; select {"pair": event} from pair into out;
"#;

const EVENTS: usize = 400;

fn events() -> Vec<String> {
    let event = |n: usize| format!("{{\"n\": {}, \"k\": \"{}\"}}\n", n * 7 % 83, n * 5 % 7);
    (0..EVENTS).map(event).collect()
}

fn command(directory: &Directory, more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_temblor"));
    command.arg("run").arg(directory.path("p.trickle")).args(["-q"]).args(more);
    command
}

fn feed(directory: &Directory, input: &str, more: &[&str]) -> Output {
    let mut command = command(directory, more);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_string();
    let writer = std::thread::spawn(move || drop(stdin.write_all(input.as_bytes())));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

fn text(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Feeds the lines, waits until all of them are dealt with and ends the run by SIGTERM.
fn stop_after(directory: &Directory, lines: &[String], outputs: usize, more: &[&str]) -> String {
    let mut command = command(directory, more);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdin.write_all(lines.concat().as_bytes()).unwrap();
    let mut text = String::new();
    for _ in 0..outputs {
        assert!(stdout.read_line(&mut text).unwrap() > 0, "ended early");
    }
    signal(&child, Signal::TERM);
    while stdout.read_line(&mut text).unwrap() > 0 {}
    drop(stdin);
    assert!(child.wait().unwrap().success());
    text
}

#[test]
fn half_a_run_and_the_rest_are_one_run() {
    let directory = Directory::new("state-half");
    directory.write("p.trickle", PROGRAM.as_bytes());
    let lines = events();
    let clock = ["--virtual-clock", "37ms"];
    let whole = text(&feed(&directory, &lines.concat(), &clock));
    let state = directory.path("state").display().to_string();
    let more = [&clock[..], &["--state", &state]].concat();
    // Nothing that comes out of the half depends on what follows.
    let half = lines[..EVENTS / 2].concat();
    let outputs = text(&feed(&directory, &half, &clock)).lines().count();
    // The pair that the end would cut short is kept back.
    let mut parts = stop_after(&directory, &lines[..EVENTS / 2], outputs, &more);
    parts += &text(&feed(&directory, &lines[EVENTS / 2..].concat(), &more));
    let (whole, parts): (Vec<_>, Vec<_>) = (whole.lines().collect(), parts.lines().collect());
    for (at, (whole, part)) in whole.iter().zip(&parts).enumerate() {
        assert_eq!(whole, part, "output {at}");
    }
    assert_eq!(whole.len(), parts.len());
}

/// Counts, sums and windows that do not look at the clock.
const TIMELESS: &str = r#"
define window three from tumbling with size = 3 end;
define window timed from session with gap = 5, on = event.n * 1000 + event.k * 3, late = 40000 end;
define operator once from stream::dedup with by = event.n end;
define script sums state 0 script let state = state + event.n; {"sum": state, "n": event.n} end;
create operator once; create script sums;
select event from in into sums; select event from sums into out;
select {"three": aggr::stats::sum(event.n), "k": group[0]} from in[three] group by event.k into out;
create stream times; select {"timed": aggr::stats::count(), "k": group[0]} from in[timed] group by event.k into times;
select event from times into out; select {"late": event.n} from times/late into out;
select event from in into once; select {"once": event} from once into out;
"#;

const CRASH_LINES: usize = 60_000;
const KILLS: u64 = 5;

fn flow(directory: &Path) -> String {
    let path = |name: &str| directory.join(name).display().to_string();
    format!(
        "source in from file {:?};\nsink out into file {:?} with mode = \"truncate\" end;\n{TIMELESS}",
        path("in"),
        path("out")
    )
}

#[test]
fn a_killed_run_with_a_memory_goes_on_exactly() {
    let directory = Directory::new("state-kill");
    directory.write("p.tmb", flow(&directory.0).as_bytes());
    let event = |n: usize| format!("{{\"n\": {}, \"k\": {}}}\n", n % 1000, n % 17);
    let input: String = (0..CRASH_LINES).map(event).collect();
    directory.write("in", input.as_bytes());
    let run = |more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_temblor"));
        command.arg("run").arg(directory.path("p.tmb")).args(["-q", "--workers", "2"]).args(more);
        command.stderr(Stdio::null());
        command
    };
    assert!(run(&[]).status().unwrap().success());
    let out = directory.path("out");
    let expected = std::fs::read(&out).unwrap();
    std::fs::remove_file(&out).unwrap();
    let state = directory.path("state").display().to_string();
    for kill in 1..=KILLS {
        let enough = expected.len() as u64 * kill / (KILLS + 1);
        let mut child = run(&["--state", &state]).spawn().unwrap();
        let length = || out.metadata().map_or(0, |metadata| metadata.len());
        while length() <= enough && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert!(run(&["--state", &state]).status().unwrap().success());
    let found = std::fs::read(&out).unwrap();
    assert!(found == expected, "{} bytes, expected {}", found.len(), expected.len());
}

#[test]
fn a_state_that_does_not_fit_is_refused_and_can_be_given_up() {
    let directory = Directory::new("state-unfit");
    let state = directory.path("state").display().to_string();
    let more = ["--state", &state, "--virtual-clock", "1ns"];
    let select = "select aggr::stats::count() from in[w] into out;";
    let program = |window: &str, select: &str| {
        let text = format!("define window w from tumbling {window} end;\n{select}\n");
        directory.write("p.trickle", text.as_bytes());
    };
    let refused = |why: &str| {
        let output = feed(&directory, "1\n", &more);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(6), "{said}");
        assert!(said.contains(why) && said.contains("--fresh-state"), "{said}");
    };
    program("with size = 3", select);
    assert_eq!(text(&feed(&directory, "1\n2\n", &more)), "", "the window stays open");
    program("with size = 3", "select aggr::stats::sum(event) from in[w] into out;");
    refused("no `select` of the program has these settings");
    program("with interval = 3", select);
    refused("closes in another way");
    directory.write("p.trickle", b"select event from in into out;");
    refused("remembers nothing");
    program("with size = 4", select);
    assert_eq!(
        text(&feed(&directory, "1\n2\n", &more)),
        "4\n",
        "other settings take the state over"
    );
    assert_eq!(text(&feed(&directory, "1\n", &more)), "");
    let saved = std::fs::read_dir(&state).unwrap().flatten();
    let saved = saved
        .map(|entry| entry.path())
        .find(|path| path.extension().is_some_and(|end| end != "new"));
    let saved = saved.expect("there is a saved state");
    let whole = std::fs::read(&saved).unwrap();
    let mut bytes = whole.clone();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(&saved, bytes).unwrap();
    refused("checksum");
    for entry in std::fs::read_dir(&state).unwrap().flatten() {
        let kept = std::fs::read(entry.path()).unwrap();
        let first = kept.iter().position(|byte| *byte == b'\n').unwrap_or(kept.len());
        let older = [&b"temblor state 0"[..], &kept[first..]].concat();
        for damaged in [&b""[..], &kept[..kept.len() / 2], b"something else\n", &older] {
            std::fs::write(entry.path(), damaged).unwrap();
            if entry.path() == saved || !damaged.is_empty() {
                refused("");
            }
        }
        std::fs::write(entry.path(), kept).unwrap();
    }
    std::fs::write(&saved, whole).unwrap();
    let fresh = [&more[..], &["--fresh-state"]].concat();
    assert_eq!(text(&feed(&directory, "1\n2\n3\n4\n", &fresh)), "4\n");
}

/// A metronome whose beat 6 ends the run.
const BEATS: &str = r#"
define flow beats
flow
  use tremor::connectors;
  define connector beat from metronome with config = {"interval": 500000000} end;
  define connector stop from exit;
  define pipeline count
  into out, exit
  pipeline
    define window second from tumbling with interval = 1000000000 end;
    select {"n": aggr::stats::count(), "last": aggr::win::last(event.ingest_ns)}
    from in[second] into out;
    select {"exit": 3} from in where event.id == 6 into exit;
  end;
  create connector beat;
  create connector stop;
  create connector console from connectors::console;
  create pipeline count;
  connect /connector/beat to /pipeline/count;
  connect /pipeline/count to /connector/console;
  connect /pipeline/count/exit to /connector/stop;
end;
deploy flow beats;
"#;

#[test]
fn beats_put_the_virtual_clock_forward() {
    let directory = Directory::new("beats");
    let flow = directory.write("beats.troy", BEATS.as_bytes());
    let mut command = Command::new(env!("CARGO_BIN_EXE_temblor"));
    command.args(["run", "-q", "--virtual-clock", "1ns"]).arg(flow);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let expected = "{\"n\":2,\"last\":500000000}\n{\"n\":2,\"last\":1500000000}\n\
                    {\"n\":2,\"last\":2500000000}\n";
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
}
