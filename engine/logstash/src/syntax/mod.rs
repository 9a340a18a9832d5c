//! The text of a Logstash configuration and its tree. The parser knows no plugin: whatever follows
//! the grammar has a tree, and every node has its place in the text.

mod condition;
mod parser;
mod scan;
pub mod tree;

pub use parser::parse;

pub(crate) use parser::Parsed;

#[cfg(test)]
mod tests;
