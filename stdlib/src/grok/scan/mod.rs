//! The scanning engine: a pattern as operations made for it, run by bounded backtracking.
//!
//! Invariant: an operation commits to a choice only where no other choice could lead to a match.

mod analysis;
mod class;
mod dfa;
mod kept;
mod lower;
mod machine;
mod nfa;
mod program;
mod simplify;
mod symbols;

pub(super) use analysis::is_sure;
pub(super) use lower::{compile, compile_marked};
pub(super) use machine::{Outcome, Scratch};
pub(super) use program::Program;
