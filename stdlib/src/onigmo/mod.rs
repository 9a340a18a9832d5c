//! Reads Ruby's regular expressions (Onigmo) and says the same in Rust's notation.
//!
//! Invariant: a construct is either carried over with its meaning or refused with its position;
//! nothing is dropped in silence.

mod calls;
mod class;
mod emit;
mod error;
mod parser;
mod part;
mod syntax;

pub use emit::translate;

pub(crate) use emit::Translated;
pub(crate) use error::OnigmoError;
pub use syntax::Options;

pub(crate) use emit::{Read, emit, read};
pub(crate) use parser::{NESTING_MAX, Parser, ParserPosition, References};
pub(crate) use part::{Part, Shape, fixed_chars};
pub(crate) use syntax::{Alias, Assertion, Greed, Label, Node};

#[cfg(test)]
mod tests;
