//! Expressions and statements.

use super::{BinaryOp, For, Ident, Match, ModPath, PatchOp, Path, StringLit, UnaryOp};
use crate::span::Span;

/// An expression or a statement with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// All of it.
    pub span: Span,
}

/// Expressions and statements. Where only some of them may stand, the parser sees to it.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// What the parser could not read; an error has been reported.
    Error,
    /// `null`
    Null,
    /// `true`
    Bool(bool),
    /// `42`, `0xff`; also `10s` (nanoseconds) and `5MiB` (bytes)
    Int(u64),
    /// `1.5`
    Float(f64),
    /// `"text #{x}"`, heredocs and raw strings. Constant text is one literal part.
    String(StringLit),
    /// `<< 1:4, x:8/little >>`
    Bytes(Vec<BytesPart>),
    /// `[1, 2]`
    List(Vec<Expr>),
    /// `{"a": 1}`
    Record(Vec<(StringLit, Expr)>),
    /// `event.a[1].b`, `x`, `$meta`, `string::CONST`, `(f(x)).a`
    Path(Box<Path>),
    /// `string::len(x)`
    Call(ModPath, Vec<Expr>),
    /// `recur(x)`
    Recur(Vec<Expr>),
    /// `-x`, `not x`
    Unary(UnaryOp, Box<Expr>),
    /// `a + b`
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `present event.a` (true) and `absent event.a` (false)
    Presence(bool, Box<Path>),
    /// `a ?? b` (Temblor): `b` when the path `a` is absent or null
    Coalesce(Box<Expr>, Box<Expr>),
    /// `if c then a else b end` (Temblor); without `else` the value is null
    If(Vec<(Expr, Vec<Expr>)>, Option<Vec<Expr>>),
    /// `match x of case … end`
    Match(Box<Match>),
    /// `for x of case (k, v) => … end`
    For(Box<For>),
    /// `patch x of insert "a" => 1 end`
    Patch(Box<Expr>, Vec<PatchOp>),
    /// `merge a of b end`
    Merge(Box<Expr>, Box<Expr>),
    /// `let x.y = value`
    Let(Box<Path>, Box<Expr>),
    /// `drop`
    Drop,
    /// `emit`, `emit x`, `emit x => "port"`
    Emit(Option<Box<Expr>>, Option<StringLit>),
    /// `( x )`: kept, so that printing gives back what was written
    Paren(Box<Expr>),
}

/// `value : size / type` of a bytes literal.
#[derive(Clone, Debug, PartialEq)]
pub struct BytesPart {
    /// The value.
    pub value: Expr,
    /// Bits, or bytes for `binary`.
    pub size: Option<(u64, Span)>,
    /// The word behind the slash.
    pub kind: Option<Ident>,
    /// All of it.
    pub span: Span,
}
