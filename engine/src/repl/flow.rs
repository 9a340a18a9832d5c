//! A pipeline on the bench: all samples go through it, grouped by what became of them; one sample is
//! followed from step to step; its clock is moved by hand.

use super::evaluate::Unreadable;
use super::samples::{Sample, Samples};
use super::view::{Mode, difference, paint, value};
use crate::load::{Directories, Language, compile};
use crate::operator::IN;
use crate::pipeline::InputCodec;
use crate::rehearsal::{Happening, Rehearsal};
use std::collections::BTreeMap;
use std::path::PathBuf;
use temblor_lang::diagnostic::{Colour, Severity, render_all};
use temblor_lang::span::Sources;
use temblor_lang::syntax::tree::{Program, Statement};
use temblor_lang::syntax::{parse_program, print_program};
use temblor_lang::value::{Arena, JsonStyle, Owned};
use temblor_stdlib::formats::json;

/// Samples that go through a pipeline at once, at the most.
const SAMPLES_MAX: usize = 10_000;

/// A pipeline and what it remembers.
#[derive(Debug)]
pub struct Pipeline {
    /// Its text.
    pub text: String,
    rehearsal: Rehearsal,
    path: Vec<PathBuf>,
    colour: Colour,
}

impl Pipeline {
    pub fn compile(text: &str, path: &[PathBuf], colour: Colour) -> Result<Self, Unreadable> {
        let rehearsal = start(text, path, colour)?;
        Ok(Self { text: text.to_string(), rehearsal, path: path.to_vec(), colour })
    }

    /// Sends all samples through it, from a fresh start: what became of them, counted, and what the
    /// current one became.
    pub fn overview(
        &mut self,
        samples: &mut Samples,
        mode: Mode,
        colour: Colour,
    ) -> Result<String, String> {
        let restart = start(&self.text, &self.path, self.colour);
        self.rehearsal = restart.map_err(|unreadable| unreadable.text)?;
        if samples.is_empty() {
            return Ok("ready; there are no samples: :load FILE, or :sample JSON\n".to_string());
        }
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        let mut text = String::new();
        let mut count = 0;
        while let Some(line) = samples.read(count)? {
            if count == SAMPLES_MAX {
                text.push_str(&format!("only the first {SAMPLES_MAX} samples were tried\n"));
                break;
            }
            let sample = Sample { line: Some(line) };
            let happenings = self.send(&sample);
            if count + 1 == samples.number() {
                text.push_str(&self.tell(&happenings, &sample.event(), mode));
            }
            count_all(&happenings, &mut counts);
            count += 1;
        }
        count_all(&self.rehearsal.flush(), &mut counts);
        let counts: Vec<_> = counts.iter().map(|(what, n)| format!("{what}: {n}")).collect();
        text.push_str(&paint(colour, "2", &format!("{count} samples; {}", counts.join(", "))));
        Ok(text + "\n")
    }

    fn send(&mut self, sample: &Sample) -> Vec<Happening> {
        let line = sample.line.as_deref().unwrap_or("null");
        let is_json = json::parse(line, &Arena::new()).is_ok();
        let codec = if is_json { InputCodec::Json } else { InputCodec::String };
        let next_ns = self.rehearsal.now_ns().saturating_add(1);
        let mut happenings = self.rehearsal.set_clock(next_ns);
        happenings.extend(self.rehearsal.send(IN, codec, line.as_bytes()).unwrap_or_default());
        happenings
    }

    /// Sends one sample without a fresh start.
    pub fn send_one(&mut self, sample: &Sample, mode: Mode) -> String {
        let happenings = self.send(sample);
        self.tell(&happenings, &sample.event(), mode)
    }

    /// Puts the clock; timers that are due run.
    pub fn set_clock(&mut self, now_ns: u64, mode: Mode) -> String {
        let happenings = self.rehearsal.set_clock(now_ns);
        self.tell(&happenings, &Owned::Null, mode)
    }

    pub fn now_ns(&self) -> u64 {
        self.rehearsal.now_ns()
    }

    /// How much each step remembers.
    pub fn state(&self) -> String {
        let usage = self.rehearsal.usage();
        if usage.is_empty() {
            return "no step remembers anything that can be shown\n".to_string();
        }
        let line = |(node, usage): &(String, crate::operator::Usage)| {
            let (entries, bytes, evicted) = (usage.entries, usage.bytes, usage.evicted);
            format!("{node}: {entries} entries, {bytes} bytes, {evicted} given up\n")
        };
        usage.iter().map(line).collect()
    }

    /// The event behind each step of the chains of the pipeline, as what changed.
    pub fn steps(&self, sample: &Sample) -> Result<String, String> {
        let mut text = String::new();
        let mut before = sample.event();
        let prefixes = prefixes(&self.text);
        if prefixes.is_empty() {
            return Err("error: only a single chain has steps to show".to_string());
        }
        for (number, (step, program)) in prefixes.iter().enumerate() {
            let started = start(program, &self.path, self.colour);
            let rehearsal = started.map_err(|unreadable| unreadable.text)?;
            let mut part = Self {
                text: program.clone(),
                rehearsal,
                path: self.path.clone(),
                colour: self.colour,
            };
            let mut happenings = part.send(sample);
            happenings.extend(part.rehearsal.flush());
            text.push_str(&paint(self.colour, "1", &format!("{}. {step}", number + 1)));
            text.push('\n');
            let out = happenings.iter().find_map(|one| match one {
                Happening::Output { port, data, .. } if port == crate::operator::OUT => Some(data),
                _ => None,
            });
            let Some(data) = out else {
                text.push_str(&part.tell(&happenings, &before, Mode::Json));
                break;
            };
            let arena = Arena::new();
            let after = json::parse(data, &arena).map_or(Owned::Null, Owned::from);
            text.push_str(&difference(&before, &after, self.colour));
            before = after;
        }
        Ok(text)
    }

    fn tell(&self, happenings: &[Happening], before: &Owned, mode: Mode) -> String {
        if happenings.is_empty() {
            return "nothing came out\n".to_string();
        }
        let mut text = String::new();
        for happening in happenings {
            match happening {
                Happening::Output { port, data, .. } => {
                    let arena = Arena::new();
                    let after = json::parse(data, &arena).map_or(Owned::Null, Owned::from);
                    let shown = value(&after, before, mode, self.colour);
                    text.push_str(&format!("{}: {shown}", paint(self.colour, "1;34", port)));
                }
                Happening::Failed { node, error, .. } => {
                    let reason = crate::pipeline::describe(self.rehearsal.sources(), error);
                    text.push_str(&format!(
                        "{} in {node}: {reason}\n",
                        paint(self.colour, "1;31", "failed")
                    ));
                }
                Happening::Undecodable(reason) => text.push_str(&format!("{reason}\n")),
                Happening::Dropped { .. } => text.push_str("dropped\n"),
            }
        }
        text
    }
}

fn count_all(happenings: &[Happening], counts: &mut BTreeMap<String, usize>) {
    for happening in happenings {
        let (what, events) = match happening {
            Happening::Output { port, .. } => (format!("port {port}"), 1),
            Happening::Failed { node, .. } => (format!("failed in {node}"), 1),
            Happening::Undecodable(_) => ("undecodable".to_string(), 1),
            Happening::Dropped { events, .. } => {
                ("dropped".to_string(), usize::try_from(*events).unwrap_or(usize::MAX))
            }
        };
        *counts.entry(what).or_default() += events;
    }
}

fn start(text: &str, path: &[PathBuf], colour: Colour) -> Result<Rehearsal, Unreadable> {
    let directories = Directories::new(path, None);
    let loaded = compile("<entry>", text.to_string(), Language::Temblor, &directories);
    let errors: Vec<_> =
        loaded.diagnostics.iter().filter(|one| one.severity == Severity::Error).cloned().collect();
    match errors.first() {
        None => Ok(Rehearsal::new(loaded.graph, loaded.sources, JsonStyle::Compact)),
        Some(first) => Err(Unreadable {
            end: first.span.start,
            text: render_all(&errors, &loaded.sources, colour),
        }),
    }
}

/// For a program of one chain: each step, and the program up to it.
fn prefixes(text: &str) -> Vec<(String, String)> {
    let mut sources = Sources::default();
    let source = sources.add("<entry>", text);
    let program = parse_program(&sources, source).tree;
    let [Statement::Chain(chain)] = program.query.statements.as_slice() else { return Vec::new() };
    let prefix = |count: usize| {
        let mut part = chain.clone();
        part.steps.truncate(count);
        let mut query = program.query.clone();
        query.statements = vec![Statement::Chain(part)];
        print_program(&Program { endpoints: program.endpoints.clone(), query })
    };
    let step = |at: usize| sources.text(chain.steps[at].span).trim().to_string();
    (0..chain.steps.len()).map(|at| (step(at), prefix(at + 1))).collect()
}
