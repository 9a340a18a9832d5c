//! A pipeline on the bench: all samples go through it, grouped by what became of them; its clock is
//! moved by hand. What is compiled is the text as it was entered, less the steps that are off.

use super::evaluate::Unreadable;
use super::outcome::{Class, Outcomes};
use super::program::{Notation, Program, read_configuration};
use super::samples::{Sample, Samples};
use super::setup::Setup;
use super::steps::Steps;
use super::view::{Mode, one_line, paint, value};
use temblor_catalog::registry;
use temblor_codec::InputCodec;
use temblor_lang::coverage::Coverage;
use temblor_lang::diagnostic::{Severity, render_all};
use temblor_lang::value::{Arena, JsonStyle, Owned};
use temblor_logstash::configuration;
use temblor_pipeline::graph::Visit;
use temblor_pipeline::load::{Directories, LoadOptions, Loaded};
use temblor_pipeline::operator::IN;
use temblor_pipeline::rehearsal::{Happening, Rehearsal};
use temblor_stdlib::formats::json;

/// Samples that go through a pipeline at once, at the most.
pub(crate) const SAMPLES_MAX: usize = 10_000;

/// A pipeline and what it remembers.
#[derive(Debug)]
pub(crate) struct Pipeline {
    pub program: Program,
    pub steps: Steps,
    /// Warnings about it, as text.
    pub warnings: String,
    pub(super) rehearsal: Rehearsal,
    /// The branches of the program, and how often they were taken since the last start.
    pub(super) coverage: Coverage,
    pub(super) setup: Setup,
}

/// A program that stands ready.
struct Started {
    rehearsal: Rehearsal,
    coverage: Coverage,
    warnings: String,
}

impl Pipeline {
    pub(crate) fn compile(program: Program, setup: &Setup) -> Result<Self, Unreadable> {
        let steps = Steps::of(&program);
        let Started { rehearsal, coverage, warnings } = start(&program, &steps, setup)?;
        Ok(Self { program, steps, warnings, rehearsal, coverage, setup: setup.clone() })
    }

    /// Forgets everything; the clock stands at its beginning.
    pub(crate) fn restart(&mut self) -> Result<(), String> {
        *self = self.fresh()?;
        Ok(())
    }

    /// A pipeline of its own, from a fresh start.
    pub(crate) fn fresh(&self) -> Result<Self, String> {
        let started = start(&self.program, &self.steps, &self.setup);
        let Started { rehearsal, coverage, warnings } =
            started.map_err(|unreadable| unreadable.text)?;
        let (program, steps, setup) =
            (self.program.clone(), self.steps.clone(), self.setup.clone());
        Ok(Self { program, steps, warnings, rehearsal, coverage, setup })
    }

    /// Sends all samples through it, from a fresh start: what became of them, counted, and what the
    /// current one became.
    pub(crate) fn overview(&mut self, samples: &mut Samples, mode: Mode) -> Result<String, String> {
        self.restart()?;
        let mut text = self.warnings.clone();
        if samples.is_empty() {
            text.push_str("ready; there are no samples: :load FILE, or :sample JSON\n");
            return Ok(text);
        }
        let mut outcomes = Outcomes::default();
        let mut count = 0;
        while let Some(sample) = samples.read(count)? {
            if count == SAMPLES_MAX {
                text.push_str(&format!("only the first {SAMPLES_MAX} samples were tried\n"));
                break;
            }
            self.setup.check()?;
            let happenings = self.send(&sample);
            count += 1;
            if count == samples.number() {
                text.push_str(&self.tell(&happenings, &sample.event(), mode));
            }
            let (class, key, label) = self.outcome(&happenings);
            outcomes.add(count, class, key, label);
        }
        text.push_str(&outcomes.show(self.setup.colour));
        let late = self.rehearsal.foretell_end();
        if !late.is_empty() {
            let (_, _, label) = self.outcome(&late);
            text.push_str(&format!("at the end of the input: {label}\n"));
        }
        self.setup.check()?;
        Ok(text)
    }

    /// What became of an event: class, what makes it equal to others, and in words.
    pub(crate) fn outcome(&self, happenings: &[Happening]) -> (Class, String, String) {
        let mut best: Option<(Class, String, String)> = None;
        let mut ports: Vec<(String, usize)> = Vec::new();
        for happening in happenings {
            let (class, key, label) = match happening {
                Happening::Output { port, .. } => {
                    match ports.iter_mut().find(|(one, _)| one == port) {
                        Some((_, times)) => *times += 1,
                        None => ports.push((port.clone(), 1)),
                    }
                    continue;
                }
                Happening::Failed { node, error, .. } => {
                    let step = self.title(node);
                    let label = format!("failed in {step}: {}", error.message());
                    (Class::Failed, format!("{node} {}", error.code()), label)
                }
                Happening::Undecodable(reason) => {
                    (Class::Broken, String::new(), format!("broken: {reason}"))
                }
                Happening::Dropped { node, .. } => {
                    (Class::Dropped, node.clone(), format!("dropped by {}", self.title(node)))
                }
            };
            if best.as_ref().is_none_or(|(known, ..)| *known < class) {
                best = Some((class, key, label));
            }
        }
        let times = |(port, times): &(String, usize)| match times {
            1 => port.clone(),
            times => format!("{port} x{times}"),
        };
        let ports = ports.iter().map(times).collect::<Vec<_>>().join(", ");
        match best {
            Some((class, key, label)) if ports.is_empty() => (class, key, label),
            Some((class, key, label)) if class >= Class::Failed => {
                (class, format!("{key} {ports}"), format!("{label}; also {ports}"))
            }
            _ if !ports.is_empty() => (Class::Through, ports.clone(), ports),
            Some(other) => other,
            None => (Class::Kept, String::new(), "kept for later".to_string()),
        }
    }

    /// The step that a node belongs to, in words.
    pub(crate) fn title(&self, node: &str) -> String {
        let nodes = self.rehearsal.graph().nodes();
        let span = nodes.iter().find(|one| one.name == node).and_then(|one| one.span);
        let found = span.and_then(|span| self.steps.title_of(span));
        found
            .or_else(|| {
                let text = self.rehearsal.sources().text(span?);
                Some(one_line(text)).filter(|text| !text.is_empty())
            })
            .unwrap_or_else(|| node.to_string())
    }

    fn codec(sample: &Sample) -> InputCodec {
        if sample.is_json { InputCodec::Json } else { InputCodec::String }
    }

    /// Sends a sample, a nanosecond after what was before.
    pub(crate) fn send(&mut self, sample: &Sample) -> Vec<Happening> {
        self.setup.refill();
        let line = sample.line.as_deref().unwrap_or("null");
        let next_ns = self.rehearsal.now_ns().saturating_add(1);
        let mut happenings = self.rehearsal.set_clock(next_ns);
        let sent = self.rehearsal.send(IN, Self::codec(sample), line.as_bytes());
        happenings.extend(sent.unwrap_or_default());
        happenings
    }

    /// As [`Pipeline::send`]; also tells what each node made of it.
    pub(crate) fn follow(&mut self, sample: &Sample) -> (Vec<Happening>, Vec<Visit>) {
        self.setup.refill();
        let line = sample.line.as_deref().unwrap_or("null");
        let next_ns = self.rehearsal.now_ns().saturating_add(1);
        let mut happenings = self.rehearsal.set_clock(next_ns);
        let followed = self.rehearsal.follow(IN, Self::codec(sample), line.as_bytes());
        let (sent, visits) = followed.unwrap_or_default();
        happenings.extend(sent);
        (happenings, visits)
    }

    /// Sends one sample without a fresh start.
    pub(crate) fn send_one(&mut self, sample: &Sample, mode: Mode) -> String {
        let happenings = self.send(sample);
        self.tell(&happenings, &sample.event(), mode)
    }

    /// Puts the clock; timers that are due run.
    pub(crate) fn set_clock(&mut self, now_ns: u64, mode: Mode) -> String {
        let happenings = self.rehearsal.set_clock(now_ns);
        self.tell(&happenings, &Owned::Null, mode)
    }

    /// The input ends: what is still kept comes out.
    pub(crate) fn flush(&mut self) -> Vec<Happening> {
        self.rehearsal.flush()
    }

    pub(crate) fn now_ns(&self) -> u64 {
        self.rehearsal.now_ns()
    }

    /// The ports that events can leave by.
    pub(crate) fn ports(&self) -> &[String] {
        self.rehearsal.graph().outputs()
    }

    /// What happened, a line or more each.
    pub(crate) fn tell(&self, happenings: &[Happening], before: &Owned, mode: Mode) -> String {
        if happenings.is_empty() {
            return "nothing came out\n".to_string();
        }
        let colour = self.setup.colour;
        let mut text = String::new();
        for happening in happenings {
            match happening {
                Happening::Output { port, data, .. } => {
                    let shown = value(&read(data), before, mode, colour);
                    text.push_str(&format!("{}: {shown}", paint(colour, "1;34", port)));
                }
                Happening::Failed { node, error, .. } => {
                    let failed = paint(colour, "1;31", "failed");
                    text.push_str(&format!("{failed} in {}\n", self.title(node)));
                    text.push_str(&self.failure(error));
                }
                Happening::Undecodable(reason) => {
                    text.push_str(&format!("{}: {reason}\n", paint(colour, "1;31", "broken")));
                }
                Happening::Dropped { node, .. } => {
                    let dropped = paint(colour, "33", "dropped");
                    text.push_str(&format!("{dropped} by {}\n", self.title(node)));
                }
            }
        }
        text
    }

    /// An error of a step as the diagnostic that `check` would give.
    fn failure(&self, error: &temblor_lang::error::EvalError) -> String {
        let Some(span) = error.span() else {
            let help = error.help().map_or(String::new(), |help| format!("\n  = help: {help}"));
            return format!("error[{}]: {}{help}\n", error.code(), error.message());
        };
        let mut diagnostic =
            temblor_lang::diagnostic::Diagnostic::error(error.code(), span, error.message());
        diagnostic.help = error.help().map(str::to_string);
        render_all(&[diagnostic], self.rehearsal.sources(), self.setup.colour)
    }
}

/// What a happening says in JSON.
pub(crate) fn read(data: &str) -> Owned {
    let arena = Arena::new();
    json::parse(data, &arena).map_or(Owned::Null, Owned::from)
}

fn load(program: &Program, steps: &Steps, setup: &Setup) -> Result<Loaded, Unreadable> {
    match &program.notation {
        Notation::Of(language) => {
            let directories = Directories::new(&setup.path, program.file.as_deref());
            let text = format!("{}{}", program.prelude, steps.text_without_off(&program.text));
            let budget = Some(setup.budget.clone());
            let options = LoadOptions { budget, coverage: true, ..LoadOptions::new(registry()) };
            Ok(options.compile(&program.name, text, *language, &directories))
        }
        Notation::Logstash(wishes) => {
            let told = |reason| Unreadable { text: format!("error: {reason}"), end: u32::MAX };
            let read = read_configuration(program, wishes).map_err(told)?;
            Ok(configuration::compile(read, &program.name, wishes).loaded)
        }
    }
}

fn start(program: &Program, steps: &Steps, setup: &Setup) -> Result<Started, Unreadable> {
    setup.refill();
    let loaded = load(program, steps, setup)?;
    let (errors, warnings): (Vec<_>, Vec<_>) =
        loaded.diagnostics.iter().cloned().partition(|one| one.severity == Severity::Error);
    if let Some(first) = errors.first() {
        let text = render_all(&errors, &loaded.sources, setup.colour);
        let prelude = u32::try_from(program.prelude.len()).unwrap_or(u32::MAX);
        return Err(Unreadable { end: first.span.start.saturating_sub(prelude), text });
    }
    let warnings = render_all(&warnings, &loaded.sources, setup.colour);
    let rehearsal = Rehearsal::new(loaded.graph, loaded.sources, JsonStyle::Compact);
    // What a program declares is what it asks; the tables of the command line are for all others.
    let tables = loaded.endpoints.tables.shared().or_else(|| setup.tables.clone());
    let rehearsal = rehearsal.bounded_by(setup.budget.clone()).with_tables(tables);
    Ok(Started { rehearsal, coverage: loaded.coverage, warnings })
}
