//! Temblor's own files: chains, and the sources, sinks and tables beside them.

use super::{
    Binding, Expr, Group, Ident, ModPath, Path, Pattern, Query, Script, StreamRef, StringLit,
    UsedWindow,
};
use crate::span::Span;

/// A `.tmb` file: a query whose sources, sinks and tables may stand beside it.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Program {
    /// `args limit: integer = 10, name;`
    pub args: Vec<ProgramArg>,
    /// `source a from file "x" with … end;` and `sink b into file "y" with … end;`
    pub endpoints: Vec<EndpointDef>,
    /// Everything else, in order.
    pub query: Query,
}

/// `limit: integer = 10`
#[derive(Clone, Debug, PartialEq)]
pub struct ProgramArg {
    /// What it is called.
    pub name: Ident,
    /// What it must be.
    pub kind: Option<Ident>,
    /// What it is when nothing else is given.
    pub default: Option<Expr>,
    /// All of it.
    pub span: Span,
}

/// What a declared place is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndpointRole {
    /// `source …`
    Source,
    /// `sink …`
    Sink,
    /// `table …`
    Table,
}

/// `source name from kind "argument" with … end`, `sink name into kind "argument" with … end` or
/// `table name from kind "argument" with … end`
#[derive(Clone, Debug, PartialEq)]
pub struct EndpointDef {
    /// Whether events come from it, go to it, or are looked up in it.
    pub role: EndpointRole,
    /// The stream (source) or the output port (sink) that it serves, or the name of the table.
    pub name: Ident,
    /// `file`, `stdin`, `stdout`, `null`, …
    pub kind: Ident,
    /// The path or address; may interpolate event fields in a sink.
    pub argument: Option<StringLit>,
    /// `with …`
    pub with: Vec<Binding>,
    /// All of it.
    pub span: Span,
}

/// `in |> a |> b |> out`
#[derive(Clone, Debug, PartialEq)]
pub struct Chain {
    /// The stream at its start; `in` when it starts with a step.
    pub from: Option<StreamRef>,
    /// In order; at least one.
    pub steps: Vec<Step>,
    /// All of it.
    pub span: Span,
}

/// One step of a chain.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// What it does.
    pub kind: StepKind,
    /// `script as NAME …`, `select as NAME …`; operators have their name among the clauses.
    pub name: Option<Ident>,
    /// All of it.
    pub span: Span,
}

/// The kinds of steps.
#[derive(Clone, Debug, PartialEq)]
pub enum StepKind {
    /// `out`, `errors`, `other/port`: into that stream. A name that nothing defines is an output.
    Into(StreamRef),
    /// `script … end`
    Script(Script),
    /// `set event.a = 1, $b = 2`
    Set(Vec<(Path, Expr)>),
    /// `route case c => port … default => port end`; `route all …` takes every matching arm
    Route {
        /// Whether every matching arm is taken (else the first).
        all: bool,
        /// Condition and port.
        arms: Vec<(Expr, Ident)>,
        /// `default => port`
        default: Option<Ident>,
    },
    /// `when c do … elif d do … else … end`: the ends of all chains inside come together behind it.
    When {
        /// Conditions and the chains behind them; the first that holds counts.
        arms: Vec<(Expr, Vec<Step>)>,
        /// `else …`; without it other events go on as they are.
        otherwise: Option<Vec<Step>>,
    },
    /// `match event.a of case "b" => … default => … end`
    Match(Box<ChainMatch>),
    /// `select target over w1, w2 where … group by … having …`
    Select(Box<ChainSelect>),
    /// Any operator: `dedup by event.a within 10s else repeats`, `generic::counter`
    Operator {
        /// `dedup`, `generic::batch`
        name: ModPath,
        /// Values without a word, in order: `grok "…"` of `parse`.
        positional: Vec<Expr>,
        /// Words with a value: `by event.a`, `within 10s`, `else bad`.
        clauses: Vec<(Ident, Option<Expr>)>,
        /// `with … end`
        with: Vec<Binding>,
    },
}

/// A `match` whose arms are chains; their ends come together behind it.
#[derive(Clone, Debug, PartialEq)]
pub struct ChainMatch {
    /// What is looked at.
    pub target: Expr,
    /// In order; the first that fits counts.
    pub arms: Vec<ChainArm>,
    /// `default => …`; without it other events go on as they are.
    pub default: Option<Vec<Step>>,
}

/// `case pattern when guard => step |> step`
#[derive(Clone, Debug, PartialEq)]
pub struct ChainArm {
    /// What must fit.
    pub pattern: Pattern,
    /// `when …`
    pub guard: Option<Expr>,
    /// At least one.
    pub steps: Vec<Step>,
    /// All of it.
    pub span: Span,
}

/// A select inside a chain.
#[derive(Clone, Debug, PartialEq)]
pub struct ChainSelect {
    /// What is selected.
    pub target: Expr,
    /// `over w1, w2` or `over [w1, w2]`: brackets alone would be a segment of the target
    pub windows: Vec<UsedWindow>,
    /// `where …`
    pub filter: Option<Expr>,
    /// `group by …`
    pub group: Option<Group>,
    /// `having …`
    pub having: Option<Expr>,
    /// `else place` behind a window by the time of events: where what comes too late goes
    pub late: Option<Ident>,
}
