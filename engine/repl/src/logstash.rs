//! A Logstash configuration on the bench: its filters as steps, why conditions held or did not and how
//! far patterns got, and the filters that no sample reached. Inputs and outputs are left aside: samples
//! stand for the one, the answer for the other.

use super::patterns;
use super::pipeline::{Pipeline, SAMPLES_MAX};
use super::program::{Notation, Program, read_configuration};
use super::samples::{Sample, Samples};
use super::view::{branch_line, difference, one_line, paint};
use std::collections::BTreeSet;
use temblor_lang::builtin::Call;
use temblor_lang::span::{Sources, Span};
use temblor_lang::value::{Arena, Key, Owned, Value, to_json};
use temblor_logstash::configuration::{self, Wishes};
use temblor_logstash::load::Pipelines;
use temblor_logstash::operator::LogstashPipeline;
use temblor_logstash::syntax::tree::{Plugin, SectionKind, Value as Setting, ValueKind};
use temblor_logstash::trace::Passage;
use temblor_logstash_event::reference::FieldRef;
use temblor_pipeline::event::Event;
use temblor_pipeline::operator::Surroundings;

/// Filters whose patterns are explained, where these stand, and in which notation they are.
const WITH_PATTERNS: [(&str, &str, &str); 2] =
    [("grok", "match", "grok"), ("dissect", "mapping", "dissect")];

/// A configuration that is looked into.
struct Inside {
    operator: LogstashPipeline,
    /// For the trees of its plugins.
    read: Pipelines,
    wishes: Wishes,
}

impl Inside {
    fn of(program: &Program) -> Result<Option<Self>, String> {
        let Notation::Logstash(wishes) = &program.notation else { return Ok(None) };
        let read =
            || read_configuration(program, wishes).map_err(|error| format!("error: {error}"));
        let operator = configuration::first_pipeline(read()?, wishes);
        let operator = operator.ok_or("error: no pipeline of it takes events from outside")?;
        Ok(Some(Self { operator, read: read()?, wishes: wishes.clone() }))
    }

    fn plugins(&self) -> impl Iterator<Item = &Plugin> {
        let all = self.read.pipelines.iter();
        all.flat_map(|pipeline| pipeline.plugins(SectionKind::Filter))
    }

    fn passages(&self, pipeline: &Pipeline, sample: &Sample) -> Vec<Passage> {
        let arena = Arena::new();
        let facts = pipeline.setup.facts(pipeline.now_ns());
        let call = Call { arena: &arena, facts: &facts };
        let around = Surroundings { call, now_ns: facts.now_ns, token: None };
        let event = sample.event();
        let meta = arena.record_builder(0).finish();
        let event = Event::new(event.read(&arena), meta, facts.ingest_ns);
        self.operator.trace(event, &around)
    }

    /// `line 3  mutate { … }`; with the name of the file where there are several.
    fn title(&self, span: Span) -> String {
        let sources: &Sources = &self.read.sources;
        let line = sources.position(span).line;
        let several = self.read.pipelines.iter().map(|one| one.files.len()).sum::<usize>() > 1;
        let name = sources.get(span.source).filter(|_| several);
        let place = match name {
            Some(source) => format!("{}:{line}", source.name),
            None => format!("line {line}"),
        };
        format!("{place}  {}", one_line(sources.text(span)))
    }

    /// How far the patterns of a filter get in their texts.
    fn patterns(&self, span: Span, before: &Owned, pipeline: &Pipeline) -> String {
        let Some(plugin) = self.plugins().find(|plugin| plugin.span == span) else {
            return String::new();
        };
        let known = WITH_PATTERNS.iter().find(|(name, ..)| *name == plugin.name.text);
        let Some((_, option, notation)) = known else { return String::new() };
        let mut shown = String::new();
        for (field, pattern) in written(plugin, option) {
            let Some(text) = text_at(before, field) else {
                shown.push_str(&format!("  {field} is no text\n"));
                continue;
            };
            let pattern = self.wishes.settings.unescape(pattern);
            // Patterns of the user's own are not known here: they are left out.
            let Ok(one) = patterns::explain(notation, &pattern, &text, &pipeline.setup) else {
                continue;
            };
            shown.push_str(&format!("  {pattern}\n"));
            one.lines().for_each(|line| shown.push_str(&format!("    {line}\n")));
            if one.starts_with("matches") {
                break;
            }
        }
        shown
    }
}

impl Pipeline {
    /// What each filter changes in a sample, from a fresh start; `None` for what is no configuration.
    pub(super) fn show_filters(&self, sample: &Sample) -> Result<Option<String>, String> {
        self.tell_filters(sample, false)
    }

    /// As [`Pipeline::show_filters`], with the fields of conditions and how far patterns got.
    pub(super) fn why_filters(&self, sample: &Sample) -> Result<Option<String>, String> {
        self.tell_filters(sample, true)
    }

    fn tell_filters(&self, sample: &Sample, why: bool) -> Result<Option<String>, String> {
        let Some(inside) = Inside::of(&self.program)? else { return Ok(None) };
        let colour = self.setup.colour;
        let mut text = String::new();
        for passage in inside.passages(self, sample) {
            match passage {
                Passage::Filter { span, before, after } => {
                    let title = paint(colour, "1", &inside.title(span));
                    text.push_str(&format!("{title}\n"));
                    if why {
                        text.push_str(&inside.patterns(span, &before, self));
                    }
                    after.iter().for_each(|one| text.push_str(&difference(&before, one, colour)));
                    if after.is_empty() {
                        text.push_str(&paint(colour, "33", "dropped\n"));
                    }
                }
                Passage::Condition { span, fields, holds } => {
                    let holds = holds.map_or_else(|reason| reason, |holds| holds.to_string());
                    text.push_str(&format!("{}: {holds}\n", inside.title(span)));
                    for (field, value) in fields.iter().filter(|_| why) {
                        text.push_str(&format!("  {}\n", field_line(field, value.as_ref())));
                    }
                }
            }
        }
        if text.is_empty() {
            text.push_str("no filter is on the way of this event\n");
        }
        Ok(Some(text))
    }

    /// The filters that no sample reached; `None` for what is no configuration.
    pub(super) fn idle_filters(&self, samples: &mut Samples) -> Result<Option<String>, String> {
        let Some(inside) = Inside::of(&self.program)? else { return Ok(None) };
        let mut reached = BTreeSet::new();
        for index in 0..SAMPLES_MAX {
            self.setup.check()?;
            let Some(sample) = samples.read(index)? else { break };
            for passage in inside.passages(self, &sample) {
                if let Passage::Filter { span, .. } = passage {
                    reached.insert((span.source, span.start));
                }
            }
        }
        let all = inside.plugins().count();
        let missed: Vec<_> = inside
            .plugins()
            .filter(|plugin| !reached.contains(&(plugin.span.source, plugin.span.start)))
            .map(|plugin| format!("not reached: {}", inside.title(plugin.span)))
            .collect();
        let mut text = format!("{} of {all} filters reached\n", all - missed.len());
        for line in &missed {
            text.push_str(&format!("{}\n", branch_line(line, self.setup.colour)));
        }
        Ok(Some(text))
    }
}

/// The patterns of an option, each with its field: `{ "message" => "…" }`, `["message", "…"]`.
fn written<'t>(plugin: &'t Plugin, option: &str) -> Vec<(&'t str, &'t str)> {
    let options = plugin.options.iter().filter(|(name, _)| name.text == option);
    let mut found = Vec::new();
    for (_, setting) in options {
        match &setting.kind {
            ValueKind::Hash(entries) => {
                for (field, patterns) in entries {
                    found.extend(texts(patterns).into_iter().map(|one| (&*field.text, one)));
                }
            }
            ValueKind::Array(_) => {
                let pairs = texts(setting);
                found.extend(pairs.chunks_exact(2).map(|pair| (pair[0], pair[1])));
            }
            _ => {}
        }
    }
    found
}

fn texts(setting: &Setting) -> Vec<&str> {
    match &setting.kind {
        ValueKind::Text(text) | ValueKind::Bare(text) => vec![text],
        ValueKind::Array(items) => items.iter().flat_map(texts).collect(),
        _ => Vec::new(),
    }
}

/// The text of a field of an event as it was shown.
fn text_at(event: &Owned, field: &str) -> Option<String> {
    let arena = Arena::new();
    let reference = FieldRef::parse(field).ok()?;
    let mut value = event.read(&arena);
    if reference.metadata {
        value = value.get(&Key::new("@metadata"))?;
    }
    for step in &reference.steps {
        value = value.get(&Key::new(step))?;
    }
    value.as_str().map(str::to_string)
}

fn field_line(field: &str, value: Option<&Owned>) -> String {
    match value {
        None => format!("{field} is missing"),
        Some(value) => {
            let arena = Arena::new();
            let value: Value<'_> = value.read(&arena);
            format!("{field} = {}", to_json(value))
        }
    }
}
