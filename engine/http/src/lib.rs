//! Connectors over HTTP: servers, clients, bulk indexes and log collectors that are reached by it, and
//! WebSocket.

use temblor_declare::Connector;

/// The connectors of this crate.
pub static CONNECTORS: &[&Connector] = &[];
