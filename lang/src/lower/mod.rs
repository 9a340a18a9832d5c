//! From the syntax tree to a program: names become slots, paths to modules become functions,
//! what is constant is evaluated. Whatever is wrong is a diagnostic; lowering goes on behind it.

mod bytes;
mod call;
mod complain;
mod control;
mod expression;
mod fields;
mod fold;
mod function;
mod growth;
mod inference;
mod kinds;
mod assigned;
mod environment;
mod lookups;
mod matching;
mod module;
mod names;
mod opposites;
mod patch;
mod path;
mod risk;

pub use module::{Loader, NoModules, Scope};
pub use names::Rules;
pub use risk::Risk;

use crate::budget::Budget;
use crate::builtin::Registry;
use crate::coverage::{BranchKind, Coverage};
use crate::diagnostic::{Diagnostic, Severity};
use crate::program::{Block, EventChanges, Expr, Formula, Script};
use crate::span::{SourceId, Sources, Span};
use crate::syntax::tree;
use crate::value::Frozen;
use fields::Fields;
use module::Module;
use names::{Names, Position};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Compiles the texts of one program; keeps the modules that were loaded for it.
#[derive(Debug)]
pub struct Compiler<'r> {
    registry: &'r dyn Registry,
    loader: &'r dyn Loader,
    /// All texts that were read.
    pub sources: Sources,
    /// All errors and warnings, in the order of their discovery.
    pub diagnostics: Vec<Diagnostic>,
    /// Bounds the folding of constants, where programs are tried out.
    pub budget: Option<Arc<Budget>>,
    /// Whether assignments may add to a value in place. Without, each builds its value anew, which
    /// comes to the same and shows that it does.
    pub in_place: bool,
    /// What the folding of constants may still take.
    folding: fold::Folding,
    /// Where the branches of the program are gathered, when they are to be counted.
    pub coverage: Option<Coverage>,
    /// Where the places of the program are gathered that can fail, when they are asked for.
    pub risks: Option<Vec<Risk>>,
    /// The names of all lookup tables that there will be; `None` when that is not known.
    pub tables: Option<BTreeSet<String>>,
    /// The parameters of the program, when it declares any.
    pub program_args: Option<Arc<Frozen>>,
    /// Gives the variables of the environment; without it `env::NAME` is an ordinary path.
    pub environment: Option<fn(&str) -> Option<String>>,
    /// The state that the scripts being lowered share, when all of them will be.
    state: Option<Fields>,
    /// What the program does with metadata.
    metadata: Fields,
    modules: Vec<Module>,
    /// Stands for constants whose value has a mistake, so that no use of one is a second mistake.
    broken: Arc<Frozen>,
    /// Paths of the modules that are being loaded, for finding cycles.
    loading: Vec<String>,
}

impl<'r> Compiler<'r> {
    /// A compiler that finds built-ins in `registry` and module files through `loader`.
    #[must_use]
    pub fn new(registry: &'r dyn Registry, loader: &'r dyn Loader) -> Self {
        Self {
            registry,
            loader,
            sources: Sources::default(),
            diagnostics: Vec::new(),
            budget: None,
            in_place: true,
            folding: fold::Folding::default(),
            coverage: None,
            risks: None,
            tables: None,
            program_args: None,
            environment: None,
            state: None,
            metadata: Fields::default(),
            modules: Vec::new(),
            broken: Arc::default(),
            loading: Vec::new(),
        }
    }

    /// A block that counts that it is reached, when that is asked for. It goes first, so that a
    /// block that fails was reached, too.
    fn counted(&mut self, kind: BranchKind, span: Span, mut block: Block) -> Block {
        if let Some(coverage) = &mut self.coverage {
            block.effects.insert(0, Expr::Reached(coverage.add(kind, span)));
        }
        block
    }

    /// Notes what can fail in code of the program itself, when that is asked for.
    fn gather_risks(&mut self, walk: impl FnOnce(&mut risk::Walk<'_>)) {
        let Some(mut risks) = self.risks.take() else { return };
        walk(&mut risk::Walk::new(self.registry, (&self.sources, SourceId(0)), &mut risks));
        self.risks = Some(risks);
    }

    /// Whether an error was found (warnings do not count).
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|one| one.severity == Severity::Error)
    }

    /// Compiles the text of a script file; `None` when it has errors.
    pub fn script(&mut self, source: SourceId) -> Option<Script> {
        let parsed = crate::syntax::parse_script(&self.sources, source);
        self.diagnostics.extend(parsed.diagnostics);
        let script = self.lower_script(&parsed.tree, Scope::default(), Rules::SCRIPT, None);
        (!self.has_errors()).then_some(script)
    }

    /// Lowers the body of a script. `scope` is what it sees before its own definitions, `args`
    /// what `args` refers to, when that is known.
    pub fn lower_script(
        &mut self,
        tree: &tree::Script,
        mut scope: Scope,
        rules: Rules,
        args: Option<Arc<Frozen>>,
    ) -> Script {
        let mut names = Names::new(rules);
        names.args = args;
        // A constant counts as an expression that gives its value.
        let last = tree
            .items
            .iter()
            .rposition(|item| matches!(item, tree::Item::Expr(_) | tree::Item::Const(_)));
        let mut body = Block::default();
        for (number, item) in tree.items.iter().enumerate() {
            match item {
                tree::Item::Expr(expr) => {
                    let is_last = Some(number) == last;
                    self.statement(
                        expr,
                        is_last,
                        Position::STATEMENT,
                        &mut body,
                        (&scope, &mut names),
                    );
                    names.know_assigned(&body);
                }
                definition => self.define(definition, &mut scope),
            }
        }
        opposites::pair(&mut body);
        self.gather_risks(|walk| walk.block(&body));
        self.check_names(&names);
        self.gather_state(&mut names);
        self.check_reached(tree.items.iter().filter_map(|item| match item {
            tree::Item::Expr(expr) => Some(expr),
            _ => None,
        }));
        if let Some(tree::Item::Expr(expr)) = last.map(|last| &tree.items[last]) {
            self.check_last(expr);
        }
        if body.last.is_none() {
            body.last = Some(Box::new(value_of_definitions(tree, &scope)));
        }
        let span = match last.map(|last| &tree.items[last]) {
            Some(tree::Item::Expr(expr)) => expr.span,
            Some(tree::Item::Const(def)) => def.span,
            _ => crate::span::Span::default(),
        };
        Script {
            body,
            slots: names.slots,
            uses_state: names.uses_state,
            event_changes: if names.drops { EventChanges::None } else { names.event_changes },
            span,
        }
    }

    /// Warns of an assignment to metadata or state at the end: its value becomes the event.
    fn check_last(&mut self, expr: &tree::Expr) {
        if let tree::ExprKind::Let(path, _) = &expr.kind
            && matches!(path.root, tree::PathRoot::Meta | tree::PathRoot::State)
        {
            self.diagnostics.push(complain::last_is_assignment(expr.span));
        }
    }

    /// Lowers an expression that stands outside of a script (`where`, `group by`, a key).
    pub fn lower_formula(
        &mut self,
        tree: &tree::Expr,
        scope: &Scope,
        rules: Rules,
        args: Option<Arc<Frozen>>,
    ) -> Formula {
        let mut names = Names::new(rules);
        names.args = args;
        self.finish_formula(tree, scope, names)
    }

    /// As [`Compiler::lower_formula`], for a condition; one that is never a bool gets a warning.
    pub fn lower_condition(
        &mut self,
        tree: &tree::Expr,
        scope: &Scope,
        rules: Rules,
        args: Option<Arc<Frozen>>,
    ) -> Formula {
        let mut names = Names::new(rules);
        names.args = args;
        let expr = self.expression(tree, Position::VALUE, (scope, &mut names));
        self.check_condition(&expr, tree.span, &mut names);
        self.gather_risks(|walk| walk.condition(&expr, tree.span));
        Formula { expr, slots: names.slots, aggregates: names.aggregates, span: tree.span }
    }

    /// As [`Compiler::lower_formula`], for targets of a windowed select: an expression that is
    /// equal to one of `groups` stands for that element of `group`.
    pub fn lower_grouped(
        &mut self,
        tree: &tree::Expr,
        scope: &Scope,
        args: Option<Arc<Frozen>>,
        groups: &[tree::Expr],
    ) -> Formula {
        let mut names = Names::new(Rules::WINDOWED);
        names.args = args;
        names.groups = groups.iter().map(|group| self.spelling(group.span)).collect();
        self.finish_formula(tree, scope, names)
    }

    /// The text of a span without its blanks: how expressions behind `group by` are recognised.
    fn spelling(&self, span: Span) -> String {
        self.sources.text(span).chars().filter(|character| !character.is_whitespace()).collect()
    }

    fn finish_formula(&mut self, tree: &tree::Expr, scope: &Scope, mut names: Names) -> Formula {
        let expr = self.expression(tree, Position::VALUE, (scope, &mut names));
        self.gather_risks(|walk| walk.expr(&expr));
        Formula { expr, slots: names.slots, aggregates: names.aggregates, span: tree.span }
    }

    /// Lowers an expression that must be known before the first event, such as an argument's
    /// default; reports when it is not.
    pub fn constant(
        &mut self,
        tree: &tree::Expr,
        scope: &Scope,
        args: Option<Arc<Frozen>>,
    ) -> Option<Arc<Frozen>> {
        let mut names = Names::new(Rules::CONSTANT);
        names.args = args;
        let before = self.diagnostics.len();
        let expr = self.expression(tree, Position::VALUE, (scope, &mut names));
        if let (Expr::Const(value), false) = (expr, names.reads_event) {
            return Some(value);
        }
        if !names.reads_broken
            && !self.diagnostics[before..].iter().any(|one| one.severity == Severity::Error)
        {
            self.diagnostics.push(complain::not_constant(tree.span));
        }
        None
    }
}

/// A script without an expression forwards the event, unless it defines constants: then its value
/// is that of the last one.
fn value_of_definitions(tree: &tree::Script, scope: &Scope) -> Expr {
    let last_const = tree.items.iter().rev().find_map(|item| match item {
        tree::Item::Const(def) => scope.constant(&def.name.text),
        _ => None,
    });
    last_const.map_or(Expr::Event, Expr::Const)
}
