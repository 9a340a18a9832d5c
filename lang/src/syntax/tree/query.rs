//! Queries: their statements, `create` and `select`.

use super::{Binding, Chain, Define, Docs, Expr, Ident, Item, ModPath, Use};
use crate::span::Span;

/// A query file or the body of a pipeline.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Query {
    /// `### …` at the start of the file.
    pub docs: Docs,
    /// `#!config name = value`
    pub config: Vec<Binding>,
    /// In order of writing.
    pub statements: Vec<Statement>,
}

/// A statement of a query.
#[expect(clippy::large_enum_variant, reason = "few nodes a file; a box would only add noise")]
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    /// `use …`
    Use(Use),
    /// `define …`
    Define(Define),
    /// `create …`
    Create(Create),
    /// `select … from … into …`
    Select(Box<Select>),
    /// `in |> where x |> out` (Temblor)
    Chain(Chain),
    /// `const A = 1`, `fn f(a) with … end` (Temblor files)
    Item(Box<Item>),
}

/// `create stream a`, `create script a from m::b with … end`, …
#[derive(Clone, Debug, PartialEq)]
pub struct Create {
    /// What is created.
    pub kind: CreateKind,
    /// The instance's name.
    pub name: Ident,
    /// The definition, unless it has the same name.
    pub from: Option<ModPath>,
    /// `with …`
    pub with: Vec<Binding>,
    /// All of it.
    pub span: Span,
}

/// What can be created.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CreateKind {
    /// `stream`
    Stream,
    /// `script`
    Script,
    /// `operator`
    Operator,
    /// `pipeline`
    Pipeline,
    /// `connector`
    Connector,
}

/// `select target from stream[w] where … group by … into stream having …`
#[derive(Clone, Debug, PartialEq)]
pub struct Select {
    /// What is selected.
    pub target: Expr,
    /// Where events come from.
    pub from: StreamRef,
    /// `[w1, w2]`
    pub windows: Vec<UsedWindow>,
    /// `where …`
    pub filter: Option<Expr>,
    /// `group by …`
    pub group: Option<Group>,
    /// Where results go.
    pub into: StreamRef,
    /// `having …`
    pub having: Option<Expr>,
    /// All of it.
    pub span: Span,
}

/// `w`, or `w on event.time late 10s`: a window that a select uses.
#[derive(Clone, Debug, PartialEq)]
pub struct UsedWindow {
    /// Its name; that of a window without a definition is what it says: `tumbling 10s`.
    pub path: ModPath,
    /// `on`, `late` and so on with their values; none where it goes by the time of arrival.
    pub time: Vec<Binding>,
    /// All of it.
    pub span: Span,
}

/// `name` or `name/port`
#[derive(Clone, Debug, PartialEq)]
pub struct StreamRef {
    /// The node.
    pub node: Ident,
    /// The port, unless it is the default one.
    pub port: Option<Ident>,
    /// All of it.
    pub span: Span,
}

/// The dimensions of `group by`.
#[derive(Clone, Debug, PartialEq)]
pub enum Group {
    /// `event.a`
    Expr(Expr),
    /// `set(a, each(b))`
    Set(Vec<Group>, Span),
    /// `each(event.list)`
    Each(Expr, Span),
}
