//! Listens to subjects, or consumes a stream.
//!
//! Invariant: a message of a stream is acknowledged when its batch has settled; while it waits, the server hears
//! that it is in progress, so that it is not delivered twice.

use std::time::Duration;

use async_nats::header::HeaderMap;
use async_nats::jetstream::consumer::{AckPolicy, DeliverPolicy, PullConsumer, pull};
use async_nats::jetstream::message::{AckKind, Acker};
use async_nats::{Message, jetstream};
use futures_util::{FutureExt, StreamExt, stream};
use temblor_runtime::batch::Origin;
use temblor_runtime::checkpoint::FileMark;
use temblor_runtime::error::Error;
use temblor_runtime::source::feed::Feed;
use temblor_runtime::source::{OpenSource, Source};
use temblor_wire::retry::{self, Retry};

use super::servers::{Link, Servers};
use crate::packing::{BATCH_MESSAGES_MAX, Packing, Unpacking};
use crate::session::{self, Ended, Presence, SETTLE_MAX, push_json};
use crate::settling::{Open, Settling};

/// How long a request for messages of a stream stays open.
const REQUEST: Duration = Duration::from_secs(30);
/// A server that gives no sign of life for twice as long has gone.
const HEARTBEAT: Duration = Duration::from_secs(10);
/// How long sending the last acknowledgements may take.
const FLUSH_MAX: Duration = Duration::from_secs(2);
/// The server hears so often within `ack_wait` that messages are in progress.
const SIGNS_OF_PROGRESS: u32 = 3;

/// What is read.
#[derive(Clone, Debug)]
pub enum From {
    /// Subjects alone.
    Subjects {
        /// The subjects.
        subjects: Vec<String>,
        /// The group that shares their messages.
        queue: Option<String>,
    },
    /// A stream.
    Stream(Consumer),
}

/// A consumer of a stream.
#[derive(Clone, Debug)]
pub struct Consumer {
    /// The stream.
    pub stream: String,
    /// The name of the consumer.
    pub durable: String,
    /// The subjects that it reads; all of them if there are none.
    pub subjects: Vec<String>,
    /// Where it begins when it is made.
    pub start: DeliverPolicy,
    /// After so long without a sign a message is delivered again.
    pub ack_wait: Duration,
    /// How many messages wait for acknowledgements at the most.
    pub unacknowledged_max: u64,
}

/// A source.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The servers.
    pub servers: Servers,
    /// The waits between attempts.
    pub retry: Retry,
    /// What is read.
    pub from: From,
    /// How messages become events.
    pub unpacking: Unpacking,
}

impl OpenSource for Reading {
    fn open(&self, _: &[FileMark]) -> Result<Box<dyn Source>, Error> {
        Ok(Box::new(self.clone()))
    }
}

impl Source for Reading {
    fn name(&self) -> String {
        self.servers.name().to_string()
    }

    fn run(&mut self, feed: &Feed) -> Result<(), Error> {
        let session = |presence| self.session(feed, presence);
        feed.network.handle()?.block_on(session::repeat(feed, self.retry.clone(), session))
    }
}

impl Reading {
    async fn session(&self, feed: &Feed, presence: Presence) -> Result<Ended, Error> {
        let failed = |error| self.servers.input_error(&error);
        let link = self.servers.connect().await.map_err(failed)?;
        let work = async {
            match &self.from {
                From::Subjects { subjects, queue } => {
                    self.listen(subjects, queue.as_deref(), &link, feed, presence).await
                }
                From::Stream(consumer) => self.consume(consumer, &link, feed, presence).await,
            }
        };
        tokio::select! {
            ended = work => ended,
            () = link.lost() => Err(self.servers.input_error(&"the connection is lost")),
        }
    }

    /// Listens to subjects until the run stops.
    async fn listen(
        &self,
        subjects: &[String],
        queue: Option<&str>,
        link: &Link,
        feed: &Feed,
        presence: Presence,
    ) -> Result<Ended, Error> {
        let failed = |error: async_nats::SubscribeError| self.servers.input_error(&error);
        let mut all = Vec::new();
        for subject in subjects {
            let subject = subject.clone();
            all.push(match queue {
                Some(queue) => link.client.queue_subscribe(subject, queue.to_string()).await,
                None => link.client.subscribe(subject).await,
            });
        }
        let all = all.into_iter().collect::<Result<Vec<_>, _>>().map_err(failed)?;
        let mut messages = stream::select_all(all);
        link.client.flush().await.map_err(|error| self.servers.input_error(&error))?;
        presence.found(self.servers.name());
        let origin = Origin::named(self.servers.name());
        let mut packing = Packing::new(&self.unpacking);
        let mut missed = 0;
        loop {
            let first = tokio::select! {
                first = messages.next() => first,
                () = feed.stop.asked() => return Ok(Ended::Stopped),
            };
            let ended = || self.servers.input_error(&"the server has ended the subscription");
            pack(&first.ok_or_else(ended)?, &mut packing);
            while !packing.is_full() {
                let Some(Some(next)) = messages.next().now_or_never() else { break };
                pack(&next, &mut packing);
            }
            let so_far = link.report.borrow().missed;
            session::count_missed(feed, so_far - std::mem::replace(&mut missed, so_far));
            if feed.hand_over_unwatched(packing.take(), &origin).await.is_err() {
                return Ok(Ended::Stopped);
            }
        }
    }

    /// Consumes a stream until the run stops.
    async fn consume(
        &self,
        wanted: &Consumer,
        link: &Link,
        feed: &Feed,
        presence: Presence,
    ) -> Result<Ended, Error> {
        let made = wanted.make(&jetstream::new(link.client.clone())).await;
        let consumer = made.map_err(|reason| self.servers.input_error(&reason))?;
        let ack_wait = consumer.cached_info().config.ack_wait;
        let messages = consumer
            .stream()
            .max_messages_per_batch(BATCH_MESSAGES_MAX)
            .expires(REQUEST)
            .heartbeat(HEARTBEAT)
            .messages()
            .await
            .map_err(|error| self.servers.input_error(&error))?;
        presence.found(self.servers.name());
        let (open, settled) = Settling::new();
        let taking = self.take(messages, wanted, feed, open);
        let acknowledging = self.acknowledge(settled, ack_wait, feed);
        tokio::pin!(acknowledging);
        tokio::select! {
            taken = taking => taken?,
            ended = &mut acknowledging => return ended.map(|()| Ended::Failed),
        }
        // What the server has not learnt by then it delivers again.
        let _ = tokio::time::timeout(SETTLE_MAX, acknowledging).await;
        let _ = tokio::time::timeout(FLUSH_MAX, link.client.flush()).await;
        Ok(Ended::Stopped)
    }

    /// Takes messages until the run stops.
    async fn take(
        &self,
        mut messages: pull::Stream,
        wanted: &Consumer,
        feed: &Feed,
        open: Open<Vec<Acker>>,
    ) -> Result<(), Error> {
        let mut meta = String::from("{\"nats\":{\"stream\":");
        push_json(&wanted.stream, &mut meta);
        meta.push_str("}}");
        let name = format!("{}/{}", self.servers.name(), wanted.stream);
        let origin = Origin::with_meta(name, meta);
        let mut packing = Packing::new(&self.unpacking);
        loop {
            let first = tokio::select! {
                first = messages.next() => first,
                () = feed.stop.asked() => return Ok(()),
            };
            let ended = || self.servers.input_error(&"the server has ended the consumption");
            let first =
                first.ok_or_else(ended)?.map_err(|error| self.servers.input_error(&error))?;
            let mut ackers = vec![pack_kept(first, &mut packing)];
            while !packing.is_full() {
                let Some(Some(Ok(next))) = messages.next().now_or_never() else { break };
                ackers.push(pack_kept(next, &mut packing));
            }
            let Ok(receipt) = feed.hand_over(packing.take(), &origin).await else { return Ok(()) };
            if open.send((ackers, receipt)).is_err() {
                return Ok(());
            }
        }
    }

    /// Acknowledges what settles, until there is nothing more.
    async fn acknowledge(
        &self,
        mut settled: Settling<Vec<Acker>>,
        ack_wait: Duration,
        feed: &Feed,
    ) -> Result<(), Error> {
        let failed = |error: async_nats::Error| self.servers.input_error(&error);
        let mut retry = self.retry.clone();
        let mut signs = tokio::time::interval((ack_wait / SIGNS_OF_PROGRESS).max(HEARTBEAT / 100));
        signs.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        signs.tick().await;
        loop {
            let next = tokio::select! {
                next = settled.next() => Some(next),
                _ = signs.tick() => None,
            };
            match next {
                None => {
                    for acker in settled.waiting().flatten() {
                        acker.ack_with(AckKind::Progress).await.map_err(failed)?;
                    }
                }
                Some(None) => return Ok(()),
                Some(Some((ackers, true))) => {
                    retry.succeed();
                    for acker in &ackers {
                        acker.ack().await.map_err(failed)?;
                    }
                }
                Some(Some((ackers, false))) => {
                    feed.stats.add_errors("redelivery", ackers.len() as u64);
                    // What comes back at once would fail at once.
                    let wait = retry.fail(retry::chance()).unwrap_or(Duration::from_secs(1));
                    for acker in &ackers {
                        acker.ack_with(AckKind::Nak(Some(wait))).await.map_err(failed)?;
                    }
                }
            }
        }
    }
}

impl Consumer {
    /// The consumer of that name, which is made when it is missing.
    async fn make(&self, context: &jetstream::Context) -> Result<PullConsumer, String> {
        let stream = context
            .get_stream(&self.stream)
            .await
            .map_err(|error| format!("stream `{}`: {error}", self.stream))?;
        let mut config = pull::Config {
            durable_name: Some(self.durable.clone()),
            deliver_policy: self.start,
            ack_policy: AckPolicy::Explicit,
            ack_wait: self.ack_wait,
            max_ack_pending: i64::try_from(self.unacknowledged_max).unwrap_or(i64::MAX),
            ..pull::Config::default()
        };
        match &self.subjects[..] {
            [] => {}
            // Servers before 2.10 know one subject only.
            [one] => config.filter_subject.clone_from(one),
            several => config.filter_subjects = several.to_vec(),
        }
        let made = stream.get_or_create_consumer(&self.durable, config).await;
        made.map_err(|error| {
            format!("consumer `{}` of stream `{}`: {error}", self.durable, self.stream)
        })
    }
}

fn pack(message: &Message, packing: &mut Packing) {
    let mut meta = String::from("{\"nats\":{");
    push_facts(message, &mut meta);
    if let Some(reply) = &message.reply {
        meta.push_str(",\"reply\":");
        push_json(reply, &mut meta);
    }
    meta.push_str("}}");
    packing.push(&meta, &message.payload);
}

/// A message of a stream, which knows its place there.
fn pack_kept(message: jetstream::Message, packing: &mut Packing) -> Acker {
    let mut meta = String::from("{\"nats\":{");
    push_facts(&message.message, &mut meta);
    if let Ok(info) = message.info() {
        let facts = format!(
            ",\"sequence\":{},\"delivered\":{},\"pending\":{},\"timestamp\":{}",
            info.stream_sequence,
            info.delivered,
            info.pending,
            info.published.unix_timestamp_nanos()
        );
        meta.push_str(&facts);
    }
    meta.push_str("}}");
    packing.push(&meta, &message.payload);
    message.split().1
}

/// Subject and headers, as fields of a JSON record.
fn push_facts(message: &Message, meta: &mut String) {
    meta.push_str("\"subject\":");
    push_json(&message.subject, meta);
    let Some(headers) = message.headers.as_ref().filter(|headers| !headers.is_empty()) else {
        return;
    };
    meta.push_str(",\"headers\":");
    push_headers(headers, meta);
}

/// Headers as a JSON record: one that is there several times is a list.
fn push_headers(headers: &HeaderMap, meta: &mut String) {
    let mut sorted: Vec<_> = headers.iter().collect();
    sorted.sort_unstable_by(|(one, _), (other, _)| AsRef::<str>::as_ref(one).cmp(other.as_ref()));
    meta.push('{');
    for (index, (name, values)) in sorted.into_iter().enumerate() {
        if index > 0 {
            meta.push(',');
        }
        push_json(name.as_ref(), meta);
        meta.push(':');
        if let [one] = &values[..] {
            push_json(one.as_str(), meta);
            continue;
        }
        meta.push('[');
        for (index, value) in values.iter().enumerate() {
            if index > 0 {
                meta.push(',');
            }
            push_json(value.as_str(), meta);
        }
        meta.push(']');
    }
    meta.push('}');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_texts_or_lists_in_the_order_of_their_names() {
        let mut headers = HeaderMap::new();
        headers.append("b", "1");
        headers.append("a", "x");
        headers.append("b", "2");
        let mut text = String::new();
        push_headers(&headers, &mut text);
        assert_eq!(text, r#"{"a":"x","b":["1","2"]}"#);
    }
}
