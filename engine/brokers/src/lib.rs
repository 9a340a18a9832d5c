//! Connectors to brokers: Redis, RabbitMQ, NATS, MQTT and Kafka.
//!
//! Knows the clients of these brokers and the runtime's sources and sinks. Does not know programs or
//! operators.

pub mod packing;
pub mod settling;
pub mod session;
pub mod identities;
pub mod redis;
pub mod rabbitmq;
pub mod nats;
pub mod mqtt;
pub mod kafka;

use temblor_declare::Connector;

/// The connectors of this crate.
pub static CONNECTORS: &[&Connector] = &[
    &redis::REDIS,
    &rabbitmq::RABBITMQ,
    &nats::NATS,
    &mqtt::MQTT,
    &kafka::KAFKA,
    &kafka::KAFKA_CONSUMER,
    &kafka::KAFKA_PRODUCER,
];
