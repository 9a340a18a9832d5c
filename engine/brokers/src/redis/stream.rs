//! A stream with a consumer group: entries are acknowledged when they have settled.
//!
//! Invariant: an entry that was delivered and not acknowledged stays pending at the server, from where this
//! consumer takes it first when it comes back, and others when it does not.

use std::sync::Arc;
use std::time::Duration;

use ::redis::streams::{StreamClaimReply, StreamId, StreamReadReply};
use ::redis::{RedisError, RedisResult, Value, cmd};
use temblor_runtime::batch::Origin;
use temblor_runtime::error::Error;
use temblor_runtime::source::feed::Feed;
use temblor_wire::retry::Retry;
use tokio::sync::Semaphore;
use tokio::time::Instant;

use super::server::{Link, Server};
use crate::packing::{BATCH_MESSAGES_MAX, Packing, Unpacking};
use crate::session::{self, Ended, Presence, SETTLE_MAX, push_json};
use crate::settling::{Open, Settling};

/// How long the server waits for an entry before it answers that there is none.
const WAIT_MS: u64 = 1_000;
/// Entries that were delivered and have not settled yet, at the most.
const UNSETTLED_MAX: usize = 64 * BATCH_MESSAGES_MAX;
/// Time between two looks at what others have left behind.
const CLAIM_INTERVAL: Duration = Duration::from_secs(5);
/// The entry behind which a walk over pending entries begins.
const BEGIN: &str = "0-0";

/// A stream, and the group that reads it.
#[derive(Clone, Debug)]
pub struct Group {
    /// The key of the stream.
    pub stream: String,
    /// The group.
    pub group: String,
    /// Who reads.
    pub consumer: String,
    /// Whether a group that is made reads the stream from its beginning.
    pub earliest: bool,
    /// The field that holds the event.
    pub field: String,
    /// What others have had for so long is taken over.
    pub claim_after: Duration,
}

/// Takes entries until the run stops.
///
/// # Errors
/// None of the attempts that the program allows went well.
pub async fn read(
    group: &Group,
    server: &Server,
    unpacking: &Unpacking,
    retry: Retry,
    feed: &Feed,
) -> Result<(), Error> {
    let mut meta = String::from("{\"redis\":{\"stream\":");
    push_json(&group.stream, &mut meta);
    meta.push_str("}}");
    let origin = Origin::with_meta(format!("{}/{}", server.name(), group.stream), meta);
    let session = |presence| one_session(group, server, unpacking, &origin, feed, presence);
    session::repeat(feed, retry, session).await
}

async fn one_session(
    group: &Group,
    server: &Server,
    unpacking: &Unpacking,
    origin: &Arc<Origin>,
    feed: &Feed,
    presence: Presence,
) -> Result<Ended, Error> {
    let failed = |error: RedisError| server.input_error(&error);
    let mut fetching = server.connect().await.map_err(failed)?;
    let mut settling = server.connect().await.map_err(failed)?;
    make_group(group, &mut fetching).await.map_err(failed)?;
    presence.found(&server.name());
    let (open, mut settled) = Settling::new();
    let room = Arc::new(Semaphore::new(UNSETTLED_MAX));
    let reading = async {
        let taker = Taker { group, unpacking, origin, feed, open, room: Arc::clone(&room) };
        taker.run(&mut fetching).await.map_err(failed)
    };
    let acknowledging = async {
        while let Some((ids, good)) = settled.next().await {
            if !good {
                return Ok(Ended::Failed);
            }
            let ids: Vec<String> = ids;
            let mut command = cmd("XACK");
            command.arg(&group.stream).arg(&group.group).arg(&ids);
            let _: i64 = command.query_async(&mut settling.connection).await.map_err(failed)?;
            room.add_permits(ids.len());
        }
        Ok(Ended::Stopped)
    };
    tokio::pin!(acknowledging);
    tokio::select! {
        read = reading => read?,
        ended = &mut acknowledging => return ended,
    }
    tokio::time::timeout(SETTLE_MAX, acknowledging).await.unwrap_or(Ok(Ended::Stopped))
}

async fn make_group(group: &Group, link: &mut Link) -> RedisResult<()> {
    let start = if group.earliest { "0" } else { "$" };
    let mut command = cmd("XGROUP");
    command.arg("CREATE").arg(&group.stream).arg(&group.group).arg(start).arg("MKSTREAM");
    let made: RedisResult<()> = command.query_async(&mut link.connection).await;
    match made {
        Err(error) if error.code() == Some("BUSYGROUP") => Ok(()),
        made => made,
    }
}

/// Reads entries and hands them over.
struct Taker<'a> {
    group: &'a Group,
    unpacking: &'a Unpacking,
    origin: &'a Arc<Origin>,
    feed: &'a Feed,
    open: Open<Vec<String>>,
    room: Arc<Semaphore>,
}

impl Taker<'_> {
    async fn run(self, link: &mut Link) -> RedisResult<()> {
        // What this consumer had before it died or lost its connection.
        let mut after = BEGIN.to_string();
        loop {
            let some = self.read(link, &after).await?;
            let Some(last) = some.last() else { break };
            after.clone_from(&last.id);
            if self.hand_over(&some).await.is_none() {
                return Ok(());
            }
        }
        let mut looked = Instant::now();
        while !self.feed.stop.is_asked() {
            let some = self.read(link, ">").await?;
            if !some.is_empty() && self.hand_over(&some).await.is_none() {
                break;
            }
            if looked.elapsed() >= CLAIM_INTERVAL {
                self.claim(link).await?;
                looked = Instant::now();
            }
        }
        Ok(())
    }

    /// Entries behind `after`; `>` stands for those that nobody has had yet.
    async fn read(&self, link: &mut Link, after: &str) -> RedisResult<Vec<StreamId>> {
        let Group { stream, group, consumer, .. } = self.group;
        let mut command = cmd("XREADGROUP");
        command.arg("GROUP").arg(group).arg(consumer).arg("COUNT").arg(BATCH_MESSAGES_MAX);
        if after == ">" {
            command.arg("BLOCK").arg(WAIT_MS);
        }
        command.arg("STREAMS").arg(stream).arg(after);
        let reply: Option<StreamReadReply> = command.query_async(&mut link.connection).await?;
        let keys = reply.into_iter().flat_map(|reply| reply.keys);
        Ok(keys.flat_map(|key| key.ids).collect())
    }

    /// Takes over what other consumers have had for too long. What waits for its acknowledgement here is left
    /// alone.
    async fn claim(&self, link: &mut Link) -> RedisResult<()> {
        let Group { stream, group, consumer, claim_after, .. } = self.group;
        let idle = u64::try_from(claim_after.as_millis()).unwrap_or(u64::MAX);
        let mut start = "-".to_string();
        while !self.feed.stop.is_asked() {
            let mut command = cmd("XPENDING");
            command.arg(stream).arg(group).arg("IDLE").arg(idle).arg(&start).arg("+");
            command.arg(BATCH_MESSAGES_MAX);
            let pending: Vec<(String, String, u64, u64)> =
                command.query_async(&mut link.connection).await?;
            let Some((last, ..)) = pending.last() else { break };
            start = format!("({last}");
            let others = pending.iter().filter(|(_, who, ..)| who != consumer);
            let ids: Vec<&str> = others.map(|(id, ..)| id.as_str()).collect();
            if ids.is_empty() {
                continue;
            }
            let mut command = cmd("XCLAIM");
            command.arg(stream).arg(group).arg(consumer).arg(idle).arg(ids);
            let claimed: StreamClaimReply = command.query_async(&mut link.connection).await?;
            if !claimed.ids.is_empty() && self.hand_over(&claimed.ids).await.is_none() {
                break;
            }
        }
        Ok(())
    }

    /// Hands entries over; `None` when the run is over, or stops while there is no room.
    async fn hand_over(&self, entries: &[StreamId]) -> Option<()> {
        let count = entries.len().min(UNSETTLED_MAX);
        let places = u32::try_from(count).expect("the bound is small");
        tokio::select! {
            permit = self.room.acquire_many(places) => permit.ok()?.forget(),
            () = self.feed.stop.asked() => return None,
        }
        let mut packing = Packing::new(self.unpacking);
        entries.iter().for_each(|entry| self.pack(entry, &mut packing));
        let receipt = self.feed.hand_over(packing.take(), self.origin).await.ok()?;
        let ids = entries.iter().map(|entry| entry.id.clone()).collect();
        self.open.send((ids, receipt)).ok()
    }

    fn pack(&self, entry: &StreamId, packing: &mut Packing) {
        let mut meta = String::from("{\"redis\":{\"id\":");
        push_json(&entry.id, &mut meta);
        if entry.map.is_empty() {
            // It was deleted while it was pending: there is nothing left but to acknowledge it.
            return self.feed.stats.add_dropped("deleted from the stream", 1);
        }
        let held = entry.map.get(&self.group.field).and_then(bytes);
        let others = entry.map.iter().filter(|(name, _)| **name != self.group.field);
        let others = record(others);
        match held {
            Some(event) => {
                meta.push_str(",\"fields\":");
                meta.push_str(&others);
                meta.push_str("}}");
                packing.push(&meta, event);
            }
            None => {
                meta.push_str("}}");
                packing.push(&meta, others.as_bytes());
            }
        }
    }
}

/// Fields as a JSON record of texts.
fn record<'a>(fields: impl Iterator<Item = (&'a String, &'a Value)>) -> String {
    let mut fields: Vec<_> = fields.collect();
    fields.sort_unstable_by_key(|(name, _)| *name);
    let mut text = String::from("{");
    for (name, value) in fields {
        if text.len() > 1 {
            text.push(',');
        }
        push_json(name, &mut text);
        text.push(':');
        push_json(&String::from_utf8_lossy(bytes(value).unwrap_or_default()), &mut text);
    }
    text.push('}');
    text
}

fn bytes(value: &Value) -> Option<&[u8]> {
    match value {
        Value::BulkString(bytes) => Some(bytes),
        Value::SimpleString(text) => Some(text.as_bytes()),
        _ => None,
    }
}
