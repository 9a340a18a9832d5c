//! The errors that end a run or a part of it: I/O, configuration, state. Errors of one event are no
//! `Error`: they are an [`ErrorRecord`](crate::outputs::ErrorRecord) and stop nothing.
//!
//! Invariant: every error names the place, what is wrong there, and what to try.

use std::fmt;

/// What kind of thing went wrong; each kind has its exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The plan itself cannot be run (exit code 2).
    Config,
    /// An event failed and the user asked to stop at the first failure (exit code 3).
    Event,
    /// An input cannot be opened or read (exit code 4).
    Input,
    /// An output cannot be opened or written (exit code 5).
    Output,
    /// The state directory cannot be used (exit code 6).
    State,
    /// A mistake in Temblor itself (exit code 70).
    Bug,
}

impl ErrorKind {
    /// The exit code of a run that ends with an error of this kind.
    pub fn exit_code(self) -> u8 {
        match self {
            ErrorKind::Config => 2,
            ErrorKind::Event => 3,
            ErrorKind::Input => 4,
            ErrorKind::Output => 5,
            ErrorKind::State => 6,
            ErrorKind::Bug => 70,
        }
    }
}

/// An error of I/O, configuration or state.
#[derive(Clone, PartialEq, Eq)]
pub struct Error(Box<Inner>);

#[derive(Clone, PartialEq, Eq)]
struct Inner {
    kind: ErrorKind,
    place: String,
    reason: String,
    help: String,
}

impl Error {
    /// An error of the given kind: `place` names the file or setting, `reason` what is wrong there,
    /// `help` what to try (may be empty).
    pub fn new(
        kind: ErrorKind,
        place: impl Into<String>,
        reason: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        let (place, reason, help) = (place.into(), reason.into(), help.into());
        Error(Box::new(Inner { kind, place, reason, help }))
    }

    /// The plan cannot be run as it is.
    pub fn config(place: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::new(ErrorKind::Config, place, reason, "")
    }

    /// The first event error of a run that stops at the first.
    pub fn event(place: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::new(ErrorKind::Event, place, reason, "")
    }

    /// An input cannot be opened or read.
    pub fn input(
        place: impl Into<String>,
        reason: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        Self::new(ErrorKind::Input, place, reason, help)
    }

    /// An output cannot be opened or written.
    pub fn output(
        place: impl Into<String>,
        reason: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        Self::new(ErrorKind::Output, place, reason, help)
    }

    /// The state directory cannot be used.
    pub fn state(
        place: impl Into<String>,
        reason: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        Self::new(ErrorKind::State, place, reason, help)
    }

    /// A mistake in Temblor itself, caught before it could do harm.
    pub fn bug(place: impl Into<String>, reason: impl Into<String>) -> Self {
        let help = "this is a bug in temblor; please report it with the input that causes it";
        Self::new(ErrorKind::Bug, place, reason, help)
    }

    /// The kind of the error.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The exit code of a run that ends with this error.
    pub fn exit_code(&self) -> u8 {
        self.0.kind.exit_code()
    }

    /// The place (file, setting) where it happened.
    pub fn place(&self) -> &str {
        &self.0.place
    }

    /// What to try; may be empty.
    pub fn help(&self) -> &str {
        &self.0.help
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.place, self.0.reason)?;
        if !self.0.help.is_empty() {
            write!(f, "\n  help: {}", self.0.help)?;
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {self}", self.0.kind)
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_one_word_wide_and_names_place_reason_and_help() {
        assert_eq!(size_of::<Error>(), size_of::<usize>());
        let error = Error::input("a.log", "no such file", "check the path");
        assert_eq!(error.to_string(), "a.log: no such file\n  help: check the path");
        assert_eq!(error.exit_code(), 4);
    }
}
