//! Drives one operator by hand: settings and events as text, results as text. Time is an argument.

use super::Supplies;
use crate::event::Event;
use crate::operator::{AnyOperator, Emitter, Surroundings, Usage};
use crate::registry::Registry;
use std::any::Any;
use temblor_declare::read::Reader;
use temblor_declare::{InChain, Setting, Settings, Takes};
use temblor_lang::builtin::{Call, Facts};
use temblor_lang::diagnostic::Diagnostic;
use temblor_lang::lower::{Compiler, NoModules, Rules, Scope};
use temblor_lang::program::Formula;
use temblor_lang::span::{SourceId, Sources, Span};
use temblor_lang::syntax::{parse_script, tree};
use temblor_lang::value::{Arena, Value, to_json};
use temblor_stdlib::formats::json;

/// Nanoseconds of a second.
pub(super) const SECOND: u64 = 1_000_000_000;

/// An operator with its state.
pub(super) struct Harness {
    operator: Box<dyn AnyOperator>,
    state: Box<dyn Any + Send>,
    seed: u64,
}

/// Compiles an expression.
pub(super) fn formula(text: &str) -> Formula {
    let registry = temblor_stdlib::registry();
    let mut compiler = Compiler::new(registry, &NoModules);
    let source = compiler.sources.add("setting", text);
    let parsed = parse_script(&compiler.sources, source);
    assert!(parsed.diagnostics.is_empty(), "{text}: {:?}", parsed.diagnostics);
    let Some(tree::Item::Expr(expr)) = parsed.tree.items.last() else {
        panic!("{text} is no expression")
    };
    let formula = compiler.lower_formula(expr, &Scope::default(), Rules::FORMULA, None);
    assert!(compiler.diagnostics.is_empty(), "{text}: {:?}", compiler.diagnostics);
    formula
}

/// Compiles the target of a select over a window that groups by `group`.
pub(super) fn formula_over(text: &str) -> Formula {
    let registry = temblor_stdlib::registry();
    let mut compiler = Compiler::new(registry, &NoModules);
    let source = compiler.sources.add("target", text);
    let parsed = parse_script(&compiler.sources, source);
    let Some(tree::Item::Expr(expr)) = parsed.tree.items.last() else {
        panic!("{text} is no expression")
    };
    let scope = Scope::with_prelude();
    let formula = compiler.lower_grouped(expr, &scope, None, &[]);
    assert!(compiler.diagnostics.is_empty(), "{text}: {:?}", compiler.diagnostics);
    formula
}

/// An expression as it is written, but for words and places, which are written without quotes.
fn binding(rows: &'static [Setting], name: &str, text: &str) -> tree::Binding {
    let row = rows.iter().find(|row| row.name == name);
    let text = match row.map(|row| row.takes) {
        Some(Takes::Word(_) | Takes::Place) => format!("\"{text}\""),
        _ => text.to_string(),
    };
    let mut sources = Sources::default();
    let source = sources.add("setting", text);
    let parsed = parse_script(&sources, source);
    let Some(tree::Item::Expr(value)) = parsed.tree.items.into_iter().last() else {
        panic!("{name} is no expression")
    };
    let span = Span::default();
    tree::Binding { name: tree::Ident { text: name.to_string(), span }, value }
}

/// Builds an operator from settings written as expressions (words and places as they are).
pub(super) fn build(
    name: &str,
    settings: &[(&str, &str)],
) -> Result<Box<dyn AnyOperator>, Diagnostic> {
    let kind = Registry::of_this_crate()
        .operator(name)
        .unwrap_or_else(|| panic!("no operator is named {name}"));
    let with: Vec<_> =
        settings.iter().map(|(name, text)| binding(kind.settings, name, text)).collect();
    let mut compiler = Compiler::new(temblor_stdlib::registry(), &NoModules);
    let span = Span::new(SourceId(0), 0, 0);
    let reader = Reader {
        rows: &[kind.settings],
        span,
        scope: &Scope::default(),
        args: None,
        wants_units: false,
    };
    let settings = reader.bindings(&with, Settings::new(span), &mut compiler);
    match compiler.diagnostics.into_iter().next() {
        Some(complaint) => Err(complaint),
        None => (kind.build)(&settings, &Supplies { kind: kind.path, ..Supplies::default() }),
    }
}

/// The message of an operator that cannot be built.
pub(super) fn refusal(name: &str, settings: &[(&str, &str)]) -> String {
    build(name, settings).expect_err("the settings are wrong").message
}

impl Harness {
    pub(super) fn new(name: &str, settings: &[(&str, &str)]) -> Self {
        let operator = build(name, settings).unwrap_or_else(|error| panic!("{}", error.message));
        let state = operator.start();
        Self { operator, state, seed: 0 }
    }

    /// Sends an event without metadata that arrives at `now_ns`.
    pub(super) fn send(&mut self, now_ns: u64, event: &str) -> Vec<String> {
        self.send_with(now_ns, event, "{}")
    }

    /// Sends an event with metadata. Each result is `port data`, and ` $ metadata` if there is any.
    pub(super) fn send_with(&mut self, now_ns: u64, event: &str, meta: &str) -> Vec<String> {
        let arena = Arena::new();
        let value = json::parse(event, &arena).expect("the event is JSON");
        let meta = json::parse(meta, &arena).expect("the metadata is JSON");
        self.send_value(&arena, Event::new(value, meta, now_ns))
    }

    /// Sends an event that lives in `arena`.
    pub(super) fn send_value(&mut self, arena: &Arena, event: Event<'_>) -> Vec<String> {
        let event =
            Event::new(event.value.copy_into(arena), event.meta.copy_into(arena), event.ingest_ns);
        let facts = self.facts(event.ingest_ns);
        let around = surroundings(arena, &facts);
        let mut out = Emitter::new(arena);
        let result = self.operator.process(self.state.as_mut(), "in", event, &around, &mut out);
        render(result, &mut out)
    }

    pub(super) fn tick(&mut self, now_ns: u64) -> Vec<String> {
        let (arena, facts) = (Arena::new(), self.facts(now_ns));
        let around = surroundings(&arena, &facts);
        let mut out = Emitter::new(&arena);
        let result = self.operator.tick(self.state.as_mut(), &around, &mut out);
        render(result, &mut out)
    }

    pub(super) fn flush(&mut self, now_ns: u64) -> Vec<String> {
        let (arena, facts) = (Arena::new(), self.facts(now_ns));
        let around = surroundings(&arena, &facts);
        let mut out = Emitter::new(&arena);
        let result = self.operator.flush(self.state.as_mut(), &around, &mut out);
        render(result, &mut out)
    }

    fn facts(&self, now_ns: u64) -> Facts {
        Facts { ingest_ns: now_ns, now_ns, seed: self.seed, ..Facts::default() }
    }

    /// What is kept.
    pub(super) fn usage(&self) -> Usage {
        self.operator.usage(self.state.as_ref()).expect("the operator reports its memory")
    }

    /// Saves the state as JSON text, forgets it, and restores it.
    pub(super) fn restart(&mut self) {
        let text = to_json(self.operator.save(self.state.as_ref(), &Arena::new()));
        self.state = self.operator.start();
        let arena = Arena::new();
        let saved = json::parse(&text, &arena).expect("a saved state is JSON");
        self.state = self.operator.restore(saved).expect("a saved state is good");
    }

    /// Why a saved state is refused.
    pub(super) fn refuses(&self, saved: &str) -> String {
        let arena = Arena::new();
        let saved = json::parse(saved, &arena).expect("the test gives JSON");
        match self.operator.restore(saved) {
            Ok(_) => panic!("the state was accepted"),
            Err(error) => error.to_string(),
        }
    }
}

fn surroundings<'a>(arena: &'a Arena, facts: &'a Facts) -> Surroundings<'a> {
    Surroundings { call: Call { arena, facts }, now_ns: facts.now_ns, token: None }
}

fn render(
    result: Result<(), temblor_lang::error::EvalError>,
    out: &mut Emitter<'_>,
) -> Vec<String> {
    let mut lines: Vec<String> = out.take().map(|(port, event)| line(port, &event)).collect();
    lines.extend(out.take_failed().into_iter().map(|(_, error)| format!("err {error}")));
    lines.extend(out.take_sorted_out().into_iter().map(|(port, event, _)| line(port, &event)));
    lines.extend(result.err().map(|error| format!("err {error}")));
    lines.extend(Some(out.take_dropped()).filter(|n| *n > 0).map(|n| format!("dropped {n}")));
    lines.extend(out.take_delay().map(|time_ns| format!("delay {time_ns}")));
    lines
}

fn line(port: &str, event: &Event<'_>) -> String {
    let data = to_json(event.value);
    match event.meta {
        Value::Null => format!("{port} {data}"),
        meta if meta.size() == Some(0) => format!("{port} {data}"),
        meta => format!("{port} {data} $ {}", to_json(meta)),
    }
}

#[test]
fn kinds_are_declared_well() {
    let mut names = std::collections::HashSet::new();
    for kind in Registry::of_this_crate().operators() {
        assert!(names.insert(kind.path), "{} is declared twice", kind.path);
        assert!(kind.word.is_none_or(|word| names.insert(word)), "{:?}", kind.word);
        assert!(kind.doc.ends_with('.') && kind.doc.len() > 20, "{} needs a doc", kind.path);
        for (from, to) in kind.fallbacks {
            assert!(
                kind.ports.contains(from) && ["out", "err"].contains(to),
                "{}: {from} {to}",
                kind.path
            );
        }
        let mut settings = std::collections::HashSet::new();
        for setting in kind.settings {
            assert!(settings.insert(setting.name), "{}: {}", kind.path, setting.name);
            assert!(setting.doc.ends_with('.'), "{}: {}", kind.path, setting.name);
            let words = setting.chain;
            assert!(!matches!(words, InChain::Clause("") | InChain::Flag("")));
        }
    }
}
