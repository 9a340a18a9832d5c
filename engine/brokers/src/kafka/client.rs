//! What the source and the sink share of librdkafka: options, and what its errors mean to users.
//!
//! Invariant: options that librdkafka does not know are found when the program is loaded.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rdkafka::ClientConfig;
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use temblor_declare::Wrong;

use super::Cluster;

/// The options, with `defaults` below those of the program.
///
/// # Errors
/// An option that librdkafka does not know, or a value that it does not take.
pub fn config(cluster: &Cluster, defaults: &[(&str, &str)]) -> Result<ClientConfig, Wrong> {
    let mut config = ClientConfig::new();
    for (name, value) in defaults {
        config.set(*name, *value);
    }
    for (name, value) in &cluster.options {
        config.set(name, value);
    }
    // Its own messages would go past the console; errors come by callbacks.
    config.set_log_level(rdkafka::config::RDKafkaLogLevel::Emerg);
    config.create_native_config().map_err(|error| wrong(&error))?;
    Ok(config)
}

fn wrong(error: &KafkaError) -> Wrong {
    let KafkaError::ClientConfig(_, reason, name, value) = error else {
        return Wrong { setting: None, message: error.to_string(), help: String::new() };
    };
    if name.starts_with("ssl.") || value.contains("ssl") || value.starts_with("SCRAM") {
        let help = "build it in with `cargo build --release --features kafka-tls` (it takes OpenSSL's \
                    headers, too), unless the setting itself is wrong";
        let message = format!("this build's client for Kafka refuses {name} = {value}: {reason}");
        return Wrong { setting: None, message, help: help.to_string() };
    }
    let message = format!("librdkafka refuses {name} = {value}: {reason}");
    let help = "its documentation (CONFIGURATION.md) has all names and values";
    Wrong { setting: None, message, help: help.to_string() }
}

/// The same kind of error is told once in this time.
const QUIET: Duration = Duration::from_secs(30);

/// Which kinds of errors have been told, and when: librdkafka repeats them with each attempt.
#[derive(Default)]
pub struct Told(Mutex<HashMap<Option<i32>, Instant>>);

impl Told {
    /// Whether an error of that kind should be told now.
    pub fn is_due(&self, code: Option<RDKafkaErrorCode>) -> bool {
        // All brokers are down when the connection to the only one fails.
        let kind = match code {
            Some(RDKafkaErrorCode::AllBrokersDown) => {
                Some(RDKafkaErrorCode::BrokerTransportFailure)
            }
            other => other,
        };
        let kind = kind.map(|code| code as i32);
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = told.get(&kind).is_none_or(|at| at.elapsed() >= QUIET);
        if is_due {
            told.insert(kind, Instant::now());
        }
        is_due
    }
}

/// What to try about an error.
#[must_use]
pub fn help(code: Option<RDKafkaErrorCode>) -> &'static str {
    use RDKafkaErrorCode as Code;
    match code {
        Some(Code::AllBrokersDown | Code::BrokerTransportFailure | Code::Resolve) => {
            "check that brokers run there, that their advertised addresses can be reached, and whether they \
             want TLS or SASL"
        }
        Some(Code::UnknownTopicOrPartition | Code::UnknownTopic) => "create the topic",
        Some(Code::TopicAuthorizationFailed | Code::GroupAuthorizationFailed) => {
            "give the user the right to it (kafka-acls)"
        }
        Some(Code::SaslAuthenticationFailed | Code::Authentication) => "check `sasl`",
        Some(Code::SSL) => "check `tls`, and that the address is that of a listener with TLS",
        Some(Code::FencedInstanceId | Code::UnreleasedInstanceId) => {
            "another member has the same `instance`; give each its own"
        }
        Some(Code::InconsistentGroupProtocol) => {
            "the members of the group divide partitions differently; set `assignment` to the same"
        }
        _ => "",
    }
}

/// Whether a message will be refused each time that it is sent.
#[must_use]
pub fn is_refusal(code: RDKafkaErrorCode) -> bool {
    use RDKafkaErrorCode as Code;
    matches!(
        code,
        Code::MessageSizeTooLarge
            | Code::InvalidMessage
            | Code::InvalidMessageSize
            | Code::InvalidRecord
            | Code::InvalidTopic
            | Code::InvalidTimestamp
            | Code::InvalidArgument
            | Code::UnknownTopic
            | Code::UnknownTopicOrPartition
            | Code::UnknownPartition
            | Code::TopicAuthorizationFailed
            | Code::PolicyViolation
            | Code::UnsupportedForMessageFormat
            | Code::InvalidRequiredAcks
            | Code::MessageTimedOut
    )
}
