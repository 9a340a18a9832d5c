//! Deploy files: flows, their statements and the wiring of connectors and pipelines.

use super::super::grammar::{Pair, Rule};
use super::super::tree::{
    Connect, CreateKind, Deploy, DeployFlow, DeployStatement, Endpoint, FlowStatement,
};
use super::module::{docs, with_docs};
use super::query::create_kind;
use super::{Builder, parts, take};
use crate::diagnostic::{Diagnostic, codes};

impl Builder {
    /// A deploy file.
    pub(in crate::syntax) fn deploy(&mut self, pair: Pair) -> Deploy {
        let mut deploy = Deploy::default();
        for part in parts(pair) {
            let statements = &mut deploy.statements;
            match part.as_rule() {
                Rule::mod_docs => deploy.docs = docs(part),
                Rule::config => deploy.config.push(self.binding(part)),
                Rule::use_def => {
                    statements.extend(self.use_def(part).into_iter().map(DeployStatement::Use));
                }
                Rule::define => statements.push(DeployStatement::Define(self.define(part))),
                Rule::deploy_flow => {
                    statements.push(DeployStatement::Deploy(self.deploy_flow(part)));
                }
                _ => {}
            }
        }
        deploy
    }

    fn deploy_flow(&mut self, pair: Pair) -> DeployFlow {
        let span = self.span(&pair);
        let (docs, mut inner) = with_docs(pair);
        let name = self.ident(&take(&mut inner));
        let mut deploy = DeployFlow { docs, name, from: None, with: Vec::new(), span };
        for part in inner {
            match part.as_rule() {
                Rule::mod_path => deploy.from = Some(self.mod_path(part)),
                _ => deploy.with = self.bindings(part),
            }
        }
        deploy
    }

    /// One statement of a flow; what could not be read adds none.
    pub(super) fn flow_item(&mut self, pair: Pair, statements: &mut Vec<FlowStatement>) {
        match pair.as_rule() {
            Rule::use_def => {
                statements.extend(self.use_def(pair).into_iter().map(FlowStatement::Use));
            }
            Rule::define => statements.push(FlowStatement::Define(self.define(pair))),
            Rule::create => statements.push(FlowStatement::Create(self.create(pair))),
            Rule::connect => statements.push(FlowStatement::Connect(self.connect(pair))),
            _ => {}
        }
    }

    fn connect(&mut self, pair: Pair) -> Connect {
        let span = self.span(&pair);
        let mut inner = parts(pair);
        let from = self.endpoint(take(&mut inner));
        let to = self.endpoint(take(&mut inner));
        if (from.kind, to.kind) == (CreateKind::Connector, CreateKind::Connector) {
            let message = "a connector can only be connected to a pipeline";
            self.report(
                Diagnostic::error(codes::CONNECTOR_TO_CONNECTOR, to.span, message)
                    .with_place(from.span, "this is a connector, too")
                    .with_help("put a pipeline between them"),
            );
        }
        Connect { from, to, span }
    }

    fn endpoint(&mut self, pair: Pair) -> Endpoint {
        let span = self.span(&pair);
        let mut inner = parts(pair);
        let kind = create_kind(take(&mut inner).as_str());
        let name = self.ident(&take(&mut inner));
        Endpoint { kind, name, port: inner.next().map(|port| self.ident(&port)), span }
    }
}
