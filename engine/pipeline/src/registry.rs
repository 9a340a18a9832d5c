//! What programs may name besides the language itself: the operators of this crate and those that other
//! crates hand in.
//!
//! Invariant: whoever loads a program says which registry holds; nothing looks one up by itself.

use crate::metered::METRICS;
use crate::operators::{self, OperatorKind};
use std::sync::LazyLock;
use temblor_declare::{Connector, Ends, Notation};
use temblor_runtime::shared::{OpenSharedCounts, OpenSharedTokens};

/// The kinds of operators and the connectors that programs may name.
#[derive(Debug, Default)]
pub struct Registry {
    operators: Vec<&'static OperatorKind>,
    connectors: Vec<&'static Connector>,
    shared_counts: Option<OpenSharedCounts>,
    shared_tokens: Option<OpenSharedTokens>,
}

impl Registry {
    /// The operators of this crate, and the connector that tells what they have counted.
    #[must_use]
    pub fn built_in() -> Self {
        let operators = operators::KINDS.iter().flat_map(|file| file.iter()).collect();
        Self { operators, connectors: vec![&METRICS], ..Self::default() }
    }

    /// The registry of this crate alone, for programs that name nothing else.
    #[must_use]
    pub fn of_this_crate() -> &'static Self {
        static REGISTRY: LazyLock<Registry> = LazyLock::new(Registry::built_in);
        &REGISTRY
    }

    /// The same, with further operators behind.
    #[must_use]
    pub fn with_operators(
        mut self,
        kinds: impl IntoIterator<Item = &'static OperatorKind>,
    ) -> Self {
        self.operators.extend(kinds);
        self
    }

    /// The same, with further connectors behind.
    #[must_use]
    pub fn with_connectors(mut self, rows: impl IntoIterator<Item = &'static Connector>) -> Self {
        self.connectors.extend(rows);
        self
    }

    /// The same, with stores that several programs share.
    #[must_use]
    pub fn with_shared_counts(self, open: OpenSharedCounts) -> Self {
        Self { shared_counts: Some(open), ..self }
    }

    /// How stores are opened that several programs share.
    #[must_use]
    pub fn shared_counts(&self) -> Option<OpenSharedCounts> {
        self.shared_counts
    }

    /// The same, with stores of tokens that several programs share.
    #[must_use]
    pub fn with_shared_tokens(self, open: OpenSharedTokens) -> Self {
        Self { shared_tokens: Some(open), ..self }
    }

    /// How stores of tokens are opened.
    #[must_use]
    pub fn shared_tokens(&self) -> Option<OpenSharedTokens> {
        self.shared_tokens
    }

    /// All connectors that crates have handed in.
    pub fn connectors(&self) -> impl Iterator<Item = &'static Connector> {
        self.connectors.iter().copied()
    }

    /// The connector that a name stands for in a notation.
    #[must_use]
    pub fn connector(&self, kind: &str, notation: Notation) -> Option<&'static Connector> {
        self.connectors().find(|one| one.kind == kind && one.notation == notation)
    }

    /// The names of the connectors of a notation that can be such an end, in the order of the alphabet.
    #[must_use]
    pub fn kinds(&self, notation: Notation, ends: Ends) -> Vec<&'static str> {
        let is_such = |one: &&Connector| {
            one.notation == notation
                && (one.ends == ends || one.ends == Ends::Both || ends == Ends::Both)
        };
        let mut kinds: Vec<_> = self.connectors().filter(is_such).map(|one| one.kind).collect();
        kinds.sort_unstable();
        kinds
    }

    /// Whether a `.tmb` file can have a sink of this kind.
    #[must_use]
    pub fn has_sink(&self, kind: &str) -> bool {
        let connector = self.connector(kind, Notation::Temblor);
        connector.is_some_and(|one| one.ends != Ends::Source)
    }

    /// All kinds of operators, in the order of the manual.
    pub fn operators(&self) -> impl Iterator<Item = &'static OperatorKind> {
        self.operators.iter().copied()
    }

    /// The kind that a path (`generic::batch`) or the word of a step (`batch`) names.
    #[must_use]
    pub fn operator(&self, name: &str) -> Option<&'static OperatorKind> {
        self.operators().find(|kind| kind.path == name || kind.word == Some(name))
    }
}
