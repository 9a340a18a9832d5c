//! tremor's connectors for streams and datagrams: `tcp_*`, `udp_*` and `unix_socket_*`.
//!
//! Invariant: they say and take what tremor's do; sockets, bounds and retries are those of this crate.

mod duplex;
mod client;
mod server;
mod datagrams;

pub use client::{TCP_CLIENT, UNIX_SOCKET_CLIENT};
pub use datagrams::{UDP_CLIENT, UDP_SERVER};
pub use server::{TCP_SERVER, UNIX_SOCKET_SERVER};

use temblor_declare::{Build, Setting, Takes};

use crate::cutter::Cut;
use crate::stream::Reading;

/// What a source reads at a time unless the program sets it.
const CHUNK_BYTES: usize = 8192;

const URL: Setting =
    Setting::new("url", Takes::Text, "HOST:PORT, with or without a scheme in front.").required();
const PATH: Setting = Setting::new("path", Takes::Text, "The file of the socket.").required();
const BUF_SIZE: Setting = Setting::new(
    "buf_size",
    Takes::Whole { least: 1, most: 1 << 30 },
    "Bytes that are read at a time. Without preprocessors each read is a message. 8192 when not set.",
);
const SOCKET_OPTIONS: Setting = Setting::new(
    "socket_options",
    Takes::Record(&[
        Setting::new("TCP_NODELAY", Takes::Flag, "Whether small writes leave at once.").or("true"),
        Setting::new("SO_REUSEADDR", Takes::Flag, "Whether an address may be used again at once.")
            .or("true"),
        Setting::new("SO_REUSEPORT", Takes::Flag, "Whether others may listen at the same port.")
            .or("false"),
    ]),
    "Options of the socket.",
);

/// How a connection is read: by its preprocessors; without any each read is a message.
fn reading(what: &Build<'_>) -> Reading {
    let cut = match what.framing_is_chosen {
        true => Cut::Framed(what.framing),
        false => Cut::Chained(what.preprocessors.to_vec()),
    };
    let reading = Reading::of_settings(cut, what.settings);
    let chunk_bytes = what.settings.optional_whole("buf_size");
    let chunk_bytes = chunk_bytes.and_then(|one| usize::try_from(one).ok()).unwrap_or(CHUNK_BYTES);
    // Larger reads change nothing where the chunks do not matter.
    let matters = !reading.collects;
    let read_bytes_max = if matters { chunk_bytes } else { reading.read_bytes_max };
    Reading { read_bytes_max, ..reading }
}
