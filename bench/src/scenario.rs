//! A scenario in the real runtime: its program between an injector and a sink that takes everything.
//!
//! Invariant: nothing is measured before the counts at every port were those that the scenario states.

use crate::core::limit::{self, Limit};
use crate::workload::Workload;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use temblor_catalog::registry;
use temblor_codec::InputCodec;
use temblor_command::measure::{BenchPlan, Feeding};
use temblor_generate::inject::{Frames, Load, Outcome, Schedule};
use temblor_lang::value::{Arena, JsonStyle, Value};
use temblor_logstash::configuration::{self, Wishes};
use temblor_pipeline::load::{LoadOptions, Loaded};
use temblor_pipeline::operator::{IN, OUT};
use temblor_pipeline::rehearsal::{Happening, Rehearsal};
use temblor_runtime::limits::BLOCK_BYTES;
use temblor_runtime::outbox::Order;

/// A program, what it is fed with and what must come out.
pub struct Scenario {
    /// The name of its folder.
    pub name: String,
    program: PathBuf,
    feeding: Feeding,
    codec: InputCodec,
    /// Events that are injected once; none when the program's own sources make them.
    events: Option<u64>,
    /// Events that must have left by each port.
    ports: Vec<(String, u64)>,
    /// Whether sizes of batches and numbers of workers are tried as well.
    pub is_swept: bool,
}

/// Worker threads, and what they are handed.
#[derive(Clone, Copy, Debug)]
pub struct Threads {
    /// How many.
    pub workers: usize,
    /// Bytes of a batch.
    pub batch_bytes: usize,
}

impl Threads {
    /// Some workers, with batches of the usual size.
    pub fn of(workers: usize) -> Self {
        Self { workers, batch_bytes: BLOCK_BYTES }
    }
}

/// The rate of the run that checks counts; it is not measured.
const CHECK_RATE: f64 = 1e6;

impl Scenario {
    /// Reads `pipeline.json` of a folder and makes its data.
    pub fn load(folder: &Path) -> Result<Self, String> {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let file = folder.join("pipeline.json");
        let failed = |reason: String| format!("{}: {reason}", file.display());
        let text = std::fs::read_to_string(&file).map_err(|error| failed(error.to_string()))?;
        let arena = Arena::new();
        let described = temblor_stdlib::formats::json::parse(&text, &arena);
        let described = described.map_err(|error| failed(error.to_string()))?;
        let described = described.as_record(&arena).ok_or_else(|| failed("no record".into()))?;
        let text_of = |key: &str| described.get(key).and_then(Value::as_str);
        let number_of = |key: &str| described.get(key).and_then(Value::as_u64);
        let ports = described.get("ports").and_then(|ports| ports.as_record(&arena));
        let ports = ports.ok_or_else(|| failed("`ports` are missing".into()))?;
        let events = number_of("events");
        let feeding = match (text_of("workload"), text_of("generator")) {
            (Some(workload), _) => {
                let workload = Workload::named(workload)
                    .ok_or_else(|| failed(format!("there is no workload `{workload}`")))?;
                let count = usize::try_from(events.unwrap_or(0)).unwrap_or(0);
                let lines = workload.lines(number_of("seed").unwrap_or(0), count);
                Feeding::Frames(Arc::new(Frames::of(lines.join("\n").as_bytes())))
            }
            (None, Some(kind)) => {
                Feeding::Frames(Arc::new(generated(kind, &text).map_err(failed)?))
            }
            (None, None) => Feeding::Own,
        };
        Ok(Scenario {
            name,
            is_swept: described.get("sweep").is_some_and(|sweep| sweep == Value::Bool(true)),
            program: folder.join(text_of("program").unwrap_or("pipeline.tmb")),
            feeding,
            codec: match text_of("codec") {
                Some("lines") => InputCodec::String,
                _ => InputCodec::Json,
            },
            events,
            ports: ports
                .iter()
                .map(|(port, count)| (port.to_string(), count.as_u64().unwrap_or(0)))
                .collect(),
        })
    }

    /// The program's file.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// The events, a line each; nothing when the program's own sources make them.
    pub fn text(&self) -> Option<&[u8]> {
        match &self.feeding {
            Feeding::Frames(frames) => Some(frames.text()),
            _ => None,
        }
    }

    /// Whether the program's sources make the events, so that no latency can be measured.
    pub fn makes_its_own_events(&self) -> bool {
        matches!(self.feeding, Feeding::Own)
    }

    /// What its bytes cost at the very least; nothing when its own sources make them.
    pub fn limit(&self) -> Option<Limit> {
        self.text().map(|text| limit::measure(text, self.codec == InputCodec::Json))
    }

    /// Runs all events once and compares the counts at the ports.
    pub fn check(&self, workers: usize) -> Result<Outcome, String> {
        let measured = Duration::from_secs_f64(self.events.unwrap_or(1) as f64 / CHECK_RATE);
        let load = Load::Open(CHECK_RATE);
        let outcome =
            self.run(Schedule { load, warmup: Duration::ZERO, measured }, Threads::of(workers))?;
        for (port, expected) in &self.ports {
            let row = outcome.counts.ports.iter().find(|row| row.name == *port);
            let events = row.map_or(0, |row| row.events);
            if events != *expected {
                let name = &self.name;
                return Err(format!("{name}: {events} events at `{port}`, {expected} expected"));
            }
        }
        if !self.makes_its_own_events() && !outcome.account().is_one_to_one() {
            return Err(format!("{}: events were lost: {:?}", self.name, outcome.account()));
        }
        Ok(outcome)
    }

    /// The scenario with another program of its folder.
    pub fn with_program(self, file: &str) -> Self {
        Self { program: self.program.with_file_name(file), ..self }
    }

    /// The program; the filters of one that is a Logstash configuration.
    fn loaded(&self) -> Result<Loaded, String> {
        let loaded = if self.program.extension().is_some_and(|end| end == "conf") {
            let wishes = Wishes { stdin: true, stdout: true, ..Wishes::default() };
            configuration::load(&self.program, &wishes)?.loaded
        } else {
            LoadOptions::new(registry()).file(&self.program)?
        };
        if loaded.has_errors() { Err(loaded.report(false)) } else { Ok(loaded) }
    }

    /// What leaves by `out`, as JSON with sorted keys, in order.
    pub fn outputs(&self) -> Result<Vec<String>, String> {
        let loaded = self.loaded()?;
        let own = loaded.graph.inputs().find(|name| *name != IN);
        let input = own.unwrap_or(IN).to_string();
        let mut rehearsal = Rehearsal::new(loaded.graph, loaded.sources, JsonStyle::Sorted);
        let text = self.text().ok_or("the program makes its own events")?;
        let mut lines = Vec::new();
        for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let happenings = rehearsal.send(&input, self.codec, line).unwrap_or_default();
            lines.extend(happenings.into_iter().filter_map(|happening| match happening {
                Happening::Output { port, data, .. } if port == OUT => Some(data),
                _ => None,
            }));
        }
        Ok(lines)
    }

    /// Runs the scenario by a schedule.
    pub fn run(&self, schedule: Schedule, threads: Threads) -> Result<Outcome, String> {
        let loaded = self.loaded()?;
        let plan = BenchPlan {
            schedule,
            feeding: self.feeding.clone(),
            codec: self.codec,
            keep_sinks: false,
            workers: threads.workers,
            batch_bytes: threads.batch_bytes,
            order: Order::Source,
            seed: 0,
        };
        plan.run(loaded).map_err(|error| format!("{}: {error}", self.name))
    }
}

/// Lines of a generator; the scenario's own text has its settings.
fn generated(kind: &str, settings: &str) -> Result<Frames, String> {
    use temblor_generate::{Spec, Stream};
    let arena = Arena::new();
    let settings = temblor_stdlib::formats::json::parse(settings, &arena);
    let settings = settings.map_err(|error| error.to_string())?;
    let settings = settings.as_record(&arena).and_then(|record| record.get("settings"));
    let settings = settings.unwrap_or_else(|| arena.record_builder(0).finish());
    let spec = Spec::from_settings(kind, settings, None)
        .map_err(|error| format!("{}: {}", error.name, error.reason))?;
    if spec.count.is_none() {
        return Err("`settings` need a `count`".to_string());
    }
    let mut stream = Stream::open(&spec, 0).map_err(|error| error.to_string())?;
    let mut text = Vec::new();
    stream.fill(&mut text, u64::MAX, usize::MAX)?;
    Ok(Frames::of(&text))
}

/// The folders of `root` with a `pipeline.json`, by name.
pub fn folders(root: &Path) -> Result<Vec<PathBuf>, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", root.display());
    let entries = std::fs::read_dir(root).map_err(failed)?;
    let mut found = entries
        .map(|entry| entry.map(|entry| entry.path()).map_err(failed))
        .collect::<Result<Vec<_>, _>>()?;
    found.retain(|path| path.join("pipeline.json").is_file());
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every scenario, tiny: all counts, with one worker and with two.
    #[test]
    fn every_scenario_has_its_counts() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
        let folders = folders(&root).unwrap();
        assert!(folders.len() >= 9, "{} scenarios", folders.len());
        for folder in folders {
            let scenario = Scenario::load(&folder).unwrap();
            for workers in [1, 2] {
                scenario.check(workers).unwrap();
            }
            assert!(folder.join("README.md").is_file(), "{}", scenario.name);
        }
    }
}
