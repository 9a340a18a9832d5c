//! From text to the syntax tree.

pub mod tree;
