//! Evaluates pieces of a script on a sample, behind what was entered before. Standard modules are
//! found without `use`.

use super::samples::Sample;
use super::setup::Setup;
use std::time::{Duration, Instant};
use temblor_lang::coverage::Coverage;
use temblor_lang::diagnostic::{Diagnostic, Severity, render_all};
use temblor_lang::error::EvalError;
use temblor_lang::lower::{Compiler, Loader, Rules, Scope};
use temblor_lang::program::Script as CompiledScript;
use temblor_lang::run::{Context, Outcome};
use temblor_lang::syntax::parse_script;
use temblor_lang::syntax::tree::{Expr, ExprKind, Item, PathRoot, Script};
use temblor_lang::value::{Arena, Owned};

/// The name of what is being entered, in messages.
const ENTRY: &str = "<entry>";

/// A text that cannot be read, and how far it could be.
#[derive(Debug)]
pub(crate) struct Unreadable {
    /// The diagnostics as text.
    pub text: String,
    /// Where the first error is.
    pub end: u32,
}

/// What an evaluation gave.
#[derive(Debug)]
pub(crate) struct Done {
    /// The value, or why there is none; an event that was dropped is `null`.
    pub value: Result<Owned, EvalError>,
    /// The event afterwards.
    pub event: Owned,
    /// The port that `emit` named.
    pub port: Option<String>,
    /// Whether the event was dropped on purpose.
    pub dropped: bool,
}

/// A script of all that was kept and of new items.
#[derive(Debug)]
pub(crate) struct Prepared {
    script: CompiledScript,
    /// Its branches.
    pub coverage: Coverage,
    /// Warnings about the new items, as text.
    pub warnings: String,
}

/// A compiler that has read all that was entered before.
pub(crate) struct Evaluator<'r> {
    compiler: Compiler<'r>,
    kept: Vec<Item>,
    setup: Setup,
}

pub(crate) fn is_assignment(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Let(..))
}

/// Whether an expression changes the event.
pub(crate) fn assigns_event(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Let(path, _) if path.root == PathRoot::Event)
}

impl<'r> Evaluator<'r> {
    pub(crate) fn new(loader: &'r dyn Loader, kept: &[String], setup: &Setup) -> Self {
        let mut compiler = Compiler::new(temblor_stdlib::registry(), loader);
        setup.refill();
        compiler.budget = Some(setup.budget.clone());
        let mut evaluator = Self { compiler, kept: Vec::new(), setup: setup.clone() };
        for text in kept {
            let source = evaluator.compiler.sources.add("<earlier>", text.as_str());
            let parsed = parse_script(&evaluator.compiler.sources, source);
            evaluator.kept.extend(parsed.tree.items);
        }
        evaluator
    }

    /// Reads a new entry.
    pub(crate) fn parse(&mut self, entry: &str) -> Result<Vec<Item>, Unreadable> {
        let source = self.compiler.sources.add(ENTRY, entry);
        let parsed = parse_script(&self.compiler.sources, source);
        let errors: Vec<_> =
            parsed.diagnostics.into_iter().filter(|one| one.severity == Severity::Error).collect();
        match errors.first() {
            None => Ok(parsed.tree.items),
            Some(first) => Err(Unreadable { end: first.span.start, text: self.render(&errors) }),
        }
    }

    fn render(&self, diagnostics: &[Diagnostic]) -> String {
        render_all(diagnostics, &self.compiler.sources, self.setup.colour)
    }

    /// An error of an evaluation as a diagnostic.
    pub(crate) fn failure(&self, error: &EvalError) -> String {
        let Some(span) = error.span() else { return format!("error[{}]: {error}", error.code()) };
        let mut diagnostic = Diagnostic::error(error.code(), span, error.message());
        diagnostic.help = error.help().map(str::to_string);
        self.render(&[diagnostic])
    }

    /// All texts.
    pub(crate) fn sources(&self) -> &temblor_lang::span::Sources {
        &self.compiler.sources
    }

    /// What a span covers.
    pub(crate) fn text(&self, span: temblor_lang::span::Span) -> &str {
        self.compiler.sources.text(span)
    }

    /// Compiles what was kept and `items`. The error is diagnostics as text.
    pub(crate) fn prepare(&mut self, items: Vec<Item>) -> Result<Prepared, String> {
        let mut tree = Script { items: self.kept.clone(), ..Script::default() };
        tree.items.extend(items);
        let scope = Scope::with_prelude();
        self.compiler.coverage = Some(Coverage::default());
        let script = self.compiler.lower_script(&tree, scope, Rules::SCRIPT, None);
        let coverage = self.compiler.coverage.take().unwrap_or_default();
        let found = std::mem::take(&mut self.compiler.diagnostics);
        let errors: Vec<_> =
            found.iter().filter(|one| one.severity == Severity::Error).cloned().collect();
        if !errors.is_empty() {
            return Err(self.render(&errors));
        }
        let is_new = |one: &&Diagnostic| {
            self.compiler.sources.get(one.span.source).is_some_and(|from| from.name == ENTRY)
        };
        let warnings: Vec<_> = found.iter().filter(is_new).cloned().collect();
        Ok(Prepared { script, coverage, warnings: self.render(&warnings) })
    }

    /// Runs what was prepared on a sample.
    pub(crate) fn evaluate(&self, prepared: &Prepared, sample: &Sample, now_ns: u64) -> Done {
        let arena = Arena::new();
        let facts = self.setup.facts(now_ns);
        let (event, mut state) = (sample.event(), Owned::Null);
        let meta = arena.record_builder(0).finish();
        let mut context = Context::new(&arena, &facts, event.read(&arena), meta, &mut state);
        let (mut port, mut dropped) = (None, false);
        let value = match prepared.script.run(&mut context) {
            Ok(Outcome::Emit { value, port: named }) => {
                port = named.map(str::to_string);
                Ok(Owned::from(value))
            }
            Ok(Outcome::Drop) => {
                dropped = true;
                Ok(Owned::Null)
            }
            Err(error) => Err(error),
        };
        Done { value, event: Owned::from(context.event), port, dropped }
    }

    /// Prepares and runs once.
    pub(crate) fn run(
        &mut self,
        items: Vec<Item>,
        sample: &Sample,
        now_ns: u64,
    ) -> Result<Done, String> {
        let prepared = self.prepare(items)?;
        Ok(self.evaluate(&prepared, sample, now_ns))
    }

    /// How long `runs` runs take, for each of them.
    pub(crate) fn measure(
        &self,
        prepared: &Prepared,
        sample: &Sample,
        now_ns: u64,
        runs: u32,
    ) -> Result<Duration, String> {
        let sample = sample.event();
        let mut took = Duration::ZERO;
        for _ in 0..runs {
            self.setup.check()?;
            let arena = Arena::new();
            let facts = self.setup.facts(now_ns);
            let (event, mut state) = (sample.read(&arena), Owned::Null);
            let meta = arena.record_builder(0).finish();
            let mut context = Context::new(&arena, &facts, event, meta, &mut state);
            let started = Instant::now();
            let result = prepared.script.run(&mut context);
            took += started.elapsed();
            result.map_err(|error| self.failure(&error))?;
        }
        Ok(took / runs.max(1))
    }
}
