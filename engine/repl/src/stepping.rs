//! A pipeline step by step: the event behind each step, the kinds of its fields, and how long each step takes.
//!
//! Invariant: whatever is shown starts from a fresh pipeline; the one under test remembers nothing of it.

use super::pipeline::{Pipeline, SAMPLES_MAX};
use super::samples::{Sample, Samples};
use super::view::{Mode, difference, paint};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use temblor_lang::value::{Arena, Owned, Value};
use temblor_pipeline::graph::Visit;
use temblor_pipeline::rehearsal::Happening;

/// Fields nested deeper are shown as records.
const KIND_DEPTH_MAX: usize = 3;
/// How often all samples are timed, at the most, and for how long.
const ROUNDS_MAX: u32 = 100;
const TIMED: Duration = Duration::from_millis(200);

impl Pipeline {
    /// Number and title of the step that a visit belongs to: in a chain the step, else the node.
    pub(super) fn step_of(&self, visit: &Visit) -> (usize, String) {
        let node = &self.rehearsal.graph().nodes()[visit.node];
        match node.span.and_then(|span| self.steps.number_of(span)) {
            Some(number) => (number, self.steps.title(number)),
            None => (usize::MAX, self.title(&node.name)),
        }
    }

    /// What each step changes in a sample, from a fresh start.
    pub(crate) fn show_steps(&self, sample: &Sample) -> Result<String, String> {
        if let Some(text) = self.show_filters(sample)? {
            return Ok(text);
        }
        let mut part = self.fresh()?;
        let (happenings, visits) = part.follow(sample);
        let mut text = String::new();
        let mut shown = 0;
        for visit in visits.iter().filter(|visit| visit.works) {
            let (number, title) = self.step_of(visit);
            text.push_str(&self.off_between(shown, number));
            if number <= self.steps.count() {
                shown = number;
            }
            text.push_str(&format!("{}\n", paint(self.setup.colour, "1", &title)));
            text.push_str(&self.show_visit(visit, &happenings));
        }
        if shown == 0 || visits.last().is_some_and(|visit| !visit.works) {
            text.push_str(&self.off_between(shown, usize::MAX));
        }
        let undecodable = |one: &&Happening| matches!(one, Happening::Undecodable(_));
        if let Some(broken) = happenings.iter().find(undecodable) {
            return Ok(part.tell(std::slice::from_ref(broken), &Owned::Null, Mode::Json));
        }
        let late = part.flush();
        if !late.is_empty() {
            text.push_str("at the end of the input\n");
            text.push_str(&part.tell(&late, &sample.event(), Mode::Json));
        }
        Ok(text)
    }

    /// The titles of the steps that are off behind one step and in front of another.
    fn off_between(&self, from: usize, to: usize) -> String {
        let between = self.steps.off().filter(|number| (from + 1..to).contains(number));
        between.map(|number| format!("{}\n", self.steps.title(number))).collect()
    }

    fn show_visit(&self, visit: &Visit, happenings: &[Happening]) -> String {
        let name = &self.rehearsal.graph().nodes()[visit.node].name;
        let here = |one: &&Happening| match one {
            Happening::Failed { node, .. } | Happening::Dropped { node, .. } => node == name,
            _ => false,
        };
        let mut text = String::new();
        for after in &visit.after {
            text.push_str(&difference(&visit.before, after, self.setup.colour));
        }
        for happening in happenings.iter().filter(here) {
            text.push_str(&self.tell(std::slice::from_ref(happening), &visit.before, Mode::Json));
        }
        if text.is_empty() { "kept for later\n".to_string() } else { text }
    }

    /// The kinds of the fields behind each step, over the samples.
    pub(crate) fn show_kinds(&self, samples: &mut Samples) -> Result<String, String> {
        let mut part = self.fresh()?;
        let mut steps: BTreeMap<(usize, usize), (String, Kinds)> = BTreeMap::new();
        let mut first = Kinds::default();
        for index in 0..SAMPLES_MAX {
            self.setup.check()?;
            let Some(sample) = samples.read(index)? else { break };
            if sample.problem.is_some() {
                continue;
            }
            first.add(&sample.event());
            let (_, visits) = part.follow(&sample);
            for visit in visits.iter().filter(|visit| visit.works) {
                let (number, title) = self.step_of(visit);
                let entry = steps.entry((number, visit.node));
                let (_, kinds) = entry.or_insert_with(|| (title, Kinds::default()));
                visit.after.iter().for_each(|after| kinds.add(after));
            }
        }
        let mut text = format!("samples\n{}", first.show());
        for (title, kinds) in steps.values() {
            text.push_str(&format!("{}\n{}", paint(self.setup.colour, "1", title), kinds.show()));
        }
        Ok(text)
    }

    /// How long each step takes for an event, over the samples.
    pub(crate) fn show_times(&self, samples: &mut Samples) -> Result<String, String> {
        let mut steps: BTreeMap<(usize, usize), (String, Duration, u32)> = BTreeMap::new();
        let mut whole = Duration::ZERO;
        for _ in 0..ROUNDS_MAX {
            let mut part = self.fresh()?;
            for index in 0..SAMPLES_MAX {
                self.setup.check()?;
                let Some(sample) = samples.read(index)? else { break };
                for visit in part.follow(&sample).1.iter().filter(|visit| visit.works) {
                    let (number, title) = self.step_of(visit);
                    let entry = steps.entry((number, visit.node));
                    let (_, took, times) = entry.or_insert_with(|| (title, Duration::ZERO, 0));
                    (*took, *times) = (*took + visit.took, *times + 1);
                    whole += visit.took;
                }
            }
            if whole > TIMED {
                break;
            }
        }
        if steps.is_empty() {
            return Err("error: there are no samples to time it with".to_string());
        }
        let mut text = String::new();
        for (title, took, times) in steps.values() {
            let each = took.as_nanos() / u128::from((*times).max(1));
            let share = took.as_nanos() * 100 / whole.as_nanos().max(1);
            text.push_str(&format!("{each:>9} ns {share:>3} %  {title}\n"));
        }
        Ok(text)
    }
}

/// Which kinds the fields of events have.
#[derive(Debug, Default)]
struct Kinds {
    events: usize,
    fields: BTreeMap<String, (BTreeSet<&'static str>, usize)>,
}

impl Kinds {
    fn add(&mut self, event: &Owned) {
        self.events += 1;
        let arena = Arena::new();
        self.walk("event", event.read(&arena), &arena, 0);
    }

    fn walk<'a>(&mut self, path: &str, value: Value<'a>, arena: &'a Arena, depth: usize) {
        if let Some(record) = value.as_record(arena).filter(|_| depth < KIND_DEPTH_MAX) {
            for (key, field) in record.iter() {
                self.walk(&format!("{path}.{key}"), field, arena, depth + 1);
            }
            if !record.is_empty() {
                return;
            }
        }
        let (kinds, count) = self.fields.entry(path.to_string()).or_default();
        kinds.insert(value.kind().name());
        *count += 1;
    }

    fn show(&self) -> String {
        if self.events == 0 {
            return "  no event gets here\n".to_string();
        }
        let mut text = String::new();
        for (path, (kinds, count)) in &self.fields {
            let kinds = kinds.iter().copied().collect::<Vec<_>>().join(" or ");
            let missing = match self.events.saturating_sub(*count) {
                0 => String::new(),
                missing => format!(", missing in {missing} of {}", self.events),
            };
            text.push_str(&format!("  {path}: {kinds}{missing}\n"));
        }
        text
    }
}
