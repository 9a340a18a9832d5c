//! Chains: each step is turned into the `define`, `create` and `select` that it stands for, so
//! that both notations make one and the same graph. `temblor check --expand` prints the result.

use super::build::{Builder, Level, Notation};
use super::complain;
use crate::operators::{InChain, OperatorKind, Setting, Takes};
use crate::registry::Registry;
use temblor_lang::diagnostic::Diagnostic;
use temblor_lang::span::Span;
use temblor_lang::syntax::tree::{
    Binding, Chain, ChainSelect, Create, CreateKind, Define, DefineKind, Expr, ExprKind, Ident,
    Item, Match, ModPath, OperatorDef, Path, PathRoot, Pattern, PatternKind, Script, ScriptDef,
    Segment, Select, Statement, Step, StepKind, StreamRef, StringForm, StringLit, StringPart,
};

/// Statements that mean the same as a chain.
#[derive(Debug, Default)]
pub struct Expansion {
    /// In order.
    pub statements: Vec<Statement>,
    /// What is wrong with the chain.
    pub diagnostics: Vec<Diagnostic>,
}

/// The port that a chain writes as `else`.
const ELSE: &str = "else";

impl Builder<'_, '_> {
    pub(super) fn chain(&mut self, chain: &Chain, level: &mut Level) {
        // `select event` alone is a step of a chain, but in a query it was to be a statement.
        let is_select = |step: &Step| matches!(step.kind, StepKind::Select(_));
        if self.notation == Notation::Long && chain.steps.iter().all(is_select) {
            self.complain(complain::select_without_end(chain.span));
        }
        let expansion = expand(chain, self.registry, &mut self.unnamed);
        expansion.diagnostics.into_iter().for_each(|one| self.complain(one));
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
pub fn expand(chain: &Chain, registry: &Registry, counter: &mut usize) -> Expansion {
    let start = chain.from.clone().unwrap_or_else(|| stream("in", chain.span));
    let mut expander = Expander { registry, counter, at: start, expansion: Expansion::default() };
    let mut ended = false;
    for step in &chain.steps {
        expander.step(step);
        ended = match &step.kind {
            StepKind::Into(into) => lone_operator(registry, into).is_none(),
            StepKind::Route { .. } => true,
            _ => false,
        };
    }
    if !ended {
        let out = stream("out", chain.span);
        expander.pass(out);
    }
    expander.expansion
}

/// Values, words with values, and `with` of an operator's step.
type Written<'t> = (&'t [Expr], &'t [(Ident, Option<Expr>)], &'t [Binding]);

struct Expander<'c> {
    registry: &'c Registry,
    counter: &'c mut usize,
    /// What the next step reads from.
    at: StreamRef,
    expansion: Expansion,
}

impl Expander<'_> {
    fn step(&mut self, step: &Step) {
        match &step.kind {
            StepKind::Into(into) => match lone_operator(self.registry, into) {
                Some(kind) => {
                    let name = ModPath { segments: vec![into.node.clone()], span: into.span };
                    self.operator(kind, &name, (&[], &[], &[]), step.span);
                }
                None => self.pass(into.clone()),
            },
            StepKind::Script(script) => {
                self.script(script.clone(), "script", step.span);
            }
            StepKind::Set(assignments) => self.set(assignments, step.span),
            StepKind::Route { all, arms, default } => {
                self.route(*all, arms, default.as_ref(), step.span);
            }
            StepKind::Select(select) => self.select(select, step.span),
            StepKind::Operator { name, positional, clauses, with } => {
                match (name.text().as_str(), self.registry.operator(&name.text())) {
                    ("where", _) => self.filter(positional, clauses, step.span),
                    (_, Some(kind)) => {
                        self.operator(kind, name, (positional, clauses, with), step.span);
                    }
                    (text, None) => {
                        let known = self.registry.operators().filter_map(|kind| kind.word);
                        let known = known.chain(["where", "set", "script", "route", "select"]);
                        self.complain(complain::unknown_operator(text, name.span, known));
                    }
                }
            }
        }
    }

    fn complain(&mut self, diagnostic: Diagnostic) {
        self.expansion.diagnostics.push(diagnostic);
    }

    fn push(&mut self, statement: Statement) {
        self.expansion.statements.push(statement);
    }

    fn fresh(&mut self, word: &str, span: Span) -> Ident {
        *self.counter += 1;
        Ident { text: format!("{word}_{}", self.counter), span }
    }

    /// `select event from <here> into …`
    fn pass(&mut self, into: StreamRef) {
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
    fn script(&mut self, main: Script, word: &str, span: Span) -> Ident {
        let name = self.fresh(word, span);
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

    /// First match: a script that emits to ports. Every match: one select an arm.
    fn route(&mut self, all: bool, arms: &[(Expr, Ident)], default: Option<&Ident>, span: Span) {
        if all {
            for (condition, port) in arms {
                let into = StreamRef { node: port.clone(), port: None, span: port.span };
                let select =
                    plain_select(event(span), self.at.clone(), into, Some(condition.clone()));
                self.push(select);
            }
            if let Some(port) = default {
                let none = arms.iter().map(|(condition, _)| negated(condition)).reduce(both);
                let into = StreamRef { node: port.clone(), port: None, span: port.span };
                self.push(plain_select(event(span), self.at.clone(), into, none));
            }
            return;
        }
        let mut cases: Vec<_> = arms
            .iter()
            .map(|(condition, port)| {
                arm(Some(condition.clone()), emit(port), condition.span.to(port.span))
            })
            .collect();
        let rest = match default {
            Some(port) => emit(port),
            None => Expr { kind: ExprKind::Drop, span },
        };
        cases.push(arm(None, rest, span));
        let matching = Match { target: event(span), arms: cases };
        let body = Expr { kind: ExprKind::Match(Box::new(matching)), span };
        let script = Script { docs: Vec::new(), items: vec![Item::Expr(body)] };
        let node = self.script(script, "route", span);
        let mut ports: Vec<&Ident> = arms.iter().map(|(_, port)| port).chain(default).collect();
        ports.sort_by_key(|port| port.span.start);
        let mut seen: Vec<&str> = Vec::new();
        for port in ports {
            if !seen.contains(&port.text.as_str()) {
                seen.push(&port.text);
                self.branch(&node, &port.text, port, span);
            }
        }
    }

    /// `select event from node/port into …`
    fn branch(&mut self, node: &Ident, port: &str, into: &Ident, span: Span) {
        let port = Ident { text: port.to_string(), span };
        let from = StreamRef { node: node.clone(), port: Some(port), span };
        let into = StreamRef { node: into.clone(), port: None, span: into.span };
        self.push(plain_select(event(span), from, into, None));
    }

    /// `where c`, or `where c else port`.
    fn filter(&mut self, positional: &[Expr], clauses: &[(Ident, Option<Expr>)], span: Span) {
        let [condition] = positional else {
            return self.complain(complain::unexpected_value("where", span));
        };
        let other = self.else_port(clauses, "where");
        match other {
            None => {
                let name = self.fresh("where", span);
                let create = Create {
                    kind: CreateKind::Stream,
                    name: name.clone(),
                    from: None,
                    with: Vec::new(),
                    span,
                };
                self.push(Statement::Create(create));
                let into = StreamRef { node: name, port: None, span };
                let from = std::mem::replace(&mut self.at, into.clone());
                self.push(plain_select(event(span), from, into, Some(condition.clone())));
            }
            Some(port) => {
                let word = Ident { text: ELSE.to_string(), span };
                let arms = vec![
                    arm(Some(condition.clone()), event(span), span),
                    arm(None, emit(&word), span),
                ];
                let matching = Match { target: event(span), arms };
                let body = Expr { kind: ExprKind::Match(Box::new(matching)), span };
                let script = Script { docs: Vec::new(), items: vec![Item::Expr(body)] };
                let node = self.script(script, "where", span);
                self.branch(&node, ELSE, &port, span);
            }
        }
    }

    fn else_port(&mut self, clauses: &[(Ident, Option<Expr>)], word: &str) -> Option<Ident> {
        let mut port = None;
        for (clause, value) in clauses {
            match (clause.text.as_str(), value.as_ref().and_then(name_of)) {
                (ELSE, Some(name)) => port = Some(name),
                (ELSE, None) => self.complain(complain::not_a_path(clause.span)),
                _ => self.complain(complain::unknown_setting(
                    &clause.text,
                    clause.span,
                    [ELSE, word],
                )),
            }
        }
        port
    }

    fn select(&mut self, chained: &ChainSelect, span: Span) {
        let name = self.fresh("select", span);
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
        self.push(Statement::Select(Box::new(select)));
    }

    fn operator(
        &mut self,
        kind: &'static OperatorKind,
        name: &ModPath,
        (positional, clauses, with): Written<'_>,
        span: Span,
    ) {
        let mut bindings = self.positional(kind, positional);
        let mut other = None;
        for (word, value) in clauses {
            match (word.text.as_str(), value) {
                (ELSE, Some(value)) => match name_of(value) {
                    Some(port) => other = Some(port),
                    None => self.complain(complain::not_a_path(value.span)),
                },
                _ => bindings.extend(self.clause(kind, word, value.as_ref())),
            }
        }
        bindings.extend(with.iter().cloned());
        let word = kind.word.unwrap_or_else(|| kind.path.rsplit(':').next().unwrap_or(kind.path));
        let node = self.fresh(word, span);
        let segments = kind
            .path
            .split("::")
            .map(|text| Ident { text: text.to_string(), span: name.span })
            .collect();
        let path = ModPath { segments, span: name.span };
        let def = OperatorDef { kind: path, args: Vec::new(), with: bindings };
        self.create(CreateKind::Operator, DefineKind::Operator(def), &node, span);
        self.pass(StreamRef { node: node.clone(), port: None, span });
        self.at = StreamRef { node: node.clone(), port: None, span };
        if let Some(port) = other {
            self.branch(&node, ELSE, &port, span);
        }
    }

    /// Values without a word: flags and words by their name, others in the order of declaration.
    fn positional(&mut self, kind: &'static OperatorKind, values: &[Expr]) -> Vec<Binding> {
        let mut bindings: Vec<Binding> = Vec::new();
        for value in values {
            if let Some(name) = name_of(value)
                && let Some(setting) = kind.settings.iter().find(|one| is_flag(one, &name.text))
            {
                let flag = Expr { kind: ExprKind::Bool(true), span: value.span };
                bindings.push(binding(setting.name, flag));
                continue;
            }
            let is_free = |one: &Setting| !bindings.iter().any(|got| got.name.text == one.name);
            let named = |one: &&Setting| {
                is_free(one) && name_of(value).is_some_and(|name| offers(one, &name.text))
            };
            let next = |one: &&Setting| {
                is_free(one) && one.chain == InChain::Positional && accepts(one, value)
            };
            let settings = || kind.settings.iter();
            match settings().find(named).or_else(|| settings().find(next)) {
                Some(setting) => bindings.push(binding(setting.name, as_setting(setting, value))),
                None => {
                    let word = kind.word.unwrap_or(kind.path);
                    self.complain(complain::unexpected_value(word, value.span));
                }
            }
        }
        bindings
    }

    fn clause(
        &mut self,
        kind: &'static OperatorKind,
        word: &Ident,
        value: Option<&Expr>,
    ) -> Option<Binding> {
        let named =
            |one: &&Setting| matches!(one.chain, InChain::Clause(clause) if clause == word.text);
        if let Some(setting) = kind.settings.iter().find(|one| is_flag(one, &word.text)) {
            let flag = Expr { kind: ExprKind::Bool(true), span: word.span };
            return Some(binding(setting.name, flag));
        }
        match (kind.settings.iter().find(named), value) {
            (Some(setting), Some(value)) => Some(binding(setting.name, as_setting(setting, value))),
            // A word of a setting's choice may be a clause word of another operator.
            (_, None) if kind.settings.iter().any(|one| offers(one, &word.text)) => {
                self.positional(kind, &[local(word)]).pop()
            }
            _ => {
                let known = kind.settings.iter().filter_map(|one| match one.chain {
                    InChain::Clause(word) | InChain::Flag(word) => Some(word),
                    _ => None,
                });
                self.complain(complain::unknown_setting(&word.text, word.span, known));
                None
            }
        }
    }
}

/// A step that is only a name may be an operator without settings: `|> dedup |>`.
fn lone_operator(registry: &Registry, into: &StreamRef) -> Option<&'static OperatorKind> {
    if into.port.is_some() { None } else { registry.operator(&into.node.text) }
}

fn offers(setting: &Setting, word: &str) -> bool {
    matches!(setting.takes, Takes::Word(words) if words.contains(&word))
}

fn is_flag(setting: &Setting, word: &str) -> bool {
    matches!(setting.chain, InChain::Flag(flag) if flag == word)
}

/// Whether a bare name can be a value of the setting.
fn accepts(setting: &Setting, value: &Expr) -> bool {
    match (setting.takes, name_of(value)) {
        (Takes::Word(words), Some(name)) => words.contains(&name.text.as_str()),
        (Takes::Word(_), None) => matches!(value.kind, ExprKind::String(_)),
        _ => true,
    }
}

/// Words are written without quotes in a chain, and paths that are assigned to as paths.
fn as_setting(setting: &Setting, value: &Expr) -> Expr {
    match (setting.takes, &value.kind) {
        (Takes::Word(_), _) => name_of(value).map_or_else(|| value.clone(), |name| text(&name)),
        (Takes::Place, ExprKind::Path(path)) => match path_text(path) {
            Some(path) => text(&Ident { text: path, span: value.span }),
            None => value.clone(),
        },
        _ => value.clone(),
    }
}

/// `event.a.b` as the text `event.a.b`.
fn path_text(path: &Path) -> Option<String> {
    let mut text = match &path.root {
        PathRoot::Event => "event".to_string(),
        PathRoot::Meta => "$".to_string(),
        PathRoot::Local(name) => name.text.clone(),
        _ => return None,
    };
    for segment in &path.segments {
        let name = match segment {
            Segment::Name(name) => &name.text,
            Segment::Index(Expr { kind: ExprKind::String(name), .. }) => name.constant()?,
            _ => return None,
        };
        if !text.ends_with('$') {
            text.push('.');
        }
        text.push_str(name);
    }
    Some(text)
}

/// The name of a bare local, such as a port or a word.
fn name_of(value: &Expr) -> Option<Ident> {
    match &value.kind {
        ExprKind::Path(path) if path.segments.is_empty() => match &path.root {
            PathRoot::Local(name) => Some(name.clone()),
            _ => None,
        },
        _ => None,
    }
}

fn binding(name: &str, value: Expr) -> Binding {
    Binding { name: Ident { text: name.to_string(), span: value.span }, value }
}

fn text(name: &Ident) -> Expr {
    let parts = vec![StringPart::Text(name.text.clone())];
    let literal = StringLit { parts, form: StringForm::Quoted, span: name.span };
    Expr { kind: ExprKind::String(literal), span: name.span }
}

fn local(name: &Ident) -> Expr {
    let span = name.span;
    let path = Path { root: PathRoot::Local(name.clone()), segments: Vec::new(), span };
    Expr { kind: ExprKind::Path(Box::new(path)), span }
}

fn stream(name: &str, span: Span) -> StreamRef {
    StreamRef { node: Ident { text: name.to_string(), span }, port: None, span }
}

fn event(span: Span) -> Expr {
    let path = Path { root: PathRoot::Event, segments: Vec::new(), span };
    Expr { kind: ExprKind::Path(Box::new(path)), span }
}

/// `emit => "port"`
fn emit(port: &Ident) -> Expr {
    let ExprKind::String(literal) = text(port).kind else {
        unreachable!("text makes a string");
    };
    Expr { kind: ExprKind::Emit(None, Some(literal)), span: port.span }
}

/// `case _ when condition => body`
fn arm(guard: Option<Expr>, body: Expr, span: Span) -> temblor_lang::syntax::tree::Arm {
    let pattern = Pattern { kind: PatternKind::Any, span };
    temblor_lang::syntax::tree::Arm { pattern, guard, body: vec![body], span }
}

fn negated(condition: &Expr) -> Expr {
    use temblor_lang::syntax::tree::UnaryOp;
    let span = condition.span;
    let inner = Expr { kind: ExprKind::Paren(Box::new(condition.clone())), span };
    Expr { kind: ExprKind::Unary(UnaryOp::Not, Box::new(inner)), span }
}

fn both(left: Expr, right: Expr) -> Expr {
    use temblor_lang::syntax::tree::BinaryOp;
    let span = left.span.to(right.span);
    Expr { kind: ExprKind::Binary(BinaryOp::And, Box::new(left), Box::new(right)), span }
}

fn plain_select(target: Expr, from: StreamRef, into: StreamRef, filter: Option<Expr>) -> Statement {
    let span = target.span;
    Statement::Select(Box::new(Select {
        target,
        from,
        windows: Vec::new(),
        filter,
        group: None,
        into,
        having: None,
        span,
    }))
}
