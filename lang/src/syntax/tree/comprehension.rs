//! `for`, its arms and its fold.

use super::{BinaryOp, Expr, Ident};
use crate::span::Span;

/// `for target of case (k, v) when g => … into init use op end`
#[derive(Clone, Debug, PartialEq)]
pub struct For {
    /// What is gone through.
    pub target: Expr,
    /// In order.
    pub arms: Vec<ForArm>,
    /// `into …`
    pub into: Option<Expr>,
    /// `use +`
    pub fold: Option<(BinaryOp, Span)>,
}

/// `case (k, v) when g => body`
#[derive(Clone, Debug, PartialEq)]
pub struct ForArm {
    /// Name for the key or index.
    pub key: Ident,
    /// Name for the value.
    pub value: Ident,
    /// `when …`
    pub guard: Option<Expr>,
    /// As in [`Arm`].
    pub body: Vec<Expr>,
    /// From `case` to the end of the body.
    pub span: Span,
}
