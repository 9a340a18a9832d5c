//! Reads Ruby's regular expressions (Onigmo) and says the same in Rust's notation.
//!
//! Invariant: a construct is either carried over with its meaning or refused with its position;
//! nothing is dropped in silence.

mod class;
mod emit;
mod error;
mod parser;
mod syntax;

pub use emit::{Translated, translate};
pub use error::OnigmoError;
pub use syntax::Options;

pub(crate) use emit::emit;
pub(crate) use parser::{Parser, Place, References};
pub(crate) use syntax::{Assertion, Greed, Label, Node};

#[cfg(test)]
mod tests;
