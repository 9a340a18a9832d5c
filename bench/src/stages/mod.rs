//! Where the time of a scenario goes: each stage alone in memory, beside the whole run.
//!
//! Invariant: a stage is measured on the same lines as the whole, and its count of events is checked.

mod memory;
mod report;

use crate::core::measure::{Cost, Directory, Input, median};
use crate::core::runtime::{self, Case, Program, Sink};
use crate::workload::Workload;
use memory::{Ending, Memory};
pub use report::Report;

/// What is measured, and how thoroughly.
#[derive(Clone, Debug)]
pub struct Options {
    /// Generated events of each scenario.
    pub events: usize,
    /// Runs of each stage.
    pub repetitions: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { events: 200_000, repetitions: 5 }
    }
}

/// Seed of the generated lines.
const SEED: u64 = 1;

/// A program that grows by one stage after another, and its data.
pub struct Subject {
    /// Its name in the report.
    pub name: &'static str,
    /// What is fed.
    pub workload: Workload,
    is_json: bool,
    /// Each stage's name, and the script that does all up to and with it. Scripts end in `drop`.
    scripts: &'static [(&'static str, &'static str)],
    /// The whole script, whose events are encoded.
    whole: &'static str,
}

/// What is looked into.
pub const SUBJECTS: [Subject; 3] = [
    Subject {
        name: "pass-through",
        workload: Workload::AppEvents,
        is_json: true,
        scripts: &[],
        whole: "emit event",
    },
    Subject {
        name: "five fields, match, two sets",
        workload: Workload::AppEvents,
        is_json: true,
        scripts: &[
            ("path read", include_str!("paths.tremor")),
            ("match", include_str!("match.tremor")),
        ],
        whole: include_str!("../core/fields.tremor"),
    },
    Subject {
        name: "access log",
        workload: Workload::AccessLog,
        is_json: false,
        scripts: &[("grok", include_str!("grok.tremor"))],
        whole: include_str!("../core/grok.tremor"),
    },
];

/// Something that handles every line once and tells how many events it saw.
pub struct Stage {
    /// Its name in the report.
    pub name: &'static str,
    /// Whether its time holds that of the stage before it, which is then taken off.
    pub includes_previous: bool,
    work: Work,
}

/// Handles every line of an input; gives the number of events that it saw.
type Work = Box<dyn FnMut(&Input) -> Result<u64, String>>;

impl Stage {
    /// Runs it over all lines.
    ///
    /// # Errors
    /// When it did not see every line.
    pub fn run(&mut self, input: &Input) -> Result<(), String> {
        let events = (self.work)(input)?;
        let (name, lines) = (self.name, input.lines);
        let complete = events == input.lines;
        if complete { Ok(()) } else { Err(format!("{name}: {events} of {lines} events")) }
    }
}

impl Subject {
    /// Its lines in a file and in memory.
    pub fn input(&self, events: usize, to: &Directory) -> Result<Input, String> {
        Input::write(&to.file("stages"), &self.workload.lines(SEED, events))
    }

    /// Its stages in the order of an event's way.
    pub fn stages(&self) -> Result<Vec<Stage>, String> {
        let carried = Case {
            name: "read, frame, hop",
            program: Program { text: "drop", is_json: false },
            sink: Sink::Null,
            target: 0.0,
        };
        let mut stages = vec![
            Stage {
                name: carried.name,
                includes_previous: false,
                work: Box::new(move |input| {
                    let to = Directory::make()?;
                    runtime::run(&carried, input, 1, &to).map(|_| input.lines)
                }),
            },
            self.in_memory(if self.is_json { "tape" } else { "text" }, "drop", Ending::Drop)?,
        ];
        stages[1].includes_previous = false;
        for (name, script) in self.scripts {
            stages.push(self.in_memory(name, script, Ending::Drop)?);
        }
        let last = if self.scripts.len() > 1 { "set and encode" } else { "encode" };
        stages.push(self.in_memory(last, self.whole, Ending::Encode)?);
        Ok(stages)
    }

    fn in_memory(&self, name: &'static str, script: &str, ending: Ending) -> Result<Stage, String> {
        let mut memory = Memory::prepare(name, script, self.is_json, ending)?;
        let work = Box::new(move |input: &Input| memory.run(&input.text));
        Ok(Stage { name, includes_previous: true, work })
    }

    /// The same work by the real runtime.
    fn whole(&self) -> Case {
        let program = Program { text: self.whole, is_json: self.is_json };
        Case { name: self.name, program, sink: Sink::Null, target: 0.0 }
    }
}

/// Measures every subject, stages and whole in turns.
///
/// # Errors
/// When a script does not compile or a count is wrong.
pub fn run(options: &Options) -> Result<Report, String> {
    let mut report = Report::default();
    for subject in &SUBJECTS {
        let to = Directory::make()?;
        let input = subject.input(options.events, &to)?;
        let mut stages = subject.stages()?;
        let mut costs: Vec<Vec<f64>> = stages.iter().map(|_| Vec::new()).collect();
        let mut wholes = Vec::new();
        for _ in 0..options.repetitions.max(1) {
            for (stage, costs) in stages.iter_mut().zip(&mut costs) {
                let ((), cost) = Cost::of(|| stage.run(&input))?;
                costs.push(cost.cpu_s);
            }
            wholes.push(runtime::run(&subject.whole(), &input, 1, &to)?.cpu_s);
        }
        let per_event = |costs: &[f64]| median(costs.iter().copied()) * 1e9 / input.lines as f64;
        let mut previous = 0.0;
        let rows = stages.iter().zip(&costs).map(|(stage, costs)| {
            let all = per_event(costs);
            let own = if stage.includes_previous { all - previous } else { all };
            previous = all;
            (stage.name, own)
        });
        report.add(subject.name, rows.collect(), per_event(&wholes));
    }
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_stage_sees_every_line() {
        let report = run(&Options { events: 300, repetitions: 1 }).unwrap();
        let text = report.to_string();
        for subject in &SUBJECTS {
            assert!(text.contains(subject.name), "{text}");
        }
        for stage in ["read, frame, hop", "tape", "path read", "match", "grok", "encode"] {
            assert!(text.contains(stage), "{stage} is missing:\n{text}");
        }
    }

    #[test]
    fn a_stage_that_loses_events_is_an_error() {
        let to = Directory::make().unwrap();
        let lines = ["{\"a\":1}".to_string(), "{\"a\":".to_string()];
        let input = Input::write(&to.file("bad"), &lines).unwrap();
        let mut stages = SUBJECTS[0].stages().unwrap();
        let error = stages[1].run(&input).unwrap_err();
        assert!(error.contains("1 of 2"), "{error}");
    }
}
