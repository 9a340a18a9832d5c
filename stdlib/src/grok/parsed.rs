//! What named patterns were parsed to, kept for all patterns that refer to them.
//!
//! Invariant: only what parsed without an error is kept, so that errors are found anew, each with its place.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::onigmo::{self, Part};

/// What the meaning of a named pattern depends on besides its text: how expressions are read, and whether
/// only references with a field are captured.
pub(super) type Reading = (onigmo::Options, bool);

/// A named pattern, parsed.
#[derive(Debug)]
pub(super) struct Definition {
    /// Its tree.
    pub part: Arc<Part>,
    /// What it takes of the limits of a pattern.
    pub cost: Cost,
}

/// What counts against the limits of expansion.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Cost {
    /// References, its own included.
    pub references: usize,
    /// Bytes of definitions.
    pub bytes: usize,
    /// Definitions within each other.
    pub chain: usize,
}

/// Named patterns that were parsed.
#[derive(Debug, Default)]
pub(super) struct Parsed {
    known: Mutex<HashMap<Reading, HashMap<String, Arc<Definition>>>>,
}

impl Parsed {
    /// The pattern of this name, if it was parsed so.
    pub(super) fn get(&self, name: &str, reading: Reading) -> Option<Arc<Definition>> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(&reading)?.get(name).cloned()
    }

    /// Keeps a pattern.
    pub(super) fn keep(&self, name: &str, reading: Reading, definition: Arc<Definition>) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry(reading).or_default().insert(name.to_string(), definition);
    }
}
