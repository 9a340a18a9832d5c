//! What an injected run came to: figures, the proof that nothing was lost, and how it is written.
//!
//! Invariant: table, JSON and `.hgrm` come from the same histogram.

use super::machine;
use super::recorder::{Recorder, State};
use super::schedule::Load;
use super::ticker::ClockError;
use hdrhistogram::Histogram;
use std::fmt::Write as _;
use temblor_runtime::stats::Counts;

/// The percentiles that are printed.
pub(crate) const PERCENTILES: [f64; 9] = [50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 99.99, 99.999, 100.0];

/// A finished run.
pub struct Outcome {
    /// What was recorded.
    pub recorded: State,
    /// The run's own counts.
    pub counts: Counts,
    /// The load that was asked for.
    pub load: Load,
    /// How far the clock can be trusted.
    pub clock: ClockError,
    /// What the process had used at the end.
    pub usage: machine::Usage,
    /// Worker threads.
    pub workers: usize,
}

/// The figures of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Measurement {
    /// Measured events a second.
    pub events_per_second: f64,
    /// Measured bytes of input a second.
    pub bytes_per_second: f64,
    /// Cores in use, on average.
    pub cores: f64,
    /// Processor time for one event, in nanoseconds, over all threads, those of the injector included.
    pub cpu_ns_per_event: f64,
    /// The most memory held at once, in bytes.
    pub(crate) peak_memory: Option<u64>,
    /// Percentiles and latencies in nanoseconds.
    pub latency_ns: Vec<(f64, u64)>,
    /// The injector's own lateness at 99 %, in nanoseconds; it is part of the latencies.
    pub(crate) lateness_ns: u64,
}

/// Where the injected events ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Account {
    /// Sent by the injector.
    pub injected: u64,
    /// Decoded, or tried to be, by a worker.
    pub received: u64,
    /// Came to their end: nothing of them is under way.
    pub settled: u64,
    /// Written to sinks; an event that goes to two counts twice.
    pub delivered: u64,
    /// Left out on purpose.
    pub dropped: u64,
    /// Failed, or refused by a sink.
    pub failed: u64,
}

impl Account {
    /// Whether every injected event was seen by a worker and came to an end.
    pub fn is_quiescent(&self) -> bool {
        self.injected == self.received && self.injected == self.settled
    }

    /// Whether the ends add up one by one: delivered, dropped and failed events are the injected ones.
    /// A pipeline that copies or aggregates events does not have this property.
    pub fn is_one_to_one(&self) -> bool {
        self.is_quiescent() && self.delivered + self.dropped + self.failed == self.injected
    }
}

impl Outcome {
    /// The outcome of a run that has ended.
    pub fn new(recorder: &Recorder, counts: Counts, load: Load, workers: usize) -> Self {
        Outcome {
            recorded: recorder.state(),
            counts,
            load,
            clock: recorder.clock_error(),
            usage: machine::Usage::now(),
            workers,
        }
    }

    /// Where the events ended.
    pub fn account(&self) -> Account {
        let failed_in_sinks = self.counts.failed();
        let errors = self.counts.errors.iter().filter(|(kind, _)| is_of_event(kind));
        Account {
            injected: self.recorded.sent,
            received: self.counts.events(),
            settled: self.recorded.settled,
            delivered: self.counts.sinks.iter().map(|sink| sink.events).sum(),
            dropped: self.counts.dropped.iter().map(|(_, count)| count).sum(),
            failed: errors.map(|(_, count)| count).sum::<u64>() + failed_in_sinks,
        }
    }

    /// The figures.
    pub fn measurement(&self) -> Measurement {
        let recorded = &self.recorded;
        let (begin, before) = recorded.begin.unwrap_or_default();
        let seconds = (recorded.end.saturating_sub(begin) as f64 / 1e9).max(1e-9);
        let cpu_ns = self.usage.cpu_ns.saturating_sub(before.cpu_ns) as f64;
        let latency = &recorded.latency;
        Measurement {
            events_per_second: recorded.measured as f64 / seconds,
            bytes_per_second: recorded.measured_bytes as f64 / seconds,
            cores: cpu_ns / 1e9 / seconds,
            cpu_ns_per_event: cpu_ns / (recorded.measured.max(1) as f64),
            peak_memory: machine::peak_memory(),
            latency_ns: PERCENTILES
                .iter()
                .map(|one| (*one, latency.value_at_percentile(*one)))
                .collect(),
            lateness_ns: recorded.lateness.value_at_percentile(99.0),
        }
    }

    /// For people; ends without a newline.
    pub fn table(&self) -> String {
        let figures = self.measurement();
        let mut text = match self.load {
            Load::Open(rate) => format!("open loop at {rate:.0} events/s"),
            Load::Closed => "closed loop, as much as is taken".to_string(),
        };
        let _ = writeln!(text, ", {} workers", self.workers);
        let _ = writeln!(text, "{:>10}  {:>12}", "percentile", "latency");
        for (percentile, ns) in &figures.latency_ns {
            let name = if *percentile >= 100.0 { "max".into() } else { format!("{percentile}") };
            let _ = writeln!(text, "{name:>10}  {:>12}", duration(*ns));
        }
        let _ = writeln!(
            text,
            "throughput  {:.0} events/s, {:.1} MB/s of input",
            figures.events_per_second,
            figures.bytes_per_second / 1e6
        );
        let memory = figures.peak_memory.map_or("unknown".into(), |m| format!("{} MB", m >> 20));
        let _ = writeln!(
            text,
            "machine     {:.2} cores in use, {:.0} ns/event, {memory} memory at most",
            figures.cores, figures.cpu_ns_per_event
        );
        let batch = self.recorded.measured as f64 / self.recorded.batches.max(1) as f64;
        let _ = writeln!(
            text,
            "injector    {batch:.1} events a batch, p99 of its lateness {}; clock: {} ns step, {} ns a reading",
            duration(figures.lateness_ns),
            self.clock.step_ns,
            self.clock.read_ns
        );
        text.push_str(&self.account_line());
        text
    }

    fn account_line(&self) -> String {
        let account = self.account();
        let verdict = match (account.is_one_to_one(), account.is_quiescent()) {
            (true, _) => "every event accounted for",
            (_, true) => {
                "every event came to its end; the pipeline copies, keeps or aggregates events"
            }
            _ => "EVENTS WERE LOST",
        };
        format!(
            "events      {} injected, {} settled: {} delivered, {} dropped, {} failed; {verdict}",
            account.injected, account.settled, account.delivered, account.dropped, account.failed
        )
    }

    /// One JSON object; ends without a newline.
    pub fn json(&self) -> String {
        let figures = self.measurement();
        let account = self.account();
        let rate = match self.load {
            Load::Open(rate) => format!("{rate}"),
            Load::Closed => "null".to_string(),
        };
        let latencies: Vec<String> =
            figures.latency_ns.iter().map(|(one, ns)| format!("\"{one}\":{ns}")).collect();
        let memory = figures.peak_memory.map_or("null".to_string(), |bytes| bytes.to_string());
        format!(
            r#"{{"rate":{rate},"workers":{},"events_per_second":{:.1},"bytes_per_second":{:.1},"latency_ns":{{{}}},"cores":{:.3},"cpu_ns_per_event":{:.1},"peak_memory_bytes":{memory},"injector_lateness_p99_ns":{},"clock_step_ns":{},"clock_read_ns":{},"injected":{},"settled":{},"delivered":{},"dropped":{},"failed":{},"quiescent":{},"one_to_one":{}}}"#,
            self.workers,
            figures.events_per_second,
            figures.bytes_per_second,
            latencies.join(","),
            figures.cores,
            figures.cpu_ns_per_event,
            figures.lateness_ns,
            self.clock.step_ns,
            self.clock.read_ns,
            account.injected,
            account.settled,
            account.delivered,
            account.dropped,
            account.failed,
            account.is_quiescent(),
            account.is_one_to_one(),
        )
    }

    /// The latencies in the text format of HdrHistogram's tools, in microseconds
    /// (<https://github.com/HdrHistogram/HdrHistogram>, percentile distribution).
    pub fn hgrm(&self) -> String {
        hgrm(&self.recorded.latency)
    }
}

/// Errors that stand for an event, in contrast to those of inputs and files.
fn is_of_event(kind: &str) -> bool {
    !matches!(kind, "source" | "sink" | "checkpoint")
}

/// A duration with a unit that suits it.
pub fn duration(ns: u64) -> String {
    match ns {
        0..10_000 => format!("{ns} ns"),
        10_000..1_000_000 => format!("{:.1} µs", ns as f64 / 1e3),
        1_000_000..10_000_000_000 => format!("{:.1} ms", ns as f64 / 1e6),
        _ => format!("{:.2} s", ns as f64 / 1e9),
    }
}

/// Steps for each halving of the distance to 100 %.
const HGRM_TICKS: u32 = 5;

fn hgrm(latency: &Histogram<u64>) -> String {
    let mut text = format!(
        "{:>12} {:>14} {:>10} {:>14}\n\n",
        "Value", "Percentile", "TotalCount", "1/(1-Percentile)"
    );
    let mut total = 0;
    for step in latency.iter_quantiles(HGRM_TICKS) {
        total += step.count_since_last_iteration();
        let value = step.value_iterated_to() as f64 / 1e3;
        let quantile = step.quantile_iterated_to();
        let _ = write!(text, "{value:>12.3} {quantile:>2.12} {total:>10}");
        if quantile < 1.0 {
            let _ = write!(text, " {:>14.2}", 1.0 / (1.0 - quantile));
        }
        text.push('\n');
    }
    let (mean, deviation) = (latency.mean() / 1e3, latency.stdev() / 1e3);
    let _ = writeln!(text, "#[Mean    = {mean:>12.3}, StdDeviation   = {deviation:>12.3}]");
    let (max, count) = (latency.max() as f64 / 1e3, latency.len());
    let _ = writeln!(text, "#[Max     = {max:>12.3}, Total count    = {count:>12}]");
    let (buckets, sub) = (latency.buckets(), latency.distinct_values());
    let _ = writeln!(text, "#[Buckets = {buckets:>12}, SubBuckets     = {sub:>12}]");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units_that_suit_them() {
        let shown = [9, 12_340, 12_340_000, 12_340_000_000].map(duration);
        assert_eq!(shown, ["9 ns", "12.3 µs", "12.3 ms", "12.34 s"]);
    }

    #[test]
    fn accounts_tell_one_to_one_from_copies_and_losses() {
        let exact = Account {
            injected: 10,
            received: 10,
            settled: 10,
            delivered: 7,
            dropped: 2,
            failed: 1,
        };
        assert!(exact.is_one_to_one());
        let copied = Account { delivered: 17, ..exact };
        assert!(!copied.is_one_to_one() && copied.is_quiescent());
        assert!(!Account { settled: 9, ..exact }.is_quiescent());
    }

    #[test]
    fn the_hgrm_has_what_plotters_look_for() {
        let mut histogram = Histogram::<u64>::new(3).unwrap();
        (1..=1000u64).for_each(|ms| histogram.record(ms * 1_000_000).unwrap());
        let text = hgrm(&histogram);
        let mut lines = text.lines();
        assert!(lines.next().unwrap().ends_with("1/(1-Percentile)"));
        assert!(text.contains("#[Max     =") && text.contains("Total count    =         1000]"));
        let half = text.lines().find(|line| line.contains(" 0.500000000000 ")).unwrap();
        let value: f64 = half.split_whitespace().next().unwrap().parse().unwrap();
        assert!((value - 500_000.0).abs() < 1_000.0, "{half}");
    }
}
