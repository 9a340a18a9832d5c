//! Connectors that collectors of logs and metrics speak: Lumberjack (Beats), Fluent Forward, OTLP, objects
//! of S3, StatsD, Graphite and the remote write of Prometheus.
//!
//! Knows bytes, sockets and the runtime's sources and sinks. Does not know programs or operators.

mod stream;
mod unpack;
mod answers;
mod listen;
mod dial;
mod parcels;
mod client;
mod lumberjack;
mod fluent;
mod otlp;
mod s3;
mod lines;
mod metrics;
mod prometheus;

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
