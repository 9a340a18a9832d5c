//! Logstash configurations: their syntax, plugins and options, compiled into an operator of the graph.
//!
//! Knows programs, operators, local sources and sinks. Facts about plugins stand beside the plugins; nothing
//! else of the engine knows them. Does not know the command line, editors or the REPL.

pub mod complain;
pub mod syntax;
pub mod libraries;
pub mod settings;
pub mod charset;
pub mod saved;
pub use temblor_stdlib::pattern;
pub mod duration;
pub mod options;
pub mod catalog;
pub mod condition;
pub mod trace;
pub mod filter;
pub mod program;
pub mod codec;
pub mod input;
pub mod output;
pub mod network;
pub mod operator;
pub mod steps;
mod yaml;
pub mod load;
pub mod link;
pub mod configuration;
pub mod convert;
