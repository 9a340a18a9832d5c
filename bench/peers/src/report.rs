//! The tables: throughput per engine and the ratios between them. Ratios are of CPU time, since all engines run on one thread.

use crate::measure::Timing;
use crate::scenario::Data;

const MEGA: f64 = 1e6;

/// One engine's row.
#[derive(serde::Serialize)]
pub struct Row {
    /// The name of the engine.
    pub engine: String,
    /// Events per CPU second.
    pub events_per_s: f64,
    /// Millions of input bytes per CPU second.
    pub megabytes_per_s: f64,
    /// Millions of input bytes per second of the clock on the wall.
    pub megabytes_per_wall_s: f64,
    /// The speed as a part of the bare limit's.
    pub of_limit: f64,
    /// Nanoseconds of CPU for one event.
    pub ns_per_event: f64,
}

/// A scenario's figures over one set of lines.
#[derive(serde::Serialize)]
pub struct Section {
    /// The scenario.
    pub scenario: String,
    /// The set of lines.
    pub data: String,
    /// Lines of one pass.
    pub events: usize,
    /// Bytes of one pass, without line ends.
    pub bytes: usize,
    /// The outcomes that all engines agree on.
    pub counts: crate::engine::Counts,
    /// The bare limit first.
    pub rows: Vec<Row>,
}

impl Section {
    /// Turns timings into rows. The first timing is the limit.
    pub fn of(scenario: &str, data: &Data, timings: &[Timing]) -> Self {
        let bytes: usize = data.lines.iter().map(String::len).sum();
        let limit_s = timings.first().map_or(f64::NAN, Timing::cpu_s);
        let row = |timing: &Timing| Row {
            engine: timing.engine.clone(),
            events_per_s: data.lines.len() as f64 / timing.cpu_s(),
            megabytes_per_s: bytes as f64 / MEGA / timing.cpu_s(),
            megabytes_per_wall_s: bytes as f64 / MEGA / timing.wall_s(),
            of_limit: limit_s / timing.cpu_s(),
            ns_per_event: timing.cpu_s() * 1e9 / data.lines.len() as f64,
        };
        Self {
            scenario: scenario.to_string(),
            data: data.name.clone(),
            events: data.lines.len(),
            bytes,
            counts: timings.get(1).map(|timing| timing.counts).unwrap_or_default(),
            rows: timings.iter().map(row).collect(),
        }
    }

    /// The section as Markdown.
    pub fn markdown(&self) -> String {
        let mut text = format!(
            "\n### {} ({})\n\n{} events of {} bytes, {} emitted, {} dropped, {} failed\n\n",
            self.scenario,
            self.data,
            self.events,
            self.bytes / self.events.max(1),
            self.counts.emitted,
            self.counts.dropped,
            self.counts.failed
        );
        text += &self.head();
        for row in &self.rows {
            text += &self.line(row);
        }
        text
    }

    /// The engines that others are compared with: all but the limit.
    fn peers(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().skip(1)
    }

    fn head(&self) -> String {
        let peers: String = self.peers().map(|peer| format!(" × {} |", peer.engine)).collect();
        let rule: String = self.peers().map(|_| "---:|").collect();
        format!(
            "| engine | events/s | MB/s | MB/s (wall) | ns/event | of limit |{peers}\n|---|---:|---:|---:|---:|---:|{rule}\n"
        )
    }

    fn line(&self, row: &Row) -> String {
        let ratios: String = self
            .peers()
            .map(|peer| format!(" {:.2} |", peer.ns_per_event / row.ns_per_event))
            .collect();
        format!(
            "| {} | {:.0} | {:.1} | {:.1} | {:.0} | {:.2} |{ratios}\n",
            row.engine,
            row.events_per_s,
            row.megabytes_per_s,
            row.megabytes_per_wall_s,
            row.ns_per_event,
            row.of_limit
        )
    }
}
