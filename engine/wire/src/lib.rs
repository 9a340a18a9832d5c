//! Connectors over the network: streams and datagrams, and what all protocols share (addresses, TLS,
//! retries).
//!
//! Knows bytes, sockets and the runtime's sources and sinks. Does not know programs, operators or brokers.

pub mod address;
pub mod tls;
pub mod retry;
pub mod pace;
pub mod breaker;
pub mod admission;
pub mod socket;
pub mod cutter;
pub mod stream;
pub mod outbound;
pub mod inbound;
pub mod connecting;
pub mod sending;
pub mod asking;
pub mod dns;
pub mod broadcast;
pub mod tcp;
pub mod datagram;
pub mod udp;
pub mod unix;
pub mod syslog;
pub mod relp;
pub mod through;
pub mod tremor;

use temblor_declare::Connector;

/// The connectors of this crate.
pub static CONNECTORS: &[&Connector] = &[
    &tcp::TCP,
    &udp::UDP,
    &unix::UNIX,
    &syslog::SYSLOG,
    &relp::RELP,
    &dns::DNS,
    &dns::DNS_CLIENT,
    &through::THROUGH,
    &tremor::TCP_SERVER,
    &tremor::TCP_CLIENT,
    &tremor::UDP_SERVER,
    &tremor::UDP_CLIENT,
    &tremor::UNIX_SOCKET_SERVER,
    &tremor::UNIX_SOCKET_CLIENT,
];
