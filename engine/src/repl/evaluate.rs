//! Evaluates pieces of a script on a sample, behind what was entered before. Standard modules are
//! found without `use`.

use super::samples::Sample;
use std::time::{Duration, Instant};
use temblor_lang::builtin::Facts;
use temblor_lang::diagnostic::{Colour, Diagnostic, Severity, render_all};
use temblor_lang::error::EvalError;
use temblor_lang::lower::{Compiler, Loader, Rules, Scope};
use temblor_lang::program::Script as CompiledScript;
use temblor_lang::run::{Context, Outcome};
use temblor_lang::syntax::parse_script;
use temblor_lang::syntax::tree::{Expr, ExprKind, Item, PathRoot, Script};
use temblor_lang::value::{Arena, Owned};

/// A text that cannot be read, and how far it could be.
pub struct Unreadable {
    /// The diagnostics as text.
    pub text: String,
    /// Where the first error is.
    pub end: u32,
}

/// What an evaluation gave.
pub struct Done {
    /// The value, or why there is none; an event that was dropped is `null`.
    pub value: Result<Owned, EvalError>,
    /// The event afterwards.
    pub event: Owned,
    /// Warnings about the new items, as text.
    pub warnings: String,
}

/// A compiler that has read all that was entered before.
pub struct Evaluator<'r> {
    compiler: Compiler<'r>,
    kept: Vec<Item>,
    colour: Colour,
}

pub fn is_assignment(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Let(..))
}

/// Whether an expression changes the event.
pub fn assigns_event(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Let(path, _) if path.root == PathRoot::Event)
}

impl<'r> Evaluator<'r> {
    pub fn new(loader: &'r dyn Loader, kept: &[String], colour: Colour) -> Self {
        let compiler = Compiler::new(temblor_stdlib::registry(), loader);
        let mut evaluator = Self { compiler, kept: Vec::new(), colour };
        for text in kept {
            let source = evaluator.compiler.sources.add("<earlier>", text.as_str());
            let parsed = parse_script(&evaluator.compiler.sources, source);
            evaluator.kept.extend(parsed.tree.items);
        }
        evaluator
    }

    /// Reads a new entry.
    pub fn parse(&mut self, entry: &str) -> Result<Vec<Item>, Unreadable> {
        let source = self.compiler.sources.add("<entry>", entry);
        let parsed = parse_script(&self.compiler.sources, source);
        let errors: Vec<_> =
            parsed.diagnostics.into_iter().filter(|one| one.severity == Severity::Error).collect();
        match errors.first() {
            None => Ok(parsed.tree.items),
            Some(first) => Err(Unreadable { end: first.span.start, text: self.render(&errors) }),
        }
    }

    fn render(&self, diagnostics: &[Diagnostic]) -> String {
        render_all(diagnostics, &self.compiler.sources, self.colour)
    }

    /// An error of an evaluation as a diagnostic.
    pub fn failure(&self, error: &EvalError) -> String {
        let Some(span) = error.span() else { return format!("error[{}]: {error}", error.code()) };
        let mut diagnostic = Diagnostic::error(error.code(), span, error.message());
        diagnostic.help = error.help().map(str::to_string);
        self.render(&[diagnostic])
    }

    /// What a span covers.
    pub fn text(&self, span: temblor_lang::span::Span) -> &str {
        self.compiler.sources.text(span)
    }

    /// How long `runs` runs of what was kept and of `items` take.
    pub fn measure(
        &mut self,
        items: Vec<Item>,
        sample: &Sample,
        now_ns: u64,
        runs: u32,
    ) -> Result<Duration, String> {
        let script = self.compile(items)?.0;
        let sample = sample.event();
        let mut took = Duration::ZERO;
        for _ in 0..runs {
            let arena = Arena::new();
            let facts = Facts { ingest_ns: now_ns, now_ns, ..Facts::default() };
            let (event, mut state) = (sample.read(&arena), Owned::Null);
            let meta = arena.record_builder(0).finish();
            let mut context = Context::new(&arena, &facts, event, meta, &mut state);
            let started = Instant::now();
            let result = script.run(&mut context);
            took += started.elapsed();
            result.map_err(|error| self.failure(&error))?;
        }
        Ok(took)
    }

    /// A script of what was kept and of `items`, with warnings about `items`.
    fn compile(&mut self, items: Vec<Item>) -> Result<(CompiledScript, String), String> {
        let mut tree = Script { items: self.kept.clone(), ..Script::default() };
        tree.items.extend(items);
        let scope = Scope::with_prelude();
        let script = self.compiler.lower_script(&tree, scope, Rules::SCRIPT, None);
        let found = std::mem::take(&mut self.compiler.diagnostics);
        let errors: Vec<_> =
            found.iter().filter(|one| one.severity == Severity::Error).cloned().collect();
        if !errors.is_empty() {
            return Err(self.render(&errors));
        }
        let is_new = |one: &&Diagnostic| {
            self.compiler.sources.get(one.span.source).is_some_and(|from| from.name == "<entry>")
        };
        let warnings: Vec<_> = found.iter().filter(is_new).cloned().collect();
        Ok((script, self.render(&warnings)))
    }

    /// Runs what was kept and then `items`. The error is a diagnostic as text.
    pub fn run(&mut self, items: Vec<Item>, sample: &Sample, now_ns: u64) -> Result<Done, String> {
        let (script, warnings) = self.compile(items)?;
        let arena = Arena::new();
        let facts = Facts { ingest_ns: now_ns, now_ns, ..Facts::default() };
        let (event, mut state) = (sample.event(), Owned::Null);
        let meta = arena.record_builder(0).finish();
        let mut context = Context::new(&arena, &facts, event.read(&arena), meta, &mut state);
        let value = match script.run(&mut context) {
            Ok(Outcome::Emit { value, .. }) => Ok(Owned::from(value)),
            Ok(Outcome::Drop) => Ok(Owned::Null),
            Err(error) => Err(error),
        };
        let event = Owned::from(context.event);
        Ok(Done { value, event, warnings })
    }
}
