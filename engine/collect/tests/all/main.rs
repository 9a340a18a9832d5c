//! The connectors of this crate with peers of other projects, with each other, and with those who break the
//! protocol.

mod support;
mod beats;
mod fluent;
mod metrics;
mod otlp;
mod s3;
