//! What a user says of a generator, checked.
//!
//! Invariant: a spec that was made can be opened, unless a file changes in between.

use super::builtin::{JsonApp, Syslog, Weblog, Windbag};
use super::disorder::Disorder;
use super::envelope::{EnvelopeParts, Form};
use super::executions::{Executions, Frame, Plan};
use super::jinja::{Jinja, JinjaParts};
use super::lines::Lines;
use super::presets::{Preset, PresetEvents};
use super::rate::{Rate, Tables};
use super::relative::TimeWord;
use super::replay::{Clockwork, Recording, Replay, Rounds};
use super::sample::{Sample, SampleEvent, SampleParts};
use super::settings::spec;
use super::template::{Template, TemplateParts};
use super::{Generator, Random};
use std::collections::VecDeque;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use temblor_declare::shared::READING;
use temblor_declare::{Given, Settings, read};
use temblor_lang::program::Formula;
use temblor_lang::span::Span;
use temblor_lang::value::{Arena, Value};
use temblor_runtime::clock::Timestamp;
use temblor_runtime::error::Error;

pub use super::settings::{KINDS, SETTINGS};

pub(crate) use super::settings::SettingError;

/// What can end events of several lines: the separators of ASCII, and what texts hardly ever have.
const SEPARATORS: [u8; 6] = [0x1e, 0x1f, 0x1d, 0x1c, 0x01, 0x02];

/// A generator with everything around it.
#[derive(Clone, Debug, Default)]
pub struct Spec {
    /// What the events look like.
    pub kind: Kind,
    /// How many, before anything is lost or doubled.
    pub count: Option<u64>,
    /// How much.
    pub rate: Rate,
    /// Executions at intervals, instead of a steady rate.
    pub plan: Option<Plan>,
    /// When more, when less.
    pub tables: Tables,
    /// Part by which the volume of each minute, or of each execution, may differ.
    pub jitter: f64,
    /// Seed of everything random.
    pub seed: u64,
    /// The time of the first event; events keep their distance from it. Else the time of the run.
    pub start: Option<Timestamp>,
    /// Where the past begins, seen from the start; its events come at once.
    pub backfill: TimeWord,
    /// After so much time, counted from the start, there are no more events.
    pub span_ns: Option<u64>,
    /// How much later than otherwise the first event comes.
    pub wait_ns: u64,
    /// The earliest and the latest time that an event shows, seen from its own.
    pub shown: (TimeWord, TimeWord),
    /// What a bad network does.
    pub disorder: Disorder,
    /// Where it is written down what became of which event.
    pub truth: Option<PathBuf>,
    /// What is wrapped around events.
    pub envelope: EnvelopeParts,
}

/// What the events look like.
#[derive(Clone, Debug, Default)]
pub enum Kind {
    /// `weblog`
    Weblog,
    /// `syslog`
    Syslog,
    /// `json-app`
    JsonApp,
    /// `windbag`
    #[default]
    Windbag,
    /// `firewall` and the like
    Preset(Preset),
    /// `lines`: a list, in turn or shuffled, a number of times or for ever
    Lines(Arc<[u8]>, bool, Option<u64>),
    /// `template`
    Template(Arc<TemplateParts>),
    /// `jinja`
    Jinja(Arc<JinjaParts>),
    /// `sample`
    Sample(Arc<SampleParts>),
    /// `replay`
    Replay(Arc<ReplayParts>),
}

/// What is replayed, and how.
#[derive(Clone, Debug)]
pub struct ReplayParts {
    /// The file.
    pub file: PathBuf,
    /// Its events, where they are not its lines.
    pub events: Option<Arc<Vec<SampleEvent>>>,
    /// How times are read.
    pub(crate) clockwork: Clockwork,
    /// How often.
    pub rounds: Rounds,
}

impl Spec {
    /// When the first event is.
    #[must_use]
    pub(crate) fn start_at(&self, now: Timestamp) -> Timestamp {
        let start = self.start.unwrap_or(now);
        self.backfill.at(start, &self.tables.zone).min(start).saturating_add(self.wait_ns)
    }

    /// Whether events bring the gaps between them.
    #[must_use]
    pub(crate) fn has_rhythm(&self) -> bool {
        matches!(self.kind, Kind::Replay(_)) && self.rate == Rate::Unlimited
    }

    /// Whether events have times that must be waited for.
    #[must_use]
    pub fn is_paced(&self) -> bool {
        self.rate != Rate::Unlimited || self.plan.is_some() || self.has_rhythm()
    }

    /// The times of its events, where they come in executions.
    #[must_use]
    pub(crate) fn executions(&self, now: Timestamp) -> Option<Executions> {
        let first = self.start_at(now);
        let (earliest, latest) = self.shown.clone();
        let live_from = self.start.unwrap_or(now).saturating_add(self.wait_ns);
        let (tables, jitter) = (self.tables.clone(), self.jitter);
        let frame = Frame { first, live_from, earliest, latest, tables, jitter };
        self.plan.clone().map(|plan| Executions::new(plan, frame, self.seed))
    }

    /// Whether the number of events of an execution is one of whole samples.
    #[must_use]
    pub(crate) fn is_bundle(&self) -> bool {
        matches!(&self.kind, Kind::Sample(parts) if parts.is_bundle)
    }

    /// What ends an event on its way into a program: a line end, or, where events may have several lines, a
    /// control character that none of them has.
    #[must_use]
    pub fn separator(&self) -> u8 {
        let mut texts: Vec<&[u8]> = Vec::new();
        let may_have_lines = match &self.kind {
            Kind::Jinja(_) => true,
            Kind::Sample(parts) => {
                texts.extend(parts.events.iter().map(|event| event.raw.as_slice()));
                false
            }
            Kind::Replay(parts) => {
                let events = parts.events.iter().flat_map(|events| events.iter());
                texts.extend(events.map(|event| event.raw.as_slice()));
                false
            }
            _ => false,
        };
        let has = |byte: u8| texts.iter().any(|text| text.contains(&byte));
        if !may_have_lines && self.envelope.form != Form::ModInput && !has(b'\n') {
            return b'\n';
        }
        SEPARATORS.into_iter().find(|byte| !has(*byte)).unwrap_or(b'\n')
    }

    /// The generator itself; `now` says what year a time without a year is of.
    ///
    /// # Errors
    /// When a file that it needs cannot be read.
    pub fn generator(&self, now: Timestamp) -> Result<Box<dyn Generator>, Error> {
        let random = Random::seeded(self.seed);
        let refused = |reason| Error::config("generator", reason);
        Ok(match &self.kind {
            Kind::Weblog => Box::new(Weblog::new(self.seed)),
            Kind::Syslog => Box::new(Syslog::new(self.seed)),
            Kind::JsonApp => Box::new(JsonApp::new(self.seed)),
            Kind::Windbag => Box::new(Windbag::default()),
            Kind::Preset(preset) => Box::new(PresetEvents::new(*preset, self.seed)),
            Kind::Lines(text, shuffle, rounds) => {
                Box::new(Lines::new(text, shuffle.then_some(random), *rounds).map_err(refused)?)
            }
            Kind::Template(parts) => Box::new(Template::new(Arc::clone(parts), self.seed)),
            Kind::Jinja(parts) => {
                Box::new(Jinja::new(Arc::clone(parts), self.seed).map_err(refused)?)
            }
            Kind::Sample(parts) => Box::new(Sample::new(parts, random, now).map_err(refused)?),
            Kind::Replay(parts) => replay(parts, random, now)?,
        })
    }

    /// Checks the settings of a kind; `template` is its text, where it has one.
    ///
    /// # Errors
    /// Says which setting is wrong, and what is expected.
    pub fn from_settings(
        kind: &str,
        settings: Value<'_>,
        template: Option<Formula>,
    ) -> Result<Self, SettingError> {
        let arena = Arena::new();
        let settings = settings.copy_into(&arena);
        // What says how messages are read is no business of the generator.
        let rows = [SETTINGS, READING];
        let read = read::plain(&rows, settings, &arena);
        let mut read = read.map_err(|(name, reason)| SettingError::of(&name, reason))?;
        if let Some(template) = template {
            let given = Given::Formula(Arc::new(template));
            read.insert("template", Span::default(), given);
        }
        Self::of(kind, &read)
    }

    /// A spec of a kind, from settings that the rows have been held to.
    ///
    /// # Errors
    /// Says which setting is wrong, and what is expected.
    pub fn of(kind: &str, settings: &Settings) -> Result<Self, SettingError> {
        spec(kind, settings)
    }
}

fn replay(
    parts: &ReplayParts,
    random: Random,
    now: Timestamp,
) -> Result<Box<dyn Generator>, Error> {
    let ReplayParts { file, events, clockwork, rounds } = parts.clone();
    let open: super::replay::Open = match events {
        Some(events) => Box::new(move || Ok(Recording::Events(Arc::clone(&events), 0))),
        None => {
            std::fs::metadata(&file).map_err(|error| unreadable(&file, &error))?;
            Box::new(move || match std::fs::File::open(&file) {
                Ok(input) => Ok(Recording::Lines(Box::new(BufReader::new(input)), VecDeque::new())),
                Err(error) => Err(format!("{}: cannot be read: {error}", file.display())),
            })
        }
    };
    Ok(Box::new(Replay::new(open, clockwork, rounds, random, now)))
}

fn unreadable(file: &Path, error: &std::io::Error) -> Error {
    let name = file.display().to_string();
    Error::input(name, format!("cannot be read: {error}"), "give the path of a file")
}
