//! What a flow keeps on this machine: values by their keys, and events on their way.
//!
//! Knows files and the runtime's sources and sinks. Does not know programs or networks. Invariant: what was
//! confirmed is on disk, and what is found there after a crash is whole.

mod place;
mod kv;
mod wal;

use temblor_declare::Connector;

/// The connectors of this crate.
pub static CONNECTORS: &[&Connector] = &[&kv::KV, &wal::WAL];
