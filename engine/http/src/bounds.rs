//! What a listening source allows its peers: one place for the bounds of all of them.
//!
//! Invariant: nothing that a peer sends is kept without a bound, and nothing is waited for without a time.

use std::time::Duration;

use temblor_declare::{Setting, Settings, Takes};
use temblor_wire::inbound::CONNECTIONS_MAX;

/// Bytes that a request line and headers may have; hyper needs 8 KiB at least.
pub(crate) const HEADER_BYTES_MIN: u64 = 8 << 10;
/// Headers of one request.
pub(crate) const HEADERS_MAX: usize = 100;
/// Streams of one HTTP/2 connection at the same time.
pub(crate) const STREAMS_MAX: u32 = 256;
/// Bytes of bodies of all requests that are being read. Further ones wait for room.
pub(crate) const BODIES_BYTES_MAX: usize = 256 << 20;
/// A body up to this size is read without asking for a share of [`BODIES_BYTES_MAX`].
pub(crate) const BODY_BYTES_FREE: usize = 16 << 10;
/// How long requests that are under way may still take when the run stops.
pub(crate) const DRAIN_MAX: Duration = Duration::from_secs(20);
/// How long a client should wait that is told to come back, in seconds.
pub(crate) const RETRY_AFTER_S: u64 = 1;

/// The settings of the bounds, and what holds without them.
pub(crate) const MAX_CONNECTIONS: Setting = Setting::new(
    "max_connections",
    Takes::Whole { least: 1, most: 1_000_000 },
    "Connections at the same time; further ones wait until one ends.",
);
/// Requests at the same time.
pub(crate) const MAX_REQUESTS: Setting = Setting::new(
    "max_requests",
    Takes::Whole { least: 1, most: 1_000_000 },
    "Requests at the same time that are read or wait for their acknowledgement; a further one is answered \
     with status 429.",
)
.or("1024");
/// The head of a request.
pub(crate) const MAX_HEADER: Setting = Setting::new(
    "max_header",
    Takes::Bytes,
    "Bytes of the first line and the headers of a request, at least 8KiB; beyond them the answer is status \
     431.",
)
.or("64KiB");
/// The body of a request.
pub(crate) const MAX_BODY: Setting = Setting::new(
    "max_body",
    Takes::Bytes,
    "Bytes of the body of a request as it was sent; beyond them the answer is status 413.",
)
.or("16MiB");
/// The same, decompressed.
pub(crate) const MAX_DECOMPRESSED: Setting = Setting::new(
    "max_decompressed",
    Takes::Bytes,
    "Bytes of a compressed body when it is decompressed; beyond them the answer is status 413.",
)
.or("64MiB");
/// The time of the head.
pub(crate) const HEADER_TIMEOUT: Setting = Setting::new(
    "header_timeout",
    Takes::Duration,
    "A connection that sends no whole head of a request within this time, be it new or kept open, is closed.",
)
.or("30s");
/// The time of the body.
pub(crate) const BODY_TIMEOUT: Setting = Setting::new(
    "body_timeout",
    Takes::Duration,
    "A body that is not there within this time is answered with status 408.",
)
.or("60s");
/// The time without room.
pub(crate) const WAIT: Setting = Setting::new(
    "wait",
    Takes::Duration,
    "How long a request waits for room when the program takes no more; then the answer is status 503.",
)
.or("5s");

/// The bounds of a listening source.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Connections at the same time.
    pub connections_max: usize,
    /// Requests at the same time.
    pub(crate) requests_max: usize,
    /// Bytes of the head of a request.
    pub(crate) header_bytes_max: usize,
    /// Bytes of a body as it was sent.
    pub body_bytes_max: usize,
    /// Bytes of a decompressed body.
    pub(crate) decompressed_bytes_max: usize,
    /// Time for the head of a request.
    pub header_timeout: Duration,
    /// Time for the body of a request.
    pub body_timeout: Duration,
    /// Time to wait for room.
    pub wait: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            connections_max: CONNECTIONS_MAX,
            requests_max: 1024,
            header_bytes_max: 64 << 10,
            body_bytes_max: 16 << 20,
            decompressed_bytes_max: 64 << 20,
            header_timeout: Duration::from_secs(30),
            body_timeout: Duration::from_secs(60),
            wait: Duration::from_secs(5),
        }
    }
}

impl Bounds {
    /// As the settings say.
    #[must_use]
    pub(crate) fn of_settings(settings: &Settings) -> Self {
        let whole = |name: &str| {
            settings.optional_whole(name).map(|most| usize::try_from(most).unwrap_or(usize::MAX))
        };
        Self {
            connections_max: whole("max_connections").unwrap_or(CONNECTIONS_MAX),
            requests_max: settings.size("max_requests"),
            header_bytes_max: settings.whole("max_header").max(HEADER_BYTES_MIN) as usize,
            // A message's length is kept in 32 bits.
            body_bytes_max: settings.size("max_body").min(u32::MAX as usize),
            decompressed_bytes_max: settings.size("max_decompressed").min(u32::MAX as usize),
            header_timeout: settings.duration("header_timeout"),
            body_timeout: settings.duration("body_timeout"),
            wait: settings.duration("wait"),
        }
    }
}
