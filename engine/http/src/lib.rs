//! Connectors over HTTP: servers, clients, bulk indexes and log collectors that are reached by it, and
//! WebSocket.
//!
//! Knows sockets, HTTP and the runtime's sources and sinks. Does not know programs or operators.

mod json;
mod target;
mod auth;
pub mod content;
mod bounds;
mod respond;
mod receive;
mod messages;
mod meta;
mod pending;
mod safe;
mod server;
mod source;
mod reply;
mod client;
mod load;
mod answering;
mod streams;
mod hec;
mod sink;
mod loki;
mod splunk;
mod http;
mod nodes;
mod bulk;
mod indexer;
mod opensearch;
mod tremor;
mod talk;
mod whom;
mod hearing;
mod telling;
mod websocket;

use temblor_declare::Connector;

/// The connectors of this crate.
pub static CONNECTORS: &[&Connector] = &[
    &http::HTTP,
    &reply::REPLY,
    &opensearch::OPENSEARCH,
    &opensearch::ELASTICSEARCH,
    &loki::LOKI,
    &splunk::SPLUNK_HEC,
    &tremor::HTTP_SERVER,
    &tremor::HTTP_CLIENT,
    &tremor::ELASTIC,
    &websocket::WEBSOCKET,
    &websocket::WS_SERVER,
    &websocket::WS_CLIENT,
];
