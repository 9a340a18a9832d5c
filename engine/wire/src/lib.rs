//! Connectors over the network: streams and datagrams, and what all protocols share (addresses, TLS,
//! retries).
//!
//! Knows bytes, sockets and the runtime's sources and sinks. Does not know programs, operators or brokers.

pub mod address;
pub mod tls;
pub mod retry;
pub mod outbound;
pub mod inbound;
pub mod tcp;

use temblor_declare::Connector;

/// The connectors of this crate.
pub static CONNECTORS: &[&Connector] = &[&tcp::TCP];
