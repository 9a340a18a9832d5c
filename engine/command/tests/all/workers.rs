//! Programs with a memory give the same output with one worker and with several, to the byte.

use std::io::Write;

/// Programs whose results depend on what came before.
const PROGRAMS: [&str; 29] = [
    r#"select {"k": group[0], "n": aggr::stats::count(), "sum": aggr::stats::sum(event.n)} over sliding 300ns every 100ns on event.n + event.k late 500ns group by event.k % 20 else late"#,
    r#"select {"k": group[0], "n": aggr::stats::count(), "last": aggr::win::last(event.n)} over session 4ns on event.n + event.k late 900ns group by event.k % 7 else late"#,
    r#"select {"k": group[0], "n": aggr::stats::count(), "last": aggr::win::last(event.n)} over 7 group by event.k"#,
    r#"select {"k": group[0], "sum": aggr::stats::sum(event.n)} over sliding 10 every 5 group by event.k"#,
    "dedup by event.k",
    "counter",
    r#"define window gap from session with gap = 500 script event.n end; select {"k": group[0], "n": aggr::stats::count(), "all": aggr::win::collect_up_to(event.n, 5)} from in[gap] group by event.k into out;"#,
    r#"define window ring from sliding with size = 3 end; select {"k": group[0], "sum": aggr::stats::sum(event.n)} from in[ring] group by event.k into out;"#,
    r#"define window time from tumbling with interval = 1000 script event.n end; select {"k": group[0], "n": aggr::stats::count()} from in[time] group by event.k % 10 into out;"#,
    r#"define window low from tumbling with size = 5 end; define window high from tumbling with size = 3 end; select {"w": window, "k": group[0], "min": aggr::stats::min(event.n), "n": aggr::stats::count()} from in[low, high] group by event.k % 50 into out;"#,
    r#"define window odd from tumbling state 0 script let state = state + event.k; [state > 2000, state % 2 == 0] end; select {"k": group[0], "n": aggr::stats::count(), "last": aggr::win::last(event.n)} from in[odd] group by event.k % 20 into out;"#,
    r##"set event.line = "#{event.k % 3} #{event.n}" |> join "^0" mode start from event.line by event.k % 5 timeout 1h"##,
    r##"set event.line = "#{event.n}" |> join "[1-4]$" from event.line timeout 1h"##,
    "sample 3 by event.k mode count as event.weight else rest",
    "suppress 2 per 1h by event.k as event.more else held",
    "dedup by event.k % 3 mode adjacent else again",
    "dedup by event.k within 1h across event.n % 4 else again",
    "batch 100 timeout 1h",
    r#"set $class = "c#{event.k % 7}" |> set $rate = 100 |> set $time_range = 3600000 |> set $dimensions = event.k % 11 |> bucket |> select {"pass": event.n}"#,
    r#"define operator deal from qos::roundrobin with outputs = ["a", "b"] end; create operator deal; select event from in into deal; select {"a": event.n} from deal/a into out; select {"b": event.n} from deal/b into out;"#,
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

fn output(program: &str, workers: &str, input: &[u8]) -> String {
    let arguments = ["run", "-q", "--workers", workers, "-e", program];
    temblor_testing::temblor(arguments).input(input).run().succeeded()
}

/// Operators that remember nothing, or whose results depend on the time that sinks take.
const WITHOUT_PROGRAM: [&str; 11] = [
    "stream::parse",
    "stream::enrich",
    "debug::history",
    "passthrough",
    "passthrough::passthrough",
    "qos::backpressure",
    "generic::backpressure",
    "qos::percentile",
    "syslog_ng::read",
    "rsyslog::read",
    // Nothing comes out of it.
    "migrate::undecided",
];

#[test]
fn every_operator_with_a_memory_has_a_program() {
    let kinds = temblor_catalog::registry().operators();
    // The filters of Logstash have tests of their own.
    let kinds = kinds.filter(|kind| !kind.path.starts_with("logstash::"));
    for kind in kinds.filter(|kind| !WITHOUT_PROGRAM.contains(&kind.path)) {
        let is_it = |word: &str| word == kind.path || Some(word) == kind.word;
        let used = PROGRAMS.iter().any(|program| program.split(' ').any(is_it));
        assert!(used, "{}", kind.path);
    }
}

#[test]
fn workers_do_not_change_results() {
    let mut input = Vec::new();
    for n in 0..EVENTS {
        // A multiplicative hash spreads the keys without a random generator.
        let key = n.wrapping_mul(2_654_435_761) % 997;
        writeln!(input, "{{\"n\":{n},\"k\":{key}}}").expect("memory takes all");
    }
    for (program, workers) in PROGRAMS.iter().zip(["2", "5"].iter().cycle()) {
        let alone = output(program, "1", &input);
        assert!(alone.len() > 1000, "{program}: {} bytes", alone.len());
        assert!(output(program, workers, &input) == alone, "{program} with {workers} workers");
    }
}
