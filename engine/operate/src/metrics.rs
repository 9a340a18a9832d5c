//! The metrics: one row each, from which the text that Prometheus reads and the page `engine/METRICS.md`
//! derive.
//!
//! Invariant: a metric has no more than [`SERIES_MAX`] series; what is beyond is left out, and counted.

use std::borrow::Cow;
use std::fmt::Write as _;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::{Registry, Unit};
use temblor_runtime::pacing::Paced;
use temblor_runtime::stats::{Health, Reasons};

use crate::reading::{Reading, SinkSeen, SourceSeen};

/// Series of one metric that are shown, at the most.
pub const SERIES_MAX: usize = 1_000;

/// The media type of the text.
pub const MEDIA_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// What a metric is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// It only grows.
    Counter,
    /// It goes up and down.
    Gauge,
    /// Durations, counted by their length.
    Histogram,
}

/// What a metric is measured in; nothing for things that are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Measure {
    None,
    Bytes,
    Seconds,
}

/// A value of a series.
enum Value {
    Whole(u64),
    Real(f64),
    /// Sum in seconds, count, and counts by upper bounds in seconds.
    Histogram(f64, u64, Vec<(f64, u64)>),
}

/// The series of a metric: the values of its labels, and its own.
type Series = Vec<(Vec<String>, Value)>;

/// A metric.
pub struct Metric {
    /// Its name without unit and suffix.
    pub name: &'static str,
    /// What it is.
    pub shape: Shape,
    measure: Measure,
    /// Names of its labels.
    pub labels: &'static [&'static str],
    /// What it says, as a sentence.
    pub doc: &'static str,
    read: fn(&Reading) -> Series,
}

impl Metric {
    /// The name under which Prometheus shows it.
    #[must_use]
    pub fn full_name(&self) -> String {
        let unit = match self.measure {
            Measure::None => "",
            Measure::Bytes => "_bytes",
            Measure::Seconds => "_seconds",
        };
        let end = if self.shape == Shape::Counter { "_total" } else { "" };
        format!("{}{unit}{end}", self.name)
    }
}

const fn counter(
    name: &'static str,
    measure: Measure,
    labels: &'static [&'static str],
    doc: &'static str,
    read: fn(&Reading) -> Series,
) -> Metric {
    Metric { name, shape: Shape::Counter, measure, labels, doc, read }
}

const fn gauge(
    name: &'static str,
    measure: Measure,
    labels: &'static [&'static str],
    doc: &'static str,
    read: fn(&Reading) -> Series,
) -> Metric {
    Metric { name, shape: Shape::Gauge, measure, labels, doc, read }
}

/// All metrics, in the order in which they are shown.
pub static METRICS: &[Metric] = &[
    counter(
        "temblor_source_events",
        Measure::None,
        &["source"],
        "Events that were received.",
        |seen| of_sources(seen, |one| Value::Whole(one.row.events)),
    ),
    counter(
        "temblor_source",
        Measure::Bytes,
        &["source"],
        "Bytes of frames that were received.",
        |seen| of_sources(seen, |one| Value::Whole(one.row.bytes)),
    ),
    counter(
        "temblor_source_errors",
        Measure::None,
        &["source", "reason"],
        "Events of the source that failed, by the kind of the error.",
        |seen| by_reason(seen, |one| &one.errors),
    ),
    counter(
        "temblor_source_dropped",
        Measure::None,
        &["source", "reason"],
        "Events of the source that were left out on purpose, by the reason.",
        |seen| by_reason(seen, |one| &one.dropped),
    ),
    counter(
        "temblor_source_wait",
        Measure::Seconds,
        &["source"],
        "Time that the source has waited for room in the queue to the workers: back-pressure from downstream.",
        |seen| of_sources(seen, |one| Value::Real(one.waited.as_secs_f64())),
    ),
    gauge(
        "temblor_source_in_flight_batches",
        Measure::None,
        &["source"],
        "Batches that were read and are not yet where they should be.",
        |seen| of_sources(seen, |one| Value::Whole(one.in_flight)),
    ),
    Metric {
        name: "temblor_source_ack",
        shape: Shape::Histogram,
        measure: Measure::Seconds,
        labels: &["source"],
        doc: "Time from reading a batch until all that stems from it is where it should be: written, confirmed by \
              the peer, or left out on purpose.",
        read: |seen| of_sources(seen, latency),
    },
    gauge(
        "temblor_source_lag",
        Measure::Bytes,
        &["source"],
        "Bytes of the source's files that have not been read yet, where their size is known.",
        |seen| {
            let lag = |one: &SourceSeen| Some((one.row.name.clone(), one.lag_bytes?));
            let known = seen.sources.iter().filter_map(lag);
            known.map(|(name, bytes)| (vec![name], Value::Whole(bytes))).collect()
        },
    ),
    counter(
        "temblor_source_reconnects",
        Measure::None,
        &["source"],
        "Times that the source worked again after it had failed.",
        |seen| of_sources(seen, |one| Value::Whole(one.reconnects)),
    ),
    gauge(
        "temblor_source_up",
        Measure::None,
        &["source"],
        "1 while the source is open, 0 when it is not open yet, has ended or has failed.",
        |seen| of_sources(seen, |one| up(&one.health)),
    ),
    gauge("temblor_queue", Measure::Bytes, &[], "Memory of what waits for the workers.", |seen| {
        one(Value::Whole(seen.queue.bytes as u64))
    }),
    gauge("temblor_queue_limit", Measure::Bytes, &[], "How much that may be.", |seen| {
        one(Value::Whole(seen.queue.bytes_max as u64))
    }),
    gauge(
        "temblor_queue_batches",
        Measure::None,
        &[],
        "Batches that wait for the workers.",
        |seen| one(Value::Whole(seen.queue.batches as u64)),
    ),
    gauge("temblor_workers", Measure::None, &[], "Worker threads.", |seen| {
        one(Value::Whole(seen.workers as u64))
    }),
    counter(
        "temblor_worker_idle",
        Measure::Seconds,
        &[],
        "Time that workers have waited for work, all together: nothing came from upstream.",
        |seen| one(Value::Real(seen.idle.as_secs_f64())),
    ),
    counter(
        "temblor_step_events",
        Measure::None,
        &["step"],
        "Events that came to the step.",
        |seen| of_steps(seen, |one| one.events),
    ),
    counter(
        "temblor_step_errors",
        Measure::None,
        &["step"],
        "Events that failed in the step.",
        |seen| of_steps(seen, |one| one.failed),
    ),
    counter(
        "temblor_step_dropped",
        Measure::None,
        &["step"],
        "Events that the step left out on purpose.",
        |seen| of_steps(seen, |one| one.dropped),
    ),
    gauge(
        "temblor_step_entries",
        Measure::None,
        &["step"],
        "Keys, groups or events that the step keeps.",
        |seen| of_tables(seen, |kept| kept.entries),
    ),
    gauge(
        "temblor_step_memory",
        Measure::Bytes,
        &["step"],
        "Bytes of what the step keeps.",
        |seen| of_tables(seen, |kept| kept.bytes),
    ),
    counter(
        "temblor_step_evicted",
        Measure::None,
        &["step"],
        "Entries that the step gave up for lack of room.",
        |seen| of_tables(seen, |kept| kept.evicted),
    ),
    counter(
        "temblor_port_events",
        Measure::None,
        &["port"],
        "Events that left by the port.",
        |seen| {
            seen.ports
                .iter()
                .map(|row| (vec![row.name.clone()], Value::Whole(row.events)))
                .collect()
        },
    ),
    counter(
        "temblor_port",
        Measure::Bytes,
        &["port"],
        "Encoded bytes that left by the port.",
        |seen| {
            seen.ports.iter().map(|row| (vec![row.name.clone()], Value::Whole(row.bytes))).collect()
        },
    ),
    counter(
        "temblor_sink_events",
        Measure::None,
        &["sink"],
        "Events that were written, or that the peer has confirmed.",
        |seen| of_sinks(seen, |one| Value::Whole(one.row.events)),
    ),
    counter("temblor_sink", Measure::Bytes, &["sink"], "Bytes of these.", |seen| {
        of_sinks(seen, |one| Value::Whole(one.row.bytes))
    }),
    counter(
        "temblor_sink_failed_events",
        Measure::None,
        &["sink"],
        "Events that could not be written, or that the peer has refused for good.",
        |seen| of_sinks(seen, |one| Value::Whole(one.row.failed)),
    ),
    counter(
        "temblor_sink_retries",
        Measure::None,
        &["sink"],
        "Attempts to connect or to deliver that failed and were made again.",
        |seen| of_sinks(seen, |one| Value::Whole(one.retries)),
    ),
    counter(
        "temblor_sink_reconnects",
        Measure::None,
        &["sink"],
        "Times that the sink's peer took events again after attempts had failed.",
        |seen| of_sinks(seen, |one| Value::Whole(one.reconnects)),
    ),
    gauge(
        "temblor_sink_requests_limit",
        Measure::None,
        &["sink"],
        "Requests of the sink that may be under way now, within its `concurrency`.",
        |seen| of_requests(seen, |one| one.limit),
    ),
    gauge(
        "temblor_sink_requests",
        Measure::None,
        &["sink"],
        "Requests of the sink that are under way.",
        |seen| of_requests(seen, |one| one.under_way),
    ),
    gauge(
        "temblor_sink_circuits_open",
        Measure::None,
        &["sink"],
        "Peers of the sink that get nothing but one trial at a time.",
        |seen| of_requests(seen, |one| one.open),
    ),
    counter(
        "temblor_sink_circuit_openings",
        Measure::None,
        &["sink"],
        "Times that the circuit to a peer of the sink has opened.",
        |seen| of_requests(seen, |one| one.opened),
    ),
    gauge(
        "temblor_sink_held_events",
        Measure::None,
        &["sink"],
        "Events in the sink's queue, or on their way to its peer.",
        |seen| of_sinks(seen, |one| Value::Whole(one.held_events)),
    ),
    gauge("temblor_sink_held", Measure::Bytes, &["sink"], "Bytes of these.", |seen| {
        of_sinks(seen, |one| Value::Whole(one.held_bytes))
    }),
    counter(
        "temblor_sink_busy",
        Measure::Seconds,
        &["sink"],
        "Time that the writer spent with the sink: writing, or waiting for room in its queue.",
        |seen| of_sinks(seen, |one| Value::Real(one.busy.as_secs_f64())),
    ),
    gauge(
        "temblor_sink_up",
        Measure::None,
        &["sink"],
        "0 while attempts to deliver fail and are made again, else 1.",
        |seen| of_sinks(seen, |one| up(&one.health)),
    ),
    counter(
        "temblor_errors",
        Measure::None,
        &["reason"],
        "Errors of all kinds, by kind.",
        |seen| of_reasons(&seen.errors),
    ),
    counter(
        "temblor_dropped",
        Measure::None,
        &["reason"],
        "Events left out on purpose, by the reason.",
        |seen| of_reasons(&seen.dropped),
    ),
    counter(
        "temblor_reloads",
        Measure::None,
        &["result"],
        "Programs that were to take the place of the one that ran, by how that went: `done` or `failed`.",
        |seen| {
            let results = [("done", seen.reloads.done), ("failed", seen.reloads.failed)];
            results.map(|(name, count)| (vec![name.to_string()], Value::Whole(count))).into()
        },
    ),
    gauge(
        "temblor_memory",
        Measure::Bytes,
        &[],
        "Memory of the process, looked at where `--memory` bounds it; else 0.",
        |seen| one(Value::Whole(seen.memory_bytes)),
    ),
    counter(
        "temblor_memory_slowed",
        Measure::Seconds,
        &[],
        "Time that sources were held up because the process took nearly all the memory of `--memory`.",
        |seen| one(Value::Real(seen.slowed.as_secs_f64())),
    ),
    counter(
        "temblor_memory_given_up_entries",
        Measure::None,
        &[],
        "Entries of tables that gave way because the process took nearly all the memory of `--memory`.",
        |seen| one(Value::Whole(seen.given_up)),
    ),
    gauge("temblor_draining", Measure::None, &[], "1 once the run was asked to stop.", |seen| {
        one(Value::Whole(u64::from(seen.draining)))
    }),
    gauge("temblor_uptime", Measure::Seconds, &[], "Time since the run began.", |seen| {
        one(Value::Real(seen.uptime.as_secs_f64()))
    }),
    gauge(
        "temblor_build_info",
        Measure::None,
        &["version"],
        "Always 1; the label is what counts.",
        |_| vec![(vec![env!("CARGO_PKG_VERSION").to_string()], Value::Whole(1))],
    ),
];

fn one(value: Value) -> Series {
    vec![(Vec::new(), value)]
}

fn of_sources(seen: &Reading, value: impl Fn(&SourceSeen) -> Value) -> Series {
    seen.sources.iter().map(|one| (vec![one.row.name.clone()], value(one))).collect()
}

fn of_sinks(seen: &Reading, value: impl Fn(&SinkSeen) -> Value) -> Series {
    seen.sinks.iter().map(|one| (vec![one.row.name.clone()], value(one))).collect()
}

fn of_requests(seen: &Reading, value: fn(&Paced) -> u64) -> Series {
    let paced =
        seen.sinks.iter().filter_map(|one| Some((one.row.name.clone(), one.paced.as_ref()?)));
    paced.map(|(name, paced)| (vec![name], Value::Whole(value(paced)))).collect()
}

fn of_steps(seen: &Reading, value: fn(&crate::operations::StepSeen) -> u64) -> Series {
    seen.steps.iter().map(|one| (vec![one.name.clone()], Value::Whole(value(one)))).collect()
}

fn of_tables(seen: &Reading, value: fn(&crate::operations::Kept) -> u64) -> Series {
    let kept = seen.steps.iter().filter_map(|one| Some((one.name.clone(), one.kept.as_ref()?)));
    kept.map(|(name, kept)| (vec![name], Value::Whole(value(kept)))).collect()
}

fn by_reason(seen: &Reading, reasons: fn(&SourceSeen) -> &Reasons) -> Series {
    let all = seen.sources.iter().flat_map(|source| {
        reasons(source).iter().map(|(reason, count)| {
            (vec![source.row.name.clone(), reason.clone()], Value::Whole(*count))
        })
    });
    all.collect()
}

fn of_reasons(reasons: &Reasons) -> Series {
    reasons.iter().map(|(name, count)| (vec![name.clone()], Value::Whole(*count))).collect()
}

fn up(health: &Health) -> Value {
    Value::Whole(u64::from(*health == Health::Working))
}

fn latency(source: &SourceSeen) -> Value {
    let seconds = |ns: u64| match ns {
        u64::MAX => f64::INFINITY,
        ns => ns as f64 / 1e9,
    };
    let buckets = source.latency.buckets().map(|(bound, count)| (seconds(bound), count));
    Value::Histogram(source.latency.sum().as_secs_f64(), source.latency.count(), buckets.collect())
}

/// The metrics of a reading in the text format of OpenMetrics, which Prometheus reads.
#[must_use]
pub fn text(reading: Reading) -> String {
    let mut registry = Registry::default();
    registry.register_collector(Box::new(Shown(reading)));
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = encode(&mut text, &registry);
    text
}

/// Hands the rows to the encoder.
struct Shown(Reading);

impl std::fmt::Debug for Shown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Shown")
    }
}

impl Collector for Shown {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> std::fmt::Result {
        let mut left_out = 0;
        for metric in METRICS {
            let series = (metric.read)(&self.0);
            left_out += series.len().saturating_sub(SERIES_MAX);
            let unit = match metric.measure {
                Measure::None => None,
                Measure::Bytes => Some(Unit::Bytes),
                Measure::Seconds => Some(Unit::Seconds),
            };
            let shape = match metric.shape {
                Shape::Counter => MetricType::Counter,
                Shape::Gauge => MetricType::Gauge,
                Shape::Histogram => MetricType::Histogram,
            };
            let doc = metric.doc.trim_end_matches('.');
            let mut family = encoder.encode_descriptor(metric.name, doc, unit.as_ref(), shape)?;
            for (values, value) in series.iter().take(SERIES_MAX) {
                let labels = metric.labels.iter().copied().zip(values.iter().map(String::as_str));
                let labels: Vec<(&str, &str)> = labels.collect();
                if labels.is_empty() {
                    put(&mut family, metric.shape, value)?;
                } else {
                    put(&mut family.encode_family(&labels)?, metric.shape, value)?;
                }
            }
        }
        let doc = Cow::from("Series that are not shown, because their metric has too many");
        let (name, shape) = ("temblor_metrics_left_out", MetricType::Gauge);
        let mut family = encoder.encode_descriptor(name, &doc, None, shape)?;
        family.encode_gauge(&(left_out as u64))
    }
}

fn put(encoder: &mut MetricEncoder<'_>, shape: Shape, value: &Value) -> std::fmt::Result {
    match (value, shape) {
        (Value::Histogram(sum, count, buckets), _) => {
            encoder.encode_histogram::<NoLabelSet>(*sum, *count, buckets, None)
        }
        (Value::Whole(whole), Shape::Counter) => {
            encoder.encode_counter::<NoLabelSet, _, u64>(whole, None)
        }
        (Value::Real(real), Shape::Counter) => {
            encoder.encode_counter::<NoLabelSet, _, f64>(real, None)
        }
        (Value::Whole(whole), _) => encoder.encode_gauge(whole),
        (Value::Real(real), _) => encoder.encode_gauge(real),
    }
}

/// The page about the metrics, made of their rows.
#[must_use]
pub fn page() -> String {
    let mut page = String::from(
        "# Metrics\n\nWhat `temblor run --api 127.0.0.1:PORT` serves at `/metrics`, in the text format of OpenMetrics. \
         This page is made from the declarations in `engine/operate/src/metrics.rs` by a test. A metric has at most \
         1,000 series; what is beyond is left out and counted by `temblor_metrics_left_out`.\n\n\
         | metric | kind | labels | what it says |\n|---|---|---|---|\n",
    );
    for metric in METRICS {
        let kind = match metric.shape {
            Shape::Counter => "counter",
            Shape::Gauge => "gauge",
            Shape::Histogram => "histogram",
        };
        let labels = metric.labels.iter().map(|label| format!("`{label}`"));
        let labels = labels.collect::<Vec<_>>().join(", ");
        let _ = writeln!(page, "| `{}` | {kind} | {labels} | {} |", metric.full_name(), metric.doc);
    }
    page
}
