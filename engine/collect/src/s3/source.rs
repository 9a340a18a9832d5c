//! The reader: objects in the order of their names.
//!
//! Invariant: an object is written down as read only when all that stems from it is where it should be.

use std::collections::HashSet;
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use flate2::bufread::MultiGzDecoder;
use temblor_codec::compression::{Compression, decoder};
use temblor_runtime::batch::Origin;
use temblor_runtime::buffer::Buffer;
use temblor_runtime::checkpoint::FileMark;
use temblor_runtime::error::Error;
use temblor_runtime::framing::Framing;
use temblor_runtime::intake::{Arrival, Messages};
use temblor_runtime::limits::BLOCK_BYTES;
use temblor_runtime::source::feed::Feed;
use temblor_runtime::source::{OpenSource, Source};
use temblor_wire::retry::{self, Retry};

use super::store::{Failure, Listed, Store};

/// What the program says.
#[derive(Clone, Debug)]
pub(crate) struct Reading {
    pub store: Store,
    pub retry: Retry,
    pub framing: Framing,
    /// The name of the metadata.
    pub kind: &'static str,
    pub prefix: String,
    pub poll: Option<Duration>,
    pub read_log: Option<PathBuf>,
    pub(crate) object_bytes_max: usize,
    pub(crate) unpacked_bytes_max: usize,
}

impl OpenSource for Reading {
    fn open(&self, _: &[FileMark]) -> Result<Box<dyn Source>, Error> {
        Ok(Box::new(self.clone()))
    }
}

impl Source for Reading {
    fn name(&self) -> String {
        format!("s3://{}/{}", self.store.name(), self.prefix)
    }

    fn run(&mut self, feed: &Feed) -> Result<(), Error> {
        let mut read = self.read_before()?;
        feed.network.handle()?.block_on(async {
            loop {
                self.look(feed, &mut read).await?;
                let Some(poll) = self.poll else { return Ok(()) };
                tokio::select! {
                    () = tokio::time::sleep(poll) => {}
                    () = feed.stop.asked() => return Ok(()),
                }
                if feed.stop.is_asked() {
                    return Ok(());
                }
            }
        })
    }
}

impl Reading {
    /// The lines of the log: the mark of an object's content, and its name.
    fn read_before(&self) -> Result<HashSet<String>, Error> {
        let Some(path) = &self.read_log else { return Ok(HashSet::new()) };
        match fs::read_to_string(path) {
            Ok(text) => Ok(text.lines().map(str::to_string).collect()),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(HashSet::new()),
            Err(error) => Err(self.log_error(&error)),
        }
    }

    fn log_error(&self, error: &std::io::Error) -> Error {
        let path = self.read_log.as_ref().map(|path| path.display().to_string());
        let help = "check the permissions of the file that `read_log` names, and of its folder";
        Error::input(path.unwrap_or_default(), format!("the log cannot be used: {error}"), help)
    }

    /// Reads all objects that have not been read.
    async fn look(&self, feed: &Feed, read: &mut HashSet<String>) -> Result<(), Error> {
        let mut token: Option<String> = None;
        loop {
            let listing = || self.store.list(&self.prefix, token.as_deref());
            let Some((objects, next)) = self.insist(feed, listing).await? else { return Ok(()) };
            for object in objects {
                let line = format!("{} {}", object.etag, object.key.escape_default());
                if feed.stop.is_asked() {
                    return Ok(());
                }
                if read.contains(&line) || object.key.ends_with('/') {
                    continue;
                }
                if self.object(feed, &object).await? {
                    self.write_down(&line)?;
                    read.insert(line);
                }
            }
            match next {
                Some(next) => token = Some(next),
                None => return Ok(()),
            }
        }
    }

    /// Asks until there is an answer, the retries have an end, or the run stops (`None`).
    async fn insist<T, F>(&self, feed: &Feed, ask: impl Fn() -> F) -> Result<Option<T>, Error>
    where
        F: Future<Output = Result<T, Failure>>,
    {
        let mut retry = self.retry.clone();
        loop {
            let failure: Failure = match ask().await {
                Ok(answer) => return Ok(Some(answer)),
                Err(failure) => failure,
            };
            let Some(wait) = retry.fail(retry::chance()).filter(|_| failure.is_passing) else {
                return Err(failure.input());
            };
            feed.stats.add_error("retries");
            feed.console.message(&format!("warning: {}; it is tried again", failure.text()));
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                () = feed.stop.asked() => return Ok(None),
            }
        }
    }

    /// Reads an object. True when all that stems from it is where it should be; or when it never will be,
    /// which is reported.
    async fn object(&self, feed: &Feed, object: &Listed) -> Result<bool, Error> {
        let key = &object.key;
        let (bucket, etag) = (self.store.name(), &object.etag);
        let meta = serde_json::json!({ self.kind: { "bucket": bucket, "key": key, "etag": etag } });
        let origin = Origin::with_meta(format!("s3://{bucket}/{key}"), meta.to_string());
        if object.bytes > self.object_bytes_max as u64 {
            let most = self.object_bytes_max;
            let reason = format!("{} bytes are more than `max_object`, {most}", object.bytes);
            feed.trouble(self.store.failure(key, false, reason).input());
            return Ok(false);
        }
        let getting = || self.store.get(key, self.object_bytes_max);
        let Some(packed) = self.insist(feed, getting).await? else { return Ok(false) };
        let bytes = match unpack(&packed, self.unpacked_bytes_max) {
            Ok(bytes) => bytes,
            Err(reason) => {
                let arrival = crate::listen::bad(&packed, reason);
                let _ = feed.hand_over_unwatched(arrival, &origin).await;
                return Ok(true);
            }
        };
        self.hand_over(feed, bytes, &origin).await
    }

    async fn hand_over(
        &self,
        feed: &Feed,
        bytes: Vec<u8>,
        origin: &Arc<Origin>,
    ) -> Result<bool, Error> {
        let (mut rest, mut line, mut receipts) = (&bytes[..], 1, Vec::new());
        while !rest.is_empty() {
            let block = &rest[..rest.len().min(BLOCK_BYTES)];
            let cut = match self.framing.cut(block) {
                _ if block.len() == rest.len() => rest.len(),
                Some(cut) => cut,
                None => self.framing.end_of_first(rest).unwrap_or(rest.len()),
            };
            let (whole, behind) = rest.split_at(cut);
            rest = behind;
            let frames = self.framing.count(whole).max(1);
            let (buffer, range) = (Buffer::of_bytes(whole.to_vec()), 0..whole.len());
            let empty = Messages::default().take();
            let (framing, first_line) = (self.framing, line);
            let arrival = Arrival { buffer, range, framing, frames, first_line, ..empty };
            line += frames;
            match feed.hand_over(arrival, origin).await {
                Ok(receipt) => receipts.push(receipt),
                Err(_) => return Ok(false),
            }
        }
        let mut all = true;
        for receipt in receipts {
            all &= receipt.settled().await;
        }
        Ok(all)
    }

    fn write_down(&self, line: &str) -> Result<(), Error> {
        let Some(path) = &self.read_log else { return Ok(()) };
        let written =
            OpenOptions::new().create(true).append(true).open(path).and_then(|mut file| {
                file.write_all(format!("{line}\n").as_bytes())?;
                file.sync_data()
            });
        written.map_err(|error| self.log_error(&error))
    }
}

/// The content of an object, decompressed where its first bytes say so.
fn unpack(packed: &[u8], bytes_max: usize) -> Result<Vec<u8>, String> {
    let Some(compression) = Compression::of(packed) else { return Ok(packed.to_vec()) };
    let reader: Box<dyn Read + '_> = match compression {
        Compression::Gzip => Box::new(MultiGzDecoder::new(packed)),
        other => decoder(other, Box::new(packed)).map_err(|error| error.to_string())?,
    };
    let mut bytes = Vec::new();
    let read = reader.take(bytes_max as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|error| format!("the compressed object is damaged: {error}"))?;
    match bytes.len() > bytes_max {
        true => Err(format!("the compressed object becomes more than {bytes_max} bytes")),
        false => Ok(bytes),
    }
}
