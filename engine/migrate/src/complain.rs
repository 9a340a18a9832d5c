//! All that can be wrong with a configuration of syslog-ng or rsyslog, by name. Codes E08xx and W08xx are those of
//! these configurations; none is used twice.

use temblor_lang::diagnostic::{Class, Diagnostic};
use temblor_lang::span::Span;

/// What stands in a text where something else should.
pub(crate) fn unexpected(span: Span, found: &str, wanted: &str) -> Diagnostic {
    let found = match found {
        "" => "the end of the text".to_string(),
        found => format!("`{}`", found.chars().take(40).collect::<String>()),
    };
    Diagnostic::error("E0801", span, format!("unexpected {found}"))
        .with_label(format!("expected {wanted}"))
}

/// A bracket, brace or quote without its end.
pub(crate) fn unclosed(span: Span, what: &str) -> Diagnostic {
    Diagnostic::error("E0802", span, format!("this `{what}` is never closed"))
        .with_label("opened here")
}

/// A word that nobody knows here.
pub(crate) fn unknown(span: Span, what: &str, word: &str, known: &[&str]) -> Diagnostic {
    Diagnostic::error("E0803", span, format!("there is no {what} `{word}`"))
        .with_nearest(word, known.iter().copied())
}

/// A name that is used and never defined.
pub(crate) fn undefined<'n>(
    span: Span,
    what: &str,
    name: &str,
    known: impl IntoIterator<Item = &'n str>,
) -> Diagnostic {
    Diagnostic::error("E0804", span, format!("no {what} is called `{name}`"))
        .with_nearest(name, known)
}

/// A bound on what a configuration may hold.
pub(crate) fn too_much(span: Span, what: &str, limit: usize) -> Diagnostic {
    Diagnostic::error("E0805", span, format!("{what}: the limit is {limit}"))
}

/// A file that is not there, or that nobody can read.
pub(crate) fn missing_file(span: Span, path: &str, reason: &str) -> Diagnostic {
    Diagnostic::warning("W0806", Class::Behaviour, span, format!("`{path}` was not read: {reason}"))
        .with_help("what stands in it is missing in the conversion")
}
