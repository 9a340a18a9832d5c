//! The general engines: `regex` in linear time, `fancy-regex` with a bound on backtracking.
//!
//! Invariant: both number the groups as the tree does.

use std::sync::atomic::{AtomicU64, Ordering};

use regex::{Regex, RegexBuilder};

use crate::onigmo::{Node, Translated, emit};

use super::captures::Captures;
use super::error::{GrokError, GrokErrorKind};

/// Largest compiled automaton of the linear engine, in bytes.
const LINEAR_SIZE_MAX: usize = 64 << 20;
/// Backtracks after which the backtracking engine gives up on one text.
pub(super) const BACKTRACKS_MAX: usize = 200_000;

/// A general engine for one pattern.
#[derive(Debug)]
pub(super) enum Fallback {
    /// Linear time.
    Linear { regex: Regex, number: u64 },
    /// Look-around, atomic groups, back-references.
    Backtracking(Box<fancy_regex::Regex>),
}

/// Numbers patterns, so that reused memory is never taken for another pattern's.
static NEXT_NUMBER: AtomicU64 = AtomicU64::new(0);

impl Fallback {
    /// Compiles the tree for the engine that it needs.
    pub(super) fn compile(tree: &Node) -> Result<Self, GrokError> {
        let translated = emit(tree);
        if translated.needs_backtracking { backtracking(&translated) } else { linear(&translated) }
    }

    /// Whether every text takes linear time.
    pub(super) fn is_linear(&self) -> bool {
        matches!(self, Self::Linear { .. })
    }

    /// Compiles the tree if it can run in linear time.
    pub(super) fn compile_linear(tree: &Node) -> Option<Self> {
        let translated = emit(tree);
        if translated.needs_backtracking { None } else { linear(&translated).ok() }
    }

    /// Searches `text`; the captures have been reset for this pattern.
    pub(super) fn search(&self, text: &str, captures: &mut Captures) -> bool {
        match self {
            Self::Linear { regex, number } => search_linear(regex, *number, text, captures),
            Self::Backtracking(regex) => search_backtracking(regex, text, captures),
        }
    }
}

fn linear(translated: &Translated) -> Result<Fallback, GrokError> {
    let built = RegexBuilder::new(&translated.pattern).size_limit(LINEAR_SIZE_MAX).build();
    let regex = built.map_err(engine_error)?;
    let number = NEXT_NUMBER.fetch_add(1, Ordering::Relaxed);
    Ok(Fallback::Linear { regex, number })
}

fn backtracking(translated: &Translated) -> Result<Fallback, GrokError> {
    let built = fancy_regex::RegexBuilder::new(&translated.pattern)
        .backtrack_limit(BACKTRACKS_MAX)
        .delegate_size_limit(LINEAR_SIZE_MAX)
        .build();
    built.map(|regex| Fallback::Backtracking(Box::new(regex))).map_err(engine_error)
}

fn engine_error(error: impl std::fmt::Display) -> GrokError {
    GrokError::new(GrokErrorKind::Engine { message: error.to_string() }, 0)
}

fn search_linear(regex: &Regex, number: u64, text: &str, captures: &mut Captures) -> bool {
    let mut locations = match captures.locations.take() {
        Some((owner, locations)) if owner == number => locations,
        _ => regex.capture_locations(),
    };
    let found = regex.captures_read(&mut locations, text).is_some();
    if found {
        let (start, end) = locations.get(0).unwrap_or_default();
        captures.whole = (start as u32, end as u32);
        for (group, slot) in captures.slots.chunks_exact_mut(2).enumerate() {
            if let Some((start, end)) = locations.get(group + 1) {
                slot.copy_from_slice(&[start as u32, end as u32]);
            }
        }
    }
    captures.locations = Some((number, locations));
    found
}

fn search_backtracking(regex: &fancy_regex::Regex, text: &str, captures: &mut Captures) -> bool {
    match regex.captures(text) {
        Ok(Some(found)) => {
            let whole = found.get(0).map_or((0, 0), |whole| (whole.start(), whole.end()));
            captures.whole = (whole.0 as u32, whole.1 as u32);
            for (group, slot) in captures.slots.chunks_exact_mut(2).enumerate() {
                if let Some(part) = found.get(group + 1) {
                    slot.copy_from_slice(&[part.start() as u32, part.end() as u32]);
                }
            }
            true
        }
        Ok(None) => false,
        Err(_) => {
            captures.exhausted = true;
            false
        }
    }
}
