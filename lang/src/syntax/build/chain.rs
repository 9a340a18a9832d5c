//! Temblor's own notation: programs with sources and sinks, and chains of steps.

use super::super::grammar::{Pair, Rule};
use super::super::tree::{
    Binding, Chain, ChainArm, ChainMatch, ChainSelect, EndpointDef, EndpointRole, Expr, ExprKind,
    Ident, ModPath, Path, PathRoot, Program, ProgramArg, Script, Step, StepKind, StringForm,
    StringLit, StringPart, UsedWindow,
};
use super::query::SelectClauses;
use super::{Builder, only, parts, sole, take};
use crate::span::Span;

impl Builder {
    /// A `.tmb` file.
    pub(in crate::syntax) fn program(&mut self, pair: Pair) -> Program {
        let mut program = Program::default();
        for part in parts(pair) {
            match part.as_rule() {
                Rule::source_def | Rule::sink_def | Rule::table_def => {
                    program.endpoints.push(self.endpoint_def(part))
                }
                Rule::program_args => {
                    program.args.extend(parts(part).map(|arg| self.program_arg(arg)));
                }
                _ => self.query_part(part, &mut program.query),
            }
        }
        program
    }

    fn program_arg(&mut self, pair: Pair) -> ProgramArg {
        let span = self.span(&pair);
        let mut inner = parts(pair).peekable();
        let name = self.ident(&take(&mut inner));
        let kind = inner.next_if(|part| part.as_rule() == Rule::arg_kind);
        let kind = kind.map(|kind| self.ident(&kind));
        let default = inner.next().map(|value| self.expr(value));
        ProgramArg { name, kind, default, span }
    }

    fn endpoint_def(&mut self, pair: Pair) -> EndpointDef {
        let span = self.span(&pair);
        let role = match pair.as_rule() {
            Rule::source_def => EndpointRole::Source,
            Rule::sink_def => EndpointRole::Sink,
            _ => EndpointRole::Table,
        };
        let argument = self.string_in(pair.clone());
        let mut inner = parts(pair);
        let name = self.ident(&take(&mut inner));
        let kind = self.ident(&take(&mut inner));
        let with = inner.find(|part| part.as_rule() == Rule::with_block);
        let with = with.map(|with| self.bindings(with)).unwrap_or_default();
        EndpointDef { role, name, kind, argument, with, span }
    }

    pub(super) fn flow_chain(&mut self, pair: Pair) -> Chain {
        let span = self.span(&pair);
        let mut chain = Chain { from: None, steps: Vec::new(), span };
        for part in parts(pair) {
            match part.as_rule() {
                Rule::stream => chain.from = Some(self.stream(part)),
                _ => chain.steps.push(self.step(part)),
            }
        }
        chain
    }

    fn step(&mut self, pair: Pair) -> Step {
        let span = self.span(&pair);
        let step = sole(pair);
        let name = match step.as_rule() {
            Rule::step_script | Rule::step_select => only(step.clone(), Rule::step_name).next(),
            _ => None,
        };
        let name = name.map(|name| self.ident(&sole(name)));
        let kind = match step.as_rule() {
            Rule::step_script => StepKind::Script(self.step_script(step)),
            Rule::step_set => StepKind::Set(self.step_set(step)),
            Rule::step_route => self.step_route(step),
            Rule::step_select => StepKind::Select(Box::new(self.step_select(step))),
            Rule::step_when => self.step_when(step),
            Rule::step_match => StepKind::Match(Box::new(self.step_match(step))),
            Rule::step_into | Rule::sub_into => StepKind::Into(self.stream(sole(step))),
            _ => self.step_operator(step),
        };
        Step { kind, name, span }
    }

    fn step_script(&mut self, pair: Pair) -> Script {
        let body = only(pair, Rule::script_body).next();
        body.map(|body| self.script_body(body)).unwrap_or_default()
    }

    fn step_set(&mut self, pair: Pair) -> Vec<(Path, Expr)> {
        let mut pairs = Vec::new();
        for assignment in parts(pair) {
            let mut inner = parts(assignment);
            let path = self.path_of(take(&mut inner), "`set` assigns to a path");
            let value = self.expr(take(&mut inner));
            pairs.extend(path.map(|path| (path, value)));
        }
        pairs
    }

    fn step_route(&mut self, pair: Pair) -> StepKind {
        let mut all = false;
        let mut arms = Vec::new();
        let mut default = None;
        for part in parts(pair) {
            match part.as_rule() {
                Rule::word_all => all = true,
                Rule::route_arm => {
                    let mut inner = parts(part);
                    let condition = self.expr(take(&mut inner));
                    arms.push((condition, self.ident(&take(&mut inner))));
                }
                _ => default = only(part, Rule::ident).next().map(|port| self.ident(&port)),
            }
        }
        StepKind::Route { all, arms, default }
    }

    fn step_when(&mut self, pair: Pair) -> StepKind {
        let mut condition = None;
        let mut arms = Vec::new();
        let mut otherwise = None;
        for part in parts(pair) {
            match (part.as_rule(), condition.take()) {
                (Rule::when_elif, _) => {
                    let mut inner = parts(part);
                    let tested = self.expr(take(&mut inner));
                    arms.push((tested, self.sub_chain(take(&mut inner))));
                }
                (Rule::when_else, _) => otherwise = Some(self.sub_chain(sole(part))),
                (_, Some(tested)) => arms.push((tested, self.sub_chain(part))),
                (_, None) => condition = Some(self.expr(part)),
            }
        }
        StepKind::When { arms, otherwise }
    }

    fn step_match(&mut self, pair: Pair) -> ChainMatch {
        let mut inner = parts(pair);
        let target = self.expr(take(&mut inner));
        let (mut arms, mut default) = (Vec::new(), None);
        for part in inner {
            match part.as_rule() {
                Rule::match_arm => arms.push(self.chain_arm(part)),
                _ => default = only(part, Rule::sub_chain).next().map(|one| self.sub_chain(one)),
            }
        }
        ChainMatch { target, arms, default }
    }

    fn chain_arm(&mut self, pair: Pair) -> ChainArm {
        let span = self.span(&pair);
        let mut inner = parts(pair).peekable();
        let pattern = self.pattern(take(&mut inner));
        let guard = inner.next_if(|part| part.as_rule() == Rule::guard);
        let guard = guard.map(|guard| self.expr(sole(guard)));
        let steps = self.sub_chain(take(&mut inner));
        ChainArm { pattern, guard, steps, span }
    }

    fn sub_chain(&mut self, pair: Pair) -> Vec<Step> {
        parts(pair).map(|step| self.step(step)).collect()
    }

    fn step_select(&mut self, pair: Pair) -> ChainSelect {
        let mut inner = parts(pair).filter(|part| part.as_rule() != Rule::step_name);
        let target = self.expr(take(&mut inner));
        let SelectClauses { windows, filter, group, having, late, .. } = self.clauses(&mut inner);
        ChainSelect { target, windows, filter, group, having, late }
    }

    /// `over w1, w2`, `over [w1, w2]` or `over tumbling 10s`: a window without a definition has its
    /// own text as name.
    pub(super) fn over(&mut self, pair: Pair) -> Vec<UsedWindow> {
        let mut windows = Vec::new();
        for part in parts(pair) {
            match part.as_rule() {
                Rule::windows => windows.extend(self.windows(part)),
                Rule::over_window | Rule::timed_window => windows.push(self.used_window(part)),
                _ => {}
            }
        }
        windows
    }

    /// A window, and the time that it goes by.
    pub(super) fn used_window(&mut self, pair: Pair) -> UsedWindow {
        let span = self.span(&pair);
        let mut inner = parts(pair);
        let window = take(&mut inner);
        let path = match window.as_rule() {
            Rule::inline_window => {
                let words: Vec<_> = window.as_str().split_whitespace().collect();
                let span = self.span(&window);
                let name = Ident { text: words.join(" "), span };
                ModPath { segments: vec![name], span }
            }
            _ => self.mod_path(window),
        };
        let time = inner.next().map(|time| self.event_time(time)).unwrap_or_default();
        UsedWindow { path, time, span }
    }

    /// `on event.time late 10s` is `on = event.time, late = 10s`.
    fn event_time(&mut self, pair: Pair) -> Vec<Binding> {
        let name = Ident { text: "on".to_string(), span: self.part(&pair, 0, "on".len()) };
        let mut inner = parts(pair);
        let value = self.expr(take(&mut inner));
        let mut settings = vec![Binding { name, value }];
        for bound in inner {
            let mut bound = parts(bound);
            let name = self.ident(&take(&mut bound));
            settings.push(Binding { name, value: self.expr(take(&mut bound)) });
        }
        settings
    }

    fn step_operator(&mut self, pair: Pair) -> StepKind {
        let mut inner = parts(pair);
        let name = self.operator_name(take(&mut inner));
        let (mut positional, mut clauses, mut with) = (Vec::new(), Vec::new(), Vec::new());
        for part in inner {
            match part.as_rule() {
                Rule::formats => clauses.push(self.formats(part)),
                Rule::positional => positional.push(self.expr(sole(part))),
                Rule::clause | Rule::else_clause => clauses.push(self.clause(part)),
                Rule::flag => clauses.push((self.ident(&part), None)),
                _ => with = self.bindings(part),
            }
        }
        StepKind::Operator { name, positional, clauses, with }
    }

    /// `first of [grok "…", json]` is `first [{"format": "grok", "pattern": "…"}, {"format": "json"}]`.
    fn formats(&mut self, pair: Pair) -> (Ident, Option<Expr>) {
        let span = self.span(&pair);
        let word = Ident { text: "first".to_string(), span: self.part(&pair, 0, "first".len()) };
        let formats = only(pair, Rule::format).map(|format| self.format(format)).collect();
        (word, Some(Expr { kind: ExprKind::List(formats), span }))
    }

    fn format(&mut self, pair: Pair) -> Expr {
        let span = self.span(&pair);
        let mut inner = parts(pair);
        let name = self.ident(&take(&mut inner));
        let word = text(&name.text, name.span);
        let kind = ExprKind::String(word);
        let mut fields = vec![(text("format", name.span), Expr { kind, span: name.span })];
        for part in inner {
            match part.as_rule() {
                Rule::with_block => {
                    let settings = self.bindings(part).into_iter();
                    fields.extend(
                        settings.map(|one| (text(&one.name.text, one.name.span), one.value)),
                    );
                }
                _ => {
                    let pattern = self.expr(part);
                    fields.push((text("pattern", pattern.span), pattern));
                }
            }
        }
        Expr { kind: ExprKind::Record(fields), span }
    }

    fn operator_name(&mut self, pair: Pair) -> ModPath {
        let name = sole(pair);
        match name.as_rule() {
            Rule::mod_path => self.mod_path(name),
            _ => {
                let word = self.ident(&name);
                ModPath { span: word.span, segments: vec![word] }
            }
        }
    }

    fn clause(&mut self, pair: Pair) -> (Ident, Option<Expr>) {
        let mut inner = parts(pair);
        let word = self.ident(&take(&mut inner));
        let value = inner.next().map(|value| match value.as_rule() {
            Rule::ident => self.name_expr(&value),
            _ => self.expr(value),
        });
        (word, value)
    }

    /// The name behind `else`, as an expression.
    fn name_expr(&self, pair: &Pair) -> Expr {
        let span = self.span(pair);
        let path = Path { root: PathRoot::Local(self.ident(pair)), segments: Vec::new(), span };
        Expr { kind: ExprKind::Path(Box::new(path)), span }
    }
}

fn text(text: &str, span: Span) -> StringLit {
    StringLit { parts: vec![StringPart::Text(text.to_string())], form: StringForm::Quoted, span }
}
