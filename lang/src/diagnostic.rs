//! Errors and warnings about source text. They are data, made by named constructors where they
//! are found and turned into text in one place, [`render`]; nothing else formats them.

pub mod codes;
mod nearest;
mod render;

pub use nearest::nearest;
pub use render::{Colour, render, render_all};

use crate::span::Span;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The text cannot be run.
    Error,
    /// It runs, but probably not as meant.
    Warning,
}

/// The classes of warnings, as users may want to tell them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Experimental or deprecated features.
    General,
    /// There is a faster way.
    Performance,
    /// Breaks a convention.
    Consistency,
    /// Probably does something else than meant.
    Behaviour,
}

/// A further place that belongs to the matter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Where.
    pub span: Span,
    /// What about it.
    pub text: String,
}

/// One error or warning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Stable code such as `E0101`; never reused. See `codes`.
    pub code: &'static str,
    /// Error or warning.
    pub severity: Severity,
    /// The class of a warning.
    pub class: Class,
    /// One sentence: what is wrong.
    pub message: String,
    /// Where it is wrong.
    pub span: Span,
    /// A few words at the caret; may be empty.
    pub label: String,
    /// Other places that belong to it.
    pub labels: Vec<Label>,
    /// What to try: the nearest right name, the form that is allowed here.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error with code, place and sentence.
    #[must_use]
    pub fn error(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: Severity::Error,
            class: Class::General,
            message: message.into(),
            span,
            label: String::new(),
            labels: Vec::new(),
            help: None,
        }
    }

    /// A warning of a class.
    #[must_use]
    pub fn warning(
        code: &'static str,
        class: Class,
        span: Span,
        message: impl Into<String>,
    ) -> Self {
        Self { severity: Severity::Warning, class, ..Self::error(code, span, message) }
    }

    /// Adds the few words at the caret.
    #[must_use]
    pub fn with_label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// Adds another place.
    #[must_use]
    pub fn with_place(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push(Label { span, text: text.into() });
        self
    }

    /// Adds what to try.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds "did you mean …" when a known name is near to `wrong`.
    #[must_use]
    pub fn with_nearest<'n>(self, wrong: &str, known: impl IntoIterator<Item = &'n str>) -> Self {
        match nearest(wrong, known) {
            Some(name) => self.with_help(format!("did you mean `{name}`?")),
            None => self,
        }
    }

    /// Adds the name that is nearest to a wrong one, or else all that there are.
    #[must_use]
    pub fn with_known(self, wrong: &str, known: &[&str]) -> Self {
        let with_nearest = self.with_nearest(wrong, known.iter().copied());
        match with_nearest.help {
            Some(_) => with_nearest,
            None => with_nearest.with_help(format!("known are {}", known.join(", "))),
        }
    }
}
