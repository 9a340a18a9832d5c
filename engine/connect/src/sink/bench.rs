//! The `bench` sink: how long events took from their arrival to the sink, and how many came, printed
//! on standard output when the run ends.
//!
//! Invariant: it gets events with two numbers in front, big-endian: time of ingest and length.

use std::fmt::Write as _;
use std::io::Write as _;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;

use crate::sink::{Sink, WriteFailure};
use temblor_runtime::clock::system_time;

/// What a plan says of a bench sink.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BenchConfig {
    /// Digits of a time that are kept, from 1 to 5.
    pub significant_figures: u8,
    /// Events of this time at the beginning do not count.
    pub warmup: Duration,
    /// Whether the report is JSON.
    pub structured: bool,
}

/// Measures events.
pub(crate) struct BenchSink {
    config: BenchConfig,
    opened: Instant,
    /// When the first event that counts came.
    first: Option<Instant>,
    last: Instant,
    nanoseconds: Histogram<u64>,
    events: u64,
    bytes: u64,
}

/// Time of ingest and length in front of an event, in bytes.
const NUMBER_BYTES: usize = 8;
/// Lines of the report between one half of what is left and the next.
const LINES_PER_HALF: u32 = 2;

impl BenchSink {
    /// Nothing measured yet.
    pub(crate) fn new(config: BenchConfig) -> Self {
        let opened = Instant::now();
        let nanoseconds = Histogram::new(config.significant_figures)
            .expect("one to five digits are what a histogram takes");
        Self { config, opened, first: None, last: opened, nanoseconds, events: 0, bytes: 0 }
    }

    fn seconds(&self) -> f64 {
        self.first.map_or(0.0, |first| self.last.duration_since(first).as_secs_f64())
    }

    fn report(&self) -> String {
        let seconds = self.seconds().max(f64::MIN_POSITIVE);
        let rate = |count: u64| if self.first.is_some() { count as f64 / seconds } else { 0.0 };
        let (events, bytes) = (rate(self.events), rate(self.bytes));
        let times = &self.nanoseconds;
        let mut text = String::new();
        if self.config.structured {
            let quantile = |share: f64| times.value_at_quantile(share);
            let _ = writeln!(
                text,
                "{{\"events\":{},\"bytes\":{},\"seconds\":{:.6},\"events_per_second\":{events:.1},\"bytes_per_second\":{bytes:.1},\
                 \"latency_ns\":{{\"min\":{},\"mean\":{:.1},\"stdev\":{:.1},\"0.5\":{},\"0.9\":{},\"0.99\":{},\"0.999\":{},\"max\":{}}}}}",
                self.events,
                self.bytes,
                self.seconds(),
                times.min(),
                times.mean(),
                times.stdev(),
                quantile(0.5),
                quantile(0.9),
                quantile(0.99),
                quantile(0.999),
                times.max(),
            );
            return text;
        }
        let _ = writeln!(text, "{:>16} {:>12} {:>12}", "nanoseconds", "share", "events");
        for step in times.iter_quantiles(LINES_PER_HALF) {
            let (value, share) = (step.value_iterated_to(), step.quantile_iterated_to());
            let count = times.count_between(0, value);
            let _ = writeln!(text, "{value:>16} {share:>12.6} {count:>12}");
        }
        let (mean, deviation) = (times.mean(), times.stdev());
        let _ = writeln!(
            text,
            "mean {mean:.1} ns, deviation {deviation:.1} ns, max {} ns",
            times.max()
        );
        let _ = writeln!(text, "{} events, {events:.1} events/s, {bytes:.1} bytes/s", self.events);
        text
    }
}

impl Sink for BenchSink {
    fn write(&mut self, _place: &str, mut bytes: &[u8]) -> Result<(), WriteFailure> {
        let (now, arrived) = (Instant::now(), system_time());
        let counts = self.opened.elapsed() >= self.config.warmup;
        while let Some((ingest, rest)) = bytes.split_first_chunk::<NUMBER_BYTES>() {
            let Some((length, rest)) = rest.split_first_chunk::<NUMBER_BYTES>() else { break };
            let length = u64::from_be_bytes(*length);
            let taken = usize::try_from(length).unwrap_or(usize::MAX).min(rest.len());
            bytes = &rest[taken..];
            if counts {
                self.events += 1;
                self.bytes += length;
                let ingest = u64::from_be_bytes(*ingest);
                self.nanoseconds
                    .record(arrived.saturating_sub(ingest))
                    .expect("the histogram grows as it needs to");
            }
        }
        if counts {
            self.first.get_or_insert(now);
            self.last = Instant::now();
        }
        Ok(())
    }

    fn finish(&mut self) {
        // Nobody may read it any more.
        let _ = std::io::stdout().write_all(self.report().as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sink(structured: bool, warmup: Duration) -> BenchSink {
        let mut sink = BenchSink::new(BenchConfig { significant_figures: 2, warmup, structured });
        let mut bytes = Vec::new();
        for text in ["abc", "", "de"] {
            bytes.extend_from_slice(&system_time().to_be_bytes());
            bytes.extend_from_slice(&(text.len() as u64).to_be_bytes());
            bytes.extend_from_slice(text.as_bytes());
        }
        sink.write("", &bytes).expect("it takes everything");
        sink
    }

    #[test]
    fn events_and_bytes_are_counted_behind_the_warm_up() {
        let counted = sink(true, Duration::ZERO);
        assert_eq!((counted.events, counted.bytes, counted.nanoseconds.len()), (3, 5, 3));
        assert!(counted.nanoseconds.max() > 2, "real times");
        assert!(counted.report().starts_with("{\"events\":3,\"bytes\":5,"));
        assert!(sink(false, Duration::ZERO).report().contains("3 events, "));
        let warming = sink(false, Duration::from_secs(60));
        assert!(warming.report().contains("0 events, 0.0 events/s"), "{}", warming.report());
    }
}
