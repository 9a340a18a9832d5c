//! Publishes events.
//!
//! Invariant: with QoS 1 or 2 an event is confirmed when the broker has acknowledged it; what was not
//! acknowledged when a connection broke is published again on the next one.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use rumqttc::QoS;
use rumqttc::v5::mqttbytes::v5::PublishProperties;
use serde_json::Value;
use temblor_runtime::error::Error;
use temblor_runtime::outlet::{Desk, Feedback, Outlet, Parcel, Refusal};
use temblor_runtime::sink::{OpenSink, Sink};
use temblor_wire::outbound::task_sink;
use temblor_wire::retry::{self, Retry};
use tokio::sync::mpsc;

use super::session::{Broker, Happened, Link, Version};
use crate::session::{CONNECT_MAX, Presence};

/// Messages of QoS 2 that are under way, at the most. Mosquitto takes 20 of a client by default, and leaves out
/// without a word what comes beyond.
const EXACTLY_ONCE_MAX: usize = 10;
/// Events that are published before others are taken from the program.
const ROUND_EVENTS_MAX: usize = 5_000;
/// A broker that says nothing for so long, while it is waited for, has gone.
const ANSWER: Duration = Duration::from_secs(60);
/// How long saying goodbye may take.
const GOODBYE: Duration = Duration::from_secs(2);
/// Bytes that a packet needs beside topic and payload.
const HEAD_BYTES: usize = 16;
/// Topics have 65,535 bytes at the most (MQTT 5.0, section 1.5.4).
const TOPIC_BYTES_MAX: usize = 65_535;

/// The place of an attribute among the settings that are evaluated for each event.
const TOPIC: usize = 0;
const HEADERS: usize = 1;

/// How events are published.
#[derive(Clone, Debug)]
pub struct Shape {
    /// How messages are delivered.
    pub qos: QoS,
    /// Whether the broker keeps the last one.
    pub retain: bool,
    /// The type of messages.
    pub content_type: Option<String>,
}

/// A sink.
#[derive(Clone, Debug)]
pub struct Writing {
    /// The broker.
    pub broker: Broker,
    /// The waits between attempts.
    pub retry: Retry,
    /// How events are published.
    pub shape: Shape,
    /// Where events go that are refused for good.
    pub errors: Arc<Feedback>,
}

/// Which event of which parcel.
type Place = (usize, usize);

/// What became of an event.
#[derive(Clone, PartialEq)]
enum Fate {
    Waiting,
    Taken,
    Refused(String),
}

/// A connection that publishes.
struct Publisher {
    link: Link,
    happened: mpsc::Receiver<Happened>,
    /// The longest packet that the broker takes.
    packet_max: Option<u32>,
}

/// A message to be published.
struct Draft<'a> {
    topic: &'a str,
    payload: &'a [u8],
    properties: Option<PublishProperties>,
}

impl OpenSink for Writing {
    fn open(&self, _: bool) -> Result<Box<dyn Sink>, Error> {
        Ok(task_sink(self, Self::write))
    }
}

impl Writing {
    async fn write(mut self, outlet: Arc<Outlet>, desk: Desk) {
        let mut publisher: Option<Publisher> = None;
        let presence = Presence::of_sink(&desk);
        while let Some(first) = next(&outlet, &mut publisher).await {
            let mut count = first.events().len();
            let mut parcels = vec![first];
            while count < ROUND_EVENTS_MAX {
                let Some(next) = outlet.take_now() else { break };
                count += next.events().len();
                parcels.push(next);
            }
            let mut fates: Vec<Vec<Fate>> =
                parcels.iter().map(|parcel| vec![Fate::Waiting; parcel.events().len()]).collect();
            let failed = loop {
                let Err(reason) = self.publish(&parcels, &mut fates, &mut publisher).await else {
                    break None;
                };
                publisher = None;
                let failed = self.broker.output_error(&reason);
                let Some(wait) = self.retry.fail(retry::chance()) else { break Some(failed) };
                presence.lost(&failed);
                tokio::time::sleep(wait).await;
            };
            if let Some(error) = failed {
                parcels.into_iter().for_each(|parcel| parcel.fail(error.clone()));
                continue;
            }
            self.retry.succeed();
            presence.found(&self.broker.name());
            confirm(parcels, fates, &self.errors).await;
        }
        if let Some(Publisher { link, mut happened, .. }) = publisher {
            let goodbye = async {
                link.client.disconnect().await;
                while happened.recv().await.is_some() {}
            };
            // Everything has been acknowledged.
            let _ = tokio::time::timeout(GOODBYE, goodbye).await;
        }
    }

    async fn connect(&self) -> Result<Publisher, String> {
        let (link, mut happened) = self.broker.connect();
        let connecting = async {
            match happened.recv().await {
                Some(Happened::Connected(packet_max)) => Ok(packet_max),
                Some(Happened::Lost(reason)) => Err(reason),
                _ => Err("the connection is lost".to_string()),
            }
        };
        let connected = tokio::time::timeout(2 * CONNECT_MAX, connecting).await;
        let packet_max =
            connected.unwrap_or_else(|_| Err("does not answer in time".to_string()))?;
        Ok(Publisher { link, happened, packet_max })
    }

    /// Publishes what waits, and learns what became of it. An error is one of the connection.
    async fn publish(
        &self,
        parcels: &[Parcel],
        fates: &mut [Vec<Fate>],
        publisher: &mut Option<Publisher>,
    ) -> Result<(), String> {
        let publisher = match publisher {
            Some(publisher) => publisher,
            None => publisher.insert(self.connect().await?),
        };
        let mut waiting: VecDeque<Place> = VecDeque::new();
        for (number, fates) in fates.iter().enumerate() {
            let left = fates.iter().enumerate().filter(|(_, fate)| **fate == Fate::Waiting);
            waiting.extend(left.map(|(event, _)| (number, event)));
        }
        // Requested in this order, then sent in this order under numbers.
        let (mut requested, mut under_way) = (VecDeque::new(), HashMap::new());
        loop {
            while let Some((parcel, event)) = waiting.front().copied() {
                let under_way_max = match self.shape.qos {
                    QoS::ExactlyOnce => EXACTLY_ONCE_MAX,
                    _ => usize::MAX,
                };
                if requested.len() + under_way.len() >= under_way_max {
                    break;
                }
                match self.draft(&parcels[parcel], event, publisher.packet_max) {
                    Err(reason) => fates[parcel][event] = Fate::Refused(reason),
                    Ok(draft) => {
                        let how = (self.shape.qos, self.shape.retain);
                        let Draft { topic, payload, properties } = draft;
                        let client = &publisher.link.client;
                        if !client.try_publish(topic, how, payload, properties) {
                            break;
                        }
                        requested.push_back((parcel, event));
                    }
                }
                waiting.pop_front();
            }
            if waiting.is_empty() && requested.is_empty() && under_way.is_empty() {
                return Ok(());
            }
            let what = tokio::time::timeout(ANSWER, publisher.happened.recv()).await;
            match what.map_err(|_| "does not answer in time".to_string())? {
                Some(Happened::Sent(number)) => {
                    let Some((parcel, event)) = requested.pop_front() else { continue };
                    match number {
                        0 => fates[parcel][event] = Fate::Taken,
                        _ => drop(under_way.insert(number, (parcel, event))),
                    }
                }
                Some(Happened::Acknowledged(number, reason)) => {
                    let Some((parcel, event)) = under_way.remove(&number) else { continue };
                    fates[parcel][event] = match reason {
                        None => Fate::Taken,
                        Some(reason) => Fate::Refused(format!("the broker refuses it: {reason}")),
                    };
                }
                Some(Happened::Lost(reason)) => return Err(reason),
                Some(_) => {}
                None => return Err("the connection is lost".to_string()),
            }
        }
    }

    /// An event as a message; an error is why MQTT cannot hold it.
    fn draft<'a>(
        &self,
        parcel: &'a Parcel,
        event: usize,
        packet_max: Option<u32>,
    ) -> Result<Draft<'a>, String> {
        let topic = parcel.attribute(event, TOPIC).unwrap_or_default();
        if topic.is_empty() {
            return Err("the event names no topic".to_string());
        }
        if topic.contains(['+', '#', '\0']) || topic.len() > TOPIC_BYTES_MAX {
            let text: String = topic.chars().take(80).collect();
            return Err(format!("`{text}` is no topic that can be published to"));
        }
        let payload = parcel.event(event);
        let bytes = payload.len() + topic.len() + HEAD_BYTES;
        let most = packet_max.map_or(usize::MAX, |most| most as usize);
        let most = most.min(self.broker.message_bytes.saturating_add(topic.len() + HEAD_BYTES));
        if bytes > most {
            return Err(format!("the message has {} bytes, which are too many", payload.len()));
        }
        let headers = parcel.attribute(event, HEADERS).map(user_properties).transpose()?;
        let properties = (self.broker.version == Version::Five
            && (headers.is_some() || self.shape.content_type.is_some()))
        .then(|| PublishProperties {
            user_properties: headers.unwrap_or_default(),
            content_type: self.shape.content_type.clone(),
            ..PublishProperties::default()
        });
        Ok(Draft { topic, payload, properties })
    }
}

/// The next parcel; a connection that is lost meanwhile is given up.
async fn next(outlet: &Outlet, publisher: &mut Option<Publisher>) -> Option<Parcel> {
    loop {
        let Some(connected) = publisher else { return outlet.take().await };
        tokio::select! {
            parcel = outlet.take() => return parcel,
            what = connected.happened.recv() => {
                if matches!(what, None | Some(Happened::Lost(_))) {
                    *publisher = None;
                }
            }
        }
    }
}

async fn confirm(parcels: Vec<Parcel>, fates: Vec<Vec<Fate>>, errors: &Feedback) {
    for (parcel, fates) in parcels.into_iter().zip(fates) {
        let refusal = |(event, fate)| match fate {
            Fate::Refused(reason) => Some(Refusal { event, reason, details: String::new() }),
            Fate::Taken | Fate::Waiting => None,
        };
        let refused: Vec<_> = fates.into_iter().enumerate().filter_map(refusal).collect();
        parcel.confirm_except(&refused, errors);
    }
}

fn user_properties(text: &str) -> Result<Vec<(String, String)>, String> {
    let value: Value = serde_json::from_str(text).unwrap_or(Value::Null);
    let record = match &value {
        Value::Null => return Ok(Vec::new()),
        Value::Object(record) => record,
        other => return Err(format!("`headers` must be a record, got {other}")),
    };
    let plain = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    Ok(record.iter().map(|(name, value)| (name.clone(), plain(value))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_user_properties() {
        let wanted = vec![("a".to_string(), "b".to_string()), ("n".to_string(), "1".to_string())];
        assert_eq!(user_properties(r#"{"a":"b","n":1}"#), Ok(wanted));
        assert!(user_properties("7").is_err());
    }
}
