//! Publishes events with confirmations.
//!
//! Invariant: an event is confirmed when the broker has confirmed it; what no queue takes, and what AMQP cannot
//! hold, is refused; what the broker could not store is published again.

use std::collections::HashSet;
use std::sync::Arc;

use lapin::message::BasicReturnMessage;
use lapin::options::{BasicPublishOptions, ConfirmSelectOptions};
use lapin::types::{FieldTable, ShortString};
use lapin::{BasicProperties, Channel, Confirmation, Connection, Error as AmqpError, ErrorKind};
use temblor_runtime::error::Error;
use temblor_runtime::outlet::{Desk, Feedback, Outlet, Parcel, Refusal};
use temblor_runtime::sink::{OpenSink, Sink};
use temblor_wire::outbound::task_sink;
use temblor_wire::retry::{self, Retry};

use super::broker::Brokers;
use super::source::{declare_exchange, declare_queue};
use super::values;
use crate::identities::Identities;
use crate::session::Presence;

/// Events that are published before their confirmations are waited for, but for those of one parcel, which
/// stay together.
const ROUND_EVENTS_MAX: usize = 5_000;
/// Exchanges that a connection remembers to have declared.
const DECLARED_MAX: usize = 10_000;
/// How a message is kept by the broker: on its disk.
const PERSISTENT: u8 = 2;

/// The place of an attribute among the settings that are evaluated for each event.
const EXCHANGE: usize = 0;
const ROUTING_KEY: usize = 1;
const HEADERS: usize = 2;
const PROPERTIES: usize = 3;

/// How events are published.
#[derive(Clone, Debug)]
pub struct Shape {
    /// The type of exchanges, when they are to be declared.
    pub exchange_type: Option<String>,
    /// A queue that is to be declared.
    pub queue: Option<String>,
    /// Its arguments.
    pub arguments: FieldTable,
    /// Whether messages survive a restart of the broker.
    pub persistent: bool,
    /// Whether messages that no queue takes come back.
    pub mandatory: bool,
}

/// A sink.
#[derive(Clone, Debug)]
pub struct Writing {
    /// The brokers.
    pub brokers: Brokers,
    /// The waits between attempts.
    pub retry: Retry,
    /// How events are published.
    pub shape: Shape,
    /// Where events go that are refused for good.
    pub errors: Arc<Feedback>,
}

/// A connection that publishes.
struct Link {
    _connection: Connection,
    channel: Channel,
    declared: HashSet<String>,
}

/// What became of an event.
#[derive(Clone, PartialEq)]
enum Fate {
    Waiting,
    Stored,
    Refused { reason: String, details: String },
}

impl OpenSink for Writing {
    fn open(&self, _: bool) -> Result<Box<dyn Sink>, Error> {
        Ok(task_sink(self, Self::write))
    }
}

impl Writing {
    async fn write(mut self, outlet: Arc<Outlet>, desk: Desk) {
        let mut link = None;
        let mut identities = Identities::new();
        let presence = Presence::of_sink(&desk);
        while let Some(first) = outlet.take().await {
            let mut count = first.events().len();
            let mut parcels = vec![first];
            while count < ROUND_EVENTS_MAX {
                let Some(next) = outlet.take_now() else { break };
                count += next.events().len();
                parcels.push(next);
            }
            let firsts: Vec<u64> =
                parcels.iter().map(|one| identities.take(one.events().len())).collect();
            let mut fates: Vec<Vec<Fate>> =
                parcels.iter().map(|parcel| vec![Fate::Waiting; parcel.events().len()]).collect();
            loop {
                let failed = match self
                    .publish(&parcels, (&identities, &firsts), &mut fates, &mut link)
                    .await
                {
                    Ok(()) if !fates.iter().flatten().any(|fate| *fate == Fate::Waiting) => break,
                    Ok(()) => {
                        let help = "it has no room; look at its log";
                        Error::output(self.brokers.name(), "could not store messages", help)
                    }
                    Err(error) => {
                        link = None;
                        if refuse_exchange(&error, &parcels, &mut fates) {
                            continue;
                        }
                        self.brokers.output_error(&error)
                    }
                };
                let Some(wait) = self.retry.fail(retry::chance()) else {
                    parcels.drain(..).for_each(|parcel| parcel.fail(failed.clone()));
                    break;
                };
                presence.lost(&failed);
                tokio::time::sleep(wait).await;
            }
            if !parcels.is_empty() {
                self.retry.succeed();
                presence.found(&self.brokers.name());
            }
            for (parcel, fates) in parcels.into_iter().zip(fates) {
                let refusal = |(event, fate)| match fate {
                    Fate::Refused { reason, details } => Some(Refusal { event, reason, details }),
                    Fate::Stored | Fate::Waiting => None,
                };
                let refused: Vec<_> = fates.into_iter().enumerate().filter_map(refusal).collect();
                parcel.confirm_except(&refused, &self.errors);
            }
        }
        if let Some(Link { _connection: connection, .. }) = link {
            // Everything has been confirmed.
            let _ = connection.close(200, "done".into()).await;
        }
    }

    /// Publishes what waits, and learns what became of it.
    async fn publish(
        &self,
        parcels: &[Parcel],
        (identities, firsts): (&Identities, &[u64]),
        fates: &mut [Vec<Fate>],
        link: &mut Option<Link>,
    ) -> Result<(), AmqpError> {
        let link = match link {
            Some(link) => link,
            None => link.insert(self.connect().await?),
        };
        let mut under_way = Vec::new();
        for ((parcel, first), fates) in parcels.iter().zip(firsts).zip(fates.iter_mut()) {
            let waiting = fates.iter_mut().enumerate().filter(|(_, fate)| **fate == Fate::Waiting);
            for (index, fate) in waiting {
                let message = match self.message(parcel, index) {
                    Ok(message) => message,
                    Err(reason) => {
                        *fate = Fate::Refused { reason, details: String::new() };
                        continue;
                    }
                };
                let (exchange, key, mut properties) = message;
                if properties.message_id().is_none() {
                    properties =
                        properties.with_message_id(identities.name(first + index as u64).into());
                }
                self.declare(link, exchange.as_str()).await?;
                let mandatory = self.shape.mandatory;
                let options = BasicPublishOptions { mandatory, ..BasicPublishOptions::default() };
                let event = parcel.event(index);
                let confirmation =
                    link.channel.basic_publish(exchange, key, options, event, properties).await?;
                under_way.push((confirmation, fate));
            }
        }
        for (confirmation, fate) in under_way {
            match confirmation.await? {
                Confirmation::Ack(Some(returned)) => *fate = refused(&returned),
                Confirmation::Ack(None) | Confirmation::NotRequested => *fate = Fate::Stored,
                Confirmation::Nack(_) => {}
            }
        }
        Ok(())
    }

    async fn connect(&self) -> Result<Link, AmqpError> {
        let (connection, channel) = self.brokers.connect().await?;
        channel.confirm_select(ConfirmSelectOptions::default()).await?;
        if let Some(queue) = &self.shape.queue {
            declare_queue(&connection, queue, &self.shape.arguments).await?;
        }
        Ok(Link { _connection: connection, channel, declared: HashSet::new() })
    }

    /// Declares an exchange before the first message to it.
    async fn declare(&self, link: &mut Link, exchange: &str) -> Result<(), AmqpError> {
        let Some(kind) = &self.shape.exchange_type else { return Ok(()) };
        if exchange.is_empty() || link.declared.contains(exchange) {
            return Ok(());
        }
        declare_exchange(&link.channel, exchange, kind).await?;
        if link.declared.len() >= DECLARED_MAX {
            link.declared.clear();
        }
        link.declared.insert(exchange.to_string());
        Ok(())
    }

    /// Where an event goes, and with which properties.
    fn message(
        &self,
        parcel: &Parcel,
        event: usize,
    ) -> Result<(ShortString, ShortString, BasicProperties), String> {
        let short = |attribute: usize, what: &str| {
            let text = parcel.attribute(event, attribute).unwrap_or_default();
            values::short(text).ok_or_else(|| format!("the {what} is longer than 255 bytes"))
        };
        let exchange = short(EXCHANGE, "exchange")?;
        let key = short(ROUTING_KEY, "routing key")?;
        let mut properties = BasicProperties::default();
        if self.shape.persistent {
            properties = properties.with_delivery_mode(PERSISTENT);
        }
        if let Some(headers) = parcel.attribute(event, HEADERS) {
            properties = properties.with_headers(values::headers(headers)?);
        }
        if let Some(text) = parcel.attribute(event, PROPERTIES) {
            properties = values::with_properties(properties, text)?;
        }
        Ok((exchange, key, properties))
    }
}

/// A broker ends the channel of a message to an exchange that is not there, or not for this user. Such
/// messages are refused, so that others go on; says whether there were any.
fn refuse_exchange(error: &AmqpError, parcels: &[Parcel], fates: &mut [Vec<Fate>]) -> bool {
    let ErrorKind::ProtocolError(error) = error.kind() else { return false };
    if !matches!(error.get_id(), 403 | 404) {
        return false;
    }
    let said = error.get_message().to_string();
    let Some(exchange) =
        said.split_once("exchange '").and_then(|(_, rest)| rest.split('\'').next())
    else {
        return false;
    };
    let reason = format!("the broker refuses it: {said}");
    let mut found = false;
    for (parcel, fates) in parcels.iter().zip(fates) {
        for (index, fate) in fates.iter_mut().enumerate() {
            let is_meant = parcel.attribute(index, EXCHANGE).unwrap_or_default() == exchange;
            if *fate == Fate::Waiting && is_meant {
                *fate = Fate::Refused { reason: reason.clone(), details: String::new() };
                found = true;
            }
        }
    }
    found
}

fn refused(returned: &BasicReturnMessage) -> Fate {
    let delivery = &returned.delivery;
    let reason = format!(
        "no queue takes it: {} (exchange `{}`, routing key `{}`)",
        returned.reply_text, delivery.exchange, delivery.routing_key
    );
    let details = serde_json::json!({"code": returned.reply_code}).to_string();
    Fate::Refused { reason, details }
}
