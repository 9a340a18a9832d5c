//! `match`, its arms and all patterns.

use super::{BinaryOp, Expr, Ident};
use crate::span::Span;

/// `match target of case … end`
#[derive(Clone, Debug, PartialEq)]
pub struct Match {
    /// What is matched.
    pub target: Expr,
    /// In order.
    pub arms: Vec<Arm>,
}

/// `case pattern when guard => body`
#[derive(Clone, Debug, PartialEq)]
pub struct Arm {
    /// The pattern.
    pub pattern: Pattern,
    /// `when …`
    pub guard: Option<Expr>,
    /// The block. In an immutable match the comma-separated expressions: the last counts.
    pub body: Vec<Expr>,
    /// From `case` to the end of the body.
    pub span: Span,
}

/// A pattern with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    /// What it is.
    pub kind: PatternKind,
    /// All of it.
    pub span: Span,
}

/// Patterns.
#[derive(Clone, Debug, PartialEq)]
pub enum PatternKind {
    /// `_`
    Any,
    /// `~ re|…|`
    Test(Test),
    /// `%{ … }`
    Record(Vec<FieldPattern>),
    /// `%[ … ]`
    Array(Vec<Pattern>),
    /// `%( a, b )`; open with a final `...`
    Tuple {
        /// The written elements.
        items: Vec<Pattern>,
        /// Whether `...` ends it.
        open: bool,
    },
    /// `x = pattern`
    Bind(Ident, Box<Pattern>),
    /// Any expression: equal to its value
    Expr(Expr),
}

/// `re|^a|`
#[derive(Clone, Debug, PartialEq)]
pub struct Test {
    /// The extractor's name.
    pub name: Ident,
    /// What stands between the bars, escapes and continuations resolved.
    pub pattern: String,
    /// All of it.
    pub span: Span,
}

/// One field of a record pattern.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldPattern {
    /// The field.
    pub name: Ident,
    /// What is asked of it.
    pub test: FieldTest,
    /// All of it.
    pub span: Span,
}

/// What a record pattern asks of a field.
#[derive(Clone, Debug, PartialEq)]
pub enum FieldTest {
    /// `present name`
    Present,
    /// `absent name`
    Absent,
    /// `name ~= json||`
    Test(Test),
    /// `name ~= %{ … }`, `name ~= %[ … ]`, `name ~= %( … )`
    Pattern(Pattern),
    /// `name == expression`; only comparisons
    Compare(BinaryOp, Expr),
}
