//! Channels: what is published while somebody listens.
//!
//! Invariant: nothing is acknowledged here, because Redis keeps nothing; a listener that is slow is cut off by
//! the server, which is reported.

use std::time::Duration;

use ::redis::{Msg, RedisError};
use futures_util::{FutureExt, StreamExt};
use temblor_runtime::batch::Origin;
use temblor_runtime::error::Error;
use temblor_runtime::source::feed::Feed;
use temblor_wire::retry::Retry;

use super::server::Server;
use crate::packing::{Packing, Unpacking};
use crate::session::{self, Ended, Presence, push_json};

/// Time between two questions whether the server is still there.
const PING_INTERVAL: Duration = Duration::from_secs(15);
/// How long the answer may take.
const PONG_MAX: Duration = Duration::from_secs(10);

/// What is listened to.
#[derive(Clone, Debug)]
pub struct Channels {
    /// Channels by their names.
    pub names: Vec<String>,
    /// Channels by patterns of their names.
    pub patterns: Vec<String>,
}

/// Listens until the run stops.
///
/// # Errors
/// None of the attempts that the program allows went well.
pub async fn read(
    channels: &Channels,
    server: &Server,
    unpacking: &Unpacking,
    retry: Retry,
    feed: &Feed,
) -> Result<(), Error> {
    let session = |presence| one_session(channels, server, unpacking, feed, presence);
    session::repeat(feed, retry, session).await
}

async fn one_session(
    channels: &Channels,
    server: &Server,
    unpacking: &Unpacking,
    feed: &Feed,
    presence: Presence,
) -> Result<Ended, Error> {
    let failed = |error: RedisError| server.input_error(&error);
    let mut listener = server.listen().await.map_err(failed)?;
    if !channels.names.is_empty() {
        listener.subscribe(&channels.names).await.map_err(failed)?;
    }
    if !channels.patterns.is_empty() {
        listener.psubscribe(&channels.patterns).await.map_err(failed)?;
    }
    presence.found(&server.name());
    let origin = Origin::named(server.name());
    let (mut asking, mut messages) = listener.split();
    let mut packing = Packing::new(unpacking);
    loop {
        let message = tokio::select! {
            message = messages.next() => message,
            () = tokio::time::sleep(PING_INTERVAL) => {
                let answer = tokio::time::timeout(PONG_MAX, asking.ping::<::redis::Value>()).await;
                match answer {
                    Ok(answer) => answer.map(drop).map_err(failed)?,
                    Err(_) => return Err(lost(server, "does not answer any more")),
                }
                continue;
            }
            () = feed.stop.asked() => return Ok(Ended::Stopped),
        };
        let Some(message) = message else { return Err(lost(server, "has ended the connection")) };
        push(&message, &mut packing);
        while !packing.is_full() {
            let Some(Some(message)) = messages.next().now_or_never() else { break };
            push(&message, &mut packing);
        }
        if feed.hand_over_unwatched(packing.take(), &origin).await.is_err() {
            return Ok(Ended::Stopped);
        }
    }
}

fn lost(server: &Server, reason: &str) -> Error {
    let help = "a listener that is too slow is cut off (client-output-buffer-limit pubsub); a list or a \
                stream loses nothing";
    Error::input(server.name(), reason, help)
}

fn push(message: &Msg, packing: &mut Packing) {
    let mut meta = String::from("{\"redis\":{\"channel\":");
    push_json(message.get_channel_name(), &mut meta);
    if let Ok(Some(pattern)) = message.get_pattern::<Option<String>>() {
        meta.push_str(",\"pattern\":");
        push_json(&pattern, &mut meta);
    }
    meta.push_str("}}");
    packing.push(&meta, message.get_payload_bytes());
}
