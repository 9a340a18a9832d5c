//! Deploy files, and what a flow connects.

use super::{Binding, Create, CreateKind, Define, Docs, Ident, ModPath, Use};
use crate::span::Span;

/// A deploy file, or a Temblor file.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Deploy {
    /// `### …` at the start of the file.
    pub docs: Docs,
    /// `#!config name = value`
    pub config: Vec<Binding>,
    /// In order of writing.
    pub statements: Vec<DeployStatement>,
}

/// A statement of a deploy file.
#[expect(clippy::large_enum_variant, reason = "few nodes a file; a box would only add noise")]
#[derive(Clone, Debug, PartialEq)]
pub enum DeployStatement {
    /// `use …`
    Use(Use),
    /// `define flow …`
    Define(Define),
    /// `deploy flow f from m::g with … end`
    Deploy(DeployFlow),
}

/// `deploy flow name from definition with … end`
#[derive(Clone, Debug, PartialEq)]
pub struct DeployFlow {
    /// `## …` in front.
    pub docs: Docs,
    /// The instance's name.
    pub name: Ident,
    /// The definition, unless it has the same name.
    pub from: Option<ModPath>,
    /// `with …`
    pub with: Vec<Binding>,
    /// All of it.
    pub span: Span,
}

/// A statement of a flow.
#[derive(Clone, Debug, PartialEq)]
pub enum FlowStatement {
    /// `use …`
    Use(Use),
    /// `define pipeline …`, `define connector …`
    Define(Define),
    /// `create connector …`, `create pipeline …`
    Create(Create),
    /// `connect /connector/a/out to /pipeline/b/in`
    Connect(Connect),
}

/// `connect … to …`
#[derive(Clone, Debug, PartialEq)]
pub struct Connect {
    /// Where events come from.
    pub from: Endpoint,
    /// Where they go.
    pub to: Endpoint,
    /// All of it.
    pub span: Span,
}

/// `/connector/name/port` or `/pipeline/name/port`
#[derive(Clone, Debug, PartialEq)]
pub struct Endpoint {
    /// Connector or pipeline.
    pub kind: CreateKind,
    /// The instance.
    pub name: Ident,
    /// The port, unless it is the default one.
    pub port: Option<Ident>,
    /// All of it.
    pub span: Span,
}
