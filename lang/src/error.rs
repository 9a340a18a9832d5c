//! What can go wrong with one event while a program runs. An error is one pointer wide and cold:
//! the way of an event that succeeds never touches it.

use crate::span::Span;
use std::fmt;

/// An error of evaluation: it fails one event, never the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvalError(Box<Inner>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Inner {
    code: &'static str,
    message: String,
    span: Option<Span>,
    help: Option<String>,
}

impl EvalError {
    /// An error with a stable code and a sentence.
    #[cold]
    #[must_use]
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self(Box::new(Inner { code, message: message.into(), span: None, help: None }))
    }

    /// Says where in the program, unless a place nearer to the cause is known already.
    #[cold]
    #[must_use]
    pub fn at(mut self, span: Span) -> Self {
        self.0.span.get_or_insert(span);
        self
    }

    /// Adds what to try.
    #[cold]
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.0.help = Some(help.into());
        self
    }

    /// The stable code, such as `E0401`.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.0.code
    }

    /// What is wrong, one sentence.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Where in the program.
    #[must_use]
    pub fn span(&self) -> Option<Span> {
        self.0.span
    }

    /// What to try.
    #[must_use]
    pub fn help(&self) -> Option<&str> {
        self.0.help.as_deref()
    }
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for EvalError {}

const _: () = assert!(size_of::<EvalError>() == size_of::<usize>());
