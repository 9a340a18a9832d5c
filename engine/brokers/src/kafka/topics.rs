//! Topics that a program wants to be there, with a number of partitions that keys rely on.
//!
//! Invariant: a topic that is there is never changed; one with another number of partitions is refused.

use std::time::Duration;

use rdkafka::ClientConfig;
use rdkafka::admin::{AdminClient, AdminOptions, NewTopic, TopicReplication};
use rdkafka::client::DefaultClientContext;
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::producer::{BaseProducer, Producer};

use super::Create;

/// How long making a topic may take, and asking about it.
const ANSWER_MAX: Duration = Duration::from_secs(10);
/// How often brokers are asked about a topic that was just made.
const LOOKS_MAX: usize = 20;
/// Time between two of these questions.
const LOOK: Duration = Duration::from_millis(250);
/// Options of consumers and of producers that clients of both kinds know.
const COMMON: [&str; 6] =
    ["bootstrap.servers", "security.", "sasl.", "ssl.", "client.id", "socket."];

/// Why a topic is not as it should be.
#[derive(Debug)]
pub enum Lacks {
    /// It may be another time.
    Answer(KafkaError),
    /// It has another number of partitions.
    Partitions(String),
}

/// Makes a topic if it is not there, and looks how many partitions it has.
///
/// # Errors
/// Nobody answers, the topic cannot be made, or it is another one.
pub async fn ensure(config: &ClientConfig, create: &Create) -> Result<(), Lacks> {
    let mut own = ClientConfig::new();
    for (name, value) in config.config_map() {
        if COMMON.iter().any(|prefix| name.starts_with(prefix)) {
            own.set(name, value);
        }
    }
    own.set_log_level(rdkafka::config::RDKafkaLogLevel::Emerg);
    let admin: AdminClient<DefaultClientContext> = own.create().map_err(Lacks::Answer)?;
    let replication = TopicReplication::Fixed(create.replication);
    let topic = NewTopic::new(&create.topic, create.partitions, replication);
    let options =
        AdminOptions::new().operation_timeout(Some(ANSWER_MAX)).request_timeout(Some(ANSWER_MAX));
    let made = admin.create_topics([&topic], &options).await.map_err(Lacks::Answer)?;
    match made.into_iter().next() {
        Some(Err((_, code))) if code != RDKafkaErrorCode::TopicAlreadyExists => {
            return Err(Lacks::Answer(KafkaError::AdminOp(code)));
        }
        _ => {}
    }
    for _ in 0..LOOKS_MAX {
        let (config, name) = (own.clone(), create.topic.clone());
        let asked = tokio::task::spawn_blocking(move || partitions(&config, &name)).await;
        let found = asked.map_err(|_| Lacks::Answer(KafkaError::Canceled))?;
        match found.map_err(Lacks::Answer)? {
            // Brokers hear of a new topic one after the other.
            0 => tokio::time::sleep(LOOK).await,
            found if found == create.partitions => return Ok(()),
            found => {
                let (topic, wanted) = (&create.topic, create.partitions);
                let reason = format!("the topic {topic} has {found} partitions, not {wanted}");
                return Err(Lacks::Partitions(reason));
            }
        }
    }
    Err(Lacks::Answer(KafkaError::AdminOp(RDKafkaErrorCode::UnknownTopicOrPartition)))
}

/// How many partitions a topic has; 0 where it is not there.
fn partitions(config: &ClientConfig, topic: &str) -> Result<i32, KafkaError> {
    let producer: BaseProducer = config.create()?;
    let metadata = producer.client().fetch_metadata(Some(topic), ANSWER_MAX)?;
    let found = metadata.topics().iter().find(|one| one.name() == topic);
    Ok(found.map_or(0, |one| i32::try_from(one.partitions().len()).unwrap_or(i32::MAX)))
}
