//! String literals, in each of their forms.

use super::Expr;
use crate::span::Span;

/// A string literal.
#[derive(Clone, Debug, PartialEq)]
pub struct StringLit {
    /// Text and interpolations in order; empty for `""`.
    pub parts: Vec<StringPart>,
    /// How it was written.
    pub form: StringForm,
    /// With its quotes.
    pub span: Span,
}

impl StringLit {
    /// The text, when nothing is interpolated.
    #[must_use]
    pub fn constant(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [] => Some(""),
            [StringPart::Text(text)] => Some(text),
            _ => None,
        }
    }
}

/// How a string was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StringForm {
    /// `"…"`
    Quoted,
    /// `"""⏎…"""`
    Heredoc,
    /// `r"…"`, `r#"…"#` (Temblor): no escapes, no interpolation
    Raw,
}

/// A part of a string.
#[derive(Clone, Debug, PartialEq)]
pub enum StringPart {
    /// Text with its escapes resolved.
    Text(String),
    /// `#{ … }`
    Expr(Expr),
}
