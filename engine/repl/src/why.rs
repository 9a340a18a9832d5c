//! Why a sample went the way it went through a chain: conditions with the values of their operands,
//! and how far the patterns of `parse` got, step by step until it is out, dropped or failed.

use super::evaluate::Evaluator;
use super::explain::Explainer;
use super::patterns;
use super::pipeline::Pipeline;
use super::samples::Sample;
use super::view::{difference, paint};
use temblor_lang::span::Sources;
use temblor_lang::syntax::parse_program;
use temblor_lang::syntax::tree::{Expr, ExprKind, Ident, Statement, StepKind};
use temblor_lang::value::{Arena, Key, Owned, to_json};
use temblor_pipeline::graph::Visit;
use temblor_pipeline::load::Directories;
use temblor_pipeline::rehearsal::Happening;

/// The field that `parse` reads of a record.
const MESSAGE: &str = "message";

impl Pipeline {
    /// Explains what each step of the chain made of a sample.
    pub(crate) fn why(&self, sample: &Sample) -> Result<String, String> {
        if let Some(text) = self.why_filters(sample)? {
            return Ok(text);
        }
        if self.steps.count() == 0 {
            return self.show_steps(sample);
        }
        let mut sources = Sources::default();
        let source = sources.add("<entry>", self.program.text.as_str());
        let tree = parse_program(&sources, source).tree;
        let chain = tree.query.statements.iter().find_map(|statement| match statement {
            Statement::Chain(chain) => Some(chain),
            _ => None,
        });
        let chain = chain.ok_or("error: there is no chain to explain")?;
        let mut part = self.fresh()?;
        let (happenings, visits) = part.follow(sample);
        let mut text = String::new();
        let mut last = 0;
        for visit in visits.iter().filter(|visit| visit.works) {
            let (number, title) = self.step_of(visit);
            if number != last {
                text.push_str(&format!("{}\n", paint(self.setup.colour, "1", &title)));
                if let Some(step) = chain.steps.get(number.wrapping_sub(1)) {
                    text.push_str(&self.reasons(&step.kind, &sources, &visit.before)?);
                }
            }
            last = number;
            let name = &self.rehearsal.graph().nodes()[visit.node].name;
            for after in &visit.after {
                let changes = difference(&visit.before, after, self.setup.colour);
                changes.lines().for_each(|line| text.push_str(&format!("  {line}\n")));
            }
            for happening in &happenings {
                let end = match happening {
                    Happening::Failed { node, error, .. } if node == name => {
                        format!("failed: {}", error.message())
                    }
                    Happening::Dropped { node, .. } if node == name => "dropped".to_string(),
                    _ => continue,
                };
                text.push_str(&format!("  {}\n", paint(self.setup.colour, "31", &end)));
            }
        }
        if visits.is_empty() {
            let (_, _, label) = self.outcome(&happenings);
            text.push_str(&format!("{label}\n"));
        }
        Ok(text)
    }

    fn reasons(
        &self,
        step: &StepKind,
        sources: &Sources,
        before: &Owned,
    ) -> Result<String, String> {
        match step {
            StepKind::Operator { name, positional, .. } if name.text() == "where" => {
                positional.iter().map(|one| self.operands(one, sources, before)).collect()
            }
            StepKind::Route { arms, .. } => arms
                .iter()
                .map(|(condition, _)| self.operands(condition, sources, before))
                .collect(),
            StepKind::When { arms, .. } => arms
                .iter()
                .map(|(condition, _)| self.operands(condition, sources, before))
                .collect(),
            StepKind::Match(matching) => self.operands(&matching.target, sources, before),
            StepKind::Operator { name, positional, clauses, .. } if name.text() == "parse" => {
                self.parse_reasons(positional, clauses, sources, before)
            }
            _ => Ok(String::new()),
        }
    }

    /// An expression with its operands, each with its value.
    fn operands(&self, expr: &Expr, sources: &Sources, before: &Owned) -> Result<String, String> {
        let sample = as_sample(before);
        let (directories, kept) = (Directories::new(&self.setup.path, None), self.definitions());
        let mut evaluator = Evaluator::new(&directories, &kept, &self.setup);
        let items =
            evaluator.parse(sources.text(expr.span)).map_err(|unreadable| unreadable.text)?;
        let Some(temblor_lang::syntax::tree::Item::Expr(expr)) = items.last() else {
            return Ok(String::new());
        };
        let (evaluator, sample, setup) = (&mut evaluator, &sample, &self.setup);
        let explained = Explainer { evaluator, sample, now_ns: 0, setup }.explain(expr)?;
        Ok(explained.lines().map(|line| format!("  {line}\n")).collect())
    }

    fn definitions(&self) -> Vec<String> {
        let prelude = self.program.prelude.trim();
        if prelude.is_empty() { Vec::new() } else { vec![prelude.to_string()] }
    }

    fn parse_reasons(
        &self,
        positional: &[Expr],
        clauses: &[(Ident, Option<Expr>)],
        sources: &Sources,
        before: &Owned,
    ) -> Result<String, String> {
        let Some(format) = positional.first() else { return Ok(String::new()) };
        let format = sources.text(format.span).trim();
        let text = self.text_of(from(clauses, sources), before);
        let Some(text) = text.filter(|_| patterns::NOTATIONS.contains(&format)) else {
            return Ok(String::new());
        };
        let mut shown = String::new();
        for pattern in written(positional) {
            let one = patterns::explain(format, pattern, &text, &self.setup)?;
            one.lines().for_each(|line| shown.push_str(&format!("  {line}\n")));
            if one.starts_with("matches") {
                break;
            }
        }
        Ok(shown)
    }

    /// The lists of patterns of the steps `parse`.
    pub(super) fn patterns(&self) -> Vec<PatternList> {
        let mut sources = Sources::default();
        let source = sources.add("<entry>", self.program.text.as_str());
        let tree = parse_program(&sources, source).tree;
        let steps = tree.query.statements.iter().flat_map(|statement| match statement {
            Statement::Chain(chain) => chain.steps.as_slice(),
            _ => &[],
        });
        let mut lists = Vec::new();
        for (at, step) in steps.enumerate() {
            let StepKind::Operator { name, positional, clauses, .. } = &step.kind else { continue };
            let patterns = written(positional);
            if name.text() != "parse" || patterns.len() < 2 {
                continue;
            }
            let notation = sources.text(positional[0].span).trim().to_string();
            let from = from(clauses, &sources).map(str::to_string);
            let patterns = patterns.into_iter().map(|one| (one.to_string(), false)).collect();
            lists.push(PatternList { step: at + 1, notation, from, patterns });
        }
        lists
    }

    /// The key of an event at a step with `by EXPR`; without `by` the event itself.
    pub(super) fn key_at(&self, visit: &Visit) -> Option<Owned> {
        let node = &self.rehearsal.graph().nodes()[visit.node];
        let text = self.rehearsal.sources().text(node.span?);
        let by = match text.split_once(" by ") {
            Some((_, rest)) => rest,
            None => return Some(visit.before.clone()),
        };
        // The expression ends where a word of the step follows: the longest that can be read counts.
        let ends = std::iter::once(by.len()).chain(by.rmatch_indices(' ').map(|(at, _)| at));
        ends.into_iter().find_map(|end| self.value_of(&by[..end], &visit.before))
    }

    fn value_of(&self, source: &str, before: &Owned) -> Option<Owned> {
        let (directories, kept) = (Directories::new(&self.setup.path, None), self.definitions());
        let mut evaluator = Evaluator::new(&directories, &kept, &self.setup);
        let items = evaluator.parse(source).ok()?;
        evaluator.run(items, &as_sample(before), 0).ok()?.value.ok()
    }

    /// The text that `parse` reads: the value of its `from`, or what it takes without.
    fn text_of(&self, from: Option<&str>, before: &Owned) -> Option<String> {
        let Some(source) = from else { return message(before) };
        let value = self.value_of(source, before)?;
        value.read(&Arena::new()).as_str().map(str::to_string)
    }
}

/// The patterns of a step `parse`, and which of them some text matched.
pub(crate) struct PatternList {
    /// Number of the step.
    pub step: usize,
    notation: String,
    /// The expression that gives the text.
    from: Option<String>,
    patterns: Vec<(String, bool)>,
}

impl PatternList {
    /// Notes the first pattern that matches the text of an event.
    pub(crate) fn try_on(&mut self, pipeline: &Pipeline, event: &Owned) {
        let Some(text) = pipeline.text_of(self.from.as_deref(), event) else { return };
        let fits = |pattern: &str| patterns::matches(&self.notation, pattern, &text);
        if let Some((_, hit)) = self.patterns.iter_mut().find(|(pattern, _)| fits(pattern)) {
            *hit = true;
        }
    }

    /// The patterns that matched no text first.
    pub(crate) fn idle(&self) -> impl Iterator<Item = &str> {
        self.patterns.iter().filter(|(_, hit)| !hit).map(|(pattern, _)| pattern.as_str())
    }
}

fn from<'t>(clauses: &[(Ident, Option<Expr>)], sources: &'t Sources) -> Option<&'t str> {
    let (_, value) = clauses.iter().find(|(word, _)| word.text == "from")?;
    Some(sources.text(value.as_ref()?.span))
}

/// The patterns of a step as texts: one, or those of an array.
fn written(positional: &[Expr]) -> Vec<&str> {
    match positional.get(1).map(|one| &one.kind) {
        Some(ExprKind::List(items)) => items.iter().filter_map(constant).collect(),
        Some(_) => positional.get(1).and_then(constant).into_iter().collect(),
        None => Vec::new(),
    }
}

fn constant(expr: &Expr) -> Option<&str> {
    match &expr.kind {
        ExprKind::String(text) => text.constant(),
        _ => None,
    }
}

fn as_sample(event: &Owned) -> Sample {
    let line = Some(to_json(event.read(&Arena::new())));
    Sample { line, is_json: true, ..Sample::default() }
}

/// The text that `parse` reads by itself.
fn message(event: &Owned) -> Option<String> {
    let arena = Arena::new();
    let value = event.read(&arena);
    let text = value.as_str().or_else(|| value.get(&Key::new(MESSAGE))?.as_str());
    text.map(str::to_string)
}
