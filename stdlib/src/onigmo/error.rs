//! Why a Ruby regular expression could not be read.
//!
//! Invariant: every error carries the byte offset it is about.

use std::fmt;

/// A refusal of a Ruby regular expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OnigmoError {
    /// Byte offset in the pattern.
    pub offset: usize,
    /// What is wrong, and what to write instead when that is known.
    pub message: String,
}

impl OnigmoError {
    pub(crate) fn new(offset: usize, message: impl Into<String>) -> Self {
        Self { offset, message: message.into() }
    }
}

impl fmt::Display for OnigmoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at byte {}: {}", self.offset, self.message)
    }
}

impl std::error::Error for OnigmoError {}
