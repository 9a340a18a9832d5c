//! Order, errors, timers and stopping.
//!
//! Invariant: the number of workers changes no result.

use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use temblor_runtime::batch::Batch;
use temblor_runtime::clock::{Clock, Timestamp};
use temblor_runtime::error::Error;
use temblor_runtime::outputs::Outputs;
use temblor_runtime::processor::Processor;
use temblor_runtime::run::{RunPlan, run};
use temblor_runtime::turnstile::Turn;

use crate::runtime::support::{Directory, copy, lines, plan};

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

/// Numbers the lines of all batches with a counter that the copies share.
struct Number(Arc<Mutex<u64>>);

impl Processor for Number {
    fn process(
        &mut self,
        batch: &mut Batch,
        turn: &mut Turn<'_>,
        out: &mut Outputs,
    ) -> Result<(), Error> {
        let count = batch.frame_count();
        turn.wait();
        let first = {
            let mut next = self.0.lock().unwrap();
            *next += count;
            *next - count
        };
        turn.pass();
        let mut cursor = batch.cursor();
        for number in first.. {
            let Some(range) = cursor.next(batch.bytes()) else { break };
            let frame = &batch.bytes()[range];
            let written = frame.starts_with(format!("{number} ").as_bytes());
            out.count(0, u64::from(written), 0);
        }
        Ok(())
    }
}

#[test]
fn shared_state_behind_the_turn_sees_batches_in_order() {
    let directory = Directory::new("turn");
    let input = directory.write("in.log", &lines(50_000));
    let state = Arc::new(Mutex::new(0));
    let plan = RunPlan { workers: 4, ..plan(&input, &directory.path("out")) };
    let summary = run(plan, |_| Ok(Box::new(Number(Arc::clone(&state))))).unwrap();
    assert_eq!(summary.counts.ports[0].events, 50_000);
}

/// Writes the times of events, ticks and flush.
struct Times(u64);

impl Processor for Times {
    fn process(
        &mut self,
        batch: &mut Batch,
        _turn: &mut Turn<'_>,
        out: &mut Outputs,
    ) -> Result<(), Error> {
        let (mut cursor, mut line, mut index) = (batch.cursor(), batch.first_line(), 0);
        while let Some(range) = cursor.next(batch.bytes()) {
            if !range.is_empty() {
                out.received(1);
                writeln!(out.sink(0).bytes, "{line}@{}", batch.ingest(index) / MILLISECOND)
                    .unwrap();
                index += 1;
            }
            line += 1;
        }
        Ok(())
    }

    fn wants_ticks(&self) -> bool {
        true
    }

    fn tick(&mut self, now: Timestamp, out: &mut Outputs) -> Result<(), Error> {
        self.0 += 1;
        writeln!(out.sink(0).bytes, "tick@{}", now / MILLISECOND).unwrap();
        Ok(())
    }

    fn flush(&mut self, now: Timestamp, out: &mut Outputs) -> Result<(), Error> {
        writeln!(out.sink(0).bytes, "flush@{}", now / MILLISECOND).unwrap();
        Ok(())
    }
}

const MILLISECOND: u64 = 1_000_000;

#[test]
fn the_virtual_clock_gives_events_times_and_timers_run_on_it() {
    let directory = Directory::new("virtual");
    let input = directory.write("in.log", b"a\nb\n\nc\nd\n");
    let output = directory.path("out");
    let clock = Clock::Virtual { step: Duration::from_millis(60) };
    run(RunPlan { clock, ..plan(&input, &output) }, |_| Ok(Box::new(Times(0)))).unwrap();
    let expected = "1@0\n2@60\ntick@120\n4@120\n5@180\nflush@240\n";
    assert_eq!(std::fs::read_to_string(output).unwrap(), expected);
    let error = RunPlan { clock, workers: 2, ..plan(&input, &input) };
    assert_eq!(run(error, |_| Ok(Box::new(Times(0)))).unwrap_err().exit_code(), 2);
}

/// Panics at the first line.
struct Panics;

impl Processor for Panics {
    fn process(
        &mut self,
        _batch: &mut Batch,
        _turn: &mut Turn<'_>,
        _out: &mut Outputs,
    ) -> Result<(), Error> {
        panic!("a bug for the test")
    }
}

#[test]
fn a_bug_in_a_processor_ends_the_run_with_an_error() {
    let directory = Directory::new("bug");
    let input = directory.write("in.log", &lines(50_000));
    let plan = RunPlan { workers: 2, ..plan(&input, &directory.path("out")) };
    let summary = run(plan, |_| Ok(Box::new(Panics))).unwrap();
    assert_eq!(summary.exit_code(), 70);
    assert!(summary.error.unwrap().to_string().contains("a bug for the test"));
}
