//! Grok for `parse`: the captures of a match as a record in the shape that the field names ask for.
//! The shape is worked out once, when the pattern is compiled.

use super::format::{Problem, Scratch};
use temblor_declare::Settings;
use temblor_lang::value::{Arena, OwnedKey, Value};
use temblor_stdlib::grok::{Anchor, Captures, Conversion, Grok, Library, Options, Prefilter};

/// From so many patterns on, one search for their literals decides which are tried.
const PREFILTERED_MIN: usize = 4;
/// Patterns of many that are asked why they do not match.
const EXPLAINED_MAX: usize = 8;

/// Patterns of which the first that matches counts.
#[derive(Debug)]
pub(super) struct Groks {
    list: Vec<GrokPattern>,
    prefilter: Option<Prefilter>,
}

impl Groks {
    pub(super) fn new(list: Vec<GrokPattern>) -> Self {
        let prefilter = (list.len() >= PREFILTERED_MIN).then(|| {
            let literals = list.iter().map(|pattern| pattern.grok.required_literals());
            Prefilter::new(&literals.collect::<Vec<_>>())
        });
        Self { list, prefilter }
    }

    /// Literals that every text has that a single pattern matches.
    pub(super) fn required_literals(&self) -> Vec<String> {
        match self.list.as_slice() {
            [only] => only.grok.required_literals(),
            _ => Vec::new(),
        }
    }

    /// The captures of the first pattern that matches, and its number.
    pub(super) fn read<'a>(
        &'a self,
        text: &'a str,
        scratch: &mut Scratch,
        arena: &'a Arena,
    ) -> Result<(Value<'a>, usize), Problem> {
        let Scratch { captures, hits } = scratch;
        let mut try_one = |number: usize| {
            self.list[number].read(text, captures, arena).map(|value| (value, number))
        };
        let found = match &self.prefilter {
            None => (0..self.list.len()).find_map(try_one),
            Some(filter) => {
                let candidates = filter.candidates(text, hits);
                candidates.iter().find_map(|number| try_one(*number as usize))
            }
        };
        found.ok_or_else(|| self.explain(text, scratch))
    }

    /// Why none of the patterns matches; of many, those are asked that came into question.
    #[cold]
    fn explain(&self, text: &str, scratch: &mut Scratch) -> Problem {
        let Scratch { captures, hits } = scratch;
        let asked: Vec<&GrokPattern> = match &self.prefilter {
            Some(filter) if self.list.len() > EXPLAINED_MAX => {
                let candidates = filter.candidates(text, hits).iter().take(EXPLAINED_MAX);
                candidates.map(|number| &self.list[*number as usize]).collect()
            }
            _ => self.list.iter().collect(),
        };
        if asked.is_empty() {
            let count = self.list.len();
            return Problem::new(format!(
                "none of the {count} patterns has its literals in the text"
            ));
        }
        GrokPattern::explain(&asked, text, captures)
    }
}

/// A compiled pattern and the shape of its result.
#[derive(Debug)]
pub(super) struct GrokPattern {
    grok: Grok,
    fields: Vec<(OwnedKey, Shape)>,
    keep_empty: bool,
}

/// What becomes of a name.
#[derive(Debug)]
enum Shape {
    /// Numbers of the groups that capture it, with what they are converted to.
    Captured(Vec<(usize, Conversion)>),
    /// `[name][inner]`
    Record(Vec<(OwnedKey, Shape)>),
}

impl GrokPattern {
    pub(super) fn compile(text: &str, settings: &Settings) -> Result<Self, String> {
        let anchor = match settings.optional_text("anchor") {
            Some("start") => Anchor::Start,
            Some("whole") => Anchor::Whole,
            _ => Anchor::Search,
        };
        let options = Options { anchor, ..Options::default() };
        let grok = Grok::compile(text, &library(settings), &options);
        let grok = grok.map_err(|error| error.to_string())?;
        let mut fields = Vec::new();
        for field in grok.fields() {
            place(&mut fields, &field.path(), (field.group, field.conversion))
                .map_err(|()| format!("`{}` is both a value and a record", field.name))?;
        }
        Ok(Self { grok, fields, keep_empty: settings.flag("keep_empty") })
    }

    /// The captures as a record, if the pattern matches.
    pub(super) fn read<'a>(
        &'a self,
        text: &'a str,
        captures: &mut Captures,
        arena: &'a Arena,
    ) -> Option<Value<'a>> {
        if !self.grok.matches(text, captures) {
            return None;
        }
        Some(
            self.record(&self.fields, text, captures, arena)
                .unwrap_or_else(|| arena.record_builder(0).finish()),
        )
    }

    /// `None` when no field captured anything.
    fn record<'a>(
        &'a self,
        fields: &'a [(OwnedKey, Shape)],
        text: &'a str,
        captures: &Captures,
        arena: &'a Arena,
    ) -> Option<Value<'a>> {
        let mut record = arena.record_builder(fields.len());
        for (name, shape) in fields {
            let value = match shape {
                Shape::Captured(groups) => self.captured(groups, text, captures, arena),
                Shape::Record(inner) => self.record(inner, text, captures, arena),
            };
            if let Some(value) = value {
                record.append_key(&name.key(), value);
            }
        }
        (!record.is_empty()).then(|| record.finish())
    }

    /// What was captured: one value as it is, several as an array.
    fn captured<'a>(
        &'a self,
        groups: &'a [(usize, Conversion)],
        text: &'a str,
        captures: &Captures,
        arena: &'a Arena,
    ) -> Option<Value<'a>> {
        let value = |(group, conversion): &(usize, Conversion)| {
            let found = captures.get(*group, text)?;
            (self.keep_empty || !found.is_empty()).then(|| convert(found, *conversion))
        };
        if let [only] = groups {
            return value(only);
        }
        let mut values = groups.iter().filter_map(value);
        let first = values.next()?;
        let Some(second) = values.next() else { return Some(first) };
        let mut list = arena.array_builder(groups.len());
        list.push(first);
        list.push(second);
        values.for_each(|value| list.push(value));
        Some(list.finish())
    }

    /// Why none of the patterns matches: how far the best of them got.
    #[cold]
    fn explain(patterns: &[&Self], text: &str, captures: &mut Captures) -> Problem {
        if captures.exhausted() {
            return Problem::new("the pattern takes too many steps on this text");
        }
        let explanations = patterns.iter().map(|pattern| pattern.grok.explain(text, captures));
        let best = explanations.max_by_key(|explanation| explanation.matched_prefix_end);
        let best = best.expect("there is at least one pattern");
        let token = &best.stopped_at_token;
        let at = best.matched_prefix_end;
        let reason = match token.is_empty() {
            true => format!("the pattern does not match; it got as far as byte {at}"),
            false => format!("the pattern does not match: expected `{token}` at byte {at}"),
        };
        Problem::new(reason).at(at)
    }
}

fn library(settings: &Settings) -> Library {
    let shipped = match settings.optional_text("library") {
        Some("ecs") => Library::ecs(),
        _ => Library::legacy(),
    };
    let own = settings.map("patterns").iter();
    let own = own.map(|(name, pattern)| (name.as_str(), pattern.as_str())).collect::<Vec<_>>();
    if own.is_empty() { shipped } else { shipped.with_definitions(own) }
}

/// Finds or makes the place of a name. Fails when it would be both a value and a record.
fn place(
    fields: &mut Vec<(OwnedKey, Shape)>,
    path: &[&str],
    group: (usize, Conversion),
) -> Result<(), ()> {
    let Some((name, rest)) = path.split_first() else { return Err(()) };
    let at = match fields.iter().position(|(other, _)| other.key().text() == *name) {
        Some(at) => at,
        None => {
            let shape = match rest.is_empty() {
                true => Shape::Captured(Vec::new()),
                false => Shape::Record(Vec::new()),
            };
            fields.push((OwnedKey::new(name), shape));
            fields.len() - 1
        }
    };
    match (&mut fields[at].1, rest.is_empty()) {
        (Shape::Captured(groups), true) => {
            groups.push(group);
            Ok(())
        }
        (Shape::Record(inner), false) => place(inner, rest, group),
        _ => Err(()),
    }
}

/// A captured text as the wanted type; what is not of that type stays text.
fn convert(text: &str, conversion: Conversion) -> Value<'_> {
    /// Floats from here on are no longer exact integers.
    const EXACT_MAX: f64 = 9_007_199_254_740_992.0;
    let float = || text.parse::<f64>().ok().filter(|number| number.is_finite());
    match conversion {
        Conversion::Text | Conversion::String | Conversion::Unknown => Value::Str(text),
        Conversion::Integer => match (text.parse::<i64>(), text.parse::<u64>()) {
            (Ok(number), _) => Value::Int(number),
            (_, Ok(number)) => Value::UInt(number),
            _ => match float().filter(|number| number.abs() < EXACT_MAX) {
                Some(number) => Value::Int(number as i64),
                None => Value::Str(text),
            },
        },
        Conversion::Float => float().map_or(Value::Str(text), Value::Float),
        Conversion::Boolean => match text {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            _ => Value::Str(text),
        },
    }
}
