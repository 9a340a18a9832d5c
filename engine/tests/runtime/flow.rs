//! Order, errors, timers and stopping.
//!
//! Invariant: the number of workers changes no result.

use temblor_engine::run::RunPlan;

use crate::support::{Directory, copy, lines, plan};

#[test]
fn lines_arrive_whole_and_in_order_with_any_number_of_workers() {
    let directory = Directory::new("order");
    let content = lines(50_000);
    let input = directory.write("in.log", &content);
    for workers in [1, 4] {
        let output = directory.path(&format!("out-{workers}"));
        let summary = copy(RunPlan { workers, ..plan(&input, &output) });
        assert_eq!(summary.exit_code(), 0);
        assert_eq!(summary.counts.events(), 50_000);
        assert_eq!(summary.counts.bytes(), content.len() as u64);
        assert!(std::fs::read(output).unwrap() == content, "{workers} workers");
    }
}

#[test]
fn a_bad_event_is_counted_and_the_others_go_on() {
    let directory = Directory::new("bad");
    let input = directory.write("in.log", b"a\n!b\r\nc");
    let output = directory.path("out");
    let summary = copy(plan(&input, &output));
    assert_eq!(std::fs::read(&output).unwrap(), b"a\nc\n");
    assert_eq!(summary.counts.errors, [("decode".to_string(), 1)]);
    assert_eq!(summary.exit_code(), 0);
}

#[test]
fn fail_fast_writes_what_came_before_and_ends_with_code_3() {
    let directory = Directory::new("fail-fast");
    let input = directory.write("in.log", b"a\n!b\nc\n");
    let output = directory.path("out");
    let summary = copy(RunPlan { fail_fast: true, ..plan(&input, &output) });
    assert_eq!(std::fs::read(&output).unwrap(), b"a\n");
    assert_eq!(summary.exit_code(), 3);
    assert!(summary.ended_early);
}
