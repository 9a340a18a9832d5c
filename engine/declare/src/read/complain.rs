//! What is said of settings: the one place where their diagnostics are made.

use temblor_lang::diagnostic::Diagnostic;
use temblor_lang::span::Span;
use temblor_lang::value::{Value, to_json};

use crate::setting::{Setting, Takes};

/// A key that no row has.
#[must_use]
pub fn unknown<'n>(name: &str, span: Span, known: impl IntoIterator<Item = &'n str>) -> Diagnostic {
    let complaint = Diagnostic::error("E0506", span, format!("unknown setting `{name}`"));
    if ["quorum", "strategy"].contains(&name) {
        // Streams without answers have them; a protocol with answers confirms to one peer after the other.
        return complaint.with_help(
            "an event goes to one of the addresses here; to have it at several, declare a sink for each and send to \
             all of them: it counts as delivered when all have it",
        );
    }
    complaint.with_nearest(name, known)
}

/// A setting that must be there.
#[must_use]
pub fn missing(row: &Setting, span: Span) -> Diagnostic {
    let help = format!("{}: {}", row.takes.describe(), row.doc);
    Diagnostic::error("E0507", span, format!("the setting `{}` is missing", row.name))
        .with_help(help)
}

/// A setting that is not what it should be.
#[must_use]
pub fn unfit(name: &str, reason: &str, span: Span) -> Diagnostic {
    Diagnostic::error("E0510", span, sentence(name, reason))
}

/// `must be …` of a setting, or what else is wrong with it, as a sentence.
#[must_use]
pub fn sentence(name: &str, reason: &str) -> String {
    match reason.starts_with("must ") || reason.starts_with("does not ") {
        true => format!("`{name}` {reason}"),
        false => format!("`{name}`: {reason}"),
    }
}

/// What was expected, and what there is instead.
pub(super) fn mismatch(takes: Takes, value: Value<'_>) -> String {
    match takes {
        Takes::Secret => format!("must be {}", takes.describe()),
        _ => format!("must be {}, got {}", takes.describe(), to_json(value)),
    }
}
