//! Consumes a queue.
//!
//! Invariant: messages are acknowledged in the order of their delivery, all up to one at once.

use std::sync::Arc;
use std::time::Duration;

use futures_util::{FutureExt, StreamExt};
use lapin::message::Delivery;
use lapin::options::{
    BasicAckOptions, BasicCancelOptions, BasicConsumeOptions, BasicNackOptions, BasicQosOptions,
    ExchangeDeclareOptions, QueueBindOptions, QueueDeclareOptions,
};
use lapin::types::{FieldTable, ShortString};
use lapin::{Channel, Consumer, Error as AmqpError, ErrorKind, ExchangeKind};
use serde_json::{Value, json};
use temblor_runtime::batch::Origin;
use temblor_runtime::checkpoint::FileMark;
use temblor_runtime::error::Error;
use temblor_runtime::source::feed::Feed;
use temblor_runtime::source::{OpenSource, Source};
use temblor_wire::retry::{self, Retry};

use super::broker::Brokers;
use super::values;
use crate::packing::{Packing, Unpacking};
use crate::session::{self, Ended, Presence, SETTLE_MAX};
use crate::settling::{Open, Settling};

/// How long closing a connection may take.
const CLOSE_MAX: Duration = Duration::from_secs(2);

/// What is consumed, and what is declared for it.
#[derive(Clone, Debug)]
pub struct Topology {
    /// The queue; without one, a queue of the connection alone.
    pub queue: Option<String>,
    /// What the queue is bound to.
    pub exchange: Option<String>,
    /// The type of the exchange, when it is to be declared.
    pub exchange_type: Option<String>,
    /// The keys by which the queue is bound.
    pub keys: Vec<String>,
    /// Arguments of the queue.
    pub arguments: FieldTable,
}

/// A source.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The brokers.
    pub brokers: Brokers,
    /// The waits between attempts.
    pub retry: Retry,
    /// What is consumed.
    pub topology: Topology,
    /// How many messages come before acknowledgements are waited for.
    pub prefetch: u16,
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
        self.brokers.name()
    }

    fn run(&mut self, feed: &Feed) -> Result<(), Error> {
        let session = |presence| self.session(feed, presence);
        feed.network.handle()?.block_on(session::repeat(feed, self.retry.clone(), session))
    }
}

/// The name of an exchange or queue, which has been checked.
pub(super) fn name(text: &str) -> ShortString {
    values::short(text).unwrap_or_default()
}

/// Declares an exchange.
pub(super) async fn declare_exchange(
    channel: &Channel,
    exchange: &str,
    kind: &str,
) -> Result<(), AmqpError> {
    let kind = match kind {
        "fanout" => ExchangeKind::Fanout,
        "topic" => ExchangeKind::Topic,
        "headers" => ExchangeKind::Headers,
        _ => ExchangeKind::Direct,
    };
    let options = ExchangeDeclareOptions { durable: true, ..ExchangeDeclareOptions::default() };
    channel.exchange_declare(name(exchange), kind, options, FieldTable::default()).await
}

/// Declares a durable queue unless there is one of that name, however that was declared. A question for a
/// queue that is not there ends the channel that asks: it gets one of its own.
pub(super) async fn declare_queue(
    connection: &lapin::Connection,
    queue: &str,
    arguments: &FieldTable,
) -> Result<(), AmqpError> {
    let asking = connection.create_channel().await?;
    let passive = QueueDeclareOptions { passive: true, ..QueueDeclareOptions::default() };
    let asked = asking.queue_declare(name(queue), passive, FieldTable::default()).await;
    match asked {
        Ok(_) => asking.close(200, "asked".into()).await,
        Err(error) if matches!(error.kind(), ErrorKind::ProtocolError(one) if one.get_id() == 404) =>
        {
            let declaring = connection.create_channel().await?;
            let durable = QueueDeclareOptions { durable: true, ..QueueDeclareOptions::default() };
            declaring.queue_declare(name(queue), durable, arguments.clone()).await?;
            declaring.close(200, "declared".into()).await
        }
        Err(error) => Err(error),
    }
}

impl Reading {
    async fn session(&self, feed: &Feed, presence: Presence) -> Result<Ended, Error> {
        let failed = |error: AmqpError| self.brokers.input_error(&error);
        let (connection, channel) = self.brokers.connect().await.map_err(failed)?;
        let (queue, consumer) = self.consume(&connection, &channel).await.map_err(failed)?;
        presence.found(&self.brokers.name());
        let origin = self.origin(&queue);
        let (open, mut settled) = Settling::new();
        let tag = consumer.tag();
        let taking = self.take(consumer, &origin, feed, open);
        let acknowledging = async {
            let mut retry = self.retry.clone();
            while let Some((last, good)) = settled.next().await {
                let last: u64 = last;
                if good {
                    retry.succeed();
                    channel.basic_ack(last, BasicAckOptions { multiple: true }).await?;
                } else {
                    // What comes back at once would fail at once.
                    let wait = retry.fail(retry::chance()).unwrap_or(Duration::from_secs(1));
                    tokio::time::sleep(wait).await;
                    feed.stats.add_errors("redelivery", 1);
                    let again = BasicNackOptions { multiple: true, requeue: true };
                    channel.basic_nack(last, again).await?;
                }
            }
            Ok(())
        };
        tokio::pin!(acknowledging);
        tokio::select! {
            taken = taking => taken?,
            ended = &mut acknowledging => return ended.map(|()| Ended::Stopped).map_err(failed),
        }
        let closing = async {
            channel.basic_cancel(tag, BasicCancelOptions::default()).await?;
            let waited = tokio::time::timeout(SETTLE_MAX, acknowledging).await;
            waited.unwrap_or(Ok(()))?;
            connection.close(200, "done".into()).await
        };
        // What the broker has not learnt by now it delivers again.
        let _ = tokio::time::timeout(SETTLE_MAX + CLOSE_MAX, closing).await;
        Ok(Ended::Stopped)
    }

    /// Declares what is wanted and begins to consume.
    async fn consume(
        &self,
        connection: &lapin::Connection,
        channel: &Channel,
    ) -> Result<(String, Consumer), AmqpError> {
        let Topology { queue, exchange, exchange_type, keys, arguments } = &self.topology;
        channel.basic_qos(self.prefetch, BasicQosOptions::default()).await?;
        let queue = match queue {
            Some(queue) => {
                declare_queue(connection, queue, arguments).await?;
                queue.clone()
            }
            None => {
                let own = QueueDeclareOptions {
                    exclusive: true,
                    auto_delete: true,
                    ..QueueDeclareOptions::default()
                };
                let made = channel.queue_declare("".into(), own, arguments.clone()).await?;
                made.name().to_string()
            }
        };
        if let Some(exchange) = exchange {
            if let Some(kind) = exchange_type {
                declare_exchange(channel, exchange, kind).await?;
            }
            let none = [String::new()];
            for key in if keys.is_empty() { &none[..] } else { keys } {
                let (options, arguments) = (QueueBindOptions::default(), FieldTable::default());
                channel
                    .queue_bind(name(&queue), name(exchange), name(key), options, arguments)
                    .await?;
            }
        }
        let (options, arguments) = (BasicConsumeOptions::default(), FieldTable::default());
        let consumer = channel.basic_consume(name(&queue), "".into(), options, arguments).await?;
        Ok((queue, consumer))
    }

    fn origin(&self, queue: &str) -> Arc<Origin> {
        let meta = json!({"rabbitmq": {"queue": queue}}).to_string();
        Origin::with_meta(format!("{}/{queue}", self.brokers.name()), meta)
    }

    /// Takes messages until the run stops.
    async fn take(
        &self,
        mut consumer: Consumer,
        origin: &Arc<Origin>,
        feed: &Feed,
        open: Open<u64>,
    ) -> Result<(), Error> {
        let failed = |error: AmqpError| self.brokers.input_error(&error);
        let mut packing = Packing::new(&self.unpacking);
        loop {
            let first = tokio::select! {
                first = consumer.next() => first,
                () = feed.stop.asked() => return Ok(()),
            };
            let help = "the queue may have been deleted";
            let cancelled = || Error::input(self.brokers.name(), "ended the consumption", help);
            let first = first.ok_or_else(cancelled)?.map_err(failed)?;
            let mut last = first.delivery_tag;
            pack(&first, &mut packing);
            while !packing.is_full() {
                let Some(Some(next)) = consumer.next().now_or_never() else { break };
                let next = next.map_err(failed)?;
                last = next.delivery_tag;
                pack(&next, &mut packing);
            }
            let Ok(receipt) = feed.hand_over(packing.take(), origin).await else { return Ok(()) };
            if open.send((last, receipt)).is_err() {
                return Ok(());
            }
        }
    }
}

fn pack(delivery: &Delivery, packing: &mut Packing) {
    let mut meta = values::properties(&delivery.properties);
    if let Some(headers) = delivery.properties.headers() {
        meta.insert("headers".to_string(), values::table(headers, 0));
    }
    let facts = [
        ("exchange", Value::from(delivery.exchange.as_str())),
        ("routing_key", Value::from(delivery.routing_key.as_str())),
        ("redelivered", Value::from(delivery.redelivered)),
        ("delivery_tag", Value::from(delivery.delivery_tag)),
    ];
    meta.extend(facts.map(|(name, value)| (name.to_string(), value)));
    packing.push(&json!({"rabbitmq": meta}).to_string(), &delivery.data);
}
