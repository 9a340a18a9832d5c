//! Logstash configurations: their syntax, plugins and options, compiled into an operator of the graph.
//!
//! Knows programs, operators, local sources and sinks. Facts about plugins stand beside the plugins; nothing
//! else of the engine knows them. Does not know the command line, editors or the REPL.

pub mod complain;
pub mod syntax;
mod libraries;
mod keeping;
pub mod settings;
mod charset;
mod saved;
pub use temblor_stdlib::pattern;
mod duration;
pub mod options;
pub mod catalog;
mod condition;
pub mod trace;
pub mod filter;
mod program;
pub mod codec;
pub mod input;
pub mod output;
mod network;
pub mod operator;
mod yaml;
pub mod load;
pub mod steps;
mod link;
pub mod configuration;
pub mod convert;
