//! Why a grok pattern or a pattern file is refused.
//!
//! Invariant: every error says where it is: an offset, and the named patterns on the way to it.

use std::fmt;

use crate::onigmo::OnigmoError;

/// A refusal of a grok pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrokError {
    /// What is wrong.
    pub kind: GrokErrorKind,
    /// Byte offset in the pattern text, or in the definition of the last name of `path`.
    pub offset: usize,
    /// Names of the definitions that led there, outermost first; empty for the pattern itself.
    pub path: Vec<String>,
}

/// The kinds of refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GrokErrorKind {
    /// No pattern has this name.
    UnknownPattern {
        /// The name as written.
        name: String,
        /// The most similar known name, if one is similar.
        nearest: Option<String>,
    },
    /// The definition of a pattern leads back to itself.
    Recursion {
        /// The name that is met again.
        name: String,
    },
    /// The expanded pattern passes one of the named limits.
    TooLarge {
        /// The limit.
        limit: usize,
        /// What is counted.
        what: &'static str,
    },
    /// The regular expression is malformed.
    Syntax {
        /// What is wrong with it.
        message: String,
    },
    /// A line of a pattern file has no regular expression after its name.
    PatternFile {
        /// The line, from 1.
        line: usize,
    },
    /// No engine can run the pattern.
    Engine {
        /// The engine's reason.
        message: String,
    },
}

impl GrokError {
    pub(super) fn new(kind: GrokErrorKind, offset: usize) -> Self {
        Self { kind, offset, path: Vec::new() }
    }

    /// Says that the error lies within the definition `name`.
    pub(super) fn within(mut self, name: &str) -> Self {
        self.path.insert(0, name.to_string());
        self
    }
}

impl From<OnigmoError> for GrokError {
    fn from(error: OnigmoError) -> Self {
        Self::new(GrokErrorKind::Syntax { message: error.message }, error.offset)
    }
}

impl fmt::Display for GrokError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            GrokErrorKind::UnknownPattern { name, nearest } => {
                write!(f, "unknown grok pattern `{name}`")?;
                if let Some(nearest) = nearest {
                    write!(f, "; did you mean `{nearest}`?")?;
                }
            }
            GrokErrorKind::Recursion { name } => {
                write!(f, "the grok pattern `{name}` is defined by itself")?;
            }
            GrokErrorKind::TooLarge { limit, what } => {
                write!(f, "the grok pattern has more than {limit} {what}")?;
            }
            GrokErrorKind::Syntax { message } | GrokErrorKind::Engine { message } => {
                write!(f, "{message}")?;
            }
            GrokErrorKind::PatternFile { line } => {
                return write!(
                    f,
                    "line {line} of the pattern file: expected a name, a space and a regular \
                     expression"
                );
            }
        }
        write!(f, " (at byte {}", self.offset)?;
        if !self.path.is_empty() {
            write!(f, " of {}", self.path.join(" > "))?;
        }
        write!(f, ")")
    }
}

impl std::error::Error for GrokError {}
