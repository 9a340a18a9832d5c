//! Aggregates for windows. Every aggregate stands in [`AGGREGATES`] exactly once.

use temblor_lang::builtin::Aggregate;

/// All aggregates.
pub static AGGREGATES: &[Aggregate] = &[];
