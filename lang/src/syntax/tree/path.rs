//! Paths: where they start and how they go on.

use super::{Expr, Ident, ModPath};
use crate::span::Span;

/// A path: where it starts and how it goes on.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// Where it starts.
    pub root: PathRoot,
    /// How it goes on.
    pub segments: Vec<Segment>,
    /// All of it.
    pub span: Span,
}

/// Where a path starts.
#[derive(Clone, Debug, PartialEq)]
pub enum PathRoot {
    /// `$`; `$a` has `a` as first segment
    Meta,
    /// `event`
    Event,
    /// `state`
    State,
    /// `args`
    Args,
    /// `group`
    Group,
    /// `window`
    Window,
    /// `x`: a local, or an unqualified constant
    Local(Ident),
    /// `module::NAME`
    Const(ModPath),
    /// `(x).a`, `f(x).a`, `[1, 2][0]`, `{"a": 1}.a`
    Expr(Box<Expr>),
}

/// One step of a path.
#[derive(Clone, Debug, PartialEq)]
pub enum Segment {
    /// `.name`
    Name(Ident),
    /// `[x]`
    Index(Expr),
    /// `[a:b]`
    Range(Expr, Expr, Span),
}
