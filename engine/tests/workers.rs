//! Programs with a memory give the same output with one worker and with several, to the byte.

use std::io::Write;
use std::process::{Command, Stdio};

/// Programs whose results depend on what came before.
const PROGRAMS: [&str; 5] = [
    r#"select {"k": group[0], "n": aggr::stats::count(), "last": aggr::win::last(event.n)} over 7 group by event.k"#,
    r#"select {"k": group[0], "sum": aggr::stats::sum(event.n)} over sliding 10 every 5 group by event.k"#,
    "dedup by event.k",
    "generic::counter",
    "script let state = match state of case null => 1 case _ => state + 1 end; [state, event.n] end",
];
/// Enough for several blocks of input.
const EVENTS: u64 = 40_000;

fn output(program: &str, workers: &str, input: &[u8]) -> Vec<u8> {
    let mut child = Command::new(env!("CARGO_BIN_EXE_temblor"))
        .args(["run", "-q", "--workers", workers, "-e", program])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the command was built with the test");
    let mut stdin = child.stdin.take().expect("it is piped");
    let input = input.to_vec();
    let feeder = std::thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output().expect("it ends with its input");
    feeder.join().expect("the feeder does not panic").expect("all input is taken");
    assert!(output.status.success(), "{program}: {}", output.status);
    output.stdout
}

#[test]
fn workers_do_not_change_results() {
    let mut input = Vec::new();
    for n in 0..EVENTS {
        // A multiplicative hash spreads the keys without a random generator.
        let key = n.wrapping_mul(2_654_435_761) % 997;
        writeln!(input, "{{\"n\":{n},\"k\":{key}}}").expect("memory takes all");
    }
    for program in PROGRAMS {
        let alone = output(program, "1", &input);
        assert!(alone.len() > 1000, "{program}: {} bytes", alone.len());
        for workers in ["2", "5"] {
            assert!(output(program, workers, &input) == alone, "{program} with {workers} workers");
        }
    }
}
