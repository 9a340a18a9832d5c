//! Definitions, of all kinds.

use super::{ArgDecl, Binding, Docs, Expr, FlowStatement, Ident, ModPath, Query, Script};
use crate::span::Span;

/// A definition, wherever it may stand.
#[derive(Clone, Debug, PartialEq)]
pub struct Define {
    /// `## …` in front.
    pub docs: Docs,
    /// The defined name.
    pub name: Ident,
    /// What is defined.
    pub kind: DefineKind,
    /// All of it.
    pub span: Span,
}

/// What can be defined.
#[derive(Clone, Debug, PartialEq)]
pub enum DefineKind {
    /// `define window w from tumbling with … end`
    Window(WindowDef),
    /// `define operator o from generic::batch with … end`
    Operator(OperatorDef),
    /// `define script s … script … end`
    Script(ScriptDef),
    /// `define pipeline p … pipeline … end`
    Pipeline(PipelineDef),
    /// `define connector c from file with … end`
    Connector(ConnectorDef),
    /// `define flow f flow … end`
    Flow(FlowDef),
}

/// A window.
#[derive(Clone, Debug, PartialEq)]
pub struct WindowDef {
    /// `tumbling`, `sliding` (and Temblor's `session`, `ring`).
    pub kind: Ident,
    /// `with …`
    pub with: Vec<Binding>,
    /// `state …`
    pub state: Option<Expr>,
    /// `script from tick …`
    pub tick: Option<(Ident, Script)>,
    /// `script …`
    pub script: Option<Script>,
}

/// An operator.
#[derive(Clone, Debug, PartialEq)]
pub struct OperatorDef {
    /// `generic::batch`
    pub kind: ModPath,
    /// `args …`
    pub args: Vec<ArgDecl>,
    /// `with …`
    pub with: Vec<Binding>,
}

/// A script with its ports.
#[derive(Clone, Debug, PartialEq)]
pub struct ScriptDef {
    /// `args …`
    pub args: Vec<ArgDecl>,
    /// `state …`
    pub state: Option<Expr>,
    /// `script from port …`
    pub ports: Vec<(Ident, Script)>,
    /// The unnamed `script …`, for port `in`.
    pub main: Script,
}

/// A pipeline.
#[derive(Clone, Debug, PartialEq)]
pub struct PipelineDef {
    /// `from a, b`
    pub from: Option<Vec<Ident>>,
    /// `into x, y`
    pub into: Option<Vec<Ident>>,
    /// `args …`
    pub args: Vec<ArgDecl>,
    /// Between `pipeline` and `end`.
    pub body: Query,
}

/// `define connector c from file args … with … end`
#[derive(Clone, Debug, PartialEq)]
pub struct ConnectorDef {
    /// `file`, `stdio`, …
    pub kind: Ident,
    /// `args …`
    pub args: Vec<ArgDecl>,
    /// `with …`
    pub with: Vec<Binding>,
}

/// A flow.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowDef {
    /// `args …`
    pub args: Vec<ArgDecl>,
    /// Between `flow` and `end`.
    pub statements: Vec<FlowStatement>,
}
