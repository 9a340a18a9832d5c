//! A failure of the grammar as a diagnostic.

use super::grammar::Rule;
use crate::diagnostic::{Diagnostic, codes};
use crate::span::{SourceId, Span};
use pest::error::{Error, ErrorVariant, InputLocation};

/// What the grammar could not go on with.
pub(super) fn diagnostic(error: &Error<Rule>, source: SourceId) -> Diagnostic {
    let start = match error.location {
        InputLocation::Pos(start) | InputLocation::Span((start, _)) => start,
    };
    let expected = match &error.variant {
        ErrorVariant::ParsingError { positives, .. } => format!("{positives:?}"),
        ErrorVariant::CustomError { message } => message.clone(),
    };
    let span = Span::new(source, start, start + 1);
    Diagnostic::error(codes::UNEXPECTED, span, "this was not expected here").with_help(expected)
}
