//! Programs with a memory give the same output with one worker and with several, to the byte.

use std::io::Write;
use std::process::{Command, Stdio};

/// Programs whose results depend on what came before.
const PROGRAMS: [&str; 13] = [
    r#"select {"k": group[0], "n": aggr::stats::count(), "last": aggr::win::last(event.n)} over 7 group by event.k"#,
    r#"select {"k": group[0], "sum": aggr::stats::sum(event.n)} over sliding 10 every 5 group by event.k"#,
    "dedup by event.k",
    "generic::counter",
    // The clock is that of the event: limits and ages come out the same in every run.
    "set $t = event.n |> dedup by event.k last 100 refresh else again",
    r#"dedup by event.k mode count last 50 |> select {"n": event.count, "event": event["event"]}"#,
    "rate_limit 3 per 1h by event.k else slow",
    "rate_limit 100000 per 1h by event.k cost event.n max_keys 500 else slow",
    "sample 0.3 by event.k else rest",
    "batch 7",
    r#"around when event.k == 5 before 2 after 1 by event.n % 3 max_keys 2 else far"#,
    r#"define window few from tumbling with size = 9, max_groups = 300, eviction = "lru", flush = true end; select {"k": group[0], "n": aggr::stats::count(), "max": aggr::stats::max(event.n)} from in[few] group by event.k into out;"#,
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
