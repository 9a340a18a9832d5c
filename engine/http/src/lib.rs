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
pub mod safe;
pub mod server;
pub mod source;
pub mod reply;
pub mod client;
pub mod load;
pub mod answering;
pub mod streams;
pub mod hec;
pub mod indexing;
pub mod sink;
pub mod shipping;
pub mod hec_source;
pub mod loki_source;
pub mod loki;
pub mod splunk;
pub mod http;
pub mod nodes;
pub mod bulk;
pub mod indexer;
pub mod opensearch;
pub mod lookup;
pub mod poll;
pub mod tremor;
pub mod talk;
pub mod whom;
pub mod hearing;
pub mod audience;
pub mod telling;
pub mod websocket;

use temblor_declare::Connector;

/// The connectors of this crate.
pub static CONNECTORS: &[&Connector] = &[
    &http::HTTP,
    &reply::REPLY,
    &opensearch::OPENSEARCH,
    &opensearch::ELASTICSEARCH,
    &loki::LOKI,
    &splunk::SPLUNK_HEC,
    &lookup::HTTP_LOOKUP,
    &poll::HTTP_POLL,
    &tremor::HTTP_SERVER,
    &tremor::HTTP_CLIENT,
    &tremor::ELASTIC,
    &websocket::WEBSOCKET,
    &websocket::WS_SERVER,
    &websocket::WS_CLIENT,
];
