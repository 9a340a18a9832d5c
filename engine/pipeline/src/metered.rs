//! The `metrics` source: what the counting nodes of the graph have counted, at their intervals, and
//! once more when all other sources have ended, which ends this one too. A virtual clock does not
//! move by itself; with one only the last counts are given.

use std::sync::Arc;

use temblor_lang::value::push_json_string;

use crate::graph::{Meter, MeterPlace};
use temblor_connect::sink::SinkConfig;
use temblor_connect::source::chained::block;
use temblor_connect::source::metronome::wait_until;
use temblor_declare::{Built, BuiltSink, CodecUse, Connector, Ends, Notation};
use temblor_runtime::batch::Origin;
use temblor_runtime::checkpoint::FileMark;
use temblor_runtime::clock::{Clock, system_time};
use temblor_runtime::error::Error;
use temblor_runtime::framing::Framing;
use temblor_runtime::queue::Closed;
use temblor_runtime::source::feed::{At, Feed};
use temblor_runtime::source::{OpenSource, Source};

const NANOSECONDS_PER_SECOND: u64 = 1_000_000_000;
/// Time between two looks at whether the other sources have ended.
const PATIENCE_NS: u64 = 20_000_000;
/// Looks at which no count has moved, after which nothing is under way any more.
const QUIET_LOOKS: u32 = 3;

/// What a plan says of a metrics source.
#[derive(Clone, Debug)]
pub struct MetricsConfig {
    /// All that is counted.
    pub meters: Vec<Arc<Meter>>,
    /// How many sources of the run give metrics, this one among them.
    pub peers: usize,
    /// Whether the run has other sources, whose end is the end of this one.
    pub has_others: bool,
}

/// Counts in flows.
pub static METRICS: Connector = Connector {
    kind: "metrics",
    notation: Notation::Tremor,
    doc: "What connectors and pipelines with `metrics_interval_s` have counted, at their intervals: `{\"measurement\", \
          \"tags\", \"fields\", \"timestamp\"}`. What goes into it is left out. It does not look at its configuration.",
    ends: Ends::Both,
    address: None,
    source: &[],
    sink: &[],
    codec: CodecUse::Structured,
    writes_lines: false,
    gives: &[],
    meta: &[],
    examples: &[],
    build: |_| {
        // What it counts is known when all connectors are.
        let counted = MetricsConfig { meters: Vec::new(), peers: 0, has_others: false };
        let sink = BuiltSink::of_stream(SinkConfig::Null);
        Ok(Built { source: Some(Arc::new(counted)), sink: Some(sink), ..Built::default() })
    },
};

/// Gives `{"measurement": …, "tags": {…}, "fields": {"count": …}, "timestamp": …}`.
pub struct MetricsSource {
    config: MetricsConfig,
}

impl OpenSource for MetricsConfig {
    fn forgets(&self) -> bool {
        false
    }

    fn open(&self, _: &[FileMark]) -> Result<Box<dyn Source>, Error> {
        Ok(Box::new(MetricsSource::new(self.clone())))
    }
}

impl MetricsSource {
    /// Nothing reported yet.
    pub fn new(config: MetricsConfig) -> Self {
        Self { config }
    }

    fn send(&self, feed: &Feed, sent: &mut Sent, now: u64, is_due: bool) -> Result<(), Closed> {
        let mut text = Vec::new();
        let mut frames = 0;
        for (meter, due) in self.config.meters.iter().zip(&mut sent.due) {
            if is_due && *due > now {
                continue;
            }
            *due = now.saturating_add(meter.interval_s.saturating_mul(NANOSECONDS_PER_SECOND));
            line(meter, now, &mut text);
            frames += 1;
        }
        if frames == 0 {
            return Ok(());
        }
        let at =
            At { origin: Origin::named("metrics".to_string()), file: 0, framing: Framing::Lines };
        let block = block(feed, &text, frames, sent.lines + 1, sent.bytes);
        sent.lines += frames;
        sent.bytes += text.len() as u64;
        feed.send(Some(block), &at)
    }

    fn total(&self) -> u64 {
        self.config.meters.iter().map(|meter| meter.count()).sum()
    }
}

/// How much has been sent, and when each meter is due.
struct Sent {
    lines: u64,
    bytes: u64,
    due: Vec<u64>,
}

impl Source for MetricsSource {
    fn name(&self) -> String {
        "metrics".to_string()
    }

    fn run(&mut self, feed: &Feed) -> Result<(), Error> {
        feed.ledger.name_file(feed.source, 0, None);
        let is_virtual = feed.clock != Clock::System;
        let start = system_time();
        let interval = |meter: &Arc<Meter>| meter.interval_s.saturating_mul(NANOSECONDS_PER_SECOND);
        let due = self.config.meters.iter().map(|meter| start.saturating_add(interval(meter)));
        let mut sent = Sent { lines: 0, bytes: 0, due: due.collect() };
        let (mut quiet, mut last) = (0, 0);
        while wait_until(system_time() + PATIENCE_NS, feed)? {
            if !is_virtual && self.send(feed, &mut sent, system_time(), true).is_err() {
                return Ok(());
            }
            let others_ended = feed.queue.senders() <= self.config.peers;
            let total = self.total();
            let moved = total != last || !feed.queue.is_hungry();
            quiet = if others_ended && !moved { quiet + 1 } else { 0 };
            last = total;
            if self.config.has_others && quiet >= QUIET_LOOKS {
                break;
            }
        }
        let now = if is_virtual { 0 } else { system_time() };
        let _ = self.send(feed, &mut sent, now, false);
        Ok(())
    }
}

fn line(meter: &Meter, now: u64, out: &mut Vec<u8>) {
    let (measurement, tags) = match &meter.place {
        MeterPlace::Node { pipeline, node, leaves, port } => {
            let direction = if *leaves { "output" } else { "input" };
            let tags = vec![
                ("direction", direction),
                ("node", node),
                ("pipeline", pipeline),
                ("port", port),
            ];
            ("events", tags)
        }
        MeterPlace::Connector { connector, port } => {
            let flow = connector.split_once("::").map_or("", |(flow, _)| flow);
            (
                "connector_events",
                vec![("connector", connector.as_str()), ("flow", flow), ("port", port)],
            )
        }
    };
    out.extend_from_slice(format!("{{\"measurement\":\"{measurement}\",\"tags\":{{").as_bytes());
    for (number, (name, value)) in tags.iter().enumerate() {
        let comma = if number > 0 { "," } else { "" };
        out.extend_from_slice(format!("{comma}\"{name}\":").as_bytes());
        push_json_string(out, value);
    }
    let count = meter.count();
    let rest = format!("}},\"fields\":{{\"count\":{count}}},\"timestamp\":{now}}}\n");
    out.extend_from_slice(rest.as_bytes());
}
