//! The local ends of a program: files, standard input and output, commands, clocks.
//!
//! Knows bytes and the runtime's sources and sinks. Does not know programs, operators or networks.

pub mod asking;
pub mod source;
pub mod sink;
