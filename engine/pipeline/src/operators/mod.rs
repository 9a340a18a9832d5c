//! The operators, one a file. Each is declared once, as an [`OperatorKind`] beside its code: the
//! declaration says which settings it takes in the long notation and how a chain writes them.

mod key;
mod place;
mod saved_rows;
pub mod parse;
pub mod dedup;
pub mod rate_limit;
pub mod suppress;
pub mod sample;
pub mod join;
pub mod around;
pub mod enrich;
pub mod batch;
pub mod counter;
pub mod passthrough;
pub mod history;
mod answers;
pub mod qos;
pub mod roundrobin;
pub mod bucket;
pub mod script;
pub mod select;
#[cfg(test)]
mod harness;

use crate::lookup::NamedTables;
use crate::operator::AnyOperator;
use std::sync::Arc;
use temblor_lang::diagnostic::Diagnostic;
use temblor_lang::program::Formula;
use temblor_lang::span::Span;
use temblor_lang::value::{Frozen, Kind};
use temblor_runtime::shared::{OpenSharedCounts, OpenSharedTokens};

/// A kind of operator: what `define operator x from generic::batch with … end` names.
#[derive(Debug)]
pub struct OperatorKind {
    /// `generic::batch`; ours are `stream::dedup` and so on.
    pub path: &'static str,
    /// The word of a chain step, when it is not the path.
    pub word: Option<&'static str>,
    /// For the manual; one or more sentences.
    pub doc: &'static str,
    /// Chains that run as tests (see `spec/operators`).
    pub examples: &'static [&'static str],
    /// What can be set.
    pub settings: &'static [Setting],
    /// Output ports besides `out` and `err`; [`ANY_PORT`] stands for any.
    pub ports: &'static [&'static str],
    /// Where a port's events go when nothing is connected to it: pairs of port and port. The events
    /// of any other port without a connection are counted as dropped.
    pub fallbacks: &'static [(&'static str, &'static str)],
    /// Makes the operator from its settings. Names and kinds have been checked.
    pub build: fn(&Settings) -> Result<Box<dyn AnyOperator>, Diagnostic>,
}

/// Something that can be set.
#[derive(Debug)]
pub struct Setting {
    /// The key in `with … end`.
    pub name: &'static str,
    /// What it takes.
    pub takes: Takes,
    /// Whether it must be set.
    pub required: bool,
    /// How a chain writes it.
    pub chain: InChain,
    /// For the manual.
    pub doc: &'static str,
}

impl Setting {
    /// A setting that may be left out.
    #[must_use]
    pub const fn new(name: &'static str, takes: Takes, chain: InChain, doc: &'static str) -> Self {
        Self { name, takes, required: false, chain, doc }
    }

    /// The same setting, which must be set.
    #[must_use]
    pub const fn required(self) -> Self {
        Self { required: true, ..self }
    }
}

/// What a setting takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Takes {
    /// An expression that is evaluated for each event.
    Formula,
    /// A value of this kind that is known at load.
    Constant(Kind),
    /// A duration: nanoseconds as an integer, or text such as `"10s"`. Given as nanoseconds.
    Duration,
    /// A place below `event` or `$`, which a chain writes as such (`into event.a.b`). Given as its
    /// text: `event.a.b`, `$a.b`, or plainly `a.b` for a field of the event.
    Place,
    /// One of these words; a chain writes them without quotes.
    Word(&'static [&'static str]),
}

/// How a chain writes a setting, besides `with name = value end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InChain {
    /// The value alone, in the order of the declaration: `rate_limit 1000`.
    Positional,
    /// A word in front: `by event.a`.
    Clause(&'static str),
    /// Only the word, which means true: `refresh`.
    Flag(&'static str),
    /// Only in `with`.
    No,
}

/// The settings of one operator, checked against its declaration.
#[derive(Debug, Default)]
pub struct Settings {
    /// The path of the operator's kind.
    pub kind: &'static str,
    /// The whole definition, for messages.
    pub span: Span,
    entries: Vec<(&'static str, Span, Given)>,
    /// The lookup tables of the program.
    pub tables: NamedTables,
    /// How stores are opened that several programs share, where this build has any.
    pub shared_counts: Option<OpenSharedCounts>,
    /// How stores of tokens are opened, where this build has any.
    pub shared_tokens: Option<OpenSharedTokens>,
}

/// The value of a setting.
#[derive(Debug)]
pub enum Given {
    /// Evaluated for each event.
    Formula(Arc<Formula>),
    /// Known.
    Constant(Arc<Frozen>),
}

impl Settings {
    /// No settings yet.
    #[must_use]
    pub fn new(kind: &'static str, span: Span) -> Self {
        Self { kind, span, ..Self::default() }
    }

    /// What is given, in the order of writing: names, places and values.
    pub fn entries(&self) -> impl Iterator<Item = (&'static str, Span, &Given)> {
        self.entries.iter().map(|(name, span, given)| (*name, *span, given))
    }

    /// Operators may use these tables by name.
    #[must_use]
    pub fn with_tables(self, tables: NamedTables) -> Self {
        Self { tables, ..self }
    }

    /// Adds a setting.
    pub fn set(&mut self, name: &'static str, span: Span, given: Given) {
        self.entries.push((name, span, given));
    }

    /// Where a setting is written; the whole definition when it is not.
    #[must_use]
    pub fn span_of(&self, name: &str) -> Span {
        self.entry(name).map_or(self.span, |(_, span, _)| *span)
    }

    /// Whether it is given.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.entry(name).is_some()
    }

    fn entry(&self, name: &str) -> Option<&(&'static str, Span, Given)> {
        self.entries.iter().rev().find(|(key, _, _)| *key == name)
    }

    /// The expression of a [`Takes::Formula`] setting.
    #[must_use]
    pub fn formula(&self, name: &str) -> Option<Arc<Formula>> {
        match self.entry(name) {
            Some((_, _, Given::Formula(formula))) => Some(formula.clone()),
            _ => None,
        }
    }

    /// The value of any other setting.
    #[must_use]
    pub fn constant(&self, name: &str) -> Option<Arc<Frozen>> {
        match self.entry(name) {
            Some((_, _, Given::Constant(value))) => Some(value.clone()),
            _ => None,
        }
    }

    /// A whole number from 0 ([`Takes::Duration`]: nanoseconds).
    #[must_use]
    pub fn number(&self, name: &str) -> Option<u64> {
        self.constant(name).and_then(|value| value.get().as_u64())
    }

    /// A whole number from 0, or `otherwise` when it is not set.
    ///
    /// # Errors
    /// When it is set to anything else.
    pub fn whole(&self, name: &str, otherwise: u64) -> Result<u64, Diagnostic> {
        match self.constant(name) {
            None => Ok(otherwise),
            Some(value) => value.get().as_u64().ok_or_else(|| {
                self.error(name, format!("`{name}` must be a whole number from 0"))
                    .with_help(format!("leave `{name}` out, or write for example `{name}` = 1000"))
            }),
        }
    }

    /// As [`Settings::whole`], but at least 1 and at most `most`.
    ///
    /// # Errors
    /// When it is set to anything else.
    pub fn count(&self, name: &str, otherwise: usize, most: usize) -> Result<usize, Diagnostic> {
        let number = self.whole(name, otherwise as u64)?;
        match usize::try_from(number) {
            Ok(number) if (1..=most).contains(&number) => Ok(number),
            _ => Err(self.error(name, format!("`{name}` must be from 1 to {most}"))),
        }
    }

    /// A text or a word.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<String> {
        self.constant(name).and_then(|value| value.get().as_str().map(str::to_string))
    }

    /// A flag; false when it is not set.
    #[must_use]
    pub fn flag(&self, name: &str) -> bool {
        self.constant(name).and_then(|value| value.get().as_bool()).unwrap_or(false)
    }

    /// An error about a setting.
    #[must_use]
    pub fn error(&self, name: &str, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error("E0600", self.span_of(name), message)
    }
}

/// Stands in [`OperatorKind::ports`] for ports that a setting names.
pub const ANY_PORT: &str = "*";

/// All kinds of operators, in the order of the manual.
pub static KINDS: &[&[OperatorKind]] = &[
    parse::KINDS,
    dedup::KINDS,
    rate_limit::KINDS,
    suppress::KINDS,
    sample::KINDS,
    join::KINDS,
    around::KINDS,
    enrich::KINDS,
    batch::KINDS,
    counter::KINDS,
    passthrough::KINDS,
    history::KINDS,
    qos::KINDS,
    roundrobin::KINDS,
    bucket::KINDS,
];
