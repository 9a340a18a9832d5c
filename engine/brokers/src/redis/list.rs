//! A list as a queue: elements are moved into a second list, and removed there when they have settled.
//!
//! Invariant: an element is always in one of both lists until it has settled. The second list holds elements
//! in the order in which they were taken, so that those that settle are the first ones.

use std::sync::Arc;

use ::redis::{AsyncCommands, RedisError, RedisResult, Script, cmd};
use temblor_runtime::batch::Origin;
use temblor_runtime::error::Error;
use temblor_runtime::source::feed::Feed;
use temblor_wire::retry::Retry;

use super::server::{Link, Server};
use crate::packing::{BATCH_BYTES_MAX, BATCH_MESSAGES_MAX, Packing, Unpacking};
use crate::session::{self, Ended, Presence, SETTLE_MAX};
use crate::settling::{Open, Settling};

/// Seconds that the server waits for an element before it answers that there is none.
const WAIT_S: f64 = 1.0;
/// What is taken and has not settled yet, at the most, in KiB; an element counts as one at least.
const UNSETTLED_KIB_MAX: usize = 256 << 10;

/// Moves up to ARGV[1] elements, or ARGV[2] bytes, from KEYS[1] to KEYS[2], and gives them back.
const MOVE: &str = "
local taken, bytes = {}, 0
while #taken < tonumber(ARGV[1]) and bytes < tonumber(ARGV[2]) do
  local element = redis.call('LMOVE', KEYS[1], KEYS[2], 'LEFT', 'RIGHT')
  if not element then break end
  taken[#taken + 1] = element
  bytes = bytes + #element
end
return taken";

/// Elements that were handed over together.
struct Mark {
    count: isize,
    kib: usize,
}

/// A list.
#[derive(Clone, Debug)]
pub struct List {
    /// Its key.
    pub name: String,
    /// The key of the list that holds what has not settled.
    pub processing: String,
    /// Who reads.
    pub consumer: String,
}

/// Takes elements until the run stops.
///
/// # Errors
/// None of the attempts that the program allows went well.
pub async fn read(
    list: &List,
    server: &Server,
    unpacking: &Unpacking,
    retry: Retry,
    feed: &Feed,
) -> Result<(), Error> {
    let mut meta = String::from("{\"redis\":{\"list\":");
    session::push_json(&list.name, &mut meta);
    meta.push_str("}}");
    let origin = Origin::with_meta(format!("{}/{}", server.name(), list.name), meta);
    let session = |presence| one_session(list, server, unpacking, &origin, feed, presence);
    session::repeat(feed, retry, session).await
}

async fn one_session(
    list: &List,
    server: &Server,
    unpacking: &Unpacking,
    origin: &Arc<Origin>,
    feed: &Feed,
    presence: Presence,
) -> Result<Ended, Error> {
    let failed = |error: RedisError| server.input_error(&error);
    let mut fetching = server.connect().await.map_err(failed)?;
    let mut settling = server.connect().await.map_err(failed)?;
    claim_name(list, &mut fetching, server).await?;
    presence.found(&server.name());
    let (open, mut settled) = Settling::new();
    let room = Arc::new(tokio::sync::Semaphore::new(UNSETTLED_KIB_MAX));
    let taking = async {
        let taker = Taker { list, unpacking, origin, feed, open, room: Arc::clone(&room) };
        taker.run(&mut fetching).await.map_err(failed)
    };
    let acknowledging = async {
        while let Some((Mark { count, kib }, good)) = settled.next().await {
            if !good {
                return Ok(Ended::Failed);
            }
            let _: () =
                settling.connection.ltrim(&list.processing, count, -1).await.map_err(failed)?;
            room.add_permits(kib);
        }
        Ok(Ended::Stopped)
    };
    tokio::pin!(acknowledging);
    tokio::select! {
        taken = taking => taken?,
        ended = &mut acknowledging => return ended,
    }
    // The run stops: what was handed over gets time to settle, the rest is taken again by the next run.
    tokio::time::timeout(SETTLE_MAX, acknowledging).await.unwrap_or(Ok(Ended::Stopped))
}

/// Two programs with one name would remove each other's elements from the second list.
async fn claim_name(list: &List, link: &mut Link, server: &Server) -> Result<(), Error> {
    let clean = |text: &str| text.replace(|c: char| !c.is_ascii_graphic(), "_");
    let name = format!("temblor:{}:{}", clean(&list.name), clean(&list.consumer));
    let connection = &mut link.connection;
    let named: RedisResult<()> =
        cmd("CLIENT").arg("SETNAME").arg(&name).query_async(connection).await;
    let clients: RedisResult<String> = cmd("CLIENT").arg("LIST").query_async(connection).await;
    // Users without the right to list clients have to choose names that differ by themselves.
    let (Ok(()), Ok(clients)) = (named, clients) else { return Ok(()) };
    let wanted = format!(" name={name} ");
    if clients.lines().filter(|line| line.contains(&wanted)).count() > 1 {
        let reason =
            format!("the list `{}` is being read by another `{}`", list.name, list.consumer);
        let help = "set `consumer` to names that differ";
        return Err(Error::input(server.name(), reason, help));
    }
    Ok(())
}

/// Takes elements and hands them over.
struct Taker<'a> {
    list: &'a List,
    unpacking: &'a Unpacking,
    origin: &'a Arc<Origin>,
    feed: &'a Feed,
    open: Open<Mark>,
    room: Arc<tokio::sync::Semaphore>,
}

impl Taker<'_> {
    async fn run(self, link: &mut Link) -> RedisResult<()> {
        self.take_left_over(link).await?;
        let script = Script::new(MOVE);
        while !self.feed.stop.is_asked() {
            let first: Option<Vec<u8>> = cmd("BLMOVE")
                .arg(&self.list.name)
                .arg(&self.list.processing)
                .arg("LEFT")
                .arg("RIGHT")
                .arg(WAIT_S)
                .query_async(&mut link.connection)
                .await?;
            let Some(first) = first else { continue };
            let mut some = vec![first];
            while !some.is_empty() {
                if self.hand_over(&some).await.is_none() {
                    return Ok(());
                }
                if self.feed.stop.is_asked() {
                    break;
                }
                some = script
                    .key(&self.list.name)
                    .key(&self.list.processing)
                    .arg(BATCH_MESSAGES_MAX)
                    .arg(BATCH_BYTES_MAX)
                    .invoke_async(&mut link.connection)
                    .await?;
            }
        }
        Ok(())
    }

    /// What an earlier session has taken and not acknowledged. It is read as a whole: what settles goes away
    /// in front.
    async fn take_left_over(&self, link: &mut Link) -> RedisResult<()> {
        let all: Vec<Vec<u8>> = link.connection.lrange(&self.list.processing, 0, -1).await?;
        for some in all.chunks(BATCH_MESSAGES_MAX) {
            if self.hand_over(some).await.is_none() {
                break;
            }
        }
        Ok(())
    }

    /// Hands elements over; `None` when the run is over, or stops while there is no room.
    async fn hand_over(&self, elements: &[Vec<u8>]) -> Option<()> {
        let kib: usize = elements.iter().map(|element| 1 + element.len() / 1024).sum();
        let kib = kib.min(UNSETTLED_KIB_MAX);
        let places = u32::try_from(kib).expect("the bound is small");
        tokio::select! {
            permit = self.room.acquire_many(places) => permit.ok()?.forget(),
            () = self.feed.stop.asked() => return None,
        }
        let mut packing = Packing::new(self.unpacking);
        elements.iter().for_each(|element| packing.push("", element));
        let receipt = self.feed.hand_over(packing.take(), self.origin).await.ok()?;
        let count = isize::try_from(elements.len()).expect("a batch is small");
        self.open.send((Mark { count, kib }, receipt)).ok()
    }
}
