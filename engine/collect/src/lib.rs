//! Connectors that collectors of logs and metrics speak: Lumberjack (Beats), Fluent Forward, OTLP, objects
//! of S3, StatsD, Graphite and the remote write of Prometheus.
//!
//! Knows bytes, sockets and the runtime's sources and sinks. Does not know programs or operators.

pub mod stream;
pub mod unpack;
pub mod answers;
pub mod listen;
pub mod dial;
pub mod parcels;
pub mod client;
pub mod lumberjack;
pub mod fluent;
pub mod otlp;
pub mod s3;
mod lines;
pub mod metrics;
pub mod prometheus;

use temblor_declare::Connector;

/// The connectors of this crate.
pub static CONNECTORS: &[&Connector] = &[
    &lumberjack::BEATS,
    &fluent::FLUENT,
    &otlp::OTLP,
    &otlp::OTEL_SERVER,
    &otlp::OTEL_CLIENT,
    &s3::S3,
    &s3::S3_STREAMER,
    &s3::S3_READER,
    &metrics::STATSD,
    &metrics::GRAPHITE,
    &prometheus::PROMETHEUS,
];
