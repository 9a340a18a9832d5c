//! What the source and the sink share of librdkafka: options, and what its errors mean to users.
//!
//! Invariant: options that librdkafka does not know are found when the program is loaded.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rdkafka::ClientConfig;
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use temblor_declare::Wrong;
use temblor_runtime::error::Error;
use temblor_runtime::outlet::Desk;
use temblor_runtime::source::feed::Feed;

use super::Cluster;
use crate::session::Presence;

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

/// What users are told of the errors that librdkafka repeats with each attempt: that no broker can be reached,
/// once; anything else once in a while.
pub struct Complaints {
    name: String,
    error: fn(String, String, &'static str) -> Error,
    report: Box<dyn Fn(Error) + Send + Sync>,
    presence: Presence,
    /// Which kinds have been told, and when.
    told: Mutex<HashMap<Option<i32>, Instant>>,
    /// Why a connection failed last.
    reason: Mutex<String>,
}

impl Complaints {
    /// Of a source.
    #[must_use]
    pub fn of_source(name: String, feed: &Feed) -> Self {
        let (presence, feed) = (Presence::of_source(feed), feed.clone());
        Self::new(name, Error::input, presence, Box::new(move |error| feed.trouble(error)))
    }

    /// Of a sink.
    #[must_use]
    pub fn of_sink(name: String, desk: &Desk) -> Self {
        let (presence, desk) = (Presence::of_sink(desk), desk.clone());
        Self::new(name, Error::output, presence, Box::new(move |error| desk.trouble(error)))
    }

    fn new(
        name: String,
        error: fn(String, String, &'static str) -> Error,
        presence: Presence,
        report: Box<dyn Fn(Error) + Send + Sync>,
    ) -> Self {
        let (told, reason) = (Mutex::default(), Mutex::default());
        Self { name, error, report, presence, told, reason }
    }

    /// librdkafka, or a broker, complains.
    pub fn hear(&self, error: &KafkaError, reason: &str) {
        let code = error.rdkafka_error_code();
        match code {
            // The client goes on with other brokers, if there are any.
            Some(RDKafkaErrorCode::BrokerTransportFailure | RDKafkaErrorCode::Resolve)
                if reason.is_empty() => {}
            Some(RDKafkaErrorCode::BrokerTransportFailure | RDKafkaErrorCode::Resolve) => {
                reason.clone_into(&mut self.reason());
            }
            Some(RDKafkaErrorCode::AllBrokersDown) => {
                self.lose(reason, code);
            }
            _ if self.is_due(code) => {
                let colon = if reason.is_empty() { "" } else { ": " };
                (self.report)(self.make(format!("{error}{colon}{reason}"), code));
            }
            _ => {}
        }
    }

    /// No broker can be reached. librdkafka says so again and again: it counts once.
    fn lose(&self, reason: &str, code: Option<RDKafkaErrorCode>) {
        let known = self.reason().clone();
        let reason = if known.is_empty() { reason } else { &known };
        let colon = if reason.is_empty() { "" } else { ": " };
        let error = self.make(format!("no broker can be reached{colon}{reason}"), code);
        match self.presence.is_away() {
            false => self.presence.lost(&error),
            true => self.presence.lost_silently(&error),
        }
    }

    /// Something failed that was asked for.
    pub fn fail(&self, error: &KafkaError) {
        let code = error.rdkafka_error_code();
        if self.is_due(code) {
            (self.report)(self.make(error.to_string(), code));
        }
    }

    /// A broker has answered.
    pub fn answered(&self) {
        self.presence.found(&self.name);
    }

    /// Whether no broker can be reached.
    #[must_use]
    pub fn is_away(&self) -> bool {
        self.presence.is_away()
    }

    fn make(&self, reason: String, code: Option<RDKafkaErrorCode>) -> Error {
        (self.error)(self.name.clone(), reason, help(code))
    }

    fn is_due(&self, code: Option<RDKafkaErrorCode>) -> bool {
        let kind = code.map(|code| code as i32);
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = told.get(&kind).is_none_or(|at| at.elapsed() >= QUIET);
        if is_due {
            told.insert(kind, Instant::now());
        }
        is_due
    }

    fn reason(&self) -> MutexGuard<'_, String> {
        self.reason.lock().unwrap_or_else(PoisonError::into_inner)
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

/// Whether a message will be refused each time, and its transaction with it.
#[must_use]
pub fn is_spoiling(code: RDKafkaErrorCode) -> bool {
    is_refusal(code) && code != RDKafkaErrorCode::MessageTimedOut
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
