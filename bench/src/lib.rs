//! Workloads, the fixed-frequency injector and comparisons with other engines.

pub mod workload;
pub mod core;
pub mod stages;
pub mod keys;
pub mod buffer;
pub mod scenario;
pub mod equality;
pub mod processes;
pub mod logstash;
pub mod generation;
pub mod svg;
pub mod all;
