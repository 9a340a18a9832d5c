//! What a program says about the queue in front of a sink, and about the one behind a source.
//!
//! Invariant: all sinks take the same settings here, and none of them has a meaning of its own.

use crate::order;
use crate::setting::{Setting, Takes};

/// Settings of every sink: how much may wait for it, where, and what happens beyond that.
pub static SINK: [Setting; 11] = [
    Setting::new("queue_bytes", Takes::Bytes, "How much may wait for the sink in memory. 8MiB when not set."),
    Setting::new(
        "queue_events",
        Takes::Whole { least: 1, most: 1_000_000_000 },
        "How many events may wait for the sink in memory.",
    ),
    Setting::new(
        "when_full",
        Takes::Word(&["block", "drop_newest", "drop_oldest", "spill", "divert", "shed"]),
        "What happens when there is no room: the program waits (`block`), events are left out and counted \
         (`drop_newest`, `drop_oldest`; `shed`: those of the least `priority`), wait on disk (`spill`), or go \
         back into the program by the port `NAME/full` (`divert`).",
    )
    .or("block"),
    Setting::new(
        "priority",
        Takes::PerEvent,
        "How important an event is, for `shed`: a number, the higher the more, or the name of a severity. \
         When not set: what `severity` or `level` of the event say.",
    ),
    BUFFER,
    BUFFER_BYTES,
    RESERVE,
    COMPRESSION,
    KEY,
    DURABILITY,
    order::OF_STREAMS,
];

/// Settings of every source that can have a queue on disk behind it.
pub static SOURCE: [Setting; 6] = [BUFFER, BUFFER_BYTES, RESERVE, COMPRESSION, KEY, DURABILITY];

/// What an event says about its importance when the program does not.
pub static SEVERITY: [Setting; 1] = [Setting::new(
    "$severity",
    Takes::Hidden(
        "match event of case %{ present severity } => event.severity case %{ present level } => event.level \
         case _ => null end",
    ),
    "",
)];

const BUFFER: Setting = Setting::new(
    "buffer",
    Takes::Word(&["memory", "disk"]),
    "Where events wait: in memory, or on disk below `--state DIR`, where they outlive the run.",
)
.or("memory");
const BUFFER_BYTES: Setting =
    Setting::new("buffer_bytes", Takes::Bytes, "Bytes on disk, at the most; 64KiB at the least.")
        .or("1GiB");
const RESERVE: Setting = Setting::new(
    "buffer_reserve",
    Takes::Bytes,
    "Bytes of the disk that stay free for others: with less the buffer takes nothing more.",
)
.or("64MiB");
const COMPRESSION: Setting = Setting::new(
    "buffer_compression",
    Takes::Word(&["none", "lz4"]),
    "How events on disk are compressed.",
)
.or("none");
const KEY: Setting = Setting::new(
    "buffer_key",
    Takes::Secret,
    "Seals events on disk (AES-256-GCM) with this key of 32 bytes, or 64 hexadecimal digits.",
);
const DURABILITY: Setting = Setting::new(
    "durability",
    Takes::Word(&["system", "fsync"]),
    "When events count as kept: once the operating system has them (a process that is killed loses nothing), or \
     once the disk says that it has them (`fsync`: a failure of power loses nothing, and it is slower).",
)
.or("system");
