//! The settings of one connector, operator, codec or generator, checked against its declaration.
//!
//! Invariant: every setting with a default is there; a reader that asks for another kind than the
//! declaration has is a bug, and says so.

use std::sync::Arc;
use std::time::Duration;

use temblor_lang::diagnostic::Diagnostic;
use temblor_lang::program::Formula;
use temblor_lang::span::Span;
use temblor_lang::value::{Frozen, Value, to_json};

use crate::secret::Secret;

/// The value of a setting.
#[derive(Clone, Debug)]
pub enum Given {
    /// A text, or one of the declared words.
    Text(String),
    /// Texts.
    Texts(Vec<String>),
    /// A whole number, or a number of bytes.
    Whole(u64),
    /// A number.
    Number(f64),
    /// A flag.
    Flag(bool),
    /// A duration.
    Duration(Duration),
    /// A text that is never shown.
    Secret(Secret),
    /// A record with declared keys.
    Record(Settings),
    /// Several of them.
    Records(Vec<Settings>),
    /// Keys and texts.
    Map(Vec<(String, String)>),
    /// Any value.
    Any {
        /// The value.
        value: Arc<Frozen>,
        /// The same as JSON.
        json: String,
    },
    /// A whole number that may be negative; of a duration, its nanoseconds.
    Signed(i64),
    /// Names of a codec or of interceptors, each with its configuration.
    Named(Vec<Named>),
    /// A text, as a whole or by an expression.
    Template(Template),
    /// An expression that is evaluated for each event.
    Formula(Arc<Formula>),
    /// Evaluated for each event, for a sink.
    PerEvent(PerEvent),
}

impl Given {
    /// Any value.
    #[must_use]
    pub fn of(value: Value<'_>) -> Self {
        Self::Any { value: Arc::new(Frozen::new(value)), json: to_json(value) }
    }
}

/// A name and its configuration: `"json"` or `{"name": "json", "config": {…}}`.
#[derive(Clone, Debug)]
pub struct Named {
    /// The name.
    pub name: String,
    /// The record `config`, where there is one.
    pub config: Option<Arc<Frozen>>,
}

/// A text in which `#{…}` may stand.
#[derive(Clone, Debug)]
pub enum Template {
    /// Nothing is evaluated for each event.
    Constant(String),
    /// It depends on the event.
    PerEvent {
        /// The directory that a path begins with; empty for texts that are no paths.
        directory: String,
        /// The rest.
        formula: Arc<Formula>,
    },
}

/// An expression that is evaluated for each event.
#[derive(Clone, Debug)]
pub struct PerEvent {
    /// The expression.
    pub formula: Arc<Formula>,
    /// Whether its value is wanted as JSON; else as a text, and `null` as none.
    pub as_json: bool,
}

impl PerEvent {
    /// The text that it is for all events, if it is one.
    #[must_use]
    pub fn constant(&self) -> Option<&str> {
        self.formula.expr.as_constant()?.as_str()
    }
}

/// Checked settings.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The whole declaration, for messages.
    pub span: Span,
    entries: Vec<(&'static str, Span, Given)>,
    /// What the program sets, right or wrong.
    said: Vec<&'static str>,
}

impl Settings {
    /// No settings yet.
    #[must_use]
    pub fn new(span: Span) -> Self {
        Self { span, ..Self::default() }
    }

    /// Adds a setting, over an earlier one.
    pub fn insert(&mut self, name: &'static str, span: Span, given: Given) {
        self.entries.retain(|(known, ..)| *known != name);
        self.entries.push((name, span, given));
    }

    /// Notes that the program sets it, whatever becomes of its value: a default does not take its place.
    pub fn note(&mut self, name: &'static str) {
        self.said.push(name);
    }

    /// Whether the program sets it; a default does not count.
    #[must_use]
    pub fn says(&self, name: &str) -> bool {
        self.said.contains(&name)
    }

    /// All that is set or has a default: names, places and values.
    pub fn entries(&self) -> impl Iterator<Item = (&'static str, Span, &Given)> {
        self.entries.iter().map(|(name, span, given)| (*name, *span, given))
    }

    /// The value of a setting, if it is set or has a default.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Given> {
        self.entries.iter().find(|(known, ..)| *known == name).map(|(.., given)| given)
    }

    /// Whether a setting is set or has a default.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Where a setting stands; the whole declaration when it is not set.
    #[must_use]
    pub fn span_of(&self, name: &str) -> Span {
        let found = self.entries.iter().find(|(known, ..)| *known == name);
        found.map_or(self.span, |(_, span, _)| *span)
    }

    /// A text or word, if it is set.
    #[must_use]
    pub fn optional_text(&self, name: &str) -> Option<&str> {
        match self.get(name)? {
            Given::Text(text) => Some(text),
            other => mismatch(name, other),
        }
    }

    /// A text or word that is required or has a default.
    #[must_use]
    pub fn text(&self, name: &str) -> &str {
        self.optional_text(name).unwrap_or_else(|| absent(name))
    }

    /// Texts; none when it is not set.
    #[must_use]
    pub fn texts(&self, name: &str) -> &[String] {
        match self.get(name) {
            Some(Given::Texts(texts)) => texts,
            Some(other) => mismatch(name, other),
            None => &[],
        }
    }

    /// A whole number or a size in bytes, if it is set.
    #[must_use]
    pub fn optional_whole(&self, name: &str) -> Option<u64> {
        match self.get(name)? {
            Given::Whole(number) => Some(*number),
            other => mismatch(name, other),
        }
    }

    /// A whole number or a size in bytes that is required or has a default.
    #[must_use]
    pub fn whole(&self, name: &str) -> u64 {
        self.optional_whole(name).unwrap_or_else(|| absent(name))
    }

    /// The same as a size in memory.
    #[must_use]
    pub fn size(&self, name: &str) -> usize {
        usize::try_from(self.whole(name)).unwrap_or(usize::MAX)
    }

    /// A duration in nanoseconds, if it is set.
    #[must_use]
    pub fn optional_nanoseconds(&self, name: &str) -> Option<u64> {
        let duration = self.optional_duration(name)?;
        Some(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
    }

    /// A duration in nanoseconds that is required or has a default.
    #[must_use]
    pub fn nanoseconds(&self, name: &str) -> u64 {
        self.optional_nanoseconds(name).unwrap_or_else(|| absent(name))
    }

    /// A number that is required or has a default.
    #[must_use]
    pub fn number(&self, name: &str) -> f64 {
        self.optional_number(name).unwrap_or_else(|| absent(name))
    }

    /// Any value, if it is set.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<Arc<Frozen>> {
        match self.get(name)? {
            Given::Any { value, .. } => Some(Arc::clone(value)),
            other => mismatch(name, other),
        }
    }

    /// A complaint about a setting of an operator.
    #[must_use]
    pub fn error(&self, name: &str, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error("E0600", self.span_of(name), message)
    }

    /// A number, if it is set.
    #[must_use]
    pub fn optional_number(&self, name: &str) -> Option<f64> {
        match self.get(name)? {
            Given::Number(number) => Some(*number),
            other => mismatch(name, other),
        }
    }

    /// A flag; `false` when it is not set.
    #[must_use]
    pub fn flag(&self, name: &str) -> bool {
        self.optional_flag(name).unwrap_or(false)
    }

    /// A flag, if it is set.
    #[must_use]
    pub fn optional_flag(&self, name: &str) -> Option<bool> {
        match self.get(name)? {
            Given::Flag(flag) => Some(*flag),
            other => mismatch(name, other),
        }
    }

    /// A duration, if it is set.
    #[must_use]
    pub fn optional_duration(&self, name: &str) -> Option<Duration> {
        match self.get(name)? {
            Given::Duration(duration) => Some(*duration),
            other => mismatch(name, other),
        }
    }

    /// A duration that is required or has a default.
    #[must_use]
    pub fn duration(&self, name: &str) -> Duration {
        self.optional_duration(name).unwrap_or_else(|| absent(name))
    }

    /// A secret, if it is set.
    #[must_use]
    pub fn secret(&self, name: &str) -> Option<&Secret> {
        match self.get(name)? {
            Given::Secret(secret) => Some(secret),
            other => mismatch(name, other),
        }
    }

    /// A record, if it is set.
    #[must_use]
    pub fn record(&self, name: &str) -> Option<&Settings> {
        match self.get(name)? {
            Given::Record(settings) => Some(settings),
            other => mismatch(name, other),
        }
    }

    /// Records; none when it is not set.
    #[must_use]
    pub fn records(&self, name: &str) -> &[Settings] {
        match self.get(name) {
            Some(Given::Records(records)) => records,
            Some(other) => mismatch(name, other),
            None => &[],
        }
    }

    /// Keys and texts; none when it is not set.
    #[must_use]
    pub fn map(&self, name: &str) -> &[(String, String)] {
        match self.get(name) {
            Some(Given::Map(entries)) => entries,
            Some(other) => mismatch(name, other),
            None => &[],
        }
    }

    /// Any value, as JSON, if it is set.
    #[must_use]
    pub fn json(&self, name: &str) -> Option<&str> {
        match self.get(name)? {
            Given::Any { json, .. } => Some(json),
            other => mismatch(name, other),
        }
    }

    /// A whole number, or nanoseconds, that may be negative, if it is set.
    #[must_use]
    pub fn optional_signed(&self, name: &str) -> Option<i64> {
        match self.get(name)? {
            Given::Signed(number) => Some(*number),
            other => mismatch(name, other),
        }
    }

    /// Names with their configurations; none when it is not set.
    #[must_use]
    pub fn named(&self, name: &str) -> &[Named] {
        match self.get(name) {
            Some(Given::Named(named)) => named,
            Some(other) => mismatch(name, other),
            None => &[],
        }
    }

    /// A text that may depend on the event, if it is set.
    #[must_use]
    pub fn template(&self, name: &str) -> Option<&Template> {
        match self.get(name)? {
            Given::Template(template) => Some(template),
            other => mismatch(name, other),
        }
    }

    /// An expression that is evaluated for each event, if it is set.
    #[must_use]
    pub fn formula(&self, name: &str) -> Option<Arc<Formula>> {
        match self.get(name)? {
            Given::Formula(formula) => Some(Arc::clone(formula)),
            other => mismatch(name, other),
        }
    }

    /// An expression that is evaluated for each event of a sink, if it is set.
    #[must_use]
    pub fn per_event(&self, name: &str) -> Option<&PerEvent> {
        match self.get(name)? {
            Given::PerEvent(per_event) => Some(per_event),
            other => mismatch(name, other),
        }
    }
}

#[cold]
fn mismatch<T>(name: &str, given: &Given) -> T {
    panic!("bug: the setting `{name}` is declared as another kind than its reader wants: {given:?}")
}

#[cold]
fn absent<T>(name: &str) -> T {
    panic!("bug: the setting `{name}` is neither required nor has it a default")
}
