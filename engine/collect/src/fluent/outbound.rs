//! The sender: events of one tag become a packed chunk; chunks are acknowledged before the next events go out.
//!
//! Invariant: an event is confirmed when its chunk was acknowledged, or, where no acknowledgement is wanted,
//! when its bytes are with the operating system.

use std::collections::HashMap;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use flate2::Compression;
use flate2::write::GzEncoder;
use rmpv::Value;
use serde_json::Value as Json;
use temblor_runtime::error::Error;
use temblor_runtime::outlet::{Desk, Feedback, Outlet};
use temblor_runtime::sink::{OpenSink, Sink};
use temblor_wire::outbound::task_sink;
use temblor_wire::retry::{self, Retry};
use tokio::io::AsyncWriteExt;

use super::handshake::Credentials;
use super::message::{entry_of, text};
use super::pack;
use super::scan::Scan;
use crate::dial::Dial;
use crate::parcels::{self, Parcels};
use crate::stream::{Stream, Waited, read_within};

/// Bytes of the events of one chunk; a chunk with one event may be larger.
const CHUNK_BYTES_MAX: usize = 8 << 20;
/// The longest acknowledgement.
const ANSWER_BYTES_MAX: usize = 64 << 10;
/// The tag of events that have none.
const TAG: &str = "temblor";

/// Places of the attributes among the settings that are evaluated for each event.
const ATTRIBUTE_TAG: usize = 0;
const ATTRIBUTE_TIME: usize = 1;
const ATTRIBUTE_META: usize = 2;

/// What the program says.
#[derive(Clone, Debug)]
pub(crate) struct Sending {
    pub dial: Dial,
    pub credentials: Option<Credentials>,
    pub retry: Retry,
    pub timeout: Duration,
    pub(crate) chunk_events_max: u64,
    pub(crate) is_packed: bool,
    pub acknowledges: bool,
    pub errors: Arc<Feedback>,
}

impl OpenSink for Sending {
    fn open(&self, _: bool) -> Result<Box<dyn Sink>, Error> {
        Ok(task_sink(self, Self::run))
    }
}

/// Events of one tag, as they go over the wire.
struct Chunk {
    id: String,
    message: Vec<u8>,
}

impl Sending {
    async fn run(mut self, outlet: Arc<Outlet>, desk: Desk) {
        let mut stream = None;
        let most = self.chunk_events_max;
        while let Some(mut parcels) = Parcels::take(&outlet, most, CHUNK_BYTES_MAX).await {
            let mut chunks = self.chunks(&mut parcels);
            let sent = loop {
                let Err(error) = self.send(&mut chunks, &mut stream).await else { break Ok(()) };
                stream = None;
                self.dial.turn();
                if !parcels::wait(&mut self.retry, &desk, &error).await {
                    break Err(error);
                }
            };
            match sent {
                Ok(()) => {
                    self.retry.succeed();
                    parcels.confirm(&self.errors).await;
                }
                Err(error) => parcels.fail(&error),
            }
        }
    }

    /// The chunks of the events, by tag; events that are no records are refused.
    fn chunks(&self, parcels: &mut Parcels) -> Vec<Chunk> {
        let mut tags: HashMap<String, usize> = HashMap::new();
        let mut groups: Vec<(String, Vec<u8>, u64)> = Vec::new();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let now = u64::try_from(now).unwrap_or(u64::MAX);
        let indices: Vec<_> = parcels.indices().collect();
        for index in indices {
            let record = match serde_json::from_slice(parcels.event(index)) {
                Ok(record @ Json::Object(_)) => record,
                Ok(_) => {
                    parcels.refuse(index, "Forward carries records, and this event is none");
                    continue;
                }
                Err(error) => {
                    parcels.refuse(index, format!("the event cannot be packed: {error}"));
                    continue;
                }
            };
            let json = |attribute| parcels.attribute(index, attribute);
            let meta: Json = json(ATTRIBUTE_META)
                .and_then(|text| serde_json::from_str(text).ok())
                .unwrap_or(Json::Null);
            let tag = json(ATTRIBUTE_TAG).or_else(|| meta["tag"].as_str()).unwrap_or(TAG);
            let time = json(ATTRIBUTE_TIME).and_then(|text| text.parse().ok());
            let time = time.or_else(|| meta["time"].as_u64()).unwrap_or(now);
            let group = *tags.entry(tag.to_string()).or_insert_with(|| {
                groups.push((tag.to_string(), Vec::new(), 0));
                groups.len() - 1
            });
            let (_, entries, count) = &mut groups[group];
            pack::push_entry(time, &record, entries);
            *count += 1;
        }
        groups.into_iter().map(|(tag, entries, count)| self.chunk(tag, entries, count)).collect()
    }

    /// `[tag, entries, {"size", "chunk", "compressed"}]`.
    fn chunk(&self, tag: String, entries: Vec<u8>, count: u64) -> Chunk {
        let id = fresh_id();
        let mut option = vec![(Value::from("size"), Value::from(count))];
        if self.acknowledges {
            option.push((Value::from("chunk"), Value::from(id.as_str())));
        }
        let entries = if self.is_packed {
            option.push((Value::from("compressed"), Value::from("gzip")));
            let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
            let packed = encoder.write_all(&entries).and_then(|()| encoder.finish());
            packed.expect("memory can be written")
        } else {
            entries
        };
        let parts = vec![Value::from(tag), Value::Binary(entries), Value::Map(option)];
        let mut message = Vec::new();
        rmpv::encode::write_value(&mut message, &Value::Array(parts))
            .expect("memory can be written");
        Chunk { id, message }
    }

    /// Sends the chunks and takes away those that were acknowledged.
    async fn send(
        &self,
        chunks: &mut Vec<Chunk>,
        stream: &mut Option<Stream>,
    ) -> Result<(), Error> {
        let failed = |reason: String| {
            let help = "what is not acknowledged is sent again; look at the log of the receiver";
            Error::output(self.dial.place(), reason, help)
        };
        if chunks.is_empty() {
            return Ok(());
        }
        let stream = match stream {
            Some(stream) => stream,
            None => {
                let mut fresh = self.dial.connect().await?;
                if let Some(credentials) = &self.credentials {
                    let shaking = credentials.introduce(&mut fresh);
                    let shaken = tokio::time::timeout(self.timeout, shaking).await;
                    let late = || Err(format!("no handshake within {:?}", self.timeout));
                    shaken.unwrap_or_else(|_| late()).map_err(failed)?;
                }
                stream.insert(fresh)
            }
        };
        let writing = async {
            for chunk in &*chunks {
                stream.write_all(&chunk.message).await?;
            }
            stream.flush().await
        };
        match tokio::time::timeout(self.timeout, writing).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return Err(failed(format!("cannot be written to: {error}"))),
            Err(_) => {
                return Err(failed(format!("has not taken a chunk within {:?}", self.timeout)));
            }
        }
        if !self.acknowledges {
            chunks.clear();
            return Ok(());
        }
        let (mut answers, mut scan) = (Vec::new(), Scan::default());
        while !chunks.is_empty() {
            match read_within(stream, &mut answers, self.timeout).await {
                Waited::Bytes(_) => {}
                Waited::Ended => {
                    return Err(failed("closed the connection before it acknowledged".to_string()));
                }
                Waited::Idle => {
                    return Err(failed(format!("has not acknowledged within {:?}", self.timeout)));
                }
            }
            while let Some(end) = scan.end(&answers, ANSWER_BYTES_MAX).map_err(failed)? {
                scan = Scan::default();
                let answer = rmpv::decode::read_value_ref(&mut &answers[..end]);
                let answer = answer.map_err(|error| failed(error.to_string()))?;
                let id = entry_of(&answer, "ack").and_then(text).unwrap_or_default();
                chunks.retain(|chunk| chunk.id != id);
                answers.drain(..end);
            }
        }
        Ok(())
    }
}

/// An identity that no other chunk of this or another process has.
fn fresh_id() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("{:016x}{count:016x}", retry::chance().to_bits())
}
