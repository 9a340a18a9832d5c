//! Listens to topics.
//!
//! Invariant: a message of QoS 1 or 2 is acknowledged when its batch has settled, in the order of delivery; what
//! was not acknowledged the broker delivers again in the next session, if it keeps one.

use rumqttc::QoS;
use serde_json::{Map, Value, json};
use temblor_runtime::batch::Origin;
use temblor_runtime::checkpoint::FileMark;
use temblor_runtime::error::Error;
use temblor_runtime::source::feed::Feed;
use temblor_runtime::source::{OpenSource, Source};
use temblor_wire::retry::Retry;
use tokio::sync::mpsc;

use super::session::{Broker, Happened, Link, Message};
use crate::packing::{Packing, Unpacking};
use crate::session::{self, Ended, Presence, SETTLE_MAX, count_missed};
use crate::settling::{Open, Settling};

/// A source.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The broker.
    pub broker: Broker,
    /// The waits between attempts.
    pub retry: Retry,
    /// Filters of topics.
    pub topics: Vec<String>,
    /// How messages are delivered.
    pub qos: QoS,
    /// How messages become events.
    pub unpacking: Unpacking,
}

/// Messages that are acknowledged together.
type Numbers = Vec<(u16, QoS)>;

impl OpenSource for Reading {
    fn open(&self, _: &[FileMark]) -> Result<Box<dyn Source>, Error> {
        Ok(Box::new(self.clone()))
    }
}

impl Source for Reading {
    fn name(&self) -> String {
        self.broker.name()
    }

    fn run(&mut self, feed: &Feed) -> Result<(), Error> {
        let session = |presence| self.session(feed, presence);
        feed.network.handle()?.block_on(session::repeat(feed, self.retry.clone(), session))
    }
}

impl Reading {
    async fn session(&self, feed: &Feed, presence: Presence) -> Result<Ended, Error> {
        let (link, mut happened) = self.broker.connect();
        let (open, mut settled) = Settling::new();
        let taking = self.take(&link, &mut happened, feed, open, presence);
        let acknowledging = async {
            while let Some((numbers, good)) = settled.next().await {
                let numbers: Numbers = numbers;
                if !good {
                    // A new session gets it again.
                    feed.stats.add_errors("redelivery", numbers.len() as u64);
                    return Ok(Ended::Failed);
                }
                for (number, qos) in numbers {
                    let done = link.client.acknowledge(number, qos).await;
                    done.map_err(|reason| self.broker.input_error(&reason))?;
                }
            }
            Ok(Ended::Stopped)
        };
        tokio::pin!(acknowledging);
        tokio::select! {
            taken = taking => taken?,
            ended = &mut acknowledging => return ended,
        }
        // What the broker has not learnt by then it delivers again.
        let closing = async {
            let _ = acknowledging.await;
            link.client.disconnect().await;
            while let Some(what) = happened.recv().await {
                if matches!(what, Happened::Lost(_)) {
                    break;
                }
            }
        };
        let _ = tokio::time::timeout(SETTLE_MAX, closing).await;
        Ok(Ended::Stopped)
    }

    /// Takes messages until the run stops.
    async fn take(
        &self,
        link: &Link,
        happened: &mut mpsc::Receiver<Happened>,
        feed: &Feed,
        open: Open<Numbers>,
        presence: Presence,
    ) -> Result<(), Error> {
        let failed = |reason: &str| self.broker.input_error(reason);
        let origin = Origin::named(self.broker.name());
        let mut packing = Packing::new(&self.unpacking);
        let mut numbers = Numbers::new();
        loop {
            let mut next = tokio::select! {
                next = happened.recv() => next,
                () = feed.stop.asked() => return Ok(()),
            };
            while let Some(what) = next {
                match what {
                    Happened::Message(message) => {
                        if message.qos != QoS::AtMostOnce {
                            numbers.push((message.number, message.qos));
                        }
                        packing.push(&metadata(&message), &message.payload);
                    }
                    Happened::Connected(_) => {
                        let done = link.client.subscribe(&self.topics, self.qos).await;
                        done.map_err(|reason| failed(&reason))?;
                    }
                    Happened::Subscribed(results) => {
                        if let Some((topic, reason)) = refused(&self.topics, results) {
                            return Err(failed(&format!("subscription to `{topic}`: {reason}")));
                        }
                        presence.found(&self.broker.name());
                    }
                    Happened::Lost(reason) => return Err(failed(&reason)),
                    Happened::Sent(_) | Happened::Acknowledged(..) => {}
                }
                next = if packing.is_full() { None } else { happened.try_recv().ok() };
            }
            count_missed(feed, link.take_missed());
            if packing.taken() == 0 {
                if happened.is_closed() && happened.is_empty() {
                    return Err(failed("the connection is lost"));
                }
                continue;
            }
            let Ok(receipt) = feed.hand_over(packing.take(), &origin).await else { return Ok(()) };
            let taken = std::mem::take(&mut numbers);
            if !taken.is_empty() && open.send((taken, receipt)).is_err() {
                return Ok(());
            }
        }
    }
}

/// The first filter that the broker has refused.
fn refused(topics: &[String], results: Vec<Option<String>>) -> Option<(&String, String)> {
    topics.iter().zip(results).find_map(|(topic, result)| Some((topic, result?)))
}

fn metadata(message: &Message) -> String {
    let mut meta = Map::new();
    let qos = match message.qos {
        QoS::AtMostOnce => 0,
        QoS::AtLeastOnce => 1,
        QoS::ExactlyOnce => 2,
    };
    let facts = [
        ("topic", Value::from(message.topic.as_str())),
        ("qos", Value::from(qos)),
        ("retain", Value::from(message.retain)),
        ("dup", Value::from(message.dup)),
    ];
    meta.extend(facts.map(|(name, value)| (name.to_string(), value)));
    if let Some(properties) = &message.properties {
        let texts = [
            ("content_type", &properties.content_type),
            ("response_topic", &properties.response_topic),
        ];
        for (name, text) in texts {
            if let Some(text) = text {
                meta.insert(name.to_string(), Value::from(text.as_str()));
            }
        }
        if let Some(data) = &properties.correlation_data {
            let text = String::from_utf8_lossy(data);
            meta.insert("correlation_data".to_string(), Value::from(text.as_ref()));
        }
        if !properties.user_properties.is_empty() {
            // Of several with one name the last holds, as in a record.
            let headers = properties.user_properties.iter();
            let headers = headers.map(|(name, value)| (name.clone(), Value::from(value.as_str())));
            meta.insert("headers".to_string(), headers.collect::<Map<_, _>>().into());
        }
    }
    json!({"mqtt": meta}).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_is_a_record_and_a_refused_filter_is_named() {
        let message = Message {
            topic: "a/b".into(),
            payload: bytes::Bytes::new(),
            qos: QoS::AtLeastOnce,
            retain: false,
            dup: true,
            number: 1,
            properties: None,
        };
        let wanted = r#"{"mqtt":{"topic":"a/b","qos":1,"retain":false,"dup":true}}"#;
        assert_eq!(metadata(&message), wanted);
        let topics = ["a".to_string(), "b".to_string()];
        let results = vec![None, Some("no".to_string())];
        assert_eq!(refused(&topics, results), Some((&topics[1], "no".to_string())));
    }
}
