//! The body of a request, whole and decompressed.
//!
//! Invariant: bodies that are being read take no more memory together than one bound, and none takes longer
//! than another.

use std::sync::Arc;
use std::time::Duration;

use http_body_util::BodyExt;
use hyper::StatusCode;
use hyper::body::{Body, Incoming};
use hyper::header::{CONTENT_ENCODING, HeaderMap};
use temblor_runtime::stats::Stats;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::bounds::{BODIES_BYTES_MAX, BODY_BYTES_FREE, Bounds};
use crate::content::{self, Unreadable};
use crate::respond::{Reply, because, later};

/// What one permit stands for.
const SHARE_BYTES: usize = 4 << 10;
/// Compressed bodies from this size on are decompressed beside the network's threads.
const BESIDE_BYTES_MIN: usize = 64 << 10;

/// The memory that bodies share.
#[derive(Clone, Debug)]
pub(crate) struct Room(Arc<Semaphore>);

impl Default for Room {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(BODIES_BYTES_MAX / SHARE_BYTES)))
    }
}

/// A share of the room; given back when it is dropped.
struct Share<'a> {
    room: &'a Room,
    wait: Duration,
    bytes: usize,
    permits: Option<OwnedSemaphorePermit>,
}

impl Share<'_> {
    /// Makes sure that the share is this big.
    async fn grow(&mut self, bytes: usize) -> Result<(), Reply> {
        if bytes <= BODY_BYTES_FREE.max(self.bytes) {
            return Ok(());
        }
        let more = (bytes - self.bytes).div_ceil(SHARE_BYTES);
        let count = u32::try_from(more).unwrap_or(u32::MAX);
        let wanted = Arc::clone(&self.room.0).acquire_many_owned(count);
        let Ok(Ok(permits)) = tokio::time::timeout(self.wait, wanted).await else {
            let reason = "too many big bodies at the same time; send it again";
            return Err(later(StatusCode::SERVICE_UNAVAILABLE, reason));
        };
        match &mut self.permits {
            Some(held) => held.merge(permits),
            None => self.permits = Some(permits),
        }
        self.bytes += more * SHARE_BYTES;
        Ok(())
    }
}

/// Reads and decompresses a body.
///
/// # Errors
/// The answer to a body that cannot be had.
pub(crate) async fn body(
    incoming: Incoming,
    headers: &HeaderMap,
    bounds: &Bounds,
    room: &Room,
    stats: &Stats,
) -> Result<Vec<u8>, Reply> {
    let mut share = Share { room, wait: bounds.wait, bytes: 0, permits: None };
    let reading = collect(incoming, bounds, &mut share, stats);
    let bytes = match tokio::time::timeout(bounds.body_timeout, reading).await {
        Ok(bytes) => bytes?,
        Err(_) => {
            stats.add_dropped("http_body_too_slow", 1);
            let reason = format!("the body was not there within {:?}", bounds.body_timeout);
            return Err(because(StatusCode::REQUEST_TIMEOUT, reason));
        }
    };
    let Some(encodings) = headers.get(CONTENT_ENCODING) else { return Ok(bytes) };
    let encodings = encodings.to_str().unwrap_or("?").to_string();
    let bytes_max = bounds.decompressed_bytes_max;
    let decoded = if bytes.len() < BESIDE_BYTES_MIN {
        content::decode(&encodings, bytes, bytes_max)
    } else {
        let beside =
            tokio::task::spawn_blocking(move || content::decode(&encodings, bytes, bytes_max));
        beside
            .await
            .unwrap_or_else(|_| Err(Unreadable::Damaged("it broke the decoder".to_string())))
    };
    decoded.map_err(|why| unreadable(&why, bounds, stats))
}

async fn collect(
    mut incoming: Incoming,
    bounds: &Bounds,
    share: &mut Share<'_>,
    stats: &Stats,
) -> Result<Vec<u8>, Reply> {
    let too_large = || {
        stats.add_dropped("http_body_too_large", 1);
        let reason = format!("the body has more than {} bytes (`max_body`)", bounds.body_bytes_max);
        because(StatusCode::PAYLOAD_TOO_LARGE, reason)
    };
    let promised = usize::try_from(incoming.size_hint().lower()).unwrap_or(usize::MAX);
    if promised > bounds.body_bytes_max {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    while let Some(frame) = incoming.frame().await {
        let frame = frame.map_err(|error| {
            stats.add_dropped("http_body_broken", 1);
            because(StatusCode::BAD_REQUEST, format!("the body broke off: {error}"))
        })?;
        let Ok(data) = frame.into_data() else { continue };
        if bytes.is_empty() && data.len() >= promised {
            bytes = Vec::from(data);
        } else {
            share.grow(bytes.len() + data.len()).await?;
            bytes.extend_from_slice(&data);
        }
        if bytes.len() > bounds.body_bytes_max {
            return Err(too_large());
        }
    }
    Ok(bytes)
}

fn unreadable(why: &Unreadable, bounds: &Bounds, stats: &Stats) -> Reply {
    match why {
        Unreadable::Unknown(name) => {
            let reason =
                format!("the encoding `{name}` is not known; known are gzip, deflate, zstd, br");
            because(StatusCode::UNSUPPORTED_MEDIA_TYPE, reason)
        }
        Unreadable::TooLarge => {
            stats.add_dropped("http_body_too_large", 1);
            let most = bounds.decompressed_bytes_max;
            let reason =
                format!("decompressed, the body has more than {most} bytes (`max_decompressed`)");
            because(StatusCode::PAYLOAD_TOO_LARGE, reason)
        }
        Unreadable::Damaged(reason) => {
            stats.add_dropped("http_body_damaged", 1);
            let reason = format!("the body cannot be decompressed: {reason}");
            because(StatusCode::BAD_REQUEST, reason)
        }
    }
}
