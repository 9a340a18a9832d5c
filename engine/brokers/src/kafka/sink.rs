//! Produces events, each confirmed by the broker's delivery report.
//!
//! Invariant: a parcel is confirmed when there is a report for each of its events; what Kafka refuses for good
//! goes to `err`.

use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::message::{Header, OwnedHeaders};
use rdkafka::producer::{BaseRecord, DeliveryResult, ProducerContext, ThreadedProducer};
use rdkafka::{ClientConfig, ClientContext};
use serde_json::Value;
use temblor_declare::Wrong;
use temblor_runtime::error::Error;
use temblor_runtime::outlet::{Desk, Feedback, Outlet, Parcel, Refusal};
use temblor_runtime::sink::{OpenSink, Sink};
use temblor_wire::outbound::task_sink;
use temblor_wire::retry;
use tokio::sync::Semaphore;

use super::client::{Complaints, config, help, is_refusal, is_spoiling};
use super::topics::{self, Lacks};
use super::transaction::{PAIRING, Pairing};
use super::{Cluster, Shape};

/// What holds unless the program says otherwise.
const DEFAULTS: &[(&str, &str)] = &[
    ("client.id", "temblor"),
    ("queue.buffering.max.messages", "200000"),
    ("queue.buffering.max.kbytes", "65536"),
    ("linger.ms", "5"),
    // As Kafka's own clients do: the same key, the same partition.
    ("partitioner", "murmur2_random"),
];
/// Parcels under way, at the most.
const PARCELS_MAX: usize = 1_024;
/// The pause between two attempts to make a topic, where the program bounds their number.
const ATTEMPT_MAX: Duration = Duration::from_secs(10);
/// How long to wait for room in the producer.
const ROOM: Duration = Duration::from_millis(2);

/// The place of an attribute among the settings that are evaluated for each event.
const TOPIC: usize = 0;
const KEY: usize = 1;
const PARTITION: usize = 2;
const TIMESTAMP: usize = 3;
const HEADERS: usize = 4;
/// The same for tremor's producer.
const META: usize = 0;

/// A sink.
#[derive(Clone, Debug)]
pub struct Writing {
    cluster: Cluster,
    shape: Shape,
    config: ClientConfig,
    errors: Arc<Feedback>,
}

impl Writing {
    /// A sink.
    ///
    /// # Errors
    /// Options that librdkafka refuses.
    pub fn new(cluster: Cluster, shape: Shape, errors: Arc<Feedback>) -> Result<Self, Wrong> {
        let config = config(&cluster, DEFAULTS)?;
        Ok(Self { cluster, shape, config, errors })
    }
}

impl OpenSink for Writing {
    fn open(&self, _: bool) -> Result<Box<dyn Sink>, Error> {
        Ok(task_sink(self, Self::write))
    }
}

/// What librdkafka calls back.
pub struct Calls(Complaints);

impl ClientContext for Calls {
    fn error(&self, error: KafkaError, reason: &str) {
        self.0.hear(&error, reason);
    }
}

impl ProducerContext for Calls {
    type DeliveryOpaque = Box<Ticket>;

    fn delivery(&self, result: &DeliveryResult<'_>, ticket: Box<Ticket>) {
        if result.is_ok() {
            self.0.answered();
        }
        ticket.under_way.reported(&ticket, result.as_ref().err().map(|(error, _)| error.clone()));
    }
}

/// An event under way.
pub struct Ticket {
    under_way: Arc<UnderWay>,
    event: usize,
    /// What its message is known by, in a transaction.
    message: u64,
}

/// A parcel under way.
struct UnderWay {
    parcel: Mutex<Option<Parcel>>,
    /// Events without a report, and one for the parcel as long as it is being sent.
    left: AtomicUsize,
    refused: Mutex<Vec<Refusal>>,
    failed: Mutex<Option<KafkaError>>,
    name: String,
    errors: Arc<Feedback>,
    /// The transaction that it is part of.
    pairing: Option<Arc<Pairing<Calls>>>,
    _place: tokio::sync::OwnedSemaphorePermit,
}

impl UnderWay {
    /// There is a report for a message. One that the broker refuses for good spoils its transaction: that is made
    /// again, without the message.
    fn reported(&self, ticket: &Ticket, error: Option<KafkaError>) {
        match (&self.pairing, error) {
            (Some(pairing), Some(error)) => {
                if error.rdkafka_error_code().is_some_and(is_spoiling) {
                    pairing.deny(ticket.message, format!("kafka refuses it: {error}"));
                }
                *self.failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                self.count_down();
            }
            (_, error) => self.report(ticket.event, error),
        }
    }

    /// There is a report for an event; the parcel has ended with the last.
    fn report(&self, event: usize, error: Option<KafkaError>) {
        match error {
            Some(error) if error.rdkafka_error_code().is_some_and(is_refusal) => {
                self.refuse(event, format!("kafka refuses it: {error}"));
            }
            Some(error) => {
                *self.failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            }
            None => {}
        }
        self.count_down();
    }

    fn refuse(&self, event: usize, reason: String) {
        let refusal = Refusal { event, reason, details: String::new() };
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).push(refusal);
    }

    fn count_down(&self) {
        if self.left.fetch_sub(1, Ordering::AcqRel) > 1 {
            return;
        }
        let parcel = self.parcel.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(parcel) = parcel else { return };
        let failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner).take();
        let refused =
            std::mem::take(&mut *self.refused.lock().unwrap_or_else(PoisonError::into_inner));
        if let Some(error) = failed {
            let help = help(error.rdkafka_error_code());
            let what = match &self.pairing {
                Some(_) => "the transaction is made again",
                None => "messages were given up",
            };
            parcel.fail(Error::output(&*self.name, format!("{what}: {error}"), help));
        } else if refused.is_empty() {
            parcel.confirm();
        } else {
            parcel.confirm_except(&refused, &self.errors);
        }
    }
}

type Client = ThreadedProducer<Calls>;

/// Names and values of headers, in order; a header may have no value.
type Headers = Vec<(String, Option<Vec<u8>>)>;

impl Writing {
    fn name(&self) -> String {
        format!("kafka://{}", self.cluster.name)
    }

    fn client(&self, desk: &Desk) -> Result<Client, KafkaError> {
        self.config.create_with_context(Calls(Complaints::of_sink(self.name(), desk)))
    }

    /// Writes into the transactions that the source opens and ends.
    async fn write_exactly_once(self, outlet: Arc<Outlet>, desk: Desk) {
        let pairing = desk.network.shared::<Pairing<Calls>>(PAIRING);
        let (writing, for_client) = (self.clone(), desk.clone());
        let is_first = pairing.offer(Box::new(move |id| {
            let calls = Calls(Complaints::of_sink(writing.name(), &for_client));
            let mut config = writing.config.clone();
            config.set("transactional.id", id).create_with_context(calls)
        }));
        let places = Arc::new(Semaphore::new(PARCELS_MAX));
        while let Some(parcel) = outlet.take().await {
            let source = pairing.source();
            let reason = match (is_first, source) {
                (false, _) => "only one sink of a program takes part in transactions",
                (true, Some(source)) if parcel.stems_from(source) => "",
                (true, _) => {
                    "with `exactly_once` only what the source of the transactions gives is written"
                }
            };
            if !reason.is_empty() {
                let refuse =
                    |event| Refusal { event, reason: reason.to_string(), details: String::new() };
                let refused: Vec<_> = (0..parcel.events().len()).map(refuse).collect();
                parcel.confirm_except(&refused, &self.errors);
                continue;
            }
            let Some(client) = pairing.client() else {
                let reason = "the transaction has ended without these events";
                let help =
                    "an operator between source and sink keeps events; `exactly_once` takes none";
                parcel.fail(Error::output(self.name(), reason, help));
                continue;
            };
            let place = Arc::clone(&places).acquire_owned().await;
            let place = place.expect("nobody closes it");
            // The source learns by the parcel that the producer is of no use.
            let _ = self.send(parcel, place, &client, Some(&pairing)).await;
        }
        let all = u32::try_from(PARCELS_MAX).expect("the bound is small");
        let _ = places.acquire_many(all).await;
    }

    /// Makes the topic that has to be there, as long as it takes. An error when it is another one.
    async fn make_topic(&self, desk: &Desk) -> Result<(), String> {
        let Some(create) = &self.cluster.create else { return Ok(()) };
        let mut retry = self.cluster.retry.clone();
        loop {
            let error = match topics::ensure(&self.config, create).await {
                Ok(()) => return Ok(()),
                Err(Lacks::Partitions(reason)) => return Err(reason),
                Err(Lacks::Answer(error)) => error,
            };
            let reason = format!("the topic {} cannot be made: {error}", create.topic);
            let help = help(error.rdkafka_error_code());
            desk.trouble(Error::output(self.name(), reason, help));
            let wait = retry.fail(retry::chance()).unwrap_or(ATTEMPT_MAX);
            tokio::time::sleep(wait).await;
        }
    }

    async fn write(self, outlet: Arc<Outlet>, desk: Desk) {
        if let Err(reason) = self.make_topic(&desk).await {
            while let Some(parcel) = outlet.take().await {
                parcel.fail(Error::output(self.name(), reason.clone(), ""));
            }
            return;
        }
        if self.cluster.exactly_once {
            return self.write_exactly_once(outlet, desk).await;
        }
        let mut retry = self.cluster.retry.clone();
        let places = Arc::new(Semaphore::new(PARCELS_MAX));
        let mut client = None;
        while let Some(parcel) = outlet.take().await {
            let connected = loop {
                match client.take().map_or_else(|| self.client(&desk), Ok) {
                    Ok(connected) => break Some(connected),
                    Err(error) => {
                        let failed = Error::output(self.name(), error.to_string(), "");
                        desk.warn_attempt(&failed);
                        let Some(wait) = retry.fail(retry::chance()) else { break None };
                        tokio::time::sleep(wait).await;
                    }
                }
            };
            let Some(connected) = connected else {
                parcel.fail(Error::output(self.name(), "the last attempt has failed", ""));
                continue;
            };
            let place = Arc::clone(&places).acquire_owned().await;
            let place = place.expect("nobody closes it");
            let fatal = self.send(parcel, place, &connected, None).await;
            match fatal {
                None => client = Some(connected),
                // A new producer begins a new sequence; what the old one had under way has failed.
                Some(error) => {
                    let failed = Error::output(self.name(), error.to_string(), "");
                    desk.warn_attempt(&failed);
                    let _ = tokio::task::spawn_blocking(move || drop(connected)).await;
                    let wait = retry.fail(retry::chance());
                    tokio::time::sleep(wait.unwrap_or(Duration::from_secs(1))).await;
                }
            }
        }
        let all = u32::try_from(PARCELS_MAX).expect("the bound is small");
        // Reports come until each parcel has ended.
        let _ = places.acquire_many(all).await;
        let _ = tokio::task::spawn_blocking(move || drop(client)).await;
    }

    /// Sends the events of a parcel; gives back the error after which the producer is of no use.
    async fn send(
        &self,
        parcel: Parcel,
        place: tokio::sync::OwnedSemaphorePermit,
        client: &Client,
        pairing: Option<&Arc<Pairing<Calls>>>,
    ) -> Option<KafkaError> {
        let count = parcel.events().len();
        let messages: Vec<_> = (0..count).map(|index| self.message(&parcel, index)).collect();
        let bytes: Vec<Vec<u8>> = parcel.events().map(<[u8]>::to_vec).collect();
        let under_way = Arc::new(UnderWay {
            parcel: Mutex::new(Some(parcel)),
            left: AtomicUsize::new(count + 1),
            refused: Mutex::default(),
            failed: Mutex::default(),
            name: self.name(),
            errors: Arc::clone(&self.errors),
            pairing: pairing.cloned(),
            _place: place,
        });
        let mut fatal = None;
        for (event, (message, payload)) in messages.into_iter().zip(&bytes).enumerate() {
            let message = match message {
                Ok(message) => message,
                Err(reason) => {
                    under_way.refuse(event, reason);
                    under_way.count_down();
                    continue;
                }
            };
            let known = pairing.map_or(0, |_| message.hash(payload));
            if let Some(reason) = pairing.and_then(|pairing| pairing.denied(known)) {
                under_way.refuse(event, reason);
                under_way.count_down();
                continue;
            }
            let ticket =
                Box::new(Ticket { under_way: Arc::clone(&under_way), event, message: known });
            let mut record = message.record(payload, ticket);
            loop {
                let Err((error, back)) = client.send(record) else { break };
                if error.rdkafka_error_code() != Some(RDKafkaErrorCode::QueueFull) {
                    if error.rdkafka_error_code() == Some(RDKafkaErrorCode::Fatal) {
                        fatal = Some(error.clone());
                    }
                    under_way.report(event, Some(error));
                    break;
                }
                record = back;
                tokio::time::sleep(ROOM).await;
            }
        }
        under_way.count_down();
        fatal
    }

    fn message(&self, parcel: &Parcel, event: usize) -> Result<Shipment, String> {
        match &self.shape {
            Shape::PerEvent => Shipment::of_attributes(parcel, event),
            Shape::Tremor { topic, key } => {
                let meta = parcel.attribute(event, META).unwrap_or("null");
                Shipment::of_metadata(topic, key.as_deref(), meta)
            }
        }
    }
}

/// Where a message goes, and with what.
#[derive(Debug, Default, PartialEq, Eq)]
struct Shipment {
    topic: String,
    key: Option<Vec<u8>>,
    partition: Option<i32>,
    /// In milliseconds since 1970-01-01 UTC.
    timestamp: Option<i64>,
    headers: Headers,
}

impl Shipment {
    fn of_attributes(parcel: &Parcel, event: usize) -> Result<Self, String> {
        let text = |attribute| parcel.attribute(event, attribute);
        let number = |attribute, what: &str| match text(attribute) {
            None => Ok(None),
            Some(text) => {
                let read = text.parse::<i64>();
                read.map(Some).map_err(|_| format!("`{what}` must be a whole number, got {text}"))
            }
        };
        let partition = number(PARTITION, "partition")?.map(i32::try_from).transpose();
        let headers = match text(HEADERS) {
            None => Vec::new(),
            Some(text) => headers(&serde_json::from_str(text).unwrap_or(Value::Null))?,
        };
        let topic = text(TOPIC).filter(|topic| !topic.is_empty());
        Ok(Self {
            topic: topic.ok_or("the event names no topic")?.to_string(),
            key: text(KEY).map(|key| key.as_bytes().to_vec()),
            partition: partition.map_err(|_| "there is no such partition".to_string())?,
            timestamp: number(TIMESTAMP, "timestamp")?.map(|ns| ns / 1_000_000),
            headers,
        })
    }

    /// As tremor has it: what the event's metadata says over constants.
    fn of_metadata(topic: &str, key: Option<&str>, meta: &str) -> Result<Self, String> {
        let mut shipment = Self {
            topic: topic.to_string(),
            key: key.map(|key| key.as_bytes().to_vec()),
            ..Self::default()
        };
        if meta == "null" {
            return Ok(shipment);
        }
        let meta: Value = serde_json::from_str(meta).map_err(|error| error.to_string())?;
        if let Some(topic) = meta.get("topic").and_then(Value::as_str) {
            shipment.topic = topic.to_string();
        }
        match meta.get("key") {
            None | Some(Value::Null) => {}
            Some(key) => shipment.key = Some(plain(key)),
        }
        let partition = meta.get("partition").and_then(Value::as_i64);
        shipment.partition = partition.and_then(|number| i32::try_from(number).ok());
        let timestamp = meta.get("timestamp").and_then(Value::as_i64);
        shipment.timestamp = timestamp.map(|ns| ns / 1_000_000);
        shipment.headers = headers(meta.get("headers").unwrap_or(&Value::Null))?;
        Ok(shipment)
    }

    /// What the message is known by when its transaction is made again.
    fn hash(&self, payload: &[u8]) -> u64 {
        let mut hasher = std::hash::DefaultHasher::new();
        (&self.topic, &self.key, self.partition, payload).hash(&mut hasher);
        hasher.finish()
    }

    fn record<'a>(
        &'a self,
        payload: &'a Vec<u8>,
        ticket: Box<Ticket>,
    ) -> BaseRecord<'a, Vec<u8>, Vec<u8>, Box<Ticket>> {
        let mut record = BaseRecord::with_opaque_to(&self.topic, ticket).payload(payload);
        record.key = self.key.as_ref();
        record.partition = self.partition;
        record.timestamp = self.timestamp;
        if !self.headers.is_empty() {
            let mut headers = OwnedHeaders::new_with_capacity(self.headers.len());
            for (key, value) in &self.headers {
                headers = headers.insert(Header { key, value: value.as_ref() });
            }
            record = record.headers(headers);
        }
        record
    }
}

fn headers(value: &Value) -> Result<Headers, String> {
    let record = match value {
        Value::Null => return Ok(Vec::new()),
        Value::Object(record) => record,
        other => return Err(format!("`headers` must be a record, got {other}")),
    };
    let header = |(name, value): (&String, &Value)| {
        (name.clone(), if value.is_null() { None } else { Some(plain(value)) })
    };
    Ok(record.iter().map(header).collect())
}

/// A text as it is, anything else as JSON.
fn plain(value: &Value) -> Vec<u8> {
    match value {
        Value::String(text) => text.as_bytes().to_vec(),
        other => other.to_string().into_bytes(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_of_tremor_holds_over_constants() {
        let plain = Shipment::of_metadata("t", Some("k"), "null").unwrap();
        assert_eq!((plain.topic.as_str(), plain.key.as_deref()), ("t", Some(&b"k"[..])));
        let meta = r#"{"topic":"u","key":"l","partition":3,"timestamp":5000000,"headers":{"a":"b","n":1}}"#;
        let own = Shipment::of_metadata("t", Some("k"), meta).unwrap();
        let headers = vec![("a".into(), Some(b"b".to_vec())), ("n".into(), Some(b"1".to_vec()))];
        let wanted = Shipment {
            topic: "u".into(),
            key: Some(b"l".to_vec()),
            partition: Some(3),
            timestamp: Some(5),
            headers,
        };
        assert_eq!(own, wanted);
        assert!(Shipment::of_metadata("t", None, r#"{"headers":7}"#).is_err());
    }
}
