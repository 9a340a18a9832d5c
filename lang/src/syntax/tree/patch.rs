//! The operations of `patch`.

use super::{Expr, StringLit};
use crate::span::Span;

/// One operation of a patch.
#[derive(Clone, Debug, PartialEq)]
pub struct PatchOp {
    /// What it does.
    pub kind: PatchKind,
    /// All of it.
    pub span: Span,
}

/// The operations of a patch.
#[derive(Clone, Debug, PartialEq)]
pub enum PatchKind {
    /// `insert "k" => v`
    Insert(StringLit, Expr),
    /// `upsert "k" => v`
    Upsert(StringLit, Expr),
    /// `update "k" => v`
    Update(StringLit, Expr),
    /// `erase "k"`
    Erase(StringLit),
    /// `move "a" => "b"`
    Move(StringLit, StringLit),
    /// `copy "a" => "b"`
    Copy(StringLit, StringLit),
    /// `merge "k" => v`, `merge => v`
    Merge(Option<StringLit>, Expr),
    /// `default "k" => v`, `default => v`
    Default(Option<StringLit>, Expr),
}
