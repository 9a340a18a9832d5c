//! Publishes events, and waits until a stream has stored them.
//!
//! Invariant: an event for a stream is confirmed when the server has answered for it; one that is sent again has
//! the same identity, so that the stream stores it once.

use std::collections::VecDeque;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use async_nats::client;
use async_nats::header::{HeaderMap, HeaderName, HeaderValue, NATS_MESSAGE_ID};
use async_nats::jetstream::context::{PublishAckFuture, PublishErrorKind};
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::{self, Context, context, stream};
use serde_json::Value;
use temblor_runtime::error::Error;
use temblor_runtime::outlet::{Desk, Feedback, Outlet, Parcel, Refusal};
use temblor_runtime::sink::{OpenSink, Sink};
use temblor_wire::outbound::task_sink;
use temblor_wire::retry::{self, Retry};

use super::servers::{Link, Servers};
use crate::identities::Identities;
use crate::session::Presence;

/// Events that are published before their answers are waited for.
const ROUND_EVENTS_MAX: usize = 5_000;
/// Answers that are waited for at once, at the most.
const ANSWERS_MAX: usize = 4_000;
/// How long an answer may take.
const ANSWER: Duration = Duration::from_secs(10);

/// The place of an attribute among the settings that are evaluated for each event.
const SUBJECT: usize = 0;
const HEADERS: usize = 1;
const MESSAGE_ID: usize = 2;

/// A sink.
#[derive(Clone, Debug)]
pub struct Writing {
    /// The servers.
    pub servers: Servers,
    /// The waits between attempts.
    pub retry: Retry,
    /// The stream that has to store the messages.
    pub stream: Option<String>,
    /// The subjects with which it is made when it is missing.
    pub subjects: Vec<String>,
    /// Where events go that are refused for good.
    pub errors: Arc<Feedback>,
}

/// What became of an event.
#[derive(Clone, PartialEq)]
enum Fate {
    Waiting,
    Stored,
    Refused(String),
}

/// A connection that publishes.
struct Publisher {
    link: Link,
    context: Context,
}

/// Parcels that are sent together, with the number of the first identity of each.
struct Round {
    parcels: Vec<(Parcel, u64)>,
    fates: Vec<Vec<Fate>>,
}

impl OpenSink for Writing {
    fn open(&self, _: bool) -> Result<Box<dyn Sink>, Error> {
        Ok(task_sink(self, Self::write))
    }
}

impl Round {
    async fn take(outlet: &Outlet, identities: &mut Identities) -> Option<Self> {
        let mut round = Self { parcels: Vec::new(), fates: Vec::new() };
        let mut next = outlet.take().await;
        let mut count = 0;
        while let Some(parcel) = next {
            let events = parcel.events().len();
            round.fates.push(vec![Fate::Waiting; events]);
            round.parcels.push((parcel, identities.take(events)));
            count += events;
            next = if count < ROUND_EVENTS_MAX { outlet.take_now() } else { None };
        }
        (!round.parcels.is_empty()).then_some(round)
    }

    fn is_done(&self) -> bool {
        !self.fates.iter().flatten().any(|fate| *fate == Fate::Waiting)
    }

    fn fail(self, error: &Error) {
        self.parcels.into_iter().for_each(|(parcel, _)| parcel.fail(error.clone()));
    }

    async fn confirm(self, errors: &Feedback) {
        for ((parcel, _), fates) in self.parcels.into_iter().zip(self.fates) {
            let refusal = |(event, fate)| match fate {
                Fate::Refused(reason) => Some(Refusal { event, reason, details: String::new() }),
                Fate::Stored | Fate::Waiting => None,
            };
            let refused: Vec<_> = fates.into_iter().enumerate().filter_map(refusal).collect();
            parcel.confirm_except(&refused, errors);
        }
    }
}

impl Writing {
    async fn write(mut self, outlet: Arc<Outlet>, desk: Desk) {
        let mut publisher = None;
        let mut identities = Identities::new();
        let presence = Presence::of_sink(&desk);
        while let Some(mut round) = Round::take(&outlet, &mut identities).await {
            let failed = loop {
                let reason = match self.publish(&mut round, &identities, &mut publisher).await {
                    Ok(()) if round.is_done() => break None,
                    Ok(()) => "failed: some messages were not answered for in time".to_string(),
                    Err(reason) => reason,
                };
                publisher = None;
                let failed = self.servers.output_error(&reason);
                let Some(wait) = self.retry.fail(retry::chance()) else { break Some(failed) };
                presence.lost(&failed);
                tokio::time::sleep(wait).await;
            };
            match failed {
                Some(error) => round.fail(&error),
                None => {
                    self.retry.succeed();
                    presence.found(self.servers.name());
                    round.confirm(&self.errors).await;
                }
            }
        }
        if let Some(Publisher { link, .. }) = publisher {
            // Everything has been answered for, or is on its way.
            let _ = tokio::time::timeout(ANSWER, link.client.flush()).await;
        }
    }

    async fn connect(&self) -> Result<Publisher, String> {
        let link = self.servers.connect().await.map_err(|error| error.to_string())?;
        let context = context::ContextBuilder::new()
            .timeout(ANSWER)
            .max_ack_inflight(2 * ANSWERS_MAX)
            .build(link.client.clone());
        if let Some(name) = &self.stream
            && !self.subjects.is_empty()
        {
            let subjects = self.subjects.clone();
            let config = stream::Config { name: name.clone(), subjects, ..Default::default() };
            let made = context.get_or_create_stream(config).await;
            made.map_err(|error| format!("stream `{name}`: {error}"))?;
        }
        Ok(Publisher { link, context })
    }

    /// Publishes what waits, and learns what became of it. An error is one of the connection.
    async fn publish(
        &self,
        round: &mut Round,
        identities: &Identities,
        publisher: &mut Option<Publisher>,
    ) -> Result<(), String> {
        let publisher = match publisher {
            Some(publisher) => publisher,
            None => publisher.insert(self.connect().await?),
        };
        let mut answers = VecDeque::new();
        for ((parcel, first), fates) in round.parcels.iter().zip(&mut round.fates) {
            for (index, fate) in fates.iter_mut().enumerate() {
                if *fate != Fate::Waiting {
                    continue;
                }
                let identity = || identities.name(first + index as u64);
                match self.send(parcel, index, identity, publisher).await? {
                    Sent::Done(done) => *fate = done,
                    Sent::Asked(subject, answer) => answers.push_back((subject, answer, fate)),
                }
                if answers.len() >= ANSWERS_MAX
                    && let Some((subject, answer, fate)) = answers.pop_front()
                {
                    *fate = publisher.answer(&subject, answer).await?;
                }
            }
        }
        for (subject, answer, fate) in answers {
            *fate = publisher.answer(&subject, answer).await?;
        }
        if self.stream.is_none() {
            publisher.flush().await?;
        }
        Ok(())
    }

    async fn send(
        &self,
        parcel: &Parcel,
        event: usize,
        identity: impl Fn() -> String,
        publisher: &Publisher,
    ) -> Result<Sent, String> {
        let Some(subject) = parcel.attribute(event, SUBJECT).filter(|one| !one.is_empty()) else {
            return Ok(refused("the event names no subject"));
        };
        let mut headers = match parcel.attribute(event, HEADERS).map(headers) {
            Some(Err(reason)) => return Ok(refused(&reason)),
            Some(Ok(headers)) => headers,
            None => HeaderMap::new(),
        };
        let payload = parcel.event(event).to_vec().into();
        let Some(stream) = &self.stream else {
            if let Some(identity) = parcel.attribute(event, MESSAGE_ID) {
                headers.insert(NATS_MESSAGE_ID, identity);
            }
            let client = &publisher.link.client;
            let sent = match headers.is_empty() {
                true => client.publish(subject.to_string(), payload).await,
                false => client.publish_with_headers(subject.to_string(), headers, payload).await,
            };
            return match sent {
                Ok(()) => Ok(Sent::Done(Fate::Stored)),
                Err(error) if error.kind() == client::PublishErrorKind::Send => {
                    Err(error.to_string())
                }
                Err(error) => Ok(refused(&format!("it cannot be sent: {error}"))),
            };
        };
        let given = parcel.attribute(event, MESSAGE_ID).map(str::to_string);
        let message = PublishMessage::build()
            .payload(payload)
            .headers(headers)
            .message_id(given.unwrap_or_else(identity))
            .expected_stream(stream);
        match publisher.context.send_publish(subject.to_string(), message).await {
            Ok(answer) => Ok(Sent::Asked(subject.to_string(), answer)),
            Err(error) if error.kind() == PublishErrorKind::MaxPayloadExceeded => {
                Ok(refused(&format!("it cannot be sent: {error}")))
            }
            Err(error) if error.to_string().contains("subject") => {
                Ok(refused(&format!("it cannot be sent: {error}")))
            }
            Err(error) => Err(error.to_string()),
        }
    }
}

/// What became of sending.
enum Sent {
    Done(Fate),
    /// The subject, and the answer that comes.
    Asked(String, PublishAckFuture),
}

fn refused(reason: &str) -> Sent {
    Sent::Done(Fate::Refused(reason.to_string()))
}

impl Publisher {
    /// What the server says to a message.
    async fn answer(&self, subject: &str, answer: PublishAckFuture) -> Result<Fate, String> {
        let mut report = self.link.report.clone();
        let trouble = report.wait_for(|one| one.is_lost || one.denied.contains(subject));
        let answered = tokio::select! {
            biased;
            answered = answer.into_future() => answered,
            report = trouble => {
                return match report {
                    Ok(report) if !report.is_lost => Ok(Fate::Refused(format!(
                        "the server refuses it: this user must not publish to `{subject}`"
                    ))),
                    _ => Err("the connection is lost".to_string()),
                };
            }
        };
        match answered {
            Ok(_) => Ok(Fate::Stored),
            Err(error) => match error.kind() {
                PublishErrorKind::StreamNotFound => {
                    Ok(Fate::Refused(format!("no stream takes the subject `{subject}`")))
                }
                PublishErrorKind::TimedOut => Ok(Fate::Waiting),
                PublishErrorKind::Other if is_refusal(&error) => {
                    Ok(Fate::Refused(format!("the server refuses it: {error}")))
                }
                _ => Err(error.to_string()),
            },
        }
    }

    async fn flush(&self) -> Result<(), String> {
        let flushing = tokio::time::timeout(ANSWER, self.link.client.flush());
        tokio::select! {
            flushed = flushing => match flushed {
                Ok(flushed) => flushed.map_err(|error| error.to_string()),
                Err(_) => Err("the connection takes nothing".to_string()),
            },
            () = self.link.lost() => Err("the connection is lost".to_string()),
        }
    }
}

/// Whether the server will refuse a message each time that it is sent.
fn is_refusal(error: &context::PublishError) -> bool {
    use std::error::Error as _;
    let source = error.source().and_then(|source| source.downcast_ref::<jetstream::Error>());
    let code = source.map(jetstream::Error::error_code);
    code.is_some_and(|code| {
        [
            jetstream::ErrorCode::STREAM_NOT_MATCH,
            jetstream::ErrorCode::STREAM_MESSAGE_EXCEEDS_MAXIMUM,
            jetstream::ErrorCode::STREAM_SEALED,
        ]
        .contains(&code)
    })
}

fn headers(text: &str) -> Result<HeaderMap, String> {
    let value: Value = serde_json::from_str(text).unwrap_or(Value::Null);
    let mut headers = HeaderMap::new();
    let record = match &value {
        Value::Null => return Ok(headers),
        Value::Object(record) => record,
        other => return Err(format!("`headers` must be a record, got {other}")),
    };
    for (name, value) in record {
        let wrong = |what: &str| format!("`{name}` cannot be a header: {what}");
        let name = HeaderName::from_str(name).map_err(|_| wrong("its name"))?;
        let several = match value {
            Value::Array(several) => &several[..],
            one => std::slice::from_ref(one),
        };
        for value in several {
            let text = match value {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            let value =
                HeaderValue::from_str(&text).map_err(|_| wrong("its value has line ends"))?;
            headers.append(name.clone(), value);
        }
    }
    Ok(headers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_texts_and_lists() {
        let made = headers(r#"{"a":"x","n":1,"l":["1","2"]}"#).unwrap();
        assert_eq!(made.get("a").map(HeaderValue::as_str), Some("x"));
        assert_eq!(made.get("n").map(HeaderValue::as_str), Some("1"));
        assert_eq!(made.get_all("l").count(), 2);
        assert!(headers("7").is_err());
        assert!(headers(r#"{"a":"x\r\ny"}"#).is_err());
    }
}
