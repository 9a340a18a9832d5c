//! Connectors over HTTP: servers, clients, bulk indexes and log collectors that are reached by it, and
//! WebSocket.
//!
//! Knows sockets, HTTP and the runtime's sources and sinks. Does not know programs or operators.

pub mod json;
pub mod target;
pub mod auth;
pub mod content;
pub mod bounds;
pub mod respond;
pub mod receive;
pub mod messages;
pub mod meta;
pub mod pending;
pub mod server;
pub mod source;
pub mod reply;
pub mod http;

use temblor_declare::Connector;

/// The connectors of this crate.
pub static CONNECTORS: &[&Connector] = &[&http::HTTP, &reply::REPLY];
