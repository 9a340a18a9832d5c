//! The steps of a chain: their texts, which of them are off, the event behind each, its kinds, and
//! how long each takes. Steps are numbered as they stand in the text, also while some are off.

use super::pipeline::{Notation, Pipeline, Program, SAMPLES_MAX};
use super::samples::{Sample, Samples};
use super::view::{Mode, difference, paint};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::time::Duration;
use temblor_lang::span::{Sources, Span};
use temblor_lang::syntax::parse_program;
use temblor_lang::syntax::tree::Statement;
use temblor_lang::value::{Arena, Owned, Value};
use temblor_pipeline::graph::Visit;
use temblor_pipeline::load::Language;
use temblor_pipeline::rehearsal::Happening;

/// Characters of a step's text that are shown.
const TITLE_CHARS_MAX: usize = 60;
/// Fields nested deeper are shown as records.
const KIND_DEPTH_MAX: usize = 3;
/// How often all samples are timed, at the most, and for how long.
const ROUNDS_MAX: u32 = 100;
const TIMED: Duration = Duration::from_millis(200);

/// The steps of a program of one chain; none for other programs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Steps {
    /// Places in the text as entered.
    places: Vec<Range<usize>>,
    titles: Vec<String>,
    /// Whether the chain begins with a name in front of its first step.
    has_start: bool,
    /// Numbers, from 1.
    off: BTreeSet<usize>,
    /// Bytes of definitions in front of the text.
    shift: usize,
}

impl Steps {
    pub(crate) fn of(program: &Program) -> Self {
        if !matches!(program.notation, Notation::Of(Language::Temblor)) {
            return Self::default();
        }
        let mut sources = Sources::default();
        let source = sources.add("<entry>", program.text.as_str());
        let tree = parse_program(&sources, source).tree;
        let mut chains = tree.query.statements.iter().filter_map(|statement| match statement {
            Statement::Chain(chain) => Some(chain),
            _ => None,
        });
        let (Some(chain), None) = (chains.next(), chains.next()) else { return Self::default() };
        let places = chain.steps.iter().map(|step| {
            let text = sources.text(step.span);
            let start = step.span.start as usize;
            start..start + text.trim_end().len()
        });
        let titles = chain.steps.iter().map(|step| one_line(sources.text(step.span)));
        Self {
            places: places.collect(),
            titles: titles.collect(),
            has_start: chain.from.is_some(),
            off: BTreeSet::new(),
            shift: program.prelude.len(),
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.titles.len()
    }

    /// Puts a step on or off.
    pub(crate) fn switch(&mut self, number: usize, on: bool) -> Result<(), String> {
        if number == 0 || number > self.count() {
            return Err(match self.count() {
                0 => "error: only the steps of a single chain can be switched".to_string(),
                count => format!("error: there is no step {number}; the steps are 1 to {count}"),
            });
        }
        if on {
            self.off.remove(&number);
        } else if self.off.len() + 1 == self.count() && !self.off.contains(&number) {
            return Err("error: one step has to stay on".to_string());
        } else {
            self.off.insert(number);
        }
        Ok(())
    }

    /// The text with blanks in the place of the steps that are off: all else stays where it was.
    pub(crate) fn text_without_off(&self, text: &str) -> String {
        let mut text = text.to_string();
        let mut stands = self.has_start;
        for (at, place) in self.places.iter().enumerate() {
            if !self.off.contains(&(at + 1)) {
                stands = true;
                continue;
            }
            let next = self.places.get(at + 1).map(|next| next.start);
            let blank = match (stands, at) {
                (true, 1..) => self.places[at - 1].end..place.end,
                (true, _) => self.arrow_before(&text, place.start)..place.end,
                (false, _) => place.start..next.unwrap_or(place.end),
            };
            let spaces: String = text[blank.clone()]
                .chars()
                .flat_map(|one| match one {
                    '\n' => vec!['\n'],
                    one => vec![' '; one.len_utf8()],
                })
                .collect();
            text.replace_range(blank, &spaces);
        }
        text
    }

    fn arrow_before(&self, text: &str, end: usize) -> usize {
        text[..end].rfind("|>").unwrap_or(end)
    }

    pub(crate) fn number_of(&self, span: Span) -> Option<usize> {
        let at = (span.start as usize).checked_sub(self.shift)?;
        self.places.iter().position(|place| place.contains(&at)).map(|at| at + 1)
    }

    pub(crate) fn title(&self, number: usize) -> String {
        let off = if self.off.contains(&number) { " (off)" } else { "" };
        format!("{number}. {}{off}", self.titles[number - 1])
    }

    /// Number and text of the step that a place in the program belongs to.
    pub(crate) fn title_of(&self, span: Span) -> Option<String> {
        self.number_of(span).map(|number| self.title(number))
    }
}

/// A text in one line, not too long.
pub(crate) fn one_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(TITLE_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

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
        let between = self.steps.off.iter().filter(|number| (from + 1..to).contains(*number));
        between.map(|number| format!("{}\n", self.steps.title(*number))).collect()
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
