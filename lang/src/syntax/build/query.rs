//! Queries: definitions, instances, `select` and its clauses.

use super::super::grammar::{Pair, Rule};
use super::super::tree::{
    ArgDecl, Binding, ConnectorDef, Create, CreateKind, Define, DefineKind, Expr, FlowDef, Group,
    Ident, OperatorDef, PipelineDef, Query, ScriptDef, Select, Statement, StreamRef, UsedWindow,
    WindowDef,
};
use super::module::{docs, with_docs};
use super::{Builder, only, parts, sole, take};
use crate::diagnostic::{Diagnostic, codes};

impl Builder {
    /// A query file, or the body of a pipeline.
    pub(in crate::syntax) fn query(&mut self, pair: Pair) -> Query {
        let mut query = Query::default();
        for part in parts(pair) {
            self.query_part(part, &mut query);
        }
        query
    }

    /// One part of a file that holds statements.
    pub(super) fn query_part(&mut self, part: Pair, query: &mut Query) {
        match part.as_rule() {
            Rule::mod_docs => query.docs = docs(part),
            Rule::config => query.config.push(self.binding(part)),
            Rule::use_def => {
                query.statements.extend(self.use_def(part).into_iter().map(Statement::Use))
            }
            Rule::define => query.statements.push(Statement::Define(self.define(part))),
            Rule::create => query.statements.push(Statement::Create(self.create(part))),
            Rule::select => query.statements.push(Statement::Select(Box::new(self.select(part)))),
            Rule::flow_chain => query.statements.push(Statement::Chain(self.flow_chain(part))),
            Rule::const_def | Rule::fn_def | Rule::intrinsic_def => {
                let mut items = Vec::new();
                self.item(part, &mut items);
                let items = items.into_iter().map(|item| Statement::Item(Box::new(item)));
                query.statements.extend(items);
            }
            _ => {}
        }
    }

    pub(super) fn binding(&mut self, pair: Pair) -> Binding {
        let mut inner = parts(pair);
        let name = self.ident(&take(&mut inner));
        Binding { name, value: self.expr(take(&mut inner)) }
    }

    /// The bindings of a `with_list` or `with_block`.
    pub(super) fn bindings(&mut self, pair: Pair) -> Vec<Binding> {
        let list = if pair.as_rule() == Rule::with_block { sole(pair) } else { pair };
        parts(list).map(|binding| self.binding(binding)).collect()
    }

    pub(super) fn args(&mut self, pair: Pair) -> Vec<ArgDecl> {
        let declare = |this: &mut Self, arg: Pair| {
            let mut inner = parts(arg);
            let name = this.ident(&take(&mut inner));
            ArgDecl { name, default: inner.next().map(|value| this.expr(value)) }
        };
        parts(pair).map(|arg| declare(self, arg)).collect()
    }

    pub(super) fn define(&mut self, pair: Pair) -> Define {
        let span = self.span(&pair);
        let (docs, mut inner) = with_docs(pair);
        let definition = take(&mut inner);
        let rule = definition.as_rule();
        let mut rest = definition.into_inner().skip(1);
        let name = self.ident(&take(&mut rest));
        let rest = rest.filter(|part| !super::is_token(part.as_rule()));
        let kind = match rule {
            Rule::define_window => DefineKind::Window(self.window(rest)),
            Rule::define_operator => DefineKind::Operator(self.operator(rest)),
            Rule::define_script => DefineKind::Script(self.script_def(rest)),
            Rule::define_pipeline => DefineKind::Pipeline(self.pipeline(rest)),
            Rule::define_connector => DefineKind::Connector(self.connector(rest)),
            _ => DefineKind::Flow(self.flow(rest)),
        };
        Define { docs, name, kind, span }
    }

    fn window<'t>(&mut self, parts: impl Iterator<Item = Pair<'t>>) -> WindowDef {
        let mut parts = parts.filter(|part| part.as_rule() != Rule::kw_window);
        let kind = self.ident(&take(&mut parts));
        let mut def = WindowDef { kind, with: Vec::new(), state: None, tick: None, script: None };
        for part in parts {
            match part.as_rule() {
                Rule::with_list => def.with = self.bindings(part),
                Rule::state_clause => def.state = Some(self.expr(sole(part))),
                Rule::port_script => def.tick = Some(self.port_script(part)),
                _ => def.script = Some(self.main_script(part)),
            }
        }
        def
    }

    fn port_script(&mut self, pair: Pair) -> (Ident, super::super::tree::Script) {
        let mut inner = parts(pair).filter(|part| part.as_rule() != Rule::kw_script);
        let port = self.ident(&take(&mut inner));
        (port, self.script_body(take(&mut inner)))
    }

    fn main_script(&mut self, pair: Pair) -> super::super::tree::Script {
        let body = only(pair, Rule::script_body).next();
        body.map(|body| self.script_body(body)).unwrap_or_default()
    }

    fn operator<'t>(&mut self, mut parts: impl Iterator<Item = Pair<'t>>) -> OperatorDef {
        let kind = self.mod_path(take(&mut parts));
        let mut def = OperatorDef { kind, args: Vec::new(), with: Vec::new() };
        for part in parts {
            match part.as_rule() {
                Rule::args_clause => def.args = self.args(part),
                _ => def.with = self.bindings(part),
            }
        }
        def
    }

    fn script_def<'t>(&mut self, parts: impl Iterator<Item = Pair<'t>>) -> ScriptDef {
        let mut def = ScriptDef {
            args: Vec::new(),
            state: None,
            ports: Vec::new(),
            main: super::super::tree::Script::default(),
        };
        for part in parts {
            match part.as_rule() {
                Rule::args_clause => def.args = self.args(part),
                Rule::state_clause => def.state = Some(self.expr(sole(part))),
                Rule::port_script => {
                    let (port, script) = self.port_script(part);
                    self.check_script_port(&port, &def.ports);
                    def.ports.push((port, script));
                }
                _ => def.main = self.main_script(part),
            }
        }
        def
    }

    fn check_script_port(&mut self, port: &Ident, known: &[(Ident, super::super::tree::Script)]) {
        if port.text == "in" {
            self.report(
                Diagnostic::error(codes::RESERVED_PORT, port.span, "the port `in` is reserved")
                    .with_help("the `script` without a port handles `in`"),
            );
        }
        if let Some((first, _)) = known.iter().find(|(other, _)| other.text == port.text) {
            let message = format!("the port `{}` has a script already", port.text);
            self.report(
                Diagnostic::error(codes::DUPLICATE_PORT, port.span, message)
                    .with_place(first.span, "the first one is here"),
            );
        }
    }

    fn pipeline<'t>(&mut self, parts: impl Iterator<Item = Pair<'t>>) -> PipelineDef {
        let mut def =
            PipelineDef { from: None, into: None, args: Vec::new(), body: Query::default() };
        for part in parts {
            match part.as_rule() {
                Rule::from_ports => def.from = Some(self.ports(part)),
                Rule::into_ports => def.into = Some(self.ports(part)),
                Rule::args_clause => def.args = self.args(part),
                Rule::pipeline_body => def.body = self.query(part),
                _ => {}
            }
        }
        def
    }

    fn ports(&mut self, pair: Pair) -> Vec<Ident> {
        let ports = self.idents(pair);
        for (at, port) in ports.iter().enumerate() {
            if let Some(first) = ports[..at].iter().find(|other| other.text == port.text) {
                let message = format!("the port `{}` is named twice", port.text);
                self.report(
                    Diagnostic::error(codes::DUPLICATE_PORT, port.span, message)
                        .with_place(first.span, "the first one is here"),
                );
            }
        }
        ports
    }

    fn connector<'t>(&mut self, mut parts: impl Iterator<Item = Pair<'t>>) -> ConnectorDef {
        let kind = self.ident(&take(&mut parts));
        let mut def = ConnectorDef { kind, args: Vec::new(), with: Vec::new() };
        for part in parts {
            match part.as_rule() {
                Rule::args_clause => def.args = self.args(part),
                _ => def.with = self.bindings(part),
            }
        }
        def
    }

    fn flow<'t>(&mut self, parts: impl Iterator<Item = Pair<'t>>) -> FlowDef {
        let mut def = FlowDef { args: Vec::new(), statements: Vec::new() };
        for part in parts {
            match part.as_rule() {
                Rule::args_clause => def.args = self.args(part),
                _ => self.flow_item(part, &mut def.statements),
            }
        }
        def
    }

    pub(super) fn create(&mut self, pair: Pair) -> Create {
        let span = self.span(&pair);
        let mut inner = parts(pair);
        let word = take(&mut inner);
        let kind = create_kind(word.as_str());
        let name = self.ident(&take(&mut inner));
        let mut create = Create { kind, name, from: None, with: Vec::new(), span };
        for part in inner {
            match part.as_rule() {
                Rule::mod_path => create.from = Some(self.mod_path(part)),
                _ => create.with = self.bindings(part),
            }
        }
        create
    }

    fn select(&mut self, pair: Pair) -> Select {
        let span = self.span(&pair);
        let mut inner = parts(pair).peekable();
        let target = self.expr(take(&mut inner));
        let from = self.stream(take(&mut inner));
        let clauses = self.clauses(&mut inner);
        let into = self.stream(clauses.into.expect("the grammar asks for `into`"));
        let SelectClauses { windows, filter, group, having, .. } = clauses;
        Select { target, from, windows, filter, group, into, having, span }
    }

    /// The clauses of a select, in a statement or in a chain.
    pub(super) fn clauses<'t>(
        &mut self,
        parts: &mut impl Iterator<Item = Pair<'t>>,
    ) -> SelectClauses<'t> {
        let mut clauses = SelectClauses::default();
        for part in parts {
            match part.as_rule() {
                Rule::windows => clauses.windows = self.windows(part),
                Rule::over | Rule::over_time => clauses.windows = self.over(part),
                Rule::else_place => {
                    clauses.late = only(part, Rule::ident).next().map(|place| self.ident(&place));
                }
                Rule::where_clause => clauses.filter = Some(self.clause_value(part)),
                Rule::group_by => clauses.group = Some(self.group(sole(part))),
                Rule::having => clauses.having = Some(self.clause_value(part)),
                _ => clauses.into = Some(part),
            }
        }
        clauses
    }

    fn clause_value(&mut self, pair: Pair) -> Expr {
        let mut inner = parts(pair).filter(|part| part.as_rule() != Rule::kw_where);
        self.expr(take(&mut inner))
    }

    pub(super) fn windows(&mut self, pair: Pair) -> Vec<UsedWindow> {
        only(pair, Rule::used_window).map(|window| self.used_window(window)).collect()
    }

    pub(super) fn stream(&mut self, pair: Pair) -> StreamRef {
        let span = self.span(&pair);
        let mut inner = parts(pair);
        let node = self.ident(&take(&mut inner));
        StreamRef { node, port: inner.next().map(|port| self.ident(&port)), span }
    }

    fn group(&mut self, pair: Pair) -> Group {
        let span = self.span(&pair);
        let inner = sole(pair);
        match inner.as_rule() {
            Rule::group_set => {
                let dimensions = only(inner, Rule::group_dim);
                Group::Set(dimensions.map(|dimension| self.group(dimension)).collect(), span)
            }
            Rule::group_each => {
                let mut values = parts(inner).filter(|part| part.as_rule() != Rule::kw_each);
                Group::Each(self.expr(take(&mut values)), span)
            }
            _ => Group::Expr(self.expr(inner)),
        }
    }
}

/// What can follow the target of a select.
#[derive(Default)]
pub(super) struct SelectClauses<'t> {
    pub(super) windows: Vec<UsedWindow>,
    pub(super) filter: Option<Expr>,
    pub(super) group: Option<Group>,
    pub(super) having: Option<Expr>,
    pub(super) late: Option<Ident>,
    into: Option<Pair<'t>>,
}

/// What a word after `create`, or in an endpoint of `connect`, names.
pub(super) fn create_kind(word: &str) -> CreateKind {
    match word.trim() {
        "stream" => CreateKind::Stream,
        "script" => CreateKind::Script,
        "operator" => CreateKind::Operator,
        "pipeline" => CreateKind::Pipeline,
        _ => CreateKind::Connector,
    }
}
