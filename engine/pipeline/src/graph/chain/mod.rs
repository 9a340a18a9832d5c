//! Chains: each step is turned into the `define`, `create` and `select` that it stands for, so
//! that both notations make one and the same graph. `temblor check --expand` prints the result.

mod tree;
mod route;
mod operator;
mod lookup;

pub(super) use tree::{arm, emit, event, stream_at};

use super::build::{Builder, Level, Notation};
use super::complain;
use super::names::{Meaning, Names, STEP_WORDS, is_step, name_of};
use crate::operator::LATE;
use crate::registry::Registry;
use temblor_lang::diagnostic::Diagnostic;
use temblor_lang::span::Span;
use temblor_lang::syntax::tree::{
    Binding, Chain, ChainSelect, Create, CreateKind, Define, DefineKind, Expr, ExprKind, Ident,
    Item, ModPath, Path, Script, ScriptDef, Select, Statement, Step, StepKind, StreamRef,
};
use tree::{plain_select, stream};

/// Statements that mean the same as a chain.
#[derive(Debug, Default)]
pub struct Expansion {
    /// In order.
    pub statements: Vec<Statement>,
    /// What is wrong with the chain.
    pub diagnostics: Vec<Diagnostic>,
    /// The sinks whose answers the chain goes on with.
    pub(crate) asked: Vec<Ident>,
    /// Names of nodes that the program did not give.
    pub(super) made_up: Vec<String>,
    /// Selects that the program named, by their places.
    pub(super) selects: Vec<(Span, String)>,
}

/// The port that a chain writes as `else`.
pub(super) const ELSE: &str = "else";
/// The clause that names a step: `dedup as seen by event.id`.
const AS: &str = "as";
/// Names of ports that are shorter may well be near to others.
const NEAR_CHARS_MIN: usize = 4;

impl Builder<'_, '_> {
    pub(super) fn chain(&mut self, chain: &Chain, level: &mut Level) {
        // `select event` alone is a step of a chain, but in a query it was to be a statement.
        let is_select = |step: &Step| matches!(step.kind, StepKind::Select(_));
        if self.notation == Notation::Long && chain.steps.iter().all(is_select) {
            self.complain(complain::select_without_end(chain.span));
        }
        let expansion = expand(chain, self.registry, &mut self.unnamed, level);
        expansion.diagnostics.into_iter().for_each(|one| self.complain(one));
        for asked in expansion.asked {
            if self.asked.contains(&asked.text) {
                self.complain(complain::asked_twice(&asked));
            }
            self.asked.push(asked.text);
        }
        let made_up = expansion.made_up.into_iter();
        self.made_up.extend(made_up.map(|name| format!("{}{name}", level.prefix)));
        self.named_selects.extend(expansion.selects);
        for statement in expansion.statements {
            match statement {
                Statement::Define(define) => self.define(&define, level),
                Statement::Create(create) => self.create(&create, level),
                Statement::Select(select) => self.select(&select, level),
                Statement::Use(_) | Statement::Chain(_) | Statement::Item(_) => {}
            }
        }
    }
}

/// The long form of a chain; `counter` numbers the nodes that it makes.
#[must_use]
pub fn expand(
    chain: &Chain,
    registry: &Registry,
    counter: &mut usize,
    names: &dyn Names,
) -> Expansion {
    let at = stream("in", chain.span);
    let mut expander =
        Expander { registry, counter, names, at, given: None, expansion: Expansion::default() };
    chain.from.iter().for_each(|from| expander.start(from));
    if expander.steps(&chain.steps, false) {
        let out = stream("out", chain.span);
        expander.pass(out);
    }
    expander.expansion
}

/// Values, words with values, and `with` of an operator's step.
type Written<'t> = (&'t [Expr], &'t [(Ident, Option<Expr>)], &'t [Binding]);

pub(super) struct Expander<'c> {
    pub(super) registry: &'c Registry,
    counter: &'c mut usize,
    pub(super) names: &'c dyn Names,
    /// What the next step reads from.
    pub(super) at: StreamRef,
    /// The name that the program gives to the step that is expanded.
    given: Option<Ident>,
    pub(super) expansion: Expansion,
}

/// Where a step stands.
#[derive(Clone, Copy)]
struct Place {
    is_last: bool,
    /// Whether it stands in a chain inside of a step.
    is_inside: bool,
}

impl Expander<'_> {
    /// The name at the start of a chain; a step without settings may look like one.
    fn start(&mut self, from: &StreamRef) {
        match self.names.meaning(&from.node.text) {
            Some(Meaning::Output | Meaning::Port) if from.port.is_none() => {
                self.complain(complain::wrong_way(&from.node.text, false, from.span));
            }
            None if from.port.is_none() => {
                self.lone_word(&from.node, Place { is_last: false, is_inside: false });
            }
            _ => self.at = from.clone(),
        }
    }

    /// The steps of a chain. Whether events go on behind it.
    pub(super) fn steps(&mut self, steps: &[Step], is_inside: bool) -> bool {
        let mut goes_on = true;
        let mut is_said = false;
        for (number, step) in steps.iter().enumerate() {
            if !goes_on && !std::mem::replace(&mut is_said, true) {
                self.complain(complain::nothing_comes(steps[number - 1].span, step.span));
            }
            let is_last = number + 1 == steps.len();
            goes_on = self.step(step, Place { is_last, is_inside });
        }
        goes_on
    }

    /// Whether events go on behind the step.
    fn step(&mut self, step: &Step, place: Place) -> bool {
        self.given.clone_from(&step.name);
        match &step.kind {
            StepKind::Into(into) => return self.into(into, place),
            StepKind::Script(script) => drop(self.script(script.clone(), "script", step.span)),
            StepKind::Set(assignments) => self.set(assignments, step.span),
            StepKind::Route { all, arms, default } => {
                arms.iter().for_each(|(_, port)| self.port(port));
                default.iter().for_each(|port| self.port(port));
                self.route(*all, arms, default.as_ref(), step.span);
                return false;
            }
            StepKind::When { arms, otherwise } => {
                return self.when(arms, otherwise.as_deref(), step.span);
            }
            StepKind::Match(matching) => return self.matching(matching, step.span),
            StepKind::Select(select) => self.select(select, step.span),
            StepKind::Operator { name, positional, clauses, with } => {
                let written = (positional.as_slice(), clauses.as_slice(), with.as_slice());
                return self.word(name, written, step.span);
            }
        }
        true
    }

    /// A step that begins with a word. Whether events go on behind it.
    fn word(&mut self, name: &ModPath, written: Written<'_>, span: Span) -> bool {
        let (positional, clauses, _) = written;
        match (name.text().as_str(), self.registry.operator(&name.text())) {
            ("where", _) => self.filter(positional, clauses, span),
            ("drop", _) if positional.is_empty() && clauses.is_empty() => {
                let body = Expr { kind: ExprKind::Drop, span };
                let script = Script { docs: Vec::new(), items: vec![Item::Expr(body)] };
                self.script(script, "drop", span);
                return false;
            }
            ("lookup", None) => self.lookup(positional, clauses, span),
            (_, Some(kind)) => return self.operator(kind, name, written, span),
            (role @ ("source" | "sink" | "table"), None) => {
                self.complain(complain::declaration_as_step(role, name.span));
            }
            (text, None) => {
                let known =
                    self.registry.operators().filter_map(|kind| kind.word).chain(STEP_WORDS);
                self.complain(complain::unknown_operator(text, name.span, known));
            }
        }
        true
    }

    /// A name alone: a place that events go to, a node that they go through, or a step without
    /// settings. In front of the end of a chain a place is a tee. Whether events go on behind it.
    fn into(&mut self, into: &StreamRef, place: Place) -> bool {
        match (self.names.meaning(&into.node.text), &into.port) {
            (Some(Meaning::Node), _) => {
                self.pass(into.clone());
                self.at = stream_at(&into.node, into.span);
                !place.is_last || place.is_inside
            }
            (Some(_), _) | (None, Some(_)) => {
                self.pass(into.clone());
                !place.is_last
            }
            (None, None) => self.lone_word(&into.node, place),
        }
    }

    /// A name that nothing declares. Whether events go on behind it.
    fn lone_word(&mut self, word: &Ident, place: Place) -> bool {
        match self.registry.operator(&word.text) {
            Some(kind) => {
                let name = ModPath { segments: vec![word.clone()], span: word.span };
                self.operator(kind, &name, (&[], &[], &[]), word.span)
            }
            None if word.text == "pass" => true,
            None if word.text == "lookup" => {
                self.complain(complain::lookup_without_name(word.span));
                true
            }
            None if self.names.is_created_later(&word.text) => {
                self.complain(complain::created_later(word));
                !place.is_last
            }
            None => {
                let known = self.names.declared().into_iter().chain(self.names.ports());
                let words =
                    self.registry.operators().filter_map(|kind| kind.word).chain(STEP_WORDS);
                let known: Vec<_> = known.chain(words).collect();
                self.complain(complain::unknown_name(word, known));
                !place.is_last
            }
        }
    }

    /// Looks at a name behind `else` or in an arm of `route`: a place, or a new port.
    fn port(&mut self, name: &Ident) {
        let complaint = match self.names.meaning(&name.text) {
            None if is_step(self.registry, &name.text) => complain::step_as_port(name),
            None if self.names.is_created_later(&name.text) => complain::created_later(name),
            Some(Meaning::Port) if name.text.chars().count() >= NEAR_CHARS_MIN => {
                let letters =
                    |name: &str| name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
                let word = &name.text[..letters(&name.text)];
                let declared = self.names.declared();
                let others = declared.into_iter().filter(|one| one[..letters(one)] != *word);
                match temblor_lang::diagnostic::nearest(&name.text, others) {
                    Some(near) => complain::misspelt_port(name, near),
                    None => return,
                }
            }
            _ => return,
        };
        self.complain(complaint);
    }

    pub(super) fn complain(&mut self, diagnostic: Diagnostic) {
        self.expansion.diagnostics.push(diagnostic);
    }

    fn push(&mut self, statement: Statement) {
        self.expansion.statements.push(statement);
    }

    pub(super) fn fresh(&mut self, word: &str, span: Span) -> Ident {
        *self.counter += 1;
        let text = format!("{word}_{}", self.counter);
        self.expansion.made_up.push(text.clone());
        Ident { text, span }
    }

    /// The name of a step that may remember something: the one that the program gives, if it does.
    fn node_name(&mut self, word: &str, span: Span) -> Ident {
        let Some(name) = self.given.take() else { return self.fresh(word, span) };
        if self.names.meaning(&name.text).is_none() && !is_step(self.registry, &name.text) {
            return name;
        }
        self.complain(complain::name_taken("node", &name.text, name.span));
        self.fresh(word, span)
    }

    /// Takes the name of a step out of its clauses: behind `as` stands a name alone, where a place such
    /// as `event.weight` is a setting.
    fn take_name(&mut self, clauses: &[(Ident, Option<Expr>)]) -> Vec<(Ident, Option<Expr>)> {
        let mut rest = clauses.to_vec();
        rest.retain(|(word, value)| {
            let name = value.as_ref().and_then(name_of).filter(|_| word.text == AS);
            let is_name = name.is_some();
            self.given = name.or_else(|| self.given.take());
            !is_name
        });
        rest
    }

    /// `select event from <here> into …`
    pub(super) fn pass(&mut self, into: StreamRef) {
        let from = self.at.clone();
        self.push(plain_select(event(into.span), from, into, None));
    }

    fn create(&mut self, kind: CreateKind, define: DefineKind, name: &Ident, span: Span) {
        let define = Define { docs: Vec::new(), name: name.clone(), kind: define, span };
        self.push(Statement::Define(define));
        let name = name.clone();
        self.push(Statement::Create(Create { kind, name, from: None, with: Vec::new(), span }));
    }

    /// Defines and creates a script, and goes on behind it.
    pub(super) fn script(&mut self, main: Script, word: &str, span: Span) -> Ident {
        let name = self.node_name(word, span);
        let def = ScriptDef { args: Vec::new(), state: None, ports: Vec::new(), main };
        self.create(CreateKind::Script, DefineKind::Script(def), &name, span);
        self.pass(StreamRef { node: name.clone(), port: None, span });
        self.at = StreamRef { node: name.clone(), port: None, span };
        name
    }

    /// `set event.a = 1` is a script of assignments that ends in `event`.
    fn set(&mut self, assignments: &[(Path, Expr)], span: Span) {
        let mut items: Vec<_> = assignments
            .iter()
            .map(|(path, value)| {
                let kind = ExprKind::Let(Box::new(path.clone()), Box::new(value.clone()));
                Item::Expr(Expr { kind, span: path.span.to(value.span) })
            })
            .collect();
        items.push(Item::Expr(event(span)));
        self.script(Script { docs: Vec::new(), items }, "set", span);
    }

    fn select(&mut self, chained: &ChainSelect, span: Span) {
        let is_named = self.given.is_some();
        let name = self.node_name("select", span);
        if is_named {
            self.expansion.selects.push((span, name.text.clone()));
        }
        let kind = CreateKind::Stream;
        let create = Create { kind, name: name.clone(), from: None, with: Vec::new(), span };
        self.push(Statement::Create(create));
        let into = StreamRef { node: name, port: None, span };
        let select = Select {
            target: chained.target.clone(),
            from: std::mem::replace(&mut self.at, into.clone()),
            windows: chained.windows.clone(),
            filter: chained.filter.clone(),
            group: chained.group.clone(),
            into,
            having: chained.having.clone(),
            span,
        };
        let stream = select.into.node.clone();
        self.push(Statement::Select(Box::new(select)));
        if let Some(place) = &chained.late {
            self.port(place);
            self.branch(&stream, LATE, place, span);
        }
    }
}
