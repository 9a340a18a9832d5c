//! Every limit of the runtime, named, with its unit last.
//!
//! Invariant: no other file of the runtime holds a bare number that bounds memory, time or output.

use std::time::Duration;

/// What a source asks of the operating system at a time, and what a pooled buffer holds.
pub const BLOCK_BYTES: usize = 256 * 1024;

/// The smallest block that a user may ask for.
pub const BLOCK_BYTES_MIN: usize = 4 * 1024;

/// The largest block that a user may ask for.
pub const BLOCK_BYTES_MAX: usize = 64 * 1024 * 1024;

/// The longest line; a longer one is reported as one bad frame and skipped without being kept.
pub const LINE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// The longest input that is read as one single frame.
pub const WHOLE_BYTES_MAX: usize = 256 * 1024 * 1024;

/// How many first bytes of a bad frame are kept for the report.
pub const BAD_FRAME_BYTES_KEPT: usize = 256;

/// Durations up to which latencies are counted together, in nanoseconds: 0.1 ms to 100 s, in steps of 1, 2.5, 5.
pub const LATENCY_BOUNDS_NS: [u64; 19] = [
    100_000,
    250_000,
    500_000,
    1_000_000,
    2_500_000,
    5_000_000,
    10_000_000,
    25_000_000,
    50_000_000,
    100_000_000,
    250_000_000,
    500_000_000,
    1_000_000_000,
    2_500_000_000,
    5_000_000_000,
    10_000_000_000,
    25_000_000_000,
    50_000_000_000,
    100_000_000_000,
];

/// Free buffers that the pool keeps; further ones go back to the allocator.
pub const POOL_BUFFERS_MAX: usize = 32;

/// Batches between the sources and the workers.
pub const QUEUE_BATCHES_MAX: usize = 256;

/// Bytes (of buffers, filled or not) between the sources and one worker.
pub const QUEUE_BYTES_PER_WORKER_MAX: usize = 2 * 1024 * 1024;

/// Bytes of encoded output between the workers and the writer, for each worker.
pub const OUTBOX_BYTES_PER_WORKER_MAX: usize = 4 * 1024 * 1024;

/// Processed batches between the workers and the writer; also the window of the reordering.
pub const OUTBOX_ITEMS_MAX: usize = 256;

/// Bytes of encoded events that wait for one sink that confirms later.
pub const OUTLET_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Parcels that wait for one sink that confirms later.
pub const OUTLET_PARCELS_MAX: usize = 1024;

/// How long sinks may still send when the run ends.
pub const DRAIN_MAX: Duration = Duration::from_secs(30);

/// Threads of the runtime that sockets and timers live on.
pub const NETWORK_THREADS_MAX: usize = 2;

/// Stack of a worker, in bytes: values nest thousands deep where filters nest them.
pub const WORKER_STACK_BYTES: usize = 32 * 1024 * 1024;

/// Worker threads.
pub const WORKERS_MAX: usize = 1024;

/// Cleared outputs that are kept for the next batches.
pub const OUTPUTS_SPARE_MAX: usize = 16;

/// A buffer for output that grew beyond this goes back to the allocator after its batch.
pub const OUTPUT_BYTES_KEPT: usize = 2 * 1024 * 1024;

/// Time between two ticks, by the run's clock.
pub const TICK_INTERVAL: Duration = Duration::from_millis(100);

/// The longest that a worker waits at a time because of a rate limit that blocks.
pub const REST_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// Time between two looks at the memory of the process, with `--memory`.
pub const MEMORY_INTERVAL: Duration = Duration::from_millis(50);

/// Time between two drawings of the progress line.
pub const PROGRESS_INTERVAL: Duration = Duration::from_millis(250);

/// Time between two checkpoints while bytes are acknowledged.
pub const CHECKPOINT_INTERVAL: Duration = Duration::from_millis(200);

/// Time between two looks at whether the end of the input may come, where an event may end the run.
pub const END_INTERVAL: Duration = Duration::from_millis(10);

/// Acknowledged output bytes after which a checkpoint is written before its time.
pub const CHECKPOINT_BYTES: u64 = 64 * 1024 * 1024;

/// A saved state is written at most this part of the time: after one that took a second, the next
/// comes this many seconds later.
pub const SNAPSHOT_REST: u32 = 20;

/// The biggest saved state that is read.
pub const SNAPSHOT_BYTES_MAX: u64 = 64 * 1024 * 1024 * 1024;

/// Input files that a checkpoint remembers although the run no longer reads them.
pub const CHECKPOINT_FILES_MAX: usize = 10_000;

/// The biggest checkpoint file that is read.
pub const CHECKPOINT_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// First bytes of a file that take part in its identity.
pub const FINGERPRINT_BYTES: usize = 1024;

/// Output files with a path chosen per event that are open at the same time.
pub const OPEN_FILES_MAX: usize = 256;

/// Output paths in the modes `truncate` and `overwrite` whose state must be remembered.
pub const OUTPUT_PATHS_MAX: usize = 1_000_000;

/// Event errors that are printed; the rest is counted.
pub const ERRORS_PRINTED_MAX: u64 = 20;

/// Original bytes that are printed with an event error.
pub const ERROR_BYTES_PRINTED: usize = 160;

/// Capacity asked for a pipe on standard input (Linux gives 64 KiB unasked).
pub const PIPE_BYTES: usize = 1024 * 1024;

/// The largest window that a zstd frame may ask for.
pub const ZSTD_WINDOW_BYTES_MAX: u64 = 128 * 1024 * 1024;

/// Memory that an xz stream may ask for, in KiB.
pub const XZ_MEMORY_KIB_MAX: u32 = 192 * 1024;

// What operators remember. Each is the default of a setting, or a bound on it.

/// Keys that an operator can be told to remember.
pub const KEYS_MAX: usize = 1_000_000_000;

/// Streams that `dedup across` can be told to tell apart.
pub const STREAMS_MAX: usize = 65_536;

/// Entries that are looked at for eviction when a table is full.
pub const EVICTION_SAMPLE: usize = 16;

/// Entries that are looked at for expiry with each new key.
pub const EXPIRY_SAMPLE: usize = 2;

/// Events that `batch` can be told to collect.
pub const BATCH_EVENTS_MAX: usize = 10_000_000;

/// Bytes of collected events that make a batch complete before its time.
pub const BATCH_BYTES_MAX: usize = 256 * 1024 * 1024;

/// Classes that `grouper::bucket` remembers; the one not seen for longest goes first.
pub const CLASSES_MAX: usize = 100_000;

/// Parts that `grouper::bucket` can be told to cut its time range into.
pub const BUCKET_WINDOWS_MAX: u64 = 100_000;

/// Events that `around` can be told to keep before a trigger, for each key.
pub const AROUND_EVENTS_MAX: usize = 1_000_000;

/// Bytes of events that `around` keeps for all keys together.
pub const AROUND_BYTES_MAX: usize = 256 * 1024 * 1024;

/// Lines that `join` can be told to put into one event.
pub const JOIN_LINES_MAX: usize = 1_000_000;

/// Bytes that `join` can be told to put into one event.
pub const JOIN_BYTES_MAX: usize = 1024 * 1024 * 1024;

/// The biggest file that is read as a lookup table.
pub const LOOKUP_BYTES_MAX: u64 = 1024 * 1024 * 1024;

/// Rows of a lookup table.
pub const LOOKUP_ROWS_MAX: usize = 50_000_000;
