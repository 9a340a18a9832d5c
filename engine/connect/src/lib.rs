//! The local ends of a program: files, standard input and output, commands, clocks.
//!
//! Knows bytes, the runtime's sources and sinks, and what a declaration is. Does not know programs,
//! operators or networks.

pub mod source;
pub mod sink;
mod connector;

pub use connector::CONNECTORS;
