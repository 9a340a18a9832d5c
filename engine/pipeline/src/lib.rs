//! Programs as graphs of operators over events: from the text of a program to what workers run.
//!
//! Knows values, operators, stores, lookup tables, and the sources and sinks that a program names. Does not
//! know Logstash, editors or the command line: who brings further operators hands them in.

pub mod event;
pub mod row;
pub mod operator;
pub mod store;
pub mod lookup;
pub mod operators;
pub mod registry;
pub mod graph;
pub mod pipeline;
pub mod metered;
pub mod endpoint;
pub mod queueing;
pub mod connected;
pub mod flow;
pub mod load;
pub mod dead_letters;
pub mod rehearsal;
