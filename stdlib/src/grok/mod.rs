//! Grok: named, typed fields out of lines of text, by patterns made of named patterns.
//!
//! Invariant: whatever engine is chosen for a pattern, its results are those of leftmost-first
//! backtracking; speed never changes an answer.

mod scan;
mod captures;
mod error;
mod expand;
mod fallback;
mod field;
mod library;
mod literals;
mod prefilter;
mod explain;
mod parsed;
mod pattern;
mod reference;

pub use captures::Captures;
pub use field::Conversion;
pub use library::Library;
pub use pattern::{Anchor, Grok, Options};
pub use prefilter::{Hits, Prefilter};

#[cfg(test)]
mod tests;
#[cfg(test)]
mod bounds;
#[cfg(test)]
mod equality;
#[cfg(test)]
mod logstash_cases;
