//! Scripts and module files: what stands at their top level.

use super::{Define, Docs, Expr, Ident, ModPath, Pattern};
use crate::span::Span;

/// A script, a module file, or the body of a `define script`.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Script {
    /// `### …` at the start of the file.
    pub docs: Docs,
    /// In order of writing.
    pub items: Vec<Item>,
}

/// What can stand at the top level of a script or module file.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// `use std::string;`
    Use(Use),
    /// `const LIMIT = 5;`
    Const(ConstDef),
    /// `fn f(a) with a end;`
    Fn(FnDef),
    /// `intrinsic fn len(a) as string::len;`
    Intrinsic(IntrinsicDef),
    /// Any expression or statement.
    Expr(Expr),
    /// `define …`, in module files only.
    Define(Define),
}

/// `use a::b::c as d` or `use a::{b, c as d}`; groups are flattened to one `Use` each.
#[derive(Clone, Debug, PartialEq)]
pub struct Use {
    /// The module.
    pub path: ModPath,
    /// The name it gets here, unless it is the last segment.
    pub alias: Option<Ident>,
    /// All of it.
    pub span: Span,
}

/// `const NAME = value`
#[derive(Clone, Debug, PartialEq)]
pub struct ConstDef {
    /// `## …` in front.
    pub docs: Docs,
    /// The constant's name.
    pub name: Ident,
    /// Must fold to a value.
    pub value: Expr,
    /// All of it.
    pub span: Span,
}

/// `intrinsic fn name(a, b) as module::function`
#[derive(Clone, Debug, PartialEq)]
pub struct IntrinsicDef {
    /// `## …` in front.
    pub docs: Docs,
    /// The name that it gets here.
    pub name: Ident,
    /// Names of the parameters, for the manual.
    pub params: Vec<Ident>,
    /// Whether the list ends in `...`.
    pub varargs: bool,
    /// The built-in function, by its path without `std::` or with it.
    pub target: ModPath,
    /// All of it.
    pub span: Span,
}

/// A function of the user.
#[derive(Clone, Debug, PartialEq)]
pub struct FnDef {
    /// `## …` in front.
    pub docs: Docs,
    /// The function's name.
    pub name: Ident,
    /// Names of the parameters.
    pub params: Vec<Ident>,
    /// Whether the list ends in `...`.
    pub varargs: bool,
    /// What it does.
    pub body: FnBody,
    /// All of it.
    pub span: Span,
}

/// The two forms of function bodies.
#[derive(Clone, Debug, PartialEq)]
pub enum FnBody {
    /// `with a; b end`
    Block(Vec<Expr>),
    /// `of case (p, q) => …; case _ => … end`
    Cases(Vec<FnCase>, Vec<Expr>),
}

/// `case (p, q) when g => block` of a pattern function.
#[derive(Clone, Debug, PartialEq)]
pub struct FnCase {
    /// One pattern a parameter.
    pub patterns: Vec<Pattern>,
    /// `when …`
    pub guard: Option<Expr>,
    /// The arm.
    pub body: Vec<Expr>,
    /// From `case` to the end of the body.
    pub span: Span,
}
