//! Names as written, and what binds a value to a name.

use super::Expr;
use crate::span::Span;

/// A name together with its place. For a quoted identifier the text is without the backticks.
#[derive(Clone, Debug, PartialEq)]
pub struct Ident {
    /// The name.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

/// `std::string`, the path of a module, or of something in a module.
#[derive(Clone, Debug, PartialEq)]
pub struct ModPath {
    /// At least one segment.
    pub segments: Vec<Ident>,
    /// All of it.
    pub span: Span,
}

impl ModPath {
    /// The path with `::` between its segments.
    #[must_use]
    pub fn text(&self) -> String {
        let segments: Vec<_> = self.segments.iter().map(|s| s.text.as_str()).collect();
        segments.join("::")
    }
}

/// Doc comment lines (`## text`, `### text`), without the hashes.
pub type Docs = Vec<String>;

/// `name = expression`, in `with`, and with an optional value in `args`.
#[derive(Clone, Debug, PartialEq)]
pub struct Binding {
    /// Left of the sign.
    pub name: Ident,
    /// Right of the sign.
    pub value: Expr,
}

/// A declared argument: `limit = 10`, or `limit` when it is required.
#[derive(Clone, Debug, PartialEq)]
pub struct ArgDecl {
    /// The argument's name.
    pub name: Ident,
    /// The default, unless it is required.
    pub default: Option<Expr>,
}
