//! The injector in the real runtime, by a clock that the tests move: nothing here sleeps.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use temblor_connect::sink::SinkConfig;
use temblor_generate::inject::{Frames, InjectConfig, Load, Outcome, Recorder, Schedule, Ticker};
use temblor_runtime::batch::Batch;
use temblor_runtime::error::Error;
use temblor_runtime::outputs::Outputs;
use temblor_runtime::processor::Processor;
use temblor_runtime::run::{NamedSink, RunPlan, run};
use temblor_runtime::turnstile::Turn;

const MS: u64 = 1_000_000;

/// Time moves when the injector waits (and everything sent has come to its end), or when told to.
#[derive(Default)]
struct Hands {
    now: AtomicU64,
    recorder: OnceLock<Weak<Recorder>>,
}

impl Ticker for Hands {
    fn now(&self) -> u64 {
        self.now.load(Ordering::SeqCst)
    }

    fn wait_until(&self, moment: u64) {
        let recorder = self.recorder.get().and_then(Weak::upgrade).unwrap();
        loop {
            let state = recorder.state();
            if state.sent == state.settled {
                break;
            }
            std::thread::yield_now();
        }
        self.now.fetch_max(moment, Ordering::SeqCst);
    }
}

/// Forwards events; leaves out, copies and fails some; stands still at one.
struct Staller {
    hands: Arc<Hands>,
    seen: u64,
    stall_at: u64,
    stall_ns: u64,
    copies: u64,
}

impl Processor for Staller {
    fn process(
        &mut self,
        batch: &mut Batch,
        _turn: &mut Turn<'_>,
        out: &mut Outputs,
    ) -> Result<(), Error> {
        let mut cursor = batch.cursor();
        while let Some(range) = cursor.next(batch.bytes()) {
            if self.seen == self.stall_at {
                self.hands.now.fetch_add(self.stall_ns, Ordering::SeqCst);
            }
            self.seen += 1;
            out.received(1);
            if self.seen.is_multiple_of(10) {
                out.dropped("dropped", 1);
                continue;
            }
            for _ in 0..self.copies {
                let chunk = out.sink(0);
                chunk.bytes.extend_from_slice(&batch.bytes()[range.clone()]);
                chunk.bytes.push(b'\n');
                chunk.events += 1;
            }
        }
        Ok(())
    }
}

fn inject(schedule: Schedule, stall_at: u64, copies: u64) -> Outcome {
    let hands = Arc::new(Hands::default());
    let recorder = Recorder::new(hands.clone());
    hands.recorder.set(Arc::downgrade(&recorder)).unwrap();
    let config = InjectConfig {
        name: "load".to_string(),
        frames: Arc::new(Frames::of(b"one\ntwo\nthree\n")),
        schedule,
        recorder: recorder.clone(),
    };
    let plan = RunPlan {
        sources: vec![Arc::new(config)],
        sinks: vec![NamedSink::new("nowhere", SinkConfig::Null)],
        ..RunPlan::default()
    };
    let staller = |_| {
        Ok(Box::new(Staller {
            hands: hands.clone(),
            seen: 0,
            stall_at,
            stall_ns: 1000 * MS,
            copies,
        }) as Box<dyn Processor>)
    };
    let summary = run(plan, staller).unwrap();
    Outcome::new(&recorder, summary.counts, schedule.load, 1)
}

fn schedule(warmup_ms: u64, measured_ms: u64) -> Schedule {
    Schedule {
        load: Load::Open(1000.0),
        warmup: Duration::from_millis(warmup_ms),
        measured: Duration::from_millis(measured_ms),
    }
}

fn close(value: u64, expected_ms: u64) -> bool {
    let expected = expected_ms * MS;
    value.abs_diff(expected) <= expected / 500
}

#[test]
fn a_stall_is_charged_to_every_event_that_it_delayed() {
    let outcome = inject(schedule(0, 2000), 500, 1);
    let latency = &outcome.recorded.latency;
    assert_eq!(latency.len(), 2000);
    assert!(close(latency.max(), 1000), "the event that met the stall");
    // Event 500 and the thousand that were meant to start while it lasted: 999, 998 … 0 ms late.
    for late_ms in [100, 250, 500, 750, 999] {
        let slower = 2000 - latency.count_between(0, late_ms * MS - MS / 2);
        let expected = 1000 - late_ms + 1;
        assert!(slower.abs_diff(expected) <= 2, "{slower} of {expected} events over {late_ms} ms");
    }
    // A closed loop would have seen one slow event in 2000: its p99.9 would be zero.
    assert!(close(latency.value_at_percentile(75.0), 500), "a quarter waited longer than 500 ms");
    let lateness = outcome.recorded.lateness.max();
    assert!(close(lateness, 999), "the backlog was sent late, and says so: {lateness}");
}

#[test]
fn the_warm_up_is_not_measured_but_accounted_for() {
    let outcome = inject(schedule(1000, 1000), 300, 1);
    let recorded = &outcome.recorded;
    assert_eq!((recorded.sent, recorded.settled, recorded.measured), (2000, 2000, 1000));
    assert_eq!(recorded.latency.len(), 1000);
    assert!(close(recorded.latency.max(), 300), "what the stall did to measured events");
    let account = outcome.account();
    assert!(account.is_one_to_one(), "{account:?}");
    assert_eq!((account.delivered, account.dropped), (1800, 200));
}

#[test]
fn copies_count_as_delivered_and_latency_counts_events_once() {
    let outcome = inject(schedule(0, 300), u64::MAX, 3);
    let account = outcome.account();
    assert_eq!((account.injected, account.delivered, account.dropped), (300, 810, 30));
    assert!(account.is_quiescent() && !account.is_one_to_one());
    assert_eq!(outcome.recorded.latency.len(), 300);
    assert_eq!(outcome.recorded.latency.max(), 0, "nothing takes time by this clock");
}
