//! What programs may name besides the language itself: the operators of this crate and those that other
//! crates hand in.
//!
//! Invariant: whoever loads a program says which registry holds; nothing looks one up by itself.

use crate::operators::{self, OperatorKind};
use std::sync::LazyLock;

/// The kinds of operators that programs may name.
#[derive(Debug, Default)]
pub struct Registry {
    operators: Vec<&'static OperatorKind>,
}

impl Registry {
    /// The operators of this crate.
    #[must_use]
    pub fn built_in() -> Self {
        Self { operators: operators::KINDS.iter().flat_map(|file| file.iter()).collect() }
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
