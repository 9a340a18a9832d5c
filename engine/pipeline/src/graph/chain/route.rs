//! `where` and `route`: steps that part events.

use super::tree::{arm, both, emit, event, negated, plain_select};
use super::{ELSE, Expander};
use crate::graph::complain;
use crate::graph::names::name_of;
use temblor_lang::span::Span;
use temblor_lang::syntax::tree::{
    Create, CreateKind, Expr, ExprKind, Ident, Item, Match, Script, Statement, StreamRef,
};

impl Expander<'_> {
    /// First match: a script that emits to ports. Every match: one select an arm.
    pub(super) fn route(
        &mut self,
        all: bool,
        arms: &[(Expr, Ident)],
        default: Option<&Ident>,
        span: Span,
    ) {
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
    pub(super) fn branch(&mut self, node: &Ident, port: &str, into: &Ident, span: Span) {
        let port = Ident { text: port.to_string(), span };
        let from = StreamRef { node: node.clone(), port: Some(port), span };
        let into = StreamRef { node: into.clone(), port: None, span: into.span };
        self.push(plain_select(event(span), from, into, None));
    }

    /// `where c`, or `where c else port`.
    pub(super) fn filter(
        &mut self,
        positional: &[Expr],
        clauses: &[(Ident, Option<Expr>)],
        span: Span,
    ) {
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
                (ELSE, Some(name)) => {
                    self.port(&name);
                    port = Some(name);
                }
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
}
